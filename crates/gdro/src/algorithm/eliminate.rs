//! Online learning among the groups that can dominate.

use super::online_1::fixed_steps;
use super::{AlgorithmSpec, Constants, Gains, Recipe, Request, RunLength};
use crate::error::{Conflict, Result, require};
use crate::estimator::DominantIx;
use crate::schedule::Schedule;

/// What is known of [`eliminate()`].
pub(super) const SPEC: AlgorithmSpec = AlgorithmSpec {
    name: "eliminate",
    help: "online-1 among the groups that can have the largest risk",
    citation: "after Nguyen, Mehta and Guzmán, PMLR 267",
    gains: Gains::Bandit,
    delta: true,
    only_euclidean: true,
    options: &["kept"],
    limit: rows_to_keep,
    ..AlgorithmSpec::USUAL
};

/// Online learning for GDRO in which groups that cannot dominate sleep, in the spirit of SB-GDRO
/// (Nguyen, Mehta and Guzmán, ICML 2025, PMLR 267).
///
/// ```text
/// w = argmin_W ν,  q = (1/m, …, 1/m)
/// keep n samples of every group
/// for t = 1 … T:
///     when the model has moved too far: let groups sleep, wake groups   DominantIx
///     i ~ q on the groups that are awake, z ~ P_i
///     g_w = ∇ℓ(w; z),  s = 1 − ℓ(w; z)
///     [g_q]_j = s − 𝟙[j = i] s/(q_j + γ) for the groups that are awake, 0 elsewhere
///     steps as in Algorithm 2
/// return the averages of w and q over the rounds
/// ```
///
/// | parameter | value |
/// |---|---|
/// | η_w, η_q, γ | those of label `thm:4` |
/// | ρ | 2G√(2D²/n)·√(2c) + M√(ln(2m/δ)/(2n)), without √(2c) for one output |
/// | samples | m·n before the first round, then 1 per round |
///
/// ρ bounds the deviation of the kept means from the risks for all groups and all of W at once with
/// probability 1 − δ: the Rademacher complexity of linear predictors (Kakade, Sridharan and Tewari,
/// NeurIPS 2008), the contraction of the loss (for c outputs that of Maurer, arXiv 1605.00251), and
/// McDiarmid's inequality. Euclidean geometry is assumed.
///
/// On that event a group that sleeps never has the largest risk, so that the guarantee of Algorithm
/// 2 stands; when at every model at most β groups stand out by more than 2ρ, the regret is that of
/// a bandit with β arms, β ln m/ε² samples instead of m ln m/ε². When none stand out, no group
/// sleeps: it is Algorithm 2. The constants are ours.
///
/// # Errors
/// [`crate::Error::Parameter`] unless n ≥ 1 and 0 < δ < 1.
pub fn eliminate(
    constants: &Constants,
    rounds: u64,
    kept: u64,
    outputs: usize,
    delta: f64,
) -> Result<Recipe<DominantIx>> {
    require(kept >= 1, "kept", kept, "at least 1")?;
    require(delta > 0.0 && delta < 1.0, "delta", delta, "0 < δ < 1")?;
    let (m, n) = (constants.groups, kept as f64);
    let contraction = if outputs > 1 { (2.0 * outputs as f64).sqrt() } else { 1.0 };
    let complexity = 2.0 * constants.lipschitz * (2.0 * constants.width / n).sqrt() * contraction;
    let chance = constants.range() * ((2.0 * m as f64 / delta).ln() / (2.0 * n)).sqrt();
    let deviation = complexity + chance;
    let estimator = DominantIx::new(m, kept as usize, deviation, constants.lipschitz)?;
    let schedule = Schedule::Constant(fixed_steps(constants, rounds));
    Ok(Recipe::fixed(estimator, schedule, rounds, constants))
}

/// Samples of every group that elimination keeps when nothing else is said: as many in all as it
/// then draws, at least 1.
pub fn default_kept(rounds: u64, groups: usize) -> u64 {
    (rounds / groups as u64).max(1)
}

/// Kept rows leave some to draw.
fn rows_to_keep(request: &Request<'_>, length: &RunLength) -> Result<(), Conflict> {
    let Some(budgets) = request.budgets else { return Ok(()) };
    let least = request.least();
    let kept = request.kept.unwrap_or_else(|| default_kept(length.rounds, budgets.len()));
    if kept < least {
        return Ok(());
    }
    let why = format!(
        "eliminate keeps {kept} rows of every group before it starts, and the smallest budget is {least}"
    );
    Err(Conflict { setting: "kept", why })
}
