//! A mini-batch from every group.

use super::{Estimator, Probe};
use crate::error::{Result, require};
use crate::group_weights::GroupWeights;

/// n_i/n_m samples from every group, scaled by p_i (labels `eqn:stoch:grad:6`,
/// `eqn:stoch:grad:7`):
///
/// g_w = Σ_i q_i p_i · mean_j ∇ℓ(w; z⁽ⁱʲ⁾), \[g_q\]_i = p_i · mean_j ℓ(w; z⁽ⁱʲ⁾).
///
/// Unbiased for the weighted game Σ q_i p_i R_i. n_i/n_m is rounded down when it is not an integer;
/// [`MiniBatch::unused`] says what that leaves of each budget.
#[derive(Clone, Debug)]
pub struct MiniBatch {
    batches: Vec<u64>,
    scales: Vec<f64>,
}

impl MiniBatch {
    /// Batches of ⌊n_i/n_m⌋ with n_m = min_j n_j, and the scale factors of label `eqn:pi:mirror`,
    /// p_i = (1/√n_m + 1)/(1/√n_m + √(n_m/n_i)).
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless all budgets are at least 1.
    pub fn new(budgets: &[u64]) -> Result<Self> {
        let smallest = budgets.iter().copied().min().unwrap_or(0);
        require(smallest >= 1, "budget", smallest, "at least 1")?;
        Ok(MiniBatch {
            batches: budgets.iter().map(|n| n / smallest).collect(),
            scales: budgets.iter().map(|n| scale(smallest, *n)).collect(),
        })
    }

    /// The same with p_i = 1: unbiased for the game itself.
    pub fn unweighted(mut self) -> Self {
        self.scales.fill(1.0);
        self
    }

    /// The batch of each group.
    pub fn batches(&self) -> &[u64] {
        &self.batches
    }

    /// The scale factors p_i.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// What `rounds` rounds of two batches each leave unused of each budget.
    pub fn unused(&self, budgets: &[u64], rounds: u64) -> Vec<u64> {
        let left = |(n, batch): (&u64, &u64)| n.saturating_sub(2 * rounds * batch);
        budgets.iter().zip(&self.batches).map(left).collect()
    }
}

impl Estimator for MiniBatch {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        for (i, (batch, scale)) in self.batches.iter().zip(&self.scales).enumerate() {
            pull_batch(probe, i, q.get(i), *batch, *scale)?;
        }
        Ok(())
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        self.batches.iter().sum::<u64>() as usize
    }
}

/// The scale factor p_i of label `eqn:pi:mirror` for n_i samples and n_m rounds' worth of draws.
pub(super) fn scale(n_m: u64, n_i: u64) -> f64 {
    let inverse = 1.0 / (n_m as f64).sqrt();
    (inverse + 1.0) / (inverse + (n_m as f64 / n_i as f64).sqrt())
}

/// Pulls a batch from a group of weight q_i and credits its mean, both scaled.
pub(super) fn pull_batch(
    probe: &mut impl Probe,
    group: usize,
    weight: f64,
    batch: u64,
    scale: f64,
) -> Result<()> {
    let share = scale / batch as f64;
    let mut sum = 0.0;
    for _ in 0..batch {
        sum += probe.pull(group, weight * share)?;
    }
    probe.credit(group, share * sum);
    Ok(())
}
