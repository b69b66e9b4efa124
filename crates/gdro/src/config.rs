//! From a name to a solver.

use serde::{Deserialize, Serialize};

use crate::algorithm::{self, Algorithm, Constants, Form, Recipe, Rule};
use crate::average::Average;
use crate::domain::{Domain, MirrorMap};
use crate::error::{Error, Result, require};
use crate::estimator::Estimator;
use crate::game::Game;
use crate::group_weights::{
    AdaHedge, AnyWeights, Euclidean, Fixed, GroupWeights, Leader, Mixed, Plain, Ruled, Subsets,
    Tsallis,
};
use crate::iterate::{AdaGrad, AnyPoint, Dense, Iterate, Lazy};
use crate::loss::Loss;
use crate::run::{Saddle, Solver};
use crate::source::Source;
use crate::storage::Storage;

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
    /// Whether the players of an algorithm that [may](crate::algorithm::AlgorithmSpec::may_adapt)
    /// find their own steps.
    #[serde(default)]
    pub adapts: bool,
    /// The average; `None` for the one of the theorem.
    pub average: Option<Average>,
    /// Who plays q.
    pub player: GroupPlayer,
    /// n̄ of the hybrid.
    pub nbar: Option<u64>,
    /// Numbers of groups that flexible queries ask in turn.
    pub queries: Vec<usize>,
    /// Samples of every group that elimination keeps.
    pub kept: Option<u64>,
    /// δ of elimination: it is right with probability 1 − δ.
    pub delta: f64,
    /// How Algorithm 6 draws its k groups; `None` for dependent rounding with weights in arrays,
    /// and systematic sampling with weights in a tree.
    #[serde(default)]
    pub subsets: Option<Subsets>,
    /// Whether algorithms under budgets play the game itself, by p_i = 1 and importance weights,
    /// instead of the paper's weighted game Σ q_i p_i R_i: the optima of the two differ, and that of
    /// the weighted game may be worse than a constant model for a small group.
    #[serde(default)]
    pub unweighted: bool,
    /// How model and group weights are stored.
    #[serde(default)]
    pub storage: Storage,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Config {
    /// Theory steps for `rounds` rounds, seed 0; one group per flexible query, δ = 0.05.
    pub fn new(algorithm: Algorithm, rounds: u64) -> Self {
        Config {
            algorithm,
            anytime: algorithm.spec().form == Form::Anytime,
            rounds,
            step_w: 1.0,
            step_q: 1.0,
            adapts: false,
            average: None,
            player: GroupPlayer::Adversary,
            nbar: None,
            queries: vec![1],
            kept: None,
            delta: 0.05,
            subsets: None,
            unweighted: false,
            storage: Storage::Automatic,
            seed: 0,
        }
    }

    /// How Algorithm 6 draws k of m groups: as configured, or as suits the weights.
    pub fn subsets(&self, groups: usize, k: f64) -> Subsets {
        let tree = self.storage.tree(groups, k);
        let usual = if tree { Subsets::Systematic } else { Subsets::DepRound };
        self.subsets.unwrap_or(usual)
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
        let spec = self.algorithm.spec();
        let unsupported =
            |option, advice| Error::Unsupported { algorithm: spec.name, option, advice };
        if self.anytime && spec.form == Form::Fixed {
            let advice =
                "smd-m, online-1 and atkro-m have anytime forms, and some others have no other";
            return Err(unsupported("anytime", advice));
        }
        if game.k > 1.0 && !spec.top_k {
            return Err(unsupported("a top-k objective", "use atkro-m, atkro-k or atkro-1"));
        }
        domain.check(source.features(), loss.outputs())?;
        if !spec.trains && matches!(self.player, GroupPlayer::Fixed(_)) {
            return Err(unsupported("fixed group weights", "use smd-m, smd-1 or online-1"));
        }
        if self.subsets.is_some() && !spec.owns("subsets") {
            return Err(unsupported(
                "subsets",
                "only atkro-k draws several groups by their weights",
            ));
        }
        if self.adapts && !spec.may_adapt {
            return Err(unsupported("players that find their own steps", "use smd-m or adaptive"));
        }
        if (spec.adaptive || self.adapts) && (self.step_w != 1.0 || self.step_q != 1.0) {
            return Err(unsupported("a step", "its players find their own steps"));
        }
        let budgets = match budgets {
            Some(budgets) => budgets,
            None if spec.budgets.is_some() => {
                let advice = "give the number of samples n_i of every group";
                return Err(unsupported("a source without budgets", advice));
            }
            None => &[],
        };
        let m = game.groups();
        let parts = Parts { config: self, game, loss, source, domain };
        let (c, t) = (constants, self.rounds);
        match (self.algorithm, self.anytime) {
            (Algorithm::SmdM, _) if self.adapts => parts.adaptive(c),
            (Algorithm::SmdM, false) => parts.many(algorithm::smd_m(c, t)),
            (Algorithm::SmdM, true) => parts.many(algorithm::smd_m_anytime(c)),
            (Algorithm::SmdMSingle, _) => parts.many(algorithm::smd_m_single(c, t)),
            (Algorithm::Smd1, _) => parts.few(algorithm::smd_1(c, t)),
            (Algorithm::Online1, false) => parts.few(algorithm::online_1(c, t)),
            (Algorithm::Online1, true) => parts.few(algorithm::online_1_anytime(c)),
            (Algorithm::SmdR, _) if self.unweighted => {
                parts.plain(algorithm::smd_r_weighted(c, budgets, t)?)
            }
            (Algorithm::SmdR, _) => parts.plain(algorithm::smd_r(c, budgets, t)?),
            (Algorithm::SmdRWeighted, _) => parts.plain(algorithm::smd_r_weighted(c, budgets, t)?),
            (Algorithm::SmpaM, _) if self.unweighted => {
                parts.plain(algorithm::smpa_m_unweighted(c, budgets, t)?)
            }
            (Algorithm::SmpaM, _) => parts.plain(algorithm::smpa_m(c, budgets, t)?),
            (Algorithm::Hybrid, _) => {
                let nbar = self.nbar.unwrap_or(2 * t);
                parts.plain(match self.unweighted {
                    true => algorithm::hybrid_unweighted(c, budgets, nbar, t)?,
                    false => algorithm::hybrid(c, budgets, nbar, t)?,
                })
            }
            (Algorithm::AtkroM, false) => parts.many(algorithm::atkro_m(c, t)),
            (Algorithm::AtkroM, true) => parts.many(algorithm::atkro_m_anytime(c)),
            (Algorithm::AtkroK, _) => parts.few(algorithm::atkro_k(c, t)?),
            (Algorithm::Atkro1, _) => parts.few(algorithm::atkro_1(c)),
            (Algorithm::SmdReuse, _) => parts.plain(algorithm::smd_reuse(c, t)),
            (Algorithm::SmdClip, _) => parts.few(algorithm::smd_clip(c, t)),
            (Algorithm::Exp3P, _) => {
                let recipe = algorithm::exp3p(c, t);
                let share = (recipe.schedule.at(1).gamma * self.step_q).min(1.0);
                let (point, weights) = (parts.dense(), Mixed::new(Plain::new(m, 1.0)?, share)?);
                parts.solver(recipe, point, weights)
            }
            (Algorithm::Tinf, _) => {
                let (point, weights) = (parts.dense(), Ruled::new(m, Tsallis::new(m))?);
                parts.solver(algorithm::tinf(c), point, weights)
            }
            (Algorithm::Afl, _) => {
                let (point, weights) = (parts.dense(), Ruled::new(m, Euclidean::new(m))?);
                parts.solver(algorithm::afl(c, t), point, weights)
            }
            (Algorithm::Mero, _) => parts.plain(algorithm::mero(c)),
            (Algorithm::Flexible, _) => {
                let (point, weights) = (parts.dense(), Ruled::new(m, Leader::new(m))?);
                parts.solver(algorithm::flexible(c, &self.queries)?, point, weights)
            }
            (Algorithm::Eliminate, _) => {
                let kept = self.kept.unwrap_or_else(|| algorithm::default_kept(t, m));
                let outputs = parts.loss.outputs();
                let recipe = algorithm::eliminate(c, t, kept, outputs, self.delta)?;
                // It measures distances: O(d) whatever the form.
                let (point, weights) = (parts.dense(), Plain::new(m, 1.0)?);
                parts.solver(recipe, point, weights)
            }
            (Algorithm::Adaptive, _) => parts.adaptive(c),
        }
    }
}

