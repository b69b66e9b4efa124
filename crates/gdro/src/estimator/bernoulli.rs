//! One sample from each group with its own probability.

use super::{Estimator, Probe};
use crate::error::{Result, require};
use crate::group_weights::GroupWeights;
use crate::sampling::unit;

/// Each group i with probability p_i = n_i/n_1, one sample if so (label `eqn:stoch:grad:5`):
///
/// g_w = Σ_{i ∈ C} q_i ∇ℓ(w; z⁽ⁱ⁾), \[g_q\]_i = ℓ(w; z⁽ⁱ⁾) for i ∈ C and 0 elsewhere.
///
/// Unbiased for the weighted game Σ q_i p_i R_i while budgets last. Σ p_i samples on average. A
/// group whose budget is used up is not drawn any more: the budget holds exactly, not only in
/// expectation, and from there on the group's estimates are 0.
///
/// With importance weights (label `eqn:stoch:grad:4`) both are divided by p_i: unbiased for the
/// game itself, with entries up to n_1/n_m times as large.
#[derive(Clone, Debug)]
pub struct Bernoulli {
    probabilities: Vec<f64>,
    /// 1, or 1/p_i.
    factors: Vec<f64>,
}

impl Bernoulli {
    /// Probabilities p_i = n_i / max_j n_j from the budgets n_i.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless all budgets are at least 1.
    pub fn new(budgets: &[u64]) -> Result<Self> {
        let largest = budgets.iter().copied().max().unwrap_or(0);
        let smallest = budgets.iter().copied().min().unwrap_or(0);
        require(smallest >= 1, "budget", smallest, "at least 1")?;
        let probabilities = budgets.iter().map(|n| *n as f64 / largest as f64).collect();
        Ok(Bernoulli { probabilities, factors: vec![1.0; budgets.len()] })
    }

    /// The same with importance weights 1/p_i.
    pub fn importance_weighted(mut self) -> Self {
        self.factors = self.probabilities.iter().map(|p| 1.0 / p).collect();
        self
    }

    /// The probabilities p_i.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }
}

impl Estimator for Bernoulli {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        for (i, (p, factor)) in self.probabilities.iter().zip(&self.factors).enumerate() {
            if unit(probe.rng()) < *p && !probe.exhausted(i) {
                let loss = probe.pull(i, factor * q.get(i))?;
                probe.credit(i, factor * loss);
            }
        }
        Ok(())
    }

    fn most_pulls(&self, groups: usize) -> usize {
        groups
    }
}
