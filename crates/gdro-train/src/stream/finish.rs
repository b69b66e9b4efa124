//! The pass after training: the certificate, and the rows held out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

use gdro::certificate::Certificate;
use gdro::exact::{Goal, Problem};
use gdro::expansion::Expansion;
use gdro::game::Game;
use gdro::interval::Headline;
use gdro::loss::{AnyLoss, Loss as _};
use gdro::risk::{GroupMetric, group_metrics};
use gdro::{Dataset, Matrix};
use gdro_data::stream::Encoded;
use serde::{Deserialize, Serialize};

use super::pass::{self, Mark, Rows};
use crate::cap::{Constants, Held};
use crate::checkpoint::Checkpoint;
use crate::clusters::Draws;
use crate::evaluation::Evaluation;
use crate::failure::{Failure, Result};
use crate::intervals::{Columns, Intervals, columns, settings};
use crate::prepared::Setting;
use crate::scores::OneClass;

/// Targets of a group that are kept for the cap on losses, where they are numbers.
const KEPT: usize = 4000;

/// What the pass found.
pub struct Finish {
    /// How each model does: the robust one first.
    pub evaluations: Vec<Evaluation>,
    /// The robust model against the second one on the rows held out.
    pub comparison: Option<gdro::interval::Comparison>,
    /// The largest risks of the two there, when a group is large enough.
    pub largest: Option<gdro::interval::Largest>,
    /// How far the robust model is from the optimum.
    pub certificate: Certificate,
    /// What intervals rest on besides the rows held out.
    pub settings: gdro::interval::Settings,
    /// Rows of each group that were held out.
    pub held_out: Vec<u64>,
    /// Whether the constant model does better than the robust one.
    pub below: bool,
}

/// Sums over the rows up to a mark.
#[derive(Deserialize)]
struct SoFar {
    mark: Mark,
    expansion: Expansion,
    sums: Vec<Sums>,
    floor: Sums,
    targets: Vec<Vec<f64>>,
    constants: Vec<Held>,
}

/// Sums over the rows of one model.
#[derive(Serialize, Deserialize)]
struct Sums {
    /// Σ loss, Σ right and number of rows of each group, for training rows and rows held out.
    training: Vec<(f64, f64, f64)>,
    held_out: Vec<(f64, f64, f64)>,
    columns: Vec<Columns>,
    one_class: OneClass,
    graded: bool,
}

