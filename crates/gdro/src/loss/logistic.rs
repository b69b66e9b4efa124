//! Logistic loss.

use super::Loss;
use super::plus::plus_conjugate;
use crate::error::Result;
use crate::math::{exp_down, ln_1p};

/// Logistic loss of one score: ℓ(s, y) = ln(1 + e^{−ys}), y ∈ {−1, +1}. Natural logarithm: a
/// constant score of 0 costs ln 2.
///
/// Computed as max(−z, 0) + ln(1 + e^{−|z|}) with z = ys, which neither overflows nor cancels, in
/// plain arithmetic: the same bits everywhere. The relative errors of loss and slope are
/// below 2⁻⁵⁰; both are 0 for z > 708, where they are less than 1e-307.
/// Range ln(1 + e^{bound}), Lipschitz constant 1, curvature ¼. The conjugate is
/// a ln a + (1 − a) ln(1 − a) for a = −yu in [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Logistic;

/// (ln(1 + e^{−z}), 1/(1 + e^{z})) from one exponential.
#[inline]
pub(crate) fn softplus_neg(z: f64) -> (f64, f64) {
    let e = exp_down(-z.abs());
    let value = if z < 0.0 { -z } else { 0.0 } + ln_1p(e);
    let tail = if z >= 0.0 { e } else { 1.0 } / (1.0 + e);
    (value, tail)
}

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

    fn concordance(&self) -> Option<f64> {
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

    /// The standard library's functions are good to a unit in the last place.
    #[test]
    fn the_errors_are_as_stated() {
        for i in -800_000..=800_000 {
            let z = f64::from(i) * 1e-3 * if i % 2 == 0 { 1.0 } else { 0.05 };
            let (value, tail) = softplus_neg(z);
            let e = (-z.abs()).exp();
            let expected = (-z).max(0.0) + e.ln_1p();
            let slope = if z >= 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) };
            let (bound, least) = (2f64.powi(-50), 1e-307);
            let holds = |found: f64, expected: f64| (found - expected).abs() <= bound * expected;
            assert!(holds(value, expected) || z > 708.0 && expected < least, "{z}: {value}");
            assert!(holds(tail, slope) || z > 708.0 && slope < least, "{z}: {tail}");
        }
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
