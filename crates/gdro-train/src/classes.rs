//! What a model of two classes does on rows held out, group by group: counts, rates, curves.

use crate::scores::{class_of, logistic};

/// Bins of predicted probabilities, of equal width.
const BINS: usize = 10;

/// Most points of a ROC curve that are kept.
const POINTS: usize = 60;

/// A model on the rows of one group. A row is predicted positive where its score is not negative: where
/// its probability is at least 0.5, if there are probabilities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Classes {
    /// Numbers of rows: negative and predicted so, negative but predicted positive, positive but
    /// predicted negative, positive and predicted so. Each row counts 1, whatever it weighs.
    pub counts: [usize; 4],
    /// The share of the rows that are predicted positive, by weight; `None` without rows.
    pub selection_rate: Option<f64>,
    /// The share of the rows that are positive, likewise.
    pub base_rate: Option<f64>,
    /// Bins of predicted probabilities that have rows, from 0 to 1; none without probabilities.
    pub calibration: Vec<Bin>,
    /// The ROC curve: false and true positive rates by weight, from (0, 0) to (1, 1), of at most
    /// 61 thresholds. Empty where a class has no weight.
    pub roc: Vec<[f64; 2]>,
}

/// Rows whose predicted probabilities are close to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// The mean predicted probability, by weight.
    pub predicted: f64,
    /// The share of rows that are positive, by weight.
    pub observed: f64,
    /// Number of rows.
    pub rows: usize,
}

impl Classes {
    /// Of rows with these scores, classes and weights, all of one length; scores are log-odds if
    /// `is_probabilistic`.
    pub fn of(scores: &[f64], positive: &[bool], weights: &[f64], is_probabilistic: bool) -> Self {
        let mut found = Classes::default();
        let mut bins = [(0.0, 0.0, 0.0, 0usize); BINS];
        let (mut selected, mut base, mut total) = (0.0, 0.0, 0.0);
        for ((score, positive), weight) in scores.iter().zip(positive).zip(weights) {
            let class = class_of(&[*score]);
            found.counts[2 * usize::from(*positive) + class] += 1;
            total += weight;
            selected += weight * class as f64;
            base += if *positive { *weight } else { 0.0 };
            if is_probabilistic {
                let p = logistic(*score);
                let bin = &mut bins[((BINS as f64 * p) as usize).min(BINS - 1)];
                bin.0 += weight * p;
                bin.1 += if *positive { *weight } else { 0.0 };
                bin.2 += weight;
                bin.3 += 1;
            }
        }
        found.selection_rate = (total > 0.0).then(|| selected / total);
        found.base_rate = (total > 0.0).then(|| base / total);
        let known = bins.iter().filter(|bin| bin.2 > 0.0);
        let bin = |(p, y, w, rows): &(f64, f64, f64, usize)| Bin {
            predicted: p / w,
            observed: y / w,
            rows: *rows,
        };
        found.calibration = known.map(bin).collect();
        if base > 0.0 && base < total {
            found.roc = roc(scores, positive, weights, [total - base, base]);
        }
        found
    }
}

/// The ROC curve of classes with these total weights, the negative one first.
fn roc(scores: &[f64], positive: &[bool], weights: &[f64], totals: [f64; 2]) -> Vec<[f64; 2]> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let (mut sums, mut out) = ([0.0; 2], vec![[0.0; 2]]);
    let mut done = 0.0;
    for (at, row) in order.iter().enumerate() {
        sums[usize::from(positive[*row])] += weights[*row];
        // Rows of one score are on one side of every threshold.
        if order.get(at + 1).is_some_and(|next| scores[*next] == scores[*row]) {
            continue;
        }
        let point = [sums[0] / totals[0], sums[1] / totals[1]];
        // Points of a long curve are apart by a step of its length, which is 2.
        if at + 1 == order.len() {
            out.push([1.0, 1.0]);
        } else if point[0] + point[1] >= done + 2.0 / POINTS as f64 {
            done = point[0] + point[1];
            out.push(point);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of classes and scores, counted one by one.
    #[test]
    fn counts_rates_and_curves_are_those_of_a_count_by_hand() {
        let scores = [2.0, 2.0, -1.0, 0.0, -3.0];
        let positive = [true, false, true, true, false];
        let found = Classes::of(&scores, &positive, &[1.0; 5], true);
        // Of the negative rows one is below 0; of the positive ones two are not.
        assert_eq!(found.counts, [1, 1, 1, 2]);
        assert_eq!((found.selection_rate, found.base_rate), (Some(0.6), Some(0.6)));
        let thirds = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];
        let expected =
            [[0.0, 0.0], [0.5, thirds[1]], [0.5, thirds[2]], [0.5, thirds[3]], [1.0, 1.0]];
        assert_eq!(found.roc, expected);
        // Probabilities 0.047, 0.269, 0.5 and twice 0.881.
        let rows: Vec<usize> = found.calibration.iter().map(|bin| bin.rows).collect();
        assert_eq!(rows, [1, 1, 1, 2]);
        assert_eq!(found.calibration[3].observed, 0.5);
        // A row of weight 2 is two rows but for the counts.
        let twice = Classes::of(&scores, &positive, &[2.0, 1.0, 1.0, 1.0, 1.0], false);
        assert_eq!((twice.counts, twice.base_rate), ([1, 1, 1, 2], Some(4.0 / 6.0)));
        assert_eq!((twice.roc[1], twice.calibration.len()), ([0.5, 0.5], 0));
        assert_eq!(Classes::of(&[], &[], &[], true), Classes::default());
    }
}
