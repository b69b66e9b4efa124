//! Giving up work that has nothing to show before its end.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gdro::loss::Loss;

use crate::failure::Interrupted;

/// How long work may go on once a flag is set.
#[derive(Debug)]
pub struct Patience<'a> {
    stop: &'a AtomicBool,
    grace: Duration,
    /// When the flag was first seen to be set.
    since: OnceLock<Instant>,
}

impl<'a> Patience<'a> {
    /// None.
    pub fn none(stop: &'a AtomicBool) -> Self {
        Self::of(stop, Duration::ZERO)
    }

    /// So long.
    pub fn of(stop: &'a AtomicBool, grace: Duration) -> Self {
        Patience { stop, grace, since: OnceLock::new() }
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) && self.is_late()
    }

    #[cold]
    fn is_late(&self) -> bool {
        self.since.get_or_init(Instant::now).elapsed() >= self.grace
    }
}

/// A loss whose slopes and values fail once patience is over; its curvature is 0 then, so that what
/// asks for nothing else comes to an end.
#[derive(Clone, Copy, Debug)]
pub struct Watched<'a, L> {
    loss: L,
    patience: &'a Patience<'a>,
}

impl<'a, L> Watched<'a, L> {
    /// A loss that fails with [`Interrupted`] once patience is over.
    pub fn new(loss: L, patience: &'a Patience<'a>) -> Self {
        Watched { loss, patience }
    }

    #[inline]
    fn look(&self) -> gdro::Result<()> {
        if self.patience.is_over() {
            return Err(gdro::Error::user(Interrupted));
        }
        Ok(())
    }
}

impl<L: Loss> Loss for Watched<'_, L> {
    fn name(&self) -> &'static str {
        self.loss.name()
    }

    fn outputs(&self) -> usize {
        self.loss.outputs()
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> gdro::Result<f64> {
        self.look()?;
        self.loss.value(scores, y)
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> gdro::Result<f64> {
        self.look()?;
        self.loss.slope(scores, y, slope)
    }

    #[inline]
    fn slope_at(&self, score: f64, y: f64) -> gdro::Result<(f64, f64)> {
        self.look()?;
        self.loss.slope_at(score, y)
    }

    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        self.loss.hessian(scores, y, hessian);
    }

    fn curvatures(&self, scores: &[f64], y: f64, scratch: &mut [f64], diagonal: &mut [f64]) {
        self.loss.curvatures(scores, y, scratch, diagonal);
    }

    fn hessian_times(
        &self,
        scores: &[f64],
        y: f64,
        v: &[f64],
        scratch: &mut [f64],
        out: &mut [f64],
    ) {
        if self.patience.is_over() {
            return out.fill(0.0);
        }
        self.loss.hessian_times(scores, y, v, scratch, out);
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        self.loss.conjugate(u, y)
    }

    fn infimum(&self) -> f64 {
        self.loss.infimum()
    }

    fn smoothed(&self, mu: f64) -> Option<Self> {
        self.loss.smoothed(mu).map(|loss| Watched { loss, patience: self.patience })
    }

    fn in_unit(&self, unit: f64) -> Option<(Self, f64)> {
        self.loss.in_unit(unit).map(|(loss, f)| (Watched { loss, patience: self.patience }, f))
    }

    fn accepts(&self, y: f64) -> bool {
        self.loss.accepts(y)
    }

    fn expects(&self) -> String {
        self.loss.expects()
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        self.loss.range(bound, target)
    }

    fn lipschitz(&self, bound: f64, target: f64) -> f64 {
        self.loss.lipschitz(bound, target)
    }

    fn curvature(&self) -> f64 {
        self.loss.curvature()
    }

    fn self_concordance(&self) -> Option<f64> {
        self.loss.self_concordance()
    }

    fn correct(&self, scores: &[f64], y: f64) -> Option<bool> {
        self.loss.correct(scores, y)
    }
}
