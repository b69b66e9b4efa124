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
pub use any::AnyWeights;
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

    /// The quantile function of q, the group as a number: the least group i with q_1 + … + q_i > u,
    /// for u in [0, 1). Never a group of weight 0.
    fn quantile(&self, u: f64) -> usize;

    /// Whether the quantile of u is this group: q_1 + … + q_{i−1} ≤ u < q_1 + … + q_i. A yes is always
    /// right; a no may be wrong where rounding decides.
    #[inline]
    fn contains(&self, group: usize, u: f64) -> bool {
        self.quantile(u) == group
    }

    /// Draws a group i with probability q_i: the quantile of a number uniform on [0, 1).
    #[inline]
    fn draw(&self, rng: &mut Rng) -> usize {
        self.quantile(unit(rng))
    }

    /// Draws several groups, one after the other, as [`GroupWeights::draw`] does.
    #[inline]
    fn draw_all(&self, rng: &mut Rng, groups: &mut [usize]) {
        groups.fill_with(|| self.draw(rng));
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
