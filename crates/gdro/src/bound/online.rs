//! Two online learners against each other: Algorithms 2, 6 and 7.

use super::{Holds, check, root_sum};
use crate::constants::Constants;
use crate::error::{Result, require};

/// The regret Σ_t φ(w_t, q_t) − min_w Σ_t φ(w, q_t) of the player of w over T rounds, label
/// `thm:2`, for η_w = 2D/(G√(5T)), whatever the player of q does:
///
/// - on average: 2DG√(5T),
/// - with probability 1 − δ: DG√T (2√5 + 8√(ln(1/δ))).
///
/// # Errors
/// As [`super::smd_m`].
pub fn model_regret(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    let t = check(constants, rounds, holds)?;
    let by = 2.0 * 5f64.sqrt()
        + match holds {
            Holds::OnAverage => 0.0,
            Holds::With(delta) => 8.0 * (1.0 / delta).ln().sqrt(),
        };
    Ok(by * constants.d() * constants.lipschitz * t.sqrt())
}

/// The regret max_q Σ_t φ(w_t, q) − Σ_t φ(w_t, q_t) of Exp3-IX over T rounds, label `thm:3`, for
/// η_q = √(ln m/(mT)) and γ = η_q/2, whatever the player of w does:
///
/// 3√(mT ln m) + √(T/2) + (√(mT/ln m) + √(T/2) + 1) · c,
///
/// times M, where c = 3 on average and ln(3/δ) with probability 1 − δ; 0 for m = 1.
///
/// # Errors
/// As [`super::smd_m`].
pub fn bandit_regret(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    let t = check(constants, rounds, holds)?;
    let (m, ln_m) = (constants.groups as f64, constants.ln_m());
    if ln_m == 0.0 {
        return Ok(0.0);
    }
    let half = (t / 2.0).sqrt();
    let tail = ((m * t / ln_m).sqrt() + half + 1.0) * chance(holds, 3.0, 3.0);
    Ok(constants.range() * (3.0 * (m * t * ln_m).sqrt() + half + tail))
}

/// The regret of the player of q of Algorithm 6 over T rounds, label `thm:9`, for
/// η_q = √(k ln m/(mT)) and γ = η_q/2, whatever the player of w does. Times M, with
/// a = 3√(mT ln m/k) + m ln m/k:
///
/// - on average: 3√(T/2) + 2m/k + 2√(mT/(k ln m)) + a,
/// - with probability 1 − δ: √(T/2) + (√(T/2) + m/k + √(mT/(k ln m))) ln(2/δ) + a.
///
/// The first is the second with 2 in the place of ln(2/δ). 0 for k = m, where q cannot move.
///
/// # Errors
/// As [`super::smd_m`].
pub fn semi_bandit_regret(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    let t = check(constants, rounds, holds)?;
    let (m, ln_m) = (constants.groups as f64, constants.ln_m());
    if constants.k == m {
        return Ok(0.0);
    }
    let arms = m / constants.k;
    let half = (t / 2.0).sqrt();
    let tail = (half + arms + (arms * t / ln_m).sqrt()) * chance(holds, 2.0, 2.0);
    Ok(constants.range() * (half + tail + 3.0 * (arms * t * ln_m).sqrt() + arms * ln_m))
}

/// What stands for ln(events/δ): a constant on average.
fn chance(holds: Holds, on_average: f64, events: f64) -> f64 {
    match holds {
        Holds::OnAverage => on_average,
        Holds::With(delta) => (events / delta).ln(),
    }
}

/// ε_φ(w̄, q̄) of Algorithm 2 after T rounds, label `thm:4`: the two regrets ([`model_regret`],
/// [`bandit_regret`]) over T, each with probability 1 − δ/2.
///
/// # Errors
/// As [`super::smd_m`].
pub fn online_1(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    let each = holds.shared(2.0);
    check(constants, rounds, holds)?;
    let sum = model_regret(constants, rounds, each)? + bandit_regret(constants, rounds, each)?;
    Ok(sum / rounds as f64)
}

/// ε'_φ(w̄, q̄) of Algorithm 6 after T rounds, label `thm:10`, for an integer k: the two regrets
/// ([`model_regret`], [`semi_bandit_regret`]) over T, each with probability 1 − δ/2.
///
/// # Errors
/// As [`super::smd_m`].
pub fn atkro_k(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    let each = holds.shared(2.0);
    check(constants, rounds, holds)?;
    let k = constants.k;
    require(k.fract() == 0.0, "k", k, "an integer, as Algorithm 6 has it")?;
    let sum = model_regret(constants, rounds, each)? + semi_bandit_regret(constants, rounds, each)?;
    Ok(sum / rounds as f64)
}

