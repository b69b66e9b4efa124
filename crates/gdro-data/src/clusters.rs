//! Rows that belong together.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::options::DataOptions;
use crate::table::Table;

/// The clusters of rows: patients, households or sites, whose rows depend on each other while
/// clusters do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    codes: Vec<u32>,
    names: Arc<[String]>,
}

impl Clusters {
    /// Those of the given rows, by the cluster column of the options; `None` when there is no such
    /// option or the table has no such column. A row without a cell is a cluster of its own.
    ///
    /// # Errors
    /// For a column that was not read as text.
    ///
    /// # Panics
    /// When a row is not below [`Table::rows`].
    pub fn of(table: &Table, rows: &[u32], options: &DataOptions) -> Result<Option<Self>> {
        let Some(name) = options.cluster.as_ref() else { return Ok(None) };
        let Some(cells) = table.column(name) else { return Ok(None) };
        let Some(texts) = &cells.texts else {
            let (column, found) = (name.clone(), cells.kind().words());
            return Err(Error::Kind { column, found, expected: "text" });
        };
        let mut names = texts.levels.clone();
        let codes = rows.iter().map(|row| match texts.code(*row as usize) {
            Some(code) => code as u32,
            None => {
                names.push(format!("(missing in {})", table.position(*row as usize)));
                names.len() as u32 - 1
            }
        });
        let codes = codes.collect();
        Ok(Some(Clusters { codes, names: names.into() }))
    }

    /// For each row the number of its cluster. Numbers may be left out.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The name of a cluster: what the cells of its rows say.
    ///
    /// # Panics
    /// When there is no cluster of this number.
    pub fn name(&self, cluster: u32) -> &str {
        &self.names[cluster as usize]
    }

    /// Number of clusters among these rows.
    ///
    /// # Panics
    /// When a row is not below the number of rows.
    pub fn count(&self, rows: impl Iterator<Item = u32>) -> usize {
        let mut found: Vec<u32> = rows.map(|row| self.codes[row as usize]).collect();
        found.sort_unstable();
        found.dedup();
        found.len()
    }

    /// The given rows alone, numbered anew.
    ///
    /// # Panics
    /// When a row is not below the number of rows.
    pub fn select(&self, rows: &[usize]) -> Self {
        let codes = rows.iter().map(|row| self.codes[*row]).collect();
        Clusters { codes, names: self.names.clone() }
    }
}
