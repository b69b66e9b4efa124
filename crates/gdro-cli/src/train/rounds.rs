//! The paper's algorithms at work: steps by pilot runs, rounds, and when to stop.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use gdro::algorithm::{Algorithm, Constants, Gains};
use gdro::average::Average;
use gdro::config::{Config, default_kept};
use gdro::domain::L2Ball;
use gdro::exact::Goal;
use gdro::game::Game;
use gdro::group_weights::Subsets;
use gdro::loss::AnyLoss;
use gdro::pilot::{self, default_nbar, default_rounds, usual_range};
use gdro::risk::group_risks;
use gdro::run::{Cadence, Outcome, Solver, drive};
use gdro_data::Prepared;

use super::columns::read_numbers;
use super::{Answer, Setting, Solved, Trace, Watch, train_names};
use crate::failure::{Failure, Result};
use crate::job::{Baseline, Budget, Job, Training};

/// With `--tol`, runs are planned for so many times the rounds of the last one, until one of them
/// is certified.
const GROWTH: u64 = 4;

/// Most rounds that `--tol` leads to.
const MOST: u64 = 1_000_000_000;

/// Rounds that were played.
pub struct Play {
    /// Rounds played, of those planned.
    pub rounds: (u64, u64),
    /// Samples drawn from each group.
    pub samples: Vec<u64>,
    /// The budgets n_i, when rows were visited once.
    pub budgets: Option<Vec<u64>>,
    /// Losses clipped for the bandit player.
    pub clipped: u64,
    /// How the run ended.
    pub outcome: Outcome,
    /// Whether it ended because the gap was small enough.
    pub certified: bool,
    /// Multipliers on the steps of w and q.
    pub steps: (f64, f64),
    /// Whether pilot runs chose a step.
    pub piloted: bool,
    /// The range of the losses, when it was chosen here.
    pub loss_range: Option<f64>,
    /// The average.
    pub average: Average,
    /// How the groups of a round were drawn, where several are.
    pub subsets: Option<Subsets>,
}

/// All that a run of a job needs besides its steps.
pub struct Plan<'a> {
    setting: &'a Setting,
    training: &'a Training,
    names: &'a [String],
    plan: pilot::Plan<'a, AnyLoss, L2Ball>,
}

impl<'a> Plan<'a> {
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
        // Rounds, steps and the player are the plan's.
        let usual = Config::new(algorithm, 1);
        let mut plan = pilot::Plan {
            data: &setting.data,
            loss: &setting.loss,
            domain: &setting.domain,
            game: &setting.game,
            goal: &setting.goal,
            config: Config {
                anytime: training.anytime,
                average: training.average,
                nbar,
                queries: training.queries.clone().unwrap_or_else(|| usual.queries.clone()),
                kept: training.kept,
                subsets: training.subsets,
                delta: training.delta,
                seed: training.seed,
                ..usual
            },
            steps: (training.step_w, training.step_q),
            budgets,
            loss_range,
            at_zero: at_zero.iter().copied().fold(0.0, f64::max),
        };
        plan.config.average = training.average.or(plan.usual_average());
        Ok(Plan { setting, training, names, plan })
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
        let several = config.algorithm == Algorithm::AtkroK;
        several.then(|| config.subsets(self.setting.data.groups(), self.setting.game.k))
    }
}

