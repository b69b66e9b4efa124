//! Samples that outlive their round.

use serde::{Deserialize, Serialize};

use crate::dataset::Sample;
use crate::row::Row;

/// Copies of samples, in the order in which they were kept, one slot each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    groups: Vec<usize>,
    targets: Vec<f64>,
    /// Where the values and, in sparse rows, the indices of every slot end.
    ends: Vec<(usize, Option<usize>)>,
    values: Vec<f64>,
    indices: Vec<u32>,
}

impl Kept {
    /// Keeps a copy in the next slot.
    pub(super) fn push(&mut self, group: usize, sample: Sample<'_>) {
        self.groups.push(group);
        self.targets.push(sample.y);
        let indices = match sample.x {
            Row::Dense(values) => {
                self.values.extend_from_slice(values);
                None
            }
            Row::Sparse { indices, values } => {
                self.values.extend_from_slice(values);
                self.indices.extend_from_slice(indices);
                Some(self.indices.len())
            }
        };
        self.ends.push((self.values.len(), indices));
    }

    /// Group and sample of a slot.
    ///
    /// # Panics
    /// When nothing is kept in the slot.
    pub(super) fn get(&self, slot: usize) -> (usize, Sample<'_>) {
        let (end, indices) = self.ends[slot];
        let start = if slot == 0 { 0 } else { self.ends[slot - 1].0 };
        let values = &self.values[start..end];
        let x = match indices {
            None => Row::Dense(values),
            Some(end) => Row::Sparse { indices: &self.indices[end - values.len()..end], values },
        };
        (self.groups[slot], Sample { x, y: self.targets[slot] })
    }

    /// Number of slots.
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether the parts fit together, for rows of so many features of so many groups.
    pub(super) fn fits(&self, groups: usize, features: usize) -> bool {
        let lengths = [self.targets.len(), self.ends.len()];
        let (mut from, mut from_indices) = (0, 0);
        let rows = self.ends.iter().all(|(end, indices)| {
            let stored = end.checked_sub(from);
            from = *end;
            match (stored, indices) {
                (None, _) => false,
                (Some(n), None) => n == features,
                (Some(n), Some(end)) => {
                    let holds = from_indices + n == *end;
                    from_indices = *end;
                    holds
                }
            }
        });
        lengths == [self.len(); 2]
            && rows
            && (from, from_indices) == (self.values.len(), self.indices.len())
            && self.groups.iter().all(|group| *group < groups)
            && self.indices.iter().all(|j| (*j as usize) < features)
    }

    /// Forgets all, and keeps memory for as many rows, even if they have more values than these.
    pub(super) fn clear(&mut self) {
        if self.values.len() > self.values.capacity() / 2 {
            let room = (4 * self.values.len()).max(16 * self.groups.len());
            self.values.reserve(room);
            self.indices.reserve(if self.indices.is_empty() { 0 } else { room });
        }
        self.groups.clear();
        self.targets.clear();
        self.ends.clear();
        self.values.clear();
        self.indices.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_dense_and_sparse_rows() {
        let mut kept = Kept::default();
        let dense = [1.0, 2.0];
        let (indices, values) = ([3, 7], [4.0, 5.0]);
        kept.push(0, Sample { x: Row::Dense(&dense), y: 1.0 });
        kept.push(2, Sample { x: Row::Sparse { indices: &indices, values: &values }, y: -1.0 });
        kept.push(1, Sample { x: Row::Sparse { indices: &[], values: &[] }, y: 0.5 });
        kept.push(2, Sample { x: Row::Dense(&dense), y: 2.0 });
        assert_eq!(kept.get(0), (0, Sample { x: Row::Dense(&dense), y: 1.0 }));
        let sparse = Row::Sparse { indices: &indices, values: &values };
        assert_eq!(kept.get(1), (2, Sample { x: sparse, y: -1.0 }));
        let empty = Row::Sparse { indices: &[], values: &[] };
        assert_eq!(kept.get(2), (1, Sample { x: empty, y: 0.5 }));
        assert_eq!(kept.get(3), (2, Sample { x: Row::Dense(&dense), y: 2.0 }));
        kept.clear();
        kept.push(5, Sample { x: Row::Dense(&dense[..1]), y: 0.0 });
        assert_eq!(kept.get(0), (5, Sample { x: Row::Dense(&dense[..1]), y: 0.0 }));
    }
}
