//! Algorithm 3: stochastic mirror descent with non-uniform sampling, SMD_r.

use super::smd_m::fixed_steps;
use super::{AlgorithmSpec, Budgeted, Constants, Draws, Gains, Origin, Recipe};
use crate::bound;
use crate::error::Result;
use crate::estimator::Bernoulli;
use crate::schedule::Schedule;

/// What is known of [`smd_r()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "smd-r",
    help: "mirror descent that draws each group in proportion to its budget; small groups count for less",
    origin: Origin::Paper,
    citation: "Algorithm 3",
    draws: Draws::Varying,
    budgets: Some(Budgeted { scales: probabilities, inflation, bound: Some(bound::smd_r) }),
    streams: true,
    rounds: Some(|request, _| request.most()),
    ..AlgorithmSpec::USUAL
};

/// SMD_r, Algorithm 3 of the paper, with the steps of label `thm:5`: T = n_1 rounds under the
/// budgets n_i.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m),  p_i = n_i/n_1
/// for t = 1 … n_1:
///     for each i, with probability p_i: draw z⁽ⁱ⁾ ~ P_i           Bernoulli
///     g_w = Σ_{i drawn} q_i ∇ℓ(w; z⁽ⁱ⁾),  [g_q]_i = ℓ(w; z⁽ⁱ⁾) if drawn, else 0
///     mirror steps as in Algorithm 1
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w | D² √(8 / (5 n_1 (D²G² + M² ln m))) |
/// | η_q | ln m · √(8 / (5 n_1 (D²G² + M² ln m))) |
/// | samples per round | Σ p_i on average; a group stops at its budget |
///
/// It plays the weighted game Σ q_i p_i R_i (label `eqn:convex:concave:weight`). Guarantee: with
/// probability 1 − δ, R_i(w̄) − p*_φ/p_i ≤ (8 + 2 ln(2/δ)) √(10(D²G² + M² ln m) n_1)/n_i.
///
/// # Errors
/// [`crate::Error::Parameter`] unless all budgets are at least 1.
pub fn smd_r(constants: &Constants, budgets: &[u64], rounds: u64) -> Result<Recipe<Bernoulli>> {
    let steps = fixed_steps(constants, constants.ln_m(), rounds);
    let estimator = Bernoulli::new(budgets)?;
    Ok(Recipe::fixed(estimator, Schedule::Constant(steps), rounds, constants))
}

/// What is known of [`smd_r_weighted()`].
pub(super) const WEIGHTED: AlgorithmSpec = AlgorithmSpec {
    name: "smd-r-weighted",
    help: "smd-r with importance weights",
    origin: Origin::Compared,
    citation: "label eqn:stoch:grad:4",
    draws: Draws::Varying,
    gains: Gains::Inflated,
    budgets: Some(Budgeted { scales: probabilities, inflation, bound: None }),
    rounds: Some(|request, _| request.most()),
    ..AlgorithmSpec::USUAL
};

/// Algorithm 3 with importance weights (label `eqn:stoch:grad:4`), which the paper discusses and
/// rejects: it plays the game itself instead of the weighted one.
///
/// | parameter | value |
/// |---|---|
/// | η_w, η_q | those of [`smd_r`] times n_m/n_1, since the gradients are up to n_1/n_m times as large |
/// | samples per round | Σ p_i on average; a group stops at its budget |
///
/// Guarantee: ε_φ(w̄, q̄) = O(√(n_1 ln m)/n_m), worse than SMD(m) for n_m rounds. When a budget
/// ends early, the estimates of that group are 0 from there on, and the bound does not hold.
///
/// # Errors
/// [`crate::Error::Parameter`] unless all budgets are at least 1.
pub fn smd_r_weighted(
    constants: &Constants,
    budgets: &[u64],
    rounds: u64,
) -> Result<Recipe<Bernoulli>> {
    let recipe = smd_r(constants, budgets, rounds)?;
    let by = recipe.estimator.probabilities().iter().copied().fold(1.0, f64::min);
    let estimator = recipe.estimator.clone().importance_weighted();
    Ok(Recipe { estimator, ..recipe.scaled(by, by) })
}

/// n_1/n_m, the largest importance weight.
fn inflation(budgets: &[u64], _nbar: u64) -> f64 {
    let most = budgets.iter().copied().max().unwrap_or(1) as f64;
    most / budgets.iter().copied().min().unwrap_or(1) as f64
}

/// p_i = n_i/n_1, the scale factors of the weighted game.
fn probabilities(budgets: &[u64], _nbar: u64) -> Result<Vec<f64>> {
    Ok(Bernoulli::new(budgets)?.probabilities().to_vec())
}
