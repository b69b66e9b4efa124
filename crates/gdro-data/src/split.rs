//! Which rows are held out.

mod clusters;
mod families;
mod units;

pub(crate) use clusters::wholes;
pub(crate) use units::Units;

use std::collections::HashSet;

use gdro::sampling::{Rng, systematic};
use rand::SeedableRng;
use rand::seq::{IndexedRandom, SliceRandom};

use self::units::check_share;
use crate::error::{Error, Result};
use crate::options::{DataOptions, Split};
use crate::table::Table;
use crate::words::{count, list};

/// Marks the rows of `rows` that are held out by what they are rather than by a draw: `None` when
/// the split draws them.
pub(crate) fn chosen_rows(
    split: &Split,
    table: &Table,
    rows: &[u32],
    options: &DataOptions,
) -> Result<Option<Vec<bool>>> {
    let refuse = |option, found: String, expected: &str| {
        Err(Error::Option { option, found, expected: expected.to_owned() })
    };
    let by_column = matches!(split, Split::Column);
    if let Some(column) = options.holdout_column.as_deref().filter(|_| !by_column) {
        return refuse("holdout-column", format!("`{column}`"), "no other split beside it");
    }
    let (option, held) = match (split, &options.holdout_column) {
        (Split::Column, Some(column)) => {
            ("holdout-value", with_values(table, rows, column, options)?)
        }
        (Split::Column, None) => {
            return refuse("holdout-column", "none".into(), "the column that tells rows apart");
        }
        (Split::LastFile, _) => {
            let start = table.last_file_start();
            let held = rows.iter().map(|row| *row as usize >= start).collect();
            ("holdout-file", held)
        }
        _ => return Ok(None),
    };
    let count = held.iter().filter(|held| **held).count();
    match rows.len() - count {
        _ if count == 0 => refuse(option, "no row of it is left".into(), "rows to hold out"),
        0 => refuse(option, "every row is held out".into(), "rows to train on"),
        _ => Ok(Some(held)),
    }
}

/// Marks the rows with one of the values that are held out.
fn with_values(
    table: &Table,
    rows: &[u32],
    column: &str,
    options: &DataOptions,
) -> Result<Vec<bool>> {
    let cells = table.find("holdout-column", column)?;
    let mut found = vec![false; options.holdout_value.len()];
    let mut others = std::collections::BTreeSet::new();
    let mut held = vec![false; rows.len()];
    for (held, row) in held.iter_mut().zip(rows) {
        let text = cells.text(*row as usize).unwrap_or_default();
        match options.holdout_value.iter().position(|value| value.trim() == text) {
            Some(at) => (found[at], *held) = (true, true),
            None => {
                others.insert(text);
            }
        }
    }
    match found.iter().position(|found| !found) {
        None => Ok(held),
        Some(at) => {
            let value = &options.holdout_value[at];
            let found = format!("no row has `{value}` in `{column}`");
            let others = list(others.into_iter().collect::<Vec<_>>().into_iter());
            let expected = format!("texts of the column, such as {others}");
            Err(Error::Option { option: "holdout-value", found, expected })
        }
    }
}

