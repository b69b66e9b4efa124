//! Softmax cross-entropy.

use super::Loss;
use super::plus::x_ln_x;
use crate::error::{Result, require};

/// Softmax cross-entropy of c ≥ 2 scores: ℓ(s, y) = ln Σ_j e^{s_j} − s_y, y ∈ {0, …, c − 1}.
///
/// Range ln(1 + (c − 1) e^{√2 bound}) for ‖s‖₂ ≤ bound, Lipschitz constant √2, curvature ½.
/// The conjugate is Σ_j v_j ln v_j for v = u + e_y in the simplex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Softmax {
    classes: usize,
}

impl Softmax {
    /// The loss for two classes.
    pub(super) const TWO: Softmax = Softmax { classes: 2 };

    /// The loss for `classes` classes.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] for fewer than 2 classes.
    pub fn new(classes: usize) -> Result<Self> {
        require(classes >= 2, "classes", classes, "at least 2")?;
        Ok(Softmax { classes })
    }

    fn largest(scores: &[f64]) -> f64 {
        scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Writes e^{s_j} / Σ_k e^{s_k}. Gives the largest score and Σ_j e^{s_j − max}.
    #[inline]
    fn probabilities(scores: &[f64], out: &mut [f64]) -> (f64, f64) {
        let max = Self::largest(scores);
        out.iter_mut().zip(scores).for_each(|(p, s)| *p = (s - max).exp());
        let sum = out.iter().sum();
        out.iter_mut().for_each(|p| *p /= sum);
        (max, sum)
    }
}

impl Loss for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn outputs(&self) -> usize {
        self.classes
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        let max = Self::largest(scores);
        let sum: f64 = scores.iter().map(|s| (s - max).exp()).sum();
        Ok(sum.ln() + (max - scores[y as usize]))
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        let (max, sum) = Self::probabilities(scores, slope);
        slope[y as usize] -= 1.0;
        Ok(sum.ln() + (max - scores[y as usize]))
    }

    fn hessian(&self, scores: &[f64], _y: f64, hessian: &mut [f64]) {
        // diag(p) − p pᵀ, with the p in the last line until that is their turn.
        let c = self.classes;
        let (lines, p) = hessian.split_at_mut((c - 1) * c);
        Self::probabilities(scores, p);
        for (i, line) in lines.chunks_exact_mut(c).enumerate() {
            line.iter_mut().zip(&*p).for_each(|(h, pj)| *h = -p[i] * pj);
            line[i] = p[i] * (1.0 - p[i]);
        }
        let last = p[c - 1];
        p.iter_mut().for_each(|h| *h *= -last);
        p[c - 1] = last * (1.0 - last);
    }

    fn curvatures(&self, scores: &[f64], _y: f64, _scratch: &mut [f64], diagonal: &mut [f64]) {
        Self::probabilities(scores, diagonal);
        diagonal.iter_mut().for_each(|p| *p *= 1.0 - *p);
    }

    fn hessian_times(
        &self,
        scores: &[f64],
        _y: f64,
        v: &[f64],
        _scratch: &mut [f64],
        out: &mut [f64],
    ) {
        // p ∘ (v − ⟨p, v⟩): c numbers, not c².
        Self::probabilities(scores, out);
        let mean: f64 = out.iter().zip(v).map(|(p, v)| p * v).sum();
        out.iter_mut().zip(v).for_each(|(p, v)| *p *= v - mean);
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        // Σ v ln v for v = u + e_y in the simplex.
        let v = |j: usize| u[j] + if j == y as usize { 1.0 } else { 0.0 };
        let sum: f64 = u.iter().sum();
        let slack = 1e-12 * self.classes as f64;
        if sum.abs() > slack || (0..self.classes).any(|j| v(j) < -slack) {
            return f64::INFINITY;
        }
        (0..self.classes).map(|j| x_ln_x(v(j))).sum()
    }

    fn accepts(&self, y: f64) -> bool {
        y >= 0.0 && y < self.classes as f64 && y.fract() == 0.0
    }

    fn expects(&self) -> String {
        format!("a class index from 0 to {}", self.classes - 1)
    }

    fn range(&self, bound: f64, _target: f64) -> f64 {
        let z = std::f64::consts::SQRT_2 * bound;
        let others = (self.classes - 1) as f64;
        z + (others + (-z).exp()).ln()
    }

    fn lipschitz(&self, _bound: f64, _target: f64) -> f64 {
        std::f64::consts::SQRT_2
    }

    fn curvature(&self) -> f64 {
        0.5
    }

    fn self_concordance(&self) -> Option<f64> {
        // The third cumulant of δ is at most (max δ − min δ) ≤ √2‖δ‖₂ times its variance.
        Some(std::f64::consts::SQRT_2)
    }

    fn correct(&self, scores: &[f64], y: f64) -> Option<bool> {
        // The first of equal scores is the prediction.
        let best = (1..scores.len()).fold(0, |b, j| if scores[j] > scores[b] { j } else { b });
        Some(best == y as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_match_differences() {
        let loss = Softmax::new(3).unwrap();
        for y in [0.0, 1.0, 2.0] {
            super::super::check_derivatives(&loss, &[0.3, -1.2, 2.0], y);
            super::super::check_derivatives(&loss, &[0.0, 0.0, 0.0], y);
        }
    }

    #[test]
    fn two_classes_equal_the_logistic_loss() {
        let loss = Softmax::new(2).unwrap();
        for s in [-3.0, 0.0, 0.7] {
            let two = loss.value(&[0.0, s], 1.0).unwrap();
            let one = super::super::Logistic.value(&[s], 1.0).unwrap();
            assert!((two - one).abs() < 1e-15);
        }
    }

    #[test]
    fn extreme_scores_stay_finite() {
        let loss = Softmax::new(3).unwrap();
        let mut slope = [0.0; 3];
        let value = loss.slope(&[1e300, -1e300, 0.0], 1.0, &mut slope).unwrap();
        assert_eq!(value, 2e300);
        assert_eq!(slope, [1.0, -1.0, 0.0]);
    }

    /// Equality at slopes, inequality everywhere in the domain, +∞ outside of it.
    #[test]
    fn fenchel_and_young() {
        let loss = Softmax::new(3).unwrap();
        let points = [[0.3, -1.2, 2.0], [0.0, 0.0, 0.0], [-3.0, 1.0, 0.5]];
        let mut u = [0.0; 3];
        for y in [0.0, 1.0, 2.0] {
            for s in &points {
                let value = loss.slope(s, y, &mut u).unwrap();
                let product: f64 = u.iter().zip(s).map(|(u, s)| u * s).sum();
                assert!((value + loss.conjugate(&u, y) - product).abs() < 1e-13);
                for t in &points {
                    let product: f64 = u.iter().zip(t).map(|(u, t)| u * t).sum();
                    let sum = loss.value(t, y).unwrap() + loss.conjugate(&u, y);
                    assert!(sum - product > -1e-13);
                }
            }
        }
        assert_eq!(loss.conjugate(&[0.1, 0.1, 0.1], 0.0), f64::INFINITY);
        assert_eq!(loss.conjugate(&[-0.5, 0.7, -0.2], 0.0), f64::INFINITY);
    }
}
