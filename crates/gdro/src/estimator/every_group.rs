//! One sample from every group.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;

/// One sample z⁽ⁱ⁾ from every distribution (label `eqn:stoch:grad:1`):
///
/// g_w = Σ_i q_i ∇ℓ(w; z⁽ⁱ⁾), \[g_q\]_i = ℓ(w; z⁽ⁱ⁾). Unbiased. m samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct EveryGroup;

impl Estimator for EveryGroup {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        let m = q.len();
        for i in 0..m {
            probe.foresee(|k| Some((i + k) % m));
            let loss = probe.pull(i, q.get(i))?;
            probe.credit(i, loss);
        }
        Ok(())
    }

    fn most_pulls(&self, groups: usize) -> usize {
        groups
    }
}
