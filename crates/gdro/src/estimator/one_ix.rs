//! One sample from a group chosen by q, with the IX loss estimator.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;
use crate::sampling::Rng;

/// i ~ q, z ~ P_i (labels `eqn:stoch:grad:2`, `eq:IX-loss-estimator`):
///
/// g_w = ∇ℓ(w; z), \[−g_q\]_i = s̃_i = (1 − ℓ(w; z))/(q_i + γ), 0 elsewhere. 1 sample.
///
/// g_w is unbiased; E s̃_i = (1 − R_i) q_i/(q_i + γ), the implicit-exploration bias.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneIx;

impl Estimator for OneIx {
    #[inline(always)]
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        let i = probe.draw(q);
        // The division need not wait for the loss.
        let inverse = 1.0 / (q.get(i) + probe.gamma());
        let loss = probe.pull(i, 1.0)?;
        let s = probe.shortfall(loss) * inverse;
        probe.credit(i, -s);
        Ok(())
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        1
    }

    fn lookahead<Q: GroupWeights>(&self, q: &Q, rng: &mut Rng, groups: &mut [usize]) -> bool {
        q.draw_all(rng, groups);
        true
    }
}
