//! GDRO with the Exp3.P player.

use super::online_1::fixed_eta_w;
use super::{AlgorithmSpec, Constants, Gains, Origin, Recipe};
use crate::estimator::OneExp3P;
use crate::schedule::{Schedule, Steps};

/// What is known of [`exp3p()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "exp3p",
    help: "group weights by the bandit algorithm Exp3.P",
    origin: Origin::Compared,
    citation: "Soma, Gatmiry, Gupta and Jegelka, arXiv 2212.13669",
    gains: Gains::Bandit,
    ..AlgorithmSpec::USUAL
};

/// GDRO-EXP3P of Soma, Gatmiry, Gupta and Jegelka (arXiv 2212.13669), a baseline of the paper's
/// text: the group player is Exp3.P.
///
/// ```text
/// w = argmin_W ν,  p = (1/m, …, 1/m)
/// for t = 1 … T:
///     q = (1 − γ) p + γ/m                                       group_weights::Mixed
///     i ~ q, z ~ P_i                                            OneExp3P
///     g_w = ∇ℓ(w; z),  [g_q]_j = (ℓ(w; z)·𝟙[j = i] + β)/q_j for every j
///     w = argmin_u η_w⟨g_w, u⟩ + B_w(u, w),  p_j ∝ p_j exp(η_q [g_q]_j)
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value (losses scaled to \[0, 1\]) |
/// |---|---|
/// | η_w | 2D/(G√(5T)), label `thm:2` |
/// | η_q | 0.95 √(ln m/(mT)) |
/// | γ | min(1.05 √(m ln m/T), 1), in [`Steps::gamma`] |
/// | β | √(ln m/(mT)) |
/// | samples per round | 1, with O(m) work |
///
/// Guarantee: O(√(m ln m/T)) for any fixed comparators; the paper (label `eqn:exp:regret:weak`)
/// points out that the source's oblivious analysis does not bound ε_φ(w̄, q̄), whose comparators
/// depend on the run. The steps of q are those of Bubeck and Cesa-Bianchi (DOI 10.1561/2200000024,
/// Theorem 3.3), that of w is ours.
pub fn exp3p(constants: &Constants, rounds: u64) -> Recipe<OneExp3P> {
    let (m, t) = (constants.groups as f64, rounds as f64);
    let beta = (constants.ln_m() / (m * t)).sqrt();
    let gamma = (1.05 * (m * constants.ln_m() / t).sqrt()).min(1.0);
    let steps = Steps { eta_w: fixed_eta_w(constants, rounds), eta_q: 0.95 * beta, gamma };
    Recipe::fixed(OneExp3P::new(beta), Schedule::Constant(steps), rounds, constants)
}
