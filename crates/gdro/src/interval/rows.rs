//! The held-out rows of a group, and what is made of them.

use super::betting::interval as betting_interval;
use super::{Estimate, Interval, check_length, clopper_pearson};
use crate::error::{Error, Result, require};

/// Weights of rows.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// One weight per row, in [0, `max`].
    pub values: &'a [f64],
    /// The largest weight possible, known without looking at these rows, see
    /// [`weighted_mean_interval`](super::weighted_mean_interval).
    pub max: f64,
}

/// What only binary targets have.
#[derive(Clone, Copy, Debug)]
pub struct Binary<'a> {
    /// One score per row, higher for the positive class.
    pub scores: &'a [f64],
    /// Whether the row belongs to the positive class.
    pub positive: &'a [bool],
}

/// The held-out rows of one group, possibly none. All slices have the same length.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rows<'a> {
    /// Losses ℓ ≥ 0.
    pub losses: &'a [f64],
    /// Whether the prediction was right: for all groups, or for none.
    pub correct: Option<&'a [bool]>,
    /// Scores and classes of binary targets (with `correct`): for all groups, or for none.
    pub binary: Option<Binary<'a>>,
    /// Weights, if rows have different ones.
    pub weights: Option<Weights<'a>>,
}

impl Rows<'_> {
    /// Numbers of positive and negative rows; (0, 0) for other targets.
    pub(super) fn classes(&self) -> (usize, usize) {
        self.binary.map_or((0, 0), |binary| {
            let positives = binary.positive.iter().filter(|p| **p).count();
            (positives, binary.positive.len() - positives)
        })
    }

    pub(super) fn smaller_class(&self) -> usize {
        let (positives, negatives) = self.classes();
        positives.min(negatives)
    }

    pub(super) fn check(&self, group: usize) -> Result<()> {
        let n = self.losses.len();
        check_losses(self.losses, group)?;
        if let Some(correct) = self.correct {
            check_length("the flags of right predictions", correct.len(), n)?;
        }
        if let Some(binary) = self.binary {
            check_length("the scores", binary.scores.len(), n)?;
            check_length("the classes", binary.positive.len(), n)?;
            let finite = |score: f64| score.is_finite();
            check_each("score", binary.scores, group, finite, "a finite number")?;
        }
        check_weights(self.weights, n, group)
    }
}

/// Rows of a group in the order in which betting takes them.
pub(super) struct Ordered<'a> {
    pub rows: &'a Rows<'a>,
    pub order: &'a [usize],
}

impl Ordered<'_> {
    /// The mean of a value in [0, high] over the rows that are kept.
    pub fn mean(
        &self,
        keep: impl Fn(usize) -> bool,
        value: &dyn Fn(usize) -> f64,
        high: f64,
        alpha: f64,
    ) -> Result<Estimate> {
        let kept: Vec<usize> = self.order.iter().copied().filter(|r| keep(*r)).collect();
        mean_estimate(&kept, value, self.rows.weights, Interval::new(0.0, high), alpha)
    }

    /// The share of hits among the rows that are kept.
    pub fn share(
        &self,
        keep: impl Fn(usize) -> bool,
        hit: impl Fn(usize) -> bool,
        alpha: f64,
    ) -> Result<Estimate> {
        if self.rows.weights.is_some() {
            return self.mean(keep, &|r| if hit(r) { 1.0 } else { 0.0 }, 1.0, alpha);
        }
        let (mut hits, mut trials) = (0u64, 0u64);
        for r in self.order.iter().copied().filter(|r| keep(*r)) {
            trials += 1;
            hits += u64::from(hit(r));
        }
        let value = (trials > 0).then(|| hits as f64 / trials as f64);
        let interval = clopper_pearson(hits, trials, alpha)?;
        Ok(Estimate::new(trials as usize, value, interval, Interval::new(0.0, 1.0)))
    }
}

/// Losses are finite and not negative.
pub(super) fn check_losses(losses: &[f64], group: usize) -> Result<()> {
    if let Some(value) = losses.iter().copied().find(|loss| !loss.is_finite()) {
        return Err(Error::NonFiniteLoss { group, round: 0, value });
    }
    check_each("loss", losses, group, |loss| loss >= 0.0, "a number at least 0")
}

pub(super) fn check_weights(weights: Option<Weights>, rows: usize, group: usize) -> Result<()> {
    let Some(Weights { values, max }) = weights else { return Ok(()) };
    check_length("the weights", values.len(), rows)?;
    require(max > 0.0 && max.is_finite(), "max weight", max, "a positive number")?;
    let inside = |weight: f64| (0.0..=max).contains(&weight);
    check_each("weight", values, group, inside, "a number in [0, max]")
}

fn check_each(
    name: &'static str,
    values: &[f64],
    group: usize,
    holds: impl Fn(f64) -> bool,
    expected: &'static str,
) -> Result<()> {
    match values.iter().position(|value| !holds(*value)) {
        Some(row) => {
            let found = format!("{} (row {row} of group {group})", values[row]);
            Err(Error::parameter(name, found, expected))
        }
        None => Ok(()),
    }
}

/// The (weighted) mean over rows; `None` without rows or weight.
pub(super) fn point(
    rows: impl Iterator<Item = usize>,
    value: &dyn Fn(usize) -> f64,
    weights: Option<Weights>,
) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0.0);
    for row in rows {
        let weight = weights.map_or(1.0, |weights| weights.values[row]);
        sum += weight * value(row);
        total += weight;
    }
    (total > 0.0).then(|| sum / total)
}

/// A mean with its betting interval, over the rows in the order given.
pub(super) fn mean_estimate(
    order: &[usize],
    value: &dyn Fn(usize) -> f64,
    weights: Option<Weights>,
    range: Interval,
    alpha: f64,
) -> Result<Estimate> {
    let values: Vec<f64> = order.iter().map(|row| value(*row)).collect();
    let picked: Option<Vec<f64>> =
        weights.map(|weights| order.iter().map(|row| weights.values[*row]).collect());
    let weighting = picked.as_deref().zip(weights.map(|weights| weights.max));
    let interval = betting_interval(&values, weighting, range.low, range.high, alpha)?;
    let mean = point(order.iter().copied(), value, weights);
    Ok(Estimate::new(order.len(), mean, interval, range))
}
