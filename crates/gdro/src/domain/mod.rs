//! Geometries of the model: convex sets with a distance-generating function.
//!
//! A [`MirrorMap`] is a convex set W ⊂ ℝⁿ with a function ν that is 1-strongly convex on it with
//! respect to some norm (§ Preliminaries of the paper, label `sec:sa:grdo`). [`Domain`] is the
//! product of such a set, for the weights, with an interval for each intercept.

mod any;
mod box_set;
mod constraints;
mod l1_ball;
mod l2_ball;
mod norms;
mod p_norm_ball;
mod root;
mod simplex;
mod spec;

pub use any::AnyMap;
pub use box_set::{Bounds, BoxSet, Cube};
pub use constraints::Constraints;
pub use l1_ball::L1Ball;
pub use l2_ball::L2Ball;
pub use p_norm_ball::PNormBall;
use serde::{Deserialize, Serialize};
pub use simplex::Simplex;
pub use spec::DomainSpec;

use crate::error::{Error, Result, require};

/// A convex set W with its distance-generating function ν.
///
/// One step of mirror descent with ridge λ,
///
/// w ← argmin_{u ∈ W} η⟨g, u⟩ + (ηλ/2)‖u‖₂² + B(u, w),
///
/// is `dual(w)`, then w −= ηg, then `primal(w, ηλ)`. The ridge is taken implicitly (composite
/// mirror descent, Duchi et al. 2010), so that no step size makes it diverge.
///
/// The norm ‖·‖ is the one in which ν is 1-strongly convex. For models of several outputs both it
/// and its dual norm must fit the Euclidean norm of the scores: ‖x ⊗ a‖_* ≤ ‖x‖_*‖a‖₂ for a
/// gradient x ⊗ a, and so ‖Wᵀx‖₂ ≤ ‖W‖‖x‖_*. All norms ‖·‖_p with p ≤ 2 do.
pub trait MirrorMap {
    /// The number of coordinates where the set fixes it; `None` for sets of any number.
    fn dimension(&self) -> Option<usize> {
        None
    }

    /// Writes argmin_{w ∈ W} ν(w), the starting point.
    fn center(&self, w: &mut [f64]);

    /// Replaces w by ∇ν(w).
    fn dual(&self, w: &mut [f64]);

    /// Replaces θ by argmin_{w ∈ W} ν(w) + (ridge/2)‖w‖₂² − ⟨θ, w⟩.
    fn primal(&self, theta: &mut [f64], ridge: f64);

    /// D² = max_W ν − min_W ν for n coordinates (label `eqn:domain:W`); infinite when W is
    /// unbounded.
    fn width(&self, n: usize) -> f64;

    /// max_{w ∈ W} ‖w‖ for n coordinates, so that |⟨w, x⟩| ≤ reach · ‖x‖_*; infinite when W is
    /// unbounded.
    fn reach(&self, n: usize) -> f64;

    /// min_{w ∈ W} ⟨h, w⟩ + (ridge/2)‖w‖₂²; −∞ when W is unbounded, ridge = 0 and h ≠ 0. This is
    /// what a certificate needs of a geometry.
    fn minimum(&self, h: &[f64], ridge: f64) -> f64;

    /// Whether w lies in W, up to a relative 1e-9.
    fn contains(&self, w: &[f64]) -> bool;

    /// The set as constraints for the reference solver: [`Constraints::Other`] where none of them
    /// fits, as for most geometries.
    fn constraints(&self) -> Constraints {
        Constraints::Other
    }

    /// The set as constraints where ν(w) = ½‖w‖₂² and these are all: then a step can be taken in
    /// the coordinates that a gradient has ([`crate::iterate::Lazy`]). `None`, the default, is
    /// right for every geometry.
    fn euclidean(&self) -> Option<Constraints> {
        None
    }

    /// The dual norm ‖g‖_* of the norm in which ν is 1-strongly convex.
    fn dual_norm(&self, g: &[f64]) -> f64;

