//! Rows in memory, drawn with replacement.

use super::{Handle, Source};
use crate::dataset::{Dataset, Sample};
use crate::error::Result;
use crate::prefetch::prefetch;
use crate::sampling::{Rng, below, unit};

/// P_i is the empirical distribution of group i: a row with probability proportional to its
/// weight, uniformly when rows have no weights.
#[derive(Clone, Debug)]
pub struct WithReplacement {
    data: Dataset,
    /// Running sums of the weights within each group, when rows have weights.
    cumulative: Vec<Vec<f64>>,
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
        WithReplacement { data, cumulative }
    }
}

impl WithReplacement {
    /// Chooses one of the rows of a group: which of them.
    #[inline(always)]
    fn choose(&self, group: usize, members: &[u32], rng: &mut Rng) -> usize {
        match self.cumulative.get(group) {
            None => below(rng, members.len()),
            Some(sums) => {
                let target = unit(rng) * sums[sums.len() - 1];
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
        self.data.matrix().stored_per_row()
    }

    #[inline(always)]
    fn draw(&mut self, group: usize, rng: &mut Rng) -> Result<Handle> {
        let members = self.data.members(group);
        Ok(Handle(members[self.choose(group, members, rng)] as usize))
    }

    #[inline]
    fn is_far(&self) -> bool {
        // Also where rows are in the cache: a round goes on before its group is known.
        true
    }

    #[inline(always)]
    fn foresee(&self, group: usize, rng: &mut Rng) -> Handle {
        let members = self.data.members(group);
        let at = self.choose(group, members, rng);
        prefetch(members, at);
        Handle(at)
    }

    #[inline(always)]
    fn locate(&self, group: usize, noted: Handle) -> Handle {
        let row = self.data.members(group)[noted.0] as usize;
        self.data.prefetch_place(row);
        Handle(row)
    }

    #[inline(always)]
    fn fetch(&self, handle: Handle) {
        self.data.prefetch(handle.0);
    }

    fn largest(&self) -> Option<f64> {
        Some(self.data.matrix().largest())
    }

    #[inline(always)]
    fn get(&self, handle: Handle) -> Sample<'_> {
        self.data.sample(handle.0)
    }
}
