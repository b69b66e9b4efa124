//! One sample from a group chosen uniformly.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;

/// i uniform on the groups, z ~ P_i (label `eqn:stoch:grad:3`; Sagawa et al. 2020):
///
/// g_w = m q_i ∇ℓ(w; z), \[g_q\]_i = m ℓ(w; z), 0 elsewhere. Unbiased, with entries m times as
/// large as those of [`super::EveryGroup`]. 1 sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformOne;

impl Estimator for UniformOne {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        let m = q.len() as f64;
        let at = |place: f64| (place * m) as usize;
        let i = probe.choose(at, |group, place| at(place) == group);
        let loss = probe.pull(i, m * q.get(i))?;
        probe.credit(i, m * loss);
        probe.foresee_choices(|places, groups| {
            groups.iter_mut().zip(places).for_each(|(group, place)| *group = at(*place));
        });
        Ok(())
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        1
    }
}
