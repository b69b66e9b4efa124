//! Sparse features as columns.

use std::collections::HashSet;

use super::sparse::Sparse;
use super::{Column, Places, Table};
use crate::error::{Error, Result};

/// Most numbers that sparse features are unfolded to.
const MOST_NUMBERS: usize = 200_000_000;

impl Table {
    /// The table with a column for every sparse feature from the index `base` on.
    pub(crate) fn dense(mut self, base: u32) -> Result<Self> {
        let Some(sparse) = self.sparse.take() else { return Ok(self) };
        let rows = self.rows();
        let every: Vec<u32> = (0..rows as u32).collect();
        let features = sparse.end(&every).saturating_sub(base) as usize;
        if rows.saturating_mul(features) > MOST_NUMBERS {
            return Err(Error::TooDense { rows, features, limit: MOST_NUMBERS });
        }
        let mut numbers = vec![vec![0.0; rows]; features];
        for row in every.iter().map(|row| *row as usize) {
            for (index, value) in sparse.row(row) {
                numbers[(index - base) as usize][row] = value;
            }
        }
        let known: HashSet<String> = self.names.iter().cloned().collect();
        for (index, numbers) in (base..).zip(numbers) {
            let name = index.to_string();
            // An index with a role is a column already, and has no entry.
            if !known.contains(&name) {
                self.names.push(name);
                self.columns.push(Column { numbers: Some(numbers), ..Column::default() });
            }
        }
        self.places = Places::default();
        let mut none = Sparse { has_zero: sparse.has_zero, ..Sparse::default() };
        none.starts.resize(rows + 1, 0);
        self.sparse = Some(none);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut sparse = Sparse::default();
        sparse.push(1, 0.5);
        sparse.push(3, -2.0);
        sparse.end_row();
        sparse.end_row();
        Table { lines: vec![1, 2], sparse: Some(sparse), ..Table::default() }
    }

    #[test]
    fn features_become_columns() {
        let dense = table().dense(1).unwrap();
        assert_eq!(dense.names(), ["1", "2", "3"]);
        let row = |row| ["1", "2", "3"].map(|n| dense.column(n).unwrap().number(row).unwrap());
        assert_eq!((row(0), row(1)), ([0.5, 0.0, -2.0], [0.0; 3]));
        assert_eq!(dense.sparse.unwrap().row(0).count(), 0);
        let mut wide = table();
        wide.sparse.as_mut().unwrap().indices[1] = 120_000_000;
        let found = wide.dense(1).unwrap_err().to_string();
        assert!(found.starts_with("scaling: ") && found.contains("240,000,000"), "{found}");
    }
}
