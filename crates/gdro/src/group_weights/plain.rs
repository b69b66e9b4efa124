//! Weights as plain arrays: obviously right, O(m) per round.

use super::GroupWeights;
use super::capped::project_log;
use super::ruled::choose;
use super::subsets::Subsets;
use crate::average::RunningMean;
use crate::error::{Error, Result, require};
use crate::math::quick_exp;
use crate::sampling::{Rng, systematic};

/// Logarithms and steps beyond this are cut off: far outside of what a weight can express, far
/// inside of what a number can hold.
const LOG_LIMIT: f64 = 1e300;

/// Weights on the simplex (k = 1) or on the capped simplex {q_i ≤ 1/k}, as logarithms.
///
/// The logarithms are the state: a group whose weight underflows to 0 still has its logarithm and
/// comes back when its gains do. After a step that concerns all groups the largest logarithm is 0,
/// so that equal gains keep equal weights exactly uniform.
#[derive(Clone, Debug)]
pub struct Plain {
    k: f64,
    /// ln q_i up to a common constant.
    logs: Vec<f64>,
    /// e^{logs_i}, proportional to q_i.
    masses: Vec<f64>,
    /// Σ_{j ≤ i} masses_j.
    ends: Vec<f64>,
    /// 1 / Σ masses.
    scale: f64,
    mean: RunningMean,
    order: Vec<usize>,
    subsets: Subsets,
}

impl Plain {
    /// Uniform weights on m groups, with the cap 1/k.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless m ≥ 1 and 1 ≤ k ≤ m.
    pub fn new(m: usize, k: f64) -> Result<Self> {
        require(m >= 1, "number of groups", m, "at least 1")?;
        require(k >= 1.0 && k <= m as f64, "k", k, "1 ≤ k ≤ m")?;
        Ok(Plain {
            k,
            logs: vec![0.0; m],
            masses: vec![1.0; m],
            ends: (1..=m).map(|i| i as f64).collect(),
            scale: 1.0 / m as f64,
            mean: RunningMean::new(m),
            order: Vec::with_capacity(m),
            subsets: Subsets::DepRound,
        })
    }

    /// The same with another way to draw subsets.
    pub fn with_subsets(self, subsets: Subsets) -> Self {
        Plain { subsets, ..self }
    }

    /// Recomputes every mass from its logarithm, the largest being 1.
    fn rebuild(&mut self) {
        let top = self.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (log, mass) in self.logs.iter_mut().zip(&mut self.masses) {
            *log = (*log - top).max(-LOG_LIMIT);
            *mass = quick_exp(*log);
        }
        self.rescale();
    }

    fn rescale(&mut self) {
        self.scale = 1.0 / self.sum();
    }

    /// Σ masses, after adding them up anew.
    fn sum(&mut self) -> f64 {
        let mut sum = 0.0;
        for (end, mass) in self.ends.iter_mut().zip(&self.masses) {
            sum += mass;
            *end = sum;
        }
        sum
    }

    /// The group in which a place on [0, Σ masses) falls.
    fn find(&self, place: f64) -> usize {
        let at = self.ends.partition_point(|end| *end <= place);
        if at < self.ends.len() {
            return at;
        }
        // Rounding: the last group that has a mass.
        let total = self.ends[at - 1];
        self.ends.partition_point(|end| *end < total)
    }

    /// Enforces the cap, when there is one and it is exceeded.
    fn project(&mut self) {
        if self.k == 1.0 {
            return;
        }
        let top = self.masses.iter().copied().fold(0.0, f64::max);
        if top * self.scale > 1.0 / self.k {
            project_log(&mut self.logs, &mut self.masses, self.k, &mut self.order);
            self.sum();
            self.scale = 1.0;
        }
    }
}

impl GroupWeights for Plain {
    fn len(&self) -> usize {
        self.logs.len()
    }

    #[inline]
    fn get(&self, group: usize) -> f64 {
        self.masses[group] * self.scale
    }

    fn quantile(&self, u: f64) -> usize {
        self.find(u * self.ends[self.ends.len() - 1])
    }

    fn choose(&self, k: usize, rng: &mut Rng, chosen: &mut Vec<usize>, scratch: &mut Vec<f64>) {
        match self.subsets {
            Subsets::DepRound => {
                choose((0..self.len()).map(|i| self.get(i)), k, rng, chosen, scratch);
            }
            Subsets::Systematic => {
                let part = 1.0 / (self.scale * k as f64);
                systematic(k, self.len(), rng, chosen, scratch, |places, groups| {
                    let found = places.iter().map(|place| self.find(place * part));
                    groups.iter_mut().zip(found).for_each(|(group, at)| *group = at);
                });
            }
        }
    }

    fn step(&mut self, eta: f64, gains: &[(usize, f64)]) {
        for (group, gain) in gains {
            let move_by = (eta * gain).clamp(-LOG_LIMIT, LOG_LIMIT);
            self.logs[*group] = (self.logs[*group] + move_by).clamp(-LOG_LIMIT, LOG_LIMIT);
        }
        if gains.len() * 4 > self.len() {
            self.rebuild();
        } else {
            for (group, _) in gains {
                self.masses[*group] = quick_exp(self.logs[*group]);
            }
            self.rescale();
            // Too close to overflow or underflow: take a new reference.
            if !(1e-120..1e120).contains(&self.scale) {
                self.rebuild();
            }
        }
        self.project();
    }

