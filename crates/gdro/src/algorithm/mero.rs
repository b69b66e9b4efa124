//! Stochastic minimax regret.

use super::smd_m::anytime_steps;
use super::{AlgorithmSpec, Constants, Draws, Form, Origin, Recipe};
use crate::estimator::Excess;
use crate::schedule::Schedule;

/// What is known of [`mero()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "mero",
    help: "mirror descent on regret, which learns the optimum of every group alongside",
    origin: Origin::Compared,
    citation: "Zhang, Bai, Tu, Yang and Hu, arXiv 2306.00026",
    only_regret: true,
    form: Form::Anytime,
    draws: Draws::EveryGroup,
    ..AlgorithmSpec::USUAL
};

/// Stochastic minimax excess risk optimisation (MERO) of Zhang, Bai, Tu, Yang and Hu (arXiv
/// 2306.00026): min_w max_i R_i(w) − R_i*, where the R_i* are learnt alongside.
///
/// ```text
/// w = w⁽¹⁾ = … = w⁽ᵐ⁾ = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1, 2, …:
///     for each i: draw z⁽ⁱ⁾ ~ P_i                               Excess
///         w̄⁽ⁱ⁾ = the average of w⁽ⁱ⁾ so far, weighted by its steps
///         [g_q]_i = ℓ(w; z⁽ⁱ⁾) − ℓ(w̄⁽ⁱ⁾; z⁽ⁱ⁾)
///         w⁽ⁱ⁾ = argmin_u η_t⟨∇ℓ(w⁽ⁱ⁾; z⁽ⁱ⁾), u⟩ + B_w(u, w⁽ⁱ⁾)
///     g_w = Σ_i q_i ∇ℓ(w; z⁽ⁱ⁾)
///     mirror steps as in Algorithm 1
/// at any time return the averages of label eqn:anytime_output
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w,t, η_q,t | those of label `eqn:alg1_anytime_stepsize` |
/// | η_t of the groups' own models | D/(G√t) |
/// | samples per round | m, with m + 1 models in memory |
///
/// Guarantee: O(√(ln m/t) ln t) for the excess risk, as in the source; it speaks of the game with
/// the true R_i*, whose estimates only bias q. The steps are those of the paper's Algorithm 1,
/// whose order is the source's.
pub fn mero(constants: &Constants) -> Recipe<Excess> {
    let steps = anytime_steps(constants, constants.ln_m());
    let own_step = Some(constants.d() / constants.lipschitz);
    Recipe { own_step, ..Recipe::anytime(Excess, Schedule::InverseSqrt(steps), constants) }
}
