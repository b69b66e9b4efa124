//! All groups at once, and the worst of them.

use super::draws::{Draws, Orders};
use super::metric::{METRICS, Metrics};
use super::rows::{Ordered, Rows};
use super::{Estimate, Interval, Settings, notable_share};
use crate::error::{Result, require};
use serde::{Deserialize, Serialize};

/// What the held-out rows say about one group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupEstimates {
    /// Number of rows.
    pub rows: usize,
    /// The mean loss as it is, neither losses nor weights capped; `None` without rows.
    pub risk: Option<f64>,
    /// Number of rows whose loss exceeds M.
    pub clipped: usize,
    /// Number of rows whose weight exceeds B; of clusters 0.
    pub capped_weights: usize,
    /// Number of clusters whose weight exceeds S; of rows 0.
    #[serde(default)]
    pub capped_clusters: usize,
    /// The mean of min(ℓ, M), in [0, M], by betting.
    pub clipped_risk: Estimate,
    /// The share of right predictions.
    pub accuracy: Option<Estimate>,
    /// What only binary targets have.
    #[serde(flatten)]
    pub metrics: Metrics,
}

impl GroupEstimates {
    /// The share of the rows whose loss exceeds M, where it is more than 1 %: an interval of the
    /// clipped risk must say so.
    pub fn clipped_share(&self) -> Option<f64> {
        notable_share(self.clipped, self.rows)
    }
}

/// A quantity of the worst group: the largest risk, the smallest accuracy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// Among all groups. A group without rows could be anything, and widens it accordingly.
    pub all: Interval,
    /// Among the groups that are estimable, if there are any. As valid as `all`, although the rows
    /// decide which groups these are: the intervals hold for all groups at once.
    pub estimable: Option<Interval>,
    /// Index of the group with the worst point estimate, the first one at ties.
    pub group: Option<usize>,
}

impl Worst {
    /// Whether both ends say something: no group that is not estimable widens [`Worst::all`].
    pub fn is_estimable(&self) -> bool {
        self.estimable == Some(self.all)
    }
}

/// What [`evaluate`] returns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// One per group, in the order of the groups.
    pub groups: Vec<GroupEstimates>,
    /// The largest mean of min(ℓ, M): in [max_i low_i, max_i high_i].
    pub worst_risk: Worst,
    /// The smallest accuracy: in [min_i low_i, min_i high_i].
    pub worst_accuracy: Option<Worst>,
}