/// Draws the rows that are held out, and marks them; `clusters` has the cluster of each row, where
/// rows have any. Returns what a user should know, too.
///
/// Every group keeps a row for training, any of its rows. Of a group, or of all rows where groups
/// overlap, each row has the same chance to be held out, whatever its label: what is said of
/// held-out rows is unbiased, in the smallest groups too. A share is stratified by label
/// nevertheless: it is drawn in equal steps from a random start ([`systematic`]) along the rows in
/// the order of their labels, and so takes the share of each label up or down to a whole row, by
/// chance and in proportion.
///
/// Clusters are drawn as rows are, and held out as a whole; a number of rows per group is one of
/// clusters. A group of a single cluster keeps it: rows of this cluster are held out one by one.
pub(crate) fn hold_out(
    split: &Split,
    rows: &Units<'_>,
    clusters: Option<&[u32]>,
) -> Result<(Vec<bool>, Option<String>)> {
    let Some(clusters) = clusters else {
        let (held, short) = draw(split, rows)?;
        return Ok((held, short_note(split, short, "row")));
    };
    let mut held = vec![false; rows.count()];
    let mut notes = Vec::new();
    let [whole, single] = wholes(rows, clusters);
    for (units, thing) in [(&whole, "cluster"), (&single, "row")] {
        let (marks, short) = draw(split, &units.units())?;
        for (rows, _) in units.rows.iter().zip(marks).filter(|(_, held)| *held) {
            rows.iter().for_each(|row| held[*row as usize] = true);
        }
        notes.extend(short_note(split, short, thing));
    }
    // Rows that are drawn one by one can be all that a group of several clusters has.
    let seed = match split {
        Split::Share { seed, .. } | Split::PerGroup { seed, .. } => *seed,
        Split::None | Split::Column | Split::LastFile => 0,
    };
    let mut rng = Rng::seed_from_u64(seed);
    let drawn_alone: HashSet<u32> = single.rows.iter().flatten().copied().collect();
    for group in rows.groups {
        if group.iter().any(|row| !held[*row as usize]) {
            continue;
        }
        let alone = group.iter().filter(|row| drawn_alone.contains(row)).copied();
        if let Some(row) = alone.collect::<Vec<u32>>().choose(&mut rng) {
            held[*row as usize] = false;
        }
    }
    Ok((held, notes.into_iter().reduce(|a, b| format!("{a}; {b}"))))
}

/// Draws the units that are held out, and marks them. Returns how many groups have fewer than are
/// wanted of each, too.
fn draw(split: &Split, units: &Units<'_>) -> Result<(Vec<bool>, usize)> {
    match units.families {
        [_] if units.is_partition() => hold_out_groups(split, units),
        _ => families::hold_out(split, units),
    }
}

/// [`draw`] for groups that do not overlap.
fn hold_out_groups(split: &Split, units: &Units<'_>) -> Result<(Vec<bool>, usize)> {
    let (mut held, mut short) = (vec![false; units.count()], 0);
    match *split {
        Split::None | Split::Column | Split::LastFile => {}
        Split::Share { share, seed } => {
            check_share(share)?;
            let mut rng = Rng::seed_from_u64(seed);
            for group in units.groups {
                let wanted = (share * group.len() as f64).round() as usize;
                let wanted = wanted.min(group.len().saturating_sub(1));
                let mut group = group.clone();
                group.shuffle(&mut rng);
                group.sort_by_key(|unit| units.label(*unit as usize));
                evenly(&group, wanted, &mut rng).for_each(|unit| held[unit as usize] = true);
            }
        }
        Split::PerGroup { rows: wanted, seed } => {
            let mut rng = Rng::seed_from_u64(seed);
            for group in units.groups {
                let count = wanted.min(group.len().saturating_sub(1));
                short += usize::from(count < wanted);
                let mut group = group.clone();
                group.shuffle(&mut rng);
                group[..count].iter().for_each(|unit| held[*unit as usize] = true);
            }
        }
    }
    Ok((held, short))
}

/// So many of some units, in equal steps from a random start: each has the same chance.
fn evenly<'a, T: Copy>(
    units: &'a [T],
    wanted: usize,
    rng: &mut Rng,
) -> impl Iterator<Item = T> + use<'a, T> {
    let (mut chosen, mut places) = (Vec::new(), Vec::new());
    let step = units.len() as f64 / wanted as f64;
    systematic(wanted, units.len(), rng, &mut chosen, &mut places, |places, chosen| {
        for (place, unit) in places.iter().zip(chosen) {
            *unit = ((place * step) as usize).min(units.len() - 1);
        }
    });
    chosen.into_iter().map(|at| units[at])
}

