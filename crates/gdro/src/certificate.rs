//! Proofs of optimality: how far any answer is from the best possible.

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::domain::MirrorMap;
use crate::error::{Result, require};
use crate::exact::{DENSE, DatasetRisks, Goal, Options, Problem, Risks as _, minimize};
use crate::game::top_k_mean;
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
    /// gap / max(|upper|, 1e-3).
    pub relative_gap: f64,
    /// How the lower bound was found.
    pub method: String,
}

impl Certificate {
    /// Relative gap from which on a certificate says next to nothing.
    pub const VOID: f64 = 0.5;

    /// The certificate of two bounds.
    ///
    /// Bounds that rounding has moved past one another by more than their slack contradict each
    /// other, and neither is better than the other: then the interval between them is the answer.
    pub(crate) fn new(upper: f64, lower: f64, method: String) -> Self {
        // By a comparison, which leaves NaN where it is.
        let (upper, lower) = if lower > upper { (lower, upper) } else { (upper, lower) };
        let gap = upper - lower;
        let relative_gap = gap / upper.abs().max(1e-3);
        Certificate { upper, lower, gap, relative_gap, method }
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
        Certificate::new(self.upper, other.lower, other.method.clone())
    }
}

/// Refuses a model outside of the domain.
pub(crate) fn require_inside<M: MirrorMap>(problem: &Problem<'_, M>, w: &[f64]) -> Result<()> {
    let (weights, intercepts) = w.split_at(problem.features * problem.outputs);
    let bound = problem.domain.intercept.unwrap_or(0.0) * (1.0 + 1e-9);
    let inside = problem.domain.map.contains(weights)
        && intercepts.iter().all(|b| b.abs() <= bound)
        && w.iter().all(|v| v.is_finite());
    require(inside, "model", "outside of the domain", "weights inside ball and bounds")
}

