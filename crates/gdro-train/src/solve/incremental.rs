//! Rounds on rows that come in portions.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use gdro::algorithm::{Algorithm, Form, Request};
use gdro::loss::AnyLoss;
use gdro::risk::group_risks;
use gdro::run::{Cadence, Observer, Solver, Start, State, drive};
use gdro::setting::{Objective, SolverName};
use serde::{Deserialize, Serialize};

use super::rounds::{RoundsPlan, Scale, check_queries};
use crate::cap::Constants;
use crate::failure::{Failure, Result};
use crate::intervals::settings;
use crate::job::{Job, LossName, Training};
use crate::prepared::{TrainRows, setting_on};
use crate::progress::{Event, Progress};

/// A run of an algorithm whose steps fall with time, on rows that come in portions: between two of them this
/// is all that is left of it.
///
/// Every portion has rows of all groups, from which samples are drawn with replacement, so that every round
/// is one of the paper. Constants of the steps are those of all rows so far: the largest norm, target and
/// risk at zero. Multipliers on the steps, where the job gives none, are found on the first portion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Incremental {
    steps: (f64, f64),
    /// The range of the losses, where it was found.
    loss_range: Option<f64>,
    scale: Scale,
    /// How far the steps may take intercepts.
    intercept: Option<f64>,
    state: State,
}

/// What there is after a portion.
#[derive(Debug)]
pub struct Learnt {
    /// The averaged model.
    pub w: Vec<f64>,
    /// The averaged weights of the groups.
    pub weights: Vec<f64>,
    /// Risks of the groups on the rows of the portion.
    pub risks: Vec<f64>,
    /// Offsets b_i of the groups.
    pub offsets: Vec<f64>,
    /// What most losses of the portion stay below, see [`settings`].
    pub cap: f64,
    /// Rounds played so far.
    pub rounds: u64,
    /// Multipliers on the steps of w and q.
    pub steps: (f64, f64),
    /// The job with what was open and has been settled.
    pub job: Job,
}

impl Incremental {
    /// Plays on a portion, of which `fresh` rows are new: as many rounds as the job says, or those that draw
    /// `fresh` samples on average. A first portion has no run before it, but may start from a model.
    ///
    /// # Errors
    /// Options of which a portion knows nothing, and those that do not go with the rows; errors of the
    /// library. [`Failure::Interrupted`] when it was cut short.
    pub fn learn(
        before: Option<&Self>,
        job: &Job,
        rows: TrainRows,
        loss: AnyLoss,
        (fresh, start): (u64, Option<Start>),
        progress: &mut dyn Progress,
    ) -> Result<(Self, Learnt)> {
        let algorithm = check(job)?;
        let names = rows.names.clone();
        check_queries(job, algorithm, names.len())?;
        let library = |e| Failure::library(e, &names);
        let mut job = job.clone();
        // Nobody knows for how many rounds steps should be meant.
        job.training.anytime = algorithm.spec().form == Form::Both;
        let mut training = job.training.clone();
        if let Some(before) = before {
            (training.step_w, training.step_q) = (Some(before.steps.0), Some(before.steps.1));
            training.loss_range = training.loss_range.or(before.loss_range);
        }
        let mut setting = setting_on(&job, rows, loss, loss.targets())?;
        if let (Some(bound), Some(so_far)) =
            (&mut setting.domain.intercept, before.and_then(|before| before.intercept))
        {
            *bound = bound.max(so_far);
        }
        let (checkpoint, stop) = (progress.checkpoint(), progress.interrupts());
        let counts = setting.data.counts();
        let usual = Request { counts: &counts, ..Request::default() };
        let usual = algorithm.run_length(&usual).map_err(|c| job.refusal(c.setting, c.why))?;
        let given = (None, usual.nbar, usual.rounds);
        let (plan, found) =
            RoundsPlan::open(&setting, &training, algorithm, &names, given, &checkpoint)?;
        let mut plan = plan.starting(start)?;
        let steps = match before {
            Some(before) => {
                plan = plan.resting_on(&before.scale);
                before.steps
            }
            None => {
                let steps = plan.steps(usual.rounds, &checkpoint, &stop)?;
                progress.tell(Event::Steps(steps.0, steps.1, plan.steps_by()));
                steps
            }
        };
        let mut solver = plan.player(usual.rounds, steps).map_err(library)?;
        if let Some(before) = before {
            solver.restore(&before.state).map_err(library)?;
        }
        let rounds = training
            .rounds
            .unwrap_or_else(|| pass(&training, algorithm, (fresh, names.len(), setting.game.k)));
        progress.tell(Event::Rounds(rounds));
        let (first, until) = (solver.rounds(), solver.rounds().saturating_add(rounds));
        let never = Cadence::Every(u64::MAX);
        let mut told = Told { progress: &*progress, first };
        drive(&mut *solver, until, never, &stop, &mut told).map_err(library)?;
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        progress.tell(Event::Done);
        let (w, weights) = (solver.model(), solver.weights());
        let constants = Constants::of(setting.loss, &setting.data);
        let cap = settings(&training, &setting, &w, &constants, None).map_err(library)?.cap;
        let risks = group_risks(&setting.loss, &w, &setting.data).map_err(library)?;
        let run = Incremental {
            steps,
            loss_range: before.map_or(found, |before| before.loss_range),
            scale: plan.scale(),
            intercept: setting.domain.intercept,
            state: solver.save(),
        };
        let settled = &mut job.training;
        settled.loss = Some(LossName(loss));
        settled.rounds = Some(solver.rounds());
        if !algorithm.spec().adaptive {
            (settled.step_w, settled.step_q) = (Some(steps.0), Some(steps.1));
        }
        settled.loss_range = settled.loss_range.or(run.loss_range);
        settled.average = Some(solver.average());
        let rounds = solver.rounds();
        let offsets = setting.game.offsets.clone();
        Ok((run, Learnt { w, weights, risks, offsets, cap, rounds, steps, job }))
    }

