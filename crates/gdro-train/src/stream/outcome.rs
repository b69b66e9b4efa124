//! What is said of a stream: everything, or what is known when passes were left out.

use std::collections::BTreeMap;

use gdro::interval::METRICS;
use gdro::run::Outcome;
use gdro::setting::SolverName;
use gdro_data::{ColumnSchema, Group, count, number};
use serde::Serialize;

use super::Streamed;
use super::finish::Finish;
use crate::baseline::Baseline;
use crate::cap::Constants;
use crate::evaluation::Evaluation;
use crate::facts::Facts;
use crate::failure::{Failure, Result};
use crate::fit::Fitted;
use crate::intervals::settings;
use crate::job::{Job, LossName};
use crate::model::Model;
use crate::solve::{Ended, Solved};
use crate::verdict::Verdict;

/// Most groups that a note lists.
const LISTED: usize = 6;

/// From so many times the rows of the smallest group on, the largest one is held back by it.
const SPREAD: u64 = 10;

/// A stream that is done.
pub enum Told {
    /// All passes were made, for all models.
    Fully(Box<Fitted>),
    /// Some were not.
    Briefly(Box<Brief>),
}

/// A robust model without all that is usually said of it.
pub struct Brief {
    /// The model, ready to be saved.
    pub model: Model,
    /// What is known.
    pub summary: BriefSummary,
}

/// What is known of a stream, as data: the keys of the summary of any run, with null for what only the
/// passes that were left out would tell, and some of its own.
#[derive(Debug, Serialize)]
pub struct BriefSummary {
    /// What is minimised.
    pub objective: String,
    /// The algorithm.
    pub solver: String,
    /// Rounds played.
    pub rounds: u64,
    /// How it ended.
    pub ended: Ended,
    /// Rows of the table.
    pub rows: u64,
    /// Rows that were visited.
    pub samples: u64,
    /// Losses above the loss range.
    pub clipped: u64,
    /// Rows that were shuffled at a time.
    pub buffer: u64,
    /// Seconds of the training pass.
    pub seconds: f64,
    /// Rows of the table per second of it.
    pub rows_per_second: f64,
    /// Multiplier on the theorem's step of w.
    pub step_w: f64,
    /// Multiplier on the theorem's step of q.
    pub step_q: f64,
    /// The largest risk on training rows.
    pub max_risk: Option<f64>,
    /// The mean loss of all training rows.
    pub avg_risk_rows: Option<f64>,
    /// How far the model is from the optimum.
    pub certificate: Option<gdro::certificate::Certificate>,
    /// Every group.
    pub groups: Vec<BriefGroup>,
    /// What each column of the table is used for.
    pub schema: Vec<ColumnSchema>,
    /// What a user should see.
    pub notes: Vec<String>,
    /// As in the summary of any run, where notes are not.
    pub warnings: Vec<String>,
    #[serde(flatten)]
    untold: Untold,
}

/// What is not known of a stream whose last pass was left out.
#[derive(Debug, Default, Serialize)]
struct Untold {
    max_regret: (),
    avg_risk_groups: (),
    topk_risk: (),
    test_max_risk: (),
    test_avg_risk_rows: (),
    test_avg_risk_groups: (),
    test_topk_risk: (),
    intervals: (),
    verdict: (),
    erm: (),
    balanced: (),
}

/// What is not known of a group then, beside the metrics.
#[derive(Debug, Default, Serialize)]
struct UntoldGroup {
    offset: (),
    test_clipped: (),
    test_risk_interval: (),
    test_accuracy_interval: (),
    test_risk_minus_erm: UntoldMeasure,
}

/// A value with its interval, neither of which is known.
#[derive(Debug, Default, Serialize)]
struct UntoldMeasure {
    value: (),
    interval: (),
}

/// What is known of a group of a stream.
#[derive(Debug, Serialize)]
pub struct BriefGroup {
    /// Its name.
    pub name: String,
    /// The columns of its family, null without group columns.
    pub family: Option<String>,
    /// Its rows.
    pub n: u64,
    /// Rows for training.
    pub n_train: u64,
    /// Rows held out.
    pub n_test: u64,
    /// Its averaged weight.
    pub weight: f64,
    /// Rows that were visited.
    pub samples: u64,
    /// Risk on training rows.
    pub train_risk: Option<f64>,
    /// Accuracy on training rows.
    pub train_accuracy: Option<f64>,
    /// Risk on rows held out.
    pub test_risk: Option<f64>,
    /// The same: no loss is capped here.
    pub test_risk_uncut: Option<f64>,
    /// Accuracy on rows held out.
    pub test_accuracy: Option<f64>,
    #[serde(flatten)]
    untold: UntoldGroup,
    /// `test_` and the name of each metric.
    #[serde(flatten)]
    metrics: BTreeMap<String, UntoldMeasure>,
}

