//! Choosing what bounds a model, by its worst group on rows that it was not trained on; and the
//! trade-off between the worst group and the mean over groups.

mod bootstrap;
mod criterion;
mod folds;
mod path;
mod selection;
mod within;

pub use path::{PartRisks, Path, Risks, path};
pub use selection::{Curve, Selection};

use std::sync::atomic::Ordering;

use gdro::setting::SolverName;
use gdro_data::Folds;
use within::{bounds_with, job_within};

use crate::failure::Result;
use crate::fit::{Fitted, fit_on, load};
use crate::job::{Job, Search};
use crate::prepared::{Bounds, choose, setting_of};
use crate::progress::{Event, Progress};

/// A choice, and the models that follow from it.
pub struct Selected {
    /// The choice.
    pub selection: Selection,
    /// The job of the chosen robust model.
    pub job: Job,
    /// The chosen models, trained on all training rows.
    pub fitted: Fitted,
}

/// Chooses for the robust model, ERM and balanced ERM, each by the same rule, and trains the chosen
/// models on all training rows. Rows that the job holds out are looked at once, at the end.
///
/// # Errors
/// Those of [`crate::fit::fit`], and when nothing was tried before an interrupt.
pub fn select(job: &Job, search: &Search, progress: &mut dyn Progress) -> Result<Selected> {
    let (table, prepared) = load(job, progress)?;
    search.notes.iter().for_each(|note| progress.tell(Event::Note(note)));
    let training = &job.training;
    let refuse = |e| job.refuse(&e);
    let parts = Folds::new(&table, &prepared, &job.data, search.validation, training.seed);
    let parts = parts.map_err(refuse)?;

    // One solver for all models: what is left open is settled by the whole training part.
    let (solver, reason) = choose(training, &setting_of(job, &prepared)?.size());
    let mut settled = job.clone();
    settled.training.solver = solver;
    let stop = progress.interrupts();
    let (losses, interrupted) = folds::run(&settled, search, &parts, progress, &stop)?;
    progress.tell(Event::Stage("bootstrap"));
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
    let mut fitted = fit_on(&chosen, prepared, others, progress)?;
    fitted.reason = reason;
    fitted.verdict.after_choice(&chosen);
    Ok(Selected { selection, job: chosen, fitted })
}
