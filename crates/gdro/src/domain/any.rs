//! Every set of models as one type.

use serde::{Deserialize, Serialize};

use super::{BoxSet, Constraints, Cube, L1Ball, L2Ball, MirrorMap, PNormBall, Simplex};

/// The geometries that have a name, chosen at run time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnyMap {
    /// [`L2Ball`], of infinite radius for an unconstrained model.
    L2Ball(L2Ball),
    /// [`L1Ball`].
    L1Ball(L1Ball),
    /// [`Cube`].
    Cube(Cube),
    /// [`BoxSet`].
    BoxSet(BoxSet),
    /// [`Simplex`].
    Simplex(Simplex),
    /// [`PNormBall`].
    PNormBall(PNormBall),
}

macro_rules! each {
    ($self:ident, $map:ident => $body:expr) => {
        match $self {
            AnyMap::L2Ball($map) => $body,
            AnyMap::L1Ball($map) => $body,
            AnyMap::Cube($map) => $body,
            AnyMap::BoxSet($map) => $body,
            AnyMap::Simplex($map) => $body,
            AnyMap::PNormBall($map) => $body,
        }
    };
}

impl MirrorMap for AnyMap {
    fn dimension(&self) -> Option<usize> {
        each!(self, map => map.dimension())
    }

    fn center(&self, w: &mut [f64]) {
        each!(self, map => map.center(w))
    }

    #[inline]
    fn dual(&self, w: &mut [f64]) {
        each!(self, map => map.dual(w))
    }

    #[inline]
    fn primal(&self, theta: &mut [f64], ridge: f64) {
        each!(self, map => map.primal(theta, ridge))
    }

    fn width(&self, n: usize) -> f64 {
        each!(self, map => map.width(n))
    }

    fn reach(&self, n: usize) -> f64 {
        each!(self, map => map.reach(n))
    }

    fn minimum(&self, h: &[f64], ridge: f64) -> f64 {
        each!(self, map => map.minimum(h, ridge))
    }

    fn contains(&self, w: &[f64]) -> bool {
        each!(self, map => map.contains(w))
    }

    fn constraints(&self) -> Constraints {
        each!(self, map => map.constraints())
    }

    fn euclidean(&self) -> Option<Constraints> {
        each!(self, map => map.euclidean())
    }

    fn dual_norm(&self, g: &[f64]) -> f64 {
        each!(self, map => map.dual_norm(g))
    }

    fn dual_norm_squared(&self, g: &[f64]) -> f64 {
        each!(self, map => map.dual_norm_squared(g))
    }

    fn kappa(&self, n: usize) -> f64 {
        each!(self, map => map.kappa(n))
    }
}
