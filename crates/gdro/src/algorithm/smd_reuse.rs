//! Sample reuse of Haghtalab, Jordan and Zhao.

use super::smd_m::fixed_steps;
use super::{AlgorithmSpec, Constants, Draws, Origin, Recipe};
use crate::estimator::Reuse;
use crate::schedule::Schedule;

/// What is known of [`smd_reuse()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "smd-reuse",
    help: "mirror descent that reuses one set of samples for m rounds of the group weights",
    origin: Origin::Compared,
    citation: "Haghtalab, Jordan and Zhao, NeurIPS 2022",
    draws: Draws::Few(2),
    ..AlgorithmSpec::USUAL
};

/// The algorithm of Haghtalab, Jordan and Zhao (NeurIPS 2022) as the paper describes it (label
/// `eqn:gradient:wrong`), a baseline: one set of m samples serves the group weights for m rounds.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1 … T:
///     if m divides t − 1: draw and keep z_τ⁽ⁱ⁾ ~ P_i for each i     Reuse
///     i ~ q, z ~ P_i: g_w = ∇ℓ(w; z),  [g_q]_i = ℓ(w; z_τ⁽ⁱ⁾)
///     mirror steps as in Algorithm 1
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w, η_q | those of label `thm:1` |
/// | samples per round | 2 on average |
///
/// Guarantee: none that is proved. The analysis of the source takes g_q for unbiased, and the paper
/// shows that it is not after the second round of a set. The authors have since replaced the player
/// by a bandit. The steps are those that their argument would have.
pub fn smd_reuse(constants: &Constants, rounds: u64) -> Recipe<Reuse> {
    let steps = fixed_steps(constants, constants.ln_m(), rounds);
    Recipe::fixed(Reuse, Schedule::Constant(steps), rounds, constants)
}
