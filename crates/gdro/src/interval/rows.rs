//! The held-out rows of a group, and what is made of them.

use super::betting::interval as betting_interval;
use super::{Estimate, Interval, Settings, check_length, clopper_pearson};
use crate::error::{Error, Result};

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
    /// Weights, if rows have different ones: finite and not negative. In intervals a row counts as
    /// much as [`Settings::weight_cap`] at most.
    pub weights: Option<&'a [f64]>,
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

    pub(super) fn check(&self, group: usize, settings: &Settings) -> Result<()> {
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
        check_weights(self.weights, n, group, settings)
    }
}

/// What one independent draw says of a mean, and how much it counts: a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The value.
    pub value: f64,
    /// Its weight.
    pub weight: f64,
}

/// Rows of a group in the order in which betting takes them.
pub(super) struct Ordered<'a> {
    pub rows: &'a Rows<'a>,
    pub order: &'a [usize],
    /// The largest weight that a unit can have.
    pub heaviest: f64,
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
        let kept = self.order.iter().copied().filter(|r| keep(*r));
        let units = units(kept, value, self.rows.weights, self.heaviest);
        mean_estimate(&units, self.heaviest, Interval::new(0.0, high), alpha)
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

/// Weights are finite and not negative, and have a bound that was fixed before.
pub(super) fn check_weights(
    weights: Option<&[f64]>,
    rows: usize,
    group: usize,
    settings: &Settings,
) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    check_length("the weights", weights.len(), rows)?;
    if settings.weight_cap.is_none() {
        return Err(Error::parameter("weight_cap", "none", "a bound on the weights of the rows"));
    }
    let finite = |weight: f64| weight.is_finite() && weight >= 0.0;
    check_each("weight", weights, group, finite, "a finite number, at least 0")
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
    weights: Option<&[f64]>,
) -> Option<f64> {
    mean(&units(rows, value, weights, f64::INFINITY))
}

/// The rows as units; one that is heavier than `heaviest` counts as that.
pub(super) fn units(
    rows: impl Iterator<Item = usize>,
    value: &dyn Fn(usize) -> f64,
    weights: Option<&[f64]>,
    heaviest: f64,
) -> Vec<Unit> {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row].min(heaviest));
    rows.map(|row| Unit { value: value(row), weight: weight(row) }).collect()
}

/// The weighted mean of units; `None` without any or without weight.
fn mean(units: &[Unit]) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0.0);
    for unit in units {
        sum += unit.weight * unit.value;
        total += unit.weight;
    }
    (total > 0.0).then(|| sum / total)
}

/// The mean of units with its betting interval, which takes them in this order. Their values lie in
/// `range`, their weights in [0, `heaviest`].
pub(super) fn mean_estimate(
    units: &[Unit],
    heaviest: f64,
    range: Interval,
    alpha: f64,
) -> Result<Estimate> {
    let values: Vec<f64> = units.iter().map(|unit| unit.value).collect();
    let weights: Vec<f64> = units.iter().map(|unit| unit.weight).collect();
    let interval =
        betting_interval(&values, Some((&weights, heaviest)), range.low, range.high, alpha)?;
    Ok(Estimate::new(units.len(), mean(units), interval, range))
}
