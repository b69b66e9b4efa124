//! Proofs of optimality: how far any answer is from the best possible.

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::domain::MirrorMap;
use crate::error::{Result, require};
use crate::exact::{
    Canonical, DENSE, DatasetRisks, Goal, Keeper, LEAST, Options, Problem, Risks as _,
    bound_of_several, minimize_in,
};
use crate::group_weights::project_capped_simplex;
use crate::loss::Loss;
use crate::row::dot;

/// Two numbers between which the optimum of a problem lies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// The objective of the model.
    pub upper: f64,
    /// What no model can go below.
    pub lower: f64,
    /// upper − lower: the model's objective is at most this far from the optimum.
    pub gap: f64,
    /// gap / max(|upper|, a thousandth of the problem's own scale), where the scale is the largest
    /// p_i R_i of the model in the centre of the domain, for a free intercept with the middle of the
    /// targets as its constant; for a stream that of the model itself.
    pub relative_gap: f64,
    /// Whether the lower bound is one for models with any intercept. If not, it is one for those
    /// within ±100, for numbers ±2 max|y| where that is more: as it was in earlier versions, is in
    /// tangents of a stream, and for classes (in whose scores the middle of features far from 0 counts
    /// as 0) where nothing better is known.
    #[serde(default)]
    pub any_intercept: bool,
    /// How the lower bound was found.
    pub method: String,
}

impl Certificate {
    /// Relative gap from which on a certificate says next to nothing.
    pub const VOID: f64 = 0.5;

    /// The certificate of two bounds, for any intercept, of a problem of this scale.
    ///
    /// Bounds that rounding has moved past one another by more than their slack contradict each
    /// other, and neither is better than the other: then the interval between them is the answer.
    pub(crate) fn new(upper: f64, lower: f64, scale: f64, method: String) -> Self {
        // By a comparison, which leaves NaN where it is.
        let (upper, lower) = if lower > upper { (lower, upper) } else { (upper, lower) };
        let gap = upper - lower;
        let size = upper.abs().max(LEAST * scale);
        // Nothing is far from 0 where all is 0.
        let relative_gap = if gap == 0.0 { 0.0 } else { gap / size };
        Certificate { upper, lower, gap, relative_gap, any_intercept: true, method }
    }

    /// Whether the lower bound says next to nothing ([`Certificate::VOID`]).
    pub fn is_void(&self) -> bool {
        self.relative_gap.is_nan() || self.relative_gap > Self::VOID
    }

    /// The certificate with the lower bound of another one for the same problem, whatever its model
    /// and group weights, where that is larger.
    pub fn raised_by(self, other: &Certificate) -> Self {
        if other.lower <= self.lower {
            return self;
        }
        // What the relative gap is measured by does not depend on the lower bound.
        let size = if self.gap > 0.0 { self.gap / self.relative_gap } else { self.upper.abs() };
        let found = Certificate::new(self.upper, other.lower, size / LEAST, other.method.clone());
        Certificate { any_intercept: other.any_intercept, ..found }
    }
}

/// Refuses a model outside of the domain.
pub(crate) fn require_inside<M: MirrorMap>(problem: &Problem<'_, M>, w: &[f64]) -> Result<()> {
    let (weights, intercepts) = w.split_at(problem.features * problem.outputs);
    let bound = problem.domain.intercept.unwrap_or(0.0) * (1.0 + 1e-9);
    let inside = problem.domain.map.contains(weights)
        && (problem.domain.is_free() || intercepts.iter().all(|b| b.abs() <= bound))
        && w.iter().all(|v| v.is_finite());
    require(inside, "model", "outside of the domain", "weights inside ball and bounds")
}

/// The objective that payoffs mean, without the ridge; moves q into Q.
pub(crate) fn best_response<M: MirrorMap>(
    problem: &Problem<'_, M>,
    payoffs: &[f64],
    q: &mut [f64],
) -> Result<f64> {
    if let Goal::Fixed(fixed) = &problem.goal {
        q.copy_from_slice(fixed);
    } else {
        // Averages may leave Q by rounding; underflowed weights must not make it empty.
        q.iter_mut().for_each(|v| *v = v.max(1e-300));
        project_capped_simplex(q, problem.game.k)?;
    }
    Ok(problem.goal.value(payoffs, problem.game.k))
}