/// O_1, the weighted average regret of the player of w after t rounds (label
/// `eqn:alg2_anytime_O1O2`), label `thm:alg2_anytime_w`, for η_w,t = D/(G√t):
///
/// DG/(√(t + 1) − 1) times
///
/// - on average: 9/4 + (5/4) ln t,
/// - with probability 1 − δ, for each t: 17/4 + (13/4) ln t + 2 ln(1/δ).
///
/// # Errors
/// As [`super::smd_m`].
pub fn model_regret_anytime(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    let t = check(constants, rounds, holds)?;
    let by = match holds {
        Holds::OnAverage => 2.25 + 1.25 * t.ln(),
        Holds::With(delta) => 4.25 + 3.25 * t.ln() + 2.0 * (1.0 / delta).ln(),
    };
    Ok(by * constants.d() * constants.lipschitz / root_sum(t))
}

/// O_2, the weighted average regret of Exp3-IX after t rounds, label `thm:alg2_anytime_q`, and the
/// same on the capped simplex, label `thm:alg7_anytime_q`, for η_q,t = √(ln m/(mt)) and
/// γ_t = η_q,t/2. With h = √((1 + ln t)/2), M/(2(√(t + 1) − 1)) times
///
/// - on average: (3 + ln t)√(m ln m) + 6√(m/ln m) + 4h,
/// - with probability 1 − δ, for each t: (3 + ln t)√(m ln m) + (2√(m/ln m) + h) ln(3/δ) + h.
///
/// The first is the second with 3 in the place of ln(3/δ). 0 for m = 1 and for k = m, where q
/// cannot move.
///
/// # Errors
/// As [`super::smd_m`].
pub fn bandit_regret_anytime(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    let t = check(constants, rounds, holds)?;
    let (m, ln_m) = (constants.groups as f64, constants.ln_m());
    if constants.k == m {
        return Ok(0.0);
    }
    let half = ((1.0 + t.ln()) / 2.0).sqrt();
    let tail = (2.0 * (m / ln_m).sqrt() + half) * chance(holds, 3.0, 3.0);
    let sum = (3.0 + t.ln()) * (m * ln_m).sqrt() + tail + half;
    Ok(constants.range() * sum / (2.0 * root_sum(t)))
}

/// ε_φ(w̄_t, q̄_t) of the anytime form of Algorithm 2 after t rounds, label `thm:alg2_anytime`.
/// With h = √((1 + ln t)/2), 1/(2(√(t + 1) − 1)) times
///
/// - on average: M((3 + ln t)√(m ln m) + 6√(m/ln m) + 4h) + DG(5 + 3 ln t),
/// - with probability 1 − δ, for each t: M((3 + ln t)√(m ln m) + (2√(m/ln m) + h) ln(6/δ) + h)
///   + DG(9 + 7 ln t + 4 ln(2/δ)).
///
/// This is [`bandit_regret_anytime`] plus [`model_regret_anytime`], each with probability 1 − δ/2,
/// where the paper rounds the quarters of the latter up. Algorithm 2 knows no cap, and k does not
/// matter.
///
/// # Errors
/// As [`super::smd_m`].
pub fn online_1_anytime(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    check(constants, rounds, holds)?;
    atkro_1(&Constants { k: 1.0, ..*constants }, rounds, holds)
}

/// ε'_φ(w̄_t, q̄_t) of Algorithm 7 after t rounds, label `thm:alg7`: that of [`online_1_anytime`];
/// the cap does not enter it, unless k = m, where q cannot move and the part of w is left.
///
/// # Errors
/// As [`super::smd_m`].
pub fn atkro_1(constants: &Constants, rounds: u64, holds: Holds) -> Result<f64> {
    let t = check(constants, rounds, holds)?;
    let by = match holds {
        Holds::OnAverage => 5.0 + 3.0 * t.ln(),
        Holds::With(delta) => 9.0 + 7.0 * t.ln() + 4.0 * (2.0 / delta).ln(),
    };
    let model = by * constants.d() * constants.lipschitz / (2.0 * root_sum(t));
    Ok(bandit_regret_anytime(constants, rounds, holds.shared(2.0))? + model)
}
