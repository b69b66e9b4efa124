//! How certain a choice is: what other validation rows of the same groups would have chosen.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use rayon::prelude::*;

use super::criterion::{choose, mean};
use super::folds::{Losses, MODELS};
use crate::job::SelectionRule;

/// Most samples.
const SAMPLES: usize = 1000;

/// Fewest samples, however large the table.
const FEWEST: usize = 200;

/// Additions that all samples together may take: some seconds.
const WORK: f64 = 4e9;

/// Probability that an interval leaves out on either side.
const TAIL: f64 = 0.025;

/// What samples say about one model.
#[derive(Debug)]
pub struct Doubt {
    /// For each value, the share of the samples in which it is chosen.
    pub frequencies: Vec<f64>,
    /// For each value, 95 % of the criteria of the samples, without the tails.
    pub intervals: Vec<[f64; 2]>,
    /// For each value, the mean criterion of the samples minus the criterion.
    pub biases: Vec<f64>,
}

/// Draws the rows (or clusters) of each group anew, as many as there are, with replacement, and
/// chooses again by the same rule. A row in several groups is drawn for each of them by itself. The models stay as they are: what is shown is the doubt that comes from the
/// validation rows. All models see the same draws.
pub fn bootstrap(
    losses: &Losses,
    rule: SelectionRule,
    criteria: [&[f64]; MODELS],
    seed: u64,
) -> (usize, [Doubt; MODELS]) {
    let points = losses.of[0].len();
    let work = (MODELS * points * losses.weights.len()).max(1) as f64;
    let samples = ((WORK / work) as usize).clamp(FEWEST, SAMPLES);
    let found: Vec<[(Vec<f64>, usize); MODELS]> =
        (0..samples as u64).into_par_iter().map(|at| sample(losses, rule, seed, at)).collect();
    let doubt = |model: usize| {
        let mut doubt = Doubt {
            frequencies: vec![0.0; points],
            intervals: Vec::with_capacity(points),
            biases: Vec::with_capacity(points),
        };
        found.iter().for_each(|sample| doubt.frequencies[sample[model].1] += 1.0);
        doubt.frequencies.iter_mut().for_each(|f| *f /= samples as f64);
        for (point, criterion) in criteria[model].iter().enumerate() {
            let mut values: Vec<f64> = found.iter().map(|sample| sample[model].0[point]).collect();
            values.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| values[(share * (samples - 1) as f64).round() as usize];
            doubt.intervals.push([at(TAIL), at(1.0 - TAIL)]);
            let mean = values.iter().sum::<f64>() / samples as f64;
            doubt.biases.push(mean - criterion);
        }
        doubt
    };
    (samples, std::array::from_fn(doubt))
}

