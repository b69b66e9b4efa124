//! GDRO with the Tsallis-INF player.

use super::{AlgorithmSpec, Constants, Form, Gains, Origin, Recipe};
use crate::average::Average;
use crate::estimator::OneIx;
use crate::schedule::{Schedule, Steps};

/// What is known of [`tinf()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "tinf",
    help: "group weights by the bandit algorithm Tsallis-INF",
    origin: Origin::Compared,
    citation: "Soma, Gatmiry, Gupta and Jegelka, arXiv 2212.13669",
    form: Form::Anytime,
    gains: Gains::Bandit,
    ..AlgorithmSpec::USUAL
};

/// GDRO-TINF of Soma, Gatmiry, Gupta and Jegelka (arXiv 2212.13669), a baseline of the paper's
/// text: the group player is Tsallis-INF.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m),  S = 0
/// for t = 1, 2, …:
///     i ~ q, z ~ P_i: g_w = ∇ℓ(w; z)                             OneIx with γ = 0
///     S_i += (1 − ℓ(w; z))/q_i
///     w = argmin_u η_w⟨g_w, u⟩ + B_w(u, w)
///     q_j = 4 (η_q (S_j − x))^{−2} with the x that makes the sum 1  group_weights::Tsallis
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value (losses scaled to \[0, 1\]) |
/// |---|---|
/// | η_w,t | D/(G√t), label `eqn:alg2_anytime_stepsize` |
/// | η_q,t | 2/√t (Zimmert and Seldin, JMLR 22(28), 2021); 0 for m = 1 |
/// | samples per round | 1, with O(m) work |
///
/// Guarantee: O(√(m/T)) for any fixed comparators, without ln m, in expectation. As with
/// [`super::exp3p()`] this does not bound ε_φ(w̄, q̄); the paper notes that the gain of a factor
/// √(ln m) is conjectured to be impossible there.
pub fn tinf(constants: &Constants) -> Recipe<OneIx> {
    let eta_q = if constants.groups > 1 { 2.0 } else { 0.0 };
    let steps = Steps { eta_w: constants.d() / constants.lipschitz, eta_q, gamma: 0.0 };
    Recipe::anytime(OneIx, Schedule::InverseSqrt(steps), constants).averaged(Average::Uniform)
}
