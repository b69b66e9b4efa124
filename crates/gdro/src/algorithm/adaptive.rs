//! Players that need no constants.

use super::length::ROUNDS;
use super::{AlgorithmSpec, Constants, Draws, Form, Recipe, Request};
use crate::average::Average;
use crate::estimator::EveryGroup;
use crate::schedule::{Schedule, Steps};

/// What is known of [`adaptive()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "adaptive",
    help: "smd-m with players that find their own steps",
    citation: "AdaHedge, JMLR 15; DoG, arXiv 2302.12022",
    trains: true,
    form: Form::Anytime,
    draws: Draws::EveryGroup,
    adaptive: true,
    rounds: Some(rounds),
    ..AlgorithmSpec::USUAL
};

/// Algorithm 1 with players that find their own steps: no D, G, M or T, at any time.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1, 2, …:
///     for each i: draw z⁽ⁱ⁾ ~ P_i                               EveryGroup
///     g_w = Σ_i q_i ∇ℓ(w; z⁽ⁱ⁾),  [g_q]_i = ℓ(w; z⁽ⁱ⁾)
///     w = argmin_u η_t⟨g_w, u⟩ + B_w(u, w) with the η_t of         iterate::AdaGrad
///     q_i ∝ exp(η'_t Σ_s [g_q]_i) with the η'_t of                 group_weights::AdaHedge
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w, η_q | multipliers, 1 |
/// | samples per round | m |
///
/// Guarantee: for any pair of players ε_φ(w̄, q̄) ≤ (Reg_w + Reg_q)/t plus what the noise of the
/// samples adds. The regret of q is O(√(t ln m)); that of w is O(√t) up to logarithms on a ball
/// without ridge, while the iterates stay near the optimum (see [`crate::iterate::AdaGrad`]).
pub fn adaptive(constants: &Constants) -> Recipe<EveryGroup> {
    let steps = Steps { eta_w: 1.0, eta_q: 1.0, gamma: 0.0 };
    Recipe::anytime(EveryGroup, Schedule::Constant(steps), constants).averaged(Average::Uniform)
}

/// Its steps take a while to find themselves.
fn rounds(request: &Request<'_>, _nbar: Option<u64>) -> u64 {
    if request.budgets.is_some() { request.least() } else { 2 * ROUNDS }
}