impl Streamed {
    /// What there is to say.
    pub fn tell(mut self, job: &Job) -> Result<Told> {
        let facts = self.facts();
        let settled = self.settled(job);
        let certificate = self.finish.as_ref().map(|f| &f.certificate);
        let settings = match &self.finish {
            Some(finish) => finish.settings,
            None => {
                let constants = Constants::of(self.setting.loss, &self.setting.data);
                settings(&job.training, &self.setting, &self.robust.w, &constants, None)
                    .map_err(|e| Failure::library(e, &[]))?
            }
        };
        let (w, weights) = (&self.robust.w, self.robust.weights.clone());
        let mut model = Model::assemble(
            &settled,
            &facts,
            &self.setting.loss,
            w,
            weights,
            certificate,
            &settings,
        );
        if self.others.is_empty() || self.finish.is_none() {
            let summary = self.brief(job);
            return Ok(Told::Briefly(Box::new(Brief { model, summary })));
        }
        let Some(Finish { evaluations, comparison, largest, certificate, settings, .. }) =
            self.finish.take()
        else {
            return Err(Failure::Machine("no evaluation".into()));
        };
        let mut evaluations = evaluations.into_iter();
        let (Some(robust), Some(erm), Some(balanced)) =
            (evaluations.next(), evaluations.next(), evaluations.next())
        else {
            return Err(Failure::Machine("a model was not evaluated".into()));
        };
        let both = [&robust.train[..], &erm.train];
        let w = &self.others[0].w;
        let mut verdict =
            Verdict::new(job, &facts, [&robust, &erm], comparison.as_ref(), largest.as_ref());
        // Nothing has a smaller mean and penalty than ordinary training, if it has come to its end.
        let weights = model.weights.len();
        let whole = |found: &Evaluation| {
            let w = &found.w[..weights];
            let square: f64 = w.iter().map(|v| v * v).sum();
            found.train_rows.risk + self.setting.game.ridge / 2.0 * square
        };
        if whole(&erm) > whole(&robust) {
            verdict = verdict.beside_cut_short([erm.train_rows.risk, robust.train_rows.risk]);
        } else {
            model.baseline = Some(Baseline::new(w, weights, &facts.groups, both));
        }
        Ok(Told::Fully(Box::new(Fitted {
            verdict,
            table: facts,
            model,
            robust,
            erm,
            balanced,
            comparison,
            settings,
            heavy_clusters: Vec::new(),
            weights: self.robust.weights,
            offsets: None,
            solver: settled.training.solver,
            reason: None,
            solved: Solved::Rounds(self.robust.play),
            certificate,
            constant: None,
            seconds: self.robust.seconds,
            trace: self.robust.trace,
        })))
    }

    /// The job with what was open and has been settled.
    fn settled(&self, job: &Job) -> Job {
        let (mut settled, play) = (job.clone(), &self.robust.play);
        let training = &mut settled.training;
        training.loss = Some(LossName(self.setting.loss));
        training.solver = SolverName::Rounds(self.algorithm);
        training.rounds = Some(play.rounds.1);
        (training.step_w, training.step_q) = (Some(play.steps.0), Some(play.steps.1));
        training.average = Some(play.average);
        settled
    }

    /// What is known of the table.
    pub fn facts(&self) -> Facts {
        let schema = &self.schema;
        let groups = schema.grouping.names().iter().enumerate().map(|(at, name)| {
            let (rows, test_rows) = (schema.counts[at] as usize, self.held_out[at] as usize);
            Group {
                name: name.clone(),
                family: schema.grouping.family(at),
                rows,
                train_rows: rows - test_rows,
                test_rows,
                train: Some(at),
                test: None,
                positives: None,
                clusters: None,
                train_clusters: None,
                test_clusters: None,
            }
        });
        let mut groups: Vec<Group> = groups.collect();
        let held_out = groups.iter_mut().filter(|g| g.test_rows > 0);
        held_out.enumerate().for_each(|(at, group)| group.test = Some(at));
        let test_rows = self.held_out[..schema.first_family()].iter().sum::<u64>() as usize;
        Facts {
            groups,
            train_rows: schema.used() as usize - test_rows,
            test_rows,
            encoding: schema.encoding.clone(),
            target: schema.target.clone(),
            grouping: schema.grouping.clone(),
            schema: schema.columns.clone(),
            notes: self.notes(),
            leaks: Vec::new(),
        }
    }

