//! The paper's algorithms at work: steps, rounds, and when to stop.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use gdro::algorithm::{
    Algorithm, Constants, Gains, Request, RunLength, SampleBounds, default_kept,
};
use gdro::certificate::Certificate;
use gdro::config::Config;
use gdro::domain::{AnyMap, MirrorMap as _};
use gdro::exact::Goal;
use gdro::game::Game;
use gdro::group_weights::Subsets;
use gdro::loss::{AnyLoss, Loss as _};
use gdro::pilot::{self, Notebook, StepsBy, bandit_range, usual_range};
use gdro::risk::group_risks;
use gdro::run::{Cadence, Follower, Look, Outcome, Place, Solver, Start, State, follow_on};
use gdro::setting::Baseline;
use serde::{Deserialize, Serialize};

use super::solved::solved;
use super::watched::{Patience, Watched};
use super::{Answer, Play, Solved};
use crate::checkpoint::Checkpoint;
use crate::failure::{Failure, Interrupted, Result};
use crate::group_numbers::numbers_of;
use crate::job::{Budget, Job, PerGroup, Training};
use crate::prepared::Setting;
use crate::progress::{Event, Progress};
use crate::trace::Trace;

/// With `--tol`, a run whose gap is not small enough goes on until it has so many times its rounds,
/// with steps for as many.
const GROWTH: u64 = 4;

/// Most rounds that `--tol` leads to, as a multiple of those that were planned at first.
const PATIENCE: u64 = 64;

/// All that a run of a job needs besides its steps.
pub struct RoundsPlan<'a> {
    setting: &'a Setting,
    training: &'a Training,
    names: &'a [String],
    plan: pilot::Plan<'a, AnyLoss, AnyMap>,
}

impl<'a> RoundsPlan<'a> {
    /// A plan for the first rows of a table that is visited once, in so many rounds: budgets of their
    /// groups and n̄.
    pub fn of_head(
        setting: &'a Setting,
        training: &'a Training,
        algorithm: Algorithm,
        names: &'a [String],
        (budgets, nbar, rounds): (Vec<u64>, Option<u64>, u64),
    ) -> Result<Self> {
        let (given, found) = ((Some(budgets), nbar, rounds), (training.loss_range, None));
        Self::new(setting, training, algorithm, names, given, found)
    }

    /// A plan with budgets and n̄ for so many rounds, and a range of the losses if the steps that a job
    /// leaves open needed one: those of bandit players follow from the balanced model.
    pub(super) fn open(
        setting: &'a Setting,
        training: &'a Training,
        algorithm: Algorithm,
        names: &'a [String],
        given: (Option<Vec<u64>>, Option<u64>, u64),
        checkpoint: &Checkpoint,
    ) -> Result<(Self, Option<f64>)> {
        let library = |e| Failure::library(e, names);
        let open = training.step_w.is_none() || training.step_q.is_none();
        let bandit = matches!(algorithm.spec().gains, Gains::Bandit | Gains::Clipped);
        let moves = setting.goal == Goal::Adversary;
        let (mut found, mut near) = (None, None);
        if open && bandit && moves {
            let balanced = solved(checkpoint, "balanced model for the steps", |keeper| {
                setting.ordinary_kept(Baseline::Balanced, None, keeper).map_err(library)
            })?;
            // Pilot runs choose for the algorithms that are for comparison.
            let follows = algorithm.spec().automatic;
            if training.loss_range.is_none() {
                let (loss, data) = (&setting.loss, &setting.data);
                let range = if follows && setting.game.is_even() {
                    bandit_range(loss, data, &balanced, given.2)
                } else {
                    usual_range(loss, data, &balanced, 0.0)
                };
                found = Some(range.map_err(library)?);
            }
            near = (follows && setting.domain.map.euclidean().is_some()).then_some(balanced);
        }
        let range = training.loss_range.or(found);
        Ok((Self::new(setting, training, algorithm, names, given, (range, near))?, found))
    }

    /// Lets run and pilots start from what is there, brought into the set of models. A player of q that
    /// finds its own steps finds them anew.
    pub(super) fn starting(mut self, start: Option<Start>) -> Result<Self> {
        let Some(Start { mut model, weights }) = start else { return Ok(self) };
        let (found, expected) = (model.len(), self.setting.model_len());
        if found != expected {
            let error = gdro::Error::Length { what: "start", found, expected };
            return Err(Failure::library(error, self.names));
        }
        let features = self.setting.data.features() * self.setting.loss.outputs();
        self.setting.domain.enter(&mut model, features);
        let weights = weights.filter(|_| !self.plan.adapts);
        self.plan.start = Some(Start { model, weights });
        Ok(self)
    }

