//! The paper's algorithms at work: steps by pilot runs, rounds, and when to stop.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use gdro::algorithm::{Algorithm, Constants, Gains, Request, RunLength};
use gdro::config::Config;
use gdro::domain::AnyMap;
use gdro::exact::Goal;
use gdro::game::Game;
use gdro::group_weights::Subsets;
use gdro::loss::AnyLoss;
use gdro::pilot::{self, usual_range};
use gdro::risk::group_risks;
use gdro::run::{Cadence, Follower, Look, Outcome, follow};
use gdro::setting::Baseline;

use super::{Answer, Play, Solved};
use crate::failure::{Failure, Result};
use crate::group_numbers::numbers_of;
use crate::job::{Budget, Job, PerGroup, Training};
use crate::prepared::Setting;
use crate::progress::{Event, Progress};
use crate::trace::Trace;

/// With `--tol`, runs are planned for so many times the rounds of the last one, until one of them
/// is certified.
const GROWTH: u64 = 4;

/// Most rounds that `--tol` leads to.
const MOST: u64 = 1_000_000_000;

/// All that a run of a job needs besides its steps.
pub struct RoundsPlan<'a> {
    setting: &'a Setting,
    training: &'a Training,
    names: &'a [String],
    plan: pilot::Plan<'a, AnyLoss, AnyMap>,
}

impl<'a> RoundsPlan<'a> {
    /// A plan for the first rows of a table that is visited once: budgets of their groups and n̄.
    pub fn of_head(
        setting: &'a Setting,
        training: &'a Training,
        algorithm: Algorithm,
        names: &'a [String],
        (budgets, nbar): (Vec<u64>, Option<u64>),
    ) -> Result<Self> {
        let (budgets, range) = (Some(budgets), training.loss_range);
        Self::new(setting, training, algorithm, names, (budgets, nbar), range)
    }

