//! Two models on the same rows.

use super::draws::{Draws, Orders};
use super::rows::{check_losses, check_weights};
use super::{Estimate, Interval, Settings, check_length, notable_share};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// The losses of two models on the same held-out rows of one group, possibly none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pairs<'a> {
    /// Losses ℓ_a ≥ 0 of the first model.
    pub first: &'a [f64],
    /// Losses ℓ_b ≥ 0 of the second model on the same rows, in the same order.
    pub second: &'a [f64],
    /// Weights, if rows have different ones, see [`Rows::weights`](super::Rows::weights).
    pub weights: Option<&'a [f64]>,
    /// The cluster of each row, see [`Rows::clusters`](super::Rows::clusters).
    pub clusters: Option<&'a [u32]>,
}

/// The first model minus the second on one group: below 0 where the first is better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupDifference {
    /// Number of rows.
    pub rows: usize,
    /// The mean of ℓ_a − ℓ_b as it is, not clipped; `None` without rows.
    pub difference: Option<f64>,
    /// Numbers of rows whose loss exceeds M: of the first model, of the second.
    pub clipped: [usize; 2],
    /// The mean of min(ℓ_a, M) − min(ℓ_b, M), in [−M, M], by betting. The models differ on this
    /// group if the interval does not contain 0.
    pub clipped_difference: Estimate,
}

impl GroupDifference {
    /// The share of the rows whose loss exceeds M under the model that has more of them, where it is
    /// more than 1 %: an interval of the clipped difference must say so.
    pub fn clipped_share(&self) -> Option<f64> {
        notable_share(self.clipped[0].max(self.clipped[1]), self.rows)
    }
}

/// What [`compare`] returns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// One per group, in the order of the groups.
    pub groups: Vec<GroupDifference>,
    /// Contains the difference of the two models' largest risks, max_i R_i(a) − max_i R_i(b), which
    /// lies between min_i (R_i(a) − R_i(b)) and max_i (R_i(a) − R_i(b)): so in [min_i low_i, max_i
    /// high_i]. Wide when the groups differ in what they say; valid on the event that the groups'
    /// intervals hold.
    pub worst: Interval,
    /// The same among the groups that are estimable, if there are any.
    pub worst_estimable: Option<Interval>,
}

impl Comparison {
    /// That of a model with itself: all differences are 0, whatever the rows are.
    #[must_use]
    pub fn with_itself(mut self) -> Self {
        for group in &mut self.groups {
            group.difference = group.difference.map(|_| 0.0);
            let estimate = &mut group.clipped_difference;
            (estimate.interval, estimate.estimable) = (Interval::ZERO, group.rows > 0);
            estimate.value = estimate.value.map(|_| 0.0);
        }
        let is_there = self.groups.iter().any(|group| group.rows > 0);
        (self.worst, self.worst_estimable) = (Interval::ZERO, is_there.then_some(Interval::ZERO));
        self
    }

    /// The groups, by their index, on which the first model is clearly better (its interval lies below
    /// 0), is clearly worse (above 0), may be either, and that are not estimable. Groups without rows
    /// are in none of the four.
    pub fn sides(&self) -> [Vec<usize>; 4] {
        let mut sides: [Vec<usize>; 4] = Default::default();
        for (i, group) in self.groups.iter().enumerate().filter(|(_, group)| group.rows > 0) {
            let side = match group.clipped_difference.bounds() {
                Some(interval) if interval.high < 0.0 => 0,
                Some(interval) if interval.low > 0.0 => 1,
                Some(_) => 2,
                None => 3,
            };
            sides[side].push(i);
        }
        sides
    }
}

