//! What a robust model weighs otherwise than ERM.

use gdro_data::{Scaling, Target};
use gdro_train::fit::Fitted;

use super::html::{self, Section};
use crate::numbers::{Scale, counted};

/// Most weights that are shown at once, and when more are asked for.
const SHOWN: [usize; 2] = [20, 200];

/// A weight under both models.
struct Weight {
    feature: String,
    erm: f64,
    model: f64,
}

impl Weight {
    fn change(&self) -> f64 {
        (self.model - self.erm).abs()
    }
}

/// The part of the page: the weights that differ most from those of ERM, the largest changes first.
/// None where the model is ordinary training itself.
pub fn part(fitted: &Fitted, name: &str) -> Option<Section> {
    if fitted.verdict.is_ordinary() {
        return None;
    }
    let model = &fitted.model;
    let class = |output: usize| match &model.target {
        Target::Multiclass { classes, .. } => format!(" for class `{}`", classes[output]),
        _ => String::new(),
    };
    let names = (0..fitted.robust.w.len()).map(|at| {
        let (feature, output) = (at / model.outputs, at % model.outputs);
        match model.features.get(feature) {
            Some(feature) => format!("`{feature}`{}", class(output)),
            None => format!("the intercept{}", class(output)),
        }
    });
    let values = fitted.erm.w.iter().zip(&fitted.robust.w);
    let mut weights: Vec<Weight> = (names.zip(values))
        .map(|(feature, (erm, model))| Weight { feature, erm: *erm, model: *model })
        .collect();
    weights.sort_by(|a, b| b.change().total_cmp(&a.change()));
    let scale = Scale::of(weights.iter().flat_map(|w| [w.erm, w.model]));
    let header = ["feature", "ERM", name, "change"].map(str::to_owned);
    let line = |w: &Weight| {
        vec![
            w.feature.clone(),
            scale.show(w.erm),
            scale.show(w.model),
            scale.change(w.erm, w.model),
        ]
    };
    let table = |caption: &str, weights: &[Weight]| {
        html::table(caption, &header, &weights.iter().map(line).collect::<Vec<_>>())
    };
    let turned = weights.iter().filter(|w| w.erm * w.model < 0.0).count();
    let unit = match model.job.data.scaling {
        Some(Scaling::None) => "They belong to numbers as they are, and to one indicator per text",
        _ => "They belong to standardised numbers, and to one indicator per text",
    };
    let texts = vec![format!(
        "The weights of {name} beside those of ERM, the largest changes first; {} of {} changed sign. \
         {unit}. Weights of features that go together are not effects of each alone.",
        turned,
        counted(weights.len() as u64, "weight")
    )];
    let (first, rest) = weights.split_at(weights.len().min(SHOWN[0]));
    let mut body = html::paragraphs(&texts) + &table("Largest changes", first);
    if !rest.is_empty() {
        let more = &rest[..rest.len().min(SHOWN[1])];
        let left = rest.len() - more.len();
        let mut inner = table("Further changes", more);
        if left > 0 {
            inner += &html::paragraphs(&[format!(
                "{} changed by less than that.",
                counted(left as u64, "weight")
            )]);
        }
        body += &html::details(&format!("{} more", counted(more.len() as u64, "weight")), &inner);
    }
    Some(Section::new("coefficients", "How the weights differ from those of ERM", body))
}