    /// Where the player of q stands: [`State::weights`].
    pub fn player(&self) -> &[f64] {
        &self.state.weights
    }
}

/// The algorithm of a job that can play on portions.
///
/// # Errors
/// For another solver, and for options that speak of all rows.
fn check(job: &Job) -> Result<Algorithm> {
    let Training { solver, objective, budget, adjustment, tol, .. } = &job.training;
    let falling = || Algorithm::named(|spec| spec.form != Form::Fixed);
    let SolverName::Rounds(algorithm) = *solver else {
        let why =
            format!("{solver} needs all rows at once: these learn from portions: {}", falling());
        return Err(job.refusal("solver", why));
    };
    if algorithm.spec().form == Form::Fixed {
        let why = format!(
            "the steps of {algorithm} are meant for a number of rounds, which rows that come in portions do not have: these have steps that fall with time: {}",
            falling()
        );
        return Err(job.refusal("solver", why));
    }
    let refused = [
        (budget.is_some(), "budget", "portions are drawn from with replacement: leave it out"),
        (tol.is_some(), "tol", "a portion certifies nothing about all rows: leave it out"),
        (
            adjustment.is_some(),
            "adjustment",
            "it goes by the number of all rows of a group, which a portion does not know: give offsets",
        ),
        (
            *objective == Objective::Average,
            "objective",
            "average weighs groups by all their rows, which a portion does not know: use balanced",
        ),
        (
            *objective == Objective::Regret && !algorithm.spec().only_regret,
            "objective",
            "regret needs models of the groups on all their rows: use the solver mero, which learns them alongside, or offsets",
        ),
    ];
    match refused.into_iter().find(|(given, ..)| *given) {
        Some((_, key, why)) => Err(job.refusal(key, why)),
        None => Ok(algorithm),
    }
}

/// The rounds that draw as many samples as there are rows, on average; at least one.
fn pass(training: &Training, algorithm: Algorithm, (rows, groups, k): (u64, usize, f64)) -> u64 {
    let of_queries = || match training.queries.as_deref() {
        Some(queries) if !queries.is_empty() => {
            queries.iter().sum::<usize>() as f64 / queries.len() as f64
        }
        _ => 1.0,
    };
    let draws = algorithm.spec().draws.per_round(groups, k).unwrap_or_else(of_queries);
    ((rows as f64 / draws).round() as u64).max(1)
}

/// Tells how many rounds of a portion have been played.
struct Told<'a> {
    progress: &'a dyn Progress,
    first: u64,
}

impl Observer for Told<'_> {
    fn observe(&mut self, _: &dyn Solver) -> gdro::Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }

    fn played(&mut self, rounds: u64) {
        self.progress.tell(Event::Played(rounds - self.first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Settings;

    fn job(options: &[(&str, toml::Value)]) -> Job {
        let given = options.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Job::of_rows(Settings::of_python(given).unwrap()).unwrap()
    }

    #[test]
    fn a_pass_draws_as_many_samples_as_there_are_rows() {
        let rounds = |solver: &str, more: &[(&str, toml::Value)]| {
            let mut options = vec![("solver", solver.into())];
            options.extend_from_slice(more);
            let job = job(&options);
            let algorithm = check(&job).unwrap();
            let k = if let Objective::TopK(k) = job.training.objective { k } else { 1.0 };
            pass(&job.training, algorithm, (600, 4, k))
        };
        assert_eq!(rounds("smd-m", &[]), 150);
        assert_eq!(rounds("adaptive", &[]), 150);
        assert_eq!(rounds("online-1", &[]), 600);
        assert_eq!(rounds("flexible", &[("queries", vec![1i64, 3].into())]), 300);
        assert_eq!(rounds("atkro-m", &[("objective", "top-k:2".into())]), 150);
        assert_eq!(rounds("atkro-1", &[("objective", "top-k:2".into())]), 600);
        assert_eq!(
            pass(&job(&[("solver", "smd-m".into())]).training, Algorithm::SmdM, (1, 9, 1.0)),
            1
        );
    }
}
