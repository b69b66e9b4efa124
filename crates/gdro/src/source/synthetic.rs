//! The synthetic sets of the paper's experiments.

use rand_distr::{Distribution as _, StandardNormal};

use super::slots::Slots;
use super::{Handle, Source};
use crate::dataset::Sample;
use crate::error::{Result, require};
use crate::row::dot;
use crate::sampling::{Rng, Streams, unit};

/// m noisy linear classifiers (label `sec:exp:setting`): x ~ N(0, I_d) and y = sgn⟨x, w_i*⟩ with
/// probability p_i, its opposite otherwise.
///
/// The w_i* lie near one another: points on a sphere of radius r around a random unit vector,
/// projected onto the unit sphere.
#[derive(Clone, Debug)]
pub struct Synthetic {
    classifiers: Vec<Vec<f64>>,
    reliabilities: Vec<f64>,
    slots: Slots,
}

impl Synthetic {
    /// m = `reliabilities.len()` groups in d dimensions with classifiers at distance `radius`; the
    /// seed decides the classifiers. `reliabilities` are the p_i.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless m ≥ 1, d ≥ 1, radius ≥ 0 finite and all p_i ∈ [0, 1].
    pub fn new(d: usize, radius: f64, reliabilities: Vec<f64>, seed: u64) -> Result<Self> {
        require(!reliabilities.is_empty(), "number of groups", 0, "at least 1")?;
        require(d >= 1, "d", d, "at least 1")?;
        require(radius >= 0.0 && radius.is_finite(), "radius", radius, "0 ≤ r < ∞")?;
        for p in &reliabilities {
            require((0.0..=1.0).contains(p), "probability of a true label", p, "in [0, 1]")?;
        }
        let mut rng = Streams::new(seed).data;
        let center = direction(d, &mut rng);
        let classifier = |_: &f64| {
            let offset = direction(d, &mut rng);
            let mut w: Vec<f64> = center.iter().zip(&offset).map(|(c, o)| c + radius * o).collect();
            normalise(&mut w);
            w
        };
        let classifiers = reliabilities.iter().map(classifier).collect();
        Ok(Synthetic { classifiers, reliabilities, slots: Slots::new(d) })
    }

    /// The first set: radius 0.5 and p_i = 0.9 everywhere.
    ///
    /// # Errors
    /// As [`Synthetic::new`].
    pub fn balanced(m: usize, d: usize, seed: u64) -> Result<Self> {
        Self::new(d, 0.5, vec![0.9; m], seed)
    }

    /// The second set: radius 0.2, the outlier p_1 = 0.6, and the others uniform on
    /// [0.85, 0.95].
    ///
    /// # Errors
    /// As [`Synthetic::new`].
    pub fn heterogeneous(m: usize, d: usize, seed: u64) -> Result<Self> {
        let mut rng = Streams::new(seed).groups;
        let reliability = |i| if i == 0 { 0.6 } else { 0.85 + 0.1 * unit(&mut rng) };
        let reliabilities = (0..m).map(reliability).collect();
        Self::new(d, 0.2, reliabilities, seed)
    }

    /// The true classifiers w_i*, unit vectors.
    pub fn classifiers(&self) -> &[Vec<f64>] {
        &self.classifiers
    }

    /// The probabilities p_i of a true label.
    pub fn reliabilities(&self) -> &[f64] {
        &self.reliabilities
    }
}

fn normalise(w: &mut [f64]) {
    let norm = dot(w, w).sqrt();
    w.iter_mut().for_each(|v| *v /= norm);
}

/// A point uniform on the unit sphere.
fn direction(d: usize, rng: &mut Rng) -> Vec<f64> {
    let mut w: Vec<f64> = (0..d).map(|_| StandardNormal.sample(rng)).collect();
    normalise(&mut w);
    w
}

impl Source for Synthetic {
    fn groups(&self) -> usize {
        self.classifiers.len()
    }

    fn features(&self) -> usize {
        self.slots.width()
    }

    fn reserve(&mut self, draws: usize) {
        self.slots.reserve(draws);
    }

    fn begin_round(&mut self) {
        self.slots.clear();
    }

    fn draw(&mut self, group: usize, rng: &mut Rng) -> Result<Handle> {
        let (handle, x, y) = self.slots.next();
        x.iter_mut().for_each(|v| *v = StandardNormal.sample(rng));
        let side = if dot(x, &self.classifiers[group]) >= 0.0 { 1.0 } else { -1.0 };
        *y = if unit(rng) < self.reliabilities[group] { side } else { -side };
        Ok(handle)
    }

    fn get(&self, handle: Handle) -> Sample<'_> {
        self.slots.get(handle)
    }
}
