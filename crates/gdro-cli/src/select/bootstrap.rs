//! How certain a choice is: what other validation rows of the same groups would have chosen.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use rayon::prelude::*;

use super::criterion::{choose, mean};
use super::folds::{Losses, MODELS};
use crate::job::Rule;

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

/// Draws the rows of each group anew, as many as there are, with replacement, and chooses again by
/// the same rule. The models stay as they are: what is shown is the doubt that comes from the
/// validation rows. All models see the same draws.
pub fn bootstrap(
    losses: &Losses,
    rule: Rule,
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
        for point in 0..points {
            let mut values: Vec<f64> = found.iter().map(|sample| sample[model].0[point]).collect();
            values.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| values[(share * (samples - 1) as f64).round() as usize];
            doubt.intervals.push([at(TAIL), at(1.0 - TAIL)]);
            let mean = values.iter().sum::<f64>() / samples as f64;
            doubt.biases.push(mean - criteria[model][point]);
        }
        doubt
    };
    (samples, std::array::from_fn(doubt))
}

/// One sample: for each model the criteria and the choice.
fn sample(losses: &Losses, rule: Rule, seed: u64, at: u64) -> [(Vec<f64>, usize); MODELS] {
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
