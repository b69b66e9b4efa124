//! The Euclidean ball.

use serde::{Deserialize, Serialize};

use super::{Constraints, MirrorMap};
use crate::error::{Result, require};
use crate::row::dot;

/// The ball {w : ‖w‖₂ ≤ B} with ν(w) = ½‖w‖₂²; B = ∞ leaves w free.
///
/// D² = B²/2, so that D = B/√2; dual norm ‖·‖₂, κ = 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct L2Ball {
    /// `None` for an infinite radius.
    radius: Option<f64>,
}

impl L2Ball {
    /// The ball of radius B.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless 0 < B < ∞.
    pub fn new(radius: f64) -> Result<Self> {
        require(radius > 0.0 && radius.is_finite(), "ball", radius, "0 < B < ∞")?;
        Ok(L2Ball { radius: Some(radius) })
    }

    /// The whole space.
    pub fn unconstrained() -> Self {
        L2Ball { radius: None }
    }

    /// The radius B, infinite when unconstrained.
    pub fn radius(&self) -> f64 {
        self.radius.unwrap_or(f64::INFINITY)
    }
}

impl MirrorMap for L2Ball {
    fn center(&self, w: &mut [f64]) {
        w.fill(0.0);
    }

    #[inline]
    fn dual(&self, _w: &mut [f64]) {}

    #[inline]
    fn primal(&self, theta: &mut [f64], ridge: f64) {
        let shrink = 1.0 / (1.0 + ridge);
        let scale = match self.radius {
            None => shrink,
            Some(radius) => {
                let norm = dot(theta, theta).sqrt() * shrink;
                if norm > radius { shrink * radius / norm } else { shrink }
            }
        };
        if scale != 1.0 {
            theta.iter_mut().for_each(|v| *v *= scale);
        }
    }

    fn width(&self, _n: usize) -> f64 {
        self.radius().powi(2) / 2.0
    }

    fn reach(&self, _n: usize) -> f64 {
        self.radius()
    }

    fn minimum(&self, h: &[f64], ridge: f64) -> f64 {
        let (norm, radius) = (dot(h, h).sqrt(), self.radius());
        if norm == 0.0 {
            0.0
        } else if ridge == 0.0 {
            -norm * radius
        } else if norm <= ridge * radius {
            // The minimiser −h/ridge lies inside.
            -norm * norm / (2.0 * ridge)
        } else {
            -norm * radius + ridge * radius * radius / 2.0
        }
    }

    fn contains(&self, w: &[f64]) -> bool {
        dot(w, w).sqrt() <= self.radius() * (1.0 + 1e-9)
    }

    fn constraints(&self) -> Constraints {
        self.radius.map_or(Constraints::Free, Constraints::Ball)
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
