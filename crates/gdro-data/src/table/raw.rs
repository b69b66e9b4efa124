//! From the raw cells of a column to numbers or texts.

#[cfg(feature = "arrow")]
use super::coder::Coder;
use super::kind::{Forced, Refused, Wanted, judge};
use super::look::is_code;
use super::settle::settle;
#[cfg(feature = "arrow")]
use super::typed::Numbers;
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

    /// Bytes that it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            RawColumn::Nothing => 0,
            RawColumn::Cells(cells) => {
                cells.text.capacity() + size_of::<u32>() * cells.lengths.capacity()
            }
            #[cfg(feature = "arrow")]
            RawColumn::Numbers(numbers) => {
                let labels = numbers.labels.as_ref().map_or(0, Coder::bytes);
                size_of::<f64>() * numbers.numbers.capacity() + labels
            }
            #[cfg(feature = "arrow")]
            RawColumn::Coded(coder) => coder.bytes(),
        }
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

    /// Makes the column, as [`settle`] says. `refuse` makes the error of a cell.
    pub(crate) fn finish(
        self,
        wanted: Wanted,
        refuse: impl FnOnce(Refused<'_>) -> Error,
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
            RawColumn::Coded(coder) => settle(coder.into_texts(), wanted, refuse),
        }
    }
}