/// Intervals on held-out rows, simultaneous over the groups.
///
/// **Level.** Each column (clipped risk, accuracy, each of [`METRICS`](super::METRICS)) holds for all groups at once
/// with probability at least 1 − δ, by Bonferroni: every interval is at δ/m', where m' is the
/// number of groups in which the column has rows (positive rows for the true positive rate, both
/// classes for the AUC). Several columns hold together at the sum of their δ. The groups may depend
/// on each other, or share rows.
///
/// **Worst group.** On the event that all intervals hold, max_i R_i ∈ [max_i low_i, max_i high_i].
/// No distribution of the maximum is needed, and ties between groups do no harm.
///
/// **Intervals.** Risks: betting on min(ℓ, M), see [`mean_interval`](super::mean_interval).
/// Accuracy and rates: [`clopper_pearson`](super::clopper_pearson), conditionally on the number of
/// rows of the class. AUC: [`auc_interval`](super::auc_interval). With weights, accuracy and rates are ratios and use
/// [`weighted_mean_interval`](super::weighted_mean_interval); so does the AUC: the pairs of the k-th
/// positive and the k-th negative row, with the products of their weights, are independent and
/// identically distributed given the classes, and E(w w' h)/E(w w') is the AUC of weighted rows.
///
/// **Weights.** Rows count as min(w, B), in points and in intervals: what is estimated is
/// E(min(w, B) x)/E(min(w, B)). That is the weighted mean itself where no weight exceeds B, see
/// [`GroupEstimates::capped_weights`].
///
/// **Clusters.** Where rows have clusters, these are the independent draws, and rows of one may depend
/// on each other. Each counts once, as the weighted mean x of its rows with their total weight w: what
/// is estimated is E(w x)/E(w), w at most S, for all columns but the AUC, which has no interval, since
/// that of [`auc_interval`](super::auc_interval) is one of independent rows. A mean of the means of
/// clusters would be another quantity where they differ in size.
///
/// **Order.** Betting takes the rows of a group in an order that depends on the seed, the index of
/// the group and its number of rows (of clusters, where it has any) alone. The same input gives the same bits.
///
/// A group without rows, or with too few to say anything, stays in its place, with
/// [`Estimate::estimable`] false.
///
/// # Errors
/// [`crate::Error::Parameter`] for settings, negative losses, scores that are not finite, weights out of
/// range or without [`Settings::weight_cap`], clusters without [`Settings::cluster_cap`], and columns given for some groups only; [`crate::Error::NonFiniteLoss`] (round 0);
/// [`crate::Error::Length`] for slices of different lengths and without groups.
pub fn evaluate(groups: &[Rows], settings: &Settings) -> Result<Evaluation> {
    settings.check(groups.len())?;
    for (group, rows) in groups.iter().enumerate() {
        rows.check(group, settings)?;
    }
    let graded = all_or_none("correct", groups.iter().map(|rows| rows.correct.is_some()))?;
    let binary = all_or_none("binary", groups.iter().map(|rows| rows.binary.is_some()))?;
    require(graded || !binary, "binary", "given without `correct`", "both")?;

    let level = |used: &dyn Fn(&Rows) -> bool| {
        settings.delta / groups.iter().filter(|rows| used(rows)).count().max(1) as f64
    };
    let by_rows = level(&|rows| !rows.losses.is_empty());
    let by_metric = METRICS.map(|metric| level(&|rows| (metric.trials)(rows) > 0));

    let mut orders = Orders::new(settings.seed);
    let estimates = |rows: &Rows| -> Result<GroupEstimates> {
        let n = rows.losses.len();
        let draws = Draws::new(n, rows.weights, rows.clusters, settings, &mut orders);
        let group = Ordered { rows, draws };
        let draws = &group.draws;
        let loss = |r: usize| rows.losses[r].min(settings.cap);
        let heavier = if draws.are_alike() { 0 } else { draws.heavier() };
        let [capped_weights, capped_clusters] =
            if rows.clusters.is_some() { [0, heavier] } else { [heavier, 0] };
        let (all, range) = (|_| true, Interval::new(0.0, settings.cap));
        let accuracy = rows.correct.map(|correct| group.share(all, |r| correct[r], by_rows));
        Ok(GroupEstimates {
            rows: n,
            risk: draws.point(&|r| rows.losses[r]),
            clipped: rows.losses.iter().filter(|loss| **loss > settings.cap).count(),
            capped_weights,
            capped_clusters,
            clipped_risk: draws.mean(all, &loss, range, by_rows)?,
            accuracy: accuracy.transpose()?,
            metrics: Metrics::of(&group, &by_metric)?,
        })
    };
    let groups = groups.iter().map(estimates).collect::<Result<Vec<_>>>()?;

    let risks: Vec<Estimate> = groups.iter().map(|group| group.clipped_risk).collect();
    let accuracies: Option<Vec<Estimate>> = groups.iter().map(|group| group.accuracy).collect();
    Ok(Evaluation {
        worst_risk: worst(&risks, f64::max, |a, b| a > b),
        worst_accuracy: accuracies.map(|column| worst(&column, f64::min, |a, b| a < b)),
        groups,
    })
}

/// Whether a column is given; an error if only some groups have it.
fn all_or_none(name: &'static str, mut given: impl Iterator<Item = bool>) -> Result<bool> {
    let first = given.next().unwrap_or(false);
    let same = given.all(|other| other == first);
    require(same, name, "given for some groups", "it for all groups or for none")?;
    Ok(first)
}