/// A note on groups that have too few rows or clusters for the number that is wanted.
fn short_note(split: &Split, short: usize, thing: &str) -> Option<String> {
    let Split::PerGroup { rows: wanted, .. } = *split else { return None };
    (short > 0).then(|| {
        let (groups, verb) = (count(short, "group"), if short == 1 { "has" } else { "have" });
        let wanted = count(wanted, thing);
        format!("{groups} {verb} no more than {wanted}: all but one of them are held out")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [`hold_out`] of rows in groups that do not overlap.
    fn hold(
        split: &Split,
        groups: &[Vec<u32>],
        labels: Option<&[f64]>,
    ) -> (Vec<bool>, Option<String>) {
        let mut of_rows = vec![None; groups.iter().map(Vec::len).sum()];
        for (at, rows) in (0..).zip(groups) {
            rows.iter().for_each(|row| of_rows[*row as usize] = Some(at));
        }
        hold_out(split, &Units { families: &[of_rows], groups, labels }, None).unwrap()
    }

    #[test]
    fn shares_are_kept_in_every_group_and_label() {
        let groups = [(0..100).collect::<Vec<u32>>(), (100..110).collect(), vec![110]];
        let labels: Vec<f64> = (0..111).map(|r| if r % 4 == 0 { 1.0 } else { -1.0 }).collect();
        let hold = |seed| hold(&Split::Share { share: 0.2, seed }, &groups, Some(&labels)).0;
        let mut ones = 0;
        for seed in 0..1000 {
            let held = hold(seed);
            let count = |group: &[u32], label: f64| {
                group.iter().filter(|r| held[**r as usize] && labels[**r as usize] == label).count()
            };
            assert_eq!((count(&groups[0], 1.0), count(&groups[0], -1.0)), (5, 15));
            // A fifth of 3 and of 7 rows: 0.6 and 1.4.
            let [one, other] = [1.0, -1.0].map(|label| count(&groups[1], label));
            assert!(one <= 1 && one + other == 2);
            ones += one;
            assert!(!held[110]);
        }
        // Of 1000 the expected 600, with a deviation of √(1000 · 0.6 · 0.4) = 15.5: six of them are
        // exceeded with probability 2e-9.
        assert!(ones.abs_diff(600) <= 93, "{ones}");
        assert_eq!(hold(3), hold(3));
        assert_ne!(hold(3), hold(4));
    }

    /// Each row is held out as often as the others: a binomial share of 4000 draws, of which six
    /// standard deviations are exceeded with probability 2e-9 by one.
    #[test]
    fn every_row_of_a_group_has_the_same_chance() {
        // Labels as a file may be sorted by; the last group keeps one of its two rows.
        let groups = [(0..5).collect::<Vec<u32>>(), (5..12).collect(), (12..14).collect()];
        let labels = [0., 0., 0., 1., 1., 0., 0., 1., 1., 1., 1., 2., 0., 1.];
        let draws = 4000;
        for (share, wanted) in [(0.2, [1.0, 1.0, 0.0]), (0.5, [3.0, 4.0, 1.0])] {
            let mut counts = [0f64; 14];
            for seed in 0..draws {
                let (held, _) = hold(&Split::Share { share, seed }, &groups, Some(&labels));
                counts.iter_mut().zip(&held).for_each(|(n, held)| *n += f64::from(u8::from(*held)));
            }
            for (group, wanted) in groups.iter().zip(wanted) {
                let chance = wanted / group.len() as f64;
                let deviation = (draws as f64 * chance * (1.0 - chance)).sqrt();
                for row in group {
                    let found = counts[*row as usize];
                    assert!((found - draws as f64 * chance).abs() <= 6.0 * deviation, "{counts:?}");
                }
            }
        }
    }

    #[test]
    fn the_same_number_of_every_group() {
        let groups = [(0..10).collect::<Vec<u32>>(), (10..13).collect()];
        let split = Split::PerGroup { rows: 4, seed: 0 };
        let (held, note) = hold(&split, &groups, None);
        assert_eq!(held[..10].iter().filter(|h| **h).count(), 4);
        assert_eq!(held[10..].iter().filter(|h| **h).count(), 2);
        assert!(note.unwrap().starts_with("1 group has no more than 4 rows"));
    }

    #[test]
    fn shares_out_of_range_are_refused() {
        for share in [1.0, -0.1, f64::NAN] {
            let split = Split::Share { share, seed: 0 };
            let units = Units { families: &[vec![Some(0)]], groups: &[vec![0]], labels: None };
            let message = hold_out(&split, &units, None).unwrap_err().to_string();
            assert!(message.starts_with("holdout: "), "{message}");
        }
    }
}
