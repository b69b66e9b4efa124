//! The paper's algorithms at work: steps by pilot runs, rounds, and when to stop.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use gdro::algorithm::{Algorithm, Constants, Gains, SampleBounds};
use gdro::average::Average;
use gdro::config::{Config, GroupPlayer, default_kept};
use gdro::exact::Goal;
use gdro::game::Game;
use gdro::group_weights::Subsets;
use gdro::interval::loss_cap;
use gdro::loss::Loss;
use gdro::risk::group_risks;
use gdro::run::{Cadence, Outcome, Solver, drive};
use gdro::source::{OnceEach, WithReplacement};
use gdro_data::Prepared;

use super::columns::read_numbers;
use super::{Answer, Setting, Solved, Trace, Watch, each_score, train_names};
use crate::failure::{Failure, Result};
use crate::job::{Baseline, Budget, Job, Training};

/// Rounds when nothing else decides.
const ROUNDS: u64 = 200_000;

/// With `--tol`, runs are planned for so many times the rounds of the last one, until one of them
/// is certified.
const GROWTH: u64 = 4;

/// Most rounds that `--tol` leads to.
const MOST: u64 = 1_000_000_000;

/// A pilot run takes this share of the rounds.
const PILOT: u64 = 20;

/// What pilot runs try for each step.
const TRIES: [f64; 3] = [0.3, 1.0, 3.0];

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

