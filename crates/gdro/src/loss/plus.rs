//! The positive part and its smoothing, of which the losses with a kink are made.

use super::softplus::softplus_neg;

/// max(x, 0) for μ = 0, else μ ln(1 + e^{x/μ}), which is at most μ ln 2 above it; with the slope,
/// in [0, 1]. At the kink the slope is ½.
#[inline]
pub(super) fn plus(x: f64, mu: f64) -> (f64, f64) {
    if mu > 0.0 {
        let (value, tail) = softplus_neg(-x / mu);
        (mu * value, tail)
    } else if x == 0.0 {
        (0.0, 0.5)
    } else {
        (x.max(0.0), if x > 0.0 { 1.0 } else { 0.0 })
    }
}

/// The second derivative of [`plus`], where there is one.
#[inline]
pub(super) fn plus_curvature(x: f64, mu: f64) -> f64 {
    if mu > 0.0 {
        let (_, tail) = softplus_neg(x.abs() / mu);
        tail * (1.0 - tail) / mu
    } else {
        0.0
    }
}

/// The conjugate of [`plus`]: μ(a ln a + (1 − a) ln(1 − a)) on [0, 1], +∞ outside.
///
/// What rounding leaves outside of the interval counts as its end.
#[inline]
pub(super) fn plus_conjugate(a: f64, mu: f64) -> f64 {
    if !(-1e-12..=1.0 + 1e-12).contains(&a) {
        return f64::INFINITY;
    }
    mu * (x_ln_x(a) + x_ln_x(1.0 - a))
}

/// x ln x, 0 for x ≤ 0.
#[inline]
pub(super) fn x_ln_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}