/// Plays the game of a job with an algorithm.
pub fn solve(
    setting: &Setting,
    job: &Job,
    prepared: &Prepared,
    algorithm: Algorithm,
    watch: &mut Watch,
    stop: &AtomicBool,
) -> Result<Answer> {
    let training = &job.training;
    let names = train_names(prepared);
    let library = |e| Failure::library(e, &names);
    let budgets = budgets(job, prepared)?;
    let counts = setting.data.counts();
    let sizes = budgets.as_deref().unwrap_or(&counts);
    let nbar = nbar(job, algorithm, sizes)?;
    let planned = training
        .rounds
        .unwrap_or_else(|| default_rounds(algorithm, budgets.as_deref(), &counts, nbar));
    if let (Some(budgets), Algorithm::SmpaM | Algorithm::Hybrid) = (&budgets, algorithm) {
        let least = budgets.iter().copied().min().unwrap_or(0);
        let (most, of) = match nbar {
            Some(nbar) => (nbar / 2, format!("a group with nbar = {nbar} rows")),
            None => (least / 2, "the smallest group".to_owned()),
        };
        if planned > most {
            let place = if training.rounds.is_some() { "rounds" } else { "budget" };
            return Err(Failure::input(format!(
                "{}: {algorithm} needs two rows of {of} in every round: its budget is enough for {most} rounds, not {planned}",
                job.place(place)
            )));
        }
    }
    if let (Some(budgets), Algorithm::Eliminate) = (&budgets, algorithm) {
        let least = budgets.iter().copied().min().unwrap_or(0);
        let kept = training.kept.unwrap_or_else(|| default_kept(planned, budgets.len()));
        if kept >= least {
            return Err(Failure::input(format!(
                "{}: eliminate keeps {kept} rows of every group before it starts, and the smallest budget is {least}",
                job.place("kept")
            )));
        }
    }
    if let Some(asked) = training.queries.as_ref().and_then(|q| q.iter().max())
        && *asked > setting.data.groups()
    {
        let groups = setting.data.groups();
        let place = job.place("queries");
        return Err(Failure::input(format!(
            "{place}: {asked} of only {groups} groups with training rows"
        )));
    }
    let piloted = training.step_w.is_none() || training.step_q.is_none();
    let bandit = matches!(algorithm.facts().gains, Gains::Bandit | Gains::Clipped);
    let moves = setting.goal == Goal::Adversary;
    let mut loss_range = training.loss_range;
    if piloted && bandit && moves && loss_range.is_none() {
        let range = || {
            usual_range(&setting.loss, &setting.data, &setting.ordinary(Baseline::Balanced, None)?)
        };
        loss_range = Some(range().map_err(library)?);
    }
    let given = (budgets, nbar);
    let plan = Plan::new(setting, training, algorithm, &names, given, loss_range)?;
    watch.say("pilot runs for the steps");
    let steps = plan.steps(planned, stop).map_err(library)?;
    let mut answer = plan.play(planned, steps, watch, stop)?;
    if let Solved::Rounds(play) = &mut answer.solved {
        play.piloted = piloted;
        play.loss_range = if training.loss_range.is_none() { loss_range } else { None };
    }
    Ok(answer)
}

