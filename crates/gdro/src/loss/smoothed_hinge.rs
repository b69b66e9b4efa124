//! Smoothed hinge loss.

use super::Loss;
use crate::error::{Result, require};

/// Hinge loss with its kink rounded off by a parabola: with z = ys, y ∈ {−1, +1}, γ > 0,
///
/// ℓ(s, y) = 0 for z ≥ 1, (1 − z)²/(2γ) for 1 − γ ≤ z ≤ 1, 1 − z − γ/2 for z ≤ 1 − γ.
///
/// It lies at most γ/2 below the hinge loss. With |s| ≤ bound: range ℓ(−bound, 1), Lipschitz
/// constant min(1, (1 + bound)/γ), curvature 1/γ. The conjugate is −a + γa²/2 for a = −yu in [0,
/// 1].
///
/// Source: Shalev-Shwartz and Zhang 2013, arXiv 1209.1873.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothedHinge {
    gamma: f64,
}

impl SmoothedHinge {
    /// The loss with a parabola of width γ.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless 0 < γ < ∞ (and 1/γ < ∞).
    pub fn new(gamma: f64) -> Result<Self> {
        let holds = gamma > 0.0 && gamma.is_finite() && gamma.recip().is_finite();
        require(holds, "smoothed-hinge", gamma, "a finite number above 0")?;
        Ok(SmoothedHinge { gamma })
    }

    /// γ.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The loss at 1 − z, and its slope in 1 − z.
    #[inline]
    fn at(&self, x: f64) -> (f64, f64) {
        let a = (x / self.gamma).clamp(0.0, 1.0);
        if x < self.gamma { (a * x.max(0.0) / 2.0, a) } else { (x - self.gamma / 2.0, a) }
    }
}

impl Loss for SmoothedHinge {
    fn name(&self) -> &'static str {
        "smoothed-hinge"
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        Ok(self.at(1.0 - y * scores[0]).0)
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        let (value, a) = self.at(1.0 - y * scores[0]);
        slope[0] = -y * a;
        Ok(value)
    }

    #[inline]
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        let x = 1.0 - y * scores[0];
        hessian[0] = if x > 0.0 && x < self.gamma { 1.0 / self.gamma } else { 0.0 };
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        let a = -y * u[0];
        if !(-1e-12..=1.0 + 1e-12).contains(&a) {
            return f64::INFINITY;
        }
        -a + self.gamma * a * a / 2.0
    }

    fn accepts(&self, y: f64) -> bool {
        y == 1.0 || y == -1.0
    }

    fn expects(&self) -> String {
        "-1 or +1".into()
    }

    fn range(&self, bound: f64, _target: f64) -> f64 {
        self.at(1.0 + bound).0
    }

    fn lipschitz(&self, bound: f64, _target: f64) -> f64 {
        self.at(1.0 + bound).1
    }

    fn curvature(&self) -> f64 {
        1.0 / self.gamma
    }

    fn correct(&self, scores: &[f64], y: f64) -> Option<bool> {
        // A score of exactly 0 predicts the positive class.
        Some((scores[0] >= 0.0) == (y > 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_derivatives() {
        let loss = SmoothedHinge::new(0.5).unwrap();
        for (s, value) in [(2.0, 0.0), (0.8, 0.04), (0.0, 0.75), (-1.0, 1.75)] {
            assert!((loss.value(&[s], 1.0).unwrap() - value).abs() < 1e-15, "{s}");
            super::super::check_derivatives(&loss, &[s], 1.0);
            super::super::check_derivatives(&loss, &[-s], -1.0);
        }
        for gamma in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert!(SmoothedHinge::new(gamma).is_err(), "{gamma}");
        }
    }

    #[test]
    fn conjugate_by_brute_force() {
        for gamma in [0.3, 1.0, 4.0] {
            let loss = SmoothedHinge::new(gamma).unwrap();
            super::super::check_conjugate(&loss, (-1.5, 1.5), &[-1.0, 1.0]);
        }
    }
}
