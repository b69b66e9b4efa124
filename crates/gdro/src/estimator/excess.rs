//! One sample from every group, for the model and for the group's own model.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;

/// One sample z⁽ⁱ⁾ from every distribution (Zhang, Bai, Tu, Yang and Hu, arXiv 2306.00026):
///
/// g_w = Σ_i q_i ∇ℓ(w; z⁽ⁱ⁾), \[g_q\]_i = ℓ(w; z⁽ⁱ⁾) − ℓ(w̄⁽ⁱ⁾; z⁽ⁱ⁾),
///
/// where w̄⁽ⁱ⁾ is the average of a model that stochastic mirror descent trains for group i alone,
/// on the same samples. m samples.
///
/// g_w is unbiased for minimax regret max_i R_i(w) − R_i*; g_q is biased by −(R_i(w̄⁽ⁱ⁾) − R_i*),
/// which vanishes as the groups' own models converge. Both losses are of one sample, so that noise
/// that every model suffers from cancels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Excess;

impl Estimator for Excess {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        for i in 0..q.len() {
            let excess = probe.pull_excess(i, q.get(i))?;
            probe.credit(i, excess);
        }
        Ok(())
    }

    fn most_pulls(&self, groups: usize) -> usize {
        groups
    }
}
