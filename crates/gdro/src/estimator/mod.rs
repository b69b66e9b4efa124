//! What a round draws, and what it tells each player.
//!
//! An [`Estimator`] sees the group weights and a [`Probe`], and nothing else: it cannot touch the
//! model, the data or the steps. So each one reads like the equation of the paper that it is.

mod bernoulli;
mod dep_round_ix;
mod every_group;
mod mini_batch;
mod one_ix;
mod uniform_one;

pub use bernoulli::Bernoulli;
pub use dep_round_ix::DepRoundIx;
pub use every_group::EveryGroup;
pub use mini_batch::MiniBatch;
pub use one_ix::OneIx;
pub use uniform_one::UniformOne;

use crate::error::Result;
use crate::group_weights::GroupWeights;
use crate::sampling::Rng;

/// All that an estimator may do in a round.
///
/// Losses appear here as payoffs p_i(ℓ − b_i) of the [`crate::game::Game`]: plain losses when
/// scales are 1 and offsets 0, as in the paper.
pub trait Probe {
    /// Draws a sample z ~ P_i, adds c·p_i·∇ℓ(w; z) to g_w and returns the payoff p_i(ℓ(w; z) − b_i).
    ///
    /// # Errors
    /// When the source has no sample, when a user's loss or source fails, and when the loss is
    /// not finite.
    fn pull(&mut self, group: usize, c: f64) -> Result<f64>;

    /// Adds `gain` to \[g_q\]_i.
    fn credit(&mut self, group: usize, gain: f64);

    /// The "1 − ℓ" of the bandit players: (U − payoff)/(U − L₀), where payoffs lie in [L₀, U].
    /// Clipped to [0, 1]; clips are counted.
    fn shortfall(&mut self, payoff: f64) -> f64;

    /// The IX coefficient γ of this round.
    fn gamma(&self) -> f64;

    /// Whether group i has no sample left.
    fn exhausted(&self, group: usize) -> bool;

    /// The stream for choices of groups.
    fn rng(&mut self) -> &mut Rng;
}

/// Estimates of ∇_w φ and ∇_q φ from samples.
pub trait Estimator {
    /// Draws what the round needs and tells it to the players through `probe`.
    ///
    /// # Errors
    /// Those of [`Probe::pull`].
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()>;

    /// The most samples that one call may draw, with m groups.
    fn most_pulls(&self, groups: usize) -> usize;
}
