//! The box with one pair of bounds for all coordinates.

use serde::{Deserialize, Serialize};

use super::{Constraints, MirrorMap};
use crate::error::{Result, require};
use crate::row::dot;

/// The box {w : low ≤ w_j ≤ high} with ν(w) = ½‖w‖₂².
///
/// D² = n (max_{[low, high]} u² − min_{[low, high]} u²)/2 for n coordinates; dual norm ‖·‖₂, κ = 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cube {
    low: f64,
    high: f64,
}

impl Cube {
    /// The box [low, high]ⁿ.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless both bounds are finite and low < high.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        let holds = low.is_finite() && high.is_finite() && low < high;
        require(holds, "box", format!("[{low}, {high}]"), "finite bounds, low < high")?;
        Ok(Cube { low, high })
    }
}

impl MirrorMap for Cube {
    fn center(&self, w: &mut [f64]) {
        w.fill(0f64.clamp(self.low, self.high));
    }

    #[inline]
    fn dual(&self, _w: &mut [f64]) {}

    #[inline]
    fn primal(&self, theta: &mut [f64], ridge: f64) {
        let shrink = 1.0 / (1.0 + ridge);
        theta.iter_mut().for_each(|v| *v = (*v * shrink).clamp(self.low, self.high));
    }

    fn width(&self, n: usize) -> f64 {
        let largest = self.low.abs().max(self.high.abs());
        let smallest = 0f64.clamp(self.low, self.high);
        n as f64 * (largest.powi(2) - smallest.powi(2)) / 2.0
    }

    fn reach(&self, n: usize) -> f64 {
        (n as f64).sqrt() * self.low.abs().max(self.high.abs())
    }

    fn minimum(&self, h: &[f64], ridge: f64) -> f64 {
        let least = |v: &f64| {
            let free = if ridge > 0.0 { -v / ridge } else { -v.signum() * f64::INFINITY };
            let u = if *v == 0.0 { 0f64 } else { free }.clamp(self.low, self.high);
            v * u + ridge * u * u / 2.0
        };
        h.iter().map(least).sum()
    }

    fn contains(&self, w: &[f64]) -> bool {
        let slack = 1e-9 * self.low.abs().max(self.high.abs());
        w.iter().all(|v| *v >= self.low - slack && *v <= self.high + slack)
    }

    fn constraints(&self) -> Constraints {
        Constraints::Box(self.low, self.high)
    }

    fn dual_norm(&self, g: &[f64]) -> f64 {
        dot(g, g).sqrt()
    }

    fn kappa(&self) -> f64 {
        1.0
    }
}
