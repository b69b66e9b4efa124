//! GDRO with flexible sample queries.

use super::{AlgorithmSpec, Constants, Draws, Form, Gains, Recipe, Request, RunLength};
use crate::average::Average;
use crate::error::{Conflict, Result};
use crate::estimator::LimitedAdvice;
use crate::schedule::{Schedule, Steps};

/// What is known of [`flexible()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "flexible",
    help: "online learning with any number of samples per round",
    citation: "Bai, Yu, Li, Luo and Zhang, arXiv 2505.15212",
    form: Form::Anytime,
    draws: Draws::Varying,
    gains: Gains::Bandit,
    options: &["queries"],
    limit: groups_for_queries,
    ..AlgorithmSpec::USUAL
};

/// GDRO with any number r_t of groups asked in round t (Bai, Yu, Li, Luo and Zhang, arXiv
/// 2505.15212).
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m),  S = 0
/// for t = 1, 2, …:
///     i ~ q; C = {i} and r_t − 1 others, uniformly                LimitedAdvice
///     for each i ∈ C: draw z⁽ⁱ⁾ ~ P_i;  P_i = q_i + (1 − q_i)(r_t − 1)/(m − 1)
///     g_w = Σ_{i ∈ C} (q_i/P_i) ∇ℓ(w; z⁽ⁱ⁾)
///     S_i += (1 − ℓ(w; z⁽ⁱ⁾))/(P_i + γ_t) for i ∈ C
///     w = argmin_u η_w,t⟨g_w, u⟩ + B_w(u, w)
///     q_i ∝ exp(−η_q,t S_i)                                     group_weights::Leader
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value (losses scaled to \[0, 1\]) |
/// |---|---|
/// | η_w,t | D/(G√t) |
/// | η_q,t | √(ln m/Σ_{s ≤ t} m/r_s) |
/// | γ_t | η_q,t/2 |
/// | samples per round | r_t |
///
/// Guarantee of the source: (1/t) √(Σ_{s ≤ t} (m/r_s) ln m) up to constants, with probability 1 −
/// δ, without a factor ln t: the error depends on the number of samples, not on how they are spread
/// over rounds. The constants are ours, and so is the gradient of w, which uses all r_t samples.
///
/// # Errors
/// [`crate::Error::Parameter`] unless there is an r_t and all lie in [1, m].
pub fn flexible(constants: &Constants, queries: &[usize]) -> Result<Recipe<LimitedAdvice>> {
    let estimator = LimitedAdvice::new(queries, constants.groups)?;
    let eta_q = (constants.ln_m() / constants.groups as f64).sqrt();
    let first = Steps { eta_w: constants.d() / constants.lipschitz, eta_q, gamma: eta_q / 2.0 };
    let schedule = Schedule::queries(first, queries);
    Ok(Recipe::anytime(estimator, schedule, constants).averaged(Average::Uniform))
}

/// No more groups can be asked than there are.
fn groups_for_queries(request: &Request<'_>, _length: &RunLength) -> Result<(), Conflict> {
    let groups = request.counts.len();
    match request.queries.and_then(|queries| queries.iter().max()) {
        Some(asked) if *asked > groups => {
            let why = format!("{asked} of only {groups} groups with training rows");
            Err(Conflict { setting: "queries", why })
        }
        _ => Ok(()),
    }
}
