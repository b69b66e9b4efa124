//! The held-out rows of a group, and what is made of them.

use super::auc::{weighted_auc, wins};
use super::draws::{Draws, Unit, mean_estimate};
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
    /// The cluster of each row, if the independent draws are clusters of rows. In intervals one
    /// counts as much as [`Settings::cluster_cap`] at most.
    pub clusters: Option<&'a [u32]>,
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
        check_weights(self.weights, self.clusters, n, group, settings)
    }
}

/// A group with its draws.
pub(super) struct Ordered<'a> {
    pub rows: &'a Rows<'a>,
    pub draws: Draws<'a>,
}

impl Ordered<'_> {
    /// The area under the ROC curve of rows with weights: the estimate from all pairs, the interval by
    /// betting on the pairs of the k-th positive and the k-th negative row, which are independent of
    /// each other.
    pub fn weighted_auc(&self, binary: &Binary<'_>, alpha: f64) -> Result<Estimate> {
        // In units of the heaviest, so that products stay in range.
        let heaviest = self.draws.heaviest;
        let weight = |r: usize| self.rows.weights.map_or(1.0, |w| w[r].min(heaviest)) / heaviest;
        let of = |class: bool| self.draws.rows().filter(move |r| binary.positive[*r] == class);
        let pairs: Vec<Unit> = of(true)
            .zip(of(false))
            .map(|(up, down)| Unit {
                value: wins(binary.scores[up], binary.scores[down]),
                weight: weight(up) * weight(down),
            })
            .collect();
        let weights: Vec<f64> = (0..binary.scores.len()).map(weight).collect();
        let value = weighted_auc(binary.scores, binary.positive, &weights)?;
        let unit = Interval::new(0.0, 1.0);
        let interval = mean_estimate(&pairs, 1.0, unit, alpha)?.interval;
        Ok(Estimate::new(pairs.len(), value, interval, unit))
    }

    /// The share of hits among the rows that are kept.
    pub fn share(
        &self,
        keep: impl Fn(usize) -> bool,
        hit: impl Fn(usize) -> bool,
        alpha: f64,
    ) -> Result<Estimate> {
        let range = Interval::new(0.0, 1.0);
        if !self.draws.are_alike() {
            let value = |r| if hit(r) { 1.0 } else { 0.0 };
            return self.draws.mean(keep, &value, range, alpha);
        }
        let (mut hits, mut trials) = (0u64, 0u64);
        for r in self.draws.rows().filter(|r| keep(*r)) {
            trials += 1;
            hits += u64::from(hit(r));
        }
        let value = (trials > 0).then(|| hits as f64 / trials as f64);
        let interval = clopper_pearson(hits, trials, alpha)?;
        Ok(Estimate::new(trials as usize, value, interval, range))
    }
}

/// Losses are finite and not negative.
pub(super) fn check_losses(losses: &[f64], group: usize) -> Result<()> {
    if let Some(value) = losses.iter().copied().find(|loss| !loss.is_finite()) {
        return Err(Error::NonFiniteLoss { group, round: 0, value });
    }
    check_each("loss", losses, group, |loss| loss >= 0.0, "a number at least 0")
}

/// Weights are finite and not negative, and those of what is drawn have a bound that was fixed before.
pub(super) fn check_weights(
    weights: Option<&[f64]>,
    clusters: Option<&[u32]>,
    rows: usize,
    group: usize,
    settings: &Settings,
) -> Result<()> {
    if let Some(clusters) = clusters {
        check_length("the clusters", clusters.len(), rows)?;
        if settings.cluster_cap.is_none() {
            let expected = "a bound on the weights of the clusters";
            return Err(Error::parameter("cluster_cap", "none", expected));
        }
    }
    let Some(weights) = weights else { return Ok(()) };
    check_length("the weights", weights.len(), rows)?;
    if clusters.is_none() && settings.weight_cap.is_none() {
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
