//! Step sizes over time.

use serde::{Deserialize, Serialize};

/// The step sizes of one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// η_w, the step of the model.
    pub eta_w: f64,
    /// η_q, the step of the group weights.
    pub eta_q: f64,
    /// γ of the bandit players: the IX coefficient, or the share of uniform exploration of Exp3.P
    /// (0 for the others).
    pub gamma: f64,
}

impl Steps {
    /// The steps with a multiplier for each player; γ follows η_q.
    pub fn scaled(self, w: f64, q: f64) -> Self {
        Steps { eta_w: self.eta_w * w, eta_q: self.eta_q * q, gamma: self.gamma * q }
    }
}

/// Step sizes as a function of the round t = 1, 2, ….
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// The same in every round.
    Constant(Steps),
    /// Divided by √t (the anytime forms, label `eqn:alg1_anytime_stepsize`).
    InverseSqrt(Steps),
    /// η_w divided by √t; η_q and γ by √(Σ_{s ≤ t} 1/r_s), where r_1, r_2, … is a list that repeats
    /// ([`Schedule::queries`]).
    Queries {
        /// The steps for a sum of 1.
        first: Steps,
        /// Σ_{s ≤ j} 1/r_s for j = 1, …, the length of the list.
        sums: Vec<f64>,
    },
}

impl Schedule {
    /// The schedule for r_t groups asked in round t, where the list of the r_t repeats.
    ///
    /// # Panics
    /// When the list is empty.
    pub fn queries(first: Steps, queries: &[usize]) -> Self {
        assert!(!queries.is_empty(), "a list of queries has a first entry");
        let mut sum = 0.0;
        let sums = queries.iter().map(|r| {
            sum += 1.0 / *r as f64;
            sum
        });
        Schedule::Queries { first, sums: sums.collect() }
    }

    /// The steps of round t ≥ 1.
    #[inline]
    pub fn at(&self, t: u64) -> Steps {
        match self {
            Schedule::Constant(steps) => *steps,
            Schedule::InverseSqrt(first) => {
                let by = 1.0 / (t as f64).sqrt();
                first.scaled(by, by)
            }
            Schedule::Queries { first, sums } => {
                let (cycles, rest) = (t / sums.len() as u64, (t % sums.len() as u64) as usize);
                let last = sums[sums.len() - 1];
                let sum = cycles as f64 * last + if rest > 0 { sums[rest - 1] } else { 0.0 };
                first.scaled(1.0 / (t as f64).sqrt(), 1.0 / sum.sqrt())
            }
        }
    }

    /// The schedule with a multiplier for each player.
    pub fn scaled(self, w: f64, q: f64) -> Self {
        match self {
            Schedule::Constant(steps) => Schedule::Constant(steps.scaled(w, q)),
            Schedule::InverseSqrt(steps) => Schedule::InverseSqrt(steps.scaled(w, q)),
            Schedule::Queries { first, sums } => {
                Schedule::Queries { first: first.scaled(w, q), sums: sums.clone() }
            }
        }
    }
}
