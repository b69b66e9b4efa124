//! A table in memory.

mod cells;
#[cfg(feature = "arrow")]
pub(crate) mod coder;
mod column;
mod date;
mod dense;
pub(crate) mod kind;
mod look;
mod numerals;
pub(crate) mod raw;
mod settle;
pub(crate) mod sparse;
#[cfg(feature = "arrow")]
pub(crate) mod typed;

pub use cells::Cells;
#[cfg(feature = "arrow")]
pub(crate) use column::MISSING;
pub(crate) use column::Texts;
pub use column::{Column, Kind};
pub use date::DateOrder;
pub(crate) use date::FORMATS as DATES;
pub use look::Look;
pub(crate) use numerals::Numerals;

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::error::{Position, Result, Unit, unknown_column};
use sparse::Sparse;

/// The rows of one or several files. Numbers are held as `f64`, texts as codes into a dictionary.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub(crate) names: Vec<String>,
    pub(crate) columns: Vec<Column>,
    /// Files with the number of rows up to their end.
    pub(crate) files: Vec<(String, usize)>,
    /// Number of each row in its file, less the base.
    pub(crate) lines: Vec<u32>,
    /// What is added to the numbers of the rows: blocks of a long file start late in it.
    pub(crate) base: u64,
    pub(crate) unit: Unit,
    /// Features by index, besides the columns.
    pub(crate) sparse: Option<Sparse>,
    /// What a user should know of how the files were read.
    pub(crate) notes: Vec<String>,
    /// The places of the columns by their names, once one was looked for.
    pub(crate) places: Places,
}

/// Places by name, made of the names when they are first needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(OnceLock<HashMap<String, usize>>);

impl Places {
    fn of(&self, names: &[String], name: &str) -> Option<usize> {
        let index = || (0..).zip(names).map(|(at, name)| (name.clone(), at)).collect();
        self.0.get_or_init(index).get(name).copied()
    }
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// Names of the columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What a user should know of how the files were read: columns that were skipped.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The column of a name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.places.of(&self.names, name).map(|at| &self.columns[at])
    }

    /// File and line of a row (of its first line, where quoted cells span several), or its number
    /// in a file that has no lines.
    ///
    /// # Panics
    /// When `row` is not below [`Table::rows`].
    pub fn position(&self, row: usize) -> Position {
        let line = self.base + u64::from(self.lines[row]);
        let file = self.files.partition_point(|(_, end)| *end <= row);
        Position { file: self.files[file].0.clone(), line, unit: self.unit }
    }

    /// The first row of the last file.
    pub(crate) fn last_file_start(&self) -> usize {
        let ends = self.files.iter().rev().nth(1);
        ends.map_or(0, |(_, end)| *end)
    }

    /// The columns without their cells.
    pub(crate) fn header(&self) -> Self {
        let header = |column: &Column| Column {
            numbers: column.numbers.as_ref().map(|_| Vec::new()),
            texts: column.texts.as_ref().map(|_| Texts::default()),
            ..Column::default()
        };
        let columns = self.columns.iter().map(header).collect();
        Table { names: self.names.clone(), columns, ..Table::default() }
    }

    /// The column of a name, or an error that says who needs it.
    pub(crate) fn find(&self, needed_by: &'static str, name: &str) -> Result<&Column> {
        self.column(name).ok_or_else(|| unknown_column(needed_by, name, &self.names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            names: vec!["a".into(), "b".into()],
            columns: vec![
                Column { numbers: Some(vec![1.0, f64::NAN, 2.0]), ..Column::default() },
                Column { texts: Some(Texts::new(["x", "", "x"].into_iter())), ..Column::default() },
            ],
            files: vec![("one".into(), 1), ("empty".into(), 1), ("two".into(), 3)],
            lines: vec![2, 2, 5],
            ..Table::default()
        }
    }

    #[test]
    fn cells() {
        let table = table();
        let (a, b) = (table.column("a").unwrap(), table.column("b").unwrap());
        assert_eq!((a.kind(), b.kind()), (Kind::Number, Kind::Text));
        assert_eq!([0, 1, 2, 3].map(|r| a.number(r)), [Some(1.0), None, Some(2.0), None]);
        assert_eq!([0, 1, 2, 3].map(|r| b.text(r)), [Some("x"), None, Some("x"), None]);
        assert_eq!(
            [0, 1].map(|r| (a.is_missing(r), b.is_missing(r))),
            [(false, false), (true, true)]
        );
        assert_eq!(a.text(0), None);
    }

    #[test]
    fn rows_know_their_file_and_line() {
        let table = table();
        assert_eq!([0, 1, 2].map(|r| table.position(r).to_string()), ["one:2", "two:2", "two:5"]);
        assert!(table.find("weight", "c").is_err());
    }
}
