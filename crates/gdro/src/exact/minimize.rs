//! Any loss on rows in memory, smooth or not.

use super::balance::Balance;
use super::interior::solve_smoothing;
use super::keeper::Keeper;
use super::problem::LEAST;
use super::{Canonical, DatasetRisks, Goal, Options, Problem, Solution};
use crate::dataset::Dataset;
use crate::domain::MirrorMap;
use crate::error::{Error, Result};
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

/// Restarts of problems that [`super::solve`] leaves open: a curvature that jumps can stop it on its way.
const RESTARTS: usize = 5;

/// Relative gap from which on no restart is tried.
const SOLVED: f64 = 1e-9;

/// Relative gap that all iterations should have passed.
const NOWHERE: f64 = 1e-4;

/// After so many values of μ without a gap half as large, what is left of it is rounding.
const FUTILE: usize = 3;

/// With several intercepts more way is worth while for this share of the objective.
const GAIN: f64 = 1e-7;

/// A free intercept that ends beyond this share of the way that it may go is given more of it, so
/// many times as much, and so often.
const WIDE: (f64, f64, i32) = (0.5, 64.0, 5);

/// Solves the problem on the rows of a data set to the tolerance, or as far as double precision
/// goes.
///
/// The problem is first written in units of its own, in which targets, features and risks are of
/// ordinary size and those far from 0 have their middle there: what is found does not depend on
/// theirs. A free intercept is bounded by nothing but the losses. (Of several, those of classes, the
/// lower bound is one for intercepts that are bounded as well, by 100 and more if they go far: scores
/// in the middle of the features. A certificate does without where it can.)
///
/// A smooth loss goes to [`super::solve`], and once more from where that stopped if it did not get
/// there. For a non-smooth one, [`super::solve`] minimises its smoothings ([`Loss::smoothed`]) with falling
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
/// Those of [`super::solve`].
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
    minimize_kept(data, loss, problem, options, &mut Keeper::default())
}

/// The same with a keeper of where it stands: an iteration costs one of all risks and gradients more where
/// it goes on, and the answer has the same bits.
///
/// # Errors
/// Those of [`minimize`]; [`Error::State`] where what was kept is of another problem.
pub fn minimize_kept<L, M>(
    data: &Dataset,
    loss: &L,
    problem: &Problem<'_, M>,
    options: &Options,
    keeper: &mut Keeper<'_>,
) -> Result<Solution>
where
    L: Loss + Sync,
    M: MirrorMap,
{
    if let Some(start) = &options.start {
        let rows = problem.features + usize::from(problem.domain.intercept.is_some());
        let (found, expected) = (start.len(), rows * problem.outputs);
        if found != expected {
            return Err(Error::Length { what: "start", found, expected });
        }
    }
    let canonical = Canonical::new(data, loss, problem)?;
    let goal = canonical.goal(&problem.goal);
    let solution = minimize_in(&canonical, &goal, &canonical.options(options), keeper)?;
    Ok(canonical.answer(solution))
}

/// As [`minimize`], in the units of the problem throughout.
pub(crate) fn minimize_in<L, M>(
    canonical: &Canonical<'_, L, M>,
    goal: &Goal,
    options: &Options,
    keeper: &mut Keeper<'_>,
) -> Result<Solution>
where
    L: Loss + Sync,
    M: MirrorMap,
{
    let (weights, scale) = (canonical.weights(), canonical.scale());
    // The answer, and whether an intercept has nearly come to the end of its way.
    let mut attempt = |power: i32, options: &Options| {
        let domain = canonical.domain(WIDE.1.powi(power));
        let problem = canonical.problem(&domain, goal.clone());
        let (data, loss, with) = (&canonical.data, canonical.loss(), (options, scale));
        let found = minimize_within(data, loss, &problem, with, keeper)?;
        let way = domain.intercept.filter(|_| domain.is_free()).unwrap_or(f64::INFINITY);
        let is_far = found.w[weights..].iter().any(|b| b.abs() > WIDE.0 * way);
        Ok::<_, Error>((found, is_far))
    };
    let (mut best, mut is_far) = attempt(0, options)?;
    for power in 1..=WIDE.2 {
        if !is_far || !canonical.has_several() && best.gap() <= options.wanted(best.upper, scale) {
            break;
        }
        let again = Options { start: Some(best.w.clone()), ..options.clone() };
        let (found, far) = attempt(power, &again)?;
        if canonical.has_several() {
            // Its bound is one for the way that the intercepts may go.
            let size = best.upper.abs().max(LEAST * scale);
            if found.upper > best.upper - GAIN * size {
                break;
            }
            best = found;
        } else {
            best = best.better(found);
        }
        is_far = far;
    }
    Ok(Solution { wanted: options.wanted(best.upper, scale), ..best })
}

/// What tangents at a model say of all models, with several free intercepts of any size: a lower
/// bound, −∞ when there is none.
pub(crate) fn bound_of_several<L, M>(
    canonical: &Canonical<'_, L, M>,
    w: &[f64],
    q: &[f64],
    upper: f64,
) -> Result<f64>
where
    L: Loss + Sync,
    M: MirrorMap,
{
    let problem = canonical.usual(Goal::Fixed(q.to_vec()));
    let loss = canonical.loss();
    let floor = problem.floor(loss.infimum(), |_| 0.0);
    let mut risks: DatasetRisks<'_, L> = DatasetRisks::new(&canonical.data, loss, true);
    let mut balance = Balance::new(&problem, Some(q.to_vec()), floor);
    balance.bound_of_several(&mut risks, w, q, upper)
}

/// As [`minimize`], for a problem as it is and of this scale.
fn minimize_within<L, M>(
    data: &Dataset,
    loss: &L,
    problem: &Problem<'_, M>,
    (options, scale): (&Options, f64),
    keeper: &mut Keeper<'_>,
) -> Result<Solution>
where
    L: Loss + Sync,
    M: MirrorMap,
{
    let intercept = problem.domain.intercept.is_some();
    let mut risks = DatasetRisks::new(data, loss, intercept);
    if !loss.is_nonsmooth() {
        let mut best = solve_smoothing(&mut risks, problem, options, None, keeper)?.0;
        let mut used = best.iterations;
        for _ in 0..RESTARTS {
            let gap = best.gap();
            // One that has used all its iterations was not stopped on its way, unless it went
            // nowhere.
            let share = if used < options.iterations { SOLVED } else { NOWHERE };
            if gap <= options.wanted(best.upper, scale).max(share * best.upper.abs()) {
                break;
            }
            let again = Options { start: Some(best.w.clone()), ..options.clone() };
            let (found, _) = solve_smoothing(&mut risks, problem, &again, Some(gap), keeper)?;
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
        let iterations = options.iterations;
        let stage = Options { tolerance, relative: 0.0, iterations, start };
        let (central, found) = solve_smoothing(&mut risks, problem, &stage, near, keeper)?;
        near = Some(NEAR * mu * steepest);
        start = Some(central.w);
        let before = best.as_ref().map_or(f64::INFINITY, Solution::gap);
        best = Some(match best {
            None => found,
            Some(best) => best.better(found),
        });
        let gap = best.as_ref().map_or(f64::INFINITY, Solution::gap);
        futile = if gap < 0.5 * before { 0 } else { futile + 1 };
        let upper = best.as_ref().map_or(f64::INFINITY, |best| best.upper);
        if gap <= options.wanted(upper, scale) {
            break;
        }
        mu *= FALL;
    }
    match best {
        Some(best) => Ok(best),
        None => Ok(solve_smoothing(&mut risks, problem, options, None, keeper)?.0),
    }
}
