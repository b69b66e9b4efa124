//! Algorithm 2: non-oblivious online learning with 1 sample per round, Online(1).

use super::{AlgorithmSpec, Constants, Form, Gains, GapBounds, Origin, Recipe};
use crate::bound;
use crate::estimator::OneIx;
use crate::schedule::{Schedule, Steps};

/// What is known of [`online_1()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "online-1",
    help: "online learning with one sample per round, of a group drawn by its weight",
    origin: Origin::Paper,
    citation: "Algorithm 2",
    trains: true,
    form: Form::Both,
    gains: Gains::Bandit,
    automatic: true,
    gap: GapBounds { fixed: Some(bound::online_1), anytime: Some(bound::online_1_anytime) },
    ..AlgorithmSpec::USUAL
};

/// Online(1), Algorithm 2 of the paper, with the steps of label `thm:4`.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1 … T:
///     i ~ q, z ~ P_i                                            OneIx
///     g_w = ∇ℓ(w; z),  s̃_i = (1 − ℓ(w; z))/(q_i + γ), 0 elsewhere
///     w = argmin_u η_w⟨g_w, u⟩ + B_w(u, w)                      Iterate::step
///     q_i ∝ q_i exp(−η_q s̃_i)                                   GroupWeights::step
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w | 2D/(G√(5T)) |
/// | η_q | √(ln m/(mT)), on losses scaled to [0, 1] |
/// | γ | η_q/2 |
/// | samples per round | 1 |
///
/// Guarantee: E ε_φ(w̄, q̄) = O(√(m ln m/T)).
pub fn online_1(constants: &Constants, rounds: u64) -> Recipe<OneIx> {
    let steps = fixed_steps(constants, rounds);
    Recipe::fixed(OneIx, Schedule::Constant(steps), rounds, constants)
}

/// The steps of label `thm:4`.
pub(super) fn fixed_steps(constants: &Constants, rounds: u64) -> Steps {
    let eta_q = (constants.ln_m() / (constants.groups as f64 * rounds as f64)).sqrt();
    Steps { eta_w: fixed_eta_w(constants, rounds), eta_q, gamma: eta_q / 2.0 }
}

/// The anytime form of Algorithm 2, Online(1)_a: the steps of label `eqn:alg2_anytime_stepsize` and
/// the averages of label `eqn:anytime_output`.
///
/// | parameter | value |
/// |---|---|
/// | η_w,t | D/(G√t) |
/// | η_q,t | √(ln m/(mt)) |
/// | γ_t | η_q,t/2 |
///
/// Guarantee: label `thm:alg2_anytime`, O(√(m ln m) ln t/√t) at every t.
pub fn online_1_anytime(constants: &Constants) -> Recipe<OneIx> {
    Recipe::anytime(OneIx, Schedule::InverseSqrt(anytime_steps(constants)), constants)
}

/// η_w of labels `thm:4` and `thm:10`.
pub(super) fn fixed_eta_w(constants: &Constants, rounds: u64) -> f64 {
    2.0 * constants.d() / (constants.lipschitz * (5.0 * rounds as f64).sqrt())
}

/// The first steps of label `eqn:alg2_anytime_stepsize`.
pub(super) fn anytime_steps(constants: &Constants) -> Steps {
    let eta_q = (constants.ln_m() / constants.groups as f64).sqrt();
    Steps { eta_w: constants.d() / constants.lipschitz, eta_q, gamma: eta_q / 2.0 }
}
