//! Models on rows that they were not trained on, for every member of a family.

use std::sync::atomic::{AtomicBool, Ordering};

use gdro::run::Start;
use gdro::setting::{Baseline, Objective};

use super::held::Held;
use super::part::{Part, Trained};
use super::within::job_of;
use crate::failure::{Failure, Result};
use crate::job::{Job, Search};
use crate::prepared::{Setting, setting_on};
use crate::progress::{Event, Progress, Quiet};
use crate::solve::{solve, solved};

/// What is trained on every part: members with these objectives at all values of the search.
pub struct Plan<'a> {
    /// The job; its solver is settled.
    pub job: &'a Job,
    /// The search.
    pub search: &'a Search,
    /// What the members minimise.
    pub objectives: &'a [Objective],
    /// Names of the groups.
    pub groups: &'a [String],
    /// Number of parts.
    pub parts: usize,
}

impl Plan<'_> {
    /// Trains everything on every part, the strongest value first, each model from the one of the same
    /// member before. Says whether Ctrl-C cut it short: then what is left are the parts that are
    /// complete, or the values that are complete of the first part.
    pub fn run(
        &self,
        part: impl Fn(usize) -> Result<Part>,
        progress: &mut dyn Progress,
        stop: &AtomicBool,
    ) -> Result<(Held, bool)> {
        let of_part = self.search.values.len() * self.objectives.len();
        progress.tell(Event::Models(self.parts * of_part));
        let mut found: Vec<Trained> = Vec::with_capacity(self.parts);
        let mut complete = true;
        for at in 0..self.parts {
            let title = match self.parts {
                1 => String::new(),
                all => format!("fold {} of {all}, ", at + 1),
            };
            let trained = self.train(part(at)?, progress, stop, (at * of_part, &title))?;
            complete = trained.models.len() == self.search.values.len();
            if complete || found.is_empty() {
                found.push(trained);
            }
            if !complete {
                // What is chosen now is not what the whole search would choose.
                progress.checkpoint().freeze();
                break;
            }
        }
        progress.tell(Event::Done);
        if found[0].models.is_empty() {
            return Err(Failure::Machine(
                "interrupted before any value was tried on validation rows: nothing was chosen"
                    .into(),
            ));
        }
        Ok((Held::new(found, self.groups.to_vec(), self.search.criterion), !complete))
    }

    /// One part: the values that all members were trained with.
    fn train(
        &self,
        part: Part,
        progress: &mut dyn Progress,
        stop: &AtomicBool,
        (done, title): (usize, &str),
    ) -> Result<Trained> {
        let checkpoint = progress.checkpoint();
        let members = self.objectives.len();
        let mut models: Vec<Vec<Vec<f64>>> = Vec::with_capacity(self.search.values.len());
        for (point, value) in self.search.values.iter().enumerate() {
            let mut of_value: Vec<Vec<f64>> = Vec::with_capacity(members);
            for (member, objective) in self.objectives.iter().enumerate() {
                if stop.load(Ordering::Relaxed) {
                    return Ok(Trained { part, models });
                }
                let what = format!("{title}{} {value}, {objective}", self.search.knob.words());
                progress.tell(Event::Model(done + point * members + member, &what));
                let near = models.last().map(|of_value| &of_value[member]).or(of_value.last());
                let job = job_of(self.job, self.search, *objective, *value);
                let stage = format!("{title}{value}, {objective}");
                let found = match checkpoint.get(&stage)? {
                    Some(kept) => kept,
                    None => {
                        let mut quiet = Quiet::within(progress, &stage);
                        let found = model(&job, &part, near.cloned(), &mut quiet)?;
                        // Rounds that were cut short have frozen what is kept.
                        checkpoint.put(&stage, &found);
                        found
                    }
                };
                of_value.push(found);
            }
            // Rounds that were cut short are not what they were to be.
            if stop.load(Ordering::Relaxed) {
                break;
            }
            models.push(of_value);
        }
        Ok(Trained { part, models })
    }
}

/// The model of a job on the training rows of a part, from one that may be near.
fn model(
    job: &Job,
    part: &Part,
    near: Option<Vec<f64>>,
    progress: &mut dyn Progress,
) -> Result<Vec<f64>> {
    let names = &part.rows.names;
    let setting = |objective| -> Result<Setting> {
        let mut job = job.clone();
        job.training.objective = objective;
        setting_on(&job, part.rows.clone(), part.loss, part.loss.targets())
    };
    let ordinary = |which| {
        let setting = setting(Objective::Balanced)?;
        solved(&progress.checkpoint(), "ordinary training", |keeper| {
            let found = setting.ordinary_kept(which, near.clone(), keeper);
            found.map_err(|e| Failure::library(e, names))
        })
    };
    match job.training.objective {
        Objective::Average => ordinary(Baseline::Erm),
        Objective::Balanced => ordinary(Baseline::Balanced),
        objective => {
            let setting = setting(objective)?;
            // Rounds begin alike whatever was tried before.
            let start = near.filter(|_| job.training.solver.algorithm().is_none()).map(Start::at);
            Ok(solve(&setting, job.training.solver, job, names, start, progress)?.w)
        }
    }
}