/// Goes over the table once more for these models, the robust one first, and for a constant one. The pass
/// is a stage of the work, of this name.
pub fn run(
    rows: &Rows<'_>,
    head: &Setting,
    models: &[&[f64]],
    constant: Option<&[f64]>,
    weights: &[f64],
    (checkpoint, stage): (&Checkpoint, &str),
    stop: &AtomicBool,
) -> Result<Option<Finish>> {
    let (job, schema) = (rows.job, rows.schema);
    let names = schema.grouping.names();
    let library = |e| Failure::library(e, names);
    let (m, loss) = (names.len(), &head.loss);
    let intercept = head.domain.intercept.is_some();
    let mut expansion = Expansion::new(loss, models[0].to_vec(), intercept, m);
    let mut sums: Vec<Sums> = models.iter().map(|_| Sums::new(m, loss)).collect();
    let mut floor = Sums::new(m, loss);
    let mut targets = vec![Vec::new(); m];
    let mut constants = Constants::new(*loss, m, KEPT, job.training.seed);
    let refuse = |e: gdro_data::Error| job.refuse(&e);
    let mut before = None;
    if let Some(kept) = checkpoint.get::<SoFar>(stage)? {
        let SoFar { mark, expansion: e, sums: s, floor: f, targets: t, constants: c } = kept;
        let lengths = |sums: &Sums| [sums.training.len(), sums.held_out.len(), sums.columns.len()];
        let fits = expansion.is_like(&e)
            && s.len() == sums.len()
            && s.iter().chain([&f]).all(|sums| lengths(sums) == [m; 3])
            && t.len() == m
            && constants.take_over(c);
        if !fits {
            return Err(Failure::input(
                "the checkpoint is damaged: the last pass of another table",
            ));
        }
        (before, expansion, sums, floor, targets) = (Some(mark), e, s, f, t);
    }
    let (reader, feed) = rows.open_at(1, rows.feed(Encoded::All), before)?;
    let (send, parts) = sync_channel(1);
    let deliver = move |portion: &gdro_data::stream::Portion, mark: Mark| {
        let part = (portion.training().map_err(refuse)?, portion.held_out().map_err(refuse)?);
        Ok(send.send((part, mark)).is_ok())
    };
    let done = pass::run(rows, (Vec::new(), reader), feed, deliver, || {
        let mut last = None;
        for ((training, held_out), mark) in parts {
            if let Some((data, groups)) = training {
                expansion.add(loss, &data, &groups).map_err(library)?;
                constants.add(&data, &groups);
                for (w, sums) in models.iter().zip(&mut sums) {
                    sums.add(head, &data, &groups, w, false).map_err(library)?;
                }
                if let Some(w) = constant {
                    floor.add(head, &data, &groups, w, false).map_err(library)?;
                }
            }
            if let Some((data, groups)) = held_out {
                for (w, sums) in models.iter().zip(&mut sums) {
                    sums.add(head, &data, &groups, w, true).map_err(library)?;
                }
                for (local, group) in groups.iter().enumerate() {
                    let of = data.members(local).iter().map(|r| data.targets()[*r as usize]);
                    targets[*group].extend(of);
                }
            }
            let is_last = stop.load(Ordering::Relaxed);
            if is_last || checkpoint.is_due() {
                let held = constants.held();
                checkpoint.put(stage, &(&mark, &expansion, &sums, &floor, &targets, held));
            }
            if is_last {
                checkpoint.freeze();
                return Ok(false);
            }
            last = Some(mark);
        }
        if let Some(mark) = last {
            // What is left to do takes its time, too.
            let held = constants.held();
            checkpoint.put(stage, &(&mark, &expansion, &sums, &floor, &targets, held));
        }
        Ok(true)
    })?;
    if !done {
        return Ok(None);
    }
    let game = Game::gdro(m).with_ridge(head.game.ridge);
    let problem = Problem {
        game: &game,
        domain: &head.domain,
        features: head.data.features(),
        outputs: loss.outputs(),
        goal: Goal::Adversary,
    };
    let certificate = expansion.certify(loss, &problem, weights).map_err(library)?;
    let risks = floor.training.iter().map(|(risk, _, rows)| risk / rows);
    let below = constant.is_some() && risks.fold(f64::MIN, f64::max) < certificate.upper;
    let settings = settings(&job.training, head, models[0], &constants, None).map_err(library)?;
    let mut evaluations: Vec<Evaluation> =
        (sums.iter().zip(models)).map(|(s, w)| s.evaluation(schema.first_family(), w)).collect();
    let held_out: Vec<u64> = targets.iter().map(|of| of.len() as u64).collect();
    let (mut comparison, mut largest) = (None, None);
    if targets.iter().any(|t| !t.is_empty()) {
        // Of the second model, which need not be there.
        let second = usize::from(sums.len() > 1);
        let rows: Vec<[usize; 2]> = (sums[0].training.iter().zip(&targets))
            .map(|((_, _, rows), held_out)| [*rows as usize, held_out.len()])
            .collect();
        let headline = Headline::choose(&rows, |group| {
            [0, second].map(|model| {
                let (risk, _, rows) = sums[model].training[group];
                risk / rows
            })
        });
        let (data, members) = targets_only(targets).map_err(library)?;
        let members: Vec<&[u32]> = members.iter().map(Vec::as_slice).collect();
        let mut columns: Vec<Vec<Columns>> = sums.into_iter().map(|s| s.columns).collect();
        let alone = columns.len() == 1;
        if alone {
            columns.push(columns[0].clone());
        }
        let (once, draws) = (0..schema.first_family(), Draws::default());
        let headline = headline.as_ref();
        let found =
            Intervals::of(loss, &data, &members, &columns, once, headline, &draws, &settings);
        let found = found.map_err(library)?;
        for (at, evaluation) in evaluations.iter_mut().enumerate() {
            evaluation.intervals = Some(found.evaluations[at].clone());
            evaluation.capped_rows = Some(found.rows[at]);
            evaluation.classes = found.classes[at].clone();
        }
        comparison = (!alone).then_some(found.comparison);
        largest = found.largest.filter(|_| !alone);
    }
    Ok(Some(Finish { evaluations, comparison, largest, certificate, settings, held_out, below }))
}

