//! The floor of the cap on losses: what rows lose under a model that knows their group and nothing else.

use std::collections::BTreeMap;

use gdro::Dataset;
use gdro::interval::upper_quantile;
use gdro::loss::{AnyLoss, Loss as _, Targets};
use gdro::sampling::{Rng, below};
use rand::SeedableRng as _;
use serde::{Deserialize, Serialize};

/// Bisections of the score of a constant model: to 1e-12 of the range of the targets.
const BISECTIONS: usize = 40;

/// Scores of constant models for two labels lie within ±this.
const FARTHEST: f64 = 50.0;

/// The targets of training rows, group by group.
pub struct Constants {
    loss: AnyLoss,
    groups: Vec<Held>,
    most: usize,
}

/// The targets of a group.
#[derive(Clone, Serialize, Deserialize)]
pub struct Held {
    /// The weight of each class.
    classes: BTreeMap<u64, f64>,
    /// Numbers with their weights: all, or as many as are kept, drawn at random.
    numbers: Vec<(f64, f64)>,
    seen: u64,
    rng: Rng,
}

impl Constants {
    /// No rows yet. Of numbers at most `most` per group are kept, a random sample by `seed` that
    /// depends on the order of the rows of the group alone; classes are all counted.
    pub fn new(loss: AnyLoss, groups: usize, most: usize, seed: u64) -> Self {
        let held = |group: usize| Held {
            classes: BTreeMap::new(),
            numbers: Vec::new(),
            seen: 0,
            rng: Rng::seed_from_u64(seed.wrapping_add((group as u64) << 32)),
        };
        Constants { loss, groups: (0..groups).map(held).collect(), most }
    }

    /// Those of all rows of a data set.
    pub fn of(loss: AnyLoss, data: &Dataset) -> Self {
        let mut constants = Constants::new(loss, data.groups(), usize::MAX, 0);
        let all: Vec<usize> = (0..data.groups()).collect();
        constants.add(data, &all);
        constants
    }

    /// The targets so far, group by group.
    pub fn held(&self) -> &[Held] {
        &self.groups
    }

    /// Takes over the targets of another one of the same groups: whether it had as many.
    pub fn take_over(&mut self, held: Vec<Held>) -> bool {
        let fits = held.len() == self.groups.len();
        self.groups = held;
        fits
    }

    /// Adds rows: those of the i-th group of the data belong to the group `groups[i]`.
    pub fn add(&mut self, data: &Dataset, groups: &[usize]) {
        let numbers = self.loss.targets() == Targets::Numbers;
        for (local, group) in groups.iter().enumerate() {
            let held = &mut self.groups[*group];
            for row in data.members(local) {
                let (y, weight) = (data.targets()[*row as usize], data.weight(*row as usize));
                held.seen += 1;
                if !numbers {
                    *held.classes.entry(y.to_bits()).or_default() += weight;
                } else if held.numbers.len() < self.most {
                    held.numbers.push((y, weight));
                } else {
                    // Vitter's algorithm R (1985, doi:10.1145/3147.3165).
                    let at = below(&mut held.rng, held.seen as usize);
                    if at < self.most {
                        held.numbers[at] = (y, weight);
                    }
                }
            }
        }
    }

    /// The largest, over the groups, of what the rows of a group lose under its best constant model:
    /// for classes the largest loss of any class that it has (−ln of its share, for a loss of
    /// probabilities), for numbers the 0.999 quantile of the losses. 0 without rows.
    ///
    /// # Errors
    /// Those of the loss, and losses that are not finite.
    pub fn range(&self) -> gdro::Result<f64> {
        let mut largest: f64 = 0.0;
        for held in &self.groups {
            largest = largest.max(self.of_group(held)?);
        }
        Ok(largest)
    }

    fn of_group(&self, held: &Held) -> gdro::Result<f64> {
        if self.loss.is_probabilistic() {
            let total: f64 = held.classes.values().sum();
            let smallest = held.classes.values().copied().fold(f64::INFINITY, f64::min);
            // The quotient of weights that are far apart may overflow.
            return Ok(if held.classes.is_empty() { 0.0 } else { total.ln() - smallest.ln() });
        }
        let classes = held.classes.iter().map(|(y, weight)| (f64::from_bits(*y), *weight));
        let rows: Vec<(f64, f64)> = classes.chain(held.numbers.iter().copied()).collect();
        if rows.is_empty() {
            return Ok(0.0);
        }
        let score = self.best(&rows)?;
        let losses: Vec<f64> =
            rows.iter().map(|(y, _)| self.loss.value(&[score], *y)).collect::<gdro::Result<_>>()?;
        match self.loss.targets() {
            Targets::Numbers => upper_quantile(&losses),
            _ => Ok(losses.into_iter().fold(0.0, f64::max)),
        }
    }

