//! `gdro certify`: the certificate of a model again.

use std::path::PathBuf;

use clap::Args;

use super::args::{FormatArg, GroupFileArg};
use crate::failure::{Failure, Result};
use crate::model::Model;
use crate::train::{setting_of, split_of, task_of};
use crate::{files, report};

/// Compute the certificate of a model again, from nothing but the model and the table it was
/// trained on.
#[derive(Debug, Args)]
pub struct Certify {
    /// A model.json, or the folder it is in
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The files of the table that the model was trained on
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
    #[command(flatten)]
    group_file: GroupFileArg,
    /// Print the certificate as JSON
    #[arg(long)]
    json: bool,
}

impl Certify {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let model = Model::load(&self.model)?;
        let (job, training) = (&model.job, &model.job.training);
        if job.streaming.is_some() {
            return Err(Failure::input(
                "the model was trained on a stream, whose rows are not in memory: its certificate is what gdro show says; gdro fit --stream makes one anew",
            ));
        }
        let refuse = |e| Failure::data(&e, job);
        let mut options = self.format.options(&model)?;
        self.group_file.give(&model, &mut options)?;
        let table = gdro_data::read(&job.files(&self.tables), &options).map_err(refuse)?;
        let task = training.loss.map(task_of);
        let split = split_of(job);
        let constant = training.penalize_intercept;
        let prepared =
            gdro_data::prepare(&table, &options, task, &split, constant).map_err(refuse)?;
        let same = prepared.encoding == model.encoding
            && prepared.grouping == model.grouping
            && prepared.target == model.target;
        if !same {
            return Err(Failure::input(
                "the table is not the one that the model was trained on: its rows give another encoding or other groups",
            ));
        }
        let setting = setting_of(job, &prepared)?;
        let with_rows = prepared.groups.iter().zip(&model.group_weights);
        let weights: Vec<f64> =
            with_rows.filter(|(g, _)| g.train.is_some()).map(|(_, q)| *q).collect();
        let names = crate::train::train_names(&prepared);
        let now = setting.certify(&model.w(), &weights).map_err(|e| match e {
            gdro::Error::Parameter { name: "model", .. } => Failure::input(
                "the model lies outside of its domain: its weights were changed after training",
            ),
            other => Failure::library(other, &names),
        })?;
        if self.json {
            let text = serde_json::to_string_pretty(&now)
                .map_err(|e| Failure::Machine(format!("cannot write the certificate: {e}")))?;
            return files::print(&(text + "\n"));
        }
        let what = report::objective_in_words(training, setting.has_offsets());
        let mut text = report::certificate_in_words(&now, &what);
        let Some(stored) = &model.certificate else {
            return files::print(&(text + "stored in the model: none\n"));
        };
        text += &format!(
            "stored in the model: a gap of {:.1e}; now: {:.1e} ({})\n",
            stored.gap, now.gap, now.method
        );
        if now.gap > stored.gap + 1e-9 * now.upper.abs().max(1e-3) && now.gap > 1.01 * stored.gap {
            text += "warning: the gap is larger than the stored one: the model or the table has changed\n";
        }
        files::print(&text)
    }
}
