//! Weights mixed with the uniform ones.

use super::GroupWeights;
use super::ruled::{choose, quantile};
use crate::error::{Result, require};
use crate::sampling::Rng;

/// (1 − γ) q + γ/m for the weights q of another player: a floor of γ/m under every weight, as
/// Exp3 and its kin need.
#[derive(Clone, Debug)]
pub struct Mixed<Q> {
    inner: Q,
    share: f64,
}

impl<Q: GroupWeights> Mixed<Q> {
    /// Mixes a share γ ∈ [0, 1] of uniform weights into those of `inner`.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] for a share outside of [0, 1].
    pub fn new(inner: Q, share: f64) -> Result<Self> {
        require((0.0..=1.0).contains(&share), "share", share, "in [0, 1]")?;
        Ok(Mixed { inner, share })
    }

    fn mix(&self, q: f64) -> f64 {
        (1.0 - self.share) * q + self.share / self.len() as f64
    }
}

impl<Q: GroupWeights> GroupWeights for Mixed<Q> {
    fn len(&self) -> usize {
        self.inner.len()
    }

    #[inline]
    fn get(&self, group: usize) -> f64 {
        self.mix(self.inner.get(group))
    }

    fn quantile(&self, u: f64) -> usize {
        quantile((0..self.len()).map(|i| self.get(i)), u)
    }

    fn choose(&self, k: usize, rng: &mut Rng, chosen: &mut Vec<usize>, scratch: &mut Vec<f64>) {
        choose((0..self.len()).map(|i| self.get(i)), k, rng, chosen, scratch);
    }

    fn step(&mut self, eta: f64, gains: &[(usize, f64)]) {
        self.inner.step(eta, gains);
    }

    fn jump_to(&mut self, other: &Self) {
        self.inner.jump_to(&other.inner);
    }

    fn accumulate(&mut self, weight: f64) {
        self.inner.accumulate(weight);
    }

    fn restart_average(&mut self) {
        self.inner.restart_average();
    }

    fn write(&self, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = self.get(i));
    }

    fn write_average(&self, out: &mut [f64]) -> f64 {
        let total = self.inner.write_average(out);
        out.iter_mut().for_each(|v| *v = self.mix(*v));
        total
    }

    fn save(&self) -> Vec<f64> {
        self.inner.save()
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        self.inner.restore(saved)
    }
}
