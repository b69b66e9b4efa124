//! The bounds of the paper's theorems, as functions.
//!
//! | label | function | of |
//! |---|---|---|
//! | `thm:1` | [`smd_m`] | Algorithm 1 |
//! | `thm:alg1_anytime` | [`smd_m_anytime`] | Algorithm 1, anytime |
//! | `thm:2` | [`model_regret`] | player of w, Algorithms 2 and 6 |
//! | `thm:3` | [`bandit_regret`] | player of q, Algorithm 2 |
//! | `thm:4` | [`online_1`] | Algorithm 2 |
//! | `thm:alg2_anytime_w` | [`model_regret_anytime`] | player of w, anytime forms |
//! | `thm:alg2_anytime_q`, `thm:alg7_anytime_q` | [`bandit_regret_anytime`] | player of q, anytime forms |
//! | `thm:alg2_anytime` | [`online_1_anytime`] | Algorithm 2, anytime |
//! | `thm:5` | [`smd_r`] | Algorithm 3, per group |
//! | `thm:7` | [`smpa_m`] | Algorithm 4, per group |
//! | `thm:8` | [`atkro_m`] | Algorithm 5 |
//! | `thm:alg5_anytime` | [`atkro_m_anytime`] | Algorithm 5, anytime |
//! | `thm:9` | [`semi_bandit_regret`] | player of q, Algorithm 6 |
//! | `thm:10` | [`atkro_k`] | Algorithm 6 |
//! | `thm:alg7` | [`atkro_1`] | Algorithm 7 |
//!
//! All of them hold for the steps of the theorems, as the recipes of [`crate::algorithm`] take them
//! (multipliers 1), and for the averages that the theorems speak of, on W with a finite D, convex
//! losses in [0, 1] and gradients bounded by G (labels `ass:1` to `ass:3`). For payoffs in an
//! interval of length M a statement is applied to the game divided by M, so with G/M in the place
//! of G, and multiplied by M. Where the q-player cannot move (m = 1; k = m on the capped simplex)
//! its regret is 0 exactly, and its term is left out instead of being divided by ln 1.
//!
//! ```
//! use gdro::algorithm::{Algorithm, Constants};
//! use gdro::bound::Holds;
//!
//! // Example 1 of the paper: D² = ½, G = 2, 16 groups.
//! let constants = Constants::paper(0.5, 2.0, 16);
//! let bound = Algorithm::SmdM.gap(false, &constants, 10_000, Holds::OnAverage)?;
//! assert!((bound - 0.1382).abs() < 1e-4);
//! // Rounds and samples after which the bound is at most 0.05, with probability 95 %.
//! let (rounds, samples) = Algorithm::SmdM.samples(&constants, 0.05, Holds::With(0.05))?;
//! assert_eq!(samples, 16 * rounds);
//! # Ok::<(), gdro::Error>(())
//! ```

mod online;
mod smd;
mod weighted;

pub use online::{
    atkro_1, atkro_k, bandit_regret, bandit_regret_anytime, model_regret, model_regret_anytime,
    online_1, online_1_anytime, semi_bandit_regret,
};
pub use smd::{atkro_m, atkro_m_anytime, smd_m, smd_m_anytime};
pub use weighted::{smd_r, smpa_m};

use crate::constants::Constants;
use crate::error::{Result, require};

/// In which sense a bound holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holds {
    /// For the expectation.
    OnAverage,
    /// With probability at least 1 − δ, 0 < δ < 1.
    With(f64),
}

impl Holds {
    /// The same for each of several events, such that all of them hold together in this sense: δ is
    /// shared out.
    fn shared(self, events: f64) -> Self {
        match self {
            Holds::OnAverage => Holds::OnAverage,
            Holds::With(delta) => Holds::With(delta / events),
        }
    }
}

/// Checks what every bound needs, and returns the number of rounds as a float.
fn check(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    let Constants { width, lipschitz, groups, k, .. } = *constants;
    require(width >= 0.0 && width.is_finite(), "D²", width, "0 ≤ D² < ∞")?;
    require(lipschitz >= 0.0 && lipschitz.is_finite(), "G", lipschitz, "0 ≤ G < ∞")?;
    require(groups >= 1, "number of groups", groups, "at least 1")?;
    require(k >= 1.0 && k <= groups as f64, "k", k, "1 ≤ k ≤ m")?;
    let range = constants.range();
    require(range > 0.0 && range.is_finite(), "range of the payoffs", range, "0 < M < ∞")?;
    require(rounds >= 1, "rounds", rounds, "at least 1")?;
    if let Holds::With(delta) = holds {
        require(delta > 0.0 && delta < 1.0, "delta", delta, "0 < δ < 1")?;
    }
    Ok(rounds as f64)
}

/// √(t + 1) − 1, without cancellation.
fn root_sum(t: f64) -> f64 {
    t / ((t + 1.0).sqrt() + 1.0)
}
