//! Two labels written as numbers, and a few rows that hold something else: a target that would be
//! taken as a number because of them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Position, Result};
use crate::labels::number_label;
use crate::table::{Column, Table};
use crate::words::list;

/// Largest number of different numbers that may be meant as classes.
pub(crate) const FEW: usize = 20;

/// The share of rows up to which rows are strays.
const SHARE: f64 = 0.05;

/// A number of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// The number.
    pub number: f64,
    /// Rows that hold it.
    pub rows: u64,
    /// The first of them.
    pub first: Position,
}

/// The numbers of a column in the given rows, in the order of appearance; none where they are more
/// than two labels and strays would have.
pub(crate) fn seen(table: &Table, cells: &Column, rows: &[u32]) -> Vec<Seen> {
    let mut seen: Vec<Seen> = Vec::new();
    for row in rows.iter().map(|row| *row as usize) {
        let Some(number) = cells.number(row) else { continue };
        tally(&mut seen, number, || table.position(row));
        if seen.len() > FEW {
            return Vec::new();
        }
    }
    seen
}

/// Counts a number, first seen at this place if it is new; gives its own place in the list.
pub(crate) fn tally(seen: &mut Vec<Seen>, number: f64, first: impl FnOnce() -> Position) -> usize {
    // One that is equal stands first most of the time when there are few.
    let known = seen.iter().position(|known| known.number == number);
    let at = known.unwrap_or_else(|| {
        seen.push(Seen { number, rows: 0, first: first() });
        seen.len() - 1
    });
    seen[at].rows += 1;
    at
}

/// Refuses a target whose task nobody named and of which two numbers are all but a few rows.
///
/// # Errors
/// [`Error::StrayLabels`].
pub(crate) fn check(column: &str, seen: &[Seen]) -> Result<()> {
    if !(3..=FEW).contains(&seen.len()) {
        return Ok(());
    }
    let mut by_rows: Vec<&Seen> = seen.iter().collect();
    // The order of appearance decides between equally many.
    by_rows.sort_by_key(|seen| std::cmp::Reverse(seen.rows));
    let (labels, others) = by_rows.split_at(2);
    let sum = |of: &[&Seen]| of.iter().map(|seen| seen.rows).sum::<u64>();
    let (kept, strays) = (sum(labels), sum(others));
    if strays as f64 > SHARE * (kept + strays) as f64 {
        return Ok(());
    }
    let mut labels = [labels[0].number, labels[1].number];
    labels.sort_by(f64::total_cmp);
    let found: Vec<String> = others.iter().map(|seen| number_label(seen.number)).collect();
    Err(Error::StrayLabels {
        at: others[0].first.clone(),
        column: column.to_owned(),
        labels: Box::new(labels.map(number_label)),
        rows: kept,
        strays,
        found: list(found.iter().map(String::as_str)),
    })
}