    /// A plan with budgets, n̄ and the range of the losses, when there are any.
    fn new(
        setting: &'a Setting,
        training: &'a Training,
        algorithm: Algorithm,
        names: &'a [String],
        (budgets, nbar): (Option<Vec<u64>>, Option<u64>),
        loss_range: Option<f64>,
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
        };
        plan.config.average = training.average.or(plan.usual_average());
        Ok(RoundsPlan { setting, training, names, plan })
    }

    /// Whether pilot runs choose a step.
    pub fn is_piloted(&self) -> bool {
        self.plan.is_piloted()
    }

    /// The steps that were given, or those of pilot runs for a run of so many rounds.
    pub fn steps(&self, rounds: u64, stop: &AtomicBool) -> gdro::Result<(f64, f64)> {
        self.plan.find_steps(rounds, stop)
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

/// Plays the game of a job with an algorithm.
pub(super) fn solve(
    setting: &Setting,
    job: &Job,
    names: &[String],
    algorithm: Algorithm,
    progress: &mut dyn Progress,
    stop: &AtomicBool,
) -> Result<Answer> {
    let training = &job.training;
    let library = |e| Failure::library(e, names);
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
    let piloted = training.step_w.is_none() || training.step_q.is_none();
    let bandit = matches!(algorithm.spec().gains, Gains::Bandit | Gains::Clipped);
    let moves = setting.goal == Goal::Adversary;
    let mut loss_range = training.loss_range;
    if piloted && bandit && moves && loss_range.is_none() {
        let range = || {
            let balanced = setting.ordinary(Baseline::Balanced, None)?;
            usual_range(&setting.loss, &setting.data, &balanced, 0.0)
        };
        loss_range = Some(range().map_err(library)?);
    }
    let given = (budgets, nbar);
    let plan = RoundsPlan::new(setting, training, algorithm, names, given, loss_range)?;
    progress.tell(Event::Stage("pilot runs for the steps"));
    let steps = plan.steps(planned, stop).map_err(library)?;
    progress.tell(Event::Steps(steps.0, steps.1, piloted));
    let mut answer = plan.play(planned, steps, progress, stop)?;
    if let Solved::Rounds(play) = &mut answer.solved {
        play.piloted = piloted;
        play.loss_range = if training.loss_range.is_none() { loss_range } else { None };
    }
    Ok(answer)
}

impl RoundsPlan<'_> {
    /// Plays to the end, or until the gap is small enough; without budgets and with `tol`, anew
    /// for more rounds until it is.
    fn play(
        &self,
        planned: u64,
        steps: (f64, f64),
        progress: &dyn Progress,
        stop: &AtomicBool,
    ) -> Result<Answer> {
        let library = |e| Failure::library(e, self.names);
        let mut planned = planned;
        let mut trace = Trace::default();
        let (mut spent, mut before) = (0.0, vec![0; self.setting.data.groups()]);
        let mut lower = f64::NEG_INFINITY;
        loop {
            let mut solver = self.plan.solver(planned, steps, false).map_err(library)?;
            progress.tell(Event::Rounds(planned));
            let mut certifier = Certifier {
                plan: self,
                planned,
                earlier: (before.iter().sum(), spent),
                trace: &mut trace,
                progress,
                next: 0,
                lower,
                certified: false,
            };
            let next = |t| Cadence::Geometric(1.25).next(t);
            let followed =
                follow(&mut *solver, planned, &next, stop, &mut certifier).map_err(library)?;
            let certified = certifier.certified;
            lower = certifier.lower;
            spent += followed.seconds;
            progress.tell(Event::Done);
            let again = self.training.tol.is_some()
                && !certified
                && followed.outcome == Outcome::Finished
                && self.plan.budgets.is_none()
                && planned < MOST;
            if again {
                before.iter_mut().zip(solver.samples()).for_each(|(b, s)| *b += s);
                planned *= GROWTH;
                continue;
            }
            let samples = before.iter().zip(solver.samples()).map(|(b, s)| b + s).collect();
            return Ok(Answer {
                w: solver.model(),
                weights: solver.weights(),
                solved: Solved::Rounds(Play {
                    rounds: (solver.rounds(), planned),
                    samples,
                    budgets: self.plan.budgets.clone(),
                    clipped: solver.clipped(),
                    outcome: if certified { Outcome::Finished } else { followed.outcome },
                    certified,
                    steps,
                    piloted: false,
                    loss_range: None,
                    average: solver.average(),
                    subsets: self.subsets(),
                }),
                seconds: spent,
                trace,
            });
        }
    }
}

/// Draws the curve of a run, and ends it when its certified gap is small enough.
struct Certifier<'a> {
    plan: &'a RoundsPlan<'a>,
    planned: u64,
    /// Samples and seconds of the runs before.
    earlier: (u64, f64),
    trace: &'a mut Trace,
    progress: &'a dyn Progress,
    /// The round from which on the next certificate is due in any case.
    next: u64,
    /// The best lower bound so far.
    lower: f64,
    certified: bool,
}

impl Follower for Certifier<'_> {
    fn look(&mut self, look: &Look<'_>) -> gdro::Result<ControlFlow<()>> {
        let RoundsPlan { setting, training, plan, .. } = self.plan;
        let max_risk = self.trace.look(setting, look, self.earlier)?;
        let (round, planned) = (look.rounds, self.planned);
        self.progress.tell(Event::Risk { round, planned, max_risk });
        if let Some(tol) = training.tol
            && round >= planned / 8
        {
            // A certificate costs some Newton steps: one now and then, and one whenever the best
            // lower bound so far says that it may be the last.
            let upper = plan.objective(look.w)?;
            if round >= self.next || upper - self.lower <= tol {
                let certificate = setting.certify(look.w, look.q)?;
                self.lower = self.lower.max(certificate.lower);
                self.next = 2 * round;
                self.certified = certificate.gap <= tol;
            }
            self.progress.tell(Event::Gap(upper - self.lower));
        }
        Ok(if self.certified { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn played(&mut self, rounds: u64) {
        self.progress.tell(Event::Played(rounds));
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
