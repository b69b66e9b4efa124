//! The summary as data: `summary.json` and `--json`.

use gdro::game::top_k_mean;
use gdro::risk::GroupMetric;
use gdro::run::Outcome;
use serde::Serialize;

use crate::job::{Job, Objective};
use crate::train::{Evaluation, Fitted};

/// A model and how it does, in total and on every group. What does not apply is null.
#[derive(Debug, Serialize)]
pub struct Summary {
    objective: String,
    solver: String,
    rounds: Option<u64>,
    /// `finished`, `interrupted` or `budget exhausted`.
    ended: Option<&'static str>,
    samples: Option<u64>,
    clipped: Option<u64>,
    seconds: Option<f64>,
    #[serde(flatten)]
    pub totals: Totals,
    groups: Vec<GroupLine>,
    /// What a reader must know before he relies on the model.
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erm: Option<Box<Summary>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balanced: Option<Box<Summary>>,
}

/// Risks over all groups, on training rows and on rows held out.
#[derive(Debug, Serialize)]
pub struct Totals {
    pub max_risk: Option<f64>,
    pub avg_risk_rows: Option<f64>,
    pub avg_risk_groups: Option<f64>,
    pub topk_risk: Option<f64>,
    pub test_max_risk: Option<f64>,
    pub test_avg_risk_rows: Option<f64>,
    pub test_avg_risk_groups: Option<f64>,
    pub test_topk_risk: Option<f64>,
}

#[derive(Debug, Serialize)]
struct GroupLine {
    name: String,
    n: usize,
    n_train: usize,
    n_test: usize,
    weight: Option<f64>,
    samples: Option<u64>,
    train_risk: Option<f64>,
    train_accuracy: Option<f64>,
    test_risk: Option<f64>,
    test_accuracy: Option<f64>,
}

/// Averages of one part.
pub struct Part {
    pub max: f64,
    pub rows: f64,
    pub groups: f64,
    pub topk: Option<f64>,
}

impl Part {
    /// Averages of metrics with these row weights.
    pub fn new(
        metrics: &[GroupMetric],
        of: impl Fn(&GroupMetric) -> Option<f64>,
        sizes: &[f64],
        k: Option<f64>,
    ) -> Option<Self> {
        let values: Option<Vec<f64>> = metrics.iter().map(of).collect();
        let values = values.filter(|v| !v.is_empty())?;
        let total: f64 = sizes.iter().sum();
        Some(Part {
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            rows: values.iter().zip(sizes).map(|(v, n)| v * n).sum::<f64>() / total,
            groups: values.iter().sum::<f64>() / values.len() as f64,
            topk: k.map(|k| top_k_mean(&values, k.min(values.len() as f64))),
        })
    }
}

/// By how much, relatively, the robust model may be behind ordinary training without a warning.
const SLACK: f64 = 1e-3;

/// k, where it is the objective.
fn top_k(job: &Job) -> Option<f64> {
    match job.training.objective {
        Objective::TopK(k) => Some(k),
        _ => None,
    }
}

/// Row weights of the groups of both parts.
pub fn sizes(fitted: &Fitted) -> (Vec<f64>, Vec<f64>) {
    let of = |data: &gdro::Dataset| (0..data.groups()).map(|i| data.total_weight(i)).collect();
    let test = fitted.prepared.test.as_ref().map(of).unwrap_or_default();
    (of(&fitted.prepared.train), test)
}

