//! Steps for the rows at hand: what a run needs besides the paper.
//!
//! Steps of the theorems are safe for all problems with the same constants, and too small or too
//! large for most. A [`Plan`] finds others in one of three ways ([`StepsBy`]): the players of smd-m
//! find their own in runs that are long enough; those of a bandit player follow from the balanced
//! model ([`Plan::near`]); for the other algorithms short runs on other draws choose multipliers on
//! the theorem's, and the second half of the rounds is averaged.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::algorithm::{Constants, Gains, SampleBounds};
use crate::average::Average;
use crate::config::{Config, GroupPlayer};
use crate::dataset::Dataset;
use crate::domain::{Domain, MirrorMap};
use crate::error::{Error, Result};
use crate::exact::Goal;
use crate::game::Game;
use crate::interval::loss_cap;
use crate::iterate::scores;
use crate::loss::Loss;
use crate::risk::group_risks;
use crate::run::{Solver, Start};
use crate::source::{OnceEach, WithReplacement};

/// A pilot run takes this share of the rounds.
const PILOT: u64 = 20;

/// In a run of so many rounds the players find their own steps early enough.
const LONG: u64 = 20_000;

/// The length of a walk to the optimum, in units of the way to the balanced model.
const DETOUR: f64 = 3.0;

/// Shares of the usual range of losses that are tried for bandit players.
const RANGES: [f64; 8] = [1.0, 0.8, 0.6, 0.4, 0.3, 0.2, 0.15, 0.1];

/// How steps come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepsBy {
    /// They are given.
    Given,
    /// The players find them.
    Players,
    /// By the balanced model.
    Balanced,
    /// By pilot runs.
    Pilots,
}

/// Who remembers what pilot runs have found, so that a run which was cut off goes on after them.
pub trait Notebook {
    /// The value of a pilot run by its number, if it is known.
    fn recall(&mut self, pilot: usize) -> Option<f64>;

    /// Notes the value of a pilot run: its objective, +∞ when it diverged.
    fn note(&mut self, pilot: usize, value: f64);
}

/// Remembers nothing.
impl Notebook for () {
    fn recall(&mut self, _: usize) -> Option<f64> {
        None
    }

    fn note(&mut self, _: usize, _: f64) {}
}

/// What pilot runs try for each step, as multiples of what is natural.
const TRIES: [f64; 3] = [0.3, 1.0, 3.0];

/// All that a run on rows in memory needs besides its steps.
#[derive(Clone, Debug)]
pub struct Plan<'a, L, M> {
    /// The rows.
    pub data: &'a Dataset,
    /// The loss.
    pub loss: &'a L,
    /// The set of models.
    pub domain: &'a Domain<M>,
    /// Scales, offsets, ridge and cap.
    pub game: &'a Game,
    /// Who plays q.
    pub goal: &'a Goal,
    /// The algorithm with its options. Rounds, steps and the player are filled in here; the seed is
    /// that of the run, and pilots draw others.
    pub config: Config,
    /// Multipliers on the theorem's steps of w and q, where they are given.
    pub steps: (Option<f64>, Option<f64>),
    /// Budgets n_i, when rows are visited once.
    pub budgets: Option<Vec<u64>>,
    /// The range M of the losses, when it is given.
    pub loss_range: Option<f64>,
    /// max_i R_i(0), for the constants.
    pub at_zero: f64,
    /// Bounds on the rows, for the constants.
    pub samples: SampleBounds,
    /// How many values a row stores, where rows are sparse: what the form of the point goes by.
    pub stored: Option<f64>,
    /// Where the run and its pilots start; from nothing when absent.
    pub start: Option<Start>,
    /// Whether the players find their own steps.
    pub adapts: bool,
    /// A model about as far from the first one as the optimum, for the step of w of an algorithm
    /// whose η_q needs no more than the range of the losses; pilot runs when absent.
    pub near: Option<Vec<f64>>,
}

