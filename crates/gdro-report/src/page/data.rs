//! The numbers of the page, which the script draws.

use gdro::interval::{Estimate, GroupDifference, GroupEstimates, Interval, METRICS, Metric};
use serde::Serialize;

use super::classes::{Detail, with_curves};
use super::curve::Curve;
use super::ladder::Ladder;
use crate::numbers::{Scale, level};
use crate::plain;
use crate::tables::{goal_name, metrics, shows_uncut};
use gdro_train::evaluate::Evaluated;
use gdro_train::evaluation::Evaluation;
use gdro_train::fit::Fitted;
use gdro_train::job::Job;
use gdro_train::model::Model;
use gdro_train::select::Path;
use gdro_train::solve::Solved;

/// What the script draws. A column has a value for each group; `null` where there is none.
#[derive(Debug, Serialize)]
pub struct Data {
    /// `rows held out`, `training rows` or `rows of the table`.
    pub part: &'static str,
    /// The level of the intervals, such as `95 %`; absent without intervals.
    pub level: Option<String>,
    /// What a risk is called.
    pub unit: &'static str,
    /// How risks are written.
    scale: Scale,
    /// Names of the groups.
    pub names: Vec<String>,
    /// Whether training never saw the group.
    unseen: Vec<bool>,
    /// Rows of the part that is shown.
    pub rows: Vec<usize>,
    /// Their clusters; empty without clusters.
    clusters: Vec<Option<usize>>,
    /// Training rows; absent in an evaluation.
    train_rows: Option<Vec<usize>>,
    /// Averaged weights of the groups.
    weights: Vec<Option<f64>>,
    /// The models, the one of the run last.
    pub models: Vec<Column>,
    /// The last model minus ERM.
    pub change: Option<Change>,
    /// Numbers of groups that surely gain, that surely lose, that could do either, and that have too
    /// few rows; absent without intervals.
    #[serde(skip)]
    pub sides: Option<[usize; 4]>,
    /// The curve of the run; none of the exact solver, which goes straight to the end.
    pub curve: Option<Curve>,
    /// What was tried before the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<Ladder>,
    /// From the largest risk to the mean over groups, on each part of the rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Ladder>,
}

/// A model on the groups.
#[derive(Debug, Default, Serialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    pub risk: Vec<Option<f64>>,
    risk_interval: Vec<Option<[f64; 2]>>,
    /// The share of the rows that the cap on losses cuts, where it is worth a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<Option<f64>>,
    /// The risk as it is, where the cap cuts such a share of any group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncut_risk: Vec<Option<f64>>,
    pub accuracy: Vec<Option<f64>>,
    accuracy_interval: Vec<Option<[f64; 2]>>,
    /// What only binary targets have.
    pub metrics: Vec<Values>,
    /// What only binary targets have, row by row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// On training rows, where those are not what is shown.
    train_risk: Vec<Option<f64>>,
    train_accuracy: Vec<Option<f64>>,
}

/// A metric on the groups.
#[derive(Debug, Serialize)]
pub struct Values {
    /// What it is.
    #[serde(skip)]
    pub metric: &'static Metric,
    label: &'static str,
    is_share: bool,
    pub values: Vec<Option<f64>>,
}

/// Differences of risks on the same rows; below 0 where the model of the run is better.
#[derive(Debug, Serialize)]
pub struct Change {
    pub value: Vec<Option<f64>>,
    /// Absent where the rows say too little.
    pub interval: Vec<Option<[f64; 2]>>,
    /// The share of the rows that the cap on losses cuts, where it is worth a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<Option<f64>>,
}

