//! One gradient from a group chosen by q, one clipped loss from a group chosen uniformly.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;
use crate::sampling::below;

/// i ~ q, z ~ P_i and j uniform, z' ~ P_j (Carmon and Hausler, NeurIPS 2022, arXiv 2203.13225):
///
/// g_w = ∇ℓ(w; z), \[g_q\]_j = min(m ℓ(w; z'), 1/η_q), 0 elsewhere. 2 samples.
///
/// g_w is unbiased; the clipping of g_q keeps η_q g_q ≤ 1, so that the second moment Σ q_j g_j² ≤ m
/// M² in the norm of the entropy, and not the largest entry m M, decides the regret. The price is a
/// bias towards 0 where ℓ > 1/(m η_q). That the clip sits at 1/η_q is our choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClippedUniform;

impl Estimator for ClippedUniform {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        let i = probe.draw(q);
        probe.pull(i, 1.0)?;
        let j = below(probe.rng(), q.len());
        let gain = q.len() as f64 * probe.pull(j, 0.0)?;
        probe.credit(j, gain.min(1.0 / probe.eta_q()));
        Ok(())
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        2
    }
}
