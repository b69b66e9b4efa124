//! One sample from a group chosen uniformly.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;
use crate::sampling::{Rng, unit};

/// i uniform on the groups, z ~ P_i (label `eqn:stoch:grad:3`; Sagawa et al. 2020):
///
/// g_w = m q_i ∇ℓ(w; z), \[g_q\]_i = m ℓ(w; z), 0 elsewhere. Unbiased, with entries m times as
/// large as those of [`super::EveryGroup`]. 1 sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformOne;

/// A group uniform on m.
fn draw(m: f64, rng: &mut Rng) -> usize {
    (unit(rng) * m) as usize
}

impl Estimator for UniformOne {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        let m = q.len() as f64;
        let i = draw(m, probe.rng());
        let loss = probe.pull(i, m * q.get(i))?;
        probe.credit(i, m * loss);
        Ok(())
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        1
    }

    fn lookahead<Q: GroupWeights>(&self, q: &Q, rng: &mut Rng, groups: &mut [usize]) -> bool {
        groups.fill_with(|| draw(q.len() as f64, rng));
        true
    }
}
