//! Whether a model is better than ERM beyond doubt: what other validation rows of the same groups
//! would have said.

use gdro::sampling::Rng;
use rand::{RngExt as _, SeedableRng as _};
use rayon::prelude::*;
use serde::Serialize;

use crate::job::Criterion;

/// Most samples.
const SAMPLES: usize = 1000;

/// Fewest samples, however large the table.
const FEWEST: usize = 200;

/// Units that all samples together may draw: some seconds.
const WORK: f64 = 4e8;

/// The share of the samples in which a model must be better than ERM to take its place. A heuristic
/// for choosing: the model is the best of many, which flatters it, so that more is asked than the
/// Φ(1) = 0.84 of a single one. Where there is something to gain, nearly all samples say so.
pub const ASKED: f64 = 0.95;

/// A model against ERM on samples of the validation rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Contest {
    /// The share of the samples in which the model is better.
    pub better: f64,
    /// The share that is asked for.
    pub asked: f64,
    /// Number of samples.
    pub samples: usize,
}

impl Contest {
    /// Whether the model takes the place of ERM.
    pub fn is_won(&self) -> bool {
        self.better >= self.asked
    }
}

/// Units group by group.
pub struct Units<'a> {
    /// Where the units of each group start, and the end.
    pub starts: &'a [usize],
    /// Weights of the units.
    pub weights: &'a [f64],
    /// Which groups decide.
    pub judges: &'a [bool],
}

/// Samples of so many units.
fn samples(units: usize) -> usize {
    ((WORK / units.max(1) as f64) as usize).clamp(FEWEST, SAMPLES)
}

/// Units that all samples of so many draw together.
pub fn draws(units: usize) -> usize {
    samples(units) * units
}

/// Draws the units (rows or clusters) of each group that decides anew, as many as there are, with
/// replacement, the same ones for both models, and compares what the criterion is then. A row in
/// several groups is drawn for each of them by itself. Both models stay as they are: what is asked is
/// whether the validation rows suffice to tell them apart.
pub fn contest(
    units: &Units<'_>,
    [erm, model]: [&[f64]; 2],
    criterion: Criterion,
    seed: u64,
) -> Contest {
    let ranges = || units.starts.windows(2).zip(units.judges).filter(|(_, judges)| **judges);
    let drawn: usize = ranges().map(|(ends, _)| ends[1] - ends[0]).sum();
    let samples = samples(drawn);
    let is_better = |sample: u64| {
        // Every sample has its own stream, whatever thread draws it.
        let stream = (sample + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = Rng::seed_from_u64(seed ^ stream);
        let (mut means, mut others) = (Vec::new(), Vec::new());
        for (ends, _) in ranges() {
            let (mut total, mut sums) = (0.0, [0.0; 2]);
            for _ in ends[0]..ends[1] {
                let unit = rng.random_range(ends[0]..ends[1]);
                total += units.weights[unit];
                sums[0] += units.weights[unit] * erm[unit];
                sums[1] += units.weights[unit] * model[unit];
            }
            if total > 0.0 {
                means.push(sums[0] / total);
                others.push(sums[1] / total);
            }
        }
        !means.is_empty() && criterion.of(&others) < criterion.of(&means)
    };
    let better = (0..samples as u64).into_par_iter().filter(|sample| is_better(*sample)).count();
    Contest { better: better as f64 / samples as f64, asked: ASKED, samples }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With one group and many rows all is as the normal distribution says.
    #[test]
    fn one_group_is_as_the_normal_distribution_says() {
        let n = 400;
        let erm: Vec<f64> = (0..n).map(|i| (i * 37 % 101) as f64 / 50.0).collect();
        let noise = |i: usize| (i * 61 % 97) as f64 / 48.0 - 1.0;
        let model: Vec<f64> = (0..n).map(|i| erm[i] + noise(i) - 0.02).collect();
        let weights = vec![1.0; n];
        let units = Units { starts: &[0, n], weights: &weights, judges: &[true] };
        let found = contest(&units, [&erm, &model], Criterion::Risk, 7);
        assert_eq!(found.samples, SAMPLES);
        let differences: Vec<f64> = erm.iter().zip(&model).map(|(a, b)| a - b).collect();
        let mean = super::super::means::mean(&differences, &weights).unwrap();
        let z = mean.value / mean.error.unwrap();
        // Φ(z) to three digits in the middle of its range.
        assert!((0.2..1.0).contains(&z), "{z}");
        let expected = 0.5 + z * (0.3989 - 0.0665 * z * z + 0.00997 * z.powi(4));
        // Five standard deviations of a share of a thousand: one false alarm in a million.
        assert!((found.better - expected).abs() < 0.08, "{found:?} {expected}");
        assert_eq!(contest(&units, [&erm, &model], Criterion::Risk, 7), found);
        let other = contest(&units, [&erm, &model], Criterion::Risk, 8);
        assert_ne!(other.better, found.better);
    }

    /// Both models see the same draws, and groups that do not decide are not looked at.
    #[test]
    fn a_model_that_is_better_on_every_row_always_wins() {
        let erm: Vec<f64> = (0..60).map(|i| (i * 37 % 41) as f64).collect();
        let model: Vec<f64> = erm.iter().map(|loss| loss - 1e-9).collect();
        let weights: Vec<f64> = (0..60).map(|i| 1.0 + (i % 3) as f64).collect();
        let mut units = Units { starts: &[0, 30, 60], weights: &weights, judges: &[true, true] };
        for criterion in [Criterion::Risk, Criterion::TopK(1.5)] {
            let share = |models| contest(&units, models, criterion, 1).better;
            assert_eq!(share([&erm, &model]), 1.0);
            assert_eq!(share([&model, &erm]), 0.0);
            assert_eq!(share([&erm, &erm]), 0.0);
        }
        let half: Vec<f64> =
            (0..60).map(|i| if i < 30 { model[i] } else { erm[i] + 99.0 }).collect();
        assert_eq!(contest(&units, [&erm, &half], Criterion::Risk, 1).better, 0.0);
        units.judges = &[true, false];
        assert_eq!(contest(&units, [&erm, &half], Criterion::Risk, 1).better, 1.0);
    }
}
