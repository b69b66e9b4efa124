//! A choice as data: `selection.json`.

use gdro_data::Validation;
use serde::Serialize;

use super::bootstrap::{Doubt, bootstrap};
use super::criterion::{Mean, choose, means, worst};
use super::folds::{Losses, MODELS};
use crate::job::{Hyperparameter, Search, SelectionRule};

/// With more groups than this a fold has only its worst risk.
const MANY: usize = 64;

/// What was tried, what it gave on validation rows, and what was chosen.
///
/// The criterion of a value is the largest of the groups' risks on validation rows, pooled over the
/// folds. As the largest of several means with errors of their own it is too large on average, the
/// more so the smaller and the more alike the groups are (`bias` says by how much, by bootstrap);
/// as the smallest of several criteria, the best one is too small. Rows that are held out for the
/// report are in neither.
#[derive(Debug, Serialize)]
pub struct Selection {
    /// What is chosen: `l2` or `ball`.
    pub knob: Hyperparameter,
    /// By which rule: `one-se` or `best`.
    pub rule: SelectionRule,
    /// Number of folds; 1 for a share of the rows.
    pub folds_planned: usize,
    /// Number of folds that were complete.
    pub folds: usize,
    /// The share of the training rows, when that is how rows are taken.
    pub share: Option<f64>,
    /// Seed of folds and bootstrap.
    pub seed: u64,
    /// Whether Ctrl-C cut the search short.
    pub interrupted: bool,
    /// Names of the groups.
    pub groups: Vec<String>,
    /// Validation rows of each group.
    pub rows: Vec<usize>,
    /// The values that were tried, the strongest first.
    pub values: Vec<f64>,
    /// Number of bootstrap samples.
    pub bootstrap: usize,
    /// The robust model.
    pub robust: Curve,
    /// Ordinary training.
    pub erm: Curve,
    /// Group-balanced ordinary training.
    pub balanced: Curve,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// One model at all values.
#[derive(Debug, Serialize)]
pub struct Curve {
    /// In the order of the values.
    pub points: Vec<Tried>,
    /// Index of the value with the smallest criterion, the strongest of several.
    pub best: usize,
    /// The criterion up to which the rule goes: the best, for `one-se` plus its standard error.
    pub limit: f64,
    /// Index of the value that the rule takes.
    pub chosen: usize,
    /// This value.
    pub value: f64,
}

/// One model at one value, on validation rows.
#[derive(Debug, Serialize)]
pub struct Tried {
    /// The value.
    pub value: f64,
    /// The largest risk.
    pub criterion: f64,
    /// The standard error of the worst group's risk, over its rows or clusters; null when it has one.
    pub standard_error: Option<f64>,
    /// The worst group, as an index into the groups.
    pub worst: usize,
    /// 95 % of the criteria of the bootstrap samples.
    pub interval: [f64; 2],
    /// The mean criterion of the bootstrap samples minus the criterion.
    pub bias: f64,
    /// The share of the bootstrap samples in which the rule takes this value.
    pub frequency: f64,
    /// The risk of each group; null without rows.
    pub risks: Vec<Option<f64>>,
    /// Its standard error over rows or clusters.
    pub standard_errors: Vec<Option<f64>>,
    /// Each fold by itself.
    pub folds: Vec<FoldRisks>,
}

/// One fold.
#[derive(Debug, Serialize)]
pub struct FoldRisks {
    /// The largest risk.
    pub max: f64,
    /// The risk of each group, null without rows; left out when there are many groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risks: Option<Vec<Option<f64>>>,
}

impl Selection {
    /// The choice that follows from losses on validation rows.
    pub(super) fn new(
        search: &Search,
        seed: u64,
        groups: Vec<String>,
        losses: &Losses,
        interrupted: bool,
    ) -> Self {
        let points = losses.of[0].len();
        let of_model = |model: usize| -> Vec<Vec<Option<Mean>>> {
            let of = |of: &Vec<f64>| means(of, &losses.weights, &losses.starts);
            losses.of[model].iter().map(of).collect()
        };
        let found: [Vec<Vec<Option<Mean>>>; MODELS] = std::array::from_fn(of_model);
        let at_worst = |means: &Vec<Option<Mean>>| -> (usize, Mean) {
            let group = worst(means).expect("some row is a validation row");
            (group, means[group].expect("the worst group has rows"))
        };
        let worst: [Vec<(usize, Mean)>; MODELS] =
            std::array::from_fn(|model| found[model].iter().map(at_worst).collect());
        let criteria: [Vec<f64>; MODELS] =
            std::array::from_fn(|model| worst[model].iter().map(|(_, mean)| mean.value).collect());
        let [a, b, c] = &criteria;
        let (samples, doubts) = bootstrap(losses, search.rule, [a, b, c], seed);
        let folds = losses.folds.iter().max().map_or(0, |last| usize::from(*last) + 1);

        let curve = |model: usize, doubt: &Doubt| {
            let error = |point: usize| worst[model][point].1.error;
            let (best, chosen) = choose(search.rule, &criteria[model], error);
            let point = |at: usize| {
                let (group, mean) = worst[model][at];
                let means = &found[model][at];
                Tried {
                    value: search.values[at],
                    criterion: mean.value,
                    standard_error: mean.error,
                    worst: group,
                    interval: doubt.intervals[at],
                    bias: doubt.biases[at],
                    frequency: doubt.frequencies[at],
                    risks: means.iter().map(|m| m.map(|m| m.value)).collect(),
                    standard_errors: means.iter().map(|m| m.and_then(|m| m.error)).collect(),
                    folds: (0..folds).map(|fold| of_fold(losses, model, at, fold)).collect(),
                }
            };
            let spare =
                if search.rule == SelectionRule::OneSe { error(best).unwrap_or(0.0) } else { 0.0 };
            Curve {
                points: (0..points).map(point).collect(),
                best,
                limit: criteria[model][best] + spare,
                chosen,
                value: search.values[chosen],
            }
        };
        let [robust, erm, balanced] = [0, 1, 2].map(|model| curve(model, &doubts[model]));
        let mut selection = Selection {
            knob: search.knob,
            rule: search.rule,
            folds_planned: folds,
            folds,
            share: match search.validation {
                Validation::Share(share) => Some(share),
                Validation::Folds(_) => None,
            },
            seed,
            interrupted,
            rows: losses.rows.clone(),
            groups,
            values: search.values[..points].to_vec(),
            bootstrap: samples,
            robust,
            erm,
            balanced,
            notes: Vec::new(),
        };
        selection.notes = selection.remarks();
        selection
    }

