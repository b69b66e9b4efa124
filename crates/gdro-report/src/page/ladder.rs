//! Steps below each other, with a mark of each series: values that were tried, or a trade-off.

use serde::Serialize;

use crate::numbers::{Scale, percent, setting};
use crate::plain;
use crate::tables::goal_name;
use gdro::setting::Objective;
use gdro_train::select::{PartRisks, Path, Risks, Selection};

/// What the script draws as a line for each step.
#[derive(Debug, Serialize)]
pub struct Ladder {
    /// What a step is.
    step: &'static str,
    /// The rows, where there is a choice of them.
    part: Option<&'static str>,
    /// Names of the series: at most three.
    series: Vec<String>,
    /// How values are written.
    pub scale: Scale,
    steps: Vec<Step>,
}

/// A step.
#[derive(Debug, Serialize)]
struct Step {
    name: String,
    /// What is said of it, by series.
    badges: Vec<Option<String>>,
    values: Vec<f64>,
    intervals: Vec<Option<[f64; 2]>>,
    /// What else the tooltip tells, by series.
    more: Vec<String>,
}

impl Ladder {
    /// The worst group on validation rows, for each value that was tried.
    pub fn of_selection(selection: &Selection, objective: Objective) -> Self {
        let curves = [&selection.erm, &selection.balanced, &selection.robust];
        let mut order: Vec<usize> = (0..selection.values.len()).collect();
        order.sort_by(|a, b| selection.values[*a].total_cmp(&selection.values[*b]));
        let step = |at: &usize| {
            let points = curves.map(|c| &c.points[*at]);
            let badge =
                |c: &&gdro_train::select::Curve| (c.chosen == *at).then(|| "chosen".to_owned());
            Step {
                name: setting(selection.values[*at]),
                badges: curves.iter().map(badge).collect(),
                values: points.iter().map(|p| p.criterion).collect(),
                intervals: points.iter().map(|p| Some(p.interval)).collect(),
                more: points
                    .iter()
                    .map(|p| {
                        let group = plain(&selection.groups[p.worst]);
                        format!("worst: {group}; taken in {} of samples", percent(p.frequency))
                    })
                    .collect(),
            }
        };
        Ladder {
            step: selection.knob.words(),
            part: None,
            series: vec!["ERM".into(), "balanced".into(), goal_name(objective)],
            scale: Scale::of(curves.iter().flat_map(|c| c.points.iter().map(|p| p.criterion))),
            steps: order.iter().map(step).collect(),
        }
    }

    /// Means and the worst group, for each k and for ordinary training: on rows held out, if there
    /// are any, and on training rows.
    pub fn of_path(path: &Path) -> Vec<Self> {
        let held_out = path.erm.test.as_ref();
        let test = held_out.map(|_| Self::of_part(path, "rows held out", |r| r.test.as_ref()));
        test.into_iter().chain([Self::of_part(path, "training rows", |r| Some(&r.train))]).collect()
    }

    fn of_part(path: &Path, part: &'static str, of: fn(&Risks) -> Option<&PartRisks>) -> Self {
        let values = |risks: &Risks| {
            let values = of(risks).map(|part| vec![part.mean_rows, part.mean_groups, part.max]);
            values.unwrap_or_default()
        };
        let step = |name: String, risks: &Risks| Step {
            name,
            badges: vec![None; 3],
            values: values(risks),
            intervals: vec![None; 3],
            more: vec![String::new(); 3],
        };
        let points = path.points.iter().map(|p| step(format!("k = {}", p.k), &p.risks));
        let mut steps: Vec<Step> = points.collect();
        steps.push(step("balanced".into(), &path.balanced));
        steps.push(step("ERM".into(), &path.erm));
        Ladder {
            step: "k",
            part: Some(part),
            series: ["mean over rows", "mean over groups", "worst group"]
                .map(str::to_owned)
                .to_vec(),
            scale: Scale::of(steps.iter().flat_map(|s| s.values.iter().copied())),
            steps,
        }
    }
}
