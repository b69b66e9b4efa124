//! Coin flips: Example 1 of the paper.

use super::{Handle, Source};
use crate::dataset::Sample;
use crate::error::{Result, require};
use crate::row::Row;
use crate::sampling::{Rng, unit};

/// Bernoulli distributions: the feature is the constant 1, the target is 1 with probability μ_i and
/// 0 otherwise (label `example:GDRO&ATk`). With the squared loss R_i(w) = w² − 2μ_i w + μ_i.
#[derive(Clone, Debug)]
pub struct Coins {
    means: Vec<f64>,
}

const ONE: [f64; 1] = [1.0];

impl Coins {
    /// Coins with the means μ_1, …, μ_m.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless there is a mean and all lie in [0, 1].
    pub fn new(means: Vec<f64>) -> Result<Self> {
        require(!means.is_empty(), "number of means", 0, "at least 1")?;
        for mean in &means {
            require((0.0..=1.0).contains(mean), "mean", mean, "in [0, 1]")?;
        }
        Ok(Coins { means })
    }

    /// The 16 coins of Example 1: 0.5, 0.86, 0.87, …, 1. On W = [0, 1] the optimum is 0.5 with
    /// L_max = 0.25, and that of AT_5RO is 0.8 with L_5 = 0.16.
    pub fn example_1() -> Self {
        let means = std::iter::once(0.5).chain((86..=100).map(|c| f64::from(c) / 100.0)).collect();
        Coins { means }
    }

    /// The means μ_i.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The exact risk R_i(w) = w² − 2μ_i w + μ_i under the squared loss.
    pub fn risk(&self, group: usize, w: f64) -> f64 {
        let mean = self.means[group];
        w * w - 2.0 * mean * w + mean
    }
}

impl Source for Coins {
    fn groups(&self) -> usize {
        self.means.len()
    }

    fn features(&self) -> usize {
        1
    }

    fn draw(&mut self, group: usize, rng: &mut Rng) -> Result<Handle> {
        Ok(Handle(usize::from(unit(rng) < self.means[group])))
    }

    fn get(&self, handle: Handle) -> Sample<'_> {
        Sample { x: Row::Dense(&ONE), y: handle.0 as f64 }
    }
}
