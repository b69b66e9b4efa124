//! Features by their indices.

/// Largest index: each takes a weight.
pub(crate) const MOST_INDEX: u32 = (1 << 27) - 1;

/// The features of the rows of a table that are not zero, by indices as they were written: row r
/// has the entries `starts[r]..starts[r + 1]`, whose indices increase strictly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sparse {
    pub(crate) starts: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<f64>,
    /// Whether the index 0 was written, whatever its value.
    pub(crate) has_zero: bool,
}

impl Default for Sparse {
    fn default() -> Self {
        Sparse { starts: vec![0], indices: Vec::new(), values: Vec::new(), has_zero: false }
    }
}

impl Sparse {
    /// Bytes that it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        let entry = size_of::<u32>() + size_of::<f64>();
        entry * self.values.capacity() + size_of::<usize>() * self.starts.capacity()
    }

    /// Appends an entry of the row that is being written.
    pub(crate) fn push(&mut self, index: u32, value: f64) {
        self.indices.push(index);
        self.values.push(value);
    }

    /// Sorts the entries from one on by their indices.
    pub(crate) fn sort_from(&mut self, start: usize) {
        let (indices, values) = (&mut self.indices[start..], &mut self.values[start..]);
        let mut entries: Vec<(u32, f64)> =
            indices.iter().copied().zip(values.iter().copied()).collect();
        entries.sort_unstable_by_key(|(index, _)| *index);
        for (at, (index, value)) in entries.into_iter().enumerate() {
            (indices[at], values[at]) = (index, value);
        }
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) {
        self.starts.push(self.values.len());
    }

    /// The entries of a row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (u32, f64)> {
        let span = self.starts[row]..self.starts[row + 1];
        self.indices[span.clone()].iter().copied().zip(self.values[span].iter().copied())
    }

    /// One more than the largest index in some rows; 0 when they have no entry.
    pub(crate) fn end(&self, rows: &[u32]) -> u32 {
        // The last entry of a row has its largest index.
        let last = |row: &u32| {
            let (from, to) = (self.starts[*row as usize], self.starts[*row as usize + 1]);
            if from == to { 0 } else { self.indices[to - 1] + 1 }
        };
        rows.iter().map(last).max().unwrap_or(0)
    }
}

/// The index that a column is named by.
pub(crate) fn index_of(name: &str) -> Option<u32> {
    name.parse().ok().filter(|index: &u32| index.to_string() == name && *index <= MOST_INDEX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse() -> Sparse {
        let mut sparse = Sparse::default();
        sparse.push(1, 0.5);
        sparse.push(3, -2.0);
        sparse.end_row();
        sparse.end_row();
        sparse
    }

    #[test]
    fn rows_have_their_entries() {
        let sparse = sparse();
        assert_eq!(sparse.row(0).collect::<Vec<_>>(), [(1, 0.5), (3, -2.0)]);
        assert_eq!(sparse.row(1).count(), 0);
        assert_eq!((sparse.end(&[0, 1]), sparse.end(&[1])), (4, 0));
    }
}
