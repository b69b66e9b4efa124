//! A user's own sampler.

use super::slots::Slots;
use super::{Handle, Source};
use crate::dataset::Sample;
use crate::error::Result;
use crate::sampling::Rng;

/// Samples from a closure `draw(group, rng, x) -> Result<y>` that fills the features x and returns
/// the target. What the closure itself remembers is not a part of a checkpoint.
///
/// ```
/// use gdro::source::{Closure, Source};
/// use gdro::sampling::{Rng, unit};
///
/// // Two groups of coin flips.
/// let mut source = Closure::new(2, 1, |group, rng: &mut Rng, x: &mut [f64]| {
///     x[0] = 1.0;
///     Ok(if unit(rng) < [0.2, 0.7][group] { 1.0 } else { 0.0 })
/// });
/// assert_eq!(source.features(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Closure<F> {
    groups: usize,
    slots: Slots,
    draw: F,
}

impl<F> Closure<F>
where
    F: FnMut(usize, &mut Rng, &mut [f64]) -> Result<f64>,
{
    /// A source of `groups` groups and `features` features.
    pub fn new(groups: usize, features: usize, draw: F) -> Self {
        Closure { groups, slots: Slots::new(features), draw }
    }
}

impl<F> Source for Closure<F>
where
    F: FnMut(usize, &mut Rng, &mut [f64]) -> Result<f64>,
{
    fn groups(&self) -> usize {
        self.groups
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
        *y = (self.draw)(group, rng, x)?;
        Ok(handle)
    }

    fn get(&self, handle: Handle) -> Sample<'_> {
        self.slots.get(handle)
    }
}
