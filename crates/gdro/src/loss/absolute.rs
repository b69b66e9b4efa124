//! Absolute loss.

use super::Loss;
use super::plus::{plus, plus_conjugate, plus_curvature};
use crate::error::Result;

/// Absolute loss of one score: ℓ(s, y) = |s − y|; risks are mean absolute errors.
///
/// With |s| ≤ bound and |y| ≤ target: range bound + target, Lipschitz constant 1; not smooth. The
/// conjugate is uy for |u| ≤ 1. The smoothing 2μ ln(2 cosh((s − y)/2μ)) is at most 2μ ln 2 above
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Absolute {
    /// 0 for the loss itself.
    mu: f64,
}

impl Loss for Absolute {
    fn name(&self) -> &'static str {
        "absolute"
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        // |r| = 2 max(|r|, 0) − |r|, which loses nothing where r is large.
        let r = (scores[0] - y).abs();
        Ok(r + 2.0 * plus(-r, self.mu).0)
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        slope[0] = 2.0 * plus(scores[0] - y, self.mu).1 - 1.0;
        self.value(scores, y)
    }

    #[inline]
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        hessian[0] = 2.0 * plus_curvature(scores[0] - y, self.mu);
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        u[0] * y + 2.0 * plus_conjugate((1.0 + u[0]) / 2.0, self.mu)
    }

    fn smoothed(&self, mu: f64) -> Option<Self> {
        Some(Absolute { mu })
    }

    fn in_unit(&self, unit: f64) -> Option<(Self, f64)> {
        Some((Absolute { mu: self.mu / unit }, unit))
    }

    fn accepts(&self, y: f64) -> bool {
        y.is_finite()
    }

    fn expects(&self) -> String {
        "a finite number".into()
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        bound + target + 2.0 * plus(0.0, self.mu).0
    }

    fn lipschitz(&self, _bound: f64, _target: f64) -> f64 {
        1.0
    }

    fn curvature(&self) -> f64 {
        // 1/(2μ): infinite for the loss itself.
        0.5 / self.mu
    }

    fn correct(&self, _scores: &[f64], _y: f64) -> Option<bool> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_derivatives() {
        let loss = Absolute::default();
        for (s, y) in [(1.5, -2.0), (-3.0, 0.25), (1e300, 0.0)] {
            assert_eq!(loss.value(&[s], y).unwrap(), (s - y).abs());
        }
        super::super::check_derivatives(&loss, &[1.5], -2.0);
        super::super::check_derivatives(&loss, &[-3.0], 0.25);
        assert_eq!(loss.curvature(), f64::INFINITY);
    }

    #[test]
    fn conjugate_and_smoothing() {
        super::super::check_conjugate(&Absolute::default(), (-1.5, 1.5), &[-2.0, 0.0, 0.7]);
        super::super::check_smoothing(&Absolute::default(), 2.0, &[-2.0, 0.0, 0.7]);
    }
}
