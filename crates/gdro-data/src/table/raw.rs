//! From the raw cells of a column to numbers or texts.

#[cfg(feature = "arrow")]
use super::coder::Coder;
use super::kind::{Forced, Odd, Wanted, is_text, judge};
#[cfg(feature = "arrow")]
use super::typed::{Numbers, coded};
use super::{Column, Texts};
use crate::error::{Error, Result};

/// The cells of a column as a file gives them.
#[derive(Debug, Default)]
pub(crate) enum RawColumn {
    /// Nothing: no row was read, or the column is ignored.
    #[default]
    Nothing,
    /// Texts that may be numbers.
    Cells(Cells),
    /// Numbers, from a file that knows them.
    #[cfg(feature = "arrow")]
    Numbers(Numbers),
    /// Texts that may be numbers, with codes.
    #[cfg(feature = "arrow")]
    Coded(Coder),
}

/// Texts one after another; an empty one is a missing cell.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    text: String,
    lengths: Vec<u32>,
}

impl Cells {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut at = 0;
        self.lengths.iter().map(move |length| {
            let from = at;
            at += *length as usize;
            &self.text[from..at]
        })
    }
}

impl RawColumn {
    /// Appends a text.
    pub(crate) fn push(&mut self, cell: &str) {
        if let RawColumn::Nothing = self {
            *self = RawColumn::Cells(Cells::default());
        }
        if let RawColumn::Cells(cells) = self {
            cells.text.push_str(cell);
            // A record is at most 16 MiB long, see `records`.
            cells.lengths.push(cell.len() as u32);
        }
    }

    /// Appends the cells of a part that was read elsewhere: false when one holds numbers and the
    /// other texts.
    #[cfg(feature = "arrow")]
    pub(crate) fn append(&mut self, other: RawColumn) -> bool {
        use RawColumn::{Coded, Nothing, Numbers};
        match (&mut *self, other) {
            (_, Nothing) => {}
            (Nothing, other) => *self = other,
            (Numbers(all), Numbers(part)) => {
                all.odd = all.odd.or(part.odd.map(|row| all.numbers.len() + row));
                all.numbers.extend(part.numbers);
                all.complete &= part.complete;
                if let (Some(all), Some(part)) = (&mut all.labels, part.labels) {
                    all.append(part.texts());
                }
            }
            (Coded(all), Coded(part)) => all.append(part.texts()),
            // A part without any cell that is not missing has no kind.
            (Numbers(all), Coded(part)) if part.is_blank() => {
                all.numbers.resize(all.numbers.len() + part.len(), f64::NAN);
                all.complete = false;
                if let Some(labels) = &mut all.labels {
                    labels.push_missing(part.len());
                }
            }
            (Coded(all), Numbers(mut part)) if all.is_blank() => {
                let before = all.len();
                part.odd = part.odd.map(|row| before + row);
                part.complete = false;
                part.numbers.splice(..0, std::iter::repeat_n(f64::NAN, before));
                part.labels = part.labels.map(|labels| {
                    let mut after = std::mem::take(all);
                    after.append(labels.texts());
                    after
                });
                *self = Numbers(part);
            }
            _ => return false,
        }
        true
    }

    /// Whether every cell is missing.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            RawColumn::Nothing => true,
            RawColumn::Cells(cells) => cells.text.is_empty(),
            #[cfg(feature = "arrow")]
            RawColumn::Numbers(_) => false,
            #[cfg(feature = "arrow")]
            RawColumn::Coded(coder) => coder.is_blank(),
        }
    }

    /// Makes the column. Texts are numbers when every cell that is not missing is a finite number;
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
        match self {
            RawColumn::Nothing => Cells::default().finish(wanted, refuse),
            RawColumn::Cells(cells) => cells.finish(wanted, refuse),
            #[cfg(feature = "arrow")]
            RawColumn::Numbers(numbers) => numbers.finish(wanted, refuse),
            #[cfg(feature = "arrow")]
            RawColumn::Coded(coder) => coded(coder.into_texts(), wanted, refuse),
        }
    }
}

impl Cells {
    fn finish(
        self,
        wanted: Wanted,
        refuse: impl FnOnce(Odd, usize, &str) -> Error,
    ) -> Result<Column> {
        let texts = || Texts::new(self.iter());
        if wanted.kind == Some(Forced::Text) {
            return Ok(Column { texts: Some(texts()), ..Column::default() });
        }
        let mut numbers = Vec::with_capacity(self.lengths.len());
        let (mut present, mut numeric, mut odd) = (0, 0, None);
        for (row, cell) in self.iter().enumerate() {
            let (number, found) = judge(cell);
            present += usize::from(!cell.is_empty());
            numeric += usize::from(!cell.is_empty() && found != Some(Odd::NotANumber));
            odd = odd.or(found.map(|found| (found, row, cell)));
            numbers.push(number);
        }
        if is_text(wanted, numeric, present) {
            let texts = Some(texts());
            return Ok(Column { texts, look_numeric: numeric, ..Column::default() });
        }
        if let Some((odd, row, cell)) = odd {
            return Err(refuse(odd, row, cell));
        }
        let texts = wanted.labels.then(texts);
        Ok(Column { numbers: Some(numbers), texts, ..Column::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
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
