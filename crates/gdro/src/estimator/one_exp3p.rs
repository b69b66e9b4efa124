//! One sample from a group chosen by q, with the gain estimator of Exp3.P.

use super::{Estimator, Probe};
use crate::error::Result;
use crate::group_weights::GroupWeights;

/// i ~ q, z ~ P_i (Soma, Gatmiry, Gupta and Jegelka, arXiv 2212.13669; Bubeck and Cesa-Bianchi, DOI
/// 10.1561/2200000024, § 3.2):
///
/// g_w = ∇ℓ(w; z), \[g_q\]_j = (ℓ(w; z)·𝟙\[j = i\] + β)/q_j for every j, with losses scaled to
/// [0, 1]. 1 sample, O(m) work.
///
/// g_w is unbiased; E\[g_q\]_j = R_j + β/q_j: an upper confidence bound on the sum of the losses
/// with high probability. The weights must have a floor ([`crate::group_weights::Mixed`]).
#[derive(Clone, Copy, Debug)]
pub struct OneExp3P {
    beta: f64,
}

impl OneExp3P {
    /// The estimator with the bias β ≥ 0.
    pub fn new(beta: f64) -> Self {
        OneExp3P { beta }
    }
}

impl Estimator for OneExp3P {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        let chosen = probe.draw(q);
        let loss = probe.pull(chosen, 1.0)?;
        let gain = 1.0 - probe.shortfall(loss);
        for i in 0..q.len() {
            let seen = if i == chosen { gain } else { 0.0 };
            probe.credit(i, (seen + self.beta) / q.get(i));
        }
        Ok(())
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        1
    }
}
