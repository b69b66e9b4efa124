//! One set of samples for the group weights, used for m rounds.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;

/// Haghtalab, Jordan and Zhao (2022) as the paper describes them (label `eqn:gradient:wrong`): in
/// rounds τ = 1, m + 1, 2m + 1, … one sample z_τ⁽ⁱ⁾ from every distribution is drawn and kept for m
/// rounds,
///
/// i ~ q, z ~ P_i: g_w = ∇ℓ(w; z); \[g_q\]_i = ℓ(w; z_τ⁽ⁱ⁾).
///
/// 2 samples per round on average. g_w is unbiased; g_q is only in the rounds τ and τ + 1, since
/// later models depend on the kept samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reuse;

impl Estimator for Reuse {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        if (probe.round() - 1).is_multiple_of(q.len() as u64) {
            probe.release();
            (0..q.len()).try_for_each(|i| probe.keep(i))?;
        }
        let i = probe.draw(q);
        probe.pull(i, 1.0)?;
        for i in 0..q.len() {
            let loss = probe.kept(i)?;
            probe.credit(i, loss);
        }
        Ok(())
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        1
    }
}
