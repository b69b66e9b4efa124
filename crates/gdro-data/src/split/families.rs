//! Rows held out of several families of groups, in which groups overlap.

use gdro::sampling::Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::units::{Units, check_share};
use crate::error::Result;
use crate::options::Split;

/// Draws the units that are held out where groups overlap, and marks them. Returns how many groups have
/// fewer than are wanted of each, too.
///
/// A share is drawn along the rows sorted by their combination of groups and label, from a random
/// start round to it again: one row of each stretch of 1/share rows. Of every combination, and of
/// every group of the family with the most groups, it takes the share to within two rows; in the
/// larger groups of others chance evens out. Rounding each combination by itself would hold out
/// nothing of many small ones, and equal steps could meet the same label or group every time. A
/// number of rows per group is drawn group by group, the smallest first, from rows not held out yet:
/// a group has as many or, through others, more.
pub(super) fn hold_out(split: &Split, units: &Units<'_>) -> Result<(Vec<bool>, usize)> {
    let rows = units.count();
    let (mut held, mut short) = (vec![false; rows], 0);
    let (Split::Share { seed, .. } | Split::PerGroup { seed, .. }) = *split else {
        return Ok((held, short));
    };
    let mut rng = Rng::seed_from_u64(seed);
    match *split {
        Split::None | Split::Column | Split::LastFile => {}
        Split::Share { share, .. } => {
            check_share(share)?;
            if rows == 0 {
                return Ok((held, short));
            }
            let mut order: Vec<usize> = (0..rows).collect();
            order.shuffle(&mut rng);
            let mut finest_first: Vec<&Vec<Option<u32>>> = units.families.iter().collect();
            finest_first.sort_by_key(|groups| std::cmp::Reverse(groups_of(groups)));
            let groups = |row: usize| finest_first.iter().map(move |groups| groups[row]);
            order.sort_by(|a, b| {
                let by_label = || units.label(*a).cmp(&units.label(*b));
                groups(*a).cmp(groups(*b)).then_with(by_label)
            });
            // Of a share that is no whole number of rows the rest is left to chance.
            let wanted = (share * rows as f64 + rng.random::<f64>()) as usize;
            order.rotate_left(rng.random_range(0..rows));
            for at in 0..wanted {
                let stretch = &order[at * rows / wanted..(at + 1) * rows / wanted];
                held[stretch[rng.random_range(0..stretch.len())]] = true;
            }
        }
        Split::PerGroup { rows: wanted, .. } => {
            let mut order: Vec<&Vec<u32>> = units.groups.iter().collect();
            order.sort_by_key(|group| group.len());
            for group in order {
                let most = group.len().saturating_sub(1);
                short += usize::from(most < wanted);
                let mut free: Vec<usize> =
                    group.iter().map(|r| *r as usize).filter(|r| !held[*r]).collect();
                let has = group.len() - free.len();
                free.shuffle(&mut rng);
                let more = wanted.min(most).saturating_sub(has);
                free.into_iter().take(more).for_each(|row| held[row] = true);
            }
        }
    }
    for group in units.groups {
        if !group.is_empty() && group.iter().all(|row| held[*row as usize]) {
            held[group[rng.random_range(0..group.len())] as usize] = false;
        }
    }
    Ok((held, short))
}

/// Number of groups of a family, whose numbers follow each other.
fn groups_of(groups: &[Option<u32>]) -> u32 {
    let numbers = || groups.iter().flatten();
    numbers().max().zip(numbers().min()).map_or(0, |(most, least)| most - least + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Rows {
        families: Vec<Vec<Option<u32>>>,
        members: Vec<Vec<u32>>,
        labels: Vec<f64>,
    }

    impl Rows {
        fn hold(&self, split: &Split) -> (Vec<bool>, usize) {
            let (families, groups) = (&self.families, &self.members);
            hold_out(split, &Units { families, groups, labels: Some(&self.labels) }).unwrap()
        }
    }

    /// Rows in a family of 3 groups and one of 41, of which the last has one row.
    fn rows() -> Rows {
        let first: Vec<Option<u32>> = (0..601).map(|r| Some(r * 7 % 3)).collect();
        let second = (0..601).map(|r| Some(if r == 600 { 43 } else { 3 + r * 11 % 40 }));
        let families = vec![first, second.collect()];
        let mut members = vec![Vec::new(); 44];
        for family in &families {
            for (row, group) in (0..).zip(family) {
                members[group.unwrap() as usize].push(row);
            }
        }
        Rows { families, members, labels: (0..601).map(|r| f64::from(r % 5 == 0)).collect() }
    }

    fn count(held: &[bool], group: &[u32]) -> usize {
        group.iter().filter(|row| held[**row as usize]).count()
    }

    #[test]
    fn a_share_of_every_group_and_combination() {
        let rows = rows();
        let members = &rows.members;
        for seed in 0..20 {
            let split = Split::Share { share: 0.2, seed };
            let held = rows.hold(&split).0;
            assert_eq!(rows.hold(&split).0, held);
            let all = held.iter().filter(|h| **h).count();
            assert!(all.abs_diff(120) <= 1, "{all}");
            // 200 rows each, and one more.
            for group in &members[..3] {
                let found = count(&held, group);
                assert!(found.abs_diff(40) <= 14, "{found}");
            }
            // 15 rows each, spread over three combinations of 5.
            for group in &members[3..43] {
                let found = count(&held, group);
                assert!(found.abs_diff(3) <= 2, "{found}");
                for first in &members[..3] {
                    let both: Vec<u32> =
                        group.iter().copied().filter(|r| first.contains(r)).collect();
                    assert!(count(&held, &both) <= 2);
                }
            }
            assert!(!held[600], "the row of a group of one");
        }
    }

    /// 300 combinations of 5 rows, of which one has the label 1.
    #[test]
    fn small_combinations_do_not_choose_a_label() {
        let rows = 1500;
        let families =
            vec![vec![Some(0); rows], (0..rows as u32).map(|r| Some(1 + r / 5)).collect()];
        let mut members = vec![(0..rows as u32).collect::<Vec<_>>()];
        members.extend((0..300).map(|g| (5 * g..5 * g + 5).collect()));
        let labels = (0..rows).map(|r| f64::from(r % 5 == 0)).collect();
        let table = Rows { families, members, labels };
        for seed in 0..20 {
            let held = table.hold(&Split::Share { share: 0.2, seed }).0;
            let ones = (0..rows).filter(|r| held[*r] && table.labels[*r] == 1.0).count();
            // 60 of about 300, with a deviation of 7.
            assert!(ones.abs_diff(60) < 35, "{ones}");
        }
    }

    #[test]
    fn as_many_rows_of_every_group() {
        let rows = rows();
        let (held, short) = rows.hold(&Split::PerGroup { rows: 10, seed: 1 });
        for group in &rows.members[..43] {
            assert!(count(&held, group) >= 10);
        }
        assert!(!held[600]);
        assert_eq!(short, 1);
    }

    #[test]
    fn every_group_keeps_a_row() {
        let rows = rows();
        for split in [
            Split::Share { share: 0.99, seed: 1 },
            Split::PerGroup { rows: 1000, seed: 1 },
            Split::None,
        ] {
            let held = rows.hold(&split).0;
            assert!(rows.members.iter().all(|group| count(&held, group) < group.len()));
        }
        let units = Units { families: &rows.families, groups: &rows.members, labels: None };
        assert!(hold_out(&Split::Share { share: 1.0, seed: 0 }, &units).is_err());
    }
}
