//! Proofs of optimality from a single pass over the rows, for data that do not fit in memory.

use faer::linalg::solvers::Solve as _;
use faer::{Mat, MatRef, Side};
use serde::{Deserialize, Serialize};

use crate::certificate::{Certificate, best_response, require_inside};
use crate::dataset::Dataset;
use crate::domain::MirrorMap;
use crate::error::{Error, Result};
use crate::exact::{DatasetRisks, Goal, Problem, Risks as _};
use crate::game::Game;
use crate::group_weights::project_capped_simplex;
use crate::loss::Loss;
use crate::row::dot;

/// Largest number of entries of all Hessians together: 16 MB.
const MOST: usize = 1 << 21;

/// Most steps of dual ascent.
const ASCENT: usize = 80;

/// The risks R_i of m groups around one model w: values, gradients and, where they fit and help,
/// Hessians, summed up over batches of rows that need not be in memory together.
///
/// [`Expansion::certify`] turns them into a [`Certificate`]. With payoffs r_i = p_i(R_i − b_i),
/// F(v) = Σ q_i r_i(w + v) + (λ/2)‖w + v‖² for any q ∈ Q, h = Σ q_i ∇r_i(w) and
/// H = Σ q_i ∇²r_i(w), the optimum is at least the larger of two bounds:
///
/// - the tangent, for every convex loss: F(v) ≥ Σ q_i r_i(w) + ⟨h, v⟩ + (λ/2)‖w + v‖², whose
///   minimum over the domain is known in closed form ([`MirrorMap::minimum`]);
/// - the quadratic, for losses with a [`Loss::self_concordance`] M: along v, with ρ the largest ‖x‖ (of
///   features and the constant) and s = Mρ‖v‖, F(v) ≥ F(0) + ⟨G, v⟩ + ⟨v, A(s) v⟩, where
///   G = h + λw, A(s) = c(s) H + (λ/2) I and c(s) = (e^{−s} + s − 1)/s² falls from ½ (Bach 2010,
///   doi:10.1214/09-EJS521). If T is so large that T² λ_min(A) ≥ ⟨G, A⁻¹G⟩ for A = A(MρT), then
///   F(v) ≥ F(0) on the sphere ‖v‖ = T, so by convexity outside of it, and inside F(v) ≥ F(0) −
///   ¼⟨G, A⁻¹G⟩. The smallest such T is used.
///
/// Near the optimum the second one is tight: it loses a third of the gap at most as s → 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expansion {
    w: Vec<f64>,
    intercept: bool,
    weights: Vec<f64>,
    values: Vec<f64>,
    gradients: Vec<f64>,
    /// Lower triangles, row by row; empty when there are none.
    hessians: Vec<f64>,
    /// The largest ‖x‖², the constant of the intercept included.
    norm: f64,
    batches: usize,
    memory: Vec<f64>,
}

impl Expansion {
    /// An empty expansion at the model `w` for m groups under a loss; `intercept` says whether the
    /// last numbers of w are intercepts.
    pub fn new<L: Loss>(loss: &L, w: Vec<f64>, intercept: bool, groups: usize) -> Self {
        let n = w.len();
        let second = loss.self_concordance().is_some() && groups.saturating_mul(n * n) <= MOST;
        let hessians = vec![0.0; if second { groups * n * n } else { 0 }];
        Expansion {
            w,
            intercept,
            weights: vec![0.0; groups],
            values: vec![0.0; groups],
            gradients: vec![0.0; groups * n],
            hessians,
            norm: 0.0,
            batches: 0,
            memory: Vec::new(),
        }
    }

    /// Whether another expansion is one at the same model, for as many groups: this one, which has no rows,
    /// may be replaced by it.
    pub fn is_like(&self, other: &Expansion) -> bool {
        let bits = |w: &[f64]| w.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
        let lengths =
            |e: &Expansion| [e.weights.len(), e.values.len(), e.gradients.len(), e.hessians.len()];
        bits(&self.w) == bits(&other.w)
            && self.intercept == other.intercept
            && lengths(self) == lengths(other)
    }

