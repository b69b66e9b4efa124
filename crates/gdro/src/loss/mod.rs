//! Losses ℓ of a vector of scores and a target.
//!
//! A linear model with c outputs predicts the scores s = Wᵀx + b ∈ ℝᶜ; a [`Loss`] maps them and
//! the target to a number ≥ 0. Everything that an algorithm or a certificate needs of a loss is in
//! that one trait.
//!
//! A new loss is a file with a type and its [`Loss`], two lines here, and in `any.rs` a variant of
//! [`AnyLoss`] with its name; options, files and messages follow from there.

mod absolute;
mod any;
mod hinge;
mod huber;
mod logistic;
mod plus;
mod quantile;
mod smoothed_hinge;
mod softmax;
mod softplus;
mod squared;

pub use absolute::Absolute;
pub use any::{AnyLoss, Targets};
pub use hinge::Hinge;
pub use huber::Huber;
pub use logistic::Logistic;
pub use quantile::Quantile;
pub use smoothed_hinge::SmoothedHinge;
pub use softmax::Softmax;
pub use squared::Squared;

use crate::dataset::Dataset;
use crate::error::{Error, Result};

/// A convex loss ℓ(s, y) ≥ 0 of c scores s and a target y.
///
/// To add one of your own, implement this trait. Algorithms use value and slope; range, Lipschitz
/// constant and curvature set their steps. The reference solver and certificates need the Hessian.
/// A non-smooth loss, where a Hessian does not say enough, has [`Loss::smoothed`] as well, and then
/// they use that and [`Loss::conjugate`].
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

    /// [`Loss::slope`] for c = 1, as two numbers: (ℓ(s, y), ∂ℓ/∂s).
    ///
    /// # Errors
    /// As [`Loss::value`].
    ///
    /// # Panics
    /// May panic when the loss has another number of outputs.
    #[inline]
    fn slope_at(&self, score: f64, y: f64) -> Result<(f64, f64)> {
        let mut slope = [0.0];
        let value = self.slope(&[score], y, &mut slope)?;
        Ok((value, slope[0]))
    }

    /// The Hessian ∂²ℓ/∂s² (c × c numbers, row by row) written to `hessian`; that of either side
    /// where it jumps.
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]);

    /// The diagonal of [`Loss::hessian`] written to `diagonal` (c numbers); `scratch` has room for
    /// c² numbers.
    fn curvatures(&self, scores: &[f64], y: f64, scratch: &mut [f64], diagonal: &mut [f64]) {
        self.hessian(scores, y, scratch);
        diagonal.iter_mut().enumerate().for_each(|(j, d)| *d = scratch[j * scores.len() + j]);
    }

    /// The product of [`Loss::hessian`] and `v` written to `out` (c numbers each); `scratch` has
    /// room for c² numbers.
    fn hessian_times(
        &self,
        scores: &[f64],
        y: f64,
        v: &[f64],
        scratch: &mut [f64],
        out: &mut [f64],
    ) {
        self.hessian(scores, y, scratch);
        for (out, line) in out.iter_mut().zip(scratch.chunks_exact(scores.len())) {
            *out = line.iter().zip(v).map(|(h, v)| h * v).sum();
        }
    }

    /// The convex conjugate ℓ*(u, y) = sup_s ⟨u, s⟩ − ℓ(s, y) at c numbers u; +∞ outside of its
    /// domain, up to rounding. The slopes lie in the domain.
    fn conjugate(&self, u: &[f64], y: f64) -> f64;

    /// A number that no value of the loss is below, the larger the better: certificates rest on it
    /// where nothing better is known. 0, the default, is the infimum of every loss of this crate;
    /// a loss that may be negative must say so here.
    fn infimum(&self) -> f64 {
        0.0
    }

    /// A loss with derivatives of all orders that lies above this one by at most a fixed multiple
    /// of `mu` > 0, and whose slopes lie in the domain of this one's conjugate. `None`, the
    /// default, for a loss that is smooth enough as it is.
    fn smoothed(&self, _mu: f64) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Whether it is non-smooth, and so needs its [`Loss::smoothed`] form.
    fn is_nonsmooth(&self) -> bool
    where
        Self: Sized,
    {
        self.smoothed(1.0).is_some()
    }

    /// The loss in another unit of scores and targets: ℓ' and f > 0 with ℓ(y₀ + us, y₀ + uy) =
    /// f ℓ'(s, y) for all y₀. `None`, the default, for a loss whose targets are no such numbers.
    ///
    /// With it a problem is solved in units that suit it.
    fn in_unit(&self, _unit: f64) -> Option<(Self, f64)>
    where
        Self: Sized,
    {
        None
    }

    /// Whether y is a target of this loss.
    fn accepts(&self, y: f64) -> bool;

    /// What [`Loss::accepts`] accepts, in words.
    fn expects(&self) -> String;

    /// M: the largest loss when every |s_j| ≤ `bound` (‖s‖₂ ≤ `bound` for c > 1) and |y| ≤
    /// `target`.
    fn range(&self, bound: f64, target: f64) -> f64;

    /// Lipschitz constant of ℓ in s (Euclidean norm) on the set of [`Loss::range`].
    fn lipschitz(&self, bound: f64, target: f64) -> f64;

    /// An upper bound on the largest eigenvalue of ∂²ℓ/∂s²; infinite for a non-smooth loss.
    fn curvature(&self) -> f64;

    /// M of generalised self-self_concordance, |D³ℓ(s)[δ, δ, δ]| ≤ M ‖δ‖₂ D²ℓ(s)[δ, δ] for all scores s and
    /// directions δ (Bach 2010, doi:10.1214/09-EJS521): it turns a Hessian at one point into a lower
    /// bound everywhere, see [`crate::expansion::Expansion`]. `None` where no such M is known.
    fn self_concordance(&self) -> Option<f64> {
        None
    }

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
    let (mut scratch, mut found) = (vec![0.0; c * c], vec![0.0; c]);
    loss.curvatures(scores, y, &mut scratch, &mut found);
    assert!((0..c).all(|j| (found[j] - hessian[j * c + j]).abs() < 1e-14), "{found:?}");
    let v: Vec<f64> = (0..c).map(|j| 1.0 - 0.7 * j as f64).collect();
    loss.hessian_times(scores, y, &v, &mut scratch, &mut found);
    for (found, line) in found.iter().zip(hessian.chunks_exact(c)) {
        let expected: f64 = line.iter().zip(&v).map(|(h, v)| h * v).sum();
        assert!((found - expected).abs() < 1e-14, "{found}, not {expected}");
    }
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