/// The worst of a column: ends by `pick`, point estimates by `worse`.
fn worst(column: &[Estimate], pick: fn(f64, f64) -> f64, worse: fn(f64, f64) -> bool) -> Worst {
    let merge = |a: Interval, b: Interval| Interval::new(pick(a.low, b.low), pick(a.high, b.high));
    let intervals = column.iter().map(|estimate| estimate.interval);
    let all = intervals.reduce(merge).expect("there is a group: checked");
    let estimable = column.iter().filter_map(Estimate::bounds).reduce(merge);
    let mut found: Option<(usize, f64)> = None;
    for (group, estimate) in column.iter().enumerate() {
        if let Some(value) = estimate.value
            && found.is_none_or(|(_, so_far)| worse(value, so_far))
        {
            found = Some((group, value));
        }
    }
    Worst { all, estimable, group: found.map(|(group, _)| group) }
}

#[cfg(test)]
mod tests {
    use super::super::{
        Binary, auc_interval, clopper_pearson, mean_interval, weighted_auc, weighted_mean_interval,
    };
    use super::*;
    use crate::Error;

    const SETTINGS: Settings =
        Settings { delta: 0.05, cap: 2.0, weight_cap: Some(2.0), cluster_cap: Some(3.0), seed: 1 };

    fn losses(n: usize) -> Vec<f64> {
        (0..n).map(|i| (i * 7 % 11) as f64 / 5.0).collect()
    }

    #[test]
    fn columns_use_the_groups_that_have_rows_and_keep_the_others() {
        let (a, b) = (losses(200), losses(3));
        let right: Vec<bool> = a.iter().map(|loss| *loss < 1.5).collect();
        let positive: Vec<bool> = (0..200).map(|i| i % 4 == 0).collect();
        let none = [false; 3];
        let groups = [
            Rows {
                losses: &a,
                correct: Some(&right),
                binary: Some(Binary { scores: &a, positive: &positive }),
                ..Rows::default()
            },
            Rows::default(),
            Rows {
                losses: &b,
                correct: Some(&right[..3]),
                binary: Some(Binary { scores: &b, positive: &none }),
                ..Rows::default()
            },
        ];
        let mut groups = groups;
        groups[1].correct = Some(&[]);
        groups[1].binary = Some(Binary { scores: &[], positive: &[] });
        let found = evaluate(&groups, &SETTINGS).unwrap();
        let [big, empty, small] = &found.groups[..] else { panic!("three groups") };

        let hits = right.iter().filter(|r| **r).count() as u64;
        assert_eq!(big.accuracy.unwrap().interval, clopper_pearson(hits, 200, 0.025).unwrap());
        let hits = (0..200).filter(|i| right[*i] && positive[*i]).count() as u64;
        let rate = big.metrics.get("true_positive_rate").unwrap();
        assert_eq!((rate.rows, rate.interval), (50, clopper_pearson(hits, 50, 0.05).unwrap()));
        let misses = (0..200).filter(|i| !right[*i] && !positive[*i]).count() as u64;
        let rate = big.metrics.get("false_positive_rate").unwrap();
        assert_eq!((rate.rows, rate.interval), (150, clopper_pearson(misses, 150, 0.025).unwrap()));
        let auc = auc_interval(&a, &positive, 0.05).unwrap().unwrap();
        assert_eq!(big.metrics.get("auc").unwrap().interval, auc.interval);

        assert_eq!((empty.rows, empty.risk, empty.clipped_risk.value), (0, None, None));
        assert_eq!(empty.clipped_risk.interval, Interval::new(0.0, 2.0));
        assert!(!empty.clipped_risk.estimable && empty.accuracy.unwrap().bounds().is_none());
        assert_eq!(small.metrics.get("true_positive_rate").unwrap().value, None);
        assert_eq!(small.metrics.get("auc").unwrap().bounds(), None);
        assert_eq!(small.rows, 3);

        // The worst group: an empty one could be as bad as can be.
        assert_eq!(found.worst_risk.all.high, 2.0);
        assert_eq!(found.worst_accuracy.unwrap().all.low, 0.0);
        assert!(found.worst_risk.estimable.unwrap().high < 2.0);
        assert!(found.worst_risk.all.low >= big.clipped_risk.interval.low);
    }

