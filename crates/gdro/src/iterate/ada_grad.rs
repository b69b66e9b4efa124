//! A point whose steps come from the gradients that it has seen.

use super::linear::add_outer;
use super::{Dense, Gradient, Iterate};
use crate::domain::{Domain, MirrorMap};
use crate::error::{Error, Result};
use crate::row::{Row, dot};
use crate::source::Source;

/// The first distance, relative to 1 + ‖w_1‖₂. Any small number does: it grows geometrically until
/// it fits.
const FIRST: f64 = 1e-4;

/// A [`Dense`] point with the steps of AdaGrad-norm,
///
/// η_t = r_t/√(Σ_{s ≤ t} ‖g_s‖_*²),
///
/// (Streeter and McMahan, arXiv 1002.4862; Ward, Wu and Bottou, JMLR 21, 2020), where the unknown
/// distance to the optimum is replaced by the largest distance travelled so far,
/// r_t = max(r_1, max_{s ≤ t} ‖w_s − w_1‖₂), as in DoG (Ivgi, Hinder and Carmon, ICML 2023, arXiv
/// 2302.12022). It needs neither D nor G nor T. The guarantees of those sources are for Euclidean
/// steps without a ridge; with a ridge, which is taken implicitly, or with another geometry it is a
/// rule of thumb.
///
/// The step `eta` that is given multiplies η_t; 1 is the rule itself.
#[derive(Clone, Debug)]
pub struct AdaGrad<M> {
    dense: Dense<M>,
    start: Vec<f64>,
    gradient: Vec<f64>,
    /// √(Σ ‖g_s‖_*²).
    norm: f64,
    /// r_t.
    travelled: f64,
}

/// r_1 for a first point w_1.
fn first_distance(w: &[f64]) -> f64 {
    FIRST * (1.0 + dot(w, w).sqrt())
}

impl<M: MirrorMap> AdaGrad<M> {
    /// The starting point argmin_W ν of a domain, for d features and c outputs.
    pub fn new(domain: Domain<M>, features: usize, outputs: usize) -> Self {
        let dense = Dense::new(domain, features, outputs);
        let mut start = vec![0.0; dense.len()];
        dense.write(&mut start);
        let travelled = first_distance(&start);
        let gradient = vec![0.0; start.len()];
        AdaGrad { dense, start, gradient, norm: 0.0, travelled }
    }

    /// ‖g‖_* of the product of the weights and the intercepts, for gradients of any size.
    fn dual_norm<S: Source>(&mut self, gradient: &Gradient, source: &S) -> f64 {
        let features = self.dense.features();
        self.gradient.fill(0.0);
        for (handle, coefficients) in gradient.terms() {
            add_outer(&mut self.gradient, features, source.get(handle).x, 1.0, coefficients);
        }
        let norm = self.dense.dual_norm_squared(&self.gradient).sqrt();
        if norm.is_finite() {
            return norm;
        }
        // Squares have overflowed.
        let size = self.gradient.iter().fold(0.0, |a: f64, g| a.max(g.abs())).min(f64::MAX);
        self.gradient.iter_mut().for_each(|g| *g /= size);
        (size * self.dense.dual_norm_squared(&self.gradient).sqrt()).min(f64::MAX)
    }
}

impl<M: MirrorMap> Iterate for AdaGrad<M> {
    fn len(&self) -> usize {
        self.dense.len()
    }

    #[inline]
    fn scores(&self, x: Row<'_>, out: &mut [f64]) {
        self.dense.scores(x, out);
    }

    fn average_scores(&self, x: Row<'_>, out: &mut [f64]) {
        self.dense.average_scores(x, out);
    }

    fn distance(&self, other: &[f64]) -> f64 {
        self.dense.distance(other)
    }

    fn step<S: Source>(&mut self, eta: f64, ridge: f64, gradient: &Gradient, source: &S) {
        self.norm = self.norm.hypot(self.dual_norm(gradient, source)).min(f64::MAX);
        if self.norm > 0.0 {
            let eta = eta * self.travelled / self.norm;
            self.dense.step(eta, ridge, gradient, source);
            self.travelled = self.travelled.max(self.dense.distance(&self.start));
        }
    }

    fn jump_to(&mut self, other: &Self) {
        self.dense.jump_to(&other.dense);
        (self.norm, self.travelled) = (other.norm, other.travelled);
    }

    fn start_at(&mut self, w: &[f64]) {
        self.dense.start_at(w);
        self.start.copy_from_slice(w);
        (self.norm, self.travelled) = (0.0, first_distance(w));
    }

    fn accumulate(&mut self, weight: f64) {
        self.dense.accumulate(weight);
    }

    fn restart_average(&mut self) {
        self.dense.restart_average();
    }

    fn write(&self, out: &mut [f64]) {
        self.dense.write(out);
    }

    fn write_average(&self, out: &mut [f64]) -> f64 {
        self.dense.write_average(out)
    }

    fn save(&self) -> Vec<f64> {
        let mut saved = self.dense.save();
        saved.extend([self.norm, self.travelled]);
        saved
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        let Some((dense, &[norm, travelled])) = saved.split_last_chunk::<2>() else {
            return Err(Error::State(format!("{} numbers for an adaptive point", saved.len())));
        };
        self.dense.restore(dense)?;
        (self.norm, self.travelled) = (norm, travelled);
        Ok(())
    }
}
