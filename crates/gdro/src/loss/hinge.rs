//! Hinge loss.

use super::Loss;
use super::plus::{plus, plus_conjugate, plus_curvature};
use crate::error::Result;

/// Hinge loss of one score: ℓ(s, y) = max(0, 1 − ys), y ∈ {−1, +1}.
///
/// With |s| ≤ bound: range 1 + bound, Lipschitz constant 1; not smooth. The conjugate is −a for
/// a = −yu in [0, 1]. The smoothing μ ln(1 + e^{(1 − ys)/μ}) is at most μ ln 2 above it.
///
/// Source: Cortes and Vapnik 1995, DOI 10.1007/BF00994018.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hinge {
    /// 0 for the loss itself.
    mu: f64,
}

impl Loss for Hinge {
    fn name(&self) -> &'static str {
        "hinge"
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        Ok(plus(1.0 - y * scores[0], self.mu).0)
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        let (value, a) = plus(1.0 - y * scores[0], self.mu);
        slope[0] = -y * a;
        Ok(value)
    }

    #[inline]
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        hessian[0] = plus_curvature(1.0 - y * scores[0], self.mu);
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        y * u[0] + plus_conjugate(-y * u[0], self.mu)
    }

    fn smoothed(&self, mu: f64) -> Option<Self> {
        Some(Hinge { mu })
    }

    fn accepts(&self, y: f64) -> bool {
        y == 1.0 || y == -1.0
    }

    fn expects(&self) -> String {
        "-1 or +1".into()
    }

    fn range(&self, bound: f64, _target: f64) -> f64 {
        plus(1.0 + bound, self.mu).0
    }

    fn lipschitz(&self, _bound: f64, _target: f64) -> f64 {
        1.0
    }

    fn curvature(&self) -> f64 {
        // 1/(4μ): infinite for the loss itself.
        0.25 / self.mu
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
        let loss = Hinge::default();
        for (s, y, value) in [(0.0, 1.0, 1.0), (2.0, 1.0, 0.0), (2.0, -1.0, 3.0)] {
            assert_eq!(loss.value(&[s], y).unwrap(), value);
            super::super::check_derivatives(&loss, &[s], y);
        }
    }

    #[test]
    fn conjugate_and_smoothing() {
        super::super::check_conjugate(&Hinge::default(), (-1.5, 1.5), &[-1.0, 1.0]);
        super::super::check_smoothing(&Hinge::default(), 1.0, &[-1.0, 1.0]);
    }
}