impl Summary {
    /// The summary of a run, with those of ordinary training inside.
    pub fn new(job: &Job, fitted: &Fitted) -> Self {
        let training = &job.training;
        let robust = (training.solver.name(), training.objective.to_string());
        let mut summary = Self::of(job, fitted, &fitted.robust, robust, true);
        let newton = "newton";
        let erm = (newton, Objective::Average.to_string());
        let balanced = (newton, Objective::Balanced.to_string());
        let goal = |e: &Evaluation| {
            let sizes = &sizes(fitted).0;
            let part = Part::new(&e.train, |m| Some(m.risk), sizes, top_k(job))?;
            Some(match training.objective {
                Objective::Max => part.max,
                Objective::TopK(_) => part.topk?,
                Objective::Average => part.rows,
                Objective::Balanced => part.groups,
            })
        };
        let best = [&fitted.erm, &fitted.balanced].into_iter().filter_map(goal);
        let best = best.fold(f64::INFINITY, f64::min);
        if goal(&fitted.robust).is_some_and(|v| v > best * (1.0 + SLACK)) {
            let name = match training.objective {
                Objective::Max => "the worst group does better",
                _ => "the objective is lower",
            };
            summary.warnings.push(format!(
                "{name} under ordinary training ({}): more --rounds, or other --step-w and --step-q, are needed",
                super::numbers::risk(best)
            ));
        }
        summary.erm = Some(Box::new(Self::of(job, fitted, &fitted.erm, erm, false)));
        summary.balanced = Some(Box::new(Self::of(job, fitted, &fitted.balanced, balanced, false)));
        summary
    }

    /// What a reader must know before he relies on one of the models.
    pub fn warnings(&self) -> Vec<String> {
        let others = [("ERM", &self.erm), ("balanced", &self.balanced)];
        let others = others.into_iter().flat_map(|(name, other)| {
            let warnings = other.iter().flat_map(|o| &o.warnings);
            warnings.map(move |w| w.replacen("the model", &format!("the {name} model"), 1))
        });
        self.warnings.iter().cloned().chain(others).collect()
    }

    fn of(
        job: &Job,
        fitted: &Fitted,
        evaluation: &Evaluation,
        (solver, objective): (&str, String),
        is_robust: bool,
    ) -> Self {
        let k = top_k(job);
        let (train_sizes, test_sizes) = sizes(fitted);
        let risk = |m: &GroupMetric| Some(m.risk);
        let train = Part::new(&evaluation.train, risk, &train_sizes, k);
        let test = evaluation.test.as_ref().and_then(|t| Part::new(t, risk, &test_sizes, k));
        let lines = fitted.prepared.groups.iter().map(|group| {
            let train = group.train.map(|i| &evaluation.train[i]);
            let test = group.test.zip(evaluation.test.as_ref()).map(|(i, t)| &t[i]);
            GroupLine {
                name: group.name.clone(),
                n: group.rows,
                n_train: group.train_rows,
                n_test: group.test_rows,
                weight: group.train.filter(|_| is_robust).map(|i| fitted.weights[i]),
                samples: group.train.filter(|_| is_robust).map(|i| fitted.samples[i]),
                train_risk: train.map(|m| m.risk),
                train_accuracy: train.and_then(|m| m.accuracy),
                test_risk: test.map(|m| m.risk),
                test_accuracy: test.and_then(|m| m.accuracy),
            }
        });
        let one_class = "predicts one class for every row";
        let warnings: Vec<String> =
            evaluation.one_class.then(|| format!("the model {one_class}")).into_iter().collect();
        let ended = match fitted.outcome {
            Outcome::Finished => "finished",
            Outcome::Stopped => "interrupted",
            Outcome::Exhausted { .. } => "budget exhausted",
        };
        Summary {
            objective,
            solver: solver.to_owned(),
            rounds: is_robust.then_some(fitted.rounds.0),
            ended: is_robust.then_some(ended),
            samples: is_robust.then(|| fitted.samples.iter().sum()),
            clipped: is_robust.then_some(fitted.clipped),
            seconds: is_robust.then_some(fitted.seconds),
            totals: Totals {
                max_risk: train.as_ref().map(|p| p.max),
                avg_risk_rows: train.as_ref().map(|p| p.rows),
                avg_risk_groups: train.as_ref().map(|p| p.groups),
                topk_risk: train.as_ref().and_then(|p| p.topk),
                test_max_risk: test.as_ref().map(|p| p.max),
                test_avg_risk_rows: test.as_ref().map(|p| p.rows),
                test_avg_risk_groups: test.as_ref().map(|p| p.groups),
                test_topk_risk: test.as_ref().and_then(|p| p.topk),
            },
            groups: lines.collect(),
            warnings,
            erm: None,
            balanced: None,
        }
    }
}
