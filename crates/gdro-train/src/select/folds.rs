//! Losses of models on rows that they were not trained on, for every value that may be chosen.

use std::sync::atomic::{AtomicBool, Ordering};

use gdro::setting::{Baseline, Objective};
use gdro_data::{Folds, Prepared};

use super::within::{bounds_with, job_within, library};
use crate::clusters::{Draws, with_one};
use crate::failure::{Failure, Result};
use crate::job::{Job, Search};
use crate::prepared::{Bounds, choose, setting_of, train_names, within};
use crate::progress::{Event, Progress, Quiet};
use crate::scores::each_loss;
use crate::solve::solve;

/// Robust, ERM, balanced ERM.
pub const MODELS: usize = 3;

/// Validation rows group by group, with their losses. A row in several groups is there for each. The
/// rows of a cluster in a group are one, with their weighted mean loss and their total weight: it is
/// drawn and counted as a whole.
#[derive(Debug, Default)]
pub struct Losses {
    /// Number of rows of each group, those of clusters one by one.
    pub rows: Vec<usize>,
    /// Where each group starts, and the end.
    pub starts: Vec<usize>,
    /// The fold in which each row is a validation row.
    pub folds: Vec<u16>,
    /// Weights of the rows.
    pub weights: Vec<f64>,
    /// For each model and each value, the strongest first, the losses of the rows.
    pub of: [Vec<Vec<f64>>; MODELS],
}

/// A part's validation rows.
struct OfPart {
    /// For each model and value, the losses of the rows.
    losses: [Vec<Vec<f64>>; MODELS],
    /// The rows of each group of the table.
    members: Vec<Vec<u32>>,
    /// Which of them are drawn together.
    draws: Draws,
    /// Weights of the rows.
    weights: Vec<f64>,
}

/// Trains everything on every part, the strongest value first, each from the model before. Says
/// whether Ctrl-C cut it short: then what is left are the parts that are complete, or the values
/// that are complete of the first part.
pub fn run(
    job: &Job,
    search: &Search,
    folds: &Folds<'_>,
    progress: &mut dyn Progress,
    stop: &AtomicBool,
) -> Result<(Losses, bool)> {
    let points = search.values.len();
    progress.tell(Event::Models(folds.count() * points * MODELS));
    let mut found: Vec<OfPart> = Vec::with_capacity(folds.count());
    let mut complete = true;
    for fold in 0..folds.count() {
        let part = folds.part(fold).map_err(|e| job.refuse(&e))?;
        let title = match folds.count() {
            1 => String::new(),
            all => format!("fold {} of {all}, ", fold + 1),
        };
        let of_part =
            run_part(job, search, &part, progress, stop, (fold * points * MODELS, &title))?;
        complete = of_part.losses[0].len() == points;
        if complete || found.is_empty() {
            found.push(of_part);
        }
        if !complete {
            break;
        }
    }
    progress.tell(Event::Done);
    if found[0].losses[0].is_empty() {
        return Err(Failure::Machine(
            "stopped by Ctrl-C before any value was tried on validation rows: nothing was chosen"
                .into(),
        ));
    }
    Ok((gather(&found), !complete))
}