    /// Adds rows; `groups[i]` says which group the group i of `data` is.
    ///
    /// # Errors
    /// Those of the loss; [`Error::NonFiniteLoss`] with the number of the group here.
    ///
    /// # Panics
    /// When a group is out of range.
    pub fn add<L: Loss + Sync>(
        &mut self,
        loss: &L,
        data: &Dataset,
        groups: &[usize],
    ) -> Result<()> {
        let n = self.w.len();
        let mut risks: DatasetRisks<'_, L> = DatasetRisks::new(data, loss, self.intercept);
        let mut values = vec![0.0; data.groups()];
        let mut gradients = vec![0.0; data.groups() * n];
        risks.evaluate(&self.w, &mut values, &mut gradients)?;
        for (local, group) in groups.iter().copied().enumerate() {
            let rows = data.total_weight(local);
            if !values[local].is_finite() {
                return Err(Error::NonFiniteLoss { group, round: 0, value: values[local] });
            }
            self.weights[group] += rows;
            self.values[group] += rows * values[local];
            let from = &gradients[local * n..][..n];
            let sums = self.gradients[group * n..][..n].iter_mut();
            sums.zip(from).for_each(|(sum, g)| *sum += rows * g);
            if !self.hessians.is_empty() {
                let mut only = vec![0.0; data.groups()];
                only[local] = rows;
                self.memory.clear();
                self.memory.resize(n * n, 0.0);
                risks.hessian(&only, &mut self.memory);
                let sums = self.hessians[group * n * n..][..n * n].iter_mut();
                sums.zip(&self.memory).for_each(|(sum, h)| *sum += h);
            }
        }
        let constant = if self.intercept { 1.0 } else { 0.0 };
        for row in 0..data.rows() {
            self.norm = self.norm.max(data.sample(row).x.norm_squared() + constant);
        }
        self.batches += 1;
        Ok(())
    }

    /// The risks R_1(w), …, R_m(w); NaN for a group without rows.
    pub fn risks(&self) -> Vec<f64> {
        self.values.iter().zip(&self.weights).map(|(v, n)| v / n).collect()
    }

    /// Certifies w for the problem whose rows were added. `q` are group weights from which dual
    /// ascent starts, but for a tilted risk; any give a valid bound.
    ///
    /// # Errors
    /// [`Error::Parameter`] when w lies outside of the domain, [`Error::EmptyGroup`] for a group
    /// without rows, [`Error::Length`] when q or the game have other numbers of groups.
    pub fn certify<L, M>(
        &self,
        loss: &L,
        problem: &Problem<'_, M>,
        q: &[f64],
    ) -> Result<Certificate>
    where
        L: Loss,
        M: MirrorMap,
    {
        let (m, n, game) = (self.weights.len(), self.w.len(), problem.game);
        for (what, found) in [("game", game.groups()), ("group weights", q.len())] {
            if found != m {
                return Err(Error::Length { what, found, expected: m });
            }
        }
        if let Some(group) = self.weights.iter().position(|n| *n <= 0.0) {
            return Err(Error::EmptyGroup { group, groups: m });
        }
        let ends = problem.features * problem.outputs;
        require_inside(problem, &self.w)?;
        let risks = self.risks();
        let payoffs: Vec<f64> = (0..m).map(|i| game.payoff(i, risks[i])).collect();
        let mut q = q.to_vec();
        let upper = best_response(problem, &payoffs, &mut q)?;
        let ridge = game.ridge / 2.0 * dot(&self.w[..ends], &self.w[..ends]);
        let view = View { expansion: self, game, ends, payoffs: &payoffs };
        let tangent = |q: &[f64]| {
            let h = view.gradient(q);
            let least = problem.domain.minimum(&h, game.ridge, problem.features, problem.outputs);
            dot(q, &payoffs) - problem.goal.price(q) - dot(&h, &self.w) + least
        };
        let mut lower = tangent(&q);
        let mut method = "tangent bound from one pass".to_owned();
        let mut by_tangent = true;
        let reach = loss.self_concordance().map(|m| m * self.norm.sqrt());
        if let (Some(reach), false) = (reach, self.hessians.is_empty()) {
            let moves = problem.goal == Goal::Adversary && m > 1;
            let (bound, steps) = view.ascend(&mut q, reach, moves)?;
            let bound = bound - problem.goal.price(&q);
            let better = bound.max(tangent(&q));
            if better > lower {
                (lower, by_tangent) = (better, better > bound);
                method = format!("second-order bound from one pass, {steps} steps of dual ascent");
            }
        }
        // Each batch sums in stretches, and the batches are added one by one.
        let terms = 4096.0 + self.batches as f64 + (m + n) as f64;
        let upper = upper + ridge;
        // The lower bound is a difference of numbers of the size of the upper one.
        let size = payoffs.iter().fold(upper.abs(), |a, p| a.max(p.abs()));
        let slack = |v: f64| terms * f64::EPSILON * (v + ridge).max(1e-3);
        let (above, below) = (slack(upper.abs()), slack(size.max(lower.abs())));
        let floor = problem.floor(loss.infimum(), |_| 0.0);
        let floor = if floor == 0.0 { floor } else { floor - below };
        let lower = (lower - below).max(floor);
        // The floor and the quadratic know no bound on the intercept.
        let any_intercept = lower == floor || !self.intercept || !by_tangent;
        let found = Certificate::new(upper + above, lower, size, method);
        Ok(Certificate { any_intercept, ..found })
    }
}

