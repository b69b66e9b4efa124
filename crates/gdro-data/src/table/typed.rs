//! Numbers of files whose columns have types.

use super::Column;
use super::coder::Coder;
use super::kind::{Forced, Odd, Refused, Wanted};
use super::look::is_mark;
use super::settle::settle;
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
        refuse: impl FnOnce(Refused<'_>) -> Error,
    ) -> Result<Column> {
        if let Some(Forced::Date(_)) = wanted.kind {
            // Whole numbers may be dates: 20240131.
            let mut coder = Coder::default();
            for number in &self.numbers {
                let text = if number.is_nan() { String::new() } else { number.to_string() };
                let code = coder.code(&text);
                coder.push(code);
            }
            return settle(coder.into_texts(), wanted, refuse);
        }
        let texts = self.labels.map(Coder::into_texts);
        if wanted.kind == Some(Forced::Text) {
            return Ok(Column { texts, ..Column::default() });
        }
        if let Some(row) = self.odd {
            let (odd, text) = (Odd::NotFinite, &*self.numbers[row].to_string());
            let marks = if is_mark(text) { vec![text.to_owned()] } else { Vec::new() };
            return Err(refuse(Refused { odd, row, text, marks, look: None }));
        }
        let (numbers, complete) = (Some(self.numbers), self.complete);
        Ok(Column { numbers, texts, complete, ..Column::default() })
    }
}