    #[test]
    fn risks_are_clipped_in_the_interval_only() {
        let mut a = losses(100);
        a[3] = 50.0;
        a[60] = 2.5;
        let found = evaluate(&[Rows { losses: &a, ..Rows::default() }], &SETTINGS).unwrap();
        let group = found.groups[0];
        assert_eq!(group.clipped, 2);
        assert!((group.risk.unwrap() - a.iter().sum::<f64>() / 100.0).abs() < 1e-12);
        let clipped: Vec<f64> = a.iter().map(|loss| loss.min(2.0)).collect();
        let mean = clipped.iter().sum::<f64>() / 100.0;
        assert!((group.clipped_risk.value.unwrap() - mean).abs() < 1e-12);
        let order = Orders::new(1).next(100);
        let shuffled: Vec<f64> = order.iter().map(|r| clipped[*r]).collect();
        assert_eq!(group.clipped_risk.interval, mean_interval(&shuffled, 0.0, 2.0, 0.05).unwrap());
        assert_eq!(found.worst_accuracy, None);
    }

    #[test]
    fn weights_reach_every_column() {
        let a = losses(60);
        let right: Vec<bool> = a.iter().map(|loss| *loss < 1.5).collect();
        let positive: Vec<bool> = (0..60).map(|i| i % 4 == 0).collect();
        let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
        let rows = Rows {
            losses: &a,
            correct: Some(&right),
            binary: Some(Binary { scores: &a, positive: &positive }),
            weights: Some(&weights),
            clusters: None,
        };
        let found = evaluate(&[rows], &SETTINGS).unwrap().groups[0];
        let kept: Vec<usize> =
            Orders::new(1).next(60).into_iter().filter(|r| positive[*r]).collect();
        let pick = |f: &dyn Fn(usize) -> f64| -> Vec<f64> { kept.iter().map(|r| f(*r)).collect() };
        let (x, w) = (pick(&|r| f64::from(u8::from(right[r]))), pick(&|r| weights[r]));
        let expected = weighted_mean_interval(&x, &w, 2.0, 0.0, 1.0, 0.05).unwrap();
        assert_eq!(found.metrics.get("true_positive_rate").unwrap().interval, expected);
        let total: f64 = weights.iter().sum();
        let risk = a.iter().zip(&weights).map(|(a, w)| a * w).sum::<f64>() / total;
        assert!((found.risk.unwrap() - risk).abs() < 1e-12);
        // The AUC is that of all pairs; its interval bets on as many pairs as there are positive rows.
        let auc = found.metrics.get("auc").unwrap();
        assert_eq!((auc.rows, auc.value), (15, weighted_auc(&a, &positive, &weights).unwrap()));
        let negative: Vec<usize> =
            Orders::new(1).next(60).into_iter().filter(|r| !positive[*r]).collect();
        let (mut x, mut w) = (Vec::new(), Vec::new());
        for (up, down) in kept.iter().zip(negative) {
            x.push(if a[*up] > a[down] {
                1.0
            } else if a[*up] == a[down] {
                0.5
            } else {
                0.0
            });
            w.push(weights[*up] * weights[down]);
        }
        let bet = weighted_mean_interval(&x, &w, 4.0, 0.0, 1.0, 0.05).unwrap();
        let value = auc.value.unwrap();
        assert_eq!(auc.interval, Interval::new(bet.low.min(value), bet.high.max(value)));
    }

    #[test]
    fn heavier_rows_count_as_the_cap() {
        let a = losses(60);
        let weights: Vec<f64> = (0..60).map(|i| f64::from(1 + i % 3)).collect();
        let capped: Vec<f64> = weights.iter().map(|w| w.min(2.0)).collect();
        let of = |weights| {
            let rows = Rows { losses: &a, weights: Some(weights), ..Rows::default() };
            evaluate(&[rows], &SETTINGS).unwrap().groups[0]
        };
        let (found, expected) = (of(&weights), of(&capped));
        assert_eq!((found.capped_weights, expected.capped_weights), (20, 0));
        assert_eq!(found.clipped_risk, expected.clipped_risk);
        assert_ne!(found.risk, expected.risk);
    }