/// An expansion in the eyes of a game.
struct View<'a> {
    expansion: &'a Expansion,
    game: &'a Game,
    /// Number of weights, which are penalised; intercepts follow.
    ends: usize,
    payoffs: &'a [f64],
}

/// The minimum of the quadratic, and where it is.
struct Bound {
    value: f64,
    v: Vec<f64>,
    curvature: f64,
}

impl View<'_> {
    /// q_i p_i / n_i: the share of the sums of group i.
    fn share(&self, group: usize, q: f64) -> f64 {
        q * self.game.scales[group] / self.expansion.weights[group]
    }

    /// h = Σ q_i ∇r_i(w).
    fn gradient(&self, q: &[f64]) -> Vec<f64> {
        let n = self.expansion.w.len();
        let mut h = vec![0.0; n];
        for (i, q) in q.iter().enumerate() {
            let by = self.share(i, *q);
            let of = &self.expansion.gradients[i * n..][..n];
            h.iter_mut().zip(of).for_each(|(h, g)| *h += by * g);
        }
        h
    }

    /// The lower bound of these group weights; `None` where no T is large enough.
    fn bound(&self, q: &[f64], reach: f64) -> Option<Bound> {
        let n = self.expansion.w.len();
        let (ridge, w) = (self.game.ridge, &self.expansion.w);
        let mut gradient = self.gradient(q);
        gradient[..self.ends].iter_mut().zip(w).for_each(|(g, w)| *g += ridge * w);
        let mut hessian = vec![0.0; n * n];
        for (i, q) in q.iter().enumerate() {
            let by = self.share(i, *q);
            let of = &self.expansion.hessians[i * n * n..][..n * n];
            hessian.iter_mut().zip(of).for_each(|(h, g)| *h += by * g);
        }
        let here = dot(q, self.payoffs) + ridge / 2.0 * dot(&w[..self.ends], &w[..self.ends]);
        let right = Mat::from_fn(n, 1, |i, _| gradient[i]);
        let mut radius = 1e-9;
        // With a constant c one T is as good as another.
        let grid = if reach == 0.0 { 1 } else { 80 };
        for _ in 0..grid {
            let curvature = remainder(reach * radius);
            let mut matrix: Vec<f64> = hessian.iter().map(|h| curvature * h).collect();
            (0..self.ends).for_each(|j| matrix[j * n + j] += ridge / 2.0);
            let matrix = MatRef::from_row_major_slice(&matrix, n, n);
            let least = matrix.self_adjoint_eigenvalues(Side::Lower).ok();
            let least = least.and_then(|values| values.into_iter().reduce(f64::min));
            // Eigenvalues have an absolute error of the order of n ε times the largest one.
            let trust = (0..n).map(|j| matrix[(j, j)]).sum::<f64>() * n as f64 * f64::EPSILON;
            let least = least.map_or(0.0, |l| l - 4.0 * trust);
            if least > 0.0
                && let Ok(factor) = matrix.llt(Side::Lower)
            {
                let solved = factor.solve(&right);
                let v: Vec<f64> = (0..n).map(|i| -0.5 * solved[(i, 0)]).collect();
                // ⟨G, A⁻¹G⟩ is at most that of the solution and its residual, squared, over λ_min.
                let square = -2.0 * dot(&gradient, &v);
                let residual: f64 = (0..n)
                    .map(|i| {
                        let row = (0..n).map(|j| matrix[(i.max(j), i.min(j))] * solved[(j, 0)]);
                        (row.sum::<f64>() - gradient[i]).powi(2)
                    })
                    .sum();
                let square = square.max(0.0)
                    + residual / least
                    + 2.0 * (residual.sqrt() * dot(&v, &v).sqrt());
                if reach == 0.0 || radius * radius * least >= square {
                    return Some(Bound { value: here - 0.25 * square, v, curvature });
                }
            }
            radius *= 1.5;
        }
        None
    }

    /// Mirror ascent on q ↦ the lower bound. Returns the best one and the number of steps.
    fn ascend(&self, q: &mut Vec<f64>, reach: f64, moves: bool) -> Result<(f64, usize)> {
        let Some(mut best) = self.bound(q, reach) else { return Ok((f64::NEG_INFINITY, 0)) };
        let (mut steps, mut in_vain) = (0, 0);
        let mut eta = None;
        while moves && steps + in_vain < ASCENT && in_vain < 12 {
            let slope = self.slope(&best);
            let top = slope.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let low = slope.iter().copied().fold(f64::INFINITY, f64::min);
            let by = *eta.get_or_insert(4.0 / (top - low).max(1e-300));
            let mut moved: Vec<f64> = q
                .iter()
                .zip(&slope)
                .map(|(q, s)| (q * (by * (s - top)).exp()).max(1e-300))
                .collect();
            project_capped_simplex(&mut moved, self.game.k)?;
            match self.bound(&moved, reach).filter(|b| b.value > best.value) {
                Some(bound) => {
                    (*q, best) = (moved, bound);
                    steps += 1;
                    in_vain = 0;
                    eta = Some(2.0 * by);
                }
                None => {
                    in_vain += 1;
                    eta = Some(0.25 * by);
                }
            }
        }
        Ok((best.value, steps))
    }

    /// The derivative of the bound in q: r_i(w) + ⟨∇r_i, v⟩ + c ⟨v, ∇²r_i v⟩ at its minimum.
    fn slope(&self, bound: &Bound) -> Vec<f64> {
        let n = self.expansion.w.len();
        let of = |i: usize| {
            let by = self.share(i, 1.0);
            let g = &self.expansion.gradients[i * n..][..n];
            let h = &self.expansion.hessians[i * n * n..][..n * n];
            let curved: f64 = (0..n)
                .map(|j| {
                    let line = &h[j * n..][..j];
                    bound.v[j] * (2.0 * dot(line, &bound.v[..j]) + h[j * n + j] * bound.v[j])
                })
                .sum();
            self.payoffs[i] + by * (dot(g, &bound.v) + bound.curvature * curved)
        };
        (0..self.payoffs.len()).map(of).collect()
    }
}

/// c(s) = (e^{−s} + s − 1)/s².
fn remainder(s: f64) -> f64 {
    if s < 1e-3 {
        // The series alternates: cut after a negative term it is a lower bound.
        return 0.5 - s / 6.0;
    }
    ((-s).exp_m1() + s) / (s * s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remainder_falls_from_one_half() {
        assert_eq!(remainder(0.0), 0.5);
        assert!((remainder(1.0) - (-1f64).exp()).abs() < 1e-15);
        let values: Vec<f64> = (-12..8).map(|e| remainder(10f64.powi(e))).collect();
        assert!(values.windows(2).all(|v| v[1] <= v[0]), "{values:?}");
    }
}