    fn jump_to(&mut self, other: &Self) {
        self.logs.copy_from_slice(&other.logs);
        self.masses.copy_from_slice(&other.masses);
        self.ends.copy_from_slice(&other.ends);
        self.scale = other.scale;
    }

    fn accumulate(&mut self, weight: f64) {
        self.mean.add(weight, self.scale, &self.masses);
    }

    fn restart_average(&mut self) {
        self.mean.restart();
    }

    fn write(&self, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = self.get(i));
    }

    fn write_average(&self, out: &mut [f64]) -> f64 {
        self.write(out);
        self.mean.write(out)
    }

    fn save(&self) -> Vec<f64> {
        let point = self.logs.iter().chain(&self.masses).chain([&self.scale]).copied();
        point.chain(self.mean.save()).collect()
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        let m = self.len();
        if saved.len() != 3 * m + 2 {
            return Err(Error::State(format!("{} numbers for {m} group weights", saved.len())));
        }
        self.logs.copy_from_slice(&saved[..m]);
        self.masses.copy_from_slice(&saved[m..2 * m]);
        self.sum();
        self.scale = saved[2 * m];
        self.mean.restore(&saved[2 * m + 1..]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn dense(gains: &[f64]) -> Vec<(usize, f64)> {
        gains.iter().copied().enumerate().collect()
    }

    fn weights(q: &Plain) -> Vec<f64> {
        let mut out = vec![0.0; q.len()];
        q.write(&mut out);
        out
    }

    #[test]
    fn huge_losses_keep_the_weights_finite() {
        for loss in [4e4, 1e10, 1e300, f64::MAX] {
            let mut q = Plain::new(2, 1.0).unwrap();
            for _ in 0..1000 {
                q.step(0.01, &dense(&[loss, 1.0]));
                q.step(100.0, &dense(&[loss, 1.0]));
            }
            let q = weights(&q);
            assert!(q.iter().all(|v| v.is_finite()), "{loss}: {q:?}");
            assert!(q[0] > 0.99 && (q[0] + q[1] - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn mass_returns() {
        let mut q = Plain::new(2, 1.0).unwrap();
        for _ in 0..8 {
            q.step(1.0, &dense(&[30.0, 0.0]));
        }
        for _ in 0..200 {
            q.step(1.0, &dense(&[0.0, 30.0]));
        }
        assert!(q.get(1) > 0.99);
        // The same on the capped simplex, through single-coordinate steps.
        let mut q = Plain::new(8, 1.5).unwrap();
        (0..8).for_each(|_| q.step(1.0, &[(0, 300.0)]));
        assert_eq!(q.get(0), 1.0 / 1.5);
        (0..200).for_each(|_| q.step(1.0, &[(1, 30.0), (0, -30.0)]));
        assert_eq!(q.get(1), 1.0 / 1.5);
    }

    #[test]
    fn equal_losses_keep_the_weights_exactly_uniform() {
        for k in [1.0, 2.5, 7.0] {
            let mut q = Plain::new(7, k).unwrap();
            for loss in [0.0, std::f64::consts::LN_2, 1e7] {
                (0..1000).for_each(|_| q.step(0.37, &dense(&[loss; 7])));
                assert_eq!(weights(&q), vec![1.0 / 7.0; 7], "k = {k}");
            }
        }
    }

    /// The one-coordinate path equals the full one.
    #[test]
    fn sparse_steps_equal_dense_steps() {
        for k in [1.0, 3.5] {
            let (mut a, mut b) = (Plain::new(20, k).unwrap(), Plain::new(20, k).unwrap());
            let mut rng = Rng::seed_from_u64(5);
            for _ in 0..3000 {
                let (i, gain) =
                    (crate::sampling::below(&mut rng, 20), -3.0 * crate::sampling::unit(&mut rng));
                a.step(0.2, &[(i, gain)]);
                let mut all = [0.0; 20];
                all[i] = gain;
                b.step(0.2, &dense(&all));
            }
            for (x, y) in weights(&a).iter().zip(&weights(&b)) {
                assert!((x - y).abs() < 1e-12, "{x} {y}");
            }
        }
    }

    #[test]
    fn draws_follow_the_weights() {
        let mut q = Plain::new(4, 1.0).unwrap();
        q.step(1.0, &dense(&[0.0, 1.0, 2.0, -700.0]));
        let mut rng = Rng::seed_from_u64(9);
        let mut counts = [0f64; 4];
        (0..100_000).for_each(|_| counts[q.draw(&mut rng)] += 1.0);
        // χ² with 2 degrees of freedom: 18.4 is exceeded with probability 1e-4.
        let chi2: f64 =
            (0..3).map(|i| (counts[i] - 1e5 * q.get(i)).powi(2) / (1e5 * q.get(i))).sum();
        assert!(chi2 < 18.4 && counts[3] == 0.0);
    }
}