fn ends(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

/// The interval of an estimate, if it says anything.
fn bounds(estimate: Option<Estimate>) -> Option<[f64; 2]> {
    estimate.and_then(|e| e.bounds()).map(ends)
}

/// A column without any value is left out.
fn unless_empty<T>(column: Vec<Option<T>>) -> Vec<Option<T>> {
    if column.iter().all(Option::is_none) { Vec::new() } else { column }
}

impl Column {
    /// Adds what intervals say.
    fn add(&mut self, groups: &[GroupEstimates]) {
        self.risk_interval = groups.iter().map(|g| bounds(Some(g.clipped_risk))).collect();
        self.cut = unless_empty(groups.iter().map(GroupEstimates::clipped_share).collect());
        self.accuracy_interval = unless_empty(groups.iter().map(|g| bounds(g.accuracy)).collect());
        let values = |metric: &'static Metric| Values {
            metric,
            label: metric.label,
            is_share: metric.is_share,
            values: groups.iter().map(|g| g.metrics.get(metric.key)?.value).collect(),
        };
        let is_known = |values: &Values| values.values.iter().any(Option::is_some);
        self.metrics = METRICS.iter().map(values).filter(is_known).collect();
    }
}

impl Data {
    /// The numbers of a training run: on rows held out when there are some, else on training rows.
    pub fn of_fit(job: &Job, fitted: &Fitted) -> Self {
        let groups = &fitted.table.groups;
        let held_out = fitted.table.test_rows > 0;
        let goal = goal_name(job.training.objective);
        let evaluations: [&Evaluation; 3] = [&fitted.erm, &fitted.balanced, &fitted.robust];
        let shown = metrics(fitted, held_out);
        let uncut = held_out && shows_uncut(fitted);
        let models = ["ERM", "balanced", &goal].into_iter().zip(evaluations).zip(shown);
        let mut models: Vec<Column> = models
            .map(|((name, evaluation), shown)| {
                let at = |g: &gdro_data::Group| if held_out { g.test } else { g.train };
                let train = |g: &gdro_data::Group| g.train.filter(|_| held_out);
                let on_train = |g: &gdro_data::Group| train(g).map(|i| &evaluation.train[i]);
                let accuracy = |g: &gdro_data::Group| at(g).and_then(|i| shown[i].accuracy);
                let train_accuracy = |g: &gdro_data::Group| on_train(g).and_then(|m| m.accuracy);
                let mut column = Column {
                    name: name.to_owned(),
                    risk: groups.iter().map(|g| at(g).map(|i| shown[i].risk)).collect(),
                    accuracy: unless_empty(groups.iter().map(accuracy).collect()),
                    train_risk: unless_empty(
                        groups.iter().map(|g| on_train(g).map(|m| m.risk)).collect(),
                    ),
                    train_accuracy: unless_empty(groups.iter().map(train_accuracy).collect()),
                    ..Column::default()
                };
                if let Some(intervals) = &evaluation.intervals {
                    column.add(&intervals.groups);
                }
                if let Some(test) = evaluation.test.as_ref().filter(|_| uncut) {
                    let risk = |g: &gdro_data::Group| g.test.map(|i| test[i].risk);
                    column.uncut_risk = groups.iter().map(risk).collect();
                }
                column
            })
            .collect();
        let curves = with_curves([&models[0].risk, &models[2].risk]);
        for (column, evaluation) in models.iter_mut().zip(evaluations) {
            column.detail = Detail::of(&evaluation.classes, &curves);
        }
        let change = match &fitted.comparison {
            Some(comparison) => Change {
                value: comparison.groups.iter().map(|g| g.clipped_difference.value).collect(),
                interval: comparison
                    .groups
                    .iter()
                    .map(|g| bounds(Some(g.clipped_difference)))
                    .collect(),
                cut: unless_empty(
                    comparison.groups.iter().map(GroupDifference::clipped_share).collect(),
                ),
            },
            None => {
                let pairs = models[2].risk.iter().zip(&models[0].risk);
                let value = pairs.map(|(a, b)| Some((*a)? - (*b)?)).collect();
                Change { value, interval: Vec::new(), cut: Vec::new() }
            }
        };
        let weight = |g: &gdro_data::Group| g.train.map(|i| fitted.weights[i]);
        let rows = |g: &gdro_data::Group| if held_out { g.test_rows } else { g.train_rows };
        let clusters = |g: &gdro_data::Group| match held_out {
            true => g.test_clusters,
            false => g.train_clusters,
        };
        Data {
            part: if held_out { "rows held out" } else { "training rows" },
            level: held_out.then(|| level(1.0 - job.training.delta)),
            unit: unit(&fitted.model),
            scale: scale(&models),
            names: groups.iter().map(|g| plain(&g.name)).collect(),
            unseen: Vec::new(),
            rows: groups.iter().map(rows).collect(),
            clusters: unless_empty(groups.iter().map(clusters).collect()),
            train_rows: held_out.then(|| groups.iter().map(|g| g.train_rows).collect()),
            weights: groups.iter().map(weight).collect(),
            models,
            change: Some(change),
            sides: fitted.comparison.as_ref().map(|found| found.sides().map(|side| side.len())),
            curve: Curve::of(fitted).filter(|_| !matches!(fitted.solved, Solved::Exact { .. })),
            selection: None,
            path: Vec::new(),
        }
    }

