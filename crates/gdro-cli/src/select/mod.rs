//! Choosing what bounds a model, by its worst group on rows that it was not trained on; and the
//! trade-off between the worst group and the mean over groups.

mod bootstrap;
mod criterion;
mod folds;
mod path;
mod selection;

pub use path::{PartRisks, Path, Risks, path};
pub use selection::{Curve, Selection};

use std::sync::atomic::Ordering;

use gdro_data::Folds;

use crate::failure::{Failure, Result};
use crate::job::{Job, Knob, Search, SolverName};
use crate::train::{self, Bounds, Fitted, Watch, choose, setting_of, train_names};

/// A choice, and the models that follow from it.
pub struct Selected {
    /// The choice.
    pub selection: Selection,
    /// The job of the chosen robust model.
    pub job: Job,
    /// The chosen models, trained on all training rows.
    pub fitted: Fitted,
}

/// These bounds with a value of what is chosen.
fn bounds_with(bounds: Bounds, knob: Knob, value: f64) -> Bounds {
    match knob {
        Knob::L2 => Bounds { l2: value, ..bounds },
        Knob::Ball => Bounds { ball: Some(value), ..bounds },
    }
}

/// A job within these bounds.
fn job_within(job: &Job, bounds: Bounds) -> Job {
    let mut job = job.clone();
    (job.training.l2, job.training.ball) = (bounds.l2, bounds.ball);
    job
}

/// Chooses for the robust model, ERM and balanced ERM, each by the same rule, and trains the chosen
/// models on all training rows. Rows that the job holds out are looked at once, at the end.
pub fn select(job: &Job, search: &Search, watch: &mut Watch) -> Result<Selected> {
    let (table, prepared) = train::load(job, watch)?;
    search.notes.iter().for_each(|note| watch.note(note));
    let training = &job.training;
    let refuse = |e| Failure::data(&e, job);
    let parts = Folds::new(&table, &prepared, &job.data, search.validation, training.seed);
    let parts = parts.map_err(refuse)?;

    // One solver for all models: what is left open is settled by the whole training part.
    let (solver, reason) = choose(training, &setting_of(job, &prepared)?.size());
    let mut settled = job.clone();
    settled.training.solver = solver;
    let stop = watch.interrupts();
    let (losses, interrupted) = folds::run(&settled, search, &parts, watch, &stop)?;
    watch.say("bootstrap");
    let names = prepared.groups.iter().map(|g| g.name.clone()).collect();
    let mut selection = Selection::new(search, training.seed, names, &losses, interrupted);
    selection.folds_planned = parts.count();
    drop(table);

    let bounds = Bounds::of(training);
    let within = |curve: &Curve| bounds_with(bounds, search.knob, curve.value);
    let chosen = job_within(&settled, within(&selection.robust));
    if matches!(solver, SolverName::Rounds(_)) {
        // What was cut short is the search; Ctrl-C now cuts the last run short.
        stop.store(false, Ordering::Relaxed);
    }
    let others = [within(&selection.erm), within(&selection.balanced)];
    let mut fitted = train::fit_on(&chosen, prepared, others, watch)?;
    fitted.reason = reason;
    Ok(Selected { selection, job: chosen, fitted })
}

/// A failure of the library on a part of the table.
fn library<'a>(part: &'a gdro_data::Prepared) -> impl Fn(gdro::Error) -> Failure + 'a {
    move |error| Failure::library(error, &train_names(part))
}
