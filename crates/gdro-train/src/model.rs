//! The saved model: all that predicting and explaining needs.

use std::path::{Path, PathBuf};

use gdro::certificate::Certificate;
use gdro::interval::Settings;
use gdro::loss::{AnyLoss, Loss, Targets};
use gdro_data::onnx::{Input, Linear, Meaning, onnx};
use gdro_data::{
    DataOptions, Encoding, GroupEntry, GroupFeatures, Grouping, Prepared, Scaling, Target, Task,
    WeightKind,
};
use serde::{Deserialize, Serialize};

use crate::baseline::Baseline;
use crate::facts::Facts;
use crate::failure::{Failure, Result};
use crate::job::{Job, LossName};
use crate::manifest;
use crate::prepared::{loss_of, task_of};
use crate::run_folder::tells_of_interrupt;

/// Version of the format of `model.json`.
const FORMAT: u32 = 2;

/// What is looked at first of a `model.json`.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    format: Option<serde_json::Value>,
}

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
    /// B: rows with weights count as min(w, B) in intervals. `None` when it was trained without
    /// weights, and in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight_cap: Option<f64>,
    /// S: clusters count as min(Σ w, S) in intervals. `None` when it was trained without clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_cap: Option<f64>,
    /// The groups that had a single cluster, of which intervals are over rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_cluster: Vec<String>,
    /// Ordinary training on the same rows. `None` when none was made, and in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// Seed.
    seed: u64,
    /// The resolved job.
    pub job: Job,
    /// What the Python package needs to make its estimator again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    python: Option<serde_json::Value>,
}

/// A model that was trained on rows in memory, with what a table of such rows would tell.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OfRows {
    /// The job that was run.
    job: Job,
    /// How features are made of the columns of a table.
    encoding: Encoding,
    /// What is predicted.
    target: Target,
    /// How groups are made of the columns of a table.
    groups: Groups,
    /// The column of the weights of the rows, if they had any.
    weight: Option<String>,
    /// Weights, c numbers per feature.
    weights: Vec<f64>,
    /// Intercepts.
    intercepts: Vec<f64>,
    /// Averaged weights of the groups, in the order of their names.
    group_weights: Vec<f64>,
    certificate: Option<Certificate>,
    cap: f64,
    weight_cap: Option<f64>,
    /// What these weights mean.
    #[serde(default)]
    weight_kind: WeightKind,
    /// The column of the clusters of the rows, if they had any.
    #[serde(default)]
    cluster: Option<String>,
    #[serde(default)]
    cluster_cap: Option<f64>,
    #[serde(default)]
    one_cluster: Vec<String>,
    /// Ordinary training, of a model that was loaded with one.
    #[serde(default)]
    baseline: Option<Baseline>,
    python: serde_json::Value,
}