/// Compares two models on the same held-out rows: per group, an interval for the mean of min(ℓ_a,
/// M) − min(ℓ_b, M), simultaneous over the groups with probability at least 1 − δ, each by betting
/// ([`mean_interval`](super::mean_interval) on [−M, M]) at δ/m', where m' is the number of groups
/// with rows. What the two models have in common on a row cancels, so that this is narrower than
/// what two separate intervals would say. Level, order and "not estimable" as in
/// [`evaluate`](super::evaluate).
///
/// # Errors
/// As [`evaluate`](super::evaluate).
pub fn compare(groups: &[Pairs], settings: &Settings) -> Result<Comparison> {
    check_pairs(groups, settings)?;
    let cap = settings.cap;
    let used = groups.iter().filter(|pairs| !pairs.first.is_empty()).count();
    let alpha = settings.delta / used.max(1) as f64;
    let mut orders = Orders::new(settings.seed);
    let difference = |pairs: &Pairs| -> Result<GroupDifference> {
        let rows = pairs.first.len();
        let plain = |r: usize| pairs.first[r] - pairs.second[r];
        let clipped = |r: usize| pairs.first[r].min(cap) - pairs.second[r].min(cap);
        let above = |losses: &[f64]| losses.iter().filter(|loss| **loss > cap).count();
        let range = Interval::new(-cap, cap);
        let draws = Draws::new(rows, pairs.weights, pairs.clusters, settings, &mut orders);
        Ok(GroupDifference {
            rows,
            difference: draws.point(&plain),
            clipped: [above(pairs.first), above(pairs.second)],
            clipped_difference: draws.mean(|_| true, &clipped, range, alpha)?,
        })
    };
    let groups = groups.iter().map(difference).collect::<Result<Vec<_>>>()?;
    let merge = |a: Interval, b: Interval| Interval::new(a.low.min(b.low), a.high.max(b.high));
    let column = || groups.iter().map(|group| group.clipped_difference);
    let worst = column().map(|d| d.interval).reduce(merge).expect("there is a group: checked");
    let worst_estimable = column().filter_map(|d| d.bounds()).reduce(merge);
    Ok(Comparison { groups, worst, worst_estimable })
}

/// Refuses settings and rows that do not go together.
pub(super) fn check_pairs(groups: &[Pairs], settings: &Settings) -> Result<()> {
    settings.check(groups.len())?;
    for (group, pairs) in groups.iter().enumerate() {
        check_losses(pairs.first, group)?;
        check_losses(pairs.second, group)?;
        check_length("the losses of the second model", pairs.second.len(), pairs.first.len())?;
        check_weights(pairs.weights, pairs.clusters, pairs.first.len(), group, settings)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    const SETTINGS: Settings =
        Settings { delta: 0.05, cap: 2.0, weight_cap: None, cluster_cap: None, seed: 1 };

    #[test]
    fn pairing_sees_what_separate_intervals_do_not() {
        // Losses spread over [0, 1.9]; the second model is better by 0.1 everywhere.
        let first: Vec<f64> = (0..300).map(|i| 0.1 + (i * 7 % 19) as f64 / 10.0).collect();
        let second: Vec<f64> = first.iter().map(|loss| loss - 0.1).collect();
        let pairs = Pairs { first: &first, second: &second, ..Pairs::default() };
        let swapped = Pairs { first: &second, second: &first, ..Pairs::default() };
        let found = compare(&[pairs, Pairs::default()], &SETTINGS).unwrap();
        let group = found.groups[0].clipped_difference;
        assert!((group.value.unwrap() - 0.1).abs() < 1e-12);
        assert!(group.interval.low > 0.0 && group.interval.contains(0.1));
        assert_eq!(found.groups[1].clipped_difference.bounds(), None);
        assert_eq!(found.worst, Interval::new(-2.0, 2.0));
        assert_eq!(found.worst_estimable, Some(group.interval));
        assert_eq!(found.sides(), [vec![], vec![0], vec![], vec![]]);
        let mirror = compare(&[swapped], &SETTINGS).unwrap();
        let alone = compare(&[pairs], &SETTINGS).unwrap();
        let (a, b) = (alone.worst, mirror.worst);
        assert!((a.low + b.high).abs() < 1e-9 && (a.high + b.low).abs() < 1e-9);
    }

    #[test]
    fn clips_count_per_model() {
        let pairs = Pairs { first: &[3.0, 1.0, 9.0], second: &[0.5, 2.5, 2.0], ..Pairs::default() };
        let group = compare(&[pairs], &SETTINGS).unwrap().groups[0];
        assert_eq!(group.clipped, [2, 1]);
        assert!((group.difference.unwrap() - 8.0 / 3.0).abs() < 1e-12);
        assert!((group.clipped_difference.value.unwrap() - 0.5 / 3.0).abs() < 1e-12);
        assert!(!group.clipped_difference.estimable);
    }

    #[test]
    fn bad_pairs_are_refused() {
        let pairs = |first, second| Pairs { first, second, ..Pairs::default() };
        let short = compare(&[pairs(&[1.0], &[])], &SETTINGS);
        assert!(matches!(short, Err(Error::Length { .. })));
        let nan = compare(&[pairs(&[1.0], &[f64::NAN])], &SETTINGS);
        assert!(matches!(nan, Err(Error::NonFiniteLoss { .. })));
        assert!(matches!(compare(&[], &SETTINGS), Err(Error::Length { .. })));
    }
}
