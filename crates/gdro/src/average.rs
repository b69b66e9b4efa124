//! Which average of the iterates is the answer.

use serde::{Deserialize, Serialize};

use crate::schedule::Schedule;

/// How the iterates are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// All iterates alike: the return value of Algorithms 1 to 6.
    Uniform,
    /// In proportion to the step of w (label `eqn:anytime_output`): the anytime forms. Both
    /// players' steps fall alike, so that one set of weights serves both.
    Weighted,
    /// The second half of the rounds, uniformly. Before the last round: the latest stretch
    /// [T/2ʲ⁺¹, T/2ʲ) together with what there is of the next, which is between half and three
    /// quarters of the rounds so far.
    Suffix,
    /// No average: the last iterate.
    Last,
}

impl Average {
    /// The weight of the iterate of round t; 0 means that it need not be added at all.
    #[inline]
    pub(crate) fn weight(self, schedule: &Schedule, t: u64) -> f64 {
        match self {
            Average::Uniform | Average::Suffix => 1.0,
            Average::Weighted => match schedule {
                Schedule::Constant(_) => 1.0,
                Schedule::InverseSqrt(_) | Schedule::Queries { .. } => 1.0 / (t as f64).sqrt(),
            },
            Average::Last => 0.0,
        }
    }
}

/// A running weighted mean of points.
#[derive(Clone, Debug)]
pub(crate) struct RunningMean {
    sum: Vec<f64>,
    total: f64,
}

impl RunningMean {
    /// The mean of nothing yet, of points of this length.
    pub(crate) fn new(len: usize) -> Self {
        RunningMean { sum: vec![0.0; len], total: 0.0 }
    }

    /// Adds the point `scale`·`values` with this weight.
    #[inline]
    pub(crate) fn add(&mut self, weight: f64, scale: f64, values: &[f64]) {
        let by = weight * scale;
        for (s, v) in self.sum.iter_mut().zip(values) {
            *s += by * v;
        }
        self.total += weight;
    }

    /// Forgets everything.
    pub(crate) fn restart(&mut self) {
        self.sum.fill(0.0);
        self.total = 0.0;
    }

    /// Writes the mean and returns its total weight; writes nothing and returns 0 when there is
    /// none.
    pub(crate) fn write(&self, out: &mut [f64]) -> f64 {
        if self.total > 0.0 {
            out.iter_mut().zip(&self.sum).for_each(|(o, s)| *o = s / self.total);
        }
        self.total
    }

    /// The weighted sum of the points and the total weight.
    pub(crate) fn sum(&self) -> (&[f64], f64) {
        (&self.sum, self.total)
    }

    /// The sums, then the total weight.
    pub(crate) fn save(&self) -> impl Iterator<Item = f64> {
        self.sum.iter().copied().chain([self.total])
    }

    /// Takes over what [`RunningMean::save`] gave; the length is the caller's to check.
    pub(crate) fn restore(&mut self, saved: &[f64]) {
        let (sum, total) = saved.split_at(self.sum.len());
        self.sum.copy_from_slice(sum);
        self.total = total[0];
    }
}

/// The next round after `t` rounds at whose end a suffix average starts anew: T·2ʲ for integer j,
/// rounded down, at least 1.
pub(crate) fn next_restart(t: u64, total: u64) -> u64 {
    let mut at = total.max(1);
    while at > 1 && at / 2 > t {
        at /= 2;
    }
    while at <= t {
        at = at.saturating_mul(2);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::next_restart;

    #[test]
    fn restarts_halve_the_total() {
        assert_eq!(next_restart(0, 8), 1);
        assert_eq!(next_restart(1, 8), 2);
        assert_eq!(next_restart(3, 8), 4);
        assert_eq!(next_restart(4, 8), 8);
        assert_eq!(next_restart(8, 8), 16);
        assert_eq!(next_restart(12, 100), 25);
        assert_eq!(next_restart(50, 100), 100);
    }
}
