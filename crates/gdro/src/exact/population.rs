//! Exact risks of the paper's synthetic sets, without sampling.

use super::Risks;
use crate::error::Result;
use crate::game::Game;
use crate::row::dot;
use crate::source::Synthetic;

/// A(s) = E ln(1 + e^{−su}) for u ~ N(0, 1), with A'(s) and A''(s).
///
/// The trapezoidal rule on [−12, 12] with step 1/(50 + 5|s|): the integrand is analytic in the
/// strip
/// |Im u| < π/|s|, where the rule converges like e^{−2π·width/step}, so the error is at rounding
/// level for all s.
pub fn softplus_mean(s: f64) -> [f64; 3] {
    let count = ((12.0 * (50.0 + 5.0 * s.abs())) as i64).max(1);
    let h = 12.0 / count as f64;
    let mut sums = [0.0; 3];
    for at in -count..=count {
        let u = at as f64 * h;
        let density = (-0.5 * u * u).exp();
        let z = s * u;
        let e = (-z.abs()).exp();
        let tail = if z >= 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) };
        sums[0] += density * ((-z).max(0.0) + e.ln_1p());
        sums[1] -= density * u * tail;
        sums[2] += density * u * u * tail * (1.0 - tail);
    }
    let norm = h / (2.0 * std::f64::consts::PI).sqrt();
    sums.map(|v| v * norm)
}

/// The exact logistic risks of a [`Synthetic`] source: with c_i = (2p_i − 1)/√(2π),
///
/// R_i(w) = A(‖w‖) − c_i⟨w, w_i*⟩ (Stein's lemma).
///
/// Gradients and Hessians lie in the span of w and the w_i*, so that every optimum over a ball or
/// with a ridge lies in the span of the w_i*. [`Population`] works in an orthonormal basis of it:
/// its models have m' ≤ m coordinates, see [`Population::coordinates`] and [`Population::embed`].
#[derive(Clone, Debug)]
pub struct Population {
    /// Orthonormal basis of span{w_i*}, m' vectors of length d.
    basis: Vec<Vec<f64>>,
    /// c_i w_i* in that basis.
    pulls: Vec<Vec<f64>>,
    /// The point of the last evaluation: its norm, the point itself, A', A''.
    at: (Vec<f64>, [f64; 3]),
    /// Σ c_i of the products with the Hessian.
    mass: f64,
}

impl Population {
    /// The exact risks of a source.
    pub fn new(source: &Synthetic) -> Self {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for w in source.classifiers() {
            let mut rest = w.clone();
            // Twice is enough (Kahan and Parlett).
            for _ in 0..2 {
                for b in &basis {
                    let along = dot(&rest, b);
                    rest.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
                }
            }
            let norm = dot(&rest, &rest).sqrt();
            if norm > 1e-9 {
                rest.iter_mut().for_each(|v| *v /= norm);
                basis.push(rest);
            }
        }
        let pull = |(w, p): (&Vec<f64>, &f64)| {
            let c = (2.0 * p - 1.0) / (2.0 * std::f64::consts::PI).sqrt();
            basis.iter().map(|b| c * dot(w, b)).collect()
        };
        let pulls = source.classifiers().iter().zip(source.reliabilities()).map(pull).collect();
        Population { basis, pulls, at: (Vec::new(), [0.0; 3]), mass: 0.0 }
    }

    /// The risk of every group at a model of d numbers.
    pub fn risks(&self, w: &[f64]) -> Vec<f64> {
        let norm = dot(w, w).sqrt();
        let [a, ..] = softplus_mean(norm);
        let inner = self.coordinates(w);
        self.pulls.iter().map(|p| a - dot(&inner, p)).collect()
    }

    /// ∇²A at the present point as `radial`·I + `along`·wwᵀ.
    fn curvatures(&self) -> (f64, f64) {
        let (w, a) = &self.at;
        let square = dot(w, w);
        let norm = square.sqrt();
        if norm > 1e-8 { (a[1] / norm, (a[2] - a[1] / norm) / square) } else { (a[2], 0.0) }
    }

