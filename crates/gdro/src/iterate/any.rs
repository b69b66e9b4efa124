//! A point in whichever form is fast.

use super::{Dense, Gradient, Iterate, Lazy};
use crate::domain::MirrorMap;
use crate::error::Result;
use crate::row::Row;
use crate::source::Source;

/// A point in one of its forms. They are the same up to rounding; what differs is the cost of a
/// round.
#[derive(Clone, Debug)]
pub enum AnyPoint<M> {
    /// Arrays, O(d).
    Dense(Dense<M>),
    /// O(stored values).
    Lazy(Lazy),
}

macro_rules! each {
    ($self:ident, $w:ident => $body:expr) => {
        match $self {
            AnyPoint::Dense($w) => $body,
            AnyPoint::Lazy($w) => $body,
        }
    };
}

impl<M: MirrorMap> Iterate for AnyPoint<M> {
    fn len(&self) -> usize {
        each!(self, w => w.len())
    }

    #[inline(always)]
    fn scores(&self, x: Row<'_>, out: &mut [f64]) {
        each!(self, w => w.scores(x, out))
    }

    fn average_scores(&self, x: Row<'_>, out: &mut [f64]) {
        each!(self, w => w.average_scores(x, out))
    }

    fn distance(&self, other: &[f64]) -> f64 {
        each!(self, w => w.distance(other))
    }

    #[inline]
    fn step<S: Source>(&mut self, eta: f64, ridge: f64, gradient: &Gradient, source: &S) {
        each!(self, w => w.step(eta, ridge, gradient, source))
    }

    /// # Panics
    /// When the forms differ.
    fn jump_to(&mut self, other: &Self) {
        match (self, other) {
            (AnyPoint::Dense(a), AnyPoint::Dense(b)) => a.jump_to(b),
            (AnyPoint::Lazy(a), AnyPoint::Lazy(b)) => a.jump_to(b),
            _ => panic!("a point jumps to a point of its own form"),
        }
    }

    fn start_at(&mut self, w: &[f64]) {
        each!(self, point => point.start_at(w))
    }

    #[inline]
    fn accumulate(&mut self, weight: f64) {
        each!(self, w => w.accumulate(weight))
    }

    fn restart_average(&mut self) {
        each!(self, w => w.restart_average())
    }

    fn write(&self, out: &mut [f64]) {
        each!(self, w => w.write(out))
    }

    fn write_average(&self, out: &mut [f64]) -> f64 {
        each!(self, w => w.write_average(out))
    }

    fn save(&self) -> Vec<f64> {
        each!(self, w => w.save())
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        each!(self, w => w.restore(saved))
    }
}