    /// What the steps rest on.
    pub(super) fn scale(&self) -> Scale {
        let pilot::Plan { samples, at_zero, stored, .. } = self.plan;
        Scale { samples, at_zero, stored }
    }

    /// Has the steps rest on other rows, too.
    pub(super) fn resting_on(mut self, scale: &Scale) -> Self {
        self.plan.samples = self.plan.samples.max(scale.samples);
        self.plan.at_zero = self.plan.at_zero.max(scale.at_zero);
        self.plan.stored = scale.stored;
        self
    }

    /// A solver of the game as it is planned, for so many rounds.
    ///
    /// # Errors
    /// Those of [`pilot::Plan::solver`].
    pub(super) fn player(&self, rounds: u64, steps: (f64, f64)) -> gdro::Result<Box<dyn Solver>> {
        self.plan.solver(rounds, steps, false)
    }

    /// A plan with budgets and n̄ for so many rounds, with the range of the losses and the balanced
    /// model, when there are any.
    fn new(
        setting: &'a Setting,
        training: &'a Training,
        algorithm: Algorithm,
        names: &'a [String],
        (budgets, nbar, rounds): (Option<Vec<u64>>, Option<u64>, u64),
        (loss_range, near): (Option<f64>, Option<Vec<f64>>),
    ) -> Result<Self> {
        let zero = vec![0.0; setting.model_len()];
        let at_zero = group_risks(&setting.loss, &zero, &setting.data)
            .map_err(|e| Failure::library(e, names))?;
        let mut plan = pilot::Plan {
            data: &setting.data,
            loss: &setting.loss,
            domain: &setting.domain,
            game: &setting.game,
            goal: &setting.goal,
            // Rounds, steps and the player are the plan's.
            config: config_of(training, algorithm, 1, nbar),
            steps: (training.step_w, training.step_q),
            budgets,
            loss_range,
            at_zero: at_zero.iter().copied().fold(0.0, f64::max),
            samples: SampleBounds::of(&setting.data, &setting.domain.map),
            stored: setting.data.matrix().stored_per_row(),
            start: None,
            adapts: false,
            near,
        };
        plan.adapts = plan.may_adapt(rounds);
        plan.config.average = training.average.or(plan.usual_average());
        Ok(RoundsPlan { setting, training, names, plan })
    }

    /// Has algorithms under budgets play the game itself instead of the paper's weighted one.
    pub fn play_unweighted(&mut self) {
        self.plan.config.unweighted = true;
    }

    /// How the steps come about.
    pub fn steps_by(&self) -> StepsBy {
        self.plan.steps_by()
    }

    /// The steps that were given, or found for a run of so many rounds; pilot runs are stages of the
    /// work.
    ///
    /// # Errors
    /// Those of [`pilot::Plan::find_steps`].
    pub fn steps(
        &self,
        rounds: u64,
        checkpoint: &Checkpoint,
        stop: &AtomicBool,
    ) -> Result<(f64, f64)> {
        let mut pilots = Pilots { checkpoint, broken: None };
        let steps = self.plan.find_steps(rounds, &mut pilots, stop);
        match pilots.broken {
            Some(failure) => Err(failure),
            None => steps.map_err(|e| Failure::library(e, self.names)),
        }
    }

    /// The constants of a game on these rows.
    pub fn constants_of(&self, game: &Game) -> gdro::Result<Constants> {
        self.plan.constants_of(game)
    }

    /// The algorithm as it is configured for so many rounds.
    pub fn config(&self, rounds: u64, steps: (f64, f64), pilot: bool) -> Config {
        self.plan.config(rounds, steps, pilot)
    }

    /// How the groups of a round are drawn, where several are.
    fn subsets(&self) -> Option<Subsets> {
        let config = self.config(1, (1.0, 1.0), false);
        let several = config.algorithm.spec().owns("subsets");
        several.then(|| config.subsets(self.setting.data.groups(), self.setting.game.k))
    }
}

/// What the steps of a run rest on besides its game.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Scale {
    samples: SampleBounds,
    at_zero: f64,
    /// The values that a row stored, by which the form of the point was chosen.
    stored: Option<f64>,
}

/// Pilot runs as stages.
struct Pilots<'a> {
    checkpoint: &'a Checkpoint,
    /// What is wrong with what was kept.
    broken: Option<Failure>,
}

