//! Stochastic agnostic federated learning.

use super::{AlgorithmSpec, Constants, Draws, Origin, Recipe};
use crate::estimator::EveryGroup;
use crate::schedule::{Schedule, Steps};

/// What is known of [`afl()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "afl",
    help: "smd-m with Euclidean steps of the group weights",
    origin: Origin::Compared,
    citation: "Mohri, Sivek and Suresh, arXiv 1902.00146",
    draws: Draws::EveryGroup,
    entropic: false,
    ..AlgorithmSpec::USUAL
};

/// Stochastic-AFL of Mohri, Sivek and Suresh (ICML 2019, arXiv 1902.00146), a baseline: Algorithm 1
/// with Euclidean steps of q.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1 … T:
///     for each i: draw z⁽ⁱ⁾ ~ P_i                               EveryGroup
///     g_w = Σ_i q_i ∇ℓ(w; z⁽ⁱ⁾),  [g_q]_i = ℓ(w; z⁽ⁱ⁾)
///     w = argmin_u η_w⟨g_w, u⟩ + B_w(u, w)
///     q = Π_Δ(q + η_q g_q)                                      group_weights::Euclidean
/// return the averages of w and q over the rounds
/// ```
///
/// With E = D²G² + D_q² m M² and D_q² = (1 − 1/m)/2, the diameter of the simplex under ½‖q‖₂²:
///
/// | parameter | value |
/// |---|---|
/// | η_w | D² √(8/(5TE)) |
/// | η_q | D_q² √(8/(5TE)) |
/// | samples per round | m |
///
/// Guarantee: E ε_φ(w̄, q̄) ≤ 2√(10 E/T), the proof of label `thm:1` with ‖g_q‖₂² ≤ mM²: where
/// entropy has ln m, the Euclidean norm has (m − 1)/2. These constants are ours; the source gives
/// the same order.
pub fn afl(constants: &Constants, rounds: u64) -> Recipe<EveryGroup> {
    let m = constants.groups as f64;
    let width_q = (1.0 - 1.0 / m) / 2.0;
    let root = (8.0 / (5.0 * rounds as f64 * constants.energy(width_q * m))).sqrt();
    let steps = Steps { eta_w: constants.width * root, eta_q: width_q * root, gamma: 0.0 };
    Recipe::fixed(EveryGroup, Schedule::Constant(steps), rounds, constants)
}
