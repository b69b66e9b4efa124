//! Algorithm 7: anytime online learning for AT_kRO with 1 sample per round, AT_kRO(1)_a.

use super::online_1::anytime_steps;
use super::{AlgorithmSpec, Constants, Form, Gains, GapBounds, Origin, Recipe};
use crate::bound;
use crate::estimator::OneIx;
use crate::schedule::Schedule;

/// What is known of [`atkro_1()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "atkro-1",
    help: "online-1 for the mean of the k largest risks",
    origin: Origin::Paper,
    citation: "Algorithm 7",
    top_k: true,
    form: Form::Anytime,
    gains: Gains::Bandit,
    automatic: true,
    gap: GapBounds { fixed: None, anytime: Some(bound::atkro_1) },
    ..AlgorithmSpec::USUAL
};

/// AT_kRO(1)_a, Algorithm 7 of the paper: the anytime form of Algorithm 2 on the capped simplex;
/// k may be any real number in [1, m].
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1, 2, …:
///     i ~ q, z ~ P_i                                            OneIx
///     g_w = ∇ℓ(w; z),  s̃_i = (1 − ℓ(w; z))/(q_i + γ_t), 0 elsewhere
///     w = argmin_u η_w,t⟨g_w, u⟩ + B_w(u, w)                    Iterate::step
///     q = projection of q_i exp(−η_q,t s̃_i) onto {q_i ≤ 1/k}     GroupWeights::step
/// at any time return the averages of label eqn:anytime_output
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w,t | D/(G√t) |
/// | η_q,t | √(ln m/(mt)), on losses scaled to [0, 1]; 0 for k = m, where q cannot move |
/// | γ_t | η_q,t/2 |
/// | samples per round | 1 |
///
/// Guarantee: label `thm:alg7`, O(√(m ln m) ln t/√t) at every t.
pub fn atkro_1(constants: &Constants) -> Recipe<OneIx> {
    let steps = anytime_steps(constants);
    let moves = if constants.k < constants.groups as f64 { 1.0 } else { 0.0 };
    Recipe::anytime(OneIx, Schedule::InverseSqrt(steps.scaled(1.0, moves)), constants)
}