impl Notebook for Pilots<'_> {
    fn recall(&mut self, pilot: usize) -> Option<f64> {
        match self.checkpoint.get(&format!("pilot {pilot}")) {
            Ok(value) => value,
            Err(failure) => {
                self.broken = Some(failure);
                None
            }
        }
    }

    fn note(&mut self, pilot: usize, value: f64) {
        self.checkpoint.put(&format!("pilot {pilot}"), &value);
    }
}

/// An algorithm as a job configures it for so many rounds; steps are the theorem's where the job
/// gives none.
pub fn config_of(
    training: &Training,
    algorithm: Algorithm,
    rounds: u64,
    nbar: Option<u64>,
) -> Config {
    let usual = Config::new(algorithm, rounds);
    Config {
        anytime: algorithm.falls(training.anytime),
        step_w: training.step_w.unwrap_or(usual.step_w),
        step_q: training.step_q.unwrap_or(usual.step_q),
        average: training.average,
        nbar,
        queries: training.queries.clone().unwrap_or_else(|| usual.queries.clone()),
        kept: training.kept,
        subsets: training.subsets,
        delta: training.delta,
        seed: training.seed,
        ..usual
    }
}

/// Refuses to ask more groups in a round than there are.
///
/// # Errors
/// For a number of `queries` above that of the groups.
pub fn check_queries(job: &Job, algorithm: Algorithm, groups: usize) -> Result<()> {
    let counts = vec![u64::MAX; groups];
    let queries = job.training.queries.as_deref();
    let request = Request { queries, counts: &counts, ..Request::default() };
    let length = RunLength { rounds: 1, nbar: None };
    (algorithm.spec().limit)(&request, &length).map_err(|c| job.refusal(c.setting, c.why))
}

/// Plays the game of a job with an algorithm, from where it starts if that is not nothing.
pub(super) fn solve(
    setting: &Setting,
    job: &Job,
    names: &[String],
    algorithm: Algorithm,
    start: Option<Start>,
    progress: &mut dyn Progress,
    stop: &AtomicBool,
) -> Result<Answer> {
    let training = &job.training;
    let counts = setting.data.counts();
    let budgets = budgets(training, names, &counts)?;
    let request = Request {
        rounds: training.rounds,
        nbar: training.nbar,
        kept: training.kept,
        queries: training.queries.as_deref(),
        budgets: budgets.as_deref(),
        counts: &counts,
    };
    let length = algorithm.run_length(&request).map_err(|c| job.refusal(c.setting, c.why))?;
    let RunLength { rounds: planned, nbar } = length;
    // A run that may go on is as long as that.
    let goes_on = training.tol.is_some() && budgets.is_none();
    let longest = if goes_on { planned.saturating_mul(PATIENCE) } else { planned };
    let checkpoint = progress.checkpoint();
    let given = (budgets, nbar, longest);
    let (plan, loss_range) =
        RoundsPlan::open(setting, training, algorithm, names, given, &checkpoint)?;
    let plan = plan.starting(start)?;
    progress.tell(Event::Stage("steps"));
    let steps = plan.steps(planned, &checkpoint, stop)?;
    if stop.load(Ordering::Relaxed) {
        // Steps of pilots that were cut short are not those of the run.
        checkpoint.freeze();
    }
    progress.tell(Event::Steps(steps.0, steps.1, plan.steps_by()));
    let mut answer = plan.play(planned, steps, progress, stop)?;
    if let Solved::Rounds(play) = &mut answer.solved {
        play.loss_range = loss_range;
    }
    Ok(answer)
}

