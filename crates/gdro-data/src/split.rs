//! Which rows are held out.

mod basics;
mod families;

pub(crate) use basics::label;

use gdro::sampling::{Rng, systematic};
use rand::SeedableRng;
use rand::seq::SliceRandom;

use self::basics::{check_share, short_note};
use crate::error::{Error, Result};
use crate::options::{DataOptions, Split};
use crate::table::Table;
use crate::words::list;

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

/// Draws the rows that are held out, and marks them. `families` has the group of each row in each
/// family, `groups` lists the rows of each group, `labels` has the label of each row, where there
/// are labels. Returns what a user should know, too.
///
/// Every group keeps a row for training, any of its rows. Of a group, or of all rows where there are
/// several families, each row has the same chance to be held out, whatever its label: what is said
/// of held-out rows is unbiased, in the smallest groups too. A share is stratified by label nevertheless: it is
/// drawn in equal steps from a random start ([`systematic`]) along the rows in the order of their
/// labels, and so takes the share of each label up or down to a whole row, by chance and in
/// proportion.
pub(crate) fn hold_out(
    split: &Split,
    families: &[Vec<Option<u32>>],
    groups: &[Vec<u32>],
    labels: Option<&[f64]>,
) -> Result<(Vec<bool>, Option<String>)> {
    match families {
        [groups_of_rows] => hold_out_groups(split, groups_of_rows.len(), groups, labels),
        _ => families::hold_out(split, families, groups, labels),
    }
}

/// [`hold_out`] for groups that do not overlap.
fn hold_out_groups(
    split: &Split,
    rows: usize,
    groups: &[Vec<u32>],
    labels: Option<&[f64]>,
) -> Result<(Vec<bool>, Option<String>)> {
    let mut held = vec![false; rows];
    let mut note = None;
    match *split {
        Split::None | Split::Column | Split::LastFile => {}
        Split::Share { share, seed } => {
            check_share(share)?;
            let mut rng = Rng::seed_from_u64(seed);
            for group in groups {
                let wanted = (share * group.len() as f64).round() as usize;
                let wanted = wanted.min(group.len().saturating_sub(1));
                let mut group = group.clone();
                group.shuffle(&mut rng);
                group.sort_by_key(|row| label(labels, *row as usize));
                evenly(&group, wanted, &mut rng).for_each(|row| held[row as usize] = true);
            }
        }
        Split::PerGroup { rows: wanted, seed } => {
            let mut rng = Rng::seed_from_u64(seed);
            let mut short = 0;
            for group in groups {
                let count = wanted.min(group.len().saturating_sub(1));
                short += usize::from(count < wanted);
                let mut group = group.clone();
                group.shuffle(&mut rng);
                group[..count].iter().for_each(|row| held[*row as usize] = true);
            }
            note = short_note(short, wanted);
        }
    }
    Ok((held, note))
}

/// So many of some rows, in equal steps from a random start: each has the same chance.
fn evenly<'a, T: Copy>(
    rows: &'a [T],
    wanted: usize,
    rng: &mut Rng,
) -> impl Iterator<Item = T> + use<'a, T> {
    let (mut chosen, mut places) = (Vec::new(), Vec::new());
    let step = rows.len() as f64 / wanted as f64;
    systematic(wanted, rows.len(), rng, &mut chosen, &mut places, |places, chosen| {
        for (place, row) in places.iter().zip(chosen) {
            *row = ((place * step) as usize).min(rows.len() - 1);
        }
    });
    chosen.into_iter().map(|at| rows[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_kept_in_every_group_and_label() {
        let groups = [(0..100).collect::<Vec<u32>>(), (100..110).collect(), vec![110]];
        let labels: Vec<f64> = (0..111).map(|r| if r % 4 == 0 { 1.0 } else { -1.0 }).collect();
        let hold = |seed| {
            let split = Split::Share { share: 0.2, seed };
            hold_out_groups(&split, 111, &groups, Some(&labels)).unwrap().0
        };
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
                let split = Split::Share { share, seed };
                let (held, _) = hold_out_groups(&split, 14, &groups, Some(&labels)).unwrap();
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
        let (held, note) = hold_out_groups(&split, 13, &groups, None).unwrap();
        assert_eq!(held[..10].iter().filter(|h| **h).count(), 4);
        assert_eq!(held[10..].iter().filter(|h| **h).count(), 2);
        assert!(note.unwrap().starts_with("1 group has no more than 4 rows"));
    }

    #[test]
    fn shares_out_of_range_are_refused() {
        for share in [1.0, -0.1, f64::NAN] {
            let split = Split::Share { share, seed: 0 };
            let message = hold_out_groups(&split, 1, &[vec![0]], None).unwrap_err().to_string();
            assert!(message.starts_with("holdout: "), "{message}");
        }
    }
}
