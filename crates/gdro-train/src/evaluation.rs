//! How a model does on the groups.

use gdro::Dataset;
use gdro::interval::GroupEstimates;
use gdro::loss::AnyLoss;
use gdro::risk::{GroupMetric, group_metrics};
use gdro_data::Prepared;

use crate::classes::Classes;
use crate::prepared::Setting;
use crate::scores::OneClass;

/// How a model does on the groups of both parts.
#[derive(Debug)]
pub struct Evaluation {
    /// On the training rows.
    pub train: Vec<GroupMetric>,
    /// On the rows held out, as they are: losses and weights are not capped.
    pub test: Option<Vec<GroupMetric>>,
    /// On all training rows, each of which counts once whatever groups it is in.
    pub train_rows: GroupMetric,
    /// Intervals on the rows held out.
    pub intervals: Option<gdro::interval::Evaluation>,
    /// On all rows held out, with losses and weights capped as in the intervals.
    pub capped_rows: Option<GroupMetric>,
    /// Of two classes on the rows held out: counts, rates and curves, group by group; empty for other
    /// targets and without such rows.
    pub classes: Vec<Classes>,
    /// The model: c numbers per feature, then its intercepts.
    pub w: Vec<f64>,
    /// Whether the model predicts one class for every row of both parts.
    pub one_class: bool,
}

impl Evaluation {
    /// Of a model on both parts of a prepared table, without intervals.
    ///
    /// # Errors
    /// Those of the loss.
    pub fn of(setting: &Setting, prepared: &Prepared, w: &[f64]) -> gdro::Result<Self> {
        let on = |data: &Dataset| group_metrics(&setting.loss, w, data);
        let mut one_class = OneClass::new(&setting.loss);
        for data in std::iter::once(&setting.data).chain(&prepared.test) {
            one_class.look(&setting.loss, data, w);
        }
        Ok(Evaluation {
            train: on(&setting.data)?,
            test: prepared.test.as_ref().map(on).transpose()?,
            train_rows: mean_over_rows(&setting.loss, w, &setting.data)?,
            intervals: None,
            capped_rows: None,
            classes: Vec::new(),
            w: w.to_vec(),
            one_class: one_class.holds(),
        })
    }

    /// On the groups that have rows held out, with losses and weights capped as in the intervals: the
    /// points that these belong to. None when no rows are held out.
    pub fn capped(&self) -> Vec<GroupMetric> {
        let point = |group: &GroupEstimates| {
            let accuracy = group.accuracy.and_then(|estimate| estimate.value);
            Some(GroupMetric { risk: group.clipped_risk.value?, accuracy })
        };
        self.intervals.iter().flat_map(|found| &found.groups).filter_map(point).collect()
    }
}

/// A model on all rows of a data set, each of which counts once whatever groups it is in.
///
/// # Errors
/// Those of the loss.
pub fn mean_over_rows(loss: &AnyLoss, w: &[f64], data: &Dataset) -> gdro::Result<GroupMetric> {
    let all = group_metrics(loss, w, &data.pooled()?)?;
    Ok(all[0])
}
