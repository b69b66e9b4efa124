//! Row weights.

use crate::error::{Error, Position, Result};
use crate::options::DataOptions;
use crate::table::Table;

/// The weights of rows that have one.
pub(crate) fn weights(
    table: &Table,
    rows: &[u32],
    options: &DataOptions,
) -> Result<Option<Vec<f64>>> {
    let Some(name) = &options.weight else { return Ok(None) };
    let cells = table.find("weight", name)?;
    let weights: Vec<f64> =
        rows.iter().map(|row| cells.number(*row as usize).unwrap_or(0.0)).collect();
    if weights.iter().sum::<f64>().is_finite() {
        Ok(Some(weights))
    } else {
        Err(Error::TooLarge { column: name.clone(), done: "added" })
    }
}

/// Refuses a weight that is none ([`gdro::is_weight`]); `place` is where it stands.
pub(crate) fn check_weight(found: f64, place: impl FnOnce() -> (Position, String)) -> Result<()> {
    if gdro::is_weight(found) {
        return Ok(());
    }
    let (at, column) = place();
    let expected =
        if found < 0.0 { "a number of at least 0" } else { "0 or a number from 1e-290 to 1e290" };
    Err(Error::Weight { at, column, found, expected })
}

/// Rows of a later table that count, and how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    /// The rows with a weight above 0.
    pub rows: Vec<u32>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// Number of the other rows whose weight is missing.
    pub missing: usize,
    /// Number of the other rows of weight 0.
    pub weightless: usize,
}

impl Weighted {
    /// Those of the given rows that count, by the weight column of the options; `None` when there
    /// is no such option or the table has no such column.
    ///
    /// # Errors
    /// For a weight out of range ([`gdro::is_weight`]), and for a column that is not numeric or whose sum overflows.
    ///
    /// # Panics
    /// When a row is not below [`Table::rows`].
    pub fn of(table: &Table, rows: &[u32], options: &DataOptions) -> Result<Option<Self>> {
        let Some(name) = options.weight.as_ref() else { return Ok(None) };
        let Some(cells) = table.column(name) else { return Ok(None) };
        if cells.numbers.is_none() {
            let (column, found) = (name.clone(), cells.kind().words());
            return Err(Error::Kind { column, found, expected: "numbers" });
        }
        let mut weighted =
            Weighted { rows: Vec::new(), weights: Vec::new(), missing: 0, weightless: 0 };
        for row in rows {
            match cells.number(*row as usize) {
                None => weighted.missing += 1,
                Some(0.0) => weighted.weightless += 1,
                Some(weight) => {
                    check_weight(weight, || (table.position(*row as usize), name.clone()))?;
                    weighted.rows.push(*row);
                    weighted.weights.push(weight);
                }
            }
        }
        if weighted.weights.iter().sum::<f64>().is_finite() {
            Ok(Some(weighted))
        } else {
            Err(Error::TooLarge { column: name.clone(), done: "added" })
        }
    }
}
