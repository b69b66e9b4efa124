//! SMD(1) of Sagawa et al.

use super::smd_m::fixed_steps;
use super::{AlgorithmSpec, Constants, Gains, Origin, Recipe};
use crate::estimator::UniformOne;
use crate::schedule::Schedule;

/// What is known of [`smd_1()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "smd-1",
    help: "mirror descent with one sample of a uniform group per round",
    origin: Origin::Compared,
    citation: "Sagawa et al., arXiv 1911.08731",
    trains: true,
    gains: Gains::Inflated,
    ..AlgorithmSpec::USUAL
};

/// SMD(1): the online algorithm of Sagawa et al. (2020, arXiv 1911.08731) as the paper describes
/// it (label `eqn:stoch:grad:3`), the baseline of its experiments.
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// for t = 1 … T:
///     i uniform on 1 … m, z ~ P_i                               UniformOne
///     g_w = m q_i ∇ℓ(w; z),  [g_q]_i = m ℓ(w; z), 0 elsewhere
///     mirror steps as in Algorithm 1
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w, η_q | those of SMD(m) divided by m, since the gradients are m times as large |
/// | samples per round | 1 |
///
/// Guarantee: O(m √(ln m/T)), a factor √m behind Algorithms 1 and 2 for the same samples.
pub fn smd_1(constants: &Constants, rounds: u64) -> Recipe<UniformOne> {
    let by = 1.0 / constants.groups as f64;
    let steps = fixed_steps(constants, constants.ln_m(), rounds).scaled(by, by);
    Recipe::fixed(UniformOne, Schedule::Constant(steps), rounds, constants)
}
