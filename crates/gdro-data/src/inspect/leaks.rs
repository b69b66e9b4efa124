//! Features that alone predict the target almost perfectly.

use std::collections::HashMap;

use crate::options::Task;
use crate::table::Column;

/// From here on a feature is said to predict the target: the area under the ROC curve, the
/// correlation of values or ranks, or the share of right classes.
const PERFECT: f64 = 0.99;

/// Rows of each label, or in all, below which nothing is said.
const ENOUGH: usize = 10;

/// Numbers of more different values than this are no classes.
const MOST_VALUES: usize = 1000;

/// What to say of a feature, if anything. Missing cells are left out.
///
/// A number is compared with the target as it is. A text first becomes the mean target of its level
/// (for classes: the commonest), learnt from every other row and judged on the others, so that texts
/// of few rows do not look better than they are.
pub(crate) fn leak(
    name: &str,
    cells: &Column,
    rows: &[u32],
    targets: &[f64],
    task: Task,
) -> Option<String> {
    let key = |row: usize| match (cells.number(row), &cells.texts) {
        (Some(v), _) => Some((v, (v + 0.0).to_bits())),
        (None, Some(texts)) if cells.numbers.is_none() => {
            texts.code(row).map(|code| (f64::NAN, code as u64))
        }
        _ => None,
    };
    let pairs: Vec<(f64, u64, f64)> = rows
        .iter()
        .zip(targets)
        .filter_map(|(row, y)| key(*row as usize).map(|(v, key)| (v, key, *y)))
        .collect();
    let numeric = cells.numbers.is_some();
    let (found, measure) = match task {
        Task::Multiclass => (right_classes(&pairs)?, "share of right classes"),
        _ => {
            let (x, y): (Vec<f64>, Vec<f64>) = if numeric {
                pairs.iter().map(|(v, _, y)| (*v, *y)).unzip()
            } else {
                level_means(&pairs)
            };
            match task {
                Task::Binary => (area(&x, &y)?, "area under the ROC curve"),
                _ => (correlated(&x, &y)?, "correlation of values or ranks"),
            }
        }
    };
    (found >= PERFECT).then(|| {
        format!(
            "feature `{name}` alone predicts the target ({measure} {found:.3}, {PERFECT} or more): \
             is it known before the target is?"
        )
    })
}

/// The mean target of the level of every second row, learnt from the others; the mean of all where
/// they do not know the level. And the targets of these rows.
fn level_means(pairs: &[(f64, u64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let learn = || pairs.iter().step_by(2);
    let mut sums: HashMap<u64, (f64, f64)> = HashMap::new();
    for (_, key, y) in learn() {
        let sum = sums.entry(*key).or_default();
        *sum = (sum.0 + y, sum.1 + 1.0);
    }
    let all = learn().map(|(_, _, y)| y).sum::<f64>() / learn().count().max(1) as f64;
    let judge = pairs.iter().skip(1).step_by(2);
    judge.map(|(_, key, y)| (sums.get(key).map_or(all, |(sum, n)| sum / n), *y)).unzip()
}

/// The area under the ROC curve of a score or of its negation.
fn area(x: &[f64], y: &[f64]) -> Option<f64> {
    let positive: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
    let count = positive.iter().filter(|p| **p).count();
    if count < ENOUGH || positive.len() - count < ENOUGH {
        return None;
    }
    let area = gdro::interval::auc(x, &positive).ok()??;
    Some(area.max(1.0 - area))
}

/// The larger of the absolute correlations of values and of ranks.
fn correlated(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() < ENOUGH {
        return None;
    }
    let values = correlation(x, y)?;
    let ranks = correlation(&ranks(x), &ranks(y))?;
    Some(values.abs().max(ranks.abs()))
}

fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len() as f64;
    // Scaled, so that squares stay in range.
    let unit = |v: &[f64]| -> Option<Vec<f64>> {
        let scale = v.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        let mean = v.iter().map(|v| v / scale).sum::<f64>() / n;
        let centred: Vec<f64> = v.iter().map(|v| v / scale - mean).collect();
        let norm = centred.iter().map(|v| v * v).sum::<f64>().sqrt();
        // A column of one value correlates with nothing.
        (norm > 1e-12 * n.sqrt()).then(|| centred.into_iter().map(|v| v / norm).collect())
    };
    let (x, y) = (unit(x)?, unit(y)?);
    Some(x.iter().zip(&y).map(|(a, b)| a * b).sum())
}

/// Ranks from 0; equal values have the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let (mut ranks, mut before) = (vec![0.0; values.len()], 0);
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = before as f64 + (tied.len() - 1) as f64 / 2.0;
        tied.iter().for_each(|row| ranks[*row] = rank);
        before += tied.len();
    }
    ranks
}