    /// The three models with their names.
    pub fn curves(&self) -> [(&'static str, &Curve); MODELS] {
        [("the robust model", &self.robust), ("ERM", &self.erm), ("balanced ERM", &self.balanced)]
    }

    fn remarks(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let (what, last) = (self.knob.words(), self.values.len() - 1);
        for (name, curve) in self.curves() {
            let ends = [(0, "the strongest"), (last, "the weakest")];
            if let Some((_, end)) = ends.into_iter().find(|(at, _)| curve.best == *at) {
                notes.push(format!(
                    "the best {what} of {name}, {}, is {end} that was tried: a wider grid may hold a better one",
                    self.values[curve.best]
                ));
            }
            if self.rule == SelectionRule::OneSe
                && curve.points[curve.best].standard_error.is_none()
            {
                notes.push(format!(
                    "the worst group of {name} has one validation row or cluster and no standard error: the best {what} is taken"
                ));
            }
        }
        let without: Vec<&str> = (self.groups.iter().zip(&self.rows))
            .filter(|(_, rows)| **rows == 0)
            .map(|(name, _)| name.as_str())
            .collect();
        if let Some(first) = without.first() {
            notes.push(match without.len() {
                1 => format!("group `{first}` has no validation row: the choice does not see it"),
                n => format!("{n} groups have no validation row, such as `{first}`: the choice does not see them"),
            });
        }
        notes
    }
}

/// The risks of one fold.
fn of_fold(losses: &Losses, model: usize, point: usize, fold: usize) -> FoldRisks {
    let of = &losses.of[model][point];
    let risk = |ends: &[usize]| {
        let rows = (ends[0]..ends[1]).filter(|row| usize::from(losses.folds[*row]) == fold);
        let add = |(sum, total): (f64, f64), row: usize| {
            (sum + losses.weights[row] * of[row], total + losses.weights[row])
        };
        let (sum, total) = rows.fold((0.0, 0.0), add);
        (total > 0.0).then_some(sum / total)
    };
    let risks: Vec<Option<f64>> = losses.starts.windows(2).map(risk).collect();
    FoldRisks {
        max: risks.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max),
        risks: (risks.len() <= MANY).then_some(risks),
    }
}
