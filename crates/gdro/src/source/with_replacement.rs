//! Rows in memory, drawn with replacement.

use std::sync::Arc;

use rand::Rng as _;

use super::{Handle, Size, Source};
use crate::dataset::{Dataset, Place, Sample};
use crate::error::Result;
use crate::prefetch::prefetch;
use crate::sampling::{Rng, below_from, unit_from};

/// P_i is the empirical distribution of group i: a row with probability proportional to its
/// weight, uniformly when rows have no weights.
///
/// For sparse rows 32 bytes are kept for every member of a group; all that draw from the same data
/// share them.
#[derive(Clone, Debug)]
pub struct WithReplacement {
    data: Dataset,
    /// [`Dataset::places`]: a handle is a number of one of these, or of one of all members.
    places: Option<Arc<[Place]>>,
    /// Running sums of the weights within each group, when rows have weights.
    cumulative: Vec<Vec<f64>>,
    /// What [`Source::stored`] says.
    stored: Option<f64>,
}

impl WithReplacement {
    /// Draws from `data`.
    pub fn new(data: Dataset) -> Self {
        let running = |group: usize| {
            let mut total = 0.0;
            let add = |row: &u32| {
                total += data.weight(*row as usize);
                total
            };
            data.members(group).iter().map(add).collect()
        };
        let weighted = data.is_weighted();
        let cumulative =
            if weighted { (0..data.groups()).map(running).collect() } else { Vec::new() };
        let stored = data.matrix().stored_per_row();
        WithReplacement { places: data.places().cloned(), data, cumulative, stored }
    }

    /// The same for a run that has begun on other rows, which stored so many values: its point keeps its
    /// form.
    pub fn storing(self, stored: Option<f64>) -> Self {
        WithReplacement { stored, ..self }
    }
}

impl WithReplacement {
    /// Chooses one of the rows of a group by a random number: its number among the members of all
    /// groups.
    #[inline(always)]
    fn choose(&self, group: usize, number: u64) -> usize {
        let (first, members) = self.data.span(group);
        first
            + match self.cumulative.get(group) {
                None => below_from(number, members.len()),
                Some(sums) => {
                    let target = unit_from(number) * sums[sums.len() - 1];
                    // Rows of weight 0 have no room of their own and are never found.
                    sums.partition_point(|s| *s <= target).min(members.len() - 1)
                }
            }
    }
}

impl Source for WithReplacement {
    fn groups(&self) -> usize {
        self.data.groups()
    }

    fn features(&self) -> usize {
        self.data.features()
    }

    fn stored(&self) -> Option<f64> {
        self.stored
    }

    #[inline(always)]
    fn draw(&mut self, group: usize, rng: &mut Rng) -> Result<Handle> {
        Ok(Handle(self.choose(group, rng.next_u64())))
    }

    #[inline(always)]
    fn handle(&self, group: usize, number: u64) -> Option<Handle> {
        let at = self.choose(group, number);
        match &self.places {
            Some(places) => prefetch(places, at),
            None => self.data.prefetch_member(at),
        }
        Some(Handle(at))
    }

    #[inline(always)]
    fn prefetch(&self, handle: Handle) {
        match &self.places {
            Some(places) => self.data.matrix().prefetch(places[handle.0].span()),
            None => self.data.prefetch(self.data.member(handle.0)),
        }
    }

    #[inline(always)]
    fn size(&self, handle: Handle) -> Size {
        let norm_squared = match &self.places {
            Some(places) => places[handle.0].norm_squared,
            None => self.get(handle).x.norm_squared(),
        };
        Size { largest: self.data.matrix().largest(), norm_squared }
    }

    #[inline(always)]
    fn get(&self, handle: Handle) -> Sample<'_> {
        match &self.places {
            Some(places) => {
                let place = &places[handle.0];
                Sample { x: self.data.matrix().entries(place.span()), y: place.target }
            }
            None => self.data.sample(self.data.member(handle.0)),
        }
    }
}
