//! Features that are taken from a table by their indices.

use serde::{Deserialize, Serialize};

use crate::table::Table;
use crate::table::sparse::{MOST_INDEX, Sparse, index_of};

/// Which indices are features, and in what order: as they are, one feature each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SparseFeatures {
    /// The first index.
    first: u32,
    /// One more than the largest index that training saw.
    end: u32,
    /// Indices between them that are columns of the table, in increasing order.
    columns: Vec<u32>,
}

impl SparseFeatures {
    /// Learns the indices that occur in the given rows.
    pub(super) fn fit(table: &Table, sparse: &Sparse, rows: &[u32], first: Option<u32>) -> Self {
        let first = first.unwrap_or(u32::from(!sparse.has_zero));
        let end = sparse.end(rows).max(first);
        let columns = table.names().iter().filter_map(|name| index_of(name));
        let mut columns: Vec<u32> = columns.filter(|i| (first..end).contains(i)).collect();
        columns.sort_unstable();
        SparseFeatures { first, end, columns }
    }

    /// Whether training may have given it.
    pub(super) fn fits(&self) -> bool {
        let inside = |index: &u32| (self.first..self.end).contains(index);
        self.first <= self.end
            && self.end <= MOST_INDEX + 1
            && self.columns.is_sorted_by(|a, b| a < b)
            && self.columns.iter().all(inside)
    }

    /// Number of features.
    pub(super) fn width(&self) -> usize {
        (self.end - self.first) as usize - self.columns.len()
    }

    /// Whether no index is left out.
    pub(super) fn is_whole(&self) -> bool {
        self.columns.is_empty()
    }

    /// The indices, in order.
    pub(super) fn indices(&self) -> impl Iterator<Item = u32> {
        (self.first..self.end).filter(|index| self.columns.binary_search(index).is_err())
    }

    /// The feature of an index; `None` when training never saw it.
    pub(super) fn feature(&self, index: u32) -> Option<usize> {
        let before = self.columns.binary_search(&index).err()?;
        let inside = (self.first..self.end).contains(&index);
        inside.then(|| (index - self.first) as usize - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_that_are_columns_are_left_out() {
        let features = SparseFeatures { first: 1, end: 7, columns: vec![2, 5] };
        assert_eq!(features.width(), 4);
        assert_eq!(features.indices().collect::<Vec<_>>(), [1, 3, 4, 6]);
        let found = [0, 1, 2, 3, 4, 5, 6, 7].map(|index| features.feature(index));
        assert_eq!(found, [None, Some(0), None, Some(1), Some(2), None, Some(3), None]);
    }
}
