//! The ball of a p-norm.

use serde::{Deserialize, Serialize};

use super::norms::{norm, regularity};
use super::root::root;
use super::{Constraints, MirrorMap};
use crate::error::{Result, require};
use crate::row::dot;

/// The ball {w : ‖w‖_p ≤ B}, 1 < p ≤ 2, with ν(w) = ‖w‖_p²/(2(p − 1)).
///
/// ν is 1-strongly convex in ‖·‖_p (Juditsky and Nemirovski 2008, arXiv 0809.0813; Shalev-Shwartz
/// 2012, DOI 10.1561/2200000018, § 2.5). D² = B²/(2(p − 1)). The dual norm is ‖·‖_q with q = p/(p −
/// 1), and κ = min_{2 ≤ r ≤ q} (r − 1) n^{2/r − 2/q}, which is at most q − 1 and at most e(2 ln n −
/// 1) for n ≥ 3.
///
/// ∇ν(w)_j = sign(w_j)|w_j|^{p−1}‖w‖_p^{2−p}/(p − 1). Without ridge the prox is w_j = N
/// sign(θ_j)(|θ_j|/‖θ‖_q)^{q−1} with N = min(B, (p − 1)‖θ‖_q). With ridge r, |w_j| is the root v_j
/// of c v^{p−1} + r v = |θ_j| for one number c, with (p − 1)c = N^{2−p} inside of the ball and N =
/// ‖v‖_p = B on its surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PNormBall {
    p: f64,
    radius: f64,
}

impl PNormBall {
    /// The ball of exponent p and radius B.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless 1 < p ≤ 2 and 0 < B < ∞.
    pub fn new(p: f64, radius: f64) -> Result<Self> {
        require(p > 1.0 && p <= 2.0, "p", p, "1 < p ≤ 2")?;
        require(radius > 0.0 && radius.is_finite(), "ball", radius, "0 < B < ∞")?;
        Ok(PNormBall { p, radius })
    }

    /// q = p/(p − 1).
    fn q(&self) -> f64 {
        self.p / (self.p - 1.0)
    }

    /// ln v for the root v of c v^{p−1} + r v = a, where `x` = ln c and `a` > 0. In ln v the
    /// logarithm of the left side is convex with a slope from p − 1 to 1, so that Newton's method
    /// falls onto the root from where one term alone makes up for a.
    fn log_root(&self, x: f64, ridge: f64, a: f64) -> f64 {
        let (log_a, log_r) = (a.ln(), ridge.ln());
        let mut y = (log_a - log_r).min((log_a - x) / (self.p - 1.0));
        for _ in 0..60 {
            let (one, two) = (x + (self.p - 1.0) * y, log_r + y);
            let top = one.max(two);
            let (e, f) = ((one - top).exp(), (two - top).exp());
            let by = (top + (e + f).ln() - log_a) * (e + f) / ((self.p - 1.0) * e + f);
            y -= by;
            if by.abs() <= 1e-15 * y.abs().max(1.0) {
                break;
            }
        }
        y
    }

    /// ln ‖v‖_p at ln c = `x`, and its derivative in x. The sum is kept relative to its largest
    /// term.
    fn log_norm(&self, x: f64, ridge: f64, a: &[f64]) -> (f64, f64) {
        let p = self.p;
        let (mut top, mut sum, mut slope) = (f64::NEG_INFINITY, 0.0, 0.0);
        for a in a.iter().map(|a| a.abs()).filter(|a| *a > 0.0) {
            let y = self.log_root(x, ridge, a);
            if y > top {
                let shrink = (p * (top - y)).exp();
                (top, sum, slope) = (y, sum * shrink, slope * shrink);
            }
            let share = (p * (y - top)).exp();
            // Of c v^{p−1} + r v = a, the part of the first term.
            let part = (x + (p - 1.0) * y - a.ln()).exp().min(1.0);
            sum += share;
            slope -= share * part / ((p - 1.0) * part + 1.0 - part);
        }
        (top + sum.ln() / p, slope / sum)
    }

