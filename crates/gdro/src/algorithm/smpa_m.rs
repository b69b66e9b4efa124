//! Algorithm 4: stochastic mirror-prox with mini-batches, SMPA_m.

use super::{AlgorithmSpec, Budgeted, Constants, Draws, Origin, Recipe, Request, Rule, RunLength};
use crate::bound;
use crate::constants::ProxConstants;
use crate::error::{Conflict, Error, Result};
use crate::estimator::MiniBatch;
use crate::schedule::{Schedule, Steps};

/// What is known of [`smpa_m()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "smpa-m",
    help: "mirror-prox with mini-batches in proportion to the budgets; small groups count for less",
    origin: Origin::Paper,
    citation: "Algorithm 4",
    draws: Draws::Varying,
    budgets: Some(Budgeted { scales, inflation: |_, _| 1.0, bound: Some(bound::smpa_m) }),
    streams: true,
    rounds: Some(half),
    limit: two_rows_per_round,
    ..AlgorithmSpec::USUAL
};

/// SMPA_m, Algorithm 4 of the paper, with the steps of label `thm:7` and the scale factors of
/// label `eqn:pi:mirror`: n_m/2 rounds under the budgets n_i.
///
/// ```text
/// w' = argmin_W ν,  q' = (1/m, …, 1/m)
/// for t = 1 … n_m/2:
///     draw n_i/n_m samples from every P_i                       MiniBatch at (w', q')
///     w = argmin_u η_w⟨g_w, u⟩ + B_w(u, w'),   q_i ∝ q'_i exp(η_q [g_q]_i)
///     draw n_i/n_m samples from every P_i                       MiniBatch at (w, q)
///     w' = argmin_u η_w⟨g_w, u⟩ + B_w(u, w'),  q'_i ∝ q'_i exp(η_q [g_q]_i)
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | p_i | (1/√n_m + 1)/(1/√n_m + √(n_m/n_i)) |
/// | ω_max | max_i p_i² n_m/n_i |
/// | L̃ | 2√2 p_max (D²L + max(D, D²) G √(ln m)) |
/// | σ² | 2c ω_max (κD²G² + M² ln² m) |
/// | η_w | 2D² min(1/(√3 L̃), 2/√(7σ² n_m)) |
/// | η_q | 2 ln m · min(1/(√3 L̃), 2/√(7σ² n_m)) |
/// | samples per round | 2 Σ ⌊n_i/n_m⌋ |
///
/// The paper prints D²G√(ln m) in L̃; its proof (of Lemma `lem:1`) gives D·G√(ln m). The larger of
/// the two is valid for every D and equals the printed one for D ≥ 1. The absolute constant c is
/// [`Constants::c`]. Unlike the other steps, L̃ does not change with the range M of the losses.
///
/// `budgets` decide batches and scales; for another number of rounds than n_m/2, n_m in the steps
/// is twice that number.
///
/// Guarantee: R_i(w̄) − p*_φ/p_i = O((1/n_m + 1/√n_i) √(κ + ln² m)).
///
/// # Errors
/// [`crate::Error::Parameter`] unless all budgets are at least 1; [`Error::Unsupported`] for losses
/// that are not smooth.
pub fn smpa_m(constants: &Constants, budgets: &[u64], rounds: u64) -> Result<Recipe<MiniBatch>> {
    with(MiniBatch::new(budgets)?, constants, rounds)
}

/// Algorithm 4 on the game itself: p_i = 1 for all groups, with the steps of label `thm:7` for these
/// p_i. The largest risk is what is minimised, at the rate of the smallest group for all.
///
/// # Errors
/// Those of [`smpa_m`].
pub fn smpa_m_unweighted(
    constants: &Constants,
    budgets: &[u64],
    rounds: u64,
) -> Result<Recipe<MiniBatch>> {
    with(MiniBatch::new(budgets)?.unweighted(), constants, rounds)
}

fn with(estimator: MiniBatch, constants: &Constants, rounds: u64) -> Result<Recipe<MiniBatch>> {
    let shares = estimator.batches().iter().map(|batch| *batch as f64);
    let steps = prox_steps("smpa-m", constants, estimator.scales(), shares, rounds)?;
    let recipe = Recipe::fixed(estimator, Schedule::Constant(steps), rounds, constants);
    Ok(Recipe { rule: Rule::MirrorProx, ..recipe })
}

/// The steps of label `thm:7` for scale factors p_i and n_i/n_m samples per draw, where n_m is
/// twice the number of rounds; `algorithm` is who asks.
///
/// # Errors
/// [`Error::Unsupported`] for losses that are not smooth.
pub(super) fn prox_steps(
    algorithm: &'static str,
    constants: &Constants,
    scales: &[f64],
    shares: impl Iterator<Item = f64>,
    rounds: u64,
) -> Result<Steps> {
    if !constants.smoothness.is_finite() {
        return Err(Error::Unsupported {
            algorithm,
            option: "a loss that is not smooth (infinite curvature)",
            advice: "use smd-m, smd-r or online-1, or a smooth loss such as huber or smoothed-hinge",
        });
    }
    let ProxConstants { smooth, variance } = ProxConstants::new(constants, scales, shares);
    let n_m = 2.0 * rounds as f64;
    let by = (1.0 / (3f64.sqrt() * smooth)).min(2.0 / (7.0 * variance * n_m).sqrt());
    Ok(Steps { eta_w: 2.0 * constants.width * by, eta_q: 2.0 * by * constants.ln_m(), gamma: 0.0 })
}

fn scales(budgets: &[u64], _nbar: u64) -> Result<Vec<f64>> {
    Ok(MiniBatch::new(budgets)?.scales().to_vec())
}

/// n̄/2 rounds, or n_m/2 without an n̄, at least one.
pub(super) fn half(request: &Request<'_>, nbar: Option<u64>) -> u64 {
    (nbar.unwrap_or_else(|| request.least()) / 2).max(1)
}

/// Both draws of a round take a row of the smallest group, or of one with n̄ rows.
pub(super) fn two_rows_per_round(
    request: &Request<'_>,
    length: &RunLength,
) -> Result<(), Conflict> {
    if request.budgets.is_none() {
        return Ok(());
    }
    let RunLength { rounds, nbar } = *length;
    let (algorithm, most, of) = match nbar {
        Some(nbar) => ("hybrid", nbar / 2, format!("a group with nbar = {nbar} rows")),
        None => ("smpa-m", request.least() / 2, "the smallest group".to_owned()),
    };
    if rounds <= most {
        return Ok(());
    }
    let setting = if request.rounds.is_some() { "rounds" } else { "budget" };
    let why = format!(
        "{algorithm} needs two rows of {of} in every round: its budget is enough for {most} rounds, not {rounds}"
    );
    Err(Conflict { setting, why })
}