/// Groups of rows in memory.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Groups {
    /// Those of a model that was loaded, whose job says how they are read.
    Known(Grouping),
    /// By columns.
    Families {
        /// The columns of each family, and the number of rows of its groups.
        families: Vec<(Vec<String>, Vec<u64>)>,
        /// The names of all groups.
        names: Vec<String>,
    },
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
        settings: &Settings,
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
            cap: settings.cap,
            weight_cap: settings.weight_cap,
            cluster_cap: settings.cluster_cap,
            one_cluster: (table.groups.iter().filter(|g| g.clusters == Some(1)))
                .map(|g| g.name.clone())
                .collect(),
            baseline: None,
            seed: job.training.seed,
            job: job.clone(),
            python: None,
        }
    }

    /// The model of rows in memory, for tables that have columns of the same names.
    ///
    /// # Errors
    /// For two groups of the same name; for softmax of two classes in a domain that is no ball.
    pub fn of_rows(rows: OfRows) -> Result<Self> {
        let OfRows { mut job, encoding, target, groups, mut group_weights, .. } = rows;
        let column = target.column().to_owned();
        let positive = match &target {
            Target::Binary { positive, comparison: None, .. } => Some(positive.clone()),
            _ => None,
        };
        let grouping = match groups {
            Groups::Known(grouping) => grouping,
            Groups::Families { families, names } => {
                let (grouping, order) = Grouping::of_labels(&families, &names, Some(&column))?;
                group_weights = order.iter().map(|g| group_weights[*g]).collect();
                job.data = DataOptions {
                    groups: entries(&families),
                    group_features: GroupFeatures::Drop,
                    scaling: Some(Scaling::None),
                    na: job.data.na,
                    ..DataOptions::default()
                };
                grouping
            }
        };
        job.data.target = Some(column);
        job.data.positive = positive;
        job.data.weight = rows.weight;
        job.data.weight_kind =
            if job.data.weight.is_some() { rows.weight_kind } else { WeightKind::default() };
        job.data.cluster = rows.cluster;
        let training = &mut job.training;
        let mut loss =
            loss_of(training.loss, &target).map_err(|e| Failure::library(e, grouping.names()))?;
        if loss.targets() == Targets::Classes && target.task() == Task::Binary {
            // Two scores, of which the one of the logistic loss is the difference: half of it each.
            training.l2 /= 2.0;
            training.ball = training.ball.map(|radius| radius * std::f64::consts::SQRT_2);
            if let Some(domain) = training.domain {
                return Err(Failure::input(format!(
                    "softmax of two classes in the domain {domain} is saved as logistic, for which \
                     the domain is another: train with the loss logistic"
                )));
            }
            loss = AnyLoss::usual(Targets::Labels);
        }
        training.loss = Some(LossName(loss));
        Ok(Model {
            format: FORMAT,
            gdro: env!("CARGO_PKG_VERSION").into(),
            loss: LossName(loss),
            outputs: loss.outputs(),
            features: encoding.feature_names(),
            weights: rows.weights,
            intercepts: rows.intercepts,
            encoding,
            target,
            grouping,
            group_weights,
            certificate: rows.certificate,
            cap: rows.cap,
            weight_cap: rows.weight_cap,
            cluster_cap: rows.cluster_cap,
            one_cluster: rows.one_cluster,
            baseline: rows.baseline,
            seed: job.training.seed,
            job,
            python: Some(rows.python),
        })
    }

    /// The file of a model: the path itself, or the `model.json` in a folder.
    pub fn file(path: &Path) -> PathBuf {
        if path.is_dir() { path.join("model.json") } else { path.to_owned() }
    }

    /// Whether the run that wrote the model of this path was interrupted, by the summary beside it and the
    /// choice that it is of, if it is of one.
    pub fn is_unfinished(path: &Path) -> bool {
        let file = Model::file(path);
        ["summary.json", "selection.json"]
            .iter()
            .any(|name| tells_of_interrupt(&file.with_file_name(name)))
    }

    /// All files that a command reads which takes this model from `path` and the files of a table, and
    /// those that the model was made of: what none of its outputs may replace.
    pub fn inputs(&self, path: &Path, tables: &[PathBuf]) -> Vec<PathBuf> {
        [tables, &[Model::file(path)], &self.job.inputs()].concat()
    }

    /// Reads a `model.json`, or the one in a folder.
    ///
    /// # Errors
    /// A file that cannot be read, is no model of this format, or whose parts do not fit together.
    pub fn load(path: &Path) -> Result<Self> {
        let file = Model::file(path);
        let name = file.display();
        let text = manifest::read(&file, "model")?;
        let broken = |e: serde_json::Error| {
            let (line, column) = (e.line(), e.column());
            Failure::input(format!("{name}:{line}:{column}: not a model of gdro: {e}"))
        };
        let head: Head = serde_json::from_str(&text).map_err(broken)?;
        let format = head.format.and_then(|format| format.as_u64());
        if format != Some(u64::from(FORMAT)) {
            let found = format.map_or("none".to_owned(), |f| f.to_string());
            return Err(Failure::input(format!(
                "{name}: format version {found}: this program reads version {FORMAT}"
            )));
        }
        let mut model: Model = serde_json::from_str(&text).map_err(broken)?;
        model.check().map_err(|why| Failure::input(format!("{name}: {why}")))?;
        // Where there is no free intercept, there is none that a bound could leave out.
        if let (Some(certificate), false) = (&mut model.certificate, model.job.training.is_free()) {
            certificate.any_intercept = true;
        }
        Ok(model)
    }

    /// Refuses what no training gives.
    fn check(&self) -> std::result::Result<(), String> {
        self.encoding.check()?;
        self.grouping.check()?;
        self.target.check()?;
        self.job.training.check()?;
        let outputs = match &self.target {
            Target::Multiclass { classes, .. } => classes.len(),
            Target::Binary { .. } | Target::Regression { .. } => 1,
        };
        let fits = self.outputs == outputs
            && Some(self.weights.len()) == self.features.len().checked_mul(outputs)
            && self.features.len() == self.encoding.dimension()
            && [0, self.outputs].contains(&self.intercepts.len())
            && self.group_weights.len() == self.grouping.names().len()
            && task_of(self.loss) == self.target.task();
        if !fits {
            return Err(
                "the numbers of weights, features and groups, the loss and the target do not \
                        fit together"
                    .into(),
            );
        }
        let numbers = self.weights.iter().chain(&self.intercepts).chain(&self.group_weights);
        if let Some(bad) = numbers.copied().find(|v| !v.is_finite()) {
            return Err(format!("a weight is {bad}"));
        }
        let caps = [Some(self.cap), self.weight_cap, self.cluster_cap];
        if let Some(bad) = caps.into_iter().flatten().find(|cap| !(*cap >= 0.0 && cap.is_finite()))
        {
            return Err(format!("a cap is {bad}: expected a number of at least 0"));
        }
        let groups = self.grouping.names().len();
        let (weights, intercepts) = (self.weights.len(), self.intercepts.len());
        self.baseline.as_ref().map_or(Ok(()), |b| b.check(weights, intercepts, groups))
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

/// The group columns of each family, as a job names them.
fn entries(families: &[(Vec<String>, Vec<u64>)]) -> Vec<GroupEntry> {
    let columns = |(columns, _): &(Vec<String>, _)| -> Vec<GroupEntry> {
        columns.iter().map(|name| GroupEntry::from(name.as_str())).collect()
    };
    match families {
        [one] => columns(one),
        several => several.iter().map(|family| GroupEntry::Family(columns(family))).collect(),
    }
}