impl<L, M> Plan<'_, L, M>
where
    L: Loss + Clone + 'static,
    M: MirrorMap + Clone + 'static,
{
    /// How the steps come about.
    pub fn steps_by(&self) -> StepsBy {
        match (self.steps, &self.near) {
            ((Some(_), Some(_)), _) => StepsBy::Given,
            _ if self.adapts => StepsBy::Players,
            (_, Some(_)) => StepsBy::Balanced,
            _ => StepsBy::Pilots,
        }
    }

    /// Whether the players should find their own steps in a run of so many rounds: where the
    /// algorithm lets them, no step of theirs is given, and the run is long enough.
    pub fn may_adapt(&self, rounds: u64) -> bool {
        let spec = self.config.algorithm.spec();
        let free = self.steps.0.is_none() && (self.steps.1.is_none() || !self.moves());
        spec.may_adapt && !self.config.anytime && free && rounds >= LONG
    }

    /// Whether q moves at all.
    fn moves(&self) -> bool {
        matches!(self.goal, Goal::Adversary) && self.data.groups() > 1
    }

    /// The suffix average with steps by pilot runs that do not fall; else the theorem's.
    pub fn usual_average(&self) -> Option<Average> {
        let falls = self.config.algorithm.falls(self.config.anytime);
        (self.steps_by() == StepsBy::Pilots && !falls).then_some(Average::Suffix)
    }

    /// The steps that were given, or found for a run of so many rounds. Pilot runs that the notebook
    /// knows are not played again.
    ///
    /// # Errors
    /// Those of [`Config::build`] and of the rounds, except that a pilot may diverge.
    pub fn find_steps(
        &self,
        rounds: u64,
        notebook: &mut dyn Notebook,
        stop: &AtomicBool,
    ) -> Result<(f64, f64)> {
        match (self.steps, &self.near) {
            ((Some(step_w), Some(step_q)), _) => Ok((step_w, step_q)),
            _ if self.adapts => Ok((1.0, 1.0)),
            ((step_w, step_q), Some(near)) => {
                let step_w = step_w.map_or_else(|| self.walk(near, rounds), Ok)?;
                Ok((step_w, step_q.unwrap_or(1.0)))
            }
            _ => self.pilot(rounds, notebook, stop),
        }
    }

    /// The multiplier on η_w by which T steps of the usual length G cover [`DETOUR`] times the way D
    /// to a model: D/(G√T), with the root mean square of the gradients of single samples there and
    /// at the first model. No step is longer than what the curvature of the loss allows, beyond
    /// which a step of a squared loss ends farther from the optimum than it began.
    fn walk(&self, near: &[f64], rounds: u64) -> Result<f64> {
        let (features, outputs) = (self.data.features(), self.loss.outputs());
        let mut start = vec![0.0; near.len()];
        self.domain.map.center(&mut start[..features * outputs]);
        if let Some(given) = &self.start {
            start.copy_from_slice(&given.model);
        }
        let way = start.iter().zip(near).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let constant = if self.domain.intercept.is_some() { 1.0 } else { 0.0 };
        let (mut s, mut slope) = (vec![0.0; outputs], vec![0.0; outputs]);
        let mut squares = 0.0;
        // Σ‖x‖² and Σ‖x‖⁴, each group in the mean.
        let (mut sizes, mut fourth) = (0.0, 0.0);
        for w in [&start[..], near] {
            for (group, scale) in self.game.scales.iter().enumerate() {
                let (mut sum, total) = (0.0, self.data.total_weight(group));
                for row in self.data.members(group) {
                    let sample = self.data.sample(*row as usize);
                    scores(w, features, sample.x, &mut s);
                    self.loss.slope(&s, sample.y, &mut slope)?;
                    let steep: f64 = slope.iter().map(|g| g * g).sum();
                    let size = sample.x.norm_squared() + constant;
                    let weight = self.data.weight(*row as usize);
                    sum += weight * steep * size;
                    sizes += weight * size / total;
                    fourth += scale * weight * size * size / total;
                }
                squares += scale * scale * sum / total;
            }
        }
        let size = (squares / (2.0 * self.data.groups() as f64)).sqrt();
        let theory = self.solver(rounds, (1.0, 1.0), true)?.steps().eta_w;
        let falls = self.config.algorithm.falls(self.config.anytime);
        // Steps that fall like 1/√t add up to as much, most of it early.
        let wanted = if falls { way / size } else { DETOUR * way / size / (rounds as f64).sqrt() };
        let longest = sizes / fourth / self.loss.curvature();
        let wanted = if longest > 0.0 { wanted.min(longest) } else { wanted };
        let multiplier = wanted / theory;
        Ok(if multiplier.is_finite() && multiplier > 0.0 { multiplier } else { 1.0 })
    }

    /// The constants of a game on these rows.
    ///
    /// # Errors
    /// Those of [`Constants::new`].
    pub fn constants_of(&self, game: &Game) -> Result<Constants> {
        Constants::new(
            game,
            self.loss,
            self.domain,
            self.data.features(),
            self.samples,
            self.at_zero,
            self.loss_range,
        )
    }

    /// The budgets, or the sizes of the groups.
    pub fn sizes(&self) -> Vec<u64> {
        self.budgets.clone().unwrap_or_else(|| self.data.counts())
    }

    /// The algorithm as it is configured for so many rounds.
    pub fn config(&self, rounds: u64, steps: (f64, f64), pilot: bool) -> Config {
        let player = match self.goal {
            // No player has a prior: [`Plan::solver`] refuses it.
            Goal::Adversary | Goal::Tilted { .. } => GroupPlayer::Adversary,
            Goal::Fixed(q) => GroupPlayer::Fixed(q.clone()),
        };
        Config {
            anytime: self.config.algorithm.falls(self.config.anytime),
            adapts: self.adapts,
            rounds,
            step_w: steps.0,
            step_q: steps.1,
            player,
            // A pilot must not see the draws of the run that it prepares.
            seed: if pilot { !self.config.seed } else { self.config.seed },
            ..self.config.clone()
        }
    }

    /// A solver planned for so many rounds. A pilot draws with replacement whatever the budgets.
    ///
    /// # Errors
    /// Those of [`Config::build`] and [`Solver::start_at`]; [`Error::Unsupported`] for a tilted risk.
    pub fn solver(&self, rounds: u64, steps: (f64, f64), pilot: bool) -> Result<Box<dyn Solver>> {
        if matches!(self.goal, Goal::Tilted { .. }) {
            let algorithm = self.config.algorithm.spec().name;
            let advice = "minimise it by the reference solver";
            return Err(Error::Unsupported { algorithm, option: "a tilted risk", advice });
        }
        let config = self.config(rounds, steps, pilot);
        let sizes = &self.sizes()[..];
        let (game, domain, loss) = (self.game.clone(), self.domain.clone(), self.loss.clone());
        let constants = self.constants_of(self.game)?;
        let mut solver = match &self.budgets {
            Some(budgets) if !pilot => {
                let source = OnceEach::new(self.data.clone(), Some(budgets), self.config.seed)?;
                config.build(game, loss, source, domain, &constants, Some(sizes))?
            }
            _ => {
                let source = WithReplacement::new(self.data.clone()).storing(self.stored);
                config.build(game, loss, source, domain, &constants, Some(sizes))?
            }
        };
        if let Some(start) = &self.start {
            solver.start_at(start)?;
        }
        Ok(solver)
    }

    /// The objective of a model on the rows, with the ridge.
    ///
    /// # Errors
    /// Those of [`group_risks`].
    pub fn objective(&self, w: &[f64]) -> Result<f64> {
        let risks = group_risks(self.loss, w, self.data)?;
        let weights = &w[..self.data.features() * self.loss.outputs()];
        let ridge = self.game.ridge / 2.0 * weights.iter().map(|v| v * v).sum::<f64>();
        Ok(ridge
            + match self.goal {
                Goal::Adversary | Goal::Tilted { .. } => self.game.objective(&risks),
                Goal::Fixed(q) => q.iter().zip(&risks).map(|(q, r)| q * r).sum(),
            })
    }

    /// Multipliers by short runs on other draws: each is planned for a share of the rounds, and
    /// judged by the objective of its averaged model. A run that diverges is out.
    fn pilot(
        &self,
        rounds: u64,
        notebook: &mut dyn Notebook,
        stop: &AtomicBool,
    ) -> Result<(f64, f64)> {
        let rounds = (rounds / PILOT).clamp(200, 50_000).min(rounds.max(1));
        let moves = self.moves();
        let tries = |given: Option<f64>, center: f64| match given {
            Some(given) => vec![given],
            None => TRIES.map(|t| t * center).to_vec(),
        };
        let for_w = tries(self.steps.0, 1.0);
        let for_q = if moves {
            tries(self.steps.1, self.natural_step_q(rounds)?)
        } else {
            vec![self.steps.1.unwrap_or(1.0)]
        };
        let mut best = (f64::INFINITY, (for_w[0], for_q[0]));
        for (at_w, step_w) in for_w.iter().enumerate() {
            for (at_q, step_q) in for_q.iter().enumerate() {
                if stop.load(Ordering::Relaxed) {
                    return Ok(best.1);
                }
                let steps = (*step_w, *step_q);
                let number = at_w * for_q.len() + at_q;
                let value = match notebook.recall(number) {
                    Some(value) => value,
                    None => {
                        let value = self.try_steps(rounds, steps)?;
                        notebook.note(number, value);
                        value
                    }
                };
                if value < best.0 {
                    best = (value, steps);
                }
            }
        }
        Ok(best.1)
    }

    /// The objective of a pilot run's averaged model; +∞ for one that diverges.
    fn try_steps(&self, rounds: u64, steps: (f64, f64)) -> Result<f64> {
        let mut solver = self.solver(rounds, steps, true)?;
        match solver.advance(rounds).and_then(|()| self.objective(&solver.model())) {
            Err(Error::NonFiniteLoss { .. }) => Ok(f64::INFINITY),
            found => found,
        }
    }

    /// The multiplier on η_q around which pilots look. The theorem's η_q of a full-information
    /// player balances against the diameter of a domain that may be huge; alone, Hedge on losses of
    /// the size of max_i R_i(0) would take √(8 ln m/(5T))/max_i R_i(0). Bandit players have that
    /// form already.
    fn natural_step_q(&self, rounds: u64) -> Result<f64> {
        let spec = self.config.algorithm.spec();
        let m = self.data.groups() as f64;
        let weighted = spec.gains == Gains::Inflated || self.config.unweighted;
        let inflation = match (spec.gains, spec.budgets) {
            (Gains::Bandit | Gains::Clipped, _) => return Ok(1.0),
            (_, Some(budgeted)) if weighted => {
                (budgeted.inflation)(&self.sizes(), self.config.nbar.unwrap_or(2 * rounds))
            }
            (Gains::Inflated, _) => m,
            (Gains::Losses, _) => 1.0,
        };
        let mut theory = self.solver(rounds, (1.0, 1.0), true)?.steps().eta_q;
        if self.config.algorithm.falls(self.config.anytime) {
            theory /= (rounds as f64).sqrt();
        }
        // The diameter of the simplex, over the square of the norm of gains of 1.
        let width = if spec.entropic { m.ln() } else { (1.0 - 1.0 / m) / 2.0 / m };
        let size = self.at_zero.max(1e-300) * inflation;
        let alone = (8.0 * width / (5.0 * rounds as f64)).sqrt() / size;
        Ok(if theory > 0.0 { alone / theory } else { 1.0 })
    }
}

