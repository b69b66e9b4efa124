//! Algorithm 4: stochastic mirror-prox with mini-batches, SMPA_m.

use super::{Constants, Recipe, Rule};
use crate::error::{Error, Result};
use crate::estimator::MiniBatch;
use crate::schedule::{Schedule, Steps};

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
    let estimator = MiniBatch::new(budgets)?;
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
            option: "a loss that is not smooth, with kinks (infinite curvature)",
            advice: "use smd-m, smd-r or online-1, or a smooth loss such as huber or smoothed-hinge",
        });
    }
    let ProxConstants { smooth, variance } = ProxConstants::new(constants, scales, shares);
    let n_m = 2.0 * rounds as f64;
    let by = (1.0 / (3f64.sqrt() * smooth)).min(2.0 / (7.0 * variance * n_m).sqrt());
    Ok(Steps { eta_w: 2.0 * constants.width * by, eta_q: 2.0 * by * constants.ln_m(), gamma: 0.0 })
}

/// What steps and bound of label `thm:7` depend on (label `eqn:mirror:parameters`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProxConstants {
    /// L̃.
    pub smooth: f64,
    /// σ².
    pub variance: f64,
}

impl ProxConstants {
    /// L̃ and σ² for scale factors p_i and n_i/n_m samples per draw.
    pub(crate) fn new(
        constants: &Constants,
        scales: &[f64],
        shares: impl Iterator<Item = f64>,
    ) -> Self {
        let (ln_m, d2, g) = (constants.ln_m(), constants.width, constants.lipschitz);
        let p_max = scales.iter().copied().fold(0.0, f64::max);
        let omega_max = scales.iter().zip(shares).map(|(p, n)| p * p / n).fold(0.0, f64::max);
        let smooth = 2.0
            * std::f64::consts::SQRT_2
            * p_max
            * (d2 * constants.smoothness + d2.max(d2.sqrt()) * g * ln_m.sqrt());
        let noise = constants.range().powi(2) * ln_m.powi(2);
        let variance = 2.0 * constants.c * omega_max * (constants.kappa * d2 * g * g + noise);
        ProxConstants { smooth, variance }
    }
}