impl Plan<'_> {
    /// Plays to the end, or until the gap is small enough; without budgets and with `--tol`, anew
    /// for more rounds until it is.
    fn play(
        &self,
        planned: u64,
        steps: (f64, f64),
        watch: &mut Watch,
        stop: &AtomicBool,
    ) -> Result<Answer> {
        let library = |e| Failure::library(e, self.names);
        let (setting, loss, data) = (self.setting, &self.setting.loss, &self.setting.data);
        let mut planned = planned;
        let mut trace = Trace::default();
        let (mut spent, mut before) = (0.0, vec![0; data.groups()]);
        let mut lower = f64::NEG_INFINITY;
        loop {
            let mut solver = self.plan.solver(planned, steps, false).map_err(library)?;
            let mut w = vec![0.0; solver.model_len()];
            let mut q = vec![0.0; data.groups()];
            let start = Instant::now();
            let (mut evaluating, mut next_check) = (0.0, 0);
            let certified = std::cell::Cell::new(false);
            watch.start(planned);
            let mut observe = |s: &dyn Solver| {
                let pause = Instant::now();
                s.write_model(&mut w);
                s.write_weights(&mut q);
                let risks = group_risks(loss, &w, data)?;
                let seconds = spent + pause.duration_since(start).as_secs_f64() - evaluating;
                let objective = setting.objective(&risks);
                let samples = s.samples().iter().sum::<u64>() + before.iter().sum::<u64>();
                trace.point((s.rounds(), samples, seconds), &risks, &q, objective);
                watch.at(risks.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                if let Some(tol) = self.training.tol
                    && s.rounds() >= planned / 8
                {
                    // A certificate costs some Newton steps: one now and then, and one whenever the
                    // best lower bound so far says that it may be the last.
                    let upper = self.plan.objective(&w)?;
                    if s.rounds() >= next_check || upper - lower <= tol {
                        let certificate = setting.certify(&w, &q)?;
                        lower = lower.max(certificate.lower);
                        next_check = 2 * s.rounds();
                        certified.set(certificate.gap <= tol);
                    }
                    watch.gap(upper - lower);
                }
                evaluating += pause.elapsed().as_secs_f64();
                Ok(if certified.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            };
            let mut counted = watch.count(&mut *solver);
            let cadence = Cadence::Geometric(1.25);
            let outcome =
                drive(&mut counted, planned, cadence, stop, &mut observe).map_err(library)?;
            let certified_now = certified.get();
            let cut_short = outcome != Outcome::Finished && !certified_now;
            if cut_short {
                // A run that was cut short ends its curve where it was cut.
                let _ = observe(&*solver).map_err(library)?;
            }
            let certified = certified_now;
            spent += start.elapsed().as_secs_f64() - evaluating;
            watch.done();
            let again = self.training.tol.is_some()
                && !certified
                && outcome == Outcome::Finished
                && self.plan.budgets.is_none()
                && planned < MOST;
            if again {
                before.iter_mut().zip(solver.samples()).for_each(|(b, s)| *b += s);
                planned *= GROWTH;
                continue;
            }
            let samples = before.iter().zip(solver.samples()).map(|(b, s)| b + s).collect();
            let outcome = if certified { Outcome::Finished } else { outcome };
            return Ok(Answer {
                w: solver.model(),
                weights: solver.weights(),
                solved: Solved::Rounds(Play {
                    rounds: (solver.rounds(), planned),
                    samples,
                    budgets: self.plan.budgets.clone(),
                    clipped: solver.clipped(),
                    outcome,
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

/// The budgets that a job asks for, one for each group with training rows.
fn budgets(job: &Job, prepared: &Prepared) -> Result<Option<Vec<u64>>> {
    let counts = prepared.train.counts();
    let file = match &job.training.budget {
        None => return Ok(None),
        Some(Budget::All) => return Ok(Some(counts)),
        Some(Budget::File(file)) => file,
    };
    let expected = "a whole number from 1 to its training rows";
    let whole = |group: usize, text: &str| {
        let n = text.parse::<f64>().ok()?;
        let holds = n.fract() == 0.0 && (1.0..=counts[group] as f64).contains(&n);
        holds.then_some(n as u64)
    };
    read_numbers(file, "budget", &train_names(prepared), expected, whole).map(Some)
}

/// n̄ of the hybrid: between the smallest and the largest budget; their geometric mean, or twice
/// the rounds that were asked for, unless told otherwise.
pub fn nbar(job: &Job, algorithm: Algorithm, sizes: &[u64]) -> Result<Option<u64>> {
    let Some(nbar) = default_nbar(algorithm, job.training.nbar, job.training.rounds, sizes) else {
        return Ok(None);
    };
    let (least, most) =
        (sizes.iter().copied().min().unwrap_or(1), sizes.iter().copied().max().unwrap_or(1));
    if !(least..=most).contains(&nbar) {
        let set = if job.training.nbar.is_some() { "nbar" } else { "rounds" };
        return Err(Failure::input(format!(
            "{}: nbar = {nbar}: expected a number between the smallest and the largest budget, {least} and {most}",
            job.place(set)
        )));
    }
    Ok(Some(nbar))
}
