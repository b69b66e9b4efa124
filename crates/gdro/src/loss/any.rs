//! The losses that have a name.

use super::{Logistic, Loss, Softmax, Squared};
use crate::error::Result;

/// One of this crate's losses, chosen at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnyLoss {
    /// [`Logistic`].
    Logistic(Logistic),
    /// [`Squared`].
    Squared(Squared),
    /// [`Softmax`].
    Softmax(Softmax),
}

macro_rules! each {
    ($self:ident, $loss:ident => $body:expr) => {
        match $self {
            AnyLoss::Logistic($loss) => $body,
            AnyLoss::Squared($loss) => $body,
            AnyLoss::Softmax($loss) => $body,
        }
    };
}

impl Loss for AnyLoss {
    fn name(&self) -> &'static str {
        each!(self, loss => loss.name())
    }

    #[inline]
    fn outputs(&self) -> usize {
        each!(self, loss => loss.outputs())
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        each!(self, loss => loss.value(scores, y))
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        each!(self, loss => loss.slope(scores, y, slope))
    }

    #[inline]
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        each!(self, loss => loss.hessian(scores, y, hessian))
    }

    fn accepts(&self, y: f64) -> bool {
        each!(self, loss => loss.accepts(y))
    }

    fn expects(&self) -> String {
        each!(self, loss => loss.expects())
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        each!(self, loss => loss.range(bound, target))
    }

    fn lipschitz(&self, bound: f64, target: f64) -> f64 {
        each!(self, loss => loss.lipschitz(bound, target))
    }

    fn curvature(&self) -> f64 {
        each!(self, loss => loss.curvature())
    }

    fn correct(&self, scores: &[f64], y: f64) -> Option<bool> {
        each!(self, loss => loss.correct(scores, y))
    }
}
