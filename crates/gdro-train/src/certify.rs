//! The certificate of a saved model again.

use std::path::PathBuf;

use gdro::certificate::Certificate;
use gdro_data::DataOptions;

use crate::failure::{Failure, Result};
use crate::model::Model;
use crate::prepared::{setting_of, split_of, task_of, train_names};

/// A certificate that was computed again.
#[derive(Debug)]
pub struct Certified {
    /// From the model and its table alone.
    pub now: Certificate,
    /// Whether the groups are compared after offsets.
    pub has_offsets: bool,
}

impl Certified {
    /// Whether the gap is larger than the one that the model states, beyond rounding.
    pub fn is_worse_than(&self, stored: &Certificate) -> bool {
        self.now.relative_gap > stored.relative_gap + 1e-9 && self.now.gap > 1.01 * stored.gap
    }
}

/// Computes the certificate of a model from nothing but the model and the table that it was trained
/// on.
///
/// # Errors
/// For a model of a stream, a table that gives another encoding or other groups, and a model outside
/// of its domain.
pub fn certify(model: &Model, tables: &[PathBuf], options: &DataOptions) -> Result<Certified> {
    let (job, training) = (&model.job, &model.job.training);
    if job.streaming.is_some() {
        return Err(Failure::input(
            "the model was trained on a stream, whose rows are not in memory: its certificate is what gdro show says; gdro fit --stream makes one anew",
        ));
    }
    let refuse = |e| job.refuse(&e);
    let table = gdro_data::read(&job.files(tables), options).map_err(refuse)?;
    let task = training.loss.map(task_of);
    let split = split_of(job);
    let constant = training.penalize_intercept;
    let prepared = gdro_data::prepare(&table, options, task, &split, constant).map_err(refuse)?;
    if !model.is_of(&prepared) {
        return Err(Failure::input(
            "the table is not the one that the model was trained on: its rows give another encoding or other groups",
        ));
    }
    let setting = setting_of(job, &prepared)?;
    let with_rows = prepared.groups.iter().zip(&model.group_weights);
    let weights: Vec<f64> = with_rows.filter(|(g, _)| g.train.is_some()).map(|(_, q)| *q).collect();
    let names = train_names(&prepared);
    let now = setting.certify(&model.w(), &weights).map_err(|e| match e {
        gdro::Error::Parameter { name: "model", .. } => Failure::input(
            "the model lies outside of its domain: its weights were changed after training",
        ),
        other => Failure::library(other, &names),
    })?;
    Ok(Certified { now, has_offsets: setting.has_offsets() })
}
