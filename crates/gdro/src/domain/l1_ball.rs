//! The ball of the 1-norm, which makes weights sparse.

use serde::{Deserialize, Serialize};

use super::{Constraints, MirrorMap};
use crate::error::{Result, require};
use crate::row::{Row, dot};

/// The ball {w : ‖w‖₁ ≤ B} with ν(w) = ½‖w‖₂²: the constraint of the lasso.
///
/// D² = B²/2, attained at the corners ±B e_j; norm and dual norm ‖·‖₂, κ = 1.
///
/// The prox is the projection of θ/(1 + ridge). That of a v outside of the ball is
/// sign(v_j) max(|v_j| − τ, 0) with the one τ > 0 for which the 1-norm is B (Duchi,
/// Shalev-Shwartz, Singer and Chandra 2008, DOI 10.1145/1390156.1390191). τ is the root of a convex
/// function that is piecewise linear, and Newton's method finds it exactly after finitely many
/// steps (Michelot 1986, DOI 10.1007/BF00938486; Condat 2016, DOI 10.1007/s10107-015-0946-6),
/// without sorting and so without memory. The residual times the slope falls by a factor of 4 or
/// more in every step, so that O(log(n/ε)) passes over the n numbers suffice at the accuracy ε;
/// five to ten are usual.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct L1Ball {
    radius: f64,
}

impl L1Ball {
    /// The ball of radius B.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless 0 < B < ∞.
    pub fn new(radius: f64) -> Result<Self> {
        require(radius > 0.0 && radius.is_finite(), "l1 ball", radius, "0 < B < ∞")?;
        Ok(L1Ball { radius })
    }

    /// The radius B.
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

/// ‖v‖₁ and max |v_j|.
fn size(v: &[f64]) -> (f64, f64) {
    let v = Row::Dense(v);
    (v.sum_each(|_, v| v.abs()), v.largest())
}

/// The positive part of `level` − (`top` − |v|): what soft thresholding leaves of |v|.
///
/// Relative to the largest number the difference of two close numbers is exact, also for a v that
/// is larger than the ball by many orders of magnitude. NaN stays NaN.
#[inline]
fn rest(v: f64, top: f64, level: f64) -> f64 {
    let below = top - v.abs();
    if below >= level { 0.0 } else { level - below }
}

/// The level at which Σ [`rest`] is `total`, where 0 < `total` < ‖v‖₁ and `top` = max |v_j|:
/// Newton's method from above.
fn level_of(v: &[f64], top: f64, total: f64) -> f64 {
    // Of the largest number alone is left at most the total, and at most all of it.
    let mut level = total.min(top);
    loop {
        let mut count = [0.0; 4];
        let sum = Row::Dense(v).sum_each(|j, v| {
            let left = rest(v, top, level);
            count[j % 4] += if left > 0.0 { 1.0 } else { 0.0 };
            left
        });
        let next = level - (sum - total) / count.iter().sum::<f64>();
        // At the root rounding stops the fall; NaN stops as well.
        if next < level {
            level = next;
        } else {
            return level;
        }
    }
}

impl MirrorMap for L1Ball {
    fn center(&self, w: &mut [f64]) {
        w.fill(0.0);
    }

    #[inline]
    fn dual(&self, _w: &mut [f64]) {}

    fn primal(&self, theta: &mut [f64], ridge: f64) {
        if ridge > 0.0 {
            let shrink = 1.0 / (1.0 + ridge);
            theta.iter_mut().for_each(|v| *v *= shrink);
        }
        let (sum, top) = size(theta);
        if sum > self.radius {
            let level = level_of(theta, top, self.radius);
            for v in theta {
                let left = rest(*v, top, level);
                // No −0.
                *v = if left > 0.0 { left.copysign(*v) } else { left };
            }
        }
    }

    fn width(&self, _n: usize) -> f64 {
        self.radius.powi(2) / 2.0
    }

    /// The largest ‖w‖₂.
    fn reach(&self, _n: usize) -> f64 {
        self.radius
    }

    /// With ridge: at the projection of −h/ridge, which is |w_j| = max(|h_j| − τ, 0)/ridge outside
    /// of the ball.
    fn minimum(&self, h: &[f64], ridge: f64) -> f64 {
        let (sum, top) = size(h);
        // ridge · ‖w‖₁ on the surface.
        let total = ridge * self.radius;
        if total == 0.0 {
            return -self.radius * top;
        }
        if sum <= total {
            // The minimiser −h/ridge lies inside.
            return -dot(h, h) / (2.0 * ridge);
        }
        let level = level_of(h, top, total);
        h.iter()
            .map(|h| {
                let w = rest(*h, top, level) / ridge;
                ridge / 2.0 * w * w - h.abs() * w
            })
            .sum()
    }

    fn contains(&self, w: &[f64]) -> bool {
        // NaN is not less.
        size(w).0 <= self.radius * (1.0 + 1e-9)
    }

    fn constraints(&self) -> Constraints {
        Constraints::L1(self.radius)
    }

