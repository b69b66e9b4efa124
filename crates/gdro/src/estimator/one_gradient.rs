//! One sample from every group, one gradient from a group chosen by q.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;

/// One sample z⁽ⁱ⁾ from every distribution and i_t ~ q (label `eqn:stoch:grad:2`):
///
/// g_w = ∇ℓ(w; z^(i_t)), \[g_q\]_i = ℓ(w; z⁽ⁱ⁾). Unbiased. m samples, one gradient: cheaper than
/// [`super::EveryGroup`] where a gradient costs more than a loss, with more noise in g_w.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneGradient;

impl Estimator for OneGradient {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        let chosen = probe.draw(q);
        for i in 0..q.len() {
            let loss = probe.pull(i, if i == chosen { 1.0 } else { 0.0 })?;
            probe.credit(i, loss);
        }
        Ok(())
    }

    fn most_pulls(&self, groups: usize) -> usize {
        groups
    }
}