/// What 999 of 1000 losses of a model stay below, rounded up to 1, 2 or 5 × 10^j ([`loss_cap`]):
/// with a balanced model and without a `floor` a range for bandit players in which losses differ.
///
/// # Errors
/// Errors of a user's loss, and those of [`loss_cap`].
pub fn usual_range(loss: &impl Loss, data: &Dataset, w: &[f64], floor: f64) -> Result<f64> {
    let mut s = vec![0.0; loss.outputs()];
    let mut losses = Vec::with_capacity(data.rows());
    for row in 0..data.rows() {
        let sample = data.sample(row);
        scores(w, data.features(), sample.x, &mut s);
        losses.push(loss.value(&s, sample.y)?);
    }
    loss_cap(&losses, floor)
}

/// A range of the losses for a bandit player of so many rounds, by a model that is near the optimum:
/// its shortfalls M − ℓ, of which it sees one per round, average to a standard deviation of about
/// √(m E(M − ℓ)₊²/T) in each group. Losses above M are cut, by E(ℓ − M)₊ on average, and what groups
/// lose by that unequally, its standard deviation over them, misleads the player. The range is the
/// share of [`usual_range`] whose sum of the two is least.
///
/// # Errors
/// Those of [`usual_range`].
pub fn bandit_range(loss: &impl Loss, data: &Dataset, w: &[f64], rounds: u64) -> Result<f64> {
    let usual = usual_range(loss, data, w, 0.0)?;
    let m = data.groups();
    let mut s = vec![0.0; loss.outputs()];
    let mut squares = [0.0; RANGES.len()];
    // Sum and sum of squares over the groups.
    let mut cuts = [(0.0, 0.0); RANGES.len()];
    for group in 0..m {
        let (mut short, mut above) = ([0.0; RANGES.len()], [0.0; RANGES.len()]);
        for row in data.members(group) {
            let (sample, weight) = (data.sample(*row as usize), data.weight(*row as usize));
            scores(w, data.features(), sample.x, &mut s);
            let value = loss.value(&s, sample.y)?;
            for (at, share) in RANGES.iter().enumerate() {
                let left = share * usual - value;
                short[at] += weight * left.max(0.0).powi(2);
                above[at] += weight * (-left).max(0.0);
            }
        }
        let total = data.total_weight(group);
        for at in 0..RANGES.len() {
            squares[at] += short[at] / total / m as f64;
            let cut = above[at] / total;
            cuts[at] = (cuts[at].0 + cut / m as f64, cuts[at].1 + cut * cut / m as f64);
        }
    }
    let unequal = |at: usize| (cuts[at].1 - cuts[at].0.powi(2)).max(0.0).sqrt();
    let cost = |at: usize| (m as f64 * squares[at] / rounds as f64).sqrt() + unequal(at);
    let best = (1..RANGES.len()).fold(0, |best, at| if cost(at) < cost(best) { at } else { best });
    Ok(RANGES[best] * usual)
}
