//! The saved model: all that predicting and explaining needs.

use std::path::Path;

use gdro::certificate::Certificate;
use gdro::loss::{AnyLoss, Loss};
use gdro_data::onnx::{Input, Linear, Meaning, onnx};
use gdro_data::{Encoding, Grouping, Prepared, Target};
use serde::{Deserialize, Serialize};

use crate::facts::Facts;
use crate::failure::{Failure, Result};
use crate::job::{Job, LossName};
use crate::prepared::task_of;

/// Version of the format of `model.json`.
const FORMAT: u32 = 2;

/// A linear model with its encoding, groups and the job that made it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Model {
    /// Version of this format.
    format: u32,
    /// Version of gdro that wrote it.
    pub gdro: String,
    /// The loss.
    pub loss: LossName,
    /// Number of scores c.
    pub outputs: usize,
    /// Names of the features, in the order of the weights.
    pub features: Vec<String>,
    /// Weights, c numbers per feature.
    pub weights: Vec<f64>,
    /// Intercepts: c numbers, or none when the last feature is the constant 1.
    pub intercepts: Vec<f64>,
    /// How features are made from a table.
    pub encoding: Encoding,
    /// What is predicted.
    pub target: Target,
    /// How groups are made from a table.
    pub grouping: Grouping,
    /// Averaged weights of the groups, in the order of their names.
    pub group_weights: Vec<f64>,
    /// How far the model is from the optimum on its training rows; `None` when nobody looked.
    pub certificate: Option<Certificate>,
    /// M: losses count as min(ℓ, M) in intervals.
    pub cap: f64,
    /// Seed.
    seed: u64,
    /// The resolved job.
    pub job: Job,
}

impl Model {
    /// The model `w` of a training run.
    pub fn assemble(
        job: &Job,
        table: &Facts,
        loss: &AnyLoss,
        w: &[f64],
        group_weights: Vec<f64>,
        certificate: Option<&Certificate>,
        cap: f64,
    ) -> Self {
        let (outputs, features) = (loss.outputs(), table.encoding.feature_names());
        let (weights, intercepts) = w.split_at(features.len() * outputs);
        Model {
            format: FORMAT,
            gdro: env!("CARGO_PKG_VERSION").into(),
            loss: LossName(*loss),
            outputs,
            features,
            weights: weights.to_vec(),
            intercepts: intercepts.to_vec(),
            encoding: table.encoding.clone(),
            target: table.target.clone(),
            grouping: table.grouping.clone(),
            group_weights,
            certificate: certificate.cloned(),
            cap,
            seed: job.training.seed,
            job: job.clone(),
        }
    }

    /// Reads a `model.json`, or the one in a folder.
    pub fn load(path: &Path) -> Result<Self> {
        let file = if path.is_dir() { path.join("model.json") } else { path.to_owned() };
        let name = file.display();
        let text = std::fs::read_to_string(&file)
            .map_err(|e| Failure::input(format!("cannot read the model {name}: {e}")))?;
        let broken = |e: serde_json::Error| {
            let (line, column) = (e.line(), e.column());
            Failure::input(format!("{name}:{line}:{column}: not a model of gdro: {e}"))
        };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(broken)?;
        let format = value.get("format").and_then(serde_json::Value::as_u64);
        if format != Some(u64::from(FORMAT)) {
            let found = format.map_or("none".to_owned(), |f| f.to_string());
            return Err(Failure::input(format!(
                "{name}: format version {found}: this program reads version {FORMAT}"
            )));
        }
        let model: Model = serde_json::from_str(&text).map_err(broken)?;
        let fits = model.weights.len() == model.features.len() * model.outputs
            && model.features.len() == model.encoding.dimension()
            && [0, model.outputs].contains(&model.intercepts.len())
            && model.group_weights.len() == model.grouping.names().len()
            && model.outputs >= 1
            && task_of(model.loss) == model.target.task();
        if !fits {
            return Err(Failure::input(format!(
                "{name}: the numbers of weights, features and groups, the loss and the target do not fit together"
            )));
        }
        let numbers = model.weights.iter().chain(&model.intercepts).chain(&model.group_weights);
        if let Some(bad) = numbers.copied().find(|v| !v.is_finite()) {
            return Err(Failure::input(format!("{name}: a weight is {bad}")));
        }
        Ok(model)
    }

    /// Whether a prepared table gives the encoding, the groups and the target of the model.
    pub fn is_of(&self, prepared: &Prepared) -> bool {
        prepared.encoding == self.encoding
            && prepared.grouping == self.grouping
            && prepared.target == self.target
    }

    /// Weights and intercepts as one array.
    pub fn w(&self) -> Vec<f64> {
        [&self.weights[..], &self.intercepts[..]].concat()
    }

    /// The model as the bytes of an ONNX file.
    pub fn onnx(&self) -> Result<Vec<u8>> {
        let meaning = match &self.target {
            Target::Binary { negative, positive, .. } => Meaning::Binary {
                labels: [negative, positive],
                probabilities: self.loss.0.is_probabilistic(),
            },
            Target::Multiclass { classes, .. } => Meaning::Multiclass { labels: classes },
            Target::Regression { .. } => Meaning::Number,
        };
        Ok(onnx(&Linear {
            input: Input::Columns(&self.encoding),
            weights: &self.weights,
            intercepts: &self.intercepts,
            meaning,
            integers: false,
        })?)
    }

    /// The text of `model.json`.
    pub fn text(&self) -> Result<String> {
        serde_json::to_string_pretty(self)
            .map(|text| text + "\n")
            .map_err(|e| Failure::Machine(format!("cannot write the model: {e}")))
    }
}
