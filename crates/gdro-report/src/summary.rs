//! The summary as data: `summary.json` and `--json`.

use std::collections::BTreeMap;

use gdro::certificate::Certificate;
use gdro::game::top_k_mean;
use gdro::interval::{Estimate, METRICS};
use gdro::risk::GroupMetric;
use gdro_data::ColumnSchema;
use serde::Serialize;

use super::caps::{capped_weights, warning};
use super::numbers::counted;
use gdro::setting::Objective;
use gdro_train::clusters::HeavyCluster;
use gdro_train::constant::Constant;
use gdro_train::evaluation::Evaluation;
use gdro_train::fit::Fitted;
use gdro_train::job::Job;
use gdro_train::options::Front;
use gdro_train::solve::{Ended, Solved};
use gdro_train::verdict::Told;

/// A model and how it does, in total and on every group. What does not apply is null.
#[derive(Debug, Serialize)]
pub struct Summary {
    objective: String,
    solver: String,
    /// Why it was this solver, when it was chosen by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Rounds, or iterations of the reference solver.
    rounds: Option<u64>,
    /// Multipliers on the theorem's steps.
    step_w: Option<f64>,
    step_q: Option<f64>,
    ended: Option<Ended>,
    samples: Option<u64>,
    clipped: Option<u64>,
    seconds: Option<f64>,
    /// Risks over all groups.
    #[serde(flatten)]
    pub totals: Totals,
    /// How far the objective on training rows is from its optimum.
    certificate: Option<Certificate>,
    /// The best prediction without features.
    #[serde(skip_serializing_if = "Option::is_none")]
    constant: Option<Constant>,
    /// Intervals on held-out rows: their level and cap, and the worst group.
    intervals: Option<Level>,
    groups: Vec<GroupLine>,
    /// What each column of the table is used for.
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Vec<ColumnSchema>>,
    /// Whether the model does better than ERM on held-out rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Told>,
    /// What a reader must know before he relies on the model.
    warnings: Vec<String>,
    /// Ordinary training beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erm: Option<Box<Summary>>,
    /// Group-balanced ordinary training beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balanced: Option<Box<Summary>>,
}

/// What all intervals have in common, and those of the worst group.
#[derive(Debug, Serialize)]
struct Level {
    /// Each kind of interval holds for all groups at once with probability 1 − delta.
    delta: f64,
    /// Losses count as min(loss, cap).
    cap: f64,
    /// Weights count as min(weight, weight_cap); null without weights.
    weight_cap: Option<f64>,
    /// The share of the held-out rows that are heavier.
    weights_capped: Option<f64>,
    /// Clusters count as min(total weight, cluster_cap); absent without clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_cap: Option<f64>,
    /// The clusters that are heavier.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    heavy_clusters: Vec<HeavyCluster>,
    /// The group with the largest risk. Its own interval is that in `groups`.
    worst_group: Option<String>,
    /// Of the largest risk of any group, not of `worst_group`: a group that is not estimable widens it
    /// to the cap.
    worst_risk: [f64; 2],
    /// Of the groups that are estimable.
    worst_risk_estimable: Option<[f64; 2]>,
    worst_accuracy: Option<[f64; 2]>,
    worst_accuracy_estimable: Option<[f64; 2]>,
    /// The largest risk of this model minus that of ERM on the same rows.
    worst_risk_minus_erm: Option<[f64; 2]>,
}

/// Risks over all groups, on training rows and on rows held out; these with losses and weights capped
/// as in the intervals.
#[derive(Debug, Serialize)]
pub struct Totals {
    pub max_risk: Option<f64>,
    /// max_i R_i − R_i*, null unless the objective is regret.
    pub max_regret: Option<f64>,
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
    /// The columns of its family, null without group columns.
    family: Option<String>,
    n: usize,
    n_train: usize,
    n_test: usize,
    /// Clusters with rows of the group, for training and held out; absent without clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    n_train_clusters: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_test_clusters: Option<usize>,
    weight: Option<f64>,
    samples: Option<u64>,
    train_risk: Option<f64>,
    train_accuracy: Option<f64>,
    /// The mean of min(loss, cap), which is what the interval is for.
    test_risk: Option<f64>,
    test_accuracy: Option<f64>,
    /// The offset b_i, null without offsets.
    offset: Option<f64>,
    /// Held-out rows whose loss exceeds the cap.
    test_clipped: Option<usize>,
    test_risk_interval: Bounds,
    /// The mean loss as it is: neither losses nor weights are capped.
    test_risk_uncut: Option<f64>,
    test_accuracy_interval: Bounds,
    /// `test_` and the name of each metric.
    #[serde(flatten)]
    test_metrics: BTreeMap<String, Measure>,
    /// Risk of this model minus that of ERM on the same rows.
    test_risk_minus_erm: Measure,
}

/// Two ends, `"not estimable"`, or null where there is nothing to estimate.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Bounds {
    Ends([f64; 2]),
    Unknown(&'static str),
    None(()),
}

