//! One sample from every group.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;
use crate::sampling::Rng;

/// One sample z⁽ⁱ⁾ from every distribution (label `eqn:stoch:grad:1`):
///
/// g_w = Σ_i q_i ∇ℓ(w; z⁽ⁱ⁾), \[g_q\]_i = ℓ(w; z⁽ⁱ⁾). Unbiased. m samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct EveryGroup;

impl Estimator for EveryGroup {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        for i in 0..q.len() {
            let loss = probe.pull(i, q.get(i))?;
            probe.credit(i, loss);
        }
        Ok(())
    }

    fn most_pulls(&self, groups: usize) -> usize {
        groups
    }

    fn lookahead<Q: GroupWeights>(&self, q: &Q, _rng: &mut Rng, groups: &mut [usize]) -> bool {
        for round in groups.chunks_mut(q.len()) {
            round.iter_mut().enumerate().for_each(|(i, group)| *group = i);
        }
        true
    }
}
