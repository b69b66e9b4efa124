//! Losses of models on rows that they were not trained on, for every value that may be chosen.

use std::sync::atomic::{AtomicBool, Ordering};

use gdro_data::Prepared;

use super::{bounds_with, job_within, library};
use crate::failure::{Failure, Result};
use crate::job::{Baseline, Job, Objective, Search};
use crate::train::{Bounds, Setting, Watch, each_loss, minimise};

/// Robust, ERM, balanced ERM.
pub const MODELS: usize = 3;

/// Validation rows group by group, with their losses. A row in several groups is there for each.
#[derive(Debug, Default)]
pub struct Losses {
    /// Where each group starts, and the end.
    pub starts: Vec<usize>,
    /// The fold in which each row is a validation row.
    pub folds: Vec<u16>,
    /// Weights of the rows.
    pub weights: Vec<f64>,
    /// For each model and each value, the strongest first, the losses of the rows.
    pub of: [Vec<Vec<f64>>; MODELS],
}

/// The losses of a part's validation rows, for each model and value.
type OfPart = [Vec<Vec<f64>>; MODELS];

/// Trains everything on every part, the strongest value first, each from the model before. Says
/// whether Ctrl-C cut it short: then what is left are the parts that are complete, or the values
/// that are complete of the first part.
pub fn run(
    job: &Job,
    search: &Search,
    parts: &[Prepared],
    watch: &mut Watch,
    stop: &AtomicBool,
) -> Result<(Losses, bool)> {
    watch.start_models(parts.len() * search.values.len() * MODELS);
    let mut found: Vec<OfPart> = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let done = at * search.values.len() * MODELS;
        let title = match parts.len() {
            1 => String::new(),
            all => format!("fold {} of {all}, ", at + 1),
        };
        let losses = run_part(job, search, part, watch, stop, (done, &title))?;
        let complete = losses[0].len() == search.values.len();
        if !complete && !found.is_empty() {
            break;
        }
        found.push(losses);
        if !complete {
            break;
        }
    }
    watch.done();
    let stopped = stop.load(Ordering::Relaxed);
    if found[0][0].is_empty() {
        return Err(Failure::Machine(
            "stopped by Ctrl-C before any value was tried on validation rows: nothing was chosen"
                .into(),
        ));
    }
    let complete = found.len() == parts.len() && found[0][0].len() == search.values.len();
    Ok((gather(&parts[..found.len()], found), stopped && !complete))
}

/// One part: the losses for the values that all models were trained with.
fn run_part(
    job: &Job,
    search: &Search,
    part: &Prepared,
    watch: &Watch,
    stop: &AtomicBool,
    (done, title): (usize, &str),
) -> Result<OfPart> {
    let failed = library(part);
    let bounds = Bounds::of(&job.training);
    let plain = Setting::new(job, part)?;
    let test = part.test.as_ref().expect("a part has validation rows");
    let mut losses = OfPart::default();
    let mut near: [Option<Vec<f64>>; MODELS] = Default::default();
    for (point, value) in search.values.iter().enumerate() {
        let bounds = bounds_with(bounds, search.knob, *value);
        let job = job_within(job, bounds);
        let setting = match job.training.objective {
            // What a group alone attains depends on the bounds.
            Objective::Regret => Setting::new(&job, part)?,
            _ => plain.within(bounds).map_err(&failed)?,
        };
        let mut of_point: [Vec<f64>; MODELS] = Default::default();
        for model in 0..MODELS {
            if stop.load(Ordering::Relaxed) {
                return Ok(losses);
            }
            watch.next_model(
                done + point * MODELS + model,
                format!("{title}{} {value}", search.knob.words()),
            );
            let start = near[model].take();
            let w = match model {
                0 => minimise(&setting, &job, part, start, &mut watch.silent())?,
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
            return Ok(losses);
        }
        for (all, new) in losses.iter_mut().zip(of_point) {
            check_finite(part, &new)?;
            all.push(new);
        }
    }
    Ok(losses)
}

/// Refuses losses that are not finite.
fn check_finite(part: &Prepared, losses: &[f64]) -> Result<()> {
    let Some(test) = &part.test else { return Ok(()) };
    for group in &part.groups {
        let rows = group.test.map_or(&[][..], |i| test.members(i));
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
fn gather(parts: &[Prepared], found: Vec<OfPart>) -> Losses {
    let points = found.iter().map(|part| part[0].len()).min().unwrap_or(0);
    let mut losses = Losses { starts: vec![0], ..Losses::default() };
    losses.of = std::array::from_fn(|_| vec![Vec::new(); points]);
    for group in 0..parts[0].groups.len() {
        for (fold, part) in parts.iter().enumerate() {
            let Some((test, index)) = part.test.as_ref().zip(part.groups[group].test) else {
                continue;
            };
            for row in test.members(index) {
                let row = *row as usize;
                losses.folds.push(fold as u16);
                losses.weights.push(test.weight(row));
                for (of, from) in losses.of.iter_mut().zip(&found[fold]) {
                    of.iter_mut().zip(from).for_each(|(of, from)| of.push(from[row]));
                }
            }
        }
        losses.starts.push(losses.weights.len());
    }
    losses
}
