//! The paper's algorithms at work for an estimator: steps, rounds, and when to stop.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Instant;

use gdro::algorithm::{Algorithm, Gains};
use gdro::average::Average;
use gdro::config::Config;
use gdro::exact::Goal;
use gdro::group_weights::Subsets;
use gdro::loss::AnyLoss;
use gdro::pilot::{Plan, default_nbar, default_rounds, usual_range};
use gdro::risk::group_risks;
use gdro::run::{Cadence, Outcome, Solver, drive};
use gdro::setting::{Baseline, Setting, SolverName};
use gdro_train::failure::Interrupted;
use serde::Deserialize;

use crate::fit::{Fitted, Point};
use crate::run::Control;

/// With a tolerance, runs are planned for so many times the rounds of the last one, until one of
/// them is certified.
const GROWTH: u64 = 4;

/// Most rounds that a tolerance leads to.
const MOST: u64 = 1_000_000_000;

/// How an algorithm plays, in the words of the job file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// Number of rounds; by the algorithm and the budget when absent.
    pub rounds: Option<u64>,
    /// Multiplier on the theorem's step of w; by pilot runs when absent.
    pub step_w: Option<f64>,
    /// Multiplier on the theorem's step of q; by pilot runs when absent.
    pub step_q: Option<f64>,
    /// Whether steps fall with time.
    pub anytime: bool,
    /// The average; the theorem's when absent, the suffix after pilot runs.
    pub average: Option<Average>,
    /// The range M of the losses; by the domain or the rows when absent.
    pub loss_range: Option<f64>,
    /// Rows once each, and so many of each group.
    pub budget: Option<Vec<u64>>,
    /// n̄ of the hybrid.
    pub nbar: Option<u64>,
    /// Numbers of groups that flexible queries ask in turn.
    pub queries: Option<Vec<usize>>,
    /// Samples of every group that elimination keeps.
    pub kept: Option<u64>,
    /// How AT_kRO(k) draws its groups; by their number when absent.
    pub subsets: Option<Subsets>,
    /// δ of elimination.
    pub delta: f64,
    /// Seed.
    pub seed: u64,
}

impl Rounds {
    /// An algorithm as it is configured; steps are the theorem's where they are not given.
    pub fn config(&self, algorithm: Algorithm) -> Config {
        let usual = Config::new(algorithm, self.rounds.unwrap_or(1));
        Config {
            anytime: algorithm.falls(self.anytime),
            step_w: self.step_w.unwrap_or(1.0),
            step_q: self.step_q.unwrap_or(1.0),
            average: self.average,
            nbar: self.nbar,
            queries: self.queries.clone().unwrap_or(usual.queries),
            kept: self.kept,
            subsets: self.subsets,
            delta: self.delta,
            seed: self.seed,
            ..usual
        }
    }
}