    fn euclidean(&self) -> Option<Constraints> {
        Some(self.constraints())
    }

    fn dual_norm(&self, g: &[f64]) -> f64 {
        dot(g, g).sqrt()
    }

    fn dual_norm_squared(&self, g: &[f64]) -> f64 {
        g.iter().map(|v| v * v).sum()
    }

    fn kappa(&self, _n: usize) -> f64 {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;
    use crate::sampling::{Rng, unit};

    /// The projection as Duchi et al. have it, by sorting.
    fn by_sorting(v: &[f64], radius: f64) -> Vec<f64> {
        if v.iter().map(|v| v.abs()).sum::<f64>() <= radius {
            return v.to_vec();
        }
        let mut sorted: Vec<f64> = v.iter().map(|v| v.abs()).collect();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let (mut sum, mut tau) = (0.0, 0.0);
        for (j, u) in sorted.iter().enumerate() {
            sum += u;
            let next = (sum - radius) / (j as f64 + 1.0);
            if *u <= next {
                break;
            }
            tau = next;
        }
        v.iter().map(|v| (v.abs() - tau).max(0.0).copysign(*v)).collect()
    }

    #[test]
    fn the_projection_is_the_one_by_sorting() {
        let mut rng = Rng::seed_from_u64(1);
        for n in [1, 2, 3, 4, 7, 50, 1000] {
            for radius in [1e-3, 0.5, 3.0, 40.0] {
                for power in [1.0, 3.0, 30.0] {
                    let v: Vec<f64> = (0..n)
                        .map(|_| (2.0 * unit(&mut rng)).powf(power) * (unit(&mut rng) - 0.5))
                        .collect();
                    let mut w = v.clone();
                    let map = L1Ball::new(radius).unwrap();
                    map.primal(&mut w, 0.0);
                    assert!(map.contains(&w), "{n} {radius} {power}");
                    let scale = v.iter().fold(1.0, |a: f64, v| a.max(v.abs()));
                    for (a, b) in w.iter().zip(by_sorting(&v, radius)) {
                        assert!((a - b).abs() < 1e-12 * scale, "{n} {radius} {power}: {a} {b}");
                    }
                }
            }
        }
    }

    /// Ties, zeros, numbers far outside and in geometric progression, of which one step of Newton's
    /// method drops few: the sum is the radius.
    #[test]
    fn the_surface_is_met_whatever_the_numbers() {
        let far: Vec<f64> = (0..9).map(|j| 1e12 + 1e-4 * f64::from(j)).collect();
        let geometric: Vec<f64> = (0..1000).map(|j| 2f64.powi(j / 2 - 250)).collect();
        let uneven = (0..100_000).map(|j| if j == 0 { 1.0 } else { 0.5 + 1e-9 * f64::from(j) });
        for v in [vec![2.0; 6], vec![0.0, -3.0, 0.0], far, geometric, uneven.collect()] {
            for radius in [1e-6, 0.3, 1.0, 2.5] {
                let map = L1Ball::new(radius).unwrap();
                let mut w = v.clone();
                map.primal(&mut w, 0.0);
                let sum = size(&w).0;
                assert!((sum - radius).abs() < 1e-11 * radius, "{sum} {radius}");
                assert!(w.iter().zip(&v).all(|(w, v)| w * v >= 0.0 && w.abs() <= v.abs()));
            }
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_not_hidden() {
        let map = L1Ball::new(1.0).unwrap();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut w = [0.5, bad, 3.0];
            assert!(!map.contains(&w));
            map.primal(&mut w, 0.1);
            assert!(!w[1].is_finite(), "{w:?}");
        }
        // A sum that overflows is no reason to give up.
        let mut w = [1e308, -1e308, 1e308];
        map.primal(&mut w, 0.0);
        assert!(map.contains(&w) && (w[0] - 1.0 / 3.0).abs() < 1e-15, "{w:?}");
    }

    /// −B‖h‖_∞ without a ridge, −‖h‖²/(2λ) under a large one, and between both at the projection
    /// of −h/λ, also where λB or h/λ leave the range of numbers.
    #[test]
    fn minima() {
        let map = L1Ball::new(2.0).unwrap();
        let h = [3.0, -4.0, 1.0];
        assert_eq!(map.minimum(&h, 0.0), -8.0);
        assert_eq!(map.minimum(&[0.0; 3], 0.0), 0.0);
        assert_eq!(map.minimum(&[0.0; 3], 1.0), 0.0);
        assert_eq!(map.minimum(&h, 5.0), -26.0 / 10.0);
        // At λ = 1: τ = 2.5, w = (−½, 3/2, 0).
        assert!((map.minimum(&h, 1.0) - (1.25 - 1.5 - 6.0)).abs() < 1e-14);
        for ridge in [1e-200, 1e-308, 5e-324] {
            assert!((map.minimum(&h, ridge) + 8.0).abs() < 1e-14, "{ridge}");
        }
    }
}