/// A solver but for its recipe and its players.
struct Parts<'c, L, S, M> {
    config: &'c Config,
    game: Game,
    loss: L,
    source: S,
    domain: Domain<M>,
}

impl<'a, L, S, M> Parts<'_, L, S, M>
where
    L: Loss + Clone + 'a,
    S: Source + 'a,
    M: MirrorMap + Clone + 'a,
{
    fn dense(&self) -> Dense<M> {
        Dense::new(self.domain.clone(), self.source.features(), self.loss.outputs())
    }

    /// The point in the form that the configuration asks for. Mirror-prox copies points in every
    /// round: O(d) whatever the form.
    fn point<E>(&self, recipe: &Recipe<E>) -> AnyPoint<M> {
        let (features, outputs) = (self.source.features(), self.loss.outputs());
        let suits = recipe.rule == Rule::Descent;
        let lazy = suits && self.config.storage.lazy(features, self.source.stored());
        let lazy = lazy.then(|| Lazy::new(&self.domain, features, outputs)).flatten();
        lazy.map_or_else(|| AnyPoint::Dense(self.dense()), AnyPoint::Lazy)
    }

    /// The fixed weights, where the configuration has some.
    fn fixed(&self) -> Result<Option<AnyWeights>> {
        match &self.config.player {
            GroupPlayer::Adversary => Ok(None),
            GroupPlayer::Fixed(q) => Ok(Some(AnyWeights::Fixed(Fixed::new(q)?))),
        }
    }

    /// With the players of the paper, for algorithms that do not train for fixed weights.
    fn plain<E: Estimator + 'a>(self, recipe: Recipe<E>) -> Result<Box<dyn Solver + 'a>> {
        let (point, weights) = (self.point(&recipe), Plain::new(self.game.groups(), self.game.k)?);
        self.solver(recipe, point, weights)
    }

    /// With the players of the paper or fixed weights, where a round tells something of most groups.
    fn many<E: Estimator + 'a>(self, recipe: Recipe<E>) -> Result<Box<dyn Solver + 'a>> {
        let (point, (m, k)) = (self.point(&recipe), (self.game.groups(), self.game.k));
        let weights = match self.fixed()? {
            Some(weights) => weights,
            None => AnyWeights::plain(m, k, Subsets::default())?,
        };
        self.solver(recipe, point, weights)
    }

    /// With the players of the paper or fixed weights, where a round tells something of a few groups.
    fn few<E: Estimator + 'a>(self, recipe: Recipe<E>) -> Result<Box<dyn Solver + 'a>> {
        let (m, k) = (self.game.groups(), self.game.k);
        let subsets = self.config.subsets(m, k);
        let weights = match self.fixed()? {
            Some(weights) => weights,
            None if self.config.storage.tree(m, k) => AnyWeights::tree(m, k, subsets)?,
            None => AnyWeights::plain(m, k, subsets)?,
        };
        match (self.point(&recipe), weights) {
            // The fastest forms, without asking in every round which they are.
            (AnyPoint::Lazy(point), AnyWeights::Tree(weights)) => {
                self.solver(recipe, point, weights)
            }
            (point, weights) => self.solver(recipe, point, weights),
        }
    }

    /// With players that find their own steps.
    fn adaptive(self, constants: &Constants) -> Result<Box<dyn Solver + 'a>> {
        let (m, outputs) = (self.game.groups(), self.loss.outputs());
        let point = AdaGrad::new(self.domain.clone(), self.source.features(), outputs);
        let recipe = algorithm::adaptive(constants);
        match self.fixed()? {
            Some(weights) => self.solver(recipe, point, weights),
            None => self.solver(recipe, point, Ruled::new(m, AdaHedge::new(m))?),
        }
    }

    /// With these players.
    fn solver<E, I, Q>(
        self,
        recipe: Recipe<E>,
        point: I,
        weights: Q,
    ) -> Result<Box<dyn Solver + 'a>>
    where
        E: Estimator + 'a,
        I: Iterate + Clone + 'a,
        Q: GroupWeights + Clone + 'a,
    {
        let config = self.config;
        let average = config.average.unwrap_or(recipe.average);
        let recipe = recipe.scaled(config.step_w, config.step_q).averaged(average);
        let (game, loss, source, seed) = (self.game, self.loss, self.source, config.seed);
        Ok(Box::new(Saddle::new(game, loss, source, point, weights, recipe, seed)?))
    }
}
