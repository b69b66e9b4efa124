//! How a model does on the groups.

use gdro::Dataset;
use gdro::loss::AnyLoss;
use gdro::risk::{GroupMetric, group_metrics};
use gdro_data::Prepared;

use crate::prepared::Setting;
use crate::scores::OneClass;

/// How a model does on the groups of both parts.
#[derive(Debug)]
pub struct Evaluation {
    /// On the training rows.
    pub train: Vec<GroupMetric>,
    /// On the rows held out.
    pub test: Option<Vec<GroupMetric>>,
    /// On all training rows, each of which counts once whatever groups it is in.
    pub train_rows: GroupMetric,
    /// Likewise on all rows held out.
    pub test_rows: Option<GroupMetric>,
    /// Intervals on the rows held out.
    pub intervals: Option<gdro::interval::Evaluation>,
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
        let at_once = |data: &Dataset| mean_over_rows(&setting.loss, w, data);
        let mut one_class = OneClass::new(&setting.loss);
        for data in std::iter::once(&setting.data).chain(&prepared.test) {
            one_class.look(&setting.loss, data, w);
        }
        Ok(Evaluation {
            train: on(&setting.data)?,
            test: prepared.test.as_ref().map(on).transpose()?,
            train_rows: at_once(&setting.data)?,
            test_rows: prepared.test.as_ref().map(at_once).transpose()?,
            intervals: None,
            one_class: one_class.holds(),
        })
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
