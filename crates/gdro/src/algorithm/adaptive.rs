//! Players that need no constants.

use super::{Constants, Recipe};
use crate::average::Average;
use crate::estimator::EveryGroup;
use crate::schedule::{Schedule, Steps};

/// Algorithm 1 with players that find their own steps: no D, G, M or T.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1 … T:
///     for each i: draw z⁽ⁱ⁾ ~ P_i                               EveryGroup
///     g_w = Σ_i q_i ∇ℓ(w; z⁽ⁱ⁾),  [g_q]_i = ℓ(w; z⁽ⁱ⁾)
///     w = argmin_u η_t⟨g_w, u⟩ + B_w(u, w) with the η_t of         iterate::AdaGrad
///     q_i ∝ exp(η'_t Σ_s [g_q]_i) with the η'_t of                 group_weights::AdaHedge
/// return the averages of w and q over the second half of the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w, η_q | multipliers, 1 |
/// | samples per round | m |
///
/// Guarantee: for the pair of averages over all rounds, ε_φ(w̄, q̄) ≤ (Reg_w + Reg_q)/T plus what the
/// noise of the samples adds, for any pair of players; those of q and, on a ball without ridge, of w
/// are O(√T) up to logarithms. The suffix average, which is better in practice, is the default here
/// and has no such proof. T only says where the second half begins.
pub fn adaptive(constants: &Constants, rounds: u64) -> Recipe<EveryGroup> {
    let steps = Steps { eta_w: 1.0, eta_q: 1.0, gamma: 0.0 };
    Recipe::fixed(EveryGroup, Schedule::Constant(steps), rounds, constants)
        .averaged(Average::Suffix)
}
