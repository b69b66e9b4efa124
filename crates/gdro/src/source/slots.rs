//! Room for the samples of one round, for sources that make them on the fly.

use super::Handle;
use crate::dataset::Sample;
use crate::row::Row;

/// The dense samples of one round. The memory is reused in every round.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    width: usize,
    used: usize,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Slots {
    pub(super) fn new(width: usize) -> Self {
        Slots { width, used: 0, x: Vec::new(), y: Vec::new() }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn reserve(&mut self, samples: usize) {
        if samples > self.y.len() {
            self.x.resize(samples * self.width, 0.0);
            self.y.resize(samples, 0.0);
        }
    }

    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// Takes the next slot and hands out its features and target to be filled.
    pub(super) fn next(&mut self) -> (Handle, &mut [f64], &mut f64) {
        let at = self.used;
        self.reserve(at + 1);
        self.used = at + 1;
        let x = &mut self.x[at * self.width..(at + 1) * self.width];
        (Handle(at), x, &mut self.y[at])
    }

    pub(super) fn get(&self, handle: Handle) -> Sample<'_> {
        let at = handle.0;
        Sample { x: Row::Dense(&self.x[at * self.width..(at + 1) * self.width]), y: self.y[at] }
    }
}