impl RoundsPlan<'_> {
    /// A solver of a run that was planned for so many rounds at first, and is by now for so many.
    fn solver(
        &self,
        (planned, total): (u64, u64),
        steps: (f64, f64),
    ) -> gdro::Result<Box<dyn Solver>> {
        let mut plan = self.plan.clone();
        if total > planned && plan.config.algorithm.spec().owns("kept") {
            // Those that have been kept are what there is.
            let kept = default_kept(planned, self.setting.data.groups());
            plan.config.kept = plan.config.kept.or(Some(kept));
        }
        plan.solver(total, steps, false)
    }

    /// Plays to the end, or until the gap is small enough. Without budgets and with `tol`, a run
    /// that ends before it is goes on from where it stands, with the steps of a longer one, and the
    /// answer is the best pair of models and group weights that was seen. A run that was cut off goes on
    /// from where its checkpoint says that it was.
    fn play(
        &self,
        planned: u64,
        steps: (f64, f64),
        progress: &dyn Progress,
        stop: &AtomicBool,
    ) -> Result<Answer> {
        let library = |e| Failure::library(e, self.names);
        let checkpoint = progress.checkpoint();
        let stand: Option<Stand> = checkpoint.get(STAGE)?;
        let most = planned.saturating_mul(PATIENCE);
        let mut total = planned;
        if let Some(stand) = &stand {
            while total < stand.total && self.training.tol.is_some() && total < most {
                total = longer(total, most);
            }
            if total != stand.total {
                let kept = format!("a run of {} rounds, and not of {planned}", stand.total);
                return Err(library(gdro::Error::State(kept)));
            }
        }
        let mut solver = self.solver((planned, total), steps).map_err(library)?;
        let (mut place, found, ended) = match stand {
            None => (Place::default(), Found::default(), None),
            Some(stand) => {
                solver.restore(&stand.solver).map_err(library)?;
                progress.tell(Event::Resumed(solver.rounds(), Some(total), "round"));
                (stand.place, stand.found, stand.ended)
            }
        };
        let patience = Patience::none(stop);
        let loss = Watched::new(self.setting.loss, &patience);
        let mut certifier =
            Certifier { plan: self, loss, planned, total, progress, checkpoint, found };
        let outcome = loop {
            if let Some(outcome) = ended {
                break outcome;
            }
            progress.tell(Event::Rounds(total));
            let next = |t| Cadence::Geometric(1.25).next(t);
            let followed = follow_on(&mut *solver, total, &next, stop, &mut certifier, place)
                .map_err(library)?;
            certifier.found.spent += followed.seconds;
            progress.tell(Event::Done);
            let outcome = match followed.outcome {
                _ if certifier.found.certified => Outcome::Finished,
                Outcome::Finished if certifier.found.given_up => {
                    certifier.keep(&*solver, Place { due: solver.rounds(), seconds: 0.0 }, None);
                    certifier.checkpoint.freeze();
                    Outcome::Stopped
                }
                outcome => outcome,
            };
            let goes_on = self.training.tol.is_some()
                && !certifier.found.certified
                && outcome == Outcome::Finished
                && self.plan.budgets.is_none()
                && total < most;
            if !goes_on {
                if outcome != Outcome::Stopped {
                    certifier.keep(&*solver, Place::default(), Some(outcome));
                }
                break outcome;
            }
            let state = solver.save();
            total = longer(total, most);
            certifier.total = total;
            solver = self.solver((planned, total), steps).map_err(library)?;
            solver.restore(&state).map_err(library)?;
            place = Place { due: solver.rounds(), seconds: 0.0 };
        };
        let Found { trace, spent, model, weights, proof, certified, .. } = certifier.found;
        // Without a proof nothing was compared: the answer is the average at the end.
        let (w, weights) = match &proof {
            Some(_) => (model, weights),
            None => (solver.model(), solver.weights()),
        };
        Ok(Answer {
            w,
            weights,
            player: (!self.plan.adapts).then(|| solver.save().weights),
            solved: Solved::Rounds(Play {
                rounds: (solver.rounds(), total),
                samples: solver.samples().to_vec(),
                budgets: self.plan.budgets.clone(),
                clipped: solver.clipped(),
                outcome,
                certified,
                steps,
                steps_by: self.steps_by(),
                loss_range: None,
                average: solver.average(),
                subsets: self.subsets(),
                fits_exact: self.setting.size().fits_exact(),
            }),
            proof,
            seconds: spent,
            trace,
        })
    }
}

/// The rounds that a run gets which has had so many, and may have so many at most.
fn longer(total: u64, most: u64) -> u64 {
    total.saturating_mul(GROWTH).min(most)
}

/// The name of the rounds among the stages of a job.
const STAGE: &str = "rounds";

/// Where a run stands.
#[derive(Serialize, Deserialize)]
struct Stand {
    /// The rounds that are planned by now.
    total: u64,
    solver: State,
    place: Place,
    found: Found,
    /// How it ended, if it has.
    ended: Option<Outcome>,
}

/// What a run has found besides the state of its solver.
#[derive(Clone, Serialize, Deserialize)]
struct Found {
    /// Seconds of play before the present stretch.
    spent: f64,
    trace: Trace,
    /// The round from which on the next certificate is due in any case.
    next: u64,
    /// With `tol`, the model with the smallest objective so far.
    model: Vec<f64>,
    upper: f64,
    /// The group weights with the largest lower bound so far, and the certificate that proves it.
    weights: Vec<f64>,
    proof: Option<Certificate>,
    certified: bool,
    /// Whether the certificate at the last look was given up, so that a run that goes on owes it.
    #[serde(default)]
    given_up: bool,
}

