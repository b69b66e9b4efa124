//! Algorithm 1: stochastic mirror descent with m samples per round, SMD(m).

use super::{AlgorithmSpec, Constants, Draws, Form, GapBounds, Origin, Recipe};
use crate::bound;
use crate::estimator::{EveryGroup, OneGradient};
use crate::schedule::{Schedule, Steps};

/// What is known of [`smd_m()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "smd-m",
    help: "mirror descent with one sample of every group per round",
    origin: Origin::Paper,
    citation: "Algorithm 1",
    trains: true,
    form: Form::Both,
    draws: Draws::EveryGroup,
    may_adapt: true,
    streams: true,
    automatic: true,
    gap: GapBounds { fixed: Some(bound::smd_m), anytime: Some(bound::smd_m_anytime) },
    ..AlgorithmSpec::USUAL
};

/// SMD(m), Algorithm 1 of the paper, with the steps of label `thm:1`.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1 … T:
///     for each i: draw z⁽ⁱ⁾ ~ P_i                               EveryGroup
///     g_w = Σ_i q_i ∇ℓ(w; z⁽ⁱ⁾),  [g_q]_i = ℓ(w; z⁽ⁱ⁾)
///     w = argmin_u η_w⟨g_w, u⟩ + B_w(u, w)                      Iterate::step
///     q_i ∝ q_i exp(η_q [g_q]_i)                                GroupWeights::step
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w | D² √(8 / (5T(D²G² + M² ln m))) |
/// | η_q | ln m · √(8 / (5T(D²G² + M² ln m))), 0 for m = 1 |
/// | samples per round | m |
///
/// Guarantee: E ε_φ(w̄, q̄) ≤ 2√(10(D²G² + M² ln m)/T).
pub fn smd_m(constants: &Constants, rounds: u64) -> Recipe<EveryGroup> {
    let steps = fixed_steps(constants, constants.ln_m(), rounds);
    Recipe::fixed(EveryGroup, Schedule::Constant(steps), rounds, constants)
}

/// What is known of [`smd_m_single()`].
pub(super) const SINGLE: AlgorithmSpec = AlgorithmSpec {
    name: "smd-m-single",
    help: "smd-m with the gradient of one of the samples",
    origin: Origin::Paper,
    citation: "label eqn:stoch:grad:2",
    trains: true,
    draws: Draws::EveryGroup,
    gap: GapBounds { fixed: Some(bound::smd_m), anytime: None },
    ..AlgorithmSpec::USUAL
};

/// Algorithm 1 with the gradient of one sample (label `eqn:stoch:grad:2`): g_w = ∇ℓ(w; z^(i_t))
/// with i_t ~ q, from the samples that are drawn for g_q anyway. Steps, samples and guarantee are
/// those of [`smd_m`], since ‖g_w‖_* ≤ G still holds.
pub fn smd_m_single(constants: &Constants, rounds: u64) -> Recipe<OneGradient> {
    let steps = fixed_steps(constants, constants.ln_m(), rounds);
    Recipe::fixed(OneGradient, Schedule::Constant(steps), rounds, constants)
}

/// The anytime form of Algorithm 1, SMD(m)_a: the steps of label `eqn:alg1_anytime_stepsize`,
/// η_t = η_1/√t, and the averages of label `eqn:anytime_output`.
///
/// | parameter | value |
/// |---|---|
/// | η_w,t | D² √(2 / (t(D²G² + M² ln m))) |
/// | η_q,t | ln m · √(2 / (t(D²G² + M² ln m))) |
///
/// Guarantee: label `thm:alg1_anytime`, O(ln t/√t) at every t.
pub fn smd_m_anytime(constants: &Constants) -> Recipe<EveryGroup> {
    let steps = anytime_steps(constants, constants.ln_m());
    Recipe::anytime(EveryGroup, Schedule::InverseSqrt(steps), constants)
}

/// The steps of labels `thm:1`, `thm:5` and `thm:8`, where the entropy of Q is ln m or ln(m/k).
pub(super) fn fixed_steps(constants: &Constants, entropy: f64, rounds: u64) -> Steps {
    let root = (8.0 / (5.0 * rounds as f64 * constants.energy(entropy))).sqrt();
    Steps { eta_w: constants.width * root, eta_q: entropy * root, gamma: 0.0 }
}

/// The first steps of labels `eqn:alg1_anytime_stepsize` and `eqn:alg5_anytime_stepsize`.
pub(super) fn anytime_steps(constants: &Constants, entropy: f64) -> Steps {
    let root = (2.0 / constants.energy(entropy)).sqrt();
    Steps { eta_w: constants.width * root, eta_q: entropy * root, gamma: 0.0 }
}