    /// ‖g‖_*², where that is more exact than the square of [`MirrorMap::dual_norm`].
    fn dual_norm_squared(&self, g: &[f64]) -> f64 {
        self.dual_norm(g).powi(2)
    }

    /// κ ≥ 1: the dual norm of n coordinates is κ-regular (label `ass:5`).
    fn kappa(&self, n: usize) -> f64;
}

/// The product of a set for the weights with the interval [−b, b] for every intercept, or with the
/// whole line where intercepts are free: then b is what the steps of a player take for granted, which
/// keep to the interval, and neither the reference solver nor a certificate knows a bound.
///
/// Intercepts carry the Euclidean ν and lie outside ridge and ball, as is usual in linear models.
/// For c outputs they add c·b²/2 to D². The sum of both ν is 1-strongly convex in the norm
/// √(‖weights‖² + ‖intercepts‖₂²), whose dual norm is √(‖·‖_*² + ‖·‖₂²), with the κ of the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Domain<M> {
    /// The set of the weights.
    pub map: M,
    /// Bound b of the intercepts; `None` for a model without intercept.
    pub intercept: Option<f64>,
    /// Whether the bound is one for steps alone.
    #[serde(default)]
    pub free: bool,
}

impl<M: MirrorMap> Domain<M> {
    /// Weights in `map`, no intercept.
    pub fn new(map: M) -> Self {
        Domain { map, intercept: None, free: false }
    }

    /// Adds intercepts in [−bound, bound].
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless 0 < bound < ∞.
    pub fn with_intercept(mut self, bound: f64) -> Result<Self> {
        require(bound > 0.0 && bound.is_finite(), "intercept bound", bound, "0 < b < ∞")?;
        self.intercept = Some(bound);
        Ok(self)
    }

    /// Adds free intercepts, which the steps of a player keep in [−bound, bound].
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless 0 < bound < ∞.
    pub fn with_free_intercept(self, bound: f64) -> Result<Self> {
        Ok(Domain { free: true, ..self.with_intercept(bound)? })
    }

    /// Whether there is an intercept without a bound.
    pub fn is_free(&self) -> bool {
        self.free && self.intercept.is_some()
    }

    /// Checks that the set of the weights has room for `features` × `outputs` of them.
    ///
    /// # Errors
    /// [`crate::Error::Length`] when it has another number of coordinates.
    pub fn check(&self, features: usize, outputs: usize) -> Result<()> {
        match self.map.dimension() {
            Some(found) if found != features * outputs => {
                let expected = features * outputs;
                Err(Error::Length { what: "set of the weights", found, expected })
            }
            _ => Ok(()),
        }
    }

    /// Brings a model of `weights` weights into the product: by a step of length 0, which leaves a point
    /// where it is.
    pub fn enter(&self, w: &mut [f64], weights: usize) {
        let (w, intercepts) = w.split_at_mut(weights);
        self.map.dual(w);
        self.map.primal(w, 0.0);
        if let Some(bound) = self.intercept {
            intercepts.iter_mut().for_each(|b| *b = b.clamp(-bound, bound));
        }
    }

    /// D² of the product, for `features` × `outputs` weights.
    pub fn width(&self, features: usize, outputs: usize) -> f64 {
        let intercepts = self.intercept.map_or(0.0, |b| outputs as f64 * b * b / 2.0);
        self.map.width(features * outputs) + intercepts
    }

    /// min over the product of ⟨h, w⟩ + (ridge/2)‖weights‖² with intercepts in their interval, where the last numbers of h belong to
    /// the intercepts when there are any.
    pub fn minimum(&self, h: &[f64], ridge: f64, features: usize, outputs: usize) -> f64 {
        let (weights, intercepts) = h.split_at(features * outputs);
        let bound = self.intercept.unwrap_or(0.0);
        let free: f64 = intercepts.iter().map(|g| -bound * g.abs()).sum();
        self.map.minimum(weights, ridge) + free
    }
}
