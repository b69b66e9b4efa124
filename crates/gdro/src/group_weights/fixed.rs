//! A q-player that never moves.

use super::ruled::choose;
use super::{GroupWeights, Plain};
use crate::error::{Error, Result, require};
use crate::sampling::Rng;

/// Fixed weights: Q is the single point q, and the game is ordinary training, Σ_i q_i R_i(w).
/// q_i = n_i/n gives empirical risk minimisation, q_i = 1/m its group-balanced form.
#[derive(Clone, Debug)]
pub struct Fixed {
    q: Vec<f64>,
    /// q_1 + … + q_i.
    ends: Vec<f64>,
    total: f64,
}

impl Fixed {
    /// Weights proportional to the given numbers.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless all are finite, none is negative and their sum is positive.
    pub fn new(weights: &[f64]) -> Result<Self> {
        for v in weights {
            require(*v >= 0.0 && v.is_finite(), "weight", v, "finite and at least 0")?;
        }
        let sum: f64 = weights.iter().sum();
        require(sum > 0.0 && sum.is_finite(), "sum of the weights", sum, "positive and finite")?;
        Ok(Fixed::normalised(weights.iter().map(|v| v / sum).collect()))
    }

    fn normalised(q: Vec<f64>) -> Self {
        let mut end = 0.0;
        let add = |q: &f64| {
            end += q;
            end
        };
        Fixed { ends: q.iter().map(add).collect(), q, total: 0.0 }
    }

    /// 1/m for every group.
    ///
    /// # Errors
    /// [`Error::Parameter`] when m = 0.
    pub fn uniform(m: usize) -> Result<Self> {
        Plain::new(m, 1.0).map(|plain| {
            let mut q = vec![0.0; m];
            plain.write(&mut q);
            Fixed::normalised(q)
        })
    }
}

impl GroupWeights for Fixed {
    fn len(&self) -> usize {
        self.q.len()
    }

    fn get(&self, group: usize) -> f64 {
        self.q[group]
    }

    /// O(log m).
    fn quantile(&self, u: f64) -> usize {
        let found = self.ends.partition_point(|end| *end <= u);
        // Rounding may leave a little beyond the last end: the last group with a weight has it.
        let last = || self.q.iter().rposition(|q| *q > 0.0).unwrap_or(0);
        if found < self.q.len() { found } else { last() }
    }

    fn choose(&self, k: usize, rng: &mut Rng, chosen: &mut Vec<usize>, scratch: &mut Vec<f64>) {
        choose(self.q.iter().copied(), k, rng, chosen, scratch);
    }

    fn step(&mut self, _eta: f64, _gains: &[(usize, f64)]) {}

    fn jump_to(&mut self, _other: &Self) {}

    fn accumulate(&mut self, weight: f64) {
        self.total += weight;
    }

    fn restart_average(&mut self) {
        self.total = 0.0;
    }

    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.q);
    }

    fn write_average(&self, out: &mut [f64]) -> f64 {
        self.write(out);
        self.total
    }

    fn save(&self) -> Vec<f64> {
        vec![self.total]
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        match saved {
            [total] => self.total = *total,
            _ => return Err(Error::State("fixed weights remember one number".into())),
        }
        Ok(())
    }
}
