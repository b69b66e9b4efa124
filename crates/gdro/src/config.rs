//! From a name to a solver.

use serde::{Deserialize, Serialize};

use crate::algorithm::{self, Algorithm, Constants, Recipe};
use crate::average::Average;
use crate::domain::{Domain, MirrorMap};
use crate::error::{Error, Result, require};
use crate::estimator::Estimator;
use crate::game::Game;
use crate::group_weights::{Fixed, GroupWeights, Plain};
use crate::iterate::Dense;
use crate::loss::Loss;
use crate::run::{Saddle, Solver};
use crate::source::Source;

/// Who plays q.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupPlayer {
    /// The adversary of the game: the capped simplex.
    Adversary,
    /// Nobody: these weights, for ordinary training.
    Fixed(Vec<f64>),
}

/// A named algorithm with its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// Whether its steps fall with time.
    pub anytime: bool,
    /// Number of rounds T that fixed steps are meant for.
    pub rounds: u64,
    /// Multiplier on the theorem's η_w.
    pub step_w: f64,
    /// Multiplier on the theorem's η_q (and γ).
    pub step_q: f64,
    /// The average; `None` for the one of the theorem.
    pub average: Option<Average>,
    /// Who plays q.
    pub player: GroupPlayer,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Config {
    /// Theory steps for `rounds` rounds, seed 0.
    pub fn new(algorithm: Algorithm, rounds: u64) -> Self {
        Config {
            algorithm,
            anytime: algorithm == Algorithm::Atkro1,
            rounds,
            step_w: 1.0,
            step_q: 1.0,
            average: None,
            player: GroupPlayer::Adversary,
            seed: 0,
        }
    }

    /// Makes the solver of `game` on `source`. `budgets` are the n_i of Algorithms 3 and 4.
    ///
    /// # Errors
    /// [`Error::Parameter`] for options out of range, [`Error::Unsupported`] for an option that
    /// the algorithm does not have, [`Error::Length`] when parts do not fit together.
    pub fn build<'a, L, S, M>(
        &self,
        game: Game,
        loss: L,
        source: S,
        domain: Domain<M>,
        constants: &Constants,
        budgets: Option<&[u64]>,
    ) -> Result<Box<dyn Solver + 'a>>
    where
        L: Loss + Clone + 'a,
        S: Source + 'a,
        M: MirrorMap + Clone + 'a,
    {
        require(self.rounds >= 1, "rounds", self.rounds, "at least 1")?;
        for (name, value) in [("step-w", self.step_w), ("step-q", self.step_q)] {
            require(value > 0.0 && value.is_finite(), name, value, "0 < multiplier < ∞")?;
        }
        if self.anytime && !self.algorithm.has_anytime_form() {
            return Err(Error::Unsupported {
                algorithm: self.algorithm.name(),
                option: "anytime",
                advice: "smd-m, online-1 and atkro-m have anytime forms, and atkro-1 is one",
            });
        }
        if game.k > 1.0 && !self.algorithm.plays_top_k() {
            return Err(Error::Unsupported {
                algorithm: self.algorithm.name(),
                option: "a top-k objective",
                advice: "use atkro-m, atkro-k or atkro-1",
            });
        }
        let outputs = loss.outputs();
        domain.check(source.features(), outputs)?;
        let point = Dense::new(domain, source.features(), outputs);
        let parts = Parts { config: self, game, loss, source, point };
        let of_budgets = || {
            budgets.ok_or(Error::Unsupported {
                algorithm: self.algorithm.name(),
                option: "a source without budgets",
                advice: "give the number of samples n_i of every group",
            })
        };
        match (self.algorithm, self.anytime) {
            (Algorithm::SmdM, false) => parts.solver(algorithm::smd_m(constants, self.rounds)),
            (Algorithm::SmdM, true) => parts.solver(algorithm::smd_m_anytime(constants)),
            (Algorithm::Smd1, _) => parts.solver(algorithm::smd_1(constants, self.rounds)),
            (Algorithm::Online1, false) => {
                parts.solver(algorithm::online_1(constants, self.rounds))
            }
            (Algorithm::Online1, true) => parts.solver(algorithm::online_1_anytime(constants)),
            (Algorithm::SmdR, _) => {
                parts.solver(algorithm::smd_r(constants, of_budgets()?, self.rounds)?)
            }
            (Algorithm::SmpaM, _) => {
                parts.solver(algorithm::smpa_m(constants, of_budgets()?, self.rounds)?)
            }
            (Algorithm::AtkroM, false) => parts.solver(algorithm::atkro_m(constants, self.rounds)),
            (Algorithm::AtkroM, true) => parts.solver(algorithm::atkro_m_anytime(constants)),
            (Algorithm::AtkroK, _) => parts.solver(algorithm::atkro_k(constants, self.rounds)?),
            (Algorithm::Atkro1, _) => parts.solver(algorithm::atkro_1(constants)),
        }
    }
}

/// A solver but for its recipe.
struct Parts<'c, L, S, M> {
    config: &'c Config,
    game: Game,
    loss: L,
    source: S,
    point: Dense<M>,
}

impl<'a, L, S, M> Parts<'_, L, S, M>
where
    L: Loss + Clone + 'a,
    S: Source + 'a,
    M: MirrorMap + Clone + 'a,
{
    fn solver<E: Estimator + 'a>(self, recipe: Recipe<E>) -> Result<Box<dyn Solver + 'a>> {
        match &self.config.player {
            GroupPlayer::Adversary => {
                let weights = Plain::new(self.game.groups(), self.game.k)?;
                self.with_weights(recipe, weights)
            }
            GroupPlayer::Fixed(q) => {
                let weights = Fixed::new(q)?;
                self.with_weights(recipe, weights)
            }
        }
    }

    fn with_weights<E, Q>(self, recipe: Recipe<E>, weights: Q) -> Result<Box<dyn Solver + 'a>>
    where
        E: Estimator + 'a,
        Q: GroupWeights + Clone + 'a,
    {
        let config = self.config;
        let average = config.average.unwrap_or(recipe.average);
        let recipe = recipe.scaled(config.step_w, config.step_q).averaged(average);
        let (game, loss, source, point) = (self.game, self.loss, self.source, self.point);
        let solver = Saddle::new(game, loss, source, point, weights, recipe, config.seed)?;
        Ok(Box::new(solver))
    }
}
