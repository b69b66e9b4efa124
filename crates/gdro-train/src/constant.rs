//! Models that are no better than a prediction without features.

use gdro::certificate::Certificate;
use gdro::exact::Goal;
use gdro::loss::Targets;
use gdro::risk::group_risks;
use gdro_data::{number, shown};
use serde::Serialize;

use crate::options::Front;
use crate::prepared::Setting;

/// By how much, relatively, the objective of a model is below that of the best constant prediction
/// if its features are good for anything.
const GAIN: f64 = 1e-3;

/// Groups that decide have this share of the weight between them.
const SHARE: f64 = 0.9;

/// How far below the objective, relatively, the mean risk under weights lies that do not decide it.
const FAR: f64 = 0.05;

/// Most of them that are named.
const NAMED: usize = 4;

/// A model beside the best prediction that is the same for every row.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub struct Constant {
    /// The objective of the best constant prediction, without the penalty.
    pub objective: f64,
    /// That of the model.
    #[serde(skip)]
    pub of_model: f64,
    /// Whether the model is no better, up to a thousandth.
    pub as_good: bool,
    /// Whether the certificate proves that of all models, with their penalty.
    #[serde(skip)]
    proved: bool,
    /// Whether the constant prediction is a coin: both labels alike.
    #[serde(skip)]
    is_coin: bool,
    /// The groups that decide, when it is as good: name and rows, the heaviest first. None for fixed
    /// weights.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deciding: Vec<(String, u64)>,
}

impl Constant {
    /// Compares a model with the risks and group weights that it has on training rows.
    ///
    /// # Errors
    /// Those of the reference solver.
    pub fn beside(
        setting: &Setting,
        names: &[String],
        (risks, weights): (&[f64], &[f64]),
        certificate: &Certificate,
    ) -> gdro::Result<Self> {
        let objective = setting.constant()?.objective;
        let of_model = setting.objective(risks);
        let least = objective - GAIN * objective.abs();
        let as_good = of_model >= least;
        let zero = vec![0.0; setting.model_len()];
        let at_zero = setting.objective(&group_risks(&setting.loss, &zero, &setting.data)?);
        let is_coin =
            setting.loss.targets() == Targets::Labels && objective >= (1.0 - GAIN) * at_zero;
        let mut deciding = Vec::new();
        if as_good && setting.goal == Goal::Adversary {
            let total = weights.iter().sum::<f64>();
            let mean = weights.iter().zip(risks).map(|(q, risk)| q * risk).sum::<f64>() / total;
            // Weights that have not found the largest risks, or are for another game, decide nothing.
            let far = of_model - mean > FAR * of_model.abs();
            let by = if far { risks } else { weights };
            let mut order: Vec<usize> = (0..by.len()).collect();
            order.sort_by(|a, b| by[*b].total_cmp(&by[*a]).then(a.cmp(b)));
            let mut sum = 0.0;
            for group in order {
                if sum >= SHARE * total {
                    break;
                }
                sum += if far { total } else { weights[group] };
                deciding.push((names[group].clone(), setting.data.count(group)));
            }
        }
        let proved = certificate.lower >= least;
        Ok(Constant { objective, of_model, as_good, proved, is_coin, deciding })
    }

    /// What a user of this front end must know of a model that is no better.
    pub fn warning(&self, front: Front) -> Option<String> {
        if !self.as_good {
            return None;
        }
        let what = if self.is_coin { "a coin" } else { "the best constant prediction" };
        let proved = if self.proved { ", and no model of these features is" } else { "" };
        let (model, constant) = (round(self.of_model), round(self.objective));
        let numbers = format!("{model}, and {constant} without any features");
        if self.deciding.is_empty() {
            return Some(format!(
                "the model is no better than {what} (its objective is {numbers}){proved}: a smaller \
                 {}, or other features, may help",
                front.name("l2")
            ));
        }
        let rows = |rows: u64| format!("{} row{}", number(rows), if rows == 1 { "" } else { "s" });
        let named = |(name, n): &(String, u64)| format!("`{}` ({})", shown(name), rows(*n));
        let list: Vec<String> = self.deciding.iter().take(NAMED).map(named).collect();
        let more = self.deciding.len() - list.len();
        let more = if more > 0 { format!(" and {} more", number(more)) } else { String::new() };
        let remedy = match front {
            Front::Program => {
                "leave out or merge small groups (--min-group N with --small-groups drop or merge), \
                 ask for the mean of several worst groups (--objective top-k:K), or look for a better \
                 --l2 with gdro select"
            }
            Front::Python => {
                "leave out or merge small groups, ask for the mean of several worst groups \
                 (objective='top-k' with k), or look for a better l2 by cross-validation"
            }
        };
        Some(format!(
            "for the groups that decide, the model is no better than {what} (its objective is \
             {numbers}){proved}. They are {}{more}. What may help: {remedy}",
            list.join(", ")
        ))
    }
}

/// Five significant digits.
fn round(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}
