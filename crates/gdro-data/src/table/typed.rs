//! Cells of files whose columns have types: numbers, and texts with codes.

use super::coder::Coder;
use super::kind::{Forced, Odd, Wanted, is_text, judge};
use super::{Column, Texts};
use crate::error::{Error, Result};

/// Numbers of a column.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The numbers; NaN where the cell is missing.
    pub(crate) numbers: Vec<f64>,
    /// The same as texts, where they are wanted.
    pub(crate) labels: Option<Coder>,
    /// The first row with a cell that is not finite.
    pub(crate) odd: Option<usize>,
    /// Whether it is known that no cell is missing.
    pub(crate) complete: bool,
}

impl Numbers {
    pub(super) fn finish(
        self,
        wanted: Wanted,
        refuse: impl FnOnce(Odd, usize, &str) -> Error,
    ) -> Result<Column> {
        let texts = self.labels.map(Coder::into_texts);
        if wanted.kind == Some(Forced::Text) {
            return Ok(Column { texts, ..Column::default() });
        }
        if let Some(row) = self.odd {
            return Err(refuse(Odd::NotFinite, row, &self.numbers[row].to_string()));
        }
        let (numbers, complete) = (Some(self.numbers), self.complete);
        Ok(Column { numbers, texts, look_numeric: 0, complete })
    }
}

/// As for texts without codes, looking at each different text once.
pub(super) fn coded(
    texts: Texts,
    wanted: Wanted,
    refuse: impl FnOnce(Odd, usize, &str) -> Error,
) -> Result<Column> {
    if wanted.kind == Some(Forced::Text) {
        return Ok(Column { texts: Some(texts), ..Column::default() });
    }
    let judged: Vec<(f64, Option<Odd>)> = texts.levels.iter().map(|t| judge(t)).collect();
    let (mut present, mut numeric, mut odd) = (0, 0, None);
    for (row, code) in (0..texts.codes.len()).filter_map(|row| Some((row, texts.code(row)?))) {
        present += 1;
        numeric += usize::from(judged[code].1 != Some(Odd::NotANumber));
        odd = odd.or(judged[code].1.map(|found| (found, row, code)));
    }
    if is_text(wanted, numeric, present) {
        return Ok(Column { texts: Some(texts), look_numeric: numeric, ..Column::default() });
    }
    if let Some((odd, row, code)) = odd {
        return Err(refuse(odd, row, &texts.levels[code]));
    }
    let number = |row| texts.code(row).map_or(f64::NAN, |code| judged[code].0);
    let numbers = Some((0..texts.codes.len()).map(number).collect());
    Ok(Column { numbers, texts: wanted.labels.then_some(texts), ..Column::default() })
}