    /// ln c for a ridge r > 0 and numbers a_j not all of which are 0: (p − 1)c = ‖v‖_p^{2−p}, or
    /// with `surface` ‖v‖_p = B, for the roots v_j of c v^{p−1} + r v = |a_j|.
    fn log_level(&self, a: &[f64], ridge: f64, surface: bool) -> f64 {
        let (p, log_radius) = (self.p, self.radius.ln());
        let equation = |x: f64| {
            let (log_norm, slope) = self.log_norm(x, ridge, a);
            if surface {
                (log_radius - log_norm, -slope)
            } else {
                (x + (p - 1.0).ln() - (2.0 - p) * log_norm, 1.0 - (2.0 - p) * slope)
            }
        };
        // A ridge lowers c. Without it v_j = (|a_j|/c)^{q−1} and ‖v‖_p = (‖a‖_q/c)^{q−1}.
        let log_dual = norm(a, self.q()).ln();
        let bare = if surface {
            log_dual - (p - 1.0) * log_radius
        } else {
            (2.0 - p) * ((p - 1.0).ln() + log_dual) - (p - 1.0).ln()
        };
        // Rounding may put the root a little above.
        let high = bare + 1e-9 * bare.abs().max(1.0);
        let (mut low, mut by) = (high - 1.0, 1.0);
        while equation(low).0 > 0.0 && by < 1e6 {
            by *= 2.0;
            low -= by;
        }
        root((low, high), high, equation)
    }

    /// Replaces every a_j by sign(a_j) v_j.
    fn settle(&self, a: &mut [f64], ridge: f64, x: f64) {
        for a in a.iter_mut().filter(|a| **a != 0.0) {
            *a = self.log_root(x, ridge, a.abs()).exp().copysign(*a);
        }
    }

    /// Scales a point to the surface.
    fn onto(&self, v: &mut [f64]) {
        let scale = self.radius / norm(v, self.p);
        v.iter_mut().for_each(|v| *v *= scale);
    }
}

impl MirrorMap for PNormBall {
    fn center(&self, w: &mut [f64]) {
        w.fill(0.0);
    }

    fn dual(&self, w: &mut [f64]) {
        let length = norm(w, self.p);
        if length > 0.0 {
            let p = self.p - 1.0;
            w.iter_mut().for_each(|v| *v = (v.abs() / length).powf(p).copysign(*v) * length / p);
        }
    }

    fn primal(&self, theta: &mut [f64], ridge: f64) {
        let dual = norm(theta, self.q());
        if dual == 0.0 {
            return;
        }
        if ridge == 0.0 {
            let length = self.radius.min((self.p - 1.0) * dual);
            let power = self.q() - 1.0;
            theta.iter_mut().for_each(|v| *v = length * (v.abs() / dual).powf(power).copysign(*v));
            return;
        }
        let x = self.log_level(theta, ridge, false);
        if self.log_norm(x, ridge, theta).0 <= self.radius.ln() {
            self.settle(theta, ridge, x);
        } else {
            self.settle(theta, ridge, self.log_level(theta, ridge, true));
            self.onto(theta);
        }
    }

    fn width(&self, _n: usize) -> f64 {
        self.radius.powi(2) / (2.0 * (self.p - 1.0))
    }

    fn reach(&self, _n: usize) -> f64 {
        self.radius
    }

    fn minimum(&self, h: &[f64], ridge: f64) -> f64 {
        if ridge == 0.0 {
            return -self.radius * norm(h, self.q());
        }
        if norm(h, self.p) <= ridge * self.radius {
            // The minimiser −h/ridge lies inside.
            return -dot(h, h) / (2.0 * ridge);
        }
        let mut v = h.to_vec();
        self.settle(&mut v, ridge, self.log_level(h, ridge, true));
        self.onto(&mut v);
        ridge / 2.0 * dot(&v, &v) - dot(h, &v)
    }

    fn contains(&self, w: &[f64]) -> bool {
        w.iter().all(|v| v.is_finite()) && norm(w, self.p) <= self.radius * (1.0 + 1e-9)
    }

    fn constraints(&self) -> Constraints {
        Constraints::Other
    }

    fn dual_norm(&self, g: &[f64]) -> f64 {
        norm(g, self.q())
    }

    fn kappa(&self, n: usize) -> f64 {
        regularity(self.q(), n)
    }
}
