//! Weighted games under budgets: Algorithms 3 and 4.

use super::smd::factor;
use super::{Holds, check};
use crate::constants::{Constants, ProxConstants};
use crate::error::{Result, require};
use crate::estimator::{Bernoulli, MiniBatch};

/// R_i(w̄) − p*_φ/p_i of every group i for Algorithm 3 after n_1 rounds, with probability 1 − δ for
/// all groups at once, label `thm:5`, for the steps of [`crate::algorithm::smd_r`]:
///
/// (8 + 2 ln(2/δ)) √(10(D²G² + M² ln m) n_1)/n_i,
///
/// where p*_φ is the optimum of the weighted game Σ q_i p_i R_i, p_i = n_i/n_1. It holds while no
/// budget ends early: drawing stops at a budget, which the theorem, where budgets hold on average,
/// does not.
///
/// # Errors
/// [`crate::Error::Parameter`] unless all budgets are at least 1, and as [`super::smd_m`].
pub fn smd_r(constants: &Constants, budgets: &[u64], delta: f64) -> Result<Vec<f64>> {
    let estimator = Bernoulli::new(budgets)?;
    let n_1 = budgets.iter().copied().max().unwrap_or(0);
    let holds = Holds::With(delta);
    let t = check(constants, n_1, holds)?;
    let gap = factor(holds) * (10.0 * constants.energy(constants.ln_m()) / t).sqrt();
    Ok(estimator.probabilities().iter().map(|p| gap / p).collect())
}

/// R_i(w̄) − p*_φ/p_i of every group i for Algorithm 4 after n_m/2 rounds, with probability 1 − δ
/// for all groups at once, label `thm:7` (whose first `=` is a `≤`), for the steps and scale
/// factors of [`crate::algorithm::smpa_m`]:
///
/// (1/p_i)(7L̃/n_m + √(σ²/n_m) (14√(2/3) + 7√(3 ln(2/δ)) + (14/n_m) ln(2/δ))).
///
/// Besides labels `ass:1` to `ass:3` it needs smooth risks (`ass:4`) and a regular dual norm
/// (`ass:5`). σ² contains [`Constants::c`], an absolute constant that the paper does not name: with
/// c = 1 the number is the order of the bound, not the bound. L̃ and σ² are those of the steps,
/// batches rounded down included, and n_m is even or rounded down to an even number.
///
/// # Errors
/// [`crate::Error::Parameter`] unless all budgets are at least 2, for constants L, κ or c that are
/// negative or not finite, and as [`super::smd_m`].
pub fn smpa_m(constants: &Constants, budgets: &[u64], delta: f64) -> Result<Vec<f64>> {
    let estimator = MiniBatch::new(budgets)?;
    let rounds = budgets.iter().copied().min().unwrap_or(0) / 2;
    require(rounds >= 1, "smallest budget", 2 * rounds, "at least 2")?;
    check(constants, rounds, Holds::With(delta))?;
    for (name, value) in
        [("L", constants.smoothness), ("kappa", constants.kappa), ("c", constants.c)]
    {
        require(value >= 0.0 && value.is_finite(), name, value, "finite and at least 0")?;
    }
    let shares = estimator.batches().iter().map(|batch| *batch as f64);
    let ProxConstants { smooth, variance } =
        ProxConstants::new(constants, estimator.scales(), shares);
    let n_m = 2.0 * rounds as f64;
    let chance = (2.0 / delta).ln();
    let by = 14.0 * (2.0f64 / 3.0).sqrt() + 7.0 * (3.0 * chance).sqrt() + 14.0 / n_m * chance;
    let gap = 7.0 * smooth / n_m + (variance / n_m).sqrt() * by;
    Ok(estimator.scales().iter().map(|p| gap / p).collect())
}
