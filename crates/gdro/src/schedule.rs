//! Step sizes over time.

use serde::{Deserialize, Serialize};

/// The step sizes of one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// η_w, the step of the model.
    pub eta_w: f64,
    /// η_q, the step of the group weights.
    pub eta_q: f64,
    /// γ, the IX coefficient of the bandit players (0 for the others).
    pub gamma: f64,
}

impl Steps {
    /// The steps with a multiplier for each player; γ follows η_q.
    pub fn scaled(self, w: f64, q: f64) -> Self {
        Steps { eta_w: self.eta_w * w, eta_q: self.eta_q * q, gamma: self.gamma * q }
    }
}

/// Step sizes as a function of the round t = 1, 2, ….
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// The same in every round.
    Constant(Steps),
    /// Divided by √t (the anytime forms, label `eqn:alg1_anytime_stepsize`).
    InverseSqrt(Steps),
}

impl Schedule {
    /// The steps of round t ≥ 1.
    #[inline]
    pub fn at(&self, t: u64) -> Steps {
        match self {
            Schedule::Constant(steps) => *steps,
            Schedule::InverseSqrt(first) => {
                let by = 1.0 / (t as f64).sqrt();
                Steps { eta_w: first.eta_w * by, eta_q: first.eta_q * by, gamma: first.gamma * by }
            }
        }
    }

    /// The schedule with a multiplier for each player.
    pub fn scaled(self, w: f64, q: f64) -> Self {
        match self {
            Schedule::Constant(steps) => Schedule::Constant(steps.scaled(w, q)),
            Schedule::InverseSqrt(steps) => Schedule::InverseSqrt(steps.scaled(w, q)),
        }
    }
}
