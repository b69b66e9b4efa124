//! How the kind of a column follows from its cells.

use super::Kind;

/// What is wanted of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Wanted {
    /// The kind, where it is not left to the cells.
    pub(crate) kind: Option<Forced>,
    /// Whether texts are needed even if the cells are numbers.
    pub(crate) labels: bool,
}

/// A kind that is not inferred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Forced {
    Number,
    Text,
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
pub(super) fn judge(cell: &str) -> (f64, Option<Odd>) {
    match cell.parse::<f64>() {
        _ if cell.is_empty() => (f64::NAN, None),
        Err(_) => (f64::NAN, Some(Odd::NotANumber)),
        Ok(v) if !v.is_finite() => (v, Some(Odd::NotFinite)),
        Ok(v) => (v, None),
    }
}

/// Whether cells of which so many look like numbers are texts.
pub(super) fn is_text(wanted: Wanted, numeric: usize, present: usize) -> bool {
    wanted.kind != Some(Forced::Number) && 2 * numeric <= present
}

/// How a cell of a numeric column is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Odd {
    NotANumber,
    NotFinite,
}
