//! From the raw cells of a column to numbers or texts.

use crate::error::{Error, Result};
use crate::table::{Column, Kind, Texts};

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

/// The cells of a column one after another; an empty cell is a missing one.
#[derive(Debug, Default)]
pub(crate) struct RawColumn {
    text: String,
    lengths: Vec<u32>,
}

impl RawColumn {
    /// Appends a cell.
    pub(crate) fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        // A record is at most 16 MiB long, see `records`.
        self.lengths.push(cell.len() as u32);
    }

    /// Whether no cell has a content.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn cells(&self) -> impl Iterator<Item = &str> {
        let mut at = 0;
        self.lengths.iter().map(move |length| {
            let from = at;
            at += *length as usize;
            &self.text[from..at]
        })
    }

    /// Makes the column. It is numeric when every cell that is not missing is a finite number;
    /// when more than half of them are numbers and some are not, that is an error. `refuse` makes
    /// it from the constructor's choice (not finite or no number), the row and the cell.
    pub(crate) fn finish(
        self,
        wanted: Wanted,
        refuse: impl FnOnce(Odd, usize, &str) -> Error,
    ) -> Result<Column> {
        if wanted.kind == Some(Forced::Ignored) {
            return Ok(Column::default());
        }
        let texts = || Texts::new(self.cells());
        if wanted.kind == Some(Forced::Text) {
            return Ok(Column { texts: Some(texts()), ..Column::default() });
        }
        let mut numbers = Vec::with_capacity(self.lengths.len());
        let (mut present, mut numeric, mut odd) = (0, 0, None);
        for (row, cell) in self.cells().enumerate() {
            let number = if cell.is_empty() { Ok(f64::NAN) } else { cell.parse::<f64>() };
            present += usize::from(!cell.is_empty());
            numeric += usize::from(!cell.is_empty() && number.is_ok());
            let found = match number {
                Err(_) => Some(Odd::NotANumber),
                Ok(v) if !v.is_finite() && !cell.is_empty() => Some(Odd::NotFinite),
                Ok(_) => None,
            };
            odd = odd.or(found.map(|found| (found, row, cell)));
            numbers.push(number.unwrap_or(f64::NAN));
        }
        let force = wanted.kind == Some(Forced::Number);
        if !force && 2 * numeric <= present {
            let texts = Some(texts());
            return Ok(Column { texts, look_numeric: numeric, ..Column::default() });
        }
        if let Some((odd, row, cell)) = odd {
            return Err(refuse(odd, row, cell));
        }
        let texts = wanted.labels.then(texts);
        Ok(Column { numbers: Some(numbers), texts, look_numeric: 0 })
    }
}

/// How a cell of a numeric column is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Odd {
    NotANumber,
    NotFinite,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(cells: &[&str], kind: Option<Forced>) -> Result<Column, (Odd, usize, String)> {
        let mut raw = RawColumn::default();
        cells.iter().for_each(|c| raw.push(c));
        let mut refused = None;
        let column = raw.finish(Wanted { kind, labels: false }, |odd, row, cell| {
            refused = Some((odd, row, cell.to_owned()));
            Error::NoFile
        });
        column.map_err(|_| refused.unwrap())
    }

    #[test]
    fn kinds_follow_the_cells() {
        let kind = |cells: &[&str]| finish(cells, None).map(|c| c.kind());
        assert_eq!(kind(&["1", "", "-2e3", ".5", "+7"]), Ok(Kind::Number));
        assert_eq!(kind(&["a", "1", "b"]), Ok(Kind::Text));
        assert_eq!(kind(&["a", "1"]), Ok(Kind::Text));
        assert_eq!(kind(&["", ""]), Ok(Kind::Text));
        assert_eq!(kind(&["1", "2", "12,5"]), Err((Odd::NotANumber, 2, "12,5".into())));
        assert_eq!(kind(&["1", "", "NaN"]), Err((Odd::NotFinite, 2, "NaN".into())));
        assert_eq!(kind(&["-inf", "1"]), Err((Odd::NotFinite, 0, "-inf".into())));
        assert_eq!(kind(&["1e999", "1"]), Err((Odd::NotFinite, 0, "1e999".into())));
        assert_eq!(finish(&["a", "1"], None).unwrap().look_numeric, 1);
    }

    #[test]
    fn kinds_can_be_forced() {
        assert_eq!(finish(&["1", "2"], Some(Forced::Text)).unwrap().text(1), Some("2"));
        assert_eq!(finish(&["1"], Some(Forced::Ignored)).unwrap().kind(), Kind::Ignored);
        let found = finish(&["a", "b"], Some(Forced::Number)).unwrap_err();
        assert_eq!(found, (Odd::NotANumber, 0, "a".into()));
        assert_eq!(finish(&["", ""], Some(Forced::Number)).unwrap().kind(), Kind::Number);
    }

    #[test]
    fn numeric_labels_are_kept_as_written() {
        let mut raw = RawColumn::default();
        ["01", "1.0", ""].iter().for_each(|c| raw.push(c));
        let wanted = Wanted { kind: None, labels: true };
        let column = raw.finish(wanted, |_, _, _| Error::NoFile).unwrap();
        assert_eq!(column.kind(), Kind::Number);
        assert_eq!([0, 1, 2].map(|r| column.text(r)), [Some("01"), Some("1.0"), None]);
    }
}
