//! Clipped gradients of Carmon and Hausler.

use super::online_1::fixed_eta_w;
use super::{AlgorithmSpec, Constants, Draws, Gains, Origin, Recipe};
use crate::estimator::ClippedUniform;
use crate::schedule::{Schedule, Steps};

/// What is known of [`smd_clip()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "smd-clip",
    help: "mirror descent with clipped gradients of the group weights",
    origin: Origin::Compared,
    citation: "Carmon and Hausler, arXiv 2203.13225",
    draws: Draws::Few(2),
    gains: Gains::Clipped,
    ..AlgorithmSpec::USUAL
};

/// Stochastic mirror descent with clipped gradients of q, after Carmon and Hausler (NeurIPS 2022,
/// arXiv 2203.13225), a baseline of the paper's text.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1 … T:
///     i ~ q, z ~ P_i; j uniform, z' ~ P_j                         ClippedUniform
///     g_w = ∇ℓ(w; z),  [g_q]_j = min(m ℓ(w; z'), 1/η_q), 0 elsewhere
///     mirror steps as in Algorithm 1
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w | 2D/(G√(5T)), label `thm:2` |
/// | η_q | √(ln m/(mT))/M |
/// | samples per round | 2 |
///
/// Guarantee: O(m ln m/ε²) samples for an expected gap of ε, in expectation only. The constants are
/// ours: Hedge on gains with η_q g ≤ 1 has regret ln m/η_q + η_q Σ_t Σ_j q_j g_j², and the second
/// moment is at most m M².
pub fn smd_clip(constants: &Constants, rounds: u64) -> Recipe<ClippedUniform> {
    let m = constants.groups as f64;
    let eta_q = (constants.ln_m() / (m * rounds as f64)).sqrt() / constants.range();
    let steps = Steps { eta_w: fixed_eta_w(constants, rounds), eta_q, gamma: 0.0 };
    Recipe::fixed(ClippedUniform, Schedule::Constant(steps), rounds, constants)
}
