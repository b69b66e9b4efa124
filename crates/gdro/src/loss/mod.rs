//! Losses ℓ of a vector of scores and a target.
//!
//! A linear model with c outputs predicts the scores s = Wᵀx + b ∈ ℝᶜ; a [`Loss`] maps them and
//! the target to a number ≥ 0. Everything that an algorithm or a certificate needs of a loss is in
//! that one trait, so a new loss is one file and one line in [`AnyLoss`].

mod any;
mod logistic;
mod softmax;
mod squared;

pub use any::AnyLoss;
pub use logistic::Logistic;
pub use softmax::Softmax;
pub use squared::Squared;

use crate::dataset::Dataset;
use crate::error::{Error, Result};

/// A convex loss ℓ(s, y) ≥ 0 of c scores s and a target y.
pub trait Loss {
    /// The name used in options, files and messages.
    fn name(&self) -> &'static str;

    /// Number of scores c ≥ 1.
    fn outputs(&self) -> usize {
        1
    }

    /// The loss ℓ(s, y).
    ///
    /// # Errors
    /// A user's loss may fail; those of this crate do not.
    fn value(&self, scores: &[f64], y: f64) -> Result<f64>;

    /// The loss, and its gradient ∂ℓ/∂s (c numbers) written to `slope`.
    ///
    /// # Errors
    /// As [`Loss::value`].
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64>;

    /// The Hessian ∂²ℓ/∂s² (c × c numbers, row by row) written to `hessian`.
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]);

    /// Whether y is a target of this loss.
    fn accepts(&self, y: f64) -> bool;

    /// What [`Loss::accepts`] accepts, in words.
    fn expects(&self) -> String;

    /// M: the largest loss when every |s_j| ≤ `bound` (‖s‖₂ ≤ `bound` for c > 1) and |y| ≤ `target`.
    fn range(&self, bound: f64, target: f64) -> f64;

    /// Lipschitz constant of ℓ in s (Euclidean norm) on the set of [`Loss::range`].
    fn lipschitz(&self, bound: f64, target: f64) -> f64;

    /// An upper bound on the largest eigenvalue of ∂²ℓ/∂s².
    fn curvature(&self) -> f64;

    /// Whether the prediction counts as right. `None` for losses without a notion of accuracy.
    fn correct(&self, scores: &[f64], y: f64) -> Option<bool>;

    /// Checks the targets of a data set.
    ///
    /// # Errors
    /// [`Error::Target`] for the first one that the loss does not accept.
    fn check(&self, data: &Dataset) -> Result<()> {
        match data.targets().iter().position(|y| !self.accepts(*y)) {
            None => Ok(()),
            Some(row) => Err(Error::Target {
                row,
                found: data.targets()[row],
                loss: self.name(),
                expected: self.expects(),
            }),
        }
    }
}

/// Compares slopes and Hessians with central differences at `scores`.
#[cfg(test)]
fn check_derivatives(loss: &impl Loss, scores: &[f64], y: f64) {
    let c = loss.outputs();
    let h = 1e-5;
    let (mut slope, mut hessian) = (vec![0.0; c], vec![0.0; c * c]);
    let value = loss.slope(scores, y, &mut slope).unwrap();
    assert_eq!(value, loss.value(scores, y).unwrap());
    loss.hessian(scores, y, &mut hessian);
    for j in 0..c {
        let shifted = |by: f64| {
            let mut s = scores.to_vec();
            s[j] += by;
            let mut g = vec![0.0; c];
            let v = loss.slope(&s, y, &mut g).unwrap();
            (v, g)
        };
        let (up, down) = (shifted(h), shifted(-h));
        let difference = (up.0 - down.0) / (2.0 * h);
        assert!((difference - slope[j]).abs() < 1e-7 * (1.0 + slope[j].abs()), "slope {j}");
        for i in 0..c {
            let difference = (up.1[i] - down.1[i]) / (2.0 * h);
            assert!((difference - hessian[i * c + j]).abs() < 1e-7, "hessian {i} {j}");
        }
    }
    // The bounds hold where the scores lie.
    let norm = scores.iter().map(|s| s * s).sum::<f64>().sqrt();
    assert!(value <= loss.range(norm, y.abs()) * (1.0 + 1e-12));
    let steep = slope.iter().map(|s| s * s).sum::<f64>().sqrt();
    assert!(steep <= loss.lipschitz(norm, y.abs()) * (1.0 + 1e-12));
    let trace: f64 = (0..c).map(|i| hessian[i * c + i]).fold(0.0, f64::max);
    assert!(trace <= loss.curvature() * (1.0 + 1e-12));
}
