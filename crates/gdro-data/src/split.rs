//! Which rows are held out.

mod families;

pub(crate) use families::hold_out_families;

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

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

/// Draws the rows that are held out, and marks them. `groups` lists the rows of each group, `labels` has the label
/// of each row, where there are labels. Returns what a user should know, too.
pub(crate) fn hold_out(
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
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            for group in groups {
                let wanted = (share * group.len() as f64).round() as usize;
                let wanted = wanted.min(group.len().saturating_sub(1));
                let mut strata: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
                for row in group {
                    let label = labels.map_or(0, |l| l[*row as usize].to_bits());
                    strata.entry(label).or_default().push(*row);
                }
                let counts: Vec<usize> = strata.values().map(Vec::len).collect();
                for (stratum, count) in strata.values_mut().zip(spread(wanted, &counts)) {
                    stratum.shuffle(&mut rng);
                    stratum[..count].iter().for_each(|row| held[*row as usize] = true);
                }
            }
        }
        Split::PerGroup { rows: wanted, seed } => {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
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

fn check_share(share: f64) -> Result<()> {
    if (0.0..1.0).contains(&share) {
        return Ok(());
    }
    let expected = "a share of at least 0 and below 1".to_owned();
    Err(Error::Option { option: "holdout", found: share.to_string(), expected })
}

/// A note on groups that have too few rows for the number that is wanted.
fn short_note(short: usize, wanted: usize) -> Option<String> {
    (short > 0).then(|| {
        let (groups, verb) = (count(short, "group"), if short == 1 { "has" } else { "have" });
        let wanted = count(wanted, "row");
        format!("{groups} {verb} no more than {wanted}: all but one of them are held out")
    })
}

/// Spreads `total` over strata in proportion to their sizes, whose sum is larger: whole parts
/// first, then one more for the largest fractions, larger strata first. Every stratum keeps a row
/// as long as others have two.
fn spread(total: usize, sizes: &[usize]) -> Vec<usize> {
    let all = sizes.iter().sum::<usize>().max(1) as u128;
    let product = |size: usize| total as u128 * size as u128;
    let mut parts: Vec<usize> = sizes.iter().map(|s| (product(*s) / all) as usize).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse((product(sizes[*i]) % all, sizes[*i])));
    let mut rest = total - parts.iter().sum::<usize>();
    for kept in [1, 0] {
        let mut given = true;
        while given {
            given = false;
            for i in &order {
                if rest > 0 && parts[*i] + kept < sizes[*i] {
                    parts[*i] += 1;
                    rest -= 1;
                    given = true;
                }
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreading_keeps_the_total_and_the_proportions() {
        assert_eq!(spread(5, &[10, 10]), [3, 2]);
        assert_eq!(spread(3, &[1, 9, 5]), [0, 2, 1]);
        assert_eq!(spread(1, &[1, 1, 2]), [0, 0, 1]);
        assert_eq!(spread(0, &[4]), [0]);
        assert_eq!(spread(2, &[1, 2]), [1, 1]);
        assert_eq!(spread(3, &[1, 4]), [0, 3]);
        assert_eq!(spread(4, &[1, 1, 3]), [1, 1, 2]);
        for total in 0..=23 {
            let parts = spread(total, &[3, 7, 13]);
            assert_eq!(parts.iter().sum::<usize>(), total);
            assert!(parts.iter().zip([3, 7, 13]).all(|(p, s)| *p <= s));
        }
    }

    #[test]
    fn shares_are_kept_in_every_group_and_label() {
        let groups = [(0..100).collect::<Vec<u32>>(), (100..110).collect(), vec![110]];
        let labels: Vec<f64> = (0..111).map(|r| if r % 4 == 0 { 1.0 } else { -1.0 }).collect();
        let split = Split::Share { share: 0.2, seed: 3 };
        let (held, _) = hold_out(&split, 111, &groups, Some(&labels)).unwrap();
        let count = |group: &[u32], label: f64| {
            group.iter().filter(|r| held[**r as usize] && labels[**r as usize] == label).count()
        };
        assert_eq!((count(&groups[0], 1.0), count(&groups[0], -1.0)), (5, 15));
        assert_eq!((count(&groups[1], 1.0), count(&groups[1], -1.0)), (1, 1));
        assert!(!held[110]);
        assert_eq!(hold_out(&split, 111, &groups, Some(&labels)).unwrap().0, held);
        let other = Split::Share { share: 0.2, seed: 4 };
        assert_ne!(hold_out(&other, 111, &groups, Some(&labels)).unwrap().0, held);
    }

    #[test]
    fn the_same_number_of_every_group() {
        let groups = [(0..10).collect::<Vec<u32>>(), (10..13).collect()];
        let split = Split::PerGroup { rows: 4, seed: 0 };
        let (held, note) = hold_out(&split, 13, &groups, None).unwrap();
        assert_eq!(held[..10].iter().filter(|h| **h).count(), 4);
        assert_eq!(held[10..].iter().filter(|h| **h).count(), 2);
        assert!(note.unwrap().starts_with("1 group has no more than 4 rows"));
    }

    #[test]
    fn shares_out_of_range_are_refused() {
        for share in [1.0, -0.1, f64::NAN] {
            let split = Split::Share { share, seed: 0 };
            let message = hold_out(&split, 1, &[vec![0]], None).unwrap_err().to_string();
            assert!(message.starts_with("holdout: "), "{message}");
        }
    }
}