    /// Rows of a cluster count together: in every column, whatever their order.
    #[test]
    fn clusters_count_once() {
        let a = losses(60);
        let right: Vec<bool> = a.iter().map(|loss| *loss < 1.5).collect();
        let positive: Vec<bool> = (0..60).map(|i| i % 4 == 0).collect();
        let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3) / 2.0).collect();
        // Cluster c has 1 + c rows.
        let clusters: Vec<u32> = (0..11).flat_map(|c| vec![c; c as usize + 1]).take(60).collect();
        let rows = Rows {
            losses: &a,
            correct: Some(&right),
            binary: Some(Binary { scores: &a, positive: &positive }),
            weights: Some(&weights),
            clusters: Some(&clusters),
        };
        let found = evaluate(&[rows], &SETTINGS).unwrap().groups[0];
        let total = |cluster: usize, keep: &dyn Fn(usize) -> bool, value: &dyn Fn(usize) -> f64| {
            let rows = (0..60).filter(|r| clusters[*r] as usize == cluster && keep(*r));
            rows.fold((0.0, 0.0), |sum, r| (sum.0 + weights[r] * value(r), sum.1 + weights[r]))
        };
        let expected = |keep: &dyn Fn(usize) -> bool, value: &dyn Fn(usize) -> f64, high| {
            let sums = Orders::new(1).next(11).into_iter().map(|c| total(c, keep, value));
            let kept: Vec<(f64, f64)> = sums.filter(|sum| sum.1 > 0.0).collect();
            let x: Vec<f64> = kept.iter().map(|(sum, total)| sum / total).collect();
            let w: Vec<f64> = kept.iter().map(|(_, total)| total.min(3.0)).collect();
            let point = x.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() / w.iter().sum::<f64>();
            (weighted_mean_interval(&x, &w, 3.0, 0.0, high, 0.05).unwrap(), point, kept.len())
        };
        let hit = |r: usize| f64::from(u8::from(right[r]));
        for (estimate, (interval, point, count)) in [
            (found.clipped_risk, expected(&|_| true, &|r| a[r].min(2.0), 2.0)),
            (found.accuracy.unwrap(), expected(&|_| true, &hit, 1.0)),
            (
                found.metrics.get("true_positive_rate").unwrap(),
                expected(&|r| positive[r], &hit, 1.0),
            ),
        ] {
            assert_eq!((estimate.interval, estimate.clusters), (interval, Some(count)));
            assert!((estimate.value.unwrap() - point).abs() < 1e-12);
        }
        assert_eq!((found.rows, found.clipped_risk.rows), (60, 60));
        let heavier = (0..11).filter(|c| total(*c, &|_| true, &|_| 0.0).1 > 3.0).count();
        assert_eq!((found.capped_clusters, found.capped_weights), (heavier, 0));
        assert_eq!(found.metrics.get("auc"), None);
        // Each row a cluster: rows, but for the intervals of shares.
        let own: Vec<u32> = (0..60).collect();
        let unit = Settings { cluster_cap: Some(1.0), ..SETTINGS };
        let plain = Rows { losses: &a, ..Rows::default() };
        let alone = evaluate(&[Rows { clusters: Some(&own), ..plain }], &unit).unwrap().groups[0];
        let rows = evaluate(&[plain], &unit).unwrap().groups[0];
        assert_eq!(alone.clipped_risk.interval, rows.clipped_risk.interval);
        assert_eq!(alone.risk, rows.risk);
    }

    #[test]
    fn a_later_group_does_not_change_an_earlier_one_and_seeds_matter() {
        let (a, b) = (losses(100), losses(50));
        let rows = |losses| Rows { losses, ..Rows::default() };
        // Twice δ for twice the groups: the same level.
        let one = evaluate(&[rows(&a)], &SETTINGS).unwrap();
        let wide = Settings { delta: 0.1, ..SETTINGS };
        let two = evaluate(&[rows(&a), rows(&b)], &wide).unwrap();
        assert_eq!(one.groups[0], two.groups[0]);
        assert_eq!(two, evaluate(&[rows(&a), rows(&b)], &wide).unwrap());
        let other = evaluate(&[rows(&a)], &Settings { seed: 2, ..SETTINGS }).unwrap();
        assert_ne!(one.groups[0].clipped_risk.interval, other.groups[0].clipped_risk.interval);
    }

    #[test]
    fn the_worst_group_is_found_at_both_ends() {
        let estimate = |low, value, high| {
            Estimate::new(9, Some(value), Interval::new(low, high), Interval::new(0.0, 1.0))
        };
        let column = [estimate(0.1, 0.2, 0.9), estimate(0.3, 0.4, 0.5), estimate(0.0, 0.4, 1.0)];
        let risk = worst(&column, f64::max, |a, b| a > b);
        assert_eq!((risk.all, risk.group), (Interval::new(0.3, 1.0), Some(1)));
        assert_eq!(risk.estimable, Some(Interval::new(0.3, 0.9)));
        let accuracy = worst(&column, f64::min, |a, b| a < b);
        assert_eq!((accuracy.all, accuracy.group), (Interval::new(0.0, 0.5), Some(0)));
        assert_eq!(accuracy.estimable, Some(Interval::new(0.1, 0.5)));
    }

    #[test]
    fn bad_rows_are_named() {
        let text =
            |rows: &[Rows], settings: &Settings| evaluate(rows, settings).unwrap_err().to_string();
        let good = [0.5, 0.7];
        let rows = |losses| Rows { losses, ..Rows::default() };
        assert_eq!(
            text(&[rows(&good), rows(&[0.1, -0.2])], &SETTINGS),
            "loss = -0.2 (row 1 of group 1): expected a number at least 0"
        );
        assert!(matches!(
            evaluate(&[rows(&[0.1, f64::INFINITY])], &SETTINGS),
            Err(Error::NonFiniteLoss { group: 0, round: 0, .. })
        ));
        let weighted = |weights| Rows { weights: Some(weights), ..rows(&good) };
        assert_eq!(
            text(&[weighted(&[1.0, -3.0])], &SETTINGS),
            "weight = -3 (row 1 of group 0): expected a finite number, at least 0"
        );
        assert_eq!(
            text(&[weighted(&[1.0, 3.0])], &Settings { weight_cap: None, ..SETTINGS }),
            "weight_cap = none: expected a bound on the weights of the rows"
        );
        let clustered = Rows { clusters: Some(&[0, 0]), ..rows(&good) };
        assert_eq!(
            text(&[clustered], &Settings { cluster_cap: None, ..SETTINGS }),
            "cluster_cap = none: expected a bound on the weights of the clusters"
        );
        let short = Rows { clusters: Some(&[0]), ..rows(&good) };
        assert!(matches!(evaluate(&[short], &SETTINGS), Err(Error::Length { .. })));
        let graded = Rows { correct: Some(&[true, true]), ..rows(&good) };
        assert_eq!(
            text(&[graded, rows(&good)], &SETTINGS),
            "correct = given for some groups: expected it for all groups or for none"
        );
        let short = Rows { correct: Some(&[true]), ..rows(&good) };
        assert!(matches!(evaluate(&[short], &SETTINGS), Err(Error::Length { .. })));
        assert!(matches!(evaluate(&[], &SETTINGS), Err(Error::Length { .. })));
        for settings in [
            Settings { delta: 1.0, ..SETTINGS },
            Settings { cap: 0.0, ..SETTINGS },
            Settings { cap: f64::NAN, ..SETTINGS },
            Settings { weight_cap: Some(0.0), ..SETTINGS },
            Settings { weight_cap: Some(f64::INFINITY), ..SETTINGS },
            Settings { cluster_cap: Some(0.0), ..SETTINGS },
        ] {
            assert!(matches!(evaluate(&[rows(&good)], &settings), Err(Error::Parameter { .. })));
        }
    }
}