impl Default for Found {
    /// Nothing yet.
    fn default() -> Self {
        Found {
            spent: 0.0,
            trace: Trace::default(),
            next: 0,
            model: Vec::new(),
            upper: f64::INFINITY,
            weights: Vec::new(),
            proof: None,
            certified: false,
            given_up: false,
        }
    }
}

/// Draws the curve of a run, and ends it when its certified gap is small enough.
struct Certifier<'a> {
    plan: &'a RoundsPlan<'a>,
    /// The loss of certificates, which are given up when the run is stopped.
    loss: Watched<'a, AnyLoss>,
    /// The rounds that were planned at first, and those that are planned by now.
    planned: u64,
    total: u64,
    progress: &'a dyn Progress,
    checkpoint: Checkpoint,
    found: Found,
}

impl Certifier<'_> {
    /// Keeps where the run stands.
    fn keep(&self, solver: &dyn Solver, place: Place, ended: Option<Outcome>) {
        let (total, found) = (self.total, self.found.clone());
        let stand = Stand { total, solver: solver.save(), place, found, ended };
        self.checkpoint.put(STAGE, &stand);
    }
}

impl Follower for Certifier<'_> {
    fn look(&mut self, look: &Look<'_>) -> gdro::Result<ControlFlow<()>> {
        let RoundsPlan { setting, training, plan, .. } = self.plan;
        let found = &mut self.found;
        let seen = found.trace.points().last().is_some_and(|point| point.round == look.rounds);
        let (round, planned) = (look.rounds, self.total);
        if seen && !found.given_up {
            // A run that goes on starts where it was looked at last.
            return Ok(ControlFlow::Continue(()));
        }
        if !seen {
            let max_risk = found.trace.look(setting, look, (0, found.spent))?;
            self.progress.tell(Event::Risk { round, planned, max_risk });
        }
        if let Some(tol) = training.tol
            && round >= self.planned / 8
        {
            let upper = plan.objective(look.w)?;
            if upper < found.upper {
                (found.upper, found.model) = (upper, look.w.to_vec());
            }
            // A certificate costs some Newton steps: one now and then and one at the end, and one
            // whenever the best lower bound so far says that it may be the last.
            let lower = |proof: &Option<Certificate>| {
                proof.as_ref().map_or(f64::NEG_INFINITY, |proof| proof.lower)
            };
            let due = round >= found.next || round == planned;
            if due || found.upper - lower(&found.proof) <= tol {
                let proof = match setting.certify_with(&self.loss, &found.model, look.q) {
                    Err(gdro::Error::User(own)) if own.is::<Interrupted>() => {
                        found.given_up = true;
                        return Ok(ControlFlow::Continue(()));
                    }
                    proof => proof?,
                };
                found.given_up = false;
                let upper = proof.upper;
                if proof.lower > lower(&found.proof) {
                    (found.weights, found.proof) = (look.q.to_vec(), Some(proof));
                }
                found.next = 2 * round;
                found.certified = upper - lower(&found.proof) <= tol;
            }
            self.progress.tell(Event::Gap(found.upper - lower(&found.proof)));
        }
        Ok(if found.certified { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn played(&mut self, rounds: u64) {
        self.progress.tell(Event::Played(rounds));
    }

    fn pause(&mut self, solver: &dyn Solver, place: Place, is_last: bool) -> gdro::Result<()> {
        if is_last || self.checkpoint.is_due() {
            // Where the last look is not complete, the next run looks again.
            let due = if self.found.given_up { solver.rounds() } else { place.due };
            self.keep(solver, Place { due, ..place }, None);
        }
        if is_last {
            self.checkpoint.freeze();
        }
        Ok(())
    }
}

/// The budgets that a job asks for, one for each group.
///
/// # Errors
/// A group without one, or one without a group; one that is no whole number from 1 to the training
/// rows of its group.
pub fn budgets(training: &Training, names: &[String], counts: &[u64]) -> Result<Option<Vec<u64>>> {
    let numbers = match &training.budget {
        None => return Ok(None),
        Some(Budget::All) => return Ok(Some(counts.to_vec())),
        Some(Budget::File(file)) => PerGroup::File(file.clone()),
        Some(Budget::Named(numbers)) => PerGroup::Named(numbers.clone()),
    };
    let expected = "a whole number from 1 to its training rows";
    let whole = |group: usize, n: f64| {
        let holds = n.fract() == 0.0 && (1.0..=counts[group] as f64).contains(&n);
        holds.then_some(n as u64)
    };
    numbers_of(&numbers, "budget", names, expected, whole).map(Some)
}
