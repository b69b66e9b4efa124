//! Steps by short pilot runs: what a run needs besides the paper.
//!
//! Steps of the theorems are safe and small. A [`Plan`] multiplies them by what short runs on
//! other draws find best, unless an average is given, and then averages the second half of the rounds.

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
use crate::run::Solver;
use crate::source::{OnceEach, WithReplacement};

/// A pilot run takes this share of the rounds.
const PILOT: u64 = 20;

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
}

impl<L, M> Plan<'_, L, M>
where
    L: Loss + Clone + 'static,
    M: MirrorMap + Clone + 'static,
{
    /// Whether pilot runs choose a step.
    pub fn is_piloted(&self) -> bool {
        self.steps.0.is_none() || self.steps.1.is_none()
    }

    /// The suffix average with steps by pilot runs that do not fall; else the theorem's.
    pub fn usual_average(&self) -> Option<Average> {
        let falls = self.config.algorithm.falls(self.config.anytime);
        (self.is_piloted() && !falls).then_some(Average::Suffix)
    }

    /// The steps that were given, or those of pilot runs for a run of so many rounds.
    ///
    /// # Errors
    /// Those of [`Config::build`] and of the rounds, except that a pilot may diverge.
    pub fn find_steps(&self, rounds: u64, stop: &AtomicBool) -> Result<(f64, f64)> {
        match self.steps {
            (Some(step_w), Some(step_q)) => Ok((step_w, step_q)),
            _ => self.pilot(rounds, stop),
        }
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
            SampleBounds::of(self.data, &self.domain.map),
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
            Goal::Adversary => GroupPlayer::Adversary,
            Goal::Fixed(q) => GroupPlayer::Fixed(q.clone()),
        };
        Config {
            anytime: self.config.algorithm.falls(self.config.anytime),
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
    /// Those of [`Config::build`].
    pub fn solver(&self, rounds: u64, steps: (f64, f64), pilot: bool) -> Result<Box<dyn Solver>> {
        let config = self.config(rounds, steps, pilot);
        let sizes = &self.sizes()[..];
        let (game, domain, loss) = (self.game.clone(), self.domain.clone(), self.loss.clone());
        let constants = self.constants_of(self.game)?;
        match &self.budgets {
            Some(budgets) if !pilot => {
                let source = OnceEach::new(self.data.clone(), Some(budgets), self.config.seed)?;
                config.build(game, loss, source, domain, &constants, Some(sizes))
            }
            _ => {
                let source = WithReplacement::new(self.data.clone());
                config.build(game, loss, source, domain, &constants, Some(sizes))
            }
        }
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
                Goal::Adversary => self.game.objective(&risks),
                Goal::Fixed(q) => q.iter().zip(&risks).map(|(q, r)| q * r).sum(),
            })
    }

    /// Multipliers by short runs on other draws: each is planned for a share of the rounds, and
    /// judged by the objective of its averaged model. A run that diverges is out.
    fn pilot(&self, rounds: u64, stop: &AtomicBool) -> Result<(f64, f64)> {
        let rounds = (rounds / PILOT).clamp(200, 50_000).min(rounds.max(1));
        let moves = matches!(self.goal, Goal::Adversary) && self.data.groups() > 1;
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
        for step_w in &for_w {
            for step_q in &for_q {
                if stop.load(Ordering::Relaxed) {
                    return Ok(best.1);
                }
                let steps = (*step_w, *step_q);
                let mut solver = self.solver(rounds, steps, true)?;
                let found = solver.advance(rounds).and_then(|()| self.objective(&solver.model()));
                match found {
                    Ok(value) if value < best.0 => best = (value, steps),
                    Ok(_) | Err(Error::NonFiniteLoss { .. }) => {}
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
    fn natural_step_q(&self, rounds: u64) -> Result<f64> {
        let spec = self.config.algorithm.spec();
        let m = self.data.groups() as f64;
        let inflation = match spec.gains {
            Gains::Bandit | Gains::Clipped => return Ok(1.0),
            Gains::Losses => 1.0,
            Gains::Inflated if spec.budgets.is_some() => {
                let sizes = self.sizes();
                let most = sizes.iter().copied().max().unwrap_or(1) as f64;
                most / sizes.iter().copied().min().unwrap_or(1) as f64
            }
            Gains::Inflated => m,
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
