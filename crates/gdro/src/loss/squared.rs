//! Squared loss.

use super::Loss;
use crate::error::Result;

/// Squared loss of one score: ℓ(s, y) = (s − y)², without the factor ½; risks are mean squared
/// errors.
///
/// With |s| ≤ bound and |y| ≤ target: range (bound + target)², Lipschitz constant
/// 2(bound + target), curvature 2. The conjugate is uy + u²/4.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Squared;

impl Loss for Squared {
    fn name(&self) -> &'static str {
        "squared"
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        let r = scores[0] - y;
        Ok(r * r)
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        let r = scores[0] - y;
        slope[0] = 2.0 * r;
        Ok(r * r)
    }

    #[inline]
    fn hessian(&self, _scores: &[f64], _y: f64, hessian: &mut [f64]) {
        hessian[0] = 2.0;
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        u[0] * y + u[0] * u[0] / 4.0
    }

    fn in_unit(&self, unit: f64) -> Option<(Self, f64)> {
        Some((Squared, unit * unit))
    }

    fn accepts(&self, y: f64) -> bool {
        y.is_finite()
    }

    fn expects(&self) -> String {
        "a finite number".into()
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        (bound + target).powi(2)
    }

    fn lipschitz(&self, bound: f64, target: f64) -> f64 {
        2.0 * (bound + target)
    }

    fn curvature(&self) -> f64 {
        2.0
    }

    fn self_concordance(&self) -> Option<f64> {
        // The third derivative is 0.
        Some(0.0)
    }

    fn correct(&self, _scores: &[f64], _y: f64) -> Option<bool> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_match_differences() {
        for (s, y) in [(0.0, 0.0), (1.5, -2.0), (-3.0, 0.25)] {
            super::super::check_derivatives(&Squared, &[s], y);
        }
    }

    #[test]
    fn conjugate_by_brute_force() {
        super::super::check_conjugate(&Squared, (-3.0, 3.0), &[-2.0, 0.0, 0.7]);
    }
}
