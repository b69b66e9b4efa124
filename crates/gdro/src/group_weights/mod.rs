//! The q-player: weights on the groups.

mod ada_hedge;
mod any;
mod capped;
mod euclidean;
mod fixed;
mod leader;
mod mixed;
mod plain;
mod ruled;
mod subsets;
mod tree;
mod tsallis;

pub use ada_hedge::AdaHedge;
pub use any::Entropic;
pub use capped::project_capped_simplex;
pub use euclidean::Euclidean;
pub use fixed::Fixed;
pub use leader::Leader;
pub use mixed::Mixed;
pub use plain::Plain;
pub use ruled::{Ruled, Update};
pub use subsets::Subsets;
pub use tree::{CappedTree, Tree};
pub use tsallis::Tsallis;

use crate::error::Result;
use crate::sampling::{Rng, unit};

/// A point q of the simplex, or of the capped simplex {q : 0 ≤ q_i ≤ 1/k, Σ q_i = 1}, with the
/// negative entropy as distance-generating function, and its running average.
///
/// Algorithms see this trait and never a slice, so that the cost of a round is the
/// implementation's own affair.
pub trait GroupWeights {
    /// Number of groups m.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The weight q_i.
    fn get(&self, group: usize) -> f64;

    /// The group at a place in [0, 1) when they lie side by side in order, each as long as its
    /// weight: the inverse distribution function of q. Never a group of weight 0.
    fn at(&self, place: f64) -> usize;

    /// Whether this group is at a place. Cheaper than [`GroupWeights::at`] where the weights can
    /// tell without a search. A yes is always right; a no may be wrong where rounding decides.
    #[inline]
    fn is_at(&self, group: usize, place: f64) -> bool {
        self.at(place) == group
    }

    /// [`GroupWeights::at`] for many places, which are used up.
    #[inline]
    fn at_all(&self, places: &mut [f64], groups: &mut [usize]) {
        groups.iter_mut().zip(places).for_each(|(group, place)| *group = self.at(*place));
    }

    /// Draws a group i with probability q_i.
    #[inline]
    fn draw(&self, rng: &mut Rng) -> usize {
        self.at(unit(rng))
    }

    /// Draws a set of k groups such that group i is in it with probability k·q_i, which must not
    /// exceed 1. The set replaces the content of `chosen`; `scratch` is memory to work in.
    fn choose(&self, k: usize, rng: &mut Rng, chosen: &mut Vec<usize>, scratch: &mut Vec<f64>);

    /// One step of mirror ascent, q ← argmax_p η⟨g, p⟩ − B(p, q), where g has the given entries
    /// and is 0 elsewhere (labels `eqn:upate:qt:1`, `eqn:upate:qt:ATk:1`). A group may occur
    /// several times: its gains add up. The gains must be finite.
    fn step(&mut self, eta: f64, gains: &[(usize, f64)]);

    /// Moves to the point of `other`; the average stays.
    fn jump_to(&mut self, other: &Self);

    /// Adds the present point to the average with this weight.
    fn accumulate(&mut self, weight: f64);

    /// Forgets the average.
    fn restart_average(&mut self);

    /// Writes q.
    fn write(&self, out: &mut [f64]);

    /// Writes the average, and returns the weight it rests on. The present point and 0 when
    /// nothing has been accumulated.
    fn write_average(&self, out: &mut [f64]) -> f64;

    /// Point and average as numbers, for checkpoints.
    fn save(&self) -> Vec<f64>;

    /// Takes over what [`GroupWeights::save`] gave.
    ///
    /// # Errors
    /// [`crate::Error::State`] when the numbers are not those of such weights.
    fn restore(&mut self, saved: &[f64]) -> Result<()>;
}

/// The effective number of groups, exp(entropy of q) = exp(−Σ q_i ln q_i): m for uniform weights,
/// 1 when one group has all.
pub fn effective_groups(q: &[f64]) -> f64 {
    let entropy: f64 = q.iter().filter(|v| **v > 0.0).map(|v| -v * v.ln()).sum();
    entropy.exp()
}
