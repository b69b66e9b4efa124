//! Stochastic mirror descent on both players: Algorithms 1 and 5.

use super::{Holds, check, root_sum};
use crate::constants::Constants;
use crate::error::Result;

/// ε_φ(w̄, q̄) of Algorithm 1 after T rounds, label `thm:1`, for the steps of
/// [`crate::algorithm::smd_m`]:
///
/// - on average: 2√(10(D²G² + M² ln m)/T),
/// - with probability 1 − δ: (8 + 2 ln(2/δ)) √(10(D²G² + M² ln m)/T).
///
/// # Errors
/// [`crate::Error::Parameter`] for T = 0, δ outside of (0, 1), or constants that are not finite.
pub fn smd_m(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    fixed(constants, constants.ln_m(), rounds, holds)
}

/// ε'_φ(w̄, q̄) of Algorithm 5 after T rounds, label `thm:8`: that of [`smd_m`] with ln(m/k) in the
/// place of ln m.
///
/// # Errors
/// As [`smd_m`].
pub fn atkro_m(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    fixed(constants, constants.ln_m_over_k(), rounds, holds)
}

/// ε_φ(w̄_t, q̄_t) of the anytime form of Algorithm 1 after t rounds, label `thm:alg1_anytime`, for
/// the steps of [`crate::algorithm::smd_m_anytime`]:
///
/// √(D²G² + M² ln m)/(√2 (√(t + 1) − 1)) times
///
/// - on average: 5 + 3 ln t,
/// - with probability 1 − δ, for each t: 9 + 11 ln(2/δ) + 7 ln t + 3 ln(2/δ) ln t.
///
/// # Errors
/// As [`smd_m`].
pub fn smd_m_anytime(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    anytime(constants, constants.ln_m(), rounds, holds)
}

/// ε'_φ(w̄_t, q̄_t) of the anytime form of Algorithm 5, label `thm:alg5_anytime`: that of
/// [`smd_m_anytime`] with ln(m/k) in the place of ln m.
///
/// # Errors
/// As [`smd_m`].
pub fn atkro_m_anytime(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    anytime(constants, constants.ln_m_over_k(), rounds, holds)
}

fn fixed(constants: &Constants, entropy: f64, rounds: u64, holds: Holds) -> Result<f64> {
    let t = check(constants, rounds, holds)?;
    Ok(factor(holds) * (10.0 * constants.energy(entropy) / t).sqrt())
}

/// 2 on average, μ(δ) = 8 + 2 ln(2/δ) with probability 1 − δ.
pub(super) fn factor(holds: Holds) -> f64 {
    match holds {
        Holds::OnAverage => 2.0,
        Holds::With(delta) => 8.0 + 2.0 * (2.0 / delta).ln(),
    }
}

fn anytime(constants: &Constants, entropy: f64, rounds: u64, holds: Holds) -> Result<f64> {
    let t = check(constants, rounds, holds)?;
    let by = match holds {
        Holds::OnAverage => 5.0 + 3.0 * t.ln(),
        Holds::With(delta) => {
            let chance = (2.0 / delta).ln();
            9.0 + 11.0 * chance + 7.0 * t.ln() + 3.0 * chance * t.ln()
        }
    };
    Ok(by * (constants.energy(entropy) / 2.0).sqrt() / root_sum(t))
}