/// Relative accuracy of the lower bounds of non-smooth losses.
const KINKED: f64 = 1e-8;

/// Accuracy of the steps of dual ascent for such losses, in units of the gap.
const COARSE: f64 = 0.02;

/// For models with more numbers than a matrix is formed for, the first accuracy of a bound, relative
/// to the objective. It is refined until it is small beside the gap.
const WIDE: f64 = 0.01;

/// Steps of dual ascent for those, where each takes long.
const WIDE_ASCENT: usize = 3;

/// Relative gap from which on such losses are not worth a step of dual ascent, and the number of
/// steps in vain after which none is tried.
const ASCENT: (f64, usize) = (1e-6, 4);

/// How much work a certificate may take.
#[derive(Clone, Copy)]
struct Effort {
    /// Newton steps, or iterations of the first-order method, of each lower bound.
    iterations: usize,
    /// Steps of dual ascent.
    ascent: usize,
}

/// Newton steps of a lower bound.
const NEWTON: usize = 60;

/// A bound for any intercepts of classes takes the place of one for bounded intercepts when it costs no
/// more than this share of the gap, or of the objective.
const DEAR: (f64, f64) = (0.1, 1e-9);

/// Certifies a model `w` and group weights `q` for a problem on rows in memory, whatever solver
/// they came from.
///
/// Both are those of the problem in units of its own, as in [`minimize`](crate::exact::minimize), and
/// for any intercept where it is free.
///
/// - upper: the objective max_{q' ∈ Q} Σ q'_i r_i(w) + (λ/2)‖w‖², with payoffs
///   r_i = p_i(R_i − b_i); for a tilted risk with less the price of q' ([`Goal::price`]).
/// - lower: for the given q, which is first moved into Q, the convex function
///   P_q(w) = Σ q_i r_i(w) + (λ/2)‖w‖² lies above its tangent at any anchor w₀ plus the ridge:
///   P_q(u) ≥ Σ q_i r_i(w₀) + ⟨h, u − w₀⟩ + (λ/2)‖u‖² with h = Σ q_i ∇r_i(w₀), and the minimum of
///   the right-hand side over the domain is known in closed form ([`MirrorMap::minimum`]). The
///   anchor is w after Newton steps on P_q, or iterations of the first-order method, where the
///   bound is almost tight. With a ridge and no
///   ball this is the Fenchel dual at the dual point u_j = −ℓ'(⟨x_j, w₀⟩).
///   For a non-smooth loss the Fenchel bound of [`minimize`](crate::exact::minimize) takes the place of the tangent.
///   The price of q is taken off, for a tilted risk.
///   Where that is less than what [`Loss::infimum`] says of all models, this is the lower bound.
///
/// q as it is gives the bound of the pair (w, q). A q that still has weight on groups that do not
/// matter gives a poor bound for a good w; up to `ascent` steps of mirror ascent on the concave
/// function q ↦ min_w P_q(w), whose gradient is the vector of payoffs at the anchor, replace it by
/// a better one. Any q ∈ Q gives a valid bound.
///
/// `offset_errors` says how far each offset b_i may be from the truth (minimax regret): the upper
/// bound is raised and the lower bound is lowered accordingly. Both bounds carry a slack for
/// round-off that grows with the number of terms and their size.
///
/// # Errors
/// [`crate::Error::Parameter`] when w lies outside of the domain or q has a negative or no
/// weight; otherwise those of [`minimize`](crate::exact::minimize).
pub fn certify<L, M>(
    data: &Dataset,
    loss: &L,
    problem: &Problem<'_, M>,
    w: &[f64],
    q: &[f64],
    offset_errors: Option<&[f64]>,
    ascent: usize,
) -> Result<Certificate>
where
    L: Loss + Sync,
    M: MirrorMap,
{
    let effort = Effort { iterations: NEWTON, ascent };
    certify_within(data, loss, problem, (w, q), offset_errors, effort)
}

