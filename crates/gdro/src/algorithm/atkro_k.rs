//! Algorithm 6: non-oblivious online learning for AT_kRO with k samples per round, AT_kRO(k).

use super::online_1::fixed_eta_w;
use super::{AlgorithmSpec, Constants, Draws, Gains, GapBounds, Origin, Recipe};
use crate::bound;
use crate::error::{Error, Result};
use crate::estimator::DepRoundIx;
use crate::schedule::{Schedule, Steps};

/// What is known of [`atkro_k()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "atkro-k",
    help: "online learning for the mean of the k largest risks, with k samples per round",
    origin: Origin::Paper,
    citation: "Algorithm 6",
    top_k: true,
    draws: Draws::EachOfK,
    gains: Gains::Bandit,
    options: &["subsets"],
    gap: GapBounds { fixed: Some(bound::atkro_k), anytime: None },
    ..AlgorithmSpec::USUAL
};

/// AT_kRO(k), Algorithm 6 of the paper, with the steps of label `thm:10`; k is an integer.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1 … T:
///     I = DepRound(k, q); for each i ∈ I: draw z⁽ⁱ⁾ ~ P_i         DepRoundIx
///     g_w = (1/k) Σ_{i ∈ I} ∇ℓ(w; z⁽ⁱ⁾)
///     s̃_i = (1 − ℓ(w; z⁽ⁱ⁾))/(k q_i + γ) for i ∈ I, 0 elsewhere
///     w = argmin_u η_w⟨g_w, u⟩ + B_w(u, w)                      Iterate::step
///     q = projection of q_i exp(−η_q s̃_i) onto {q_i ≤ 1/k}       GroupWeights::step
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w | 2D/(G√(5T)) |
/// | η_q | √(k ln m/(mT)), on losses scaled to [0, 1]; 0 for k = m, where q cannot move |
/// | γ | η_q/2 |
/// | samples per round | k |
///
/// Guarantee: E ε'_φ(w̄, q̄) = O(√(m ln m/(kT))). It needs of DepRound only that group i is drawn
/// with probability k q_i: systematic sampling may stand in ([`crate::config::Config::subsets`]).
///
/// # Errors
/// [`Error::Unsupported`] for a k that is not an integer.
pub fn atkro_k(constants: &Constants, rounds: u64) -> Result<Recipe<DepRoundIx>> {
    let (m, k) = (constants.groups as f64, constants.k);
    if k.fract() != 0.0 {
        return Err(Error::Unsupported {
            algorithm: "atkro-k",
            option: "a k that is not an integer",
            advice: "use atkro-m or atkro-1, which take any real k",
        });
    }
    let entropy = if constants.k < m { constants.ln_m() } else { 0.0 };
    let eta_q = (k * entropy / (m * rounds as f64)).sqrt();
    let eta_w = fixed_eta_w(constants, rounds);
    let steps = Steps { eta_w, eta_q, gamma: eta_q / 2.0 };
    let estimator = DepRoundIx::new(k as usize, constants.groups);
    Ok(Recipe::fixed(estimator, Schedule::Constant(steps), rounds, constants))
}
