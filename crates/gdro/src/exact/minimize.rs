//! Any loss on rows in memory, smooth or not.

use super::interior::solve_smoothing;
use super::{DatasetRisks, Options, Problem, Solution, solve};
use crate::dataset::Dataset;
use crate::domain::MirrorMap;
use crate::error::Result;
use crate::loss::Loss;
use crate::risk::group_risks;

/// The first μ, relative to the risks at 0.
const FIRST: f64 = 0.1;

/// From one μ to the next.
const FALL: f64 = 0.1;

/// The last μ, relative to the risks at 0: below it rounding is all that changes.
const LAST: f64 = 1e-13;

/// Gap to which each smoothed problem is solved, in units of μ.
const CENTRED: f64 = 0.02;

/// How far the model of one μ is from the optimum for the next, in units of the former.
const NEAR: f64 = 0.1;

/// Restarts of problems that [`solve`] leaves open: a curvature that jumps can stop it on its way.
const RESTARTS: usize = 5;

/// Relative gap from which on no restart is tried.
const SOLVED: f64 = 1e-9;

/// Relative gap that all iterations should have passed.
const NOWHERE: f64 = 1e-4;

/// After so many values of μ without a gap half as large, what is left of it is rounding.
const FUTILE: usize = 3;

/// Solves the problem on the rows of a data set to the tolerance, or as far as double precision
/// goes.
///
/// A smooth loss goes to [`solve`], and once more from where that stopped if it did not get
/// there. For a non-smooth one, [`solve`] minimises its smoothings ([`Loss::smoothed`]) with falling
/// μ, each from the model of the one before. The upper bound is the objective of the loss itself at
/// the model, the lower one is Fenchel's: with α_j the weight of row j in Σ q_i p_i R_i,
///
/// ```text
/// Σ q_i p_i (R_i(w) − b_i) + (λ/2)‖w‖²
///     ≥ Σ_j α_j (⟨u_j, s_j(w)⟩ − ℓ*(u_j, y_j)) − Σ q_i p_i b_i + (λ/2)‖w‖²
/// ```
///
/// for any u_j in the domain of ℓ*; the right-hand side is minimised over the domain in closed form
/// ([`crate::domain::Domain::minimum`]). With the slopes of the smoothed losses as u_j the gap is
/// of the order of μ times the share of the rows at a kink. [`Options::iterations`] holds for each
/// μ.
///
/// # Errors
/// Those of [`solve`].
pub fn minimize<L, M>(
    data: &Dataset,
    loss: &L,
    problem: &Problem<'_, M>,
    options: &Options,
) -> Result<Solution>
where
    L: Loss + Sync,
    M: MirrorMap,
{
    let intercept = problem.domain.intercept.is_some();
    let mut risks = DatasetRisks::new(data, loss, intercept);
    if !loss.is_nonsmooth() {
        let mut best = solve(&mut risks, problem, options)?;
        let mut used = best.iterations;
        for _ in 0..RESTARTS {
            let gap = best.gap();
            // One that has used all its iterations was not stopped on its way, unless it went
            // nowhere.
            let share = if used < options.iterations { SOLVED } else { NOWHERE };
            if gap <= options.tolerance.max(share * best.upper.abs()) {
                break;
            }
            let again = Options { start: Some(best.w.clone()), ..options.clone() };
            let (found, _) = solve_smoothing(&mut risks, problem, &again, Some(gap))?;
            used = found.iterations;
            best = best.better(found);
            if best.gap() > 0.5 * gap {
                break;
            }
        }
        return Ok(best);
    }
    let zero = vec![0.0; (data.features() + usize::from(intercept)) * loss.outputs()];
    let size = group_risks(loss, &zero, data)?.into_iter().fold(0.0, f64::max);
    // Where all is right at 0, any size will do.
    let size = if size > 0.0 { size } else { 1.0 };
    let steepest = problem.game.scales.iter().copied().fold(0.0, f64::max);

    let mut best: Option<Solution> = None;
    let (mut mu, mut futile) = (FIRST * size, 0);
    let mut start = options.start.clone();
    let mut near = None;
    while futile < FUTILE
        && mu >= LAST * size
        && let Some(smooth) = loss.smoothed(mu)
    {
        let mut risks = DatasetRisks::smoothing(data, &smooth, loss, intercept);
        let tolerance = CENTRED * mu * steepest;
        let stage = Options { tolerance, iterations: options.iterations, start };
        let (central, found) = solve_smoothing(&mut risks, problem, &stage, near)?;
        near = Some(NEAR * mu * steepest);
        start = Some(central.w);
        let before = best.as_ref().map_or(f64::INFINITY, Solution::gap);
        best = Some(match best {
            None => found,
            Some(best) => best.better(found),
        });
        let gap = best.as_ref().map_or(f64::INFINITY, Solution::gap);
        futile = if gap < 0.5 * before { 0 } else { futile + 1 };
        if gap <= options.tolerance {
            break;
        }
        mu *= FALL;
    }
    best.map_or_else(|| solve(&mut risks, problem, options), Ok)
}