/// One part: the losses for the values that all models were trained with.
fn run_part(
    job: &Job,
    search: &Search,
    part: &Prepared,
    progress: &mut dyn Progress,
    stop: &AtomicBool,
    (done, title): (usize, &str),
) -> Result<OfPart> {
    let (failed, names) = (library(part), train_names(part));
    let mut quiet = Quiet::within(progress);
    let bounds = Bounds::of(&job.training);
    let plain = setting_of(job, part)?;
    let test = part.test.as_ref().expect("a part has validation rows");
    let of_group =
        |group: &gdro_data::Group| group.test.map_or(Vec::new(), |i| test.members(i).to_vec());
    let members: Vec<Vec<u32>> = part.groups.iter().map(of_group).collect();
    let lists: Vec<&[u32]> = members.iter().map(Vec::as_slice).collect();
    let mut found = OfPart {
        losses: Default::default(),
        draws: Draws::new(part.test_clusters.as_ref(), &lists, with_one(part)),
        members,
        weights: (0..test.rows()).map(|row| test.weight(row)).collect(),
    };
    let mut near: [Option<Vec<f64>>; MODELS] = Default::default();
    for (point, value) in search.values.iter().enumerate() {
        let bounds = bounds_with(bounds, search.knob, *value);
        let job = job_within(job, bounds);
        let setting = match job.training.objective {
            // What a group alone attains depends on the bounds.
            Objective::Regret => setting_of(&job, part)?,
            _ => within(&plain, bounds).map_err(&failed)?,
        };
        let mut of_point: [Vec<f64>; MODELS] = Default::default();
        for model in 0..MODELS {
            if stop.load(Ordering::Relaxed) {
                return Ok(found);
            }
            let what = format!("{title}{} {value}", search.knob.words());
            progress.tell(Event::Model(done + point * MODELS + model, &what));
            let start = near[model].take();
            let w = match model {
                0 => {
                    let (solver, _) = choose(&job.training, &setting.size());
                    solve(&setting, solver, &job, &names, start, &mut quiet)?.w
                }
                1 => setting.ordinary(Baseline::Erm, start).map_err(&failed)?,
                _ => setting.ordinary(Baseline::Balanced, start).map_err(&failed)?,
            };
            let of_row = &mut of_point[model];
            of_row.resize(test.rows(), 0.0);
            each_loss(&setting.loss, test, &w, |row, loss, _| of_row[row] = loss)
                .map_err(&failed)?;
            near[model] = Some(w);
        }
        // Rounds that were cut short are not what they were to be.
        if stop.load(Ordering::Relaxed) {
            return Ok(found);
        }
        for new in &of_point {
            check_finite(part, &found.members, new)?;
        }
        found.losses.iter_mut().zip(of_point).for_each(|(all, new)| all.push(new));
    }
    Ok(found)
}

/// Refuses losses that are not finite.
fn check_finite(part: &Prepared, members: &[Vec<u32>], losses: &[f64]) -> Result<()> {
    for (group, rows) in part.groups.iter().zip(members) {
        if let Some(row) = rows.iter().find(|row| !losses[**row as usize].is_finite()) {
            return Err(Failure::input(format!(
                "the loss of a validation row of group `{}` is {}: the table holds numbers too large to square; scale the columns",
                group.name, losses[*row as usize]
            )));
        }
    }
    Ok(())
}

/// Puts the rows of all parts together, group by group.
fn gather(found: &[OfPart]) -> Losses {
    let points = found[0].losses[0].len();
    let mut losses = Losses { starts: vec![0], ..Losses::default() };
    losses.of = std::array::from_fn(|_| vec![Vec::new(); points]);
    for group in 0..found[0].members.len() {
        for (fold, part) in found.iter().enumerate() {
            let rows = &part.members[group];
            // Where each row is, those of a cluster one after another.
            let mut places: Vec<usize> = (0..rows.len()).collect();
            let codes = part.draws.clusters(group);
            if let Some(codes) = codes {
                places.sort_by_key(|place| codes[*place]);
            }
            let together = |a: &usize, b: &usize| codes.is_some_and(|c| c[*a] == c[*b]);
            for unit in places.chunk_by(together) {
                let weight = |place: &usize| part.weights[rows[*place] as usize];
                let total: f64 = unit.iter().map(weight).sum();
                losses.folds.push(fold as u16);
                losses.weights.push(total);
                for (of, from) in losses.of.iter_mut().zip(&part.losses) {
                    for (of, from) in of.iter_mut().zip(from) {
                        let loss = |place: &usize| from[rows[*place] as usize];
                        of.push(match unit {
                            [row] => loss(row),
                            rows => rows.iter().map(|r| weight(r) * loss(r)).sum::<f64>() / total,
                        });
                    }
                }
            }
        }
        losses.rows.push(found.iter().map(|part| part.members[group].len()).sum());
        losses.starts.push(losses.weights.len());
    }
    losses
}
