//! What a user should know about how his columns became features.

use std::collections::BTreeMap;

use super::column::FeatureColumn;
use super::encode::Encoding;
use super::usable::worst_columns;
use crate::labels::{MISSING, RARE};
use crate::options::{DataOptions, Missing};
use crate::table::{Kind, Table};
use crate::words::{count, list};

/// Notes on missing cells that were filled in the given rows, on rare texts and on columns with one
/// value.
pub(crate) fn notes(
    encoding: &Encoding,
    table: &Table,
    rows: &[u32],
    options: &DataOptions,
) -> Vec<String> {
    let mut notes = filled(encoding, table, rows, options);
    if let Some(least) = options.min_count {
        notes.extend(rare(encoding, least));
    }
    notes.extend(ids(encoding, rows.len() as u64));
    notes.extend(codes(encoding, table, rows));
    let constants = encoding.columns().iter().filter(|c| c.is_constant());
    notes.extend(
        constants.map(|c| format!("feature `{}` has one value only: encoded as 0", c.name())),
    );
    notes
}

/// A note on columns with more different texts than half of the rows, as names of the rows are.
pub(crate) fn ids(encoding: &Encoding, rows: u64) -> Option<String> {
    const FEW_ROWS: u64 = 20;
    let is_id = |column: &&FeatureColumn| match column {
        FeatureColumn::Text { levels, rare, .. } => {
            rare.is_empty() && rows >= FEW_ROWS && 2 * levels.len() as u64 > rows
        }
        _ => false,
    };
    let names: Vec<&str> =
        encoding.columns().iter().filter(is_id).map(FeatureColumn::name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "more different texts than half of the rows, like names of the rows: {}: they teach little \
             about other rows: leave out with `ignore`, or fold with `min-count`",
            list(names.into_iter())
        )
    })
}

/// Notes on numbers that may stand for missing cells: a negative number of nines in several rows,
/// where no other number is below 0.
fn codes(encoding: &Encoding, table: &Table, rows: &[u32]) -> Vec<String> {
    const CODES: [f64; 5] = [-9.0, -99.0, -999.0, -9999.0, -99_999.0];
    let note = |column: &FeatureColumn| {
        let cells = table.column(column.name())?;
        let below = rows.iter().filter_map(|row| cells.number(*row as usize)).filter(|v| *v < 0.0);
        let mut below = below.peekable();
        let code = below.peek().copied().filter(|v| CODES.contains(v))?;
        let times = below.try_fold(0, |times, v| (v == code).then_some(times + 1))?;
        let rows = count(times, "row");
        (times > 1).then(|| {
            format!(
                "column `{}` holds {code} in {rows} and no other number below 0: if it means \
                 missing, say so by `na`",
                column.name()
            )
        })
    };
    encoding.columns().iter().filter_map(note).collect()
}

/// Notes on missing cells that were kept.
fn filled(encoding: &Encoding, table: &Table, rows: &[u32], options: &DataOptions) -> Vec<String> {
    let mut kept: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut texts = Vec::new();
    for column in encoding.columns() {
        let Some(cells) = table.column(column.name()) else { continue };
        let missing = rows.iter().filter(|row| cells.is_missing(**row as usize)).count();
        let policy = options.missing.of(column.name());
        if missing == 0 || !policy.keeps() {
            continue;
        }
        let how = match (cells.kind(), policy) {
            (Kind::Number, Missing::Mean) => "the mean of the training rows",
            (Kind::Number, _) => "the mean of the training rows, with an indicator",
            _ => "a level of their own",
        };
        if cells.kind() == Kind::Text && policy == Missing::Mean {
            texts.push(column.name());
        }
        kept.entry(how).or_default().insert(column.name(), missing);
    }
    let mut notes: Vec<String> = kept
        .iter()
        .map(|(how, columns)| format!("missing cells are {how}: {}", worst_columns(columns)))
        .collect();
    if !texts.is_empty() {
        let texts = list(texts.into_iter());
        notes
            .push(format!("texts have no mean, whatever `missing` says: {texts} have `{MISSING}`"));
    }
    notes
}

/// Notes on folded levels.
fn rare(encoding: &Encoding, least: usize) -> Vec<String> {
    let folded = encoding.columns().iter().filter_map(|column| match column {
        FeatureColumn::Text { name, rare, .. } if !rare.is_empty() => Some(format!(
            "column `{name}`: {} of fewer than {} became `{RARE}`",
            count(rare.len(), "text"),
            count(least, "training row")
        )),
        _ => None,
    });
    let notes: Vec<String> = folded.collect();
    if notes.is_empty() {
        return vec![format!(
            "no text has fewer than {}: `min-count` changes nothing",
            count(least, "training row")
        )];
    }
    notes
}
