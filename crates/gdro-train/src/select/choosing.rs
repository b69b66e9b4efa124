//! A choice under way, on a table or on rows in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gdro::loss::Targets;
use gdro::setting::{Objective, SolverName};
use gdro_data::{Folds, Prepared, Table};

use super::family::{Family, unit};
use super::folds::Plan;
use super::part::Part;
use super::selection::{Judges, Member, Selection};
use super::within::{bounds_with, job_of};
use crate::failure::{Failure, Result};
use crate::fit::{Fitted, fit_on};
use crate::job::{Job, Search};
use crate::prepared::{Setting, choose, setting_of};
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

/// A choice under way.
pub struct Choosing<'a> {
    search: &'a Search,
    family: Family,
    /// The job; its solver is settled.
    pub job: Job,
    /// Why it is this solver, where it was left open.
    reason: Option<String>,
    stop: Arc<AtomicBool>,
}

impl<'a> Choosing<'a> {
    /// Settles the solver and the family of a search by the whole training part, whose groups have
    /// these names.
    ///
    /// # Errors
    /// A criterion that the loss does not allow; those of [`unit`].
    pub fn of(
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
        // One solver for all models: what is left open is settled by the whole training part.
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

    /// Number of models to choose from.
    pub fn models(&self) -> usize {
        self.family.objectives.len() * self.search.values.len()
    }

    /// The parts of the training rows of a table.
    ///
    /// # Errors
    /// Those of [`Folds::new`], and where the table allows no ERM.
    pub fn parts<'t>(&self, table: &'t Table, prepared: &'t Prepared) -> Result<Folds<'t>> {
        let (job, search) = (&self.job, self.search);
        // ERM is among the models, and must be one.
        setting_of(&job_of(job, search, Objective::Average, search.values[0]), prepared)?;
        Folds::new(table, prepared, &job.data, search.validation, job.training.seed)
            .map_err(|e| job.refuse(&e))
    }

    /// Chooses a model by these parts of the training rows of a table.
    ///
    /// # Errors
    /// Those of [`Choosing::run`].
    pub fn by(
        &self,
        parts: &Folds<'_>,
        prepared: &Prepared,
        progress: &mut dyn Progress,
    ) -> Result<Selection> {
        let job = &self.job;
        let part = |at| Part::of(job, &parts.part(at).map_err(|e| job.refuse(&e))?);
        let groups = prepared.groups.iter().map(|g| g.name.clone()).collect();
        let train_rows = prepared.groups.iter().map(|g| g.train_rows).collect();
        self.run((groups, train_rows), parts.count(), part, progress)
    }

    /// Trains the chosen model on all training rows, with ERM and balanced ERM beside it.
    ///
    /// # Errors
    /// Those of [`fit_on`].
    pub fn fitted(
        self,
        selection: Selection,
        prepared: Prepared,
        progress: &mut dyn Progress,
    ) -> Result<Selected> {
        let job = self.job_of(&selection);
        let of = |member: &Member| bounds_with(&self.job, self.search.knob, member.value);
        // Each at what is best for it, where both are members.
        let balanced = selection.members.iter().find(|m| m.objective == Objective::Balanced);
        let others = [of(selection.erm()), of(balanced.unwrap_or(selection.erm()))];
        let mut fitted = fit_on(&job, prepared, others, progress)?;
        let is_settled = job.training.solver == self.job.training.solver;
        fitted.reason = self.reason.filter(|_| is_settled);
        fitted.verdict.after_choice(&job);
        Ok(Selected { selection, job, fitted })
    }

    /// Tries all members on all parts and chooses one. `train_rows` are those of the groups.
    ///
    /// # Errors
    /// Those of training a model of the family, and when nothing was tried before an interrupt.
    pub fn run(
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
    pub fn job_of(&self, selection: &Selection) -> Job {
        let chosen = selection.chosen();
        job_of(&self.job, self.search, chosen.objective, chosen.value)
    }
}