    /// The score of the best constant model: the mean, the median, a quantile, Huber's location, the
    /// larger class.
    fn best(&self, rows: &[(f64, f64)]) -> gdro::Result<f64> {
        if matches!(self.loss, AnyLoss::Squared(_)) {
            let total: f64 = rows.iter().map(|(_, weight)| weight).sum();
            return Ok(rows.iter().map(|(y, weight)| y * (weight / total)).sum());
        }
        let targets = rows.iter().map(|(y, _)| *y);
        let (mut low, mut high) = match self.loss.targets() {
            Targets::Numbers => (
                targets.clone().fold(f64::INFINITY, f64::min),
                targets.fold(f64::NEG_INFINITY, f64::max),
            ),
            _ => (-FARTHEST, FARTHEST),
        };
        for _ in 0..BISECTIONS {
            let middle = low + 0.5 * (high - low);
            let mut slope = 0.0;
            for (y, weight) in rows {
                slope += weight * self.loss.slope_at(middle, *y)?.1;
            }
            if slope < 0.0 { low = middle } else { high = middle }
        }
        Ok(low + 0.5 * (high - low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gdro::Matrix;
    use std::sync::Arc;

    /// The range for groups of targets with weights.
    fn range(loss: &str, groups: &[&[(f64, f64)]]) -> f64 {
        let loss: AnyLoss = loss.parse().unwrap();
        let rows = groups.concat();
        let (targets, weights) = rows.iter().copied().unzip();
        let mut from = 0;
        let members: Vec<Vec<u32>> = groups
            .iter()
            .map(|g| {
                from += g.len() as u32;
                (from - g.len() as u32..from).collect()
            })
            .collect();
        let nothing = Matrix::sparse(1, vec![0; rows.len() + 1], Vec::new(), Vec::new()).unwrap();
        let data = Dataset::new(Arc::new(nothing), targets, Some(weights), &members).unwrap();
        Constants::of(loss, &data).range().unwrap()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
    }

    #[test]
    fn classes_lose_minus_ln_of_their_share() {
        let coin = [(1.0, 1.0), (-1.0, 1.0)];
        let rare = [(1.0, 1.0), (-1.0, 3.0), (-1.0, 16.0)];
        close(range("logistic", &[&coin]), 2f64.ln());
        close(range("logistic", &[&coin, &rare]), 20f64.ln());
        close(range("logistic", &[&rare[1..]]), 0.0);
        close(range("softmax", &[&[(0.0, 1.0), (1.0, 2.0), (1.0, 2.0)]]), 5f64.ln());
        // The larger class is right by the margin, the other one loses 2; at a tie 1 each is as good.
        close(range("hinge", &[&rare]), 2.0);
        // Nobody loses where there is one class.
        assert!(range("smoothed-hinge", &[&rare[1..]]) < 1e-9);
    }

    #[test]
    fn numbers_lose_what_is_far_from_their_location() {
        let rows: Vec<(f64, f64)> = [0.0, 1.0, 2.0, 10.0].map(|y| (y, 1.0)).to_vec();
        // Mean 3.25, any median in [1, 2] (the middle one is found as the lower end), quantile 3/4.
        close(range("squared", &[&rows]), 6.75 * 6.75);
        let absolute = range("absolute", &[&rows]);
        assert!((8.0 - 1e-9..=9.0 + 1e-9).contains(&absolute), "{absolute}");
        // 0 and 10 pull with ∓δ, 1 and 2 by their distance: 3/2.
        close(range("huber:1", &[&rows]), 8.5 - 0.5);
        // Weights move the mean.
        close(range("squared", &[&[(0.0, 3.0), (4.0, 1.0)]]), 9.0);
        // One row in a thousand does not count.
        let many: Vec<(f64, f64)> =
            (0..2000).map(|i| (if i == 5 { 1e3 } else { f64::from(i % 2) }, 1.0)).collect();
        assert!(range("absolute", &[&many]) <= 1.0);
        close(range("quantile:0.9", &[&many]), 0.1);
    }

    #[test]
    fn a_sample_of_the_numbers_stands_for_all() {
        let loss: AnyLoss = "absolute".parse().unwrap();
        let rows = 5000;
        let targets: Vec<f64> = (0..rows).map(|i| f64::from(i) / f64::from(rows)).collect();
        let nothing =
            Matrix::sparse(1, vec![0; rows as usize + 1], Vec::new(), Vec::new()).unwrap();
        let members: Vec<u32> = (0..rows as u32).collect();
        let data = Dataset::new(Arc::new(nothing), targets, None, &[members]).unwrap();
        let mut some = Constants::new(loss, 3, 500, 1);
        some.add(&data, &[2]);
        assert_eq!((some.groups[2].numbers.len(), some.groups[0].numbers.len()), (500, 0));
        // Of numbers in order: half of the range, up to the error of a median of 500.
        assert!((some.range().unwrap() - 0.5).abs() < 0.1, "{}", some.range().unwrap());
    }
}
