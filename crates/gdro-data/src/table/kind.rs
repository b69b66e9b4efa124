//! How the kind of a column follows from its cells.

use serde::{Deserialize, Serialize};

use super::Kind;
use super::date::DateOrder;
use super::look::Look;
use super::numerals::Numerals;

/// What is wanted of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Wanted {
    /// The kind, where it is not left to the cells.
    pub(crate) kind: Option<Forced>,
    /// Whether the kind was left to cells of earlier rows.
    pub(crate) settled: bool,
    /// Whether texts are needed even if the cells are numbers.
    pub(crate) labels: bool,
    /// Whether numbers with leading zeros are texts.
    pub(crate) codes: bool,
    /// How numbers are written.
    pub(crate) numerals: Numerals,
}

/// A kind that is not inferred.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Forced {
    Number,
    Text,
    /// Dates as days; in this order, where it is known.
    Date(Option<DateOrder>),
    Ignored,
}

impl From<Kind> for Forced {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Number => Forced::Number,
            Kind::Text => Forced::Text,
            Kind::Ignored => Forced::Ignored,
        }
    }
}

/// A cell as a number: NaN when it is missing, and what is wrong with it.
pub(super) fn judge(cell: &str, numerals: Numerals) -> (f64, Option<Odd>) {
    match numerals.parse(cell) {
        _ if cell.is_empty() => (f64::NAN, None),
        None => (f64::NAN, Some(Odd::NotANumber)),
        Some(v) if !v.is_finite() => (v, Some(Odd::NotFinite)),
        Some(v) => (v, None),
    }
}

/// How a cell is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Odd {
    NotANumber,
    NotFinite,
    /// A code among numbers.
    Padded,
    NotADate,
    /// A date that is one in two ways.
    DateOrder,
    /// A date whose day and month are the other way round than those of other cells.
    OtherOrder,
}

/// A cell that stops a column, and what is said about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refused<'a> {
    pub(crate) odd: Odd,
    pub(crate) row: usize,
    pub(crate) text: &'a str,
    /// The texts of the column that usually mean a missing cell.
    pub(crate) marks: Vec<String>,
    /// What the texts of the column look like.
    pub(crate) look: Option<Look>,
}
