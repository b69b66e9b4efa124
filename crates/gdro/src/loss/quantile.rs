//! Quantile loss.

use super::Loss;
use super::plus::{plus, plus_conjugate, plus_curvature};
use crate::error::{Result, require};

/// Quantile (pinball) loss of one score: ℓ(s, y) = τ(y − s) for s ≤ y and (1 − τ)(s − y) for s > y,
/// 0 < τ < 1. Its best constant is the τ-quantile of the targets; τ = ½ is half the absolute loss.
///
/// With |s| ≤ bound and |y| ≤ target: range max(τ, 1 − τ)(bound + target), Lipschitz constant
/// max(τ, 1 − τ); not smooth. The conjugate is uy for −τ ≤ u ≤ 1 − τ. The smoothing
/// τ(y − s) + μ ln(1 + e^{(s − y)/μ}) is at most μ ln 2 above it.
///
/// Source: Koenker and Bassett 1978, DOI 10.2307/1913643.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    tau: f64,
    /// 0 for the loss itself.
    mu: f64,
}

impl Quantile {
    /// The loss for the τ-quantile.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless 0 < τ < 1.
    pub fn new(tau: f64) -> Result<Self> {
        require(tau > 0.0 && tau < 1.0, "quantile", tau, "a number between 0 and 1")?;
        Ok(Quantile { tau, mu: 0.0 })
    }

    /// τ.
    pub fn tau(&self) -> f64 {
        self.tau
    }
}

impl Loss for Quantile {
    fn name(&self) -> &'static str {
        "quantile"
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        // From the side on which the smoothing vanishes, so that nothing cancels.
        let r = scores[0] - y;
        let side = if r > 0.0 { 1.0 - self.tau } else { self.tau };
        Ok(side * r.abs() + plus(-r.abs(), self.mu).0)
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        slope[0] = plus(scores[0] - y, self.mu).1 - self.tau;
        self.value(scores, y)
    }

    #[inline]
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        hessian[0] = plus_curvature(scores[0] - y, self.mu);
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        u[0] * y + plus_conjugate(u[0] + self.tau, self.mu)
    }

    fn smoothed(&self, mu: f64) -> Option<Self> {
        Some(Quantile { mu, ..*self })
    }

    fn in_unit(&self, unit: f64) -> Option<(Self, f64)> {
        Some((Quantile { mu: self.mu / unit, ..*self }, unit))
    }

    fn accepts(&self, y: f64) -> bool {
        y.is_finite()
    }

    fn expects(&self) -> String {
        "a finite number".into()
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        self.lipschitz(bound, target) * (bound + target) + plus(0.0, self.mu).0
    }

    fn lipschitz(&self, _bound: f64, _target: f64) -> f64 {
        self.tau.max(1.0 - self.tau)
    }

    fn curvature(&self) -> f64 {
        // 1/(4μ): infinite for the loss itself.
        0.25 / self.mu
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
        let loss = Quantile::new(0.9).unwrap();
        assert!((loss.value(&[1.0], 3.0).unwrap() - 1.8).abs() < 1e-15);
        assert!((loss.value(&[3.0], 1.0).unwrap() - 0.2).abs() < 1e-15);
        super::super::check_derivatives(&loss, &[1.5], -2.0);
        super::super::check_derivatives(&loss, &[-3.0], 0.25);
        for tau in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(Quantile::new(tau).is_err(), "{tau}");
        }
    }

    #[test]
    fn conjugate_and_smoothing() {
        for tau in [0.1, 0.5, 0.9] {
            let loss = Quantile::new(tau).unwrap();
            super::super::check_conjugate(&loss, (-1.5, 1.5), &[-2.0, 0.0, 0.7]);
            super::super::check_smoothing(&loss, 1.0, &[-2.0, 0.0, 0.7]);
        }
    }
}