/// Plays the game of a setting to the end, or until the certified gap is at most `tol`.
///
/// # Errors
/// Those of the solver; [`Interrupted`] when the work should stop.
pub fn play(
    setting: &Setting<AnyLoss>,
    algorithm: Algorithm,
    rounds: &Rounds,
    tol: Option<f64>,
    control: &Control<'_>,
) -> gdro::Result<Fitted> {
    let data = &setting.data;
    let mut config = rounds.config(algorithm);
    let counts = data.counts();
    let sizes = rounds.budget.as_deref().unwrap_or(&counts);
    config.nbar = default_nbar(algorithm, rounds.nbar, rounds.rounds, sizes);
    let (least, most) =
        (sizes.iter().copied().min().unwrap_or(1), sizes.iter().copied().max().unwrap_or(1));
    if let Some(nbar) = config.nbar.filter(|n| !(least..=most).contains(n)) {
        let name = if rounds.nbar.is_some() { "nbar" } else { "rounds" };
        return Err(gdro::Error::user(format!(
            "{name}: nbar = {nbar}: expected a number between those of the smallest and the largest \
             group, {least} and {most}; hybrid plays nbar/2 rounds"
        )));
    }
    let mut planned = rounds.rounds.unwrap_or_else(|| {
        default_rounds(algorithm, rounds.budget.as_deref(), &counts, config.nbar)
    });
    let zero = vec![0.0; setting.model_len()];
    let at_zero = group_risks(&setting.loss, &zero, data)?.into_iter().fold(0.0, f64::max);
    let bandit = matches!(algorithm.facts().gains, Gains::Bandit | Gains::Clipped);
    // Players that find their own steps take none, and need no pilots.
    let own = algorithm.facts().adaptive.then_some(1.0);
    let steps = (rounds.step_w.or(own), rounds.step_q.or(own));
    let piloted = steps.0.is_none() || steps.1.is_none();
    let mut loss_range = rounds.loss_range;
    if piloted && bandit && setting.goal == Goal::Adversary && loss_range.is_none() {
        loss_range =
            Some(usual_range(&setting.loss, data, &setting.ordinary(Baseline::Balanced, None)?)?);
    }
    let mut plan = Plan {
        data,
        loss: &setting.loss,
        domain: &setting.domain,
        game: &setting.game,
        goal: &setting.goal,
        config,
        steps,
        budgets: rounds.budget.clone(),
        loss_range,
        at_zero,
    };
    plan.config.average = rounds.average.or(plan.usual_average());
    let steps = plan.find_steps(planned, control.flag())?;
    control.say(|| {
        let (w, q) = steps;
        let how = if piloted { " by pilot runs" } else { "" };
        format!("steps{how}: {w:.3} and {q:.3} times the theorem's")
    });
    let mut trace = Vec::new();
    let (mut samples, mut spent) = (0, 0.0);
    loop {
        let mut solver = plan.solver(planned, steps, false)?;
        let (before, began) = (samples, Instant::now());
        let (mut evaluating, mut certified) = (0.0, None);
        let mut next = planned / 8;
        let mut observe = |s: &dyn Solver| {
            let pause = Instant::now();
            let (w, q) = (s.model(), s.weights());
            let risks = group_risks(&setting.loss, &w, data)?;
            samples = before + s.samples().iter().sum::<u64>();
            let point = Point {
                round: s.rounds(),
                samples,
                seconds: spent + pause.duration_since(began).as_secs_f64() - evaluating,
                objective: setting.objective(&risks),
                weights: q,
                risks,
            };
            control.say(|| {
                let worst = point.risks.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                format!("round {} of {planned}: largest risk {worst:.5}", point.round)
            });
            if let Some(tol) = tol
                && point.round > 0
                && point.round >= next
            {
                let certificate = setting.certify(&w, &point.weights)?;
                next = 2 * point.round;
                certified = (certificate.gap <= tol).then_some(certificate);
            }
            trace.push(point);
            evaluating += pause.elapsed().as_secs_f64();
            let enough = certified.is_some();
            Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let cadence = Cadence::Geometric(1.25);
        let outcome = drive(&mut *solver, planned, cadence, control.flag(), &mut observe)?;
        spent += began.elapsed().as_secs_f64() - evaluating;
        if control.flag().load(Ordering::Relaxed) {
            return Err(gdro::Error::user(Interrupted));
        }
        let (w, q) = (solver.model(), solver.weights());
        let certificate = match certified {
            Some(certificate) => certificate,
            None => setting.certify(&w, &q)?,
        };
        let close = tol.is_none_or(|tol| certificate.gap <= tol);
        let again = !close && outcome == Outcome::Finished && plan.budgets.is_none();
        if again && planned < MOST {
            planned *= GROWTH;
            continue;
        }
        return Ok(Fitted {
            solver: SolverName::Rounds(algorithm),
            risks: group_risks(&setting.loss, &w, data)?,
            cap: usual_range(&setting.loss, data, &w)?,
            w,
            q,
            offsets: setting.game.offsets.clone(),
            certificate,
            iterations: solver.rounds(),
            steps: Some(steps),
            exhausted: match outcome {
                Outcome::Exhausted { group, .. } => Some(group),
                Outcome::Finished | Outcome::Stopped => None,
            },
            trace,
        });
    }
}