/// The objective that payoffs mean, without the ridge; moves q into Q.
pub(crate) fn best_response<M: MirrorMap>(
    problem: &Problem<'_, M>,
    payoffs: &[f64],
    q: &mut [f64],
) -> Result<f64> {
    match &problem.goal {
        Goal::Fixed(fixed) => {
            q.copy_from_slice(fixed);
            Ok(dot(q, payoffs))
        }
        Goal::Adversary => {
            // Averages may leave Q by rounding; underflowed weights must not make it empty.
            q.iter_mut().for_each(|v| *v = v.max(1e-300));
            project_capped_simplex(q, problem.game.k)?;
            Ok(top_k_mean(payoffs, problem.game.k))
        }
    }
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

/// Certifies a model `w` and group weights `q` for a problem on rows in memory, whatever solver
/// they came from.
///
/// - upper: the objective max_{q' ∈ Q} Σ q'_i r_i(w) + (λ/2)‖w‖², with payoffs
///   r_i = p_i(R_i − b_i).
/// - lower: for the given q, which is first moved into Q, the convex function
///   P_q(w) = Σ q_i r_i(w) + (λ/2)‖w‖² lies above its tangent at any anchor w₀ plus the ridge:
///   P_q(u) ≥ Σ q_i r_i(w₀) + ⟨h, u − w₀⟩ + (λ/2)‖u‖² with h = Σ q_i ∇r_i(w₀), and the minimum of
///   the right-hand side over the domain is known in closed form ([`MirrorMap::minimum`]). The
///   anchor is w after Newton steps on P_q, or iterations of the first-order method, where the
///   bound is almost tight. With a ridge and no
///   ball this is the Fenchel dual at the dual point u_j = −ℓ'(⟨x_j, w₀⟩).
///   For a non-smooth loss the Fenchel bound of [`minimize`] takes the place of the tangent.
///   Where that is less than what [`Loss::infimum`] says of all models, this is the lower bound.
///
/// q as it is gives the bound of the pair (w, q). A q that still has weight on groups that do not
/// matter gives a poor bound for a good w; up to `ascent` steps of mirror ascent on the concave
/// function q ↦ min_w P_q(w), whose gradient is the vector of payoffs at the anchor, replace it by
/// a better one. Any q ∈ Q gives a valid bound.
///
/// `offset_errors` says how far each offset b_i may be from the truth (minimax regret): the upper
/// bound is raised and the lower bound is lowered accordingly. Both bounds carry a slack for
/// round-off that grows with the number of terms.
///
/// # Errors
/// [`crate::Error::Parameter`] when w lies outside of the domain or q has a negative or no
/// weight; otherwise those of [`minimize`].
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
    let game = problem.game;
    let weights = problem.features * problem.outputs;
    problem.domain.check(problem.features, problem.outputs)?;
    require_inside(problem, w)?;

    let (m, n) = (data.groups(), w.len());
    let (mut values, mut gradients) = (vec![0.0; m], vec![0.0; m * n]);
    // Made anew each time: beside the one of `minimize` it would double the memory that rows take.
    let mut evaluate = |w: &[f64], values: &mut [f64]| {
        let mut risks: DatasetRisks<'_, L> =
            DatasetRisks::new(data, loss, problem.domain.intercept.is_some());
        risks.evaluate(w, values, &mut gradients)
    };
    evaluate(w, &mut values)?;
    let error = |i: usize| game.scales[i] * offset_errors.map_or(0.0, |e| e[i]);
    let payoffs: Vec<f64> = (0..m).map(|i| game.payoff(i, values[i]) + error(i)).collect();
    let ridge = game.ridge / 2.0 * dot(&w[..weights], &w[..weights]);

    let mut q = q.to_vec();
    let upper = best_response(problem, &payoffs, &mut q)? + ridge;

    // Sums of N terms in chunks lose at most about (chunk + chunks + n) ulp of the terms' size.
    let terms = 2048.0 + data.rows() as f64 / 2048.0 + (m + n) as f64;
    let slack = |value: f64| terms * f64::EPSILON * (value.abs() + ridge).max(1e-3);

    // For non-smooth losses every digit takes Newton steps of its own.
    let is_nonsmooth = loss.is_nonsmooth();
    let close = if is_nonsmooth { KINKED * upper.abs().max(1e-3) } else { 0.0 };
    let tolerance = slack(upper).max(close);

    // Lower bound and anchor of given weights, from a point near by.
    let mut iterations = 0;
    let mut lower_bound = |q: &[f64], start: &[f64], tolerance: f64| {
        let anchored = Problem { goal: Goal::Fixed(q.to_vec()), ..*problem };
        let options = Options { tolerance, iterations: 60, start: Some(start.to_vec()) };
        let best = minimize(data, loss, &anchored, &options)?;
        iterations += best.iterations;
        let doubt: f64 = q.iter().enumerate().map(|(i, q)| q * error(i)).sum();
        Ok::<_, crate::Error>((best.lower - doubt, best.w))
    };
    let is_wide = n > DENSE;
    let (mut lower, mut anchor) = (f64::NEG_INFINITY, w.to_vec());
    let mut accuracy = if is_wide { tolerance.max(WIDE * upper.abs()) } else { tolerance };
    loop {
        let (bound, near) = lower_bound(&q, &anchor, accuracy)?;
        if bound > lower {
            (lower, anchor) = (bound, near);
        }
        // What a bound is short of its best must not be what the gap consists of.
        let enough = tolerance.max(COARSE * (upper - lower));
        if accuracy <= enough {
            break;
        }
        accuracy = enough.min(0.1 * accuracy).max(tolerance);
    }
    let ascent = if is_wide { ascent.min(WIDE_ASCENT) } else { ascent };
    let (mut ascended, mut in_vain) = (0, 0);
    if matches!(problem.goal, Goal::Adversary) && m > 1 {
        let spread = |p: &[f64]| {
            p.iter().fold(0.0, |a: f64, v| a.max(*v)) - p.iter().fold(0.0, |a: f64, v| a.min(*v))
        };
        let mut eta = 4.0 / spread(&payoffs).max(1e-300);
        for _ in 0..ascent {
            let enough = if is_nonsmooth { ASCENT.0 * upper.abs().max(1e-3) } else { 0.0 };
            let futile = is_nonsmooth && in_vain == ASCENT.1;
            if upper - lower <= (10.0 * slack(upper)).max(enough) || futile {
                break;
            }
            evaluate(&anchor, &mut values)?;
            let top = (0..m).map(|i| game.payoff(i, values[i])).fold(f64::NEG_INFINITY, f64::max);
            let mut moved: Vec<f64> = (0..m)
                .map(|i| q[i] * (eta * (game.payoff(i, values[i]) - top)).exp())
                .map(|v| v.max(1e-300))
                .collect();
            project_capped_simplex(&mut moved, game.k)?;
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
    // No slack where the floor is exactly 0.
    let floor = problem.floor(loss.infimum(), |i| offset_errors.map_or(0.0, |e| e[i]));
    let floor = if floor == 0.0 { floor } else { floor - slack(floor) };
    Ok(Certificate::new(upper + slack(upper), (lower - slack(lower)).max(floor), method))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding may move bounds past one another: what is left of them is the interval between.
    #[test]
    fn bounds_never_cross() {
        let crossed = Certificate::new(0.68972, 0.68974, String::new());
        assert_eq!((crossed.lower, crossed.upper), (0.68972, 0.68974));
        assert!(crossed.gap > 1e-5 && !crossed.is_void());
        assert!(Certificate::new(0.6, 0.1, String::new()).is_void());
        assert!(Certificate::new(f64::NAN, 0.1, String::new()).is_void());
    }
}
