//! Algorithm 5: stochastic mirror descent for AT_kRO with m samples per round, AT_kRO(m).

use super::smd_m::{anytime_steps, fixed_steps};
use super::{AlgorithmSpec, Constants, Draws, Form, GapBounds, Origin, Recipe};
use crate::bound;
use crate::estimator::EveryGroup;
use crate::schedule::Schedule;

/// What is known of [`atkro_m()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "atkro-m",
    help: "smd-m for the mean of the k largest risks",
    origin: Origin::Paper,
    citation: "Algorithm 5",
    top_k: true,
    form: Form::Both,
    draws: Draws::EveryGroup,
    automatic: true,
    gap: GapBounds { fixed: Some(bound::atkro_m), anytime: Some(bound::atkro_m_anytime) },
    ..AlgorithmSpec::USUAL
};

/// AT_kRO(m), Algorithm 5 of the paper, with the steps of label `thm:8`; k may be any real number
/// in [1, m].
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1 … T:
///     for each i: draw z⁽ⁱ⁾ ~ P_i                               EveryGroup
///     g_w = Σ_i q_i ∇ℓ(w; z⁽ⁱ⁾),  [g_q]_i = ℓ(w; z⁽ⁱ⁾)
///     w = argmin_u η_w⟨g_w, u⟩ + B_w(u, w)                      Iterate::step
///     q = projection of q_i exp(η_q [g_q]_i) onto {q_i ≤ 1/k}    GroupWeights::step
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w | D² √(8 / (5T(D²G² + M² ln(m/k)))) |
/// | η_q | ln(m/k) · √(8 / (5T(D²G² + M² ln(m/k)))), 0 for k = m |
/// | samples per round | m |
///
/// Guarantee: E ε'_φ(w̄, q̄) ≤ 2√(10(D²G² + M² ln(m/k))/T).
pub fn atkro_m(constants: &Constants, rounds: u64) -> Recipe<EveryGroup> {
    let steps = fixed_steps(constants, constants.ln_m_over_k(), rounds);
    Recipe::fixed(EveryGroup, Schedule::Constant(steps), rounds, constants)
}

/// The anytime form of Algorithm 5, AT_kRO(m)_a: the steps of label `eqn:alg5_anytime_stepsize`.
///
/// | parameter | value |
/// |---|---|
/// | η_w,t | D² √(2 / (t(D²G² + M² ln(m/k)))) |
/// | η_q,t | ln(m/k) · √(2 / (t(D²G² + M² ln(m/k)))) |
///
/// Guarantee: label `thm:alg5_anytime`, O(ln t/√t) at every t.
pub fn atkro_m_anytime(constants: &Constants) -> Recipe<EveryGroup> {
    let steps = anytime_steps(constants, constants.ln_m_over_k());
    Recipe::anytime(EveryGroup, Schedule::InverseSqrt(steps), constants)
}
