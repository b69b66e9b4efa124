//! One sample from each of k groups chosen with marginals k q, with the IX loss estimator.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;

/// I = DepRound(k, q), one sample from each i ∈ I (labels `eqn:ATk:grad:w`,
/// `eq:IX-loss-estimator-2`):
///
/// g_w = (1/k) Σ_{i ∈ I} ∇ℓ(w; z⁽ⁱ⁾), \[−g_q\]_i = s̃_i = (1 − ℓ(w; z⁽ⁱ⁾))/(k q_i + γ) for i ∈ I,
/// 0 elsewhere. k samples.
///
/// g_w is unbiased; E s̃_i = (1 − R_i) k q_i/(k q_i + γ). Both need the marginals
/// Pr\[i ∈ I\] = k q_i alone, which systematic sampling has as well
/// ([`crate::group_weights::Subsets`]).
#[derive(Clone, Debug)]
pub struct DepRoundIx {
    k: usize,
    chosen: Vec<usize>,
    scratch: Vec<f64>,
}

impl DepRoundIx {
    /// k groups per round out of m.
    pub fn new(k: usize, groups: usize) -> Self {
        DepRoundIx { k, chosen: Vec::with_capacity(groups), scratch: Vec::with_capacity(groups) }
    }
}

impl Estimator for DepRoundIx {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        let k = self.k as f64;
        q.choose(self.k, probe.rng(), &mut self.chosen, &mut self.scratch);
        probe.pull_each(&self.chosen, 1.0 / k, |probe, i, loss| {
            let s = probe.shortfall(loss) / (k * q.get(i) + probe.gamma());
            probe.credit(i, -s);
        })
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        self.k
    }
}
