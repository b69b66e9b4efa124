//! Weights as a plain array, moved by any rule.

use super::GroupWeights;
use crate::average::RunningMean;
use crate::error::{Error, Result, require};
use crate::sampling::{Rng, dep_round};

/// How a player of the simplex moves: everything that tells one online learner from another.
pub trait Update: Clone {
    /// Replaces `q` by the next point, after the gains g with the given entries and 0 elsewhere,
    /// under the step `eta`. A group may occur several times: its gains add up.
    fn update(&mut self, q: &mut [f64], eta: f64, gains: &[(usize, f64)]);

    /// What the rule remembers besides the point, as numbers of a fixed count.
    fn memory(&mut self) -> &mut [f64];
}

/// Weights on the simplex as a plain array, O(m) per round, moved by the rule `U`.
#[derive(Clone, Debug)]
pub struct Ruled<U> {
    q: Vec<f64>,
    mean: RunningMean,
    rule: U,
}

impl<U: Update> Ruled<U> {
    /// Uniform weights on m groups.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless m ≥ 1.
    pub fn new(m: usize, rule: U) -> Result<Self> {
        require(m >= 1, "number of groups", m, "at least 1")?;
        Ok(Ruled { q: vec![1.0 / m as f64; m], mean: RunningMean::new(m), rule })
    }
}

/// [`GroupWeights::quantile`] by a walk; the last group with a positive weight takes what rounding
/// leaves.
pub(super) fn quantile(q: impl Iterator<Item = f64>, u: f64) -> usize {
    let mut left = u;
    let mut last = 0;
    for (i, q) in q.enumerate().filter(|(_, q)| *q > 0.0) {
        last = i;
        if left < q {
            break;
        }
        left -= q;
    }
    last
}

/// Draws a set of k groups with marginals k·q_i.
pub(super) fn choose(
    q: impl Iterator<Item = f64>,
    k: usize,
    rng: &mut Rng,
    chosen: &mut Vec<usize>,
    scratch: &mut Vec<f64>,
) {
    chosen.clear();
    scratch.clear();
    scratch.extend(q.map(|q| (k as f64 * q).min(1.0)));
    dep_round(scratch, k, rng, chosen);
}

impl<U: Update> GroupWeights for Ruled<U> {
    fn len(&self) -> usize {
        self.q.len()
    }

    #[inline]
    fn get(&self, group: usize) -> f64 {
        self.q[group]
    }

    fn quantile(&self, u: f64) -> usize {
        quantile(self.q.iter().copied(), u)
    }

    fn choose(&self, k: usize, rng: &mut Rng, chosen: &mut Vec<usize>, scratch: &mut Vec<f64>) {
        choose(self.q.iter().copied(), k, rng, chosen, scratch);
    }

    fn step(&mut self, eta: f64, gains: &[(usize, f64)]) {
        self.rule.update(&mut self.q, eta, gains);
    }

    fn jump_to(&mut self, other: &Self) {
        self.q.copy_from_slice(&other.q);
        self.rule.clone_from(&other.rule);
    }

    fn accumulate(&mut self, weight: f64) {
        self.mean.add(weight, 1.0, &self.q);
    }

    fn restart_average(&mut self) {
        self.mean.restart();
    }

    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.q);
    }

    fn write_average(&self, out: &mut [f64]) -> f64 {
        self.write(out);
        self.mean.write(out)
    }

    fn save(&self) -> Vec<f64> {
        let mut rule = self.rule.clone();
        let point = self.q.iter().chain(rule.memory().iter()).copied();
        point.chain(self.mean.save()).collect()
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        let m = self.q.len();
        let memory = self.rule.memory();
        if saved.len() != 2 * m + memory.len() + 1 {
            return Err(Error::State(format!("{} numbers for {m} group weights", saved.len())));
        }
        let (point, rest) = saved.split_at(m);
        let (remembered, mean) = rest.split_at(memory.len());
        memory.copy_from_slice(remembered);
        self.q.copy_from_slice(point);
        self.mean.restore(mean);
        Ok(())
    }
}