/// One sample: for each model the criteria and the choice.
fn sample(losses: &Losses, rule: SelectionRule, seed: u64, at: u64) -> [(Vec<f64>, usize); MODELS] {
    // Every sample has its own stream, whatever thread draws it.
    let stream = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ stream);
    let rows = losses.weights.len();
    let mut counts = vec![0.0; rows];
    for ends in losses.starts.windows(2) {
        for _ in ends[0]..ends[1] {
            counts[rng.random_range(ends[0]..ends[1])] += 1.0;
        }
    }
    let weights: Vec<f64> = counts.iter().zip(&losses.weights).map(|(c, w)| c * w).collect();
    let totals: Vec<f64> =
        losses.starts.windows(2).map(|ends| weights[ends[0]..ends[1]].iter().sum()).collect();
    std::array::from_fn(|model| {
        let worst_of = |point: usize| {
            let losses_of = &losses.of[model][point];
            let mut worst = (f64::NEG_INFINITY, 0);
            for (group, ends) in losses.starts.windows(2).enumerate() {
                let rows = ends[0]..ends[1];
                let pairs = weights[rows.clone()].iter().zip(&losses_of[rows]);
                let risk = pairs.map(|(w, loss)| w * loss).sum::<f64>() / totals[group];
                // Not a number without rows.
                if risk > worst.0 {
                    worst = (risk, group);
                }
            }
            worst
        };
        let worst: Vec<(f64, usize)> = (0..losses.of[model].len()).map(worst_of).collect();
        let criteria: Vec<f64> = worst.iter().map(|(risk, _)| *risk).collect();
        let error = |point: usize| {
            let group = worst[point].1;
            let rows = losses.starts[group]..losses.starts[group + 1];
            let of_rows = &losses.of[model][point][rows.clone()];
            mean(of_rows, &losses.weights[rows.clone()], &counts[rows.clone()])
                .and_then(|m| m.error)
        };
        let (_, chosen) = choose(rule, &criteria, error);
        (criteria, chosen)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of groups with these losses, the same for all models.
    fn losses(groups: &[usize], of: Vec<Vec<f64>>) -> Losses {
        let mut starts = vec![0];
        groups.iter().for_each(|rows| starts.push(starts[starts.len() - 1] + rows));
        let rows = starts[groups.len()];
        Losses {
            rows: groups.to_vec(),
            starts,
            folds: vec![0; rows],
            weights: vec![1.0; rows],
            of: [of.clone(), of.clone(), of],
        }
    }

    /// With one group and many rows all is as the normal distribution says.
    #[test]
    fn one_group_is_as_the_normal_distribution_says() {
        let n = 400;
        let first: Vec<f64> = (0..n).map(|i| (i * 37 % 101) as f64 / 50.0).collect();
        let noise = |i: usize| (i * 61 % 97) as f64 / 48.0 - 1.0;
        let second: Vec<f64> = (0..n).map(|i| first[i] + noise(i) + 0.02).collect();
        let whole = losses(&[n], vec![first.clone(), second.clone()]);
        let means = [&first, &second].map(|of| mean(of, &whole.weights, &[]).unwrap());
        let criteria = means.map(|m| m.value);
        let (samples, doubts) = bootstrap(&whole, SelectionRule::Best, [&criteria; MODELS], 7);
        assert_eq!(samples, SAMPLES);
        let differences: Vec<f64> = first.iter().zip(&second).map(|(a, b)| b - a).collect();
        let difference = mean(&differences, &whole.weights, &[]).unwrap();
        let z = difference.value / difference.error.unwrap();
        // Φ(z) to three digits in the middle of its range.
        assert!((0.2..1.0).contains(&z), "{z}");
        let expected = 0.5 + z * (0.3989 - 0.0665 * z * z + 0.00997 * z.powi(4));
        for doubt in &doubts {
            // Five standard deviations of a share of a thousand: one false alarm in a million.
            assert!((doubt.frequencies[0] - expected).abs() < 0.08, "{doubt:?} {expected}");
            for point in 0..2 {
                let half = 1.96 * means[point].error.unwrap();
                let [low, high] = doubt.intervals[point];
                assert!((low - (criteria[point] - half)).abs() < 0.25 * half, "{doubt:?}");
                assert!((high - (criteria[point] + half)).abs() < 0.25 * half, "{doubt:?}");
                assert!(doubt.biases[point].abs() < 0.25 * half, "{doubt:?}");
            }
        }
        // All models see the same draws.
        assert_eq!(doubts[0].frequencies, doubts[2].frequencies);
        let (_, again) = bootstrap(&whole, SelectionRule::Best, [&criteria; MODELS], 7);
        assert_eq!(again[0].intervals, doubts[0].intervals);
        let (_, other) = bootstrap(&whole, SelectionRule::Best, [&criteria; MODELS], 8);
        assert_ne!(other[0].intervals, doubts[0].intervals);
    }

    /// The largest of 9 means that are alike is too large by about 1.485 standard errors, the mean
    /// of the largest of 9 normal numbers.
    #[test]
    fn the_largest_of_like_groups_is_too_large() {
        let (groups, n) = (9, 300);
        let of: Vec<f64> = (0..groups * n).map(|i| (i % n * 37 % 101) as f64 / 50.0).collect();
        let whole = losses(&[n; 9], vec![of.clone()]);
        let group = mean(&of[..n], &whole.weights[..n], &[]).unwrap();
        let (_, doubts) = bootstrap(&whole, SelectionRule::OneSe, [&[group.value]; MODELS], 1);
        let bias = doubts[0].biases[0] / group.error.unwrap();
        assert!((bias - 1.485).abs() < 0.12, "{bias}");
        assert_eq!(doubts[0].frequencies, [1.0]);
    }
}
