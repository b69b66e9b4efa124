//! Logistic loss.

use super::Loss;
use super::plus::plus_conjugate;
use super::softplus::softplus_neg;
use crate::error::Result;

/// Logistic loss of one score: ℓ(s, y) = ln(1 + e^{−ys}), y ∈ {−1, +1}. Natural logarithm: a
/// constant score of 0 costs ln 2.
///
/// In plain arithmetic, the same bits everywhere; nothing overflows or cancels. The relative errors
/// of loss and slope are below 2⁻⁵⁰; both are 0 for ys > 708, where they are less than 1e-307.
/// Range ln(1 + e^{bound}), Lipschitz constant 1, curvature ¼. The conjugate is
/// a ln a + (1 − a) ln(1 − a) for a = −yu in [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Logistic;

impl Loss for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        Ok(softplus_neg(y * scores[0]).0)
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        let (value, tail) = softplus_neg(y * scores[0]);
        slope[0] = -y * tail;
        Ok(value)
    }

    #[inline]
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        let (_, tail) = softplus_neg(y * scores[0]);
        hessian[0] = tail * (1.0 - tail);
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        plus_conjugate(-y * u[0], 1.0)
    }

    fn accepts(&self, y: f64) -> bool {
        y == 1.0 || y == -1.0
    }

    fn expects(&self) -> String {
        "-1 or +1".into()
    }

    fn range(&self, bound: f64, _target: f64) -> f64 {
        softplus_neg(-bound).0
    }

    fn lipschitz(&self, _bound: f64, _target: f64) -> f64 {
        1.0
    }

    fn curvature(&self) -> f64 {
        0.25
    }

    fn self_concordance(&self) -> Option<f64> {
        // |ℓ'''| = ℓ'' |1 − 2σ| ≤ ℓ''.
        Some(1.0)
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
    fn derivatives_match_differences() {
        for s in [-30.0, -2.0, -0.1, 0.0, 0.3, 1.0, 25.0] {
            for y in [-1.0, 1.0] {
                super::super::check_derivatives(&Logistic, &[s], y);
            }
        }
    }

    #[test]
    fn conjugate_by_brute_force() {
        super::super::check_conjugate(&Logistic, (-1.5, 1.5), &[-1.0, 1.0]);
    }

    #[test]
    fn known_and_extreme_values() {
        let loss = |s, y| Logistic.value(&[s], y).unwrap();
        assert_eq!(loss(0.0, 1.0), std::f64::consts::LN_2);
        assert_eq!(loss(800.0, 1.0), 0.0);
        assert_eq!(loss(-1e300, 1.0), 1e300);
        // ln(1 + e^{-40}) keeps its digits: e^{-40}(1 − e^{-40}/2).
        let exact = (-40f64).exp();
        assert!((loss(40.0, 1.0) - exact).abs() < 1e-15 * exact);
    }
}