/// Fenchel and Young for a loss of one score: ℓ*(u) against the largest us − ℓ(s) on a grid for u
/// in `range`, equality at slopes, a slope in the domain everywhere.
#[cfg(test)]
fn check_conjugate(loss: &impl Loss, range: (f64, f64), targets: &[f64]) {
    let grid = |n: i32, low: f64, high: f64| {
        (0..=n).map(move |i| low + (high - low) * f64::from(i) / f64::from(n))
    };
    for &y in targets {
        for u in grid(61, range.0, range.1) {
            let best = |far: f64| {
                let at = |s: f64| u * s - loss.value(&[s], y).unwrap();
                grid(20_000, -far, far).map(at).fold(f64::NEG_INFINITY, f64::max)
            };
            let conjugate = loss.conjugate(&[u], y);
            if conjugate.is_finite() {
                assert!(best(40.0) <= conjugate + 1e-12, "u {u}, y {y}: {conjugate}");
                assert!(best(40.0) >= conjugate - 1e-2, "u {u}, y {y}: {conjugate}");
            } else {
                assert!(best(4000.0) > best(40.0) + 10.0, "u {u}, y {y}: {}", best(4000.0));
            }
        }
        for s in grid(997, -6.0, 6.0) {
            let mut u = [0.0];
            let value = loss.slope(&[s], y, &mut u).unwrap();
            let gap = value + loss.conjugate(&u, y) - u[0] * s;
            assert!(gap.abs() < 1e-12, "s {s}, y {y}: {gap}");
        }
    }
}

/// The smoothing lies above a loss of one score by at most `multiple`·μ ln 2, has its derivatives,
/// and slopes in the domain of its conjugate.
#[cfg(test)]
fn check_smoothing<L: Loss>(loss: &L, multiple: f64, targets: &[f64]) {
    for mu in [1.0, 0.1, 1e-3, 1e-9] {
        let smooth = loss.smoothed(mu).unwrap();
        if mu >= 0.1 {
            check_conjugate(&smooth, (-1.5, 1.5), targets);
        }
        for &y in targets {
            for i in -600..=600 {
                let s = [f64::from(i) / 100.0];
                let mut u = [0.0];
                let value = smooth.slope(&s, y, &mut u).unwrap();
                let excess = value - loss.value(&s, y).unwrap();
                let most = multiple * mu * std::f64::consts::LN_2;
                assert!((-1e-15..=most + 1e-14).contains(&excess), "s {s:?}, y {y}: {excess}");
                let conjugate = loss.conjugate(&u, y);
                let gap = value + conjugate - u[0] * s[0];
                assert!((-1e-14..=most + 1e-14).contains(&gap), "s {s:?}, y {y}: {gap}");
                if mu == 1.0 {
                    check_derivatives(&smooth, &s, y);
                }
            }
        }
    }
}
