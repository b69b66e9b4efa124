//! Columns without a name, which hold nothing that anybody wrote.

use crate::error::{Error, Result};

/// The columns of a text that have no name: the first may number the rows, as pandas and R write
/// them; all others are empty, as Excel leaves them behind a table. They are skipped.
#[derive(Debug, Default)]
pub(super) struct Unnamed {
    /// Places, from 0, in increasing order.
    places: Vec<usize>,
    /// Where the names are.
    header: String,
    /// The number of the last row, once one has any.
    last: Option<i64>,
    /// Whether a row has none.
    is_empty: bool,
}

impl Unnamed {
    /// Takes the names that are missing out of those of a header.
    pub fn take(names: &mut Vec<String>, header: String) -> Self {
        let places: Vec<usize> = (0..names.len()).filter(|at| names[*at].is_empty()).collect();
        names.retain(|name| !name.is_empty());
        Unnamed { places, header, ..Unnamed::default() }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether a column is one of these.
    pub fn holds(&self, place: usize) -> bool {
        self.places.binary_search(&place).is_ok()
    }

    /// Looks at the cells of a row; refuses what is neither the number of the row nor empty.
    pub fn check<'a>(&mut self, cells: impl Iterator<Item = &'a str>, line: u64) -> Result<()> {
        for (place, cell) in cells.enumerate() {
            if !self.holds(place) {
                continue;
            }
            let number = if place == 0 { cell.parse::<i64>().ok() } else { None };
            let fits = match (number, self.last) {
                _ if cell.is_empty() => self.last.is_none() || place > 0,
                (Some(number), Some(last)) => last.checked_add(1) == Some(number),
                (Some(_), None) => !self.is_empty,
                (None, _) => false,
            };
            if !fits {
                return Err(Error::UnnamedCell {
                    place: self.header.clone(),
                    number: place + 1,
                    line,
                    text: cell.to_owned(),
                });
            }
            if place == 0 {
                (self.last, self.is_empty) = (number, cell.is_empty());
            }
        }
        Ok(())
    }

    /// What is skipped.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.last.is_some() {
            notes.push("the first column has no name and numbers the rows: it is skipped".into());
        }
        let empty = self.len() - usize::from(self.last.is_some());
        if empty > 0 {
            let columns = crate::words::count(empty, "column");
            notes.push(format!("{columns} without a name and without any cell: skipped"));
        }
        notes
    }
}
