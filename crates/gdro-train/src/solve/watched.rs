//! Giving up work that has nothing to show before its end.

use std::sync::atomic::{AtomicBool, Ordering};

use gdro::loss::Loss;

use crate::failure::Interrupted;

/// A loss whose slopes and values fail once a flag is set.
#[derive(Clone, Copy, Debug)]
pub struct Watched<'a, L> {
    loss: L,
    stop: &'a AtomicBool,
}

impl<'a, L> Watched<'a, L> {
    /// A loss that fails with [`Interrupted`] once the flag is set.
    pub fn new(loss: L, stop: &'a AtomicBool) -> Self {
        Watched { loss, stop }
    }

    #[inline]
    fn look(&self) -> gdro::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
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
        self.loss.hessian_times(scores, y, v, scratch, out);
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        self.loss.conjugate(u, y)
    }

    fn infimum(&self) -> f64 {
        self.loss.infimum()
    }

    fn smoothed(&self, mu: f64) -> Option<Self> {
        self.loss.smoothed(mu).map(|loss| Watched { loss, stop: self.stop })
    }

    fn in_unit(&self, unit: f64) -> Option<(Self, f64)> {
        self.loss.in_unit(unit).map(|(loss, f)| (Watched { loss, stop: self.stop }, f))
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
