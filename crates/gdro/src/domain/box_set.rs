//! Boxes, with one pair of bounds for all coordinates or one for each.

use serde::{Deserialize, Serialize};

use super::{Constraints, MirrorMap};
use crate::error::{Error, Result, require};
use crate::row::dot;

/// The box {w : low_j ≤ w_j ≤ high_j} with ν(w) = ½‖w‖₂².
///
/// D² = Σ_j (max_{[low_j, high_j]} u² − min_{[low_j, high_j]} u²)/2; norm and dual norm ‖·‖₂, κ =
/// 1; the prox is a clamp (Beck, First-Order Methods in Optimization, DOI 10.1137/1.9781611974997,
/// § 6.4).
///
/// `B` holds the bounds: a list of pairs here, one pair for all coordinates in [`Cube`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoxSet<B = Vec<(f64, f64)>> {
    bounds: B,
}

/// The box {w : low ≤ w_j ≤ high} for any number of coordinates, with ν(w) = ½‖w‖₂².
pub type Cube = BoxSet<(f64, f64)>;

/// Bounds of coordinates by number.
pub trait Bounds {
    /// (low_j, high_j).
    ///
    /// # Panics
    /// When there are less than j + 1 coordinates.
    fn at(&self, j: usize) -> (f64, f64);

    /// Number of coordinates; `None` for any.
    fn count(&self) -> Option<usize>;

    /// The box as constraints, also where a coordinate is fixed.
    fn all(&self) -> Constraints;

    /// The box as constraints for the reference solver.
    fn constraints(&self) -> Constraints {
        self.all()
    }
}

impl Bounds for (f64, f64) {
    #[inline]
    fn at(&self, _j: usize) -> (f64, f64) {
        *self
    }

    fn count(&self) -> Option<usize> {
        None
    }

    fn all(&self) -> Constraints {
        Constraints::Box(self.0, self.1)
    }
}

impl Bounds for Vec<(f64, f64)> {
    #[inline]
    fn at(&self, j: usize) -> (f64, f64) {
        self[j]
    }

    fn count(&self) -> Option<usize> {
        Some(self.len())
    }

    fn all(&self) -> Constraints {
        Constraints::Bounds(self.clone())
    }

    /// A coordinate that is fixed has no interior, which an interior-point method needs.
    fn constraints(&self) -> Constraints {
        if self.iter().all(|(low, high)| low < high) { self.all() } else { Constraints::Other }
    }
}

impl Cube {
    /// The box [low, high]ⁿ.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless both bounds are finite and low < high.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        let holds = low.is_finite() && high.is_finite() && low < high;
        require(holds, "box", format!("[{low}, {high}]"), "finite bounds, low < high")?;
        Ok(Cube { bounds: (low, high) })
    }
}

impl BoxSet {
    /// The box of these bounds, in the order of the weights (`w[j·c + o]` for feature j and output
    /// o of c). low_j = high_j fixes a coordinate.
    ///
    /// # Errors
    /// [`crate::Error::Length`] when there are not as many upper bounds as lower ones;
    /// [`crate::Error::Parameter`] when there are none, or unless all are finite and low_j ≤
    /// high_j.
    pub fn from_bounds(low: &[f64], high: &[f64]) -> Result<Self> {
        if high.len() != low.len() {
            let (found, expected) = (high.len(), low.len());
            return Err(Error::Length { what: "upper bounds", found, expected });
        }
        require(!low.is_empty(), "number of bounds", 0, "at least 1")?;
        let bounds: Vec<(f64, f64)> = low.iter().copied().zip(high.iter().copied()).collect();
        for (low, high) in &bounds {
            let holds = low.is_finite() && high.is_finite() && low <= high;
            require(holds, "box", format!("[{low}, {high}]"), "finite bounds, low ≤ high")?;
        }
        Ok(BoxSet { bounds })
    }
}

/// The largest |u| in [low, high].
fn largest((low, high): (f64, f64)) -> f64 {
    low.abs().max(high.abs())
}

impl<B: Bounds> BoxSet<B> {
    /// Replaces every number by one that depends on its bounds.
    #[inline]
    fn map(&self, w: &mut [f64], f: impl Fn(f64, f64, f64) -> f64) {
        for (j, v) in w.iter_mut().enumerate() {
            let (low, high) = self.bounds.at(j);
            *v = f(*v, low, high);
        }
    }
}

impl<B: Bounds> MirrorMap for BoxSet<B> {
    fn dimension(&self) -> Option<usize> {
        self.bounds.count()
    }

    fn center(&self, w: &mut [f64]) {
        self.map(w, |_, low, high| 0f64.clamp(low, high));
    }

    #[inline]
    fn dual(&self, _w: &mut [f64]) {}

    #[inline]
    fn primal(&self, theta: &mut [f64], ridge: f64) {
        let shrink = 1.0 / (1.0 + ridge);
        self.map(theta, |v, low, high| (v * shrink).clamp(low, high));
    }

    fn width(&self, n: usize) -> f64 {
        let square = |j: usize| {
            let bounds = self.bounds.at(j);
            largest(bounds).powi(2) - 0f64.clamp(bounds.0, bounds.1).powi(2)
        };
        match self.bounds.count() {
            None => n as f64 * square(0) / 2.0,
            Some(_) => (0..n).map(square).sum::<f64>() / 2.0,
        }
    }

    fn reach(&self, n: usize) -> f64 {
        match self.bounds.count() {
            None => (n as f64).sqrt() * largest(self.bounds.at(0)),
            Some(_) => (0..n).map(|j| largest(self.bounds.at(j)).powi(2)).sum::<f64>().sqrt(),
        }
    }

    fn minimum(&self, h: &[f64], ridge: f64) -> f64 {
        let least = |(j, v): (usize, &f64)| {
            let (low, high) = self.bounds.at(j);
            let free = if ridge > 0.0 { -v / ridge } else { -v.signum() * f64::INFINITY };
            let u = if *v == 0.0 { 0f64 } else { free }.clamp(low, high);
            v * u + ridge * u * u / 2.0
        };
        h.iter().enumerate().map(least).sum()
    }

    fn contains(&self, w: &[f64]) -> bool {
        w.iter().enumerate().all(|(j, v)| {
            let (low, high) = self.bounds.at(j);
            let slack = 1e-9 * largest((low, high));
            *v >= low - slack && *v <= high + slack
        })
    }

    fn constraints(&self) -> Constraints {
        self.bounds.constraints()
    }

    fn dual_norm_squared(&self, g: &[f64]) -> f64 {
        g.iter().map(|v| v * v).sum()
    }

    fn euclidean(&self) -> Option<Constraints> {
        Some(self.bounds.all())
    }

    fn dual_norm(&self, g: &[f64]) -> f64 {
        dot(g, g).sqrt()
    }

    fn kappa(&self, _n: usize) -> f64 {
        1.0
    }
}
