//! A point stored as a plain array: obviously right, O(d·c) per round.

use super::linear::{add_outer, scores};
use super::{Gradient, Iterate};
use crate::average::RunningMean;
use crate::domain::{Domain, MirrorMap};
use crate::error::{Error, Result};
use crate::row::{Row, dot};
use crate::source::Source;

/// A point of any [`Domain`] as a plain array, with its average as another.
#[derive(Clone, Debug)]
pub struct Dense<M> {
    domain: Domain<M>,
    features: usize,
    outputs: usize,
    point: Vec<f64>,
    mean: RunningMean,
}

impl<M: MirrorMap> Dense<M> {
    /// The starting point argmin_W ν of a domain, for d features and c outputs.
    ///
    /// # Panics
    /// May panic, now or in a step, where [`Domain::check`] finds an error.
    pub fn new(domain: Domain<M>, features: usize, outputs: usize) -> Self {
        let weights = features * outputs;
        let len = weights + if domain.intercept.is_some() { outputs } else { 0 };
        let mut point = vec![0.0; len];
        domain.map.center(&mut point[..weights]);
        Dense { domain, features, outputs, point, mean: RunningMean::new(len) }
    }

    /// ‖g‖_*² of a gradient, in the product norm of weights and intercepts.
    pub(super) fn dual_norm_squared(&self, gradient: &[f64]) -> f64 {
        let (weights, intercepts) = gradient.split_at(self.features * self.outputs);
        self.domain.map.dual_norm_squared(weights) + dot(intercepts, intercepts)
    }

    /// Number of features d.
    pub(super) fn features(&self) -> usize {
        self.features
    }
}

impl<M: MirrorMap> Iterate for Dense<M> {
    fn len(&self) -> usize {
        self.point.len()
    }

    #[inline]
    fn scores(&self, x: Row<'_>, out: &mut [f64]) {
        scores(&self.point, self.features, x, out);
    }

    fn average_scores(&self, x: Row<'_>, out: &mut [f64]) {
        match self.mean.sum() {
            (_, 0.0) => self.scores(x, out),
            (sum, total) => {
                scores(sum, self.features, x, out);
                out.iter_mut().for_each(|s| *s /= total);
            }
        }
    }

    fn distance(&self, other: &[f64]) -> f64 {
        self.point.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    #[inline]
    fn step<S: Source>(&mut self, eta: f64, ridge: f64, gradient: &Gradient, source: &S) {
        let weights = self.features * self.outputs;
        self.domain.map.dual(&mut self.point[..weights]);
        for (handle, coefficients) in gradient.terms() {
            let x = source.get(handle).x;
            add_outer(&mut self.point, self.features, x, -eta, coefficients);
        }
        let (w, intercepts) = self.point.split_at_mut(weights);
        self.domain.map.primal(w, eta * ridge);
        if let Some(bound) = self.domain.intercept {
            intercepts.iter_mut().for_each(|b| *b = b.clamp(-bound, bound));
        }
    }

    fn jump_to(&mut self, other: &Self) {
        self.point.copy_from_slice(&other.point);
    }

    fn start_at(&mut self, w: &[f64]) {
        self.point.copy_from_slice(w);
        self.mean.restart();
    }

    #[inline]
    fn accumulate(&mut self, weight: f64) {
        self.mean.add(weight, 1.0, &self.point);
    }

    fn restart_average(&mut self) {
        self.mean.restart();
    }

    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.point);
    }

    fn write_average(&self, out: &mut [f64]) -> f64 {
        self.write(out);
        self.mean.write(out)
    }

    fn save(&self) -> Vec<f64> {
        self.point.iter().copied().chain(self.mean.save()).collect()
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        let len = self.point.len();
        if saved.len() != 2 * len + 1 {
            let found = saved.len();
            return Err(Error::State(format!("{found} numbers for a point of {len} coordinates")));
        }
        self.point.copy_from_slice(&saved[..len]);
        self.mean.restore(&saved[len..]);
        Ok(())
    }
}