/// Data that hold targets and groups, and no features.
fn targets_only(targets: Vec<Vec<f64>>) -> gdro::Result<(Dataset, Vec<Vec<u32>>)> {
    let mut from = 0;
    let place = |of: &Vec<f64>| {
        let rows = (from..from + of.len() as u32).collect();
        from += of.len() as u32;
        rows
    };
    let members: Vec<Vec<u32>> = targets.iter().map(place).collect();
    let present: Vec<Vec<u32>> = members.iter().filter(|rows| !rows.is_empty()).cloned().collect();
    let targets = targets.concat();
    let nothing = Matrix::sparse(1, vec![0; targets.len() + 1], Vec::new(), Vec::new())?;
    Ok((Dataset::new(Arc::new(nothing), targets, None, &present)?, members))
}

impl Sums {
    fn new(groups: usize, loss: &AnyLoss) -> Self {
        Sums {
            training: vec![(0.0, 0.0, 0.0); groups],
            held_out: vec![(0.0, 0.0, 0.0); groups],
            columns: vec![Columns::default(); groups],
            one_class: OneClass::new(loss),
            graded: false,
        }
    }

    fn add(
        &mut self,
        setting: &Setting,
        data: &Dataset,
        groups: &[usize],
        w: &[f64],
        held_out: bool,
    ) -> gdro::Result<()> {
        let metrics = group_metrics(&setting.loss, w, data)?;
        let sums = if held_out { &mut self.held_out } else { &mut self.training };
        for (local, group) in groups.iter().enumerate() {
            let (rows, metric) = (data.count(local) as f64, &metrics[local]);
            let sum = &mut sums[*group];
            sum.0 += rows * metric.risk;
            sum.1 += rows * metric.accuracy.unwrap_or(0.0);
            sum.2 += rows;
            self.graded |= metric.accuracy.is_some();
        }
        self.one_class.look(&setting.loss, data, w);
        if held_out {
            let members: Vec<&[u32]> = (0..groups.len()).map(|i| data.members(i)).collect();
            let found = columns(&setting.loss, data, w, &members)?;
            for (group, more) in groups.iter().zip(found) {
                self.columns[*group].append(more);
            }
        }
        Ok(())
    }

    fn evaluation(&self, once: usize, w: &[f64]) -> Evaluation {
        let metric = |(risk, right, rows): &(f64, f64, f64)| GroupMetric {
            risk: risk / rows,
            accuracy: self.graded.then_some(right / rows),
        };
        let present = |sums: &[(f64, f64, f64)]| -> Vec<GroupMetric> {
            sums.iter().filter(|s| s.2 > 0.0).map(metric).collect()
        };
        // The first family has every row once.
        let mean = |sums: &[(f64, f64, f64)]| {
            let add = |a: (f64, f64, f64), b: &(f64, f64, f64)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
            metric(&sums[..once].iter().fold((0.0, 0.0, 0.0), add))
        };
        let test = present(&self.held_out);
        Evaluation {
            train: present(&self.training),
            train_rows: mean(&self.training),
            test: (!test.is_empty()).then_some(test),
            intervals: None,
            capped_rows: None,
            classes: Vec::new(),
            w: w.to_vec(),
            one_class: self.one_class.holds(),
        }
    }
}
