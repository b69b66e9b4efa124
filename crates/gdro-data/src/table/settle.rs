//! From texts to the column that they are.

use super::date::{self, DateOrder};
use super::kind::{Forced, Odd, Refused, Wanted, judge};
use super::look::{is_code, is_mark, is_whole, look};
use super::{Column, Texts};
use crate::error::{Error, Result};

/// Makes the column of texts. They are numbers when every cell that is not missing is a finite
/// number, and none has leading zeros as codes have. What looks like numbers and is none is refused:
/// when more than half of the cells are numbers as they stand or in another way to write them, or
/// are dates; and when all are numbers but those that usually mean a missing cell. All others are
/// texts. `refuse` makes the error.
pub(super) fn settle(
    texts: Texts,
    wanted: Wanted,
    refuse: impl FnOnce(Refused<'_>) -> Error,
) -> Result<Column> {
    match wanted.kind {
        Some(Forced::Text) => return Ok(Column { texts: Some(texts), ..Column::default() }),
        Some(Forced::Date(order)) => return dates(texts, order, wanted.labels, refuse),
        _ => {}
    }
    let judged: Vec<(f64, Option<Odd>)> =
        texts.levels.iter().map(|text| judge(text, wanted.numerals)).collect();
    let counts = texts.counts();
    let cells = |holds: &dyn Fn(usize) -> bool| -> usize {
        (0..counts.len()).filter(|level| holds(*level)).map(|level| counts[level]).sum()
    };
    let first = |holds: &dyn Fn(usize) -> bool| {
        (0..texts.codes.len())
            .find_map(|row| texts.code(row).filter(|l| holds(*l)).map(|l| (row, l)))
    };
    let present = cells(&|_| true);
    let numeric = cells(&|level| judged[level].1 != Some(Odd::NotANumber));
    let forced = wanted.kind == Some(Forced::Number);
    let codes = wanted.codes && texts.levels.iter().all(|t| is_whole(t));
    let code = first(&|level| codes && is_code(&texts.levels[level]));
    if let Some((row, level)) = code {
        if !forced {
            return Ok(Column { texts: Some(texts), padded: true, ..Column::default() });
        }
        if wanted.settled {
            let text = &texts.levels[level];
            return Err(refuse(Refused { odd: Odd::Padded, row, text, marks: vec![], look: None }));
        }
    }
    let Some(odd) = first(&|level| judged[level].1.is_some()) else {
        if present == 0 && !forced {
            return Ok(Column { texts: Some(texts), ..Column::default() });
        }
        return Ok(numbers(texts, wanted.labels, |level| judged[level].0));
    };
    let mark = |level: usize| judged[level].1.is_some() && is_mark(&texts.levels[level]);
    let marked = cells(&mark);
    let seen = look(&texts.levels, &counts, present - marked, wanted.numerals);
    let finite = cells(&|level| judged[level].1.is_none());
    let marks_alone = finite > 0 && finite + marked == present;
    if !forced && seen.is_none() && 2 * numeric <= present && !marks_alone {
        return Ok(Column { texts: Some(texts), look_numeric: numeric, ..Column::default() });
    }
    let (row, level) = match seen {
        Some(_) => first(&|level| judged[level].1.is_some() && !mark(level)).unwrap_or(odd),
        None => odd,
    };
    // Among numbers a single text may mean anything.
    let may = |of: usize| mark(of) || of == level && seen.is_some() && 2 * finite > present;
    let marks = (0..counts.len()).filter(|level| may(*level)).map(|level| &texts.levels[level]);
    let marks = marks.cloned().collect();
    let odd = judged[level].1.unwrap_or(Odd::NotANumber);
    Err(refuse(Refused { odd, row, text: &texts.levels[level], marks, look: seen }))
}

/// A column of the number of each text, with the texts where they are wanted.
fn numbers(texts: Texts, labels: bool, number: impl Fn(usize) -> f64) -> Column {
    let of_row = |row| texts.code(row).map_or(f64::NAN, &number);
    let numbers = Some((0..texts.codes.len()).map(of_row).collect());
    Column { numbers, texts: labels.then_some(texts), ..Column::default() }
}

/// Makes a column of dates: days since 1970-01-01.
fn dates(
    texts: Texts,
    given: Option<DateOrder>,
    labels: bool,
    refuse: impl FnOnce(Refused<'_>) -> Error,
) -> Result<Column> {
    use DateOrder::{DayFirst, MonthFirst};
    let parsed: Vec<Option<date::Days>> = texts.levels.iter().map(|t| date::parse(t)).collect();
    let under = |level: usize, order| parsed[level].and_then(|days| days.under(order));
    // A date that has one meaning under one order alone shows the order.
    let shows = |level: usize, order, other| {
        parsed[level].is_some()
            && under(level, Some(order)).is_some()
            && under(level, Some(other)).is_none()
    };
    let levels = 0..texts.levels.len();
    let order = given.or_else(|| {
        let any = |order, other| levels.clone().any(|level| shows(level, order, other));
        match (any(DayFirst, MonthFirst), any(MonthFirst, DayFirst)) {
            (true, _) => Some(DayFirst),
            (false, true) => Some(MonthFirst),
            (false, false) => None,
        }
    });
    let bad = (0..texts.codes.len()).find_map(|row| {
        texts.code(row).filter(|level| under(*level, order).is_none()).map(|level| (row, level))
    });
    if let Some((row, level)) = bad {
        let odd = match parsed[level] {
            None => Odd::NotADate,
            Some(_) if order.is_none() => Odd::DateOrder,
            Some(_) if given.is_some() => Odd::NotADate,
            Some(_) => Odd::OtherOrder,
        };
        let text = &texts.levels[level];
        let marks = texts.levels.iter().zip(&parsed);
        let marks = marks.filter(|(text, days)| days.is_none() && is_mark(text));
        let marks = marks.map(|(text, _)| text.clone()).collect();
        return Err(refuse(Refused { odd, row, text, marks, look: None }));
    }
    let ordered = parsed.iter().any(|days| matches!(days, Some(date::Days::Order(..))));
    let mut column = numbers(texts, labels, |level| under(level, order).unwrap_or(f64::NAN));
    column.date = order.filter(|_| ordered);
    Ok(column)
}
