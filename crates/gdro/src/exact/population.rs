//! Exact risks of the paper's synthetic sets, without sampling.

use super::Risks;
use crate::error::Result;
use crate::row::dot;
use crate::source::Synthetic;

/// A(s) = E ln(1 + e^{−su}) for u ~ N(0, 1), with A'(s) and A''(s).
///
/// The trapezoidal rule on [−12, 12] with step 1/(50 + 5|s|): the integrand is analytic in the strip
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
/// with a ridge lies in the span of the w_i*. [`Population`] works in an orthonormal basis of it: its
/// models have m' ≤ m coordinates, see [`Population::coordinates`] and [`Population::embed`].
#[derive(Clone, Debug)]
pub struct Population {
    /// Orthonormal basis of span{w_i*}, m' vectors of length d.
    basis: Vec<Vec<f64>>,
    /// c_i w_i* in that basis.
    pulls: Vec<Vec<f64>>,
    /// The point of the last evaluation: its norm, the point itself, A', A''.
    at: (Vec<f64>, [f64; 3]),
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
        Population { basis, pulls, at: (Vec::new(), [0.0; 3]) }
    }

    /// The risk of every group at a model of d numbers.
    pub fn risks(&self, w: &[f64]) -> Vec<f64> {
        let norm = dot(w, w).sqrt();
        let [a, ..] = softplus_mean(norm);
        let inner = self.coordinates(w);
        self.pulls.iter().map(|p| a - dot(&inner, p)).collect()
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

    fn hessian(&mut self, c: &[f64], hessian: &mut [f64]) {
        let (w, a) = &self.at;
        let n = w.len();
        let norm = dot(w, w).sqrt();
        let total: f64 = c.iter().sum();
        let (radial, along) = if norm > 1e-8 {
            (a[1] / norm, (a[2] - a[1] / norm) / (norm * norm))
        } else {
            (a[2], 0.0)
        };
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
    fn softplus_mean_matches_quadrature() {
        let table: [(f64, [f64; 3]); 6] = [
            (0.0, [0.69314718055994531, -1.2099326618815342e-38, 0.25]),
            (0.1, [0.69439562324080934, 0.024937810306418609, 0.24814047184412528]),
            (0.5, [0.72349280106597597, 0.11802221121993983, 0.21100350316053629]),
            (1.765, [0.99833152831868505, 0.28711592141606358, 0.073911072068212512]),
            (5.0, [2.1205474146828353, 0.37572427213991735, 0.0082648071801167219]),
            (40.0, [15.974085276108691, 0.39853301693759303, 2.0419184490367004e-5]),
        ];
        for (s, expected) in table {
            for (a, b) in softplus_mean(s).iter().zip(expected) {
                assert!((a - b).abs() < 2e-15 * (1.0 + b.abs()), "A({s}): {a} {b}");
            }
        }
    }
}