    /// min_w φ(w, q) over ‖w‖ ≤ `radius` of the game, in closed form but for one number:
    ///
    /// min_s aA(s) + (λ/2)s² − s‖v‖ − Σ q_i p_i b_i, where a = Σ q_i p_i and v = Σ q_i p_i c_i
    /// w_i*.
    pub fn minimum(&self, game: &Game, q: &[f64], radius: f64) -> f64 {
        let mut v = vec![0.0; self.basis.len()];
        let (mut mass, mut offset) = (0.0, 0.0);
        for (i, (q, pull)) in q.iter().zip(&self.pulls).enumerate() {
            let share = q * game.scales[i];
            mass += share;
            offset += share * game.offsets[i];
            v.iter_mut().zip(pull).for_each(|(v, p)| *v += share * p);
        }
        let pull = dot(&v, &v).sqrt();
        let slope = |s: f64| mass * softplus_mean(s)[1] + game.ridge * s - pull;
        // The slope rises from −‖v‖ at 0: bisection between 0 and a point where it is positive.
        let (mut low, mut high) = (0.0, radius.min(1e9));
        if radius.is_infinite() {
            high = 1.0;
            while slope(high) < 0.0 && high < 1e9 {
                high *= 2.0;
            }
        }
        let s = if slope(high) <= 0.0 {
            high
        } else {
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                if slope(middle) < 0.0 { low = middle } else { high = middle }
            }
            0.5 * (low + high)
        };
        mass * softplus_mean(s)[0] + game.ridge / 2.0 * s * s - s * pull - offset
    }

    /// The exact duality gap of a model of d numbers and group weights over ‖w‖ ≤ `radius`: ε_φ(w,
    /// q) of label `eqn:per:measure`, or ε'_φ of label `eqn:AT_k:measure` when the game has a cap.
    pub fn gap(&self, game: &Game, w: &[f64], q: &[f64], radius: f64) -> f64 {
        let upper = game.objective(&self.risks(w)) + game.ridge / 2.0 * dot(w, w);
        upper - self.minimum(game, q, radius)
    }

    /// The coordinates of the projection of a model of d numbers onto the span of the w_i*.
    pub fn coordinates(&self, w: &[f64]) -> Vec<f64> {
        self.basis.iter().map(|b| dot(w, b)).collect()
    }

    /// The model of d numbers with these coordinates.
    pub fn embed(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut w = vec![0.0; self.basis.first().map_or(0, Vec::len)];
        for (c, b) in coordinates.iter().zip(&self.basis) {
            w.iter_mut().zip(b).for_each(|(w, b)| *w += c * b);
        }
        w
    }
}

impl Risks for Population {
    fn groups(&self) -> usize {
        self.pulls.len()
    }

    fn dim(&self) -> usize {
        self.basis.len()
    }

    fn infimum(&self) -> f64 {
        0.0
    }

    fn evaluate(&mut self, w: &[f64], risks: &mut [f64], gradients: &mut [f64]) -> Result<()> {
        let norm = dot(w, w).sqrt();
        let a = softplus_mean(norm);
        self.at = (w.to_vec(), a);
        // A'(s)/s → A''(0) as s → 0.
        let radial = if norm > 1e-8 { a[1] / norm } else { a[2] };
        let lines = gradients.chunks_exact_mut(w.len());
        for ((risk, line), pull) in risks.iter_mut().zip(lines).zip(&self.pulls) {
            *risk = a[0] - dot(w, pull);
            for ((g, w), p) in line.iter_mut().zip(w).zip(pull) {
                *g = radial * w - p;
            }
        }
        Ok(())
    }

    fn hessian_diagonal(&mut self, c: &[f64], diagonal: &mut [f64]) {
        let n = diagonal.len();
        let mut hessian = vec![0.0; n * n];
        self.hessian(c, &mut hessian);
        diagonal.iter_mut().enumerate().for_each(|(j, d)| *d = hessian[j * n + j]);
        self.mass = c.iter().sum();
    }

    fn hessian_times(&mut self, v: &[f64], out: &mut [f64]) {
        let (radial, along) = self.curvatures();
        let inner = along * dot(&self.at.0, v);
        for ((o, v), w) in out.iter_mut().zip(v).zip(&self.at.0) {
            *o = self.mass * (radial * v + inner * w);
        }
    }

    fn hessian(&mut self, c: &[f64], hessian: &mut [f64]) {
        let w = &self.at.0;
        let n = w.len();
        let total: f64 = c.iter().sum();
        let (radial, along) = self.curvatures();
        for i in 0..n {
            for j in 0..=i {
                let diagonal = if i == j { radial } else { 0.0 };
                hessian[i * n + j] = total * (diagonal + along * w[i] * w[j]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values by adaptive quadrature, `tests/oracles/softplus_mean.py`.
    #[test]
    #[allow(clippy::excessive_precision, clippy::approx_constant)] // As the oracle prints them.
    fn softplus_mean_matches_quadrature() {
        let [value, slope, curvature] = softplus_mean(0.0);
        assert!((value - std::f64::consts::LN_2).abs() < 1e-15);
        assert!(slope.abs() < 1e-15 && (curvature - 0.25).abs() < 1e-15);
        let table: [(f64, [f64; 3]); 5] = [
            (0.1, [0.6943956232408094, 0.024937810306418607, 0.24814047184412527]),
            (0.5, [0.723492801065976, 0.11802221121993983, 0.2110035031605363]),
            (1.765, [0.9983315283186851, 0.28711592141606357, 0.07391107206821251]),
            (5.0, [2.1205474146828354, 0.3757242721399173, 0.008264807180116723]),
            (40.0, [15.974085276108692, 0.398533016937593, 2.0419184490367003e-05]),
        ];
        for (s, expected) in table {
            for (a, b) in softplus_mean(s).iter().zip(expected) {
                assert!((a - b).abs() < 2e-15 * (1.0 + b.abs()), "A({s}): {a} {b}");
            }
        }
    }
}