    /// The numbers of a model on another table.
    pub fn of_evaluation(model: &Model, evaluated: &Evaluated) -> Self {
        let groups = &evaluated.intervals.groups;
        let accuracy = |g: &GroupEstimates| g.accuracy.and_then(|e| e.value);
        let mut column = Column {
            name: goal_name(model.job.training.objective),
            risk: groups.iter().map(|g| g.clipped_risk.value).collect(),
            accuracy: unless_empty(groups.iter().map(accuracy).collect()),
            ..Column::default()
        };
        column.add(groups);
        if !column.cut.is_empty() {
            column.uncut_risk = groups.iter().map(|g| g.risk).collect();
        }
        column.detail = Detail::of(&evaluated.classes, &with_curves([&column.risk]));
        let models = vec![column];
        let count = groups.len();
        Data {
            part: "rows of the table",
            level: Some(level(1.0 - evaluated.settings.delta)),
            unit: unit(model),
            scale: scale(&models),
            names: evaluated.names.iter().map(|n| plain(n)).collect(),
            unseen: (0..count).map(|i| i >= evaluated.known).collect(),
            rows: groups.iter().map(|g| g.rows).collect(),
            clusters: unless_empty(groups.iter().map(|g| g.clipped_risk.clusters).collect()),
            train_rows: None,
            weights: (0..count).map(|i| model.group_weights.get(i).copied()).collect(),
            models,
            change: None,
            sides: None,
            curve: None,
            selection: None,
            path: Vec::new(),
        }
    }

    /// The numbers of a trade-off.
    pub fn of_path(path: &Path) -> Self {
        let part = if path.erm.test.is_some() { "rows held out" } else { "training rows" };
        let ladders = Ladder::of_path(path);
        Data {
            part,
            level: None,
            unit: "risk",
            scale: ladders[0].scale,
            names: Vec::new(),
            unseen: Vec::new(),
            rows: Vec::new(),
            clusters: Vec::new(),
            train_rows: None,
            weights: Vec::new(),
            models: Vec::new(),
            change: None,
            sides: None,
            curve: None,
            selection: None,
            path: ladders,
        }
    }

    /// The group with the largest risk under a model, and this risk.
    pub fn worst(&self, model: usize) -> Option<(&str, f64)> {
        let risks = self.models[model].risk.iter().enumerate();
        let worst = risks.filter_map(|(i, r)| Some((i, (*r)?))).max_by(|a, b| {
            // The first at ties.
            a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))
        });
        worst.map(|(i, risk)| (self.names[i].as_str(), risk))
    }

    /// How risks are written.
    pub fn scale(&self) -> Scale {
        self.scale
    }
}

/// What a risk is called.
fn unit(model: &Model) -> &'static str {
    if matches!(model.loss.0, gdro::loss::AnyLoss::Squared(_)) { "MSE" } else { "risk" }
}

/// How risks are written.
fn scale(models: &[Column]) -> Scale {
    Scale::of(models.iter().flat_map(|m| m.risk.iter().flatten().copied()))
}
