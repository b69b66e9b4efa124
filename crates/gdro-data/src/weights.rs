//! Row weights.

use crate::error::{Error, Position, Result};
use crate::options::{DataOptions, WeightKind};
use crate::table::Table;
use crate::words::number;

/// Most rows that frequency weights may add up to: they are held in memory, and taken at their word.
const MOST_ROWS: f64 = 2e7;

/// The rows, each as often as its weight says where weights are frequencies. Notes how many they
/// are.
pub(crate) fn repeated(
    table: &Table,
    rows: Vec<u32>,
    options: &DataOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<u32>> {
    let frequency = options.weight_kind == WeightKind::Frequency;
    let Some(name) = options.weight.as_ref().filter(|_| frequency) else { return Ok(rows) };
    let cells = table.find("weight", name)?;
    let of = |row: &u32| cells.number(*row as usize).unwrap_or(0.0);
    let repeated = repeat(table, name, &rows, of)?;
    notes.push(format!(
        "rows count as often as `{name}` says: {} of the table are {}",
        number(rows.len()),
        number(repeated.len())
    ));
    Ok(repeated)
}

/// The rows, each as often as its weight says.
fn repeat(
    table: &Table,
    column: &str,
    rows: &[u32],
    weight: impl Fn(&u32) -> f64,
) -> Result<Vec<u32>> {
    if let Some(row) = rows.iter().find(|row| weight(row).fract() != 0.0) {
        let (at, column) = (table.position(*row as usize), column.to_owned());
        return Err(Error::FractionalWeight { at, column, found: weight(row) });
    }
    let total: f64 = rows.iter().map(&weight).sum();
    if total > MOST_ROWS {
        let found = format!("frequency, but the weights add up to {total:.0} rows");
        let most = number(MOST_ROWS as u64);
        let expected = format!(
            "counts of at most {most} rows; weights of surveys are no counts, but importance"
        );
        return Err(Error::Option { option: "weight-kind", found, expected });
    }
    let times = |row: &u32| std::iter::repeat_n(*row, weight(row) as usize);
    Ok(rows.iter().flat_map(times).collect())
}

/// The weights of rows that have one; none where weights are frequencies, see [`repeated`].
pub(crate) fn weights(
    table: &Table,
    rows: &[u32],
    options: &DataOptions,
) -> Result<Option<Vec<f64>>> {
    let Some(name) = &options.weight else { return Ok(None) };
    if options.weight_kind == WeightKind::Frequency {
        return Ok(None);
    }
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
    /// The rows with a weight above 0; each as often as it says where weights are frequencies.
    pub rows: Vec<u32>,
    /// Their weights; none where they are frequencies.
    pub weights: Option<Vec<f64>>,
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
    /// For a weight out of range ([`gdro::is_weight`]), for one that is no whole number where weights
    /// are frequencies, and for a column that is not numeric or whose sum overflows.
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
        let (mut counted, mut weights) = (Vec::new(), Vec::new());
        let mut weighted = Weighted { rows: Vec::new(), weights: None, missing: 0, weightless: 0 };
        for row in rows {
            match cells.number(*row as usize) {
                None => weighted.missing += 1,
                Some(0.0) => weighted.weightless += 1,
                Some(weight) => {
                    check_weight(weight, || (table.position(*row as usize), name.clone()))?;
                    counted.push(*row);
                    weights.push(weight);
                }
            }
        }
        if !weights.iter().sum::<f64>().is_finite() {
            return Err(Error::TooLarge { column: name.clone(), done: "added" });
        }
        (weighted.rows, weighted.weights) = match options.weight_kind {
            WeightKind::Importance => (counted, Some(weights)),
            WeightKind::Frequency => {
                let of = |row: &u32| cells.number(*row as usize).unwrap_or(0.0);
                (repeat(table, name, &counted, of)?, None)
            }
        };
        Ok(Some(weighted))
    }
}
