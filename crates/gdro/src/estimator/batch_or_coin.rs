//! A mini-batch from groups with many samples, a coin flip for the others.

use super::mini_batch::{pull_batch, scale};
use super::{Estimator, Probe};
use crate::error::{Result, require};
use crate::group_weights::GroupWeights;
use crate::sampling::unit;

/// The mixture of [`super::MiniBatch`] and [`super::Bernoulli`] for n̄ rounds' worth of draws
/// (label `remark:best-of-both-world`):
///
/// - n_i ≥ n̄: ⌊n_i/n̄⌋ samples, averaged, and scaled by p_i of label `eqn:pi:mirror` with n̄ in
///   the place of n_m;
/// - n_i < n̄: one sample with probability n_i/n̄, without importance weight.
///
/// Unbiased for the weighted game Σ q_i p_i R_i, where p_i = n_i/n̄ for the groups of the second
/// kind. A group whose budget is used up is not drawn any more.
#[derive(Clone, Debug)]
pub struct BatchOrCoin {
    /// Samples per draw; 0 for a coin flip.
    batches: Vec<u64>,
    /// Probabilities of the coin flips.
    coins: Vec<f64>,
    scales: Vec<f64>,
}

impl BatchOrCoin {
    /// Batches and probabilities for the budgets n_i and n̄.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless all budgets are at least 1 and n̄ lies between the
    /// smallest and the largest of them.
    pub fn new(budgets: &[u64], nbar: u64) -> Result<Self> {
        let least = budgets.iter().copied().min().unwrap_or(0);
        let most = budgets.iter().copied().max().unwrap_or(0);
        require(least >= 1, "budget", least, "at least 1")?;
        let inside = (least..=most).contains(&nbar);
        require(inside, "nbar", nbar, "between the smallest and the largest budget")?;
        let scale = |n: &u64| if *n >= nbar { scale(nbar, *n) } else { *n as f64 / nbar as f64 };
        Ok(BatchOrCoin {
            batches: budgets.iter().map(|budget| budget / nbar).collect(),
            coins: budgets.iter().map(|n| (*n as f64 / nbar as f64).min(1.0)).collect(),
            scales: budgets.iter().map(scale).collect(),
        })
    }

    /// The same with p_i = 1, by importance weights n̄/n_i on coin flips: unbiased for the game
    /// itself while budgets last.
    pub fn unweighted(mut self) -> Self {
        self.scales.fill(1.0);
        self
    }

    /// Samples per draw on average.
    pub(crate) fn shares(&self) -> impl Iterator<Item = f64> {
        let share = |(batch, coin): (&u64, &f64)| if *batch == 0 { *coin } else { *batch as f64 };
        self.batches.iter().zip(&self.coins).map(share)
    }

    /// The batch of each group; 0 for those that are drawn by a coin flip.
    pub fn batches(&self) -> &[u64] {
        &self.batches
    }

    /// The scale factors p_i of the weighted game.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }
}

impl Estimator for BatchOrCoin {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        for (i, (batch, scale)) in self.batches.iter().zip(&self.scales).enumerate() {
            if *batch == 0 {
                let coin = self.coins[i];
                if unit(probe.rng()) < coin && !probe.exhausted(i) {
                    // 1 in the weighted game.
                    let factor = scale / coin;
                    let loss = probe.pull(i, factor * q.get(i))?;
                    probe.credit(i, factor * loss);
                }
            } else {
                pull_batch(probe, i, q.get(i), *batch, *scale)?;
            }
        }
        Ok(())
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        self.batches.iter().map(|batch| (*batch).max(1)).sum::<u64>() as usize
    }
}
