//! What to say of groups that are too many to be meant.

use crate::words::{count, number};

/// Fewer rows than this say nothing.
const FEW_ROWS: u64 = 20;

/// Different numbers up to which fractions may be labels.
const FEW_FRACTIONS: usize = 10;

/// Different whole numbers up to which they may be labels however few rows each has.
const FEW_NUMBERS: usize = 20;

/// Rows on average from which on whole numbers may be labels.
const ENOUGH: u64 = 10;

/// Remarks on a family of groups of these names and sizes, which are made of these columns: on
/// columns of numbers each of which makes a group, with where to cut them, and on groups of hardly
/// more than a row. Nothing is said of fewer than 20 rows. `cut` writes a column and its cuts as
/// the user would.
pub fn group_remarks(
    columns: &[String],
    groups: &[(&str, u64)],
    cut: impl Fn(&str, &[f64]) -> String,
) -> Vec<String> {
    let total: u64 = groups.iter().map(|(_, rows)| rows).sum();
    let mut remarks = Vec::new();
    if total < FEW_ROWS {
        return remarks;
    }
    for (at, column) in columns.iter().enumerate() {
        let Some(values) = values(column, (at, columns.len()), groups) else { continue };
        let has_fractions = values.iter().any(|(v, _)| v.fract() != 0.0);
        let many = has_fractions && values.len() > FEW_FRACTIONS
            || values.len() > FEW_NUMBERS && total < ENOUGH * values.len() as u64;
        let cuts = if many { cuts(&values, total) } else { Vec::new() };
        if !cuts.is_empty() {
            remarks.push(format!(
                "group column `{column}` holds {} different numbers, each a group of its own: cut it \
                 into bins, as in {}",
                number(values.len()),
                cut(column, &cuts)
            ));
        }
    }
    if remarks.is_empty() && 2 * groups.len() as u64 > total {
        remarks.push(format!(
            "{} of {}: hardly more than a row each, of which little can be learnt or said",
            count(groups.len(), "group"),
            count(total as usize, "row")
        ));
    }
    remarks
}

/// The numbers that are the labels of a column and the rows of each, in increasing order; `None`
/// when a label is none.
fn values(
    column: &str,
    (at, columns): (usize, usize),
    groups: &[(&str, u64)],
) -> Option<Vec<(f64, u64)>> {
    let mut values = Vec::with_capacity(groups.len());
    for (name, rows) in groups {
        let labels: Vec<&str> = name.split(" / ").collect();
        let label = labels.get(at).filter(|_| labels.len() == columns)?;
        // Where there are several families a label says of which column it is.
        let own = label.strip_prefix(column).and_then(|rest| rest.strip_prefix('='));
        let number = own.unwrap_or(label).parse::<f64>().ok().filter(|v| v.is_finite())?;
        values.push((number, *rows));
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    values.dedup_by(|later, first| {
        let same = later.0 == first.0;
        first.1 += if same { later.1 } else { 0 };
        same
    });
    Some(values)
}

/// Where the quartiles are, rounded as far as they stay apart; no cut where they coincide.
fn cuts(values: &[(f64, u64)], total: u64) -> Vec<f64> {
    let quartile = |share: u64| {
        let mut below = 0;
        let place = values.iter().find(|(_, rows)| {
            below += rows;
            4 * below >= share * total
        });
        place.map_or(0.0, |(v, _)| *v)
    };
    let quartiles = [1, 2, 3].map(quartile);
    let spread = quartiles[2] - quartiles[0];
    if !(spread > 0.0 && spread.is_finite()) {
        return Vec::new();
    }
    // A tenth of the spread, as a power of ten.
    let unit = 10f64.powf((spread / 10.0).log10().floor());
    let round = |v: f64| {
        let steps = (v / unit).round();
        if unit < 1.0 { steps / (1.0 / unit).round() } else { steps * unit }
    };
    let mut cuts = quartiles.map(round).to_vec();
    cuts.dedup();
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remarks(columns: &[&str], groups: &[(String, u64)]) -> Vec<String> {
        let columns: Vec<String> = columns.iter().map(|c| (*c).to_owned()).collect();
        let groups: Vec<(&str, u64)> = groups.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        group_remarks(&columns, &groups, |column, cuts| format!("{column}:{cuts:?}"))
    }

    #[test]
    fn numbers_that_are_no_labels_are_to_be_cut() {
        let ages: Vec<(String, u64)> =
            (0..400).map(|i| (format!("{}.5", 20 + i % 60), 1)).collect();
        let ages = [&ages[..], &[("21.25".into(), 2)]].concat();
        let found = remarks(&["age"], &ages);
        let expected = "group column `age` holds 61 different numbers, each a group of its own: cut it \
                        into bins, as in age:[34.0, 49.0, 64.0]";
        assert_eq!(found, [expected]);
        // Of several columns, and of one of several families.
        let two: Vec<(String, u64)> =
            (0..60).map(|i| (format!("sex={} / age={}.5", i % 2, 20 + i), 9)).collect();
        assert!(remarks(&["sex", "age"], &two)[0].contains("`age` holds 60"));
        // Whole numbers of few rows each.
        let ids: Vec<(String, u64)> = (0..60).map(|i| (i.to_string(), 3)).collect();
        assert!(
            remarks(&["id"], &ids)[0].contains("`id` holds 60"),
            "{:?}",
            remarks(&["id"], &ids)
        );
    }

    #[test]
    fn labels_are_left_alone() {
        let months: Vec<(String, u64)> = (1..13).map(|i| (i.to_string(), 4)).collect();
        assert!(remarks(&["month"], &months).is_empty());
        let years: Vec<(String, u64)> = (0..60).map(|i| ((1960 + i).to_string(), 30)).collect();
        assert!(remarks(&["year"], &years).is_empty());
        let halves: Vec<(String, u64)> = (0..5).map(|i| (format!("{i}.5"), 30)).collect();
        assert!(remarks(&["score"], &halves).is_empty());
        let few: Vec<(String, u64)> = (0..12).map(|i| (format!("{i}.5"), 1)).collect();
        assert!(remarks(&["x"], &few).is_empty());
    }

    #[test]
    fn groups_of_a_row_are_pointed_out() {
        let names: Vec<(String, u64)> = (0..30).map(|i| (format!("n{i}"), 1 + i % 2)).collect();
        let found = remarks(&["name"], &names);
        assert!(
            found[0].starts_with("30 groups of 45 rows: hardly more than a row each"),
            "{found:?}"
        );
    }
}