impl Cells {
    fn finish(self, wanted: Wanted, refuse: impl FnOnce(Refused<'_>) -> Error) -> Result<Column> {
        let texts = || Texts::new(self.iter());
        if matches!(wanted.kind, Some(Forced::Text | Forced::Date(_))) {
            return settle(texts(), wanted, refuse);
        }
        // Numbers need no look at what is different in them.
        let mut numbers = Vec::with_capacity(self.lengths.len());
        let mut present = false;
        for cell in self.iter() {
            let (number, odd) = judge(cell, wanted.numerals);
            if odd.is_some() || wanted.codes && is_code(cell) {
                return settle(texts(), wanted, refuse);
            }
            present |= !cell.is_empty();
            numbers.push(number);
        }
        if !present {
            return settle(texts(), wanted, refuse);
        }
        let texts = wanted.labels.then(texts);
        Ok(Column { numbers: Some(numbers), texts, ..Column::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::Odd;
    use super::super::look::Look;
    use super::super::{DateOrder, Kind, Numerals};
    use super::*;

    type Found = Result<Column, (Odd, usize, String)>;

    fn with(
        cells: &[&str],
        wanted: Wanted,
    ) -> Result<Column, (Odd, usize, Vec<String>, Option<Look>)> {
        let mut raw = RawColumn::default();
        cells.iter().for_each(|c| raw.push(c));
        let mut refused = None;
        let column = raw.finish(wanted, |found| {
            assert_eq!(found.text, cells[found.row]);
            refused = Some((found.odd, found.row, found.marks, found.look));
            Error::NoFile
        });
        column.map_err(|_| refused.unwrap())
    }

    fn finish(cells: &[&str], kind: Option<Forced>) -> Found {
        let found = with(cells, Wanted { kind, codes: true, ..Wanted::default() });
        found.map_err(|(odd, row, ..)| (odd, row, cells[row].to_owned()))
    }

    #[test]
    fn kinds_follow_the_cells() {
        let kind = |cells: &[&str]| finish(cells, None).map(|c| c.kind());
        assert_eq!(kind(&["1", "", "-2e3", ".5", "+7"]), Ok(Kind::Number));
        assert_eq!(kind(&["a", "1", "b"]), Ok(Kind::Text));
        assert_eq!(kind(&["a", "1"]), Ok(Kind::Text));
        assert_eq!(kind(&["", ""]), Ok(Kind::Text));
        assert_eq!(kind(&["1", "2", "12;5"]), Err((Odd::NotANumber, 2, "12;5".into())));
        assert_eq!(kind(&["1", "", "NaN"]), Err((Odd::NotFinite, 2, "NaN".into())));
        assert_eq!(kind(&["-inf", "1"]), Err((Odd::NotFinite, 0, "-inf".into())));
        assert_eq!(kind(&["1e999", "1"]), Err((Odd::NotFinite, 0, "1e999".into())));
        assert_eq!(finish(&["a", "1"], None).unwrap().look_numeric, 1);
    }

    #[test]
    fn what_looks_like_numbers_is_no_text() {
        let stop = |cells: &[&str]| with(cells, Wanted::default()).map(|c| c.kind()).unwrap_err();
        let decimal = Look::Numerals { decimal: Some(','), thousands: None };
        assert_eq!(
            stop(&["a", "41,4", "7,5"]),
            (Odd::NotANumber, 0, vec![], Some(decimal.clone()))
        );
        assert_eq!(stop(&["n/a", "41,4"]), (Odd::NotANumber, 1, vec!["n/a".into()], Some(decimal)));
        // However few numbers there are beside what usually means a missing cell.
        let marks = vec!["NA".to_owned(), "?".to_owned()];
        assert_eq!(stop(&["NA", "?", "NA", "3"]), (Odd::NotANumber, 0, marks, None));
        let comma = Numerals { decimal: ',', thousands: None };
        let wanted = Wanted { numerals: comma, ..Wanted::default() };
        assert_eq!(with(&["41,4", "7"], wanted).unwrap().number(0), Some(41.4));
    }

    #[test]
    fn leading_zeros_are_codes() {
        let column = finish(&["00501", "", "10001"], None).unwrap();
        assert_eq!((column.text(0), column.padded), (Some("00501"), true));
        for cells in [&["0.5", "10"][..], &["0", "10"], &["01.5", "10"], &["-01", "02"]] {
            assert_eq!(finish(cells, None).unwrap().kind(), Kind::Number, "{cells:?}");
        }
        assert_eq!(finish(&["01", "10"], Some(Forced::Number)).unwrap().number(0), Some(1.0));
        let kind = Some(Forced::Number);
        let later = Wanted { kind, settled: true, codes: true, ..Wanted::default() };
        assert_eq!(with(&["10", "01"], later).unwrap_err().0, Odd::Padded);
    }

    #[test]
    fn dates_are_days() {
        let date = |cells: &[&str], order| finish(cells, Some(Forced::Date(order)));
        let found = date(&["2000-01-02", "", "1.1.2000"], None).unwrap();
        assert_eq!(
            (found.number(0), found.number(1), found.number(2)),
            (Some(10_958.0), None, Some(10_957.0))
        );
        assert_eq!(found.date, None);
        // One cell shows the order of all.
        let found = date(&["02/01/2000", "31/01/2000"], None).unwrap();
        assert_eq!((found.number(0), found.date), (Some(10_958.0), Some(DateOrder::DayFirst)));
        let found = date(&["02/01/2000"], Some(DateOrder::MonthFirst)).unwrap();
        assert_eq!((found.number(0), found.date), (Some(10_988.0), Some(DateOrder::MonthFirst)));
        let odd = |cells: &[&str], order| date(cells, order).map(|c| c.kind()).unwrap_err();
        assert_eq!(odd(&["1/1/2000", "02/01/2000"], None).0, Odd::DateOrder);
        assert_eq!(
            odd(&["31/01/2000", "01/31/2000"], None),
            (Odd::OtherOrder, 1, "01/31/2000".into())
        );
        assert_eq!(odd(&["31/01/2000"], Some(DateOrder::MonthFirst)).0, Odd::NotADate);
        assert_eq!(odd(&["2000-01-01", "soon"], None), (Odd::NotADate, 1, "soon".into()));
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
        let wanted = Wanted { labels: true, codes: true, ..Wanted::default() };
        let column = with(&["1", "1.0", ""], wanted).unwrap();
        assert_eq!(column.kind(), Kind::Number);
        assert_eq!([0, 1, 2].map(|r| column.text(r)), [Some("1"), Some("1.0"), None]);
    }
}