/// As [`certify`], in the time of a few gradients: the tangent is that at w itself, and so the lower
/// bound is tight for models near the optimum only.
///
/// # Errors
/// Those of [`certify`].
pub fn certify_at_once<L, M>(
    data: &Dataset,
    loss: &L,
    problem: &Problem<'_, M>,
    w: &[f64],
    q: &[f64],
    offset_errors: Option<&[f64]>,
) -> Result<Certificate>
where
    L: Loss + Sync,
    M: MirrorMap,
{
    let effort = Effort { iterations: 0, ascent: 0 };
    certify_within(data, loss, problem, (w, q), offset_errors, effort)
}

fn certify_within<L, M>(
    data: &Dataset,
    loss: &L,
    problem: &Problem<'_, M>,
    (w, q): (&[f64], &[f64]),
    offset_errors: Option<&[f64]>,
    effort: Effort,
) -> Result<Certificate>
where
    L: Loss + Sync,
    M: MirrorMap,
{
    problem.domain.check(problem.features, problem.outputs)?;
    require_inside(problem, w)?;
    let canonical = Canonical::new(data, loss, problem)?;
    let own = canonical.usual(canonical.goal(&problem.goal));
    let (data, loss, game) = (&canonical.data, canonical.loss(), own.game);
    let w = canonical.model(w);
    let weights = problem.features * problem.outputs;

    let (m, n) = (data.groups(), w.len());
    let (mut values, mut gradients) = (vec![0.0; m], vec![0.0; m * n]);
    // Made anew each time: beside the one of `minimize` it would double the memory that rows take.
    let mut evaluate = |w: &[f64], values: &mut [f64], sized: bool| {
        let mut risks: DatasetRisks<'_, L> =
            DatasetRisks::new(data, loss, problem.domain.intercept.is_some());
        risks.evaluate(w, values, &mut gradients)?;
        // The size of the terms of which the risks are sums, where it is wanted.
        Ok::<_, crate::Error>(if sized { risks.magnitudes(w) } else { Vec::new() })
    };
    let sizes = evaluate(&w, &mut values, true)?;
    let error = |i: usize| game.scales[i] * offset_errors.map_or(0.0, |e| canonical.offset(e[i]));
    let payoffs: Vec<f64> = (0..m).map(|i| game.payoff(i, values[i]) + error(i)).collect();
    let ridge = game.ridge / 2.0 * dot(&w[..weights], &w[..weights]);

    let mut q = q.to_vec();
    let upper = best_response(&own, &payoffs, &mut q)? + ridge;

    // Sums of N terms in chunks lose at most about (chunk + chunks + n) ulp of the terms' size.
    let terms = 2048.0 + data.rows() as f64 / 2048.0 + (m + n) as f64;
    let slack = |value: f64, sizes: &[f64]| {
        let largest = sizes.iter().zip(&game.scales).map(|(s, p)| s * p).fold(0.0, f64::max);
        terms * f64::EPSILON * (value.abs() + ridge + largest).max(1e-3)
    };

    // For non-smooth losses every digit takes Newton steps of its own.
    let is_nonsmooth = loss.is_nonsmooth();
    let close = if is_nonsmooth { KINKED * upper.abs().max(1e-3) } else { 0.0 };
    let rounding = slack(upper, &sizes);
    let tolerance = rounding.max(close);

    // Lower bound and anchor of given weights, from a point near by.
    let mut iterations = 0;
    let mut lower_bound = |q: &[f64], start: &[f64], tolerance: f64| {
        let start = Some(start.to_vec());
        let options = Options { tolerance, relative: 0.0, iterations: effort.iterations, start };
        let best =
            minimize_in(&canonical, &Goal::Fixed(q.to_vec()), &options, &mut Keeper::default())?;
        iterations += best.iterations;
        let doubt: f64 = q.iter().enumerate().map(|(i, q)| q * error(i)).sum();
        Ok::<_, crate::Error>((best.lower - doubt - own.goal.price(q), best.w))
    };
    let is_wide = n > DENSE;
    let (mut lower, mut anchor) = (f64::NEG_INFINITY, w.clone());
    let mut accuracy = if is_wide { tolerance.max(WIDE * upper.abs()) } else { tolerance };
    loop {
        let (bound, near) = lower_bound(&q, &anchor, accuracy)?;
        if bound > lower {
            (lower, anchor) = (bound, near);
        }
        // What a bound is short of its best must not be what the gap consists of.
        let enough = tolerance.max(COARSE * (upper - lower));
        if accuracy <= enough || effort.iterations == 0 {
            break;
        }
        accuracy = enough.min(0.1 * accuracy).max(tolerance);
    }
    let ascent = if is_wide { effort.ascent.min(WIDE_ASCENT) } else { effort.ascent };
    let (mut ascended, mut in_vain) = (0, 0);
    if !matches!(problem.goal, Goal::Fixed(_)) && m > 1 {
        let spread = |p: &[f64]| {
            p.iter().fold(0.0, |a: f64, v| a.max(*v)) - p.iter().fold(0.0, |a: f64, v| a.min(*v))
        };
        let mut eta = 4.0 / spread(&payoffs).max(1e-300);
        for _ in 0..ascent {
            let enough = if is_nonsmooth { ASCENT.0 * upper.abs().max(1e-3) } else { 0.0 };
            let futile = is_nonsmooth && in_vain == ASCENT.1;
            if upper - lower <= (10.0 * rounding).max(enough) || futile {
                break;
            }
            evaluate(&anchor, &mut values, false)?;
            let payoffs: Vec<f64> = (0..m).map(|i| game.payoff(i, values[i])).collect();
            let moved = own.goal.step(&q, &payoffs, 1.0 / eta, game.k)?;
            // Far from the end a coarse bound says as well which way is up.
            let coarse = if is_nonsmooth || is_wide { COARSE * (upper - lower) } else { 0.0 };
            let (bound, near) = lower_bound(&moved, &anchor, tolerance.max(coarse))?;
            if bound > lower {
                (lower, anchor, q) = (bound, near, moved);
                ascended += 1;
                in_vain = 0;
                eta *= 2.0;
            } else {
                in_vain += 1;
                eta *= 0.25;
            }
        }
    }
    let bound = if is_nonsmooth { "Fenchel" } else { "tangent" };
    let steps = if problem.domain.map.constraints().are_smooth() {
        "Newton steps"
    } else {
        "first-order iterations"
    };
    let mut method = format!("{bound} bound after {iterations} {steps}");
    if ascended > 0 {
        method += &format!(" and {ascended} steps of dual ascent");
    }
    // What several intercepts cost when they may be any, where that can be told.
    let is_free = problem.domain.is_free();
    let mut any_intercept = is_free || problem.domain.intercept.is_none();
    if is_free && problem.outputs > 1 {
        let doubt: f64 = q.iter().enumerate().map(|(i, q)| q * error(i)).sum();
        let bound = bound_of_several(&canonical, &anchor, &q, upper)? - doubt - own.goal.price(&q);
        let size = upper.abs().max(LEAST * canonical.scale());
        any_intercept = bound >= lower - DEAR.0 * (upper - lower) - DEAR.1 * size;
        if any_intercept {
            lower = lower.min(bound);
        }
    }
    let beneath = slack(lower, &evaluate(&anchor, &mut values, true)?);
    // No slack where the floor is exactly 0.
    let doubt = |i: usize| offset_errors.map_or(0.0, |e| canonical.offset(e[i]));
    let floor = own.floor(loss.infimum(), doubt);
    let floor = if floor == 0.0 { floor } else { floor - slack(floor, &[]) };
    let upper = canonical.objective(upper + rounding);
    let lower = canonical.objective((lower - beneath).max(floor));
    any_intercept |= lower == canonical.objective(floor);
    let found = Certificate::new(upper, lower, canonical.objective(canonical.scale()), method);
    Ok(Certificate { any_intercept, ..found })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding may move bounds past one another: what is left of them is the interval between.
    #[test]
    fn bounds_never_cross() {
        let crossed = Certificate::new(0.68972, 0.68974, 0.7, String::new());
        assert_eq!((crossed.lower, crossed.upper), (0.68972, 0.68974));
        assert!(crossed.gap > 1e-5 && !crossed.is_void());
        assert!(Certificate::new(0.6, 0.1, 0.7, String::new()).is_void());
        assert!(Certificate::new(f64::NAN, 0.1, 0.7, String::new()).is_void());
    }
}
