//! Huber loss.

use super::Loss;
use crate::error::{Result, require};

/// Huber loss of one score: with r = s − y and δ > 0, ℓ(s, y) = r²/2 for |r| ≤ δ and
/// δ(|r| − δ/2) beyond. The parabola carries the factor ½, unlike [`super::Squared`].
///
/// With |s| ≤ bound and |y| ≤ target: range ℓ(bound + target, 0), Lipschitz constant
/// min(δ, bound + target), curvature 1. The conjugate is uy + u²/2 for |u| ≤ δ.
///
/// Source: Huber 1964, DOI 10.1214/aoms/1177703732.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Huber {
    delta: f64,
}

impl Huber {
    /// The loss that is linear beyond residuals of δ.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless 0 < δ < ∞.
    pub fn new(delta: f64) -> Result<Self> {
        require(delta > 0.0 && delta.is_finite(), "huber", delta, "a finite number above 0")?;
        Ok(Huber { delta })
    }

    /// δ.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    #[inline]
    fn at(&self, r: f64) -> f64 {
        let r = r.abs();
        if r <= self.delta { r * r / 2.0 } else { self.delta * (r - self.delta / 2.0) }
    }
}

impl Loss for Huber {
    fn name(&self) -> &'static str {
        "huber"
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        Ok(self.at(scores[0] - y))
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        let r = scores[0] - y;
        slope[0] = r.clamp(-self.delta, self.delta);
        Ok(self.at(r))
    }

    #[inline]
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        hessian[0] = if (scores[0] - y).abs() < self.delta { 1.0 } else { 0.0 };
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        if u[0].abs() > self.delta * (1.0 + 1e-12) {
            return f64::INFINITY;
        }
        u[0] * y + u[0] * u[0] / 2.0
    }

    fn in_unit(&self, unit: f64) -> Option<(Self, f64)> {
        Huber::new(self.delta / unit).ok().map(|loss| (loss, unit * unit))
    }

    fn accepts(&self, y: f64) -> bool {
        y.is_finite()
    }

    fn expects(&self) -> String {
        "a finite number".into()
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        self.at(bound + target)
    }

    fn lipschitz(&self, bound: f64, target: f64) -> f64 {
        self.delta.min(bound + target)
    }

    fn curvature(&self) -> f64 {
        1.0
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
        let loss = Huber::new(1.5).unwrap();
        for (r, value) in [(0.0, 0.0), (1.0, 0.5), (-2.0, 1.875), (4.0, 4.875)] {
            assert!((loss.value(&[r + 0.25], 0.25).unwrap() - value).abs() < 1e-15, "{r}");
            super::super::check_derivatives(&loss, &[r + 0.25], 0.25);
        }
        for delta in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert!(Huber::new(delta).is_err(), "{delta}");
        }
    }

    #[test]
    fn conjugate_by_brute_force() {
        for delta in [0.3, 1.35] {
            let loss = Huber::new(delta).unwrap();
            super::super::check_conjugate(&loss, (-2.0, 2.0), &[-2.0, 0.0, 0.7]);
        }
    }
}
