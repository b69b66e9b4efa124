//! Choosing a model of a family by its worst group on rows that it was not trained on; and the
//! trade-off between the worst group and the mean over groups.

mod contest;
mod family;
mod folds;
mod held;
mod means;
mod part;
mod path;
mod selection;
mod within;

pub use contest::Contest;
pub use path::{PartRisks, Path, Risks, path};
pub use selection::{Member, Selection, Tried};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use family::{Family, unit};
use folds::Plan;
use gdro::loss::{AnyLoss, Targets};
use gdro::setting::{Objective, SolverName};
use gdro_data::{Folds, row_folds};
use part::Part;
use selection::Judges;
use within::{bounds_with, job_of};

use crate::failure::{Failure, Result};
use crate::fit::{Fitted, OnRows, fit_on, fit_rows, load};
use crate::job::{Job, Search};
use crate::prepared::{Setting, TrainRows, choose, setting_of, setting_on, task_of, train_names};
use crate::progress::{Event, Progress};

/// A choice, and the model that follows from it.
pub struct Selected {
    /// The choice.
    pub selection: Selection,
    /// The job of the chosen model.
    pub job: Job,
    /// The chosen model, trained on all training rows, with ERM and balanced ERM beside it.
    pub fitted: Fitted,
}

/// A choice on rows in memory, and the model that follows from it.
pub struct SelectedRows {
    /// The choice.
    pub selection: Selection,
    /// The chosen model, trained on all rows.
    pub fitted: OnRows,
}

/// Chooses a model of a family and trains it on all training rows. ERM, the model that every other
/// one is compared with, is chosen unless the best of the others is better beyond doubt ([`Contest`]).
/// Rows that the job holds out are looked at once, at the end.
///
/// # Errors
/// Those of [`crate::fit::fit`], and when nothing was tried before an interrupt.
pub fn select(job: &Job, search: &Search, progress: &mut dyn Progress) -> Result<Selected> {
    let (table, prepared) = load(job, progress)?;
    let parts = Folds::new(&table, &prepared, &job.data, search.validation, job.training.seed);
    let parts = parts.map_err(|e| job.refuse(&e))?;
    let part = |at| Part::of(job, &parts.part(at).map_err(|e| job.refuse(&e))?);
    // One solver for all models: what is left open is settled by the whole training part.
    let names = train_names(&prepared);
    let setting = setting_of(job, &prepared)?;
    let mut choice = Choosing::of(job, search, &setting, &names, progress)?;
    // ERM is among the models, and must be one.
    setting_of(&job_of(&choice.job, search, Objective::Average, search.values[0]), &prepared)?;
    let groups: Vec<String> = prepared.groups.iter().map(|g| g.name.clone()).collect();
    let judges = prepared.groups.iter().map(|g| g.train_rows).collect();
    let selection = choice.run((groups, judges), parts.count(), part, progress)?;
    drop(table);

    let job = choice.job_of(&selection);
    let of = |member: &Member| bounds_with(&choice.job, search.knob, member.value);
    // Each at what is best for it, where both are members.
    let balanced = selection.members.iter().find(|m| m.objective == Objective::Balanced);
    let others = [of(selection.erm()), of(balanced.unwrap_or(selection.erm()))];
    let mut fitted = fit_on(&job, prepared, others, progress)?;
    fitted.reason =
        choice.reason.take().filter(|_| job.training.solver == choice.job.training.solver);
    fitted.verdict.after_choice(&job);
    Ok(Selected { selection, job, fitted })
}

/// Chooses a model of a family on rows in memory, as [`select`] does, and trains it on all of them.
///
/// # Errors
/// Those of [`fit_rows`].
pub fn select_rows(
    job: &Job,
    search: &Search,
    rows: TrainRows,
    loss: AnyLoss,
    progress: &mut dyn Progress,
) -> Result<SelectedRows> {
    rows.check(job)?;
    let seed = job.training.seed;
    let data = &rows.data;
    let (task, clusters) = (task_of(crate::job::LossName(loss)), rows.clusters.as_deref());
    let folds = row_folds(data, &rows.families, task, clusters, search.validation, seed);
    let (fold_of, count) = folds.map_err(|e| job.refuse(&e))?;
    let part = |at| {
        let judges: Vec<bool> = fold_of.iter().map(|fold| *fold == Some(at)).collect();
        Part::of_rows(&rows, loss, &judges).map_err(|e| Failure::library(e, &rows.names))
    };
    let setting = |job: &Job| setting_on(job, rows.clone(), loss, loss.targets());
    let choice = Choosing::of(job, search, &setting(job)?, &rows.names, progress)?;
    setting(&job_of(&choice.job, search, Objective::Average, search.values[0]))?;
    let judges = data.counts().into_iter().map(|rows| rows as usize).collect();
    let selection = choice.run((rows.names.clone(), judges), count, part, progress)?;
    let fitted = fit_rows(&choice.job_of(&selection), rows, loss, progress)?;
    Ok(SelectedRows { selection, fitted })
}

/// A choice under way.
struct Choosing<'a> {
    search: &'a Search,
    family: Family,
    /// The job; its solver is settled.
    job: Job,
    /// Why it is this solver, where it was left open.
    reason: Option<String>,
    stop: Arc<AtomicBool>,
}

impl<'a> Choosing<'a> {
    fn of(
        job: &Job,
        search: &'a Search,
        setting: &Setting,
        names: &[String],
        progress: &mut dyn Progress,
    ) -> Result<Self> {
        if search.criterion.counts_errors() && setting.loss.targets() == Targets::Numbers {
            let why = "accuracy: numbers are not right or wrong: use risk or top-k:K";
            return Err(job.refusal("criterion", why));
        }
        let (solver, reason) = choose(&job.training, &setting.size());
        let mut settled = job.clone();
        settled.training.solver = solver;
        // In the middle of what is tried.
        let value = search.values[search.values.len() / 2];
        let unit = || unit(setting, bounds_with(job, search.knob, value));
        let family = Family::of(search, solver, unit).map_err(|e| Failure::library(e, names))?;
        let notes = search.notes.iter().chain(&family.notes);
        notes.for_each(|note| progress.tell(Event::Note(note)));
        Ok(Choosing { search, family, job: settled, reason, stop: progress.interrupts() })
    }

    /// Tries all members on all parts and chooses one. `train_rows` are those of the groups.
    fn run(
        &self,
        (groups, train_rows): (Vec<String>, Vec<usize>),
        parts: usize,
        part: impl Fn(usize) -> Result<Part>,
        progress: &mut dyn Progress,
    ) -> Result<Selection> {
        let objectives = &self.family.objectives;
        let plan = Plan { job: &self.job, search: self.search, objectives, groups: &groups, parts };
        let (held, interrupted) = plan.run(part, progress, &self.stop)?;
        progress.tell(Event::Stage("comparison with ERM"));
        let judges = Judges::of(&train_rows, self.search);
        let seed = self.job.training.seed;
        let mut selection =
            Selection::new(self.search, seed, objectives, &held, judges, interrupted)?;
        selection.folds_planned = parts;
        if matches!(self.job.training.solver, SolverName::Rounds(_)) {
            // What was cut short is the search; Ctrl-C now cuts the last run short.
            self.stop.store(false, Ordering::Relaxed);
        }
        Ok(selection)
    }

    /// The job of the chosen model.
    fn job_of(&self, selection: &Selection) -> Job {
        let chosen = selection.chosen();
        job_of(&self.job, self.search, chosen.objective, chosen.value)
    }
}
