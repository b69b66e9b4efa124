//! The simplex with the negative entropy.

use serde::{Deserialize, Serialize};

use super::norms::{norm, regularity};
use super::root::root;
use super::{Constraints, MirrorMap};
use crate::error::{Result, require};

/// The smallest share w_j/s that [`Simplex`] takes the logarithm of.
const FLOOR: f64 = 1e-300;

/// The simplex {w : w_j ≥ 0, Σ w_j = s} with ν(w) = s Σ_j (w_j ln(w_j/s) − w_j).
///
/// ν is 1-strongly convex in ‖·‖₁, as v'∇²ν(w)v = s Σ v_j²/w_j ≥ ‖v‖₁² by Cauchy and Schwarz: the
/// factor s makes up for the sum s. D² = s² ln n, between a corner and the uniform point (s/n, …,
/// s/n), which is the centre. The dual norm is ‖·‖_∞, with κ = min_{r ≥ 2} (r − 1) n^{2/r} ≤ e(2 ln
/// n − 1) for n ≥ 3, κ = n for n ≤ 7 (Juditsky and Nemirovski 2008, arXiv 0809.0813).
///
/// Without ridge the prox is w_j ∝ exp(θ_j/s) (Beck and Teboulle 2003, DOI
/// 10.1016/S0167-6377(02)00231-6). With ridge r it is ln u_j + r u_j = θ_j/s − μ for the shares
/// u_j = w_j/s: Wright's omega function in every coordinate, and one μ such that Σ u_j = 1.
///
/// A share that has fallen below 1e-300, or is 0, counts as 1e-300 in the next step. So it stays
/// finite and can come back; the point that a step starts from is off by at most s n 1e-300.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simplex {
    scale: f64,
}

impl Simplex {
    /// The simplex of weights with the sum s; s = 1 is the probability simplex.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless 0 < s < ∞.
    pub fn new(scale: f64) -> Result<Self> {
        require(scale > 0.0 && scale.is_finite(), "simplex", scale, "0 < s < ∞")?;
        Ok(Simplex { scale })
    }
}

impl Default for Simplex {
    /// The probability simplex.
    fn default() -> Self {
        Simplex { scale: 1.0 }
    }
}

/// The share u with ln u + r u = b: Newton's method for z + ln z = b + ln r with z = r u, whose
/// steps keep z positive from both of the starts.
fn share(b: f64, ridge: f64) -> f64 {
    let c = b + ridge.ln();
    if c < -37.0 {
        // r u is below the rounding of ln u.
        return b.exp();
    }
    let mut z = if c > 1.0 { c } else { c.exp() };
    for _ in 0..50 {
        let next = z * (1.0 + c - z.ln()) / (1.0 + z);
        let done = (next - z).abs() <= 1e-15 * next;
        z = next;
        if done {
            break;
        }
    }
    z / ridge
}

impl MirrorMap for Simplex {
    fn center(&self, w: &mut [f64]) {
        w.fill(self.scale / w.len() as f64);
    }

    fn dual(&self, w: &mut [f64]) {
        w.iter_mut().for_each(|v| *v = self.scale * (*v / self.scale).max(FLOOR).ln());
    }

    fn primal(&self, theta: &mut [f64], ridge: f64) {
        let top = theta.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        theta.iter_mut().for_each(|v| *v = (*v - top) / self.scale);
        if ridge > 0.0 {
            // At u ≤ 1 the term r u lies in [0, r], and so does the shift it asks for.
            let log_sum = theta.iter().map(|a| a.exp()).sum::<f64>().ln();
            let shift = root((-log_sum, ridge - log_sum), -log_sum, |x| {
                let (mut sum, mut slope) = (0.0, 0.0);
                for a in theta.iter() {
                    let u = share(a + x, ridge);
                    sum += u;
                    slope += u / (1.0 + ridge * u);
                }
                (sum.ln(), slope / sum)
            });
            theta.iter_mut().for_each(|a| *a = share(*a + shift, ridge));
        } else {
            theta.iter_mut().for_each(|a| *a = a.exp());
        }
        let sum: f64 = theta.iter().sum();
        theta.iter_mut().for_each(|u| *u *= self.scale / sum);
    }

    fn width(&self, n: usize) -> f64 {
        self.scale * self.scale * (n.max(1) as f64).ln()
    }

    fn reach(&self, _n: usize) -> f64 {
        self.scale
    }

    /// With ridge: at the projection of −h/ridge, w_j = max(0, τ − h_j)/ridge (Held, Wolfe and
    /// Crowder 1974, DOI 10.1007/BF01580223).
    fn minimum(&self, h: &[f64], ridge: f64) -> f64 {
        let least = h.iter().copied().fold(f64::INFINITY, f64::min);
        if ridge == 0.0 {
            return self.scale * least;
        }
        let mut above: Vec<f64> = h.iter().map(|v| v - least).collect();
        above.sort_unstable_by(f64::total_cmp);
        let (mut sum, mut level) = (0.0, f64::INFINITY);
        for (count, v) in above.iter().enumerate() {
            if *v >= level {
                break;
            }
            sum += v;
            level = (ridge * self.scale + sum) / (count as f64 + 1.0);
        }
        let value = |v: &f64| {
            let w = (level - v).max(0.0) / ridge;
            v * w + ridge * w * w / 2.0
        };
        self.scale * least + above.iter().map(value).sum::<f64>()
    }

    fn contains(&self, w: &[f64]) -> bool {
        let slack = 1e-9 * self.scale;
        w.iter().all(|v| *v >= -slack) && (w.iter().sum::<f64>() - self.scale).abs() <= slack
    }

    fn constraints(&self) -> Constraints {
        Constraints::Other
    }

    fn dual_norm(&self, g: &[f64]) -> f64 {
        norm(g, f64::INFINITY)
    }

    fn kappa(&self, n: usize) -> f64 {
        regularity(f64::INFINITY, n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_solves_its_equation() {
        for exponent in -300..=8 {
            let ridge = 10f64.powi(exponent);
            for b in [-650.0, -40.0, -3.0, -0.1, 0.0, 0.7, 3.0, 40.0, 600.0] {
                let u = share(b, ridge);
                let rest = u.ln() + ridge * u - b;
                assert!(u > 0.0 && rest.abs() < 1e-14 * b.abs().max(20.0), "{ridge} {b}: {rest}");
            }
        }
    }

    #[test]
    fn a_weight_of_zero_comes_back() {
        let map = Simplex::new(2.0).unwrap();
        let mut w = [2.0, 0.0];
        for _ in 0..30 {
            map.dual(&mut w);
            w[1] += 60.0;
            map.primal(&mut w, 0.0);
        }
        assert!(w[1] > 1.999, "{w:?}");
    }
}