impl Bounds {
    fn of(estimate: Option<Estimate>) -> Self {
        match estimate {
            None => Bounds::None(()),
            Some(e) if e.rows == 0 => Bounds::None(()),
            Some(e) => e
                .bounds()
                .map_or(Bounds::Unknown("not estimable"), |i| Bounds::Ends([i.low, i.high])),
        }
    }
}

/// A value with its interval.
#[derive(Debug, Serialize)]
struct Measure {
    value: Option<f64>,
    interval: Bounds,
}

impl Measure {
    fn of(estimate: Option<Estimate>) -> Self {
        Measure { value: estimate.and_then(|e| e.value), interval: Bounds::of(estimate) }
    }
}

/// Averages of one part.
pub struct Part {
    pub max: f64,
    pub rows: f64,
    pub groups: f64,
    pub topk: Option<f64>,
}

impl Part {
    /// Averages of metrics of groups; `rows` is that of all rows.
    pub fn new(
        metrics: &[GroupMetric],
        rows: &GroupMetric,
        of: impl Fn(&GroupMetric) -> Option<f64>,
        k: Option<f64>,
    ) -> Option<Self> {
        let rows = of(rows)?;
        let values: Option<Vec<f64>> = metrics.iter().map(of).collect();
        let values = values.filter(|v| !v.is_empty())?;
        Some(Part {
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            rows,
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

/// The largest regret of a model on training rows.
fn regret(fitted: &Fitted, evaluation: &Evaluation) -> Option<f64> {
    let offsets = fitted.offsets.as_ref()?;
    let excess = evaluation.train.iter().zip(offsets).map(|(m, b)| m.risk - b);
    Some(excess.fold(f64::NEG_INFINITY, f64::max))
}

impl Summary {
    /// The summary of a run, with those of ordinary training inside.
    pub fn new(job: &Job, fitted: &Fitted) -> Self {
        let training = &job.training;
        let robust = (fitted.solver.to_string(), training.objective.to_string());
        let mut summary = Self::of(job, fitted, &fitted.robust, robust, true);
        let exact = || "exact".to_owned();
        let erm = (exact(), Objective::Average.to_string());
        let balanced = (exact(), Objective::Balanced.to_string());
        let goal = |e: &Evaluation| {
            let part = Part::new(&e.train, &e.train_rows, |m| Some(m.risk), top_k(job))?;
            Some(match training.objective {
                Objective::Max => part.max,
                Objective::TopK(_) => part.topk?,
                Objective::Average => part.rows,
                Objective::Balanced => part.groups,
                Objective::Regret => regret(fitted, e)?,
                // No rounds minimise it.
                Objective::Tilted(_) => return None,
            })
        };
        let best = [&fitted.erm, &fitted.balanced].into_iter().filter_map(goal);
        let best = best.fold(f64::INFINITY, f64::min);
        let beaten = goal(&fitted.robust).is_some_and(|v| v > best * (1.0 + SLACK));
        if beaten && fitted.offsets.is_none() && matches!(fitted.solved, Solved::Rounds(_)) {
            let name = match training.objective {
                Objective::Max => "the worst group does better",
                _ => "the objective is lower",
            };
            let advice = match fitted.solver.algorithm() {
                Some(algorithm) if algorithm.spec().is_weighted() => {
                    "--solver smd-m has no groups that count for less"
                }
                _ => "more --rounds, or other --step-w and --step-q, are needed",
            };
            let best = super::numbers::risk(best);
            summary.warnings.push(format!("{name} under ordinary training ({best}): {advice}"));
        }
        if let (Some(tol), Solved::Rounds(play)) = (training.tol, &fitted.solved)
            && !play.certified
        {
            let (gap, rounds) = (fitted.certificate.gap, play.rounds.0);
            let advice = play.advice(Front::Program);
            summary.warnings.push(format!(
                "the certified gap is {gap:.1e} after {}, above --tol {tol}: {advice}",
                counted(rounds, "round")
            ));
        }
        let constant = fitted.constant.as_ref();
        summary.warnings.extend(constant.and_then(|c| c.warning(Front::Program)));
        // Said once more: what was said before training is far above.
        summary.warnings.extend(fitted.table.leaks.iter().cloned());
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
        (solver, objective): (String, String),
        is_robust: bool,
    ) -> Self {
        let k = top_k(job);
        let risk = |m: &GroupMetric| Some(m.risk);
        let train = Part::new(&evaluation.train, &evaluation.train_rows, risk, k);
        let capped = evaluation.capped();
        let test = evaluation.capped_rows.as_ref();
        let test = test.and_then(|rows| Part::new(&capped, rows, risk, k));
        let families = fitted.table.grouping.families();
        let play = match &fitted.solved {
            Solved::Rounds(play) if is_robust => Some(play),
            _ => None,
        };
        let lines = fitted.table.groups.iter().enumerate().map(|(at, group)| {
            let held_out = evaluation.intervals.as_ref().map(|e| &e.groups[at]);
            let compared = fitted.comparison.as_ref().filter(|_| is_robust);
            let compared = compared.map(|c| c.groups[at].clipped_difference);
            let train = group.train.map(|i| &evaluation.train[i]);
            let test = group.test.zip(evaluation.test.as_ref()).map(|(i, t)| &t[i]);
            GroupLine {
                name: group.name.clone(),
                family: Some(&families[group.family])
                    .filter(|f| !f.columns().is_empty())
                    .map(gdro_data::Family::name),
                n: group.rows,
                n_train: group.train_rows,
                n_test: group.test_rows,
                n_train_clusters: group.train_clusters,
                n_test_clusters: group.test_clusters,
                weight: group.train.filter(|_| is_robust).map(|i| fitted.weights[i]),
                samples: group.train.zip(play).map(|(i, p)| p.samples[i]),
                train_risk: train.map(|m| m.risk),
                train_accuracy: train.and_then(|m| m.accuracy),
                test_risk: held_out.and_then(|h| h.clipped_risk.value),
                test_risk_uncut: test.map(|m| m.risk),
                test_accuracy: held_out.and_then(|h| h.accuracy).and_then(|e| e.value),
                offset: group.train.zip(fitted.offsets.as_ref()).map(|(i, b)| b[i]),
                test_clipped: held_out.filter(|h| h.rows > 0).map(|h| h.clipped),
                test_risk_interval: Bounds::of(held_out.map(|h| h.clipped_risk)),
                test_accuracy_interval: Bounds::of(held_out.and_then(|h| h.accuracy)),
                test_metrics: METRICS
                    .iter()
                    .map(|metric| {
                        let found = held_out.and_then(|h| h.metrics.get(metric.key));
                        (format!("test_{}", metric.key), Measure::of(found))
                    })
                    .collect(),
                test_risk_minus_erm: Measure::of(compared),
            }
        });
        let one_class = "predicts one class for every row";
        let mut warnings: Vec<String> =
            evaluation.one_class.then(|| format!("the model {one_class}")).into_iter().collect();
        // Of the other models the columns of uncut risks say it.
        let intervals = evaluation.intervals.as_ref().filter(|_| is_robust);
        warnings.extend(intervals.and_then(|i| warning(&fitted.settings, &i.groups)));
        let rounds = match &fitted.solved {
            Solved::Exact { iterations, .. } => *iterations as u64,
            Solved::Rounds(play) => play.rounds.0,
        };
        let level = evaluation.intervals.as_ref().map(|intervals| {
            let ends = |i: gdro::interval::Interval| [i.low, i.high];
            let compared = fitted.comparison.as_ref().filter(|_| is_robust);
            Level {
                delta: job.training.delta,
                cap: fitted.settings.cap,
                weight_cap: fitted.settings.weight_cap,
                weights_capped: fitted
                    .settings
                    .weight_cap
                    .map(|_| capped_weights(&intervals.groups).1),
                cluster_cap: fitted.settings.cluster_cap,
                heavy_clusters: fitted.heavy_clusters.clone(),
                worst_group: intervals
                    .worst_risk
                    .group
                    .map(|at| fitted.table.groups[at].name.clone()),
                worst_risk: ends(intervals.worst_risk.all),
                worst_risk_estimable: intervals.worst_risk.estimable.map(ends),
                worst_accuracy: intervals.worst_accuracy.map(|w| ends(w.all)),
                worst_accuracy_estimable: intervals
                    .worst_accuracy
                    .and_then(|w| w.estimable)
                    .map(ends),
                worst_risk_minus_erm: compared.map(|c| ends(c.worst)),
            }
        });
        Summary {
            objective,
            solver,
            reason: fitted.reason.clone().filter(|_| is_robust),
            rounds: is_robust.then_some(rounds),
            step_w: play.map(|p| p.steps.0),
            step_q: play.map(|p| p.steps.1),
            ended: is_robust.then(|| fitted.solved.ended()),
            samples: play.map(|p| p.samples.iter().sum()),
            clipped: play.map(|p| p.clipped),
            seconds: is_robust.then_some(fitted.seconds),
            certificate: is_robust.then(|| fitted.certificate.clone()),
            constant: fitted.constant.clone().filter(|_| is_robust),
            intervals: level,
            totals: Totals {
                max_risk: train.as_ref().map(|p| p.max),
                max_regret: regret(fitted, evaluation)
                    .filter(|_| job.training.objective == Objective::Regret),
                avg_risk_rows: train.as_ref().map(|p| p.rows),
                avg_risk_groups: train.as_ref().map(|p| p.groups),
                topk_risk: train.as_ref().and_then(|p| p.topk),
                test_max_risk: test.as_ref().map(|p| p.max),
                test_avg_risk_rows: test.as_ref().map(|p| p.rows),
                test_avg_risk_groups: test.as_ref().map(|p| p.groups),
                test_topk_risk: test.as_ref().and_then(|p| p.topk),
            },
            groups: lines.collect(),
            schema: is_robust.then(|| fitted.table.schema.clone()),
            verdict: is_robust.then(|| Told::from(fitted.verdict.clone())),
            warnings,
            erm: None,
            balanced: None,
        }
    }
}