    /// What a user should see.
    fn notes(&self) -> Vec<String> {
        let schema = &self.schema;
        let mut notes = schema.notes.clone();
        if schema.left_out > 0 {
            notes.push(format!("{} of {} rows left out", schema.left_out, schema.rows));
        }
        let from = if self.is_sampled { "a sample of" } else { "the first" };
        notes.push(format!(
            "streamed: rows are shuffled {} at a time, so the file should have its rows in random order; rows held out are a random sample of each group; steps and curves are from {from} {}",
            self.buffer,
            count(self.setting.data.rows(), "row")
        ));
        notes.extend(self.kept_groups());
        notes.extend(self.limit());
        if let Some(share) = self.robust.moved {
            let answer = match (100.0 * share).round() {
                0.0 => "is the constant one".to_owned(),
                share => format!("is the best point between the two, {share} % of the way to it"),
            };
            notes.push(format!(
                "the model that {} ended with does worse than a constant one on training rows: the answer {answer}; rows in random order, more rows of the smallest groups, or smaller steps (--step-w, --step-q) may help",
                self.algorithm,
            ));
        }
        if let Outcome::Exhausted { group, budget } = self.robust.play.outcome {
            let name = &schema.grouping.names()[group];
            notes.push(format!(
                "the file ended after {budget} rows of the group `{name}`, before the last round: rows were let go while others waited; put the rows of the file in random order, or give a larger --buffer"
            ));
        }
        notes
    }

    /// What is to be said of rows that were drawn again and again.
    fn kept_groups(&self) -> Option<String> {
        let kept = || (0..self.kept.len()).filter(|group| self.kept[*group]);
        let rows: u64 = kept().map(|group| self.training_rows(group)).sum();
        let names = self.schema.grouping.names();
        let listed: Vec<String> = kept()
            .take(LISTED)
            .map(|group| format!("`{}` {}", names[group], number(self.training_rows(group))))
            .collect();
        let more = kept().count().saturating_sub(LISTED);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let rows_said = count(rows as usize, "training row");
        if rows > 0 && self.kept.iter().all(|kept| *kept) {
            return Some(format!(
                "all {rows_said} fit into memory, and are drawn again and again, with replacement"
            ));
        }
        (rows > 0).then(|| {
            format!(
                "kept in memory and drawn again and again, with replacement: all {rows_said} of the groups that fit ({}{more}); of the other groups each row counts once at most",
                listed.join(", ")
            )
        })
    }

    /// What limits an algorithm whose rows count once, when groups differ much.
    fn limit(&self) -> Option<String> {
        self.algorithm.spec().budgets?;
        let sizes: Vec<u64> = (0..self.kept.len()).map(|i| self.training_rows(i)).collect();
        let (least, most) = (sizes.iter().min()?, sizes.iter().max()?);
        let smallest = sizes.iter().position(|n| n == least)?;
        (most / SPREAD >= *least).then(|| {
            format!(
                "{} visits every row once at most: what it finds out about the group `{}` comes from {}, and limits the answer; smd-m draws the rows of small groups again and again",
                self.algorithm,
                self.schema.grouping.names()[smallest],
                count(*least as usize, "row")
            )
        })
    }

    fn training_rows(&self, group: usize) -> u64 {
        self.schema.counts[group] - self.held_out[group]
    }

    fn brief(&self, job: &Job) -> BriefSummary {
        let families = self.schema.grouping.families();
        let (schema, play) = (&self.schema, &self.robust.play);
        let found = self.finish.as_ref().map(|f| &f.evaluations[0]);
        let mut tests = found.and_then(|e| e.test.as_ref()).into_iter().flatten();
        let groups = schema.grouping.names().iter().enumerate().map(|(at, name)| {
            let train = found.and_then(|e| e.train.get(at));
            let test = if self.held_out[at] > 0 { tests.next() } else { None };
            BriefGroup {
                name: name.clone(),
                family: Some(&families[schema.grouping.family(at)])
                    .filter(|f| !f.columns().is_empty())
                    .map(gdro_data::Family::name),
                n: schema.counts[at],
                n_train: self.training_rows(at),
                n_test: self.held_out[at],
                weight: self.robust.weights[at],
                samples: play.samples[at],
                train_risk: train.map(|m| m.risk),
                train_accuracy: train.and_then(|m| m.accuracy),
                test_risk: test.map(|m| m.risk),
                test_risk_uncut: test.map(|m| m.risk),
                test_accuracy: test.and_then(|m| m.accuracy),
                untold: UntoldGroup::default(),
                metrics: METRICS
                    .iter()
                    .map(|m| (format!("test_{}", m.key), UntoldMeasure::default()))
                    .collect(),
            }
        });
        BriefSummary {
            objective: job.training.objective.to_string(),
            solver: self.algorithm.to_string(),
            rounds: play.rounds.0,
            ended: self.ended,
            rows: schema.rows,
            samples: play.samples.iter().sum(),
            clipped: play.clipped,
            buffer: self.buffer,
            seconds: self.robust.seconds,
            rows_per_second: self.read as f64 / self.robust.seconds.max(1e-9),
            step_w: play.steps.0,
            step_q: play.steps.1,
            max_risk: found.map(|e| e.train.iter().map(|m| m.risk).fold(f64::MIN, f64::max)),
            avg_risk_rows: found.map(|e| e.train_rows.risk),
            certificate: self.finish.as_ref().map(|f| f.certificate.clone()),
            groups: groups.collect(),
            schema: schema.columns.clone(),
            notes: self.notes(),
            warnings: Vec::new(),
            untold: Untold::default(),
        }
    }
}
