//! What a round draws, and what it tells each player.
//!
//! An [`Estimator`] sees the group weights and a [`Probe`], and nothing else: it cannot touch the
//! model, the data or the steps. So each one reads like the equation of the paper that it is.

mod batch_or_coin;
mod bernoulli;
mod clipped_uniform;
mod dep_round_ix;
mod dominant_ix;
mod every_group;
mod excess;
mod limited_advice;
mod mini_batch;
mod one_exp3p;
mod one_gradient;
mod one_ix;
mod reuse;
mod uniform_one;

pub use batch_or_coin::BatchOrCoin;
pub use bernoulli::Bernoulli;
pub use clipped_uniform::ClippedUniform;
pub use dep_round_ix::DepRoundIx;
pub use dominant_ix::DominantIx;
pub use every_group::EveryGroup;
pub use excess::Excess;
pub use limited_advice::LimitedAdvice;
pub use mini_batch::MiniBatch;
pub use one_exp3p::OneExp3P;
pub use one_gradient::OneGradient;
pub use one_ix::OneIx;
pub use reuse::Reuse;
pub use uniform_one::UniformOne;

use crate::error::{Error, Result};
use crate::group_weights::GroupWeights;
use crate::sampling::Rng;

/// All that an estimator may do in a round.
///
/// Losses appear here as payoffs p_i(ℓ − b_i) of the [`crate::game::Game`]: plain losses when
/// scales are 1 and offsets 0, as in the paper.
pub trait Probe {
    /// Draws a sample z ~ P_i, adds c·p_i·∇ℓ(w; z) to g_w and returns the payoff p_i(ℓ(w; z) −
    /// b_i).
    ///
    /// # Errors
    /// When the source has no sample, when a user's loss or source fails, and when the loss is
    /// not finite.
    fn pull(&mut self, group: usize, c: f64) -> Result<f64>;

    /// Pulls from several groups in order, with the same c; `each` is given every group with its
    /// payoff.
    ///
    /// # Errors
    /// As [`Probe::pull`].
    fn pull_each(
        &mut self,
        groups: &[usize],
        c: f64,
        mut each: impl FnMut(&mut Self, usize, f64),
    ) -> Result<()> {
        for &group in groups {
            let payoff = self.pull(group, c)?;
            each(self, group, payoff);
        }
        Ok(())
    }

    /// Draws a group i ~ q by the stream for choices of groups.
    fn draw(&mut self, q: &impl GroupWeights) -> usize {
        q.draw(self.rng())
    }

    /// Adds `gain` to \[g_q\]_i.
    fn credit(&mut self, group: usize, gain: f64);

    /// The "1 − ℓ" of the bandit players: (U − payoff)/(U − L₀), where payoffs lie in [L₀, U].
    /// Clipped to [0, 1]; clips are counted.
    fn shortfall(&mut self, payoff: f64) -> f64;

    /// As [`Probe::pull`], but returns p_i(ℓ(w; z) − ℓ(w̄⁽ⁱ⁾; z)), in which no offset is left, where w̄⁽ⁱ⁾ is the average of
    /// the group's own model, and lets that model take its step on the same sample.
    ///
    /// # Errors
    /// As [`Probe::pull`].
    fn pull_excess(&mut self, group: usize, c: f64) -> Result<f64>;

    /// Draws a sample z ~ P_i and keeps it for later rounds, in the next slot: 0, 1, …. Before the
    /// first [`Probe::pull`] of the round.
    ///
    /// # Errors
    /// When the source has no sample.
    fn keep(&mut self, group: usize) -> Result<()>;

    /// The payoff p_i(ℓ(w; z) − b_i) of the kept sample z in a slot, at the present model.
    ///
    /// # Errors
    /// As [`Probe::pull`]; [`Error::State`] when nothing is kept in the slot.
    fn kept(&mut self, slot: usize) -> Result<f64>;

    /// Forgets all kept samples.
    fn release(&mut self);

    /// Adds `by` to the logarithm of the weight of group i, whatever the step.
    fn shift(&mut self, group: usize, by: f64);

    /// Remembers the present model for [`Probe::moved`].
    fn mark(&mut self);

    /// The Euclidean distance of the present model from the marked one; infinite when none is
    /// marked.
    fn moved(&self) -> f64;

    /// The number of this round, from 1.
    fn round(&self) -> u64;

    /// The IX coefficient γ of this round.
    fn gamma(&self) -> f64;

    /// The step η_q of this round.
    fn eta_q(&self) -> f64;

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

    /// The most samples that one call may pull, with m groups.
    fn most_pulls(&self, groups: usize) -> usize;

    /// Lookahead: writes the groups that the next pulls will probably ask for, and returns whether
    /// it did; not by default. `groups` has room for some rounds of [`Estimator::most_pulls`] pulls
    /// each, in order (for the beginning of one where they are many), so that this is for estimators
    /// with that many pulls in every round. `rng` is a copy of the stream of [`Probe::rng`], from
    /// which each round should take what [`Estimator::estimate`] takes. The weights will have moved
    /// by then: a wrong guess costs time and nothing else.
    fn lookahead<Q: GroupWeights>(&self, _q: &Q, _rng: &mut Rng, _groups: &mut [usize]) -> bool {
        false
    }

    /// What the estimator must remember to go on from a checkpoint, as numbers.
    fn save(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Takes over what [`Estimator::save`] gave.
    ///
    /// # Errors
    /// [`Error::State`] when the numbers are not those of such an estimator.
    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        match saved {
            [] => Ok(()),
            _ => Err(Error::State("an estimator without memory was given one".into())),
        }
    }
}
