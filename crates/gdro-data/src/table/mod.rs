//! A table in memory.

mod cells;
#[cfg(feature = "arrow")]
pub(crate) mod coder;
pub(crate) mod kind;
pub(crate) mod sparse;
#[cfg(feature = "arrow")]
pub(crate) mod typed;

use serde::{Deserialize, Serialize};

use crate::error::{Position, Result, Unit, unknown_column};
pub use cells::Cells;
use sparse::Sparse;

/// Code of a missing text.
pub(crate) const MISSING: u32 = u32::MAX;

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
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Finite numbers.
    Number,
    /// Texts.
    Text,
    /// Nothing: the column is ignored and was not stored.
    Ignored,
}

impl Kind {
    /// The kind in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Kind::Number => "numbers",
            Kind::Text => "text",
            Kind::Ignored => "ignored",
        }
    }
}

/// The cells of a column. A numeric group column holds its texts too, as group labels.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The numbers; NaN stands for a missing cell.
    pub(crate) numbers: Option<Vec<f64>>,
    pub(crate) texts: Option<Texts>,
    /// Cells of a text column that look like numbers.
    pub(crate) look_numeric: usize,
    /// Whether it is known that no cell is missing.
    pub(crate) complete: bool,
}

/// Texts as codes into a dictionary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    pub(crate) codes: Vec<u32>,
    /// The dictionary, in the order of first appearance.
    pub(crate) levels: Vec<String>,
}

impl Texts {
    /// Codes texts; an empty text is a missing cell.
    pub(crate) fn new<'a>(cells: impl Iterator<Item = &'a str>) -> Self {
        let mut known: std::collections::HashMap<&str, u32> = std::collections::HashMap::new();
        let mut levels = Vec::new();
        let codes = cells
            .map(|cell| match cell {
                "" => MISSING,
                cell => *known.entry(cell).or_insert_with(|| {
                    levels.push(cell.to_owned());
                    levels.len() as u32 - 1
                }),
            })
            .collect();
        Texts { codes, levels }
    }

    /// The code of a row.
    pub(crate) fn code(&self, row: usize) -> Option<usize> {
        self.codes.get(row).filter(|c| **c != MISSING).map(|c| *c as usize)
    }
}

impl Column {
    /// What the column holds.
    pub fn kind(&self) -> Kind {
        match (&self.numbers, &self.texts) {
            (Some(_), _) => Kind::Number,
            (None, Some(_)) => Kind::Text,
            (None, None) => Kind::Ignored,
        }
    }

    /// The number in a row: `None` when it is missing, out of range or not stored.
    pub fn number(&self, row: usize) -> Option<f64> {
        self.numbers.as_ref()?.get(row).copied().filter(|v| !v.is_nan())
    }

    /// The text in a row: `None` when it is missing, out of range or not stored.
    pub fn text(&self, row: usize) -> Option<&str> {
        let texts = self.texts.as_ref()?;
        texts.code(row).map(|code| texts.levels[code].as_str())
    }

    /// Whether any cell is missing.
    pub(crate) fn misses_any(&self) -> bool {
        match (&self.numbers, &self.texts) {
            _ if self.complete => false,
            // A sum of flags has no early exit and goes several numbers at a time.
            (Some(numbers), _) => numbers.iter().map(|v| u64::from(v.is_nan())).sum::<u64>() > 0,
            (None, Some(texts)) => {
                texts.codes.iter().map(|c| u32::from(*c == MISSING)).sum::<u32>() > 0
            }
            (None, None) => false,
        }
    }

    /// Whether the cell of a row is missing.
    pub fn is_missing(&self, row: usize) -> bool {
        match (&self.numbers, &self.texts) {
            (Some(_), _) => self.number(row).is_none(),
            (None, Some(texts)) => texts.code(row).is_none(),
            (None, None) => false,
        }
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

    /// The column of a name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.names.iter().position(|n| n == name).map(|at| &self.columns[at])
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