/// All that a run needs besides its steps.
pub struct Plan<'a> {
    setting: &'a Setting,
    training: &'a Training,
    algorithm: Algorithm,
    names: &'a [String],
    budgets: Option<Vec<u64>>,
    nbar: Option<u64>,
    loss_range: Option<f64>,
    average: Option<Average>,
    /// max_i R_i(0), for the constants.
    at_zero: f64,
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
        let zero = vec![0.0; setting.model_len()];
        let at_zero = group_risks(&setting.loss, &zero, &setting.data)
            .map_err(|e| Failure::library(e, names))?;
        let at_zero = at_zero.iter().copied().fold(0.0, f64::max);
        let loss_range = training.loss_range;
        let mut plan = Plan {
            setting,
            training,
            algorithm,
            names,
            budgets: Some(budgets),
            nbar,
            loss_range,
            average: training.average,
            at_zero,
        };
        plan.average = training.average.or(plan.usual_average());
        Ok(plan)
    }

    /// Whether pilot runs choose a step.
    pub fn is_piloted(&self) -> bool {
        self.training.step_w.is_none() || self.training.step_q.is_none()
    }

    /// The suffix average with steps by pilot runs that do not fall; else the theorem's.
    fn usual_average(&self) -> Option<Average> {
        let falls = self.algorithm.falls(self.training.anytime);
        (self.is_piloted() && !falls).then_some(Average::Suffix)
    }

    /// The steps that were given, or those of pilot runs for a run of so many rounds.
    pub fn steps(&self, rounds: u64, stop: &AtomicBool) -> gdro::Result<(f64, f64)> {
        match (self.training.step_w, self.training.step_q) {
            (Some(step_w), Some(step_q)) => Ok((step_w, step_q)),
            _ => self.pilot(rounds, stop),
        }
    }

    fn constants(&self) -> gdro::Result<Constants> {
        self.constants_of(&self.setting.game)
    }

    /// The constants of a game on these rows.
    pub fn constants_of(&self, game: &Game) -> gdro::Result<Constants> {
        Constants::new(
            game,
            &self.setting.loss,
            &self.setting.domain,
            self.setting.data.features(),
            SampleBounds::of(&self.setting.data, &self.setting.domain.map),
            self.at_zero,
            self.loss_range,
        )
    }

    /// The budgets, or the sizes of the groups.
    fn sizes(&self) -> Vec<u64> {
        self.budgets.clone().unwrap_or_else(|| self.setting.data.counts())
    }

    /// The algorithm as it is configured for so many rounds.
    pub fn config(&self, rounds: u64, steps: (f64, f64), pilot: bool) -> Config {
        let player = match &self.setting.goal {
            Goal::Adversary => GroupPlayer::Adversary,
            Goal::Fixed(q) => GroupPlayer::Fixed(q.clone()),
        };
        Config {
            anytime: self.algorithm.falls(self.training.anytime),
            step_w: steps.0,
            step_q: steps.1,
            average: self.average,
            player,
            nbar: self.nbar,
            queries: self.training.queries.clone().unwrap_or_else(|| vec![1]),
            kept: self.training.kept,
            subsets: self.training.subsets,
            delta: self.training.delta,
            // A pilot must not see the draws of the run that it prepares.
            seed: if pilot { !self.training.seed } else { self.training.seed },
            ..Config::new(self.algorithm, rounds)
        }
    }

    /// How the groups of a round are drawn, where several are.
    fn subsets(&self) -> Option<Subsets> {
        let config = self.config(1, (1.0, 1.0), false);
        let several = self.algorithm == Algorithm::AtkroK;
        several.then(|| config.subsets(self.setting.data.groups()))
    }

    /// A solver planned for so many rounds. A pilot draws with replacement whatever the budgets.
    fn solver(&self, rounds: u64, steps: (f64, f64), pilot: bool) -> gdro::Result<Box<dyn Solver>> {
        let setting = self.setting;
        let config = self.config(rounds, steps, pilot);
        let sizes = &self.sizes()[..];
        let (game, domain) = (setting.game.clone(), setting.domain.clone());
        let constants = self.constants()?;
        match &self.budgets {
            Some(budgets) if !pilot => {
                let source =
                    OnceEach::new(setting.data.clone(), Some(budgets), self.training.seed)?;
                config.build(game, setting.loss, source, domain, &constants, Some(sizes))
            }
            _ => {
                let source = WithReplacement::new(setting.data.clone());
                config.build(game, setting.loss, source, domain, &constants, Some(sizes))
            }
        }
    }

    /// The objective of a model on the training rows, with the ridge.
    fn objective(&self, w: &[f64]) -> gdro::Result<f64> {
        let setting = self.setting;
        let risks = group_risks(&setting.loss, w, &setting.data)?;
        let weights = &w[..setting.data.features() * setting.loss.outputs()];
        let ridge = setting.game.ridge / 2.0 * weights.iter().map(|v| v * v).sum::<f64>();
        Ok(ridge
            + match &setting.goal {
                Goal::Adversary => setting.game.objective(&risks),
                Goal::Fixed(q) => q.iter().zip(&risks).map(|(q, r)| q * r).sum(),
            })
    }

    /// Multipliers by short runs on other draws: each is planned for a share of the rounds, and
    /// judged by the objective of its averaged model. A run that diverges is out.
    fn pilot(&self, rounds: u64, stop: &AtomicBool) -> gdro::Result<(f64, f64)> {
        let rounds = (rounds / PILOT).clamp(200, 50_000).min(rounds.max(1));
        let moves = matches!(self.setting.goal, Goal::Adversary) && self.setting.data.groups() > 1;
        let tries = |given: Option<f64>, center: f64| match given {
            Some(given) => vec![given],
            None => TRIES.map(|t| t * center).to_vec(),
        };
        let for_w = tries(self.training.step_w, 1.0);
        let for_q = if moves {
            tries(self.training.step_q, self.natural_step_q(rounds)?)
        } else {
            vec![self.training.step_q.unwrap_or(1.0)]
        };
        let mut best = (f64::INFINITY, (for_w[0], for_q[0]));
        for step_w in &for_w {
            for step_q in &for_q {
                if stop.load(std::sync::atomic::Ordering::Relaxed) {
                    return Ok(best.1);
                }
                let steps = (*step_w, *step_q);
                let mut solver = self.solver(rounds, steps, true)?;
                let found = solver.advance(rounds).and_then(|()| self.objective(&solver.model()));
                match found {
                    Ok(value) if value < best.0 => best = (value, steps),
                    Ok(_) | Err(gdro::Error::NonFiniteLoss { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(best.1)
    }

    /// The multiplier on η_q around which pilots look. The theorem's η_q of a full-information
    /// player balances against the diameter of a domain that may be huge; alone, Hedge on losses of
    /// the size of max_i R_i(0) would take √(8 ln m/(5T))/max_i R_i(0). Bandit players have that
    /// form already.
    fn natural_step_q(&self, rounds: u64) -> gdro::Result<f64> {
        let facts = self.algorithm.facts();
        let m = self.setting.data.groups() as f64;
        let inflation = match facts.gains {
            Gains::Bandit | Gains::Clipped => return Ok(1.0),
            Gains::Losses => 1.0,
            Gains::Inflated if facts.budgets => {
                let sizes = self.sizes();
                let most = sizes.iter().copied().max().unwrap_or(1) as f64;
                most / sizes.iter().copied().min().unwrap_or(1) as f64
            }
            Gains::Inflated => m,
        };
        let mut theory = self.solver(rounds, (1.0, 1.0), true)?.steps().eta_q;
        if self.algorithm.falls(self.training.anytime) {
            theory /= (rounds as f64).sqrt();
        }
        // The diameter of the simplex, over the square of the norm of gains of 1.
        let width = if facts.entropic { m.ln() } else { (1.0 - 1.0 / m) / 2.0 / m };
        let size = self.at_zero.max(1e-300) * inflation;
        let alone = (8.0 * width / (5.0 * rounds as f64)).sqrt() / size;
        Ok(if theory > 0.0 { alone / theory } else { 1.0 })
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
    let zero = vec![0.0; setting.model_len()];
    let at_zero = group_risks(&setting.loss, &zero, &setting.data).map_err(library)?;
    let piloted = training.step_w.is_none() || training.step_q.is_none();
    let bandit = matches!(algorithm.facts().gains, Gains::Bandit | Gains::Clipped);
    let moves = setting.goal == Goal::Adversary;
    let mut loss_range = training.loss_range;
    if piloted && bandit && moves && loss_range.is_none() {
        loss_range = Some(usual_range(setting).map_err(library)?);
    }
    let mut plan = Plan {
        setting,
        training,
        algorithm,
        names: &names,
        budgets,
        nbar,
        loss_range,
        average: training.average,
        at_zero: at_zero.iter().copied().fold(0.0, f64::max),
    };
    plan.average = training.average.or(plan.usual_average());
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
            let mut solver = self.solver(planned, steps, false).map_err(library)?;
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
                let objective = match &setting.goal {
                    Goal::Adversary => setting.game.objective(&risks),
                    Goal::Fixed(q) => q.iter().zip(&risks).map(|(q, r)| q * r).sum(),
                };
                let samples = s.samples().iter().sum::<u64>() + before.iter().sum::<u64>();
                trace.point((s.rounds(), samples, seconds), &risks, &q, objective);
                watch.at(risks.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                if let Some(tol) = self.training.tol
                    && s.rounds() >= planned / 8
                {
                    // A certificate costs some Newton steps: one now and then, and one whenever the
                    // best lower bound so far says that it may be the last.
                    let upper = self.objective(&w)?;
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
                && self.budgets.is_none()
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
                    budgets: self.budgets.clone(),
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

/// What 999 of 1000 losses of the balanced model stay below, rounded up to 1, 2 or 5 × 10^j: a
/// range for bandit players in which losses differ.
fn usual_range(setting: &Setting) -> gdro::Result<f64> {
    let w = setting.ordinary(Baseline::Balanced, None)?;
    let mut losses = Vec::with_capacity(setting.data.rows());
    let mut failed = Ok(());
    each_score(&setting.loss, &setting.data, &w, |row, s| {
        match setting.loss.value(s, setting.data.sample(row).y) {
            Ok(loss) => losses.push(loss),
            Err(error) => failed = Err(error),
        }
    });
    failed?;
    loss_cap(&losses)
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
    if algorithm != Algorithm::Hybrid {
        return Ok(None);
    }
    let (least, most) =
        (sizes.iter().copied().min().unwrap_or(1), sizes.iter().copied().max().unwrap_or(1));
    let middle = (least as f64 * most as f64).sqrt().round() as u64;
    let doubled = job.training.rounds.map(|t| t.saturating_mul(2));
    let nbar = job.training.nbar.or(doubled).unwrap_or(middle);
    if !(least..=most).contains(&nbar) {
        let set = if job.training.nbar.is_some() { "nbar" } else { "rounds" };
        return Err(Failure::input(format!(
            "{}: nbar = {nbar}: expected a number between the smallest and the largest budget, {least} and {most}",
            job.place(set)
        )));
    }
    Ok(Some(nbar))
}

/// Rounds that an algorithm plays unless told otherwise.
pub fn default_rounds(
    algorithm: Algorithm,
    budgets: Option<&[u64]>,
    counts: &[u64],
    nbar: Option<u64>,
) -> u64 {
    let of = budgets.unwrap_or(counts);
    let (least, most) =
        (of.iter().copied().min().unwrap_or(1), of.iter().copied().max().unwrap_or(1));
    match (algorithm, budgets) {
        (Algorithm::SmdR | Algorithm::SmdRWeighted, _) => most,
        (Algorithm::SmpaM | Algorithm::Hybrid, _) => (nbar.unwrap_or(least) / 2).max(1),
        (
            Algorithm::SmdM
            | Algorithm::SmdMSingle
            | Algorithm::AtkroM
            | Algorithm::Afl
            | Algorithm::Mero
            | Algorithm::Adaptive,
            Some(_),
        ) => least,
        // Its steps take a while to find themselves.
        (Algorithm::Adaptive, None) => 2 * ROUNDS,
        (_, Some(budgets)) => least.max(budgets.iter().sum::<u64>() / 2),
        (_, None) => ROUNDS,
    }
}
