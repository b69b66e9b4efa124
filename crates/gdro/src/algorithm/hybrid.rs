//! The hybrid of mini-batches and non-uniform sampling.

use super::smpa_m::{half, prox_steps, two_rows_per_round};
use super::{AlgorithmSpec, Budgeted, Constants, Draws, Origin, Recipe, Request, Rule};
use crate::error::Result;
use crate::estimator::BatchOrCoin;
use crate::schedule::Schedule;

/// What is known of [`hybrid()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "hybrid",
    help: "mirror-prox with mini-batches of large groups and coin flips for small ones, which count for less",
    origin: Origin::Paper,
    citation: "remark after Algorithm 4",
    draws: Draws::Varying,
    budgets: Some(Budgeted { scales, inflation, bound: None }),
    streams: true,
    options: &["nbar"],
    nbar: Some(usual_nbar),
    rounds: Some(half),
    limit: two_rows_per_round,
    ..AlgorithmSpec::USUAL
};

/// The hybrid of Algorithms 3 and 4 that the remark after Algorithm 4 describes (label
/// `remark:best-of-both-world`): mirror-prox for n̄/2 rounds, n_m ≤ n̄ ≤ n_1.
///
/// ```text
/// w' = argmin_W ν,  q' = (1/m, …, 1/m)
/// for t = 1 … n̄/2, twice as in Algorithm 4, first at (w', q'), then at (w, q):
///     for each i with n_i ≥ n̄: draw ⌊n_i/n̄⌋ samples                 BatchOrCoin
///     for each i with n_i < n̄: draw one sample with probability n_i/n̄
///     mirror steps as in Algorithm 4
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | p_i, n_i ≥ n̄ | (1/√n̄ + 1)/(1/√n̄ + √(n̄/n_i)) |
/// | p_i, n_i < n̄ | n_i/n̄ |
/// | η_w, η_q | those of Algorithm 4 with n̄ in the place of n_m |
/// | samples per round | 2 (Σ ⌊n_i/n̄⌋ + Σ n_i/n̄) on average; a group stops at its budget |
///
/// The paper gives no theorem for it, and none is claimed. A coin flip has a variance of at most
/// p_i, of the order p_i² n̄/n_i that ω_max counts.
///
/// # Errors
/// [`crate::Error::Parameter`] unless all budgets are at least 1 and n_m ≤ n̄ ≤ n_1;
/// [`crate::Error::Unsupported`] for losses that are not smooth.
pub fn hybrid(
    constants: &Constants,
    budgets: &[u64],
    nbar: u64,
    rounds: u64,
) -> Result<Recipe<BatchOrCoin>> {
    with(BatchOrCoin::new(budgets, nbar)?, constants, rounds)
}

/// The hybrid on the game itself: p_i = 1 for all groups, with importance weights n̄/n_i on coin
/// flips, and the steps of Algorithm 4 for these p_i.
///
/// # Errors
/// Those of [`hybrid()`].
pub fn hybrid_unweighted(
    constants: &Constants,
    budgets: &[u64],
    nbar: u64,
    rounds: u64,
) -> Result<Recipe<BatchOrCoin>> {
    with(BatchOrCoin::new(budgets, nbar)?.unweighted(), constants, rounds)
}

fn with(estimator: BatchOrCoin, constants: &Constants, rounds: u64) -> Result<Recipe<BatchOrCoin>> {
    let shares = estimator.shares();
    let steps = prox_steps("hybrid", constants, estimator.scales(), shares, rounds)?;
    let recipe = Recipe::fixed(estimator, Schedule::Constant(steps), rounds, constants);
    Ok(Recipe { rule: Rule::MirrorProx, ..recipe })
}

fn scales(budgets: &[u64], nbar: u64) -> Result<Vec<f64>> {
    Ok(BatchOrCoin::new(budgets, nbar)?.scales().to_vec())
}

/// The largest importance weight of a coin flip.
fn inflation(budgets: &[u64], nbar: u64) -> f64 {
    nbar as f64 / budgets.iter().copied().min().unwrap_or(nbar) as f64
}

/// n̄ as given, or twice the rounds that were asked for, or the geometric mean of the smallest and
/// the largest of the budgets.
fn usual_nbar(request: &Request<'_>) -> u64 {
    let doubled = request.rounds.map(|t| t.saturating_mul(2));
    let middle = (request.least() as f64 * request.most() as f64).sqrt().round() as u64;
    request.nbar.or(doubled).unwrap_or(middle)
}
