//! The saved model: all that predicting and explaining needs.

use gdro::loss::{AnyLoss, Loss};
use gdro_data::{Encoding, Grouping, Prepared, Target};
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::job::Job;

/// Version of the format of `model.json`.
const FORMAT: u32 = 1;

/// A linear model with its encoding, groups and the job that made it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Model {
    /// Version of this format.
    format: u32,
    /// Version of gdro that wrote it.
    gdro: String,
    /// Name of the loss.
    loss: String,
    /// Number of scores c.
    outputs: usize,
    /// Names of the features, in the order of the weights.
    features: Vec<String>,
    /// Weights, c numbers per feature.
    weights: Vec<f64>,
    /// Intercepts: c numbers, or none when the last feature is the constant 1.
    intercepts: Vec<f64>,
    /// How features are made from a table.
    encoding: Encoding,
    /// What is predicted.
    target: Target,
    /// How groups are made from a table.
    grouping: Grouping,
    /// Averaged weights of the groups, in the order of their names.
    group_weights: Vec<f64>,
    /// Rounds that were played.
    rounds: u64,
    /// Seed.
    seed: u64,
    /// The resolved job.
    job: Job,
}

impl Model {
    /// The model `w` of a training run.
    pub fn new(
        job: &Job,
        prepared: &Prepared,
        loss: &AnyLoss,
        w: &[f64],
        group_weights: &[f64],
        rounds: u64,
    ) -> Self {
        let (outputs, features) = (loss.outputs(), prepared.encoding.feature_names());
        let (weights, intercepts) = w.split_at(features.len() * outputs);
        let of_all = |g: &gdro_data::Group| g.train.map_or(0.0, |i| group_weights[i]);
        Model {
            format: FORMAT,
            gdro: env!("CARGO_PKG_VERSION").into(),
            loss: loss.name().into(),
            outputs,
            features,
            weights: weights.to_vec(),
            intercepts: intercepts.to_vec(),
            encoding: prepared.encoding.clone(),
            target: prepared.target.clone(),
            grouping: prepared.grouping.clone(),
            group_weights: prepared.groups.iter().map(of_all).collect(),
            rounds,
            seed: job.training.seed,
            job: job.clone(),
        }
    }

    /// The text of `model.json`.
    pub fn text(&self) -> Result<String> {
        serde_json::to_string_pretty(self)
            .map(|text| text + "\n")
            .map_err(|e| Failure::Machine(format!("cannot write the model: {e}")))
    }
}