/// How many classes the commonest class of each value gets right, learnt from every other row and
/// judged on the others. `None` unless it makes a tenth of the mistakes of the commonest of all.
fn right_classes(pairs: &[(f64, u64, f64)]) -> Option<f64> {
    let mut counts: HashMap<u64, HashMap<u64, usize>> = HashMap::new();
    let mut all: HashMap<u64, usize> = HashMap::new();
    for (_, key, y) in pairs.iter().step_by(2) {
        *counts.entry(*key).or_default().entry(y.to_bits()).or_default() += 1;
        *all.entry(y.to_bits()).or_default() += 1;
    }
    if counts.len() > MOST_VALUES || pairs.len() < 2 * ENOUGH {
        return None;
    }
    // Ties by the class, so that the answer is always the same.
    let commonest = |counts: &HashMap<u64, usize>| {
        counts.iter().max_by_key(|(class, count)| (**count, **class)).map(|(class, _)| *class)
    };
    let usual = commonest(&all)?;
    let of: HashMap<u64, u64> =
        counts.iter().filter_map(|(key, c)| Some((*key, commonest(c)?))).collect();
    let judged = || pairs.iter().skip(1).step_by(2);
    let n = judged().count() as f64;
    let share = |right: &dyn Fn(&(f64, u64, f64)) -> bool| {
        judged().filter(|pair| right(pair)).count() as f64 / n
    };
    let found = share(&|(_, key, y)| *of.get(key).unwrap_or(&usual) == y.to_bits());
    let plain = share(&|(_, _, y)| usual == y.to_bits());
    (1.0 - found <= 0.1 * (1.0 - plain) && plain < 1.0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_ties_are_their_mean() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 0.0, 3.0]), [3.0, 1.0, 3.0, 0.0, 3.0]);
        assert_eq!(ranks(&[2.0, 2.0]), [0.5, 0.5]);
    }

    #[test]
    fn correlations() {
        // By hand: centred x is (−1, 0, 1), y is (−4/3, −1/3, 5/3).
        let found = correlation(&[1.0, 2.0, 3.0], &[1.0, 2.0, 4.0]).unwrap();
        assert!((found - 3.0 / (2.0f64 * 42.0 / 9.0).sqrt()).abs() < 1e-14);
        assert_eq!(correlation(&[0.1; 5], &[1.0, 2.0, 3.0, 4.0, 5.0]), None);
        let large = correlation(&[1e300, 2e300, 4e300], &[1.0, 2.0, 4.0]).unwrap();
        assert!((large - 1.0).abs() < 1e-14);
    }

    #[test]
    fn levels_are_judged_on_rows_they_did_not_learn_from() {
        // A text of its own in every row: learnt by heart, of no use.
        let pairs: Vec<(f64, u64, f64)> =
            (0..40).map(|i| (f64::NAN, i, if i % 4 < 2 { 1.0 } else { -1.0 })).collect();
        let (x, y) = level_means(&pairs);
        assert_eq!((x.len(), area(&x, &y)), (20, Some(0.5)));
        // Texts that give the target away.
        let pairs: Vec<(f64, u64, f64)> = (0..40)
            .map(|i| (f64::NAN, u64::from(i % 4 < 2), if i % 4 < 2 { 1.0 } else { -1.0 }))
            .collect();
        let (x, y) = level_means(&pairs);
        assert_eq!(area(&x, &y), Some(1.0));
    }

    #[test]
    fn classes_must_be_told_better_than_by_the_commonest() {
        let class = |i: u64| if i % 20 < 2 { 1.0 } else { 0.0 };
        let pairs: Vec<(f64, u64, f64)> = (0..400).map(|i| (0.0, i % 3, class(i))).collect();
        assert_eq!(right_classes(&pairs), None);
        let pairs: Vec<(f64, u64, f64)> =
            (0..400).map(|i| (0.0, class(i) as u64, class(i))).collect();
        assert_eq!(right_classes(&pairs), Some(1.0));
    }
}
