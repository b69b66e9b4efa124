//! Risks of a model on every group of a data set.

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::iterate::scores;
use crate::loss::Loss;

/// How a model does on one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupMetric {
    /// R̂_i, the mean loss over the group's rows, weighted by their weights.
    pub risk: f64,
    /// The share of right predictions, weighted alike; `None` for losses without accuracy.
    pub accuracy: Option<f64>,
}

/// Evaluates the model `w` (the array form of [`crate::iterate`]) on every group. Rows are added in
/// the order of the group's list, so the same data give the same bits.
///
/// # Errors
/// [`Error::NonFiniteLoss`] with round 0, and errors of a user's loss.
pub fn group_metrics(loss: &impl Loss, w: &[f64], data: &Dataset) -> Result<Vec<GroupMetric>> {
    let mut s = vec![0.0; loss.outputs()];
    let mut metric = |group: usize| {
        let (mut risk, mut right, mut graded) = (0.0, 0.0, false);
        for row in data.members(group) {
            let row = *row as usize;
            let sample = data.sample(row);
            scores(w, data.features(), sample.x, &mut s);
            let value = loss.value(&s, sample.y)?;
            if !value.is_finite() {
                return Err(Error::NonFiniteLoss { group, round: 0, value });
            }
            let weight = data.weight(row);
            risk += weight * value;
            if let Some(correct) = loss.correct(&s, sample.y) {
                graded = true;
                right += if correct { weight } else { 0.0 };
            }
        }
        let total = data.total_weight(group);
        let accuracy = graded.then_some(right / total);
        Ok(GroupMetric { risk: risk / total, accuracy })
    };
    (0..data.groups()).map(&mut metric).collect()
}

/// The risks R̂_i alone.
///
/// # Errors
/// As [`group_metrics`].
pub fn group_risks(loss: &impl Loss, w: &[f64], data: &Dataset) -> Result<Vec<f64>> {
    Ok(group_metrics(loss, w, data)?.into_iter().map(|m| m.risk).collect())
}
