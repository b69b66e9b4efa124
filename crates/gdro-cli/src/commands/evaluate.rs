//! `gdro evaluate`: a model on another table.

use std::path::PathBuf;

use clap::Args;
use gdro_report::page;
use gdro_train::evaluate::{Caps, evaluate};
use gdro_train::{Failure, Result};

use super::args::{FormatArg, GroupFileArg, MemoryArg, OutputArgs};
use super::{load, pretty};
use crate::print;

/// Evaluate a model on a table that it was not trained on, group by group, with intervals.
///
/// The whole table is read into memory. Files that training read are known by their paths alone: a copy
/// of one passes for new rows.
#[derive(Debug, Args)]
#[command(before_help = super::help::EVALUATE)]
pub struct Evaluate {
    /// A model.json, or the folder it is in
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Files of one table with the features, the target and the group columns
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
    #[command(flatten)]
    memory: MemoryArg,
    #[command(flatten)]
    group_file: GroupFileArg,
    /// Intervals hold for all groups at once with probability 1 − D [default: that of the training]
    #[arg(long, value_name = "D")]
    delta: Option<f64>,
    /// Rows of a larger weight count as B in points and intervals. It must not be taken from these
    /// rows [default: the largest weight of a training row]
    #[arg(long, value_name = "B")]
    weight_cap: Option<f64>,
    /// Clusters of a larger total weight in a group (without weights, of more rows) count as S in
    /// points and intervals. It must not be taken from these rows [default: the largest of a training
    /// group]
    #[arg(long, value_name = "S")]
    cluster_cap: Option<f64>,
    /// Write the evaluation as one page for a browser: charts and tables, no network
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

impl Evaluate {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        self.output.check()?;
        self.memory.apply();
        let model = load(&self.model, self.output.quiet)?;
        let delta = self.delta.unwrap_or(model.job.training.delta);
        if !(delta > 0.0 && delta < 1.0) {
            return Err(Failure::input(format!(
                "--delta {delta}: expected a probability between 0 and 1"
            )));
        }
        let caps = Caps { weight: self.weight_cap, cluster: self.cluster_cap };
        for (name, cap) in [("weight-cap", caps.weight), ("cluster-cap", caps.cluster)] {
            if let Some(cap) = cap.filter(|cap| !(*cap > 0.0 && cap.is_finite())) {
                return Err(Failure::input(format!("--{name} {cap}: expected a number above 0")));
            }
        }
        if let Some(page) = &self.report {
            let mut inputs = model.inputs(&self.model, &self.tables);
            inputs.extend(self.group_file.files());
            page::check(page, &inputs, "--report")?;
        }
        let mut options = self.format.options(&model)?;
        self.group_file.give(&model, &mut options)?;
        let evaluated = evaluate(&model, &self.tables, &options, delta, caps)
            .map_err(Failure::of_saved_model)?;
        if let Some(page) = &self.report {
            let text = page::of_evaluation(&model, &self.tables, &evaluated)?;
            print::file(page, text)?;
        }
        let output = &self.output;
        match (output.json, output.quiet) {
            (true, _) => print::text(&pretty(&evaluated)?),
            (false, true) => Ok(()),
            (false, false) => print::text(&gdro_report::evaluation(&evaluated, output.all_groups)),
        }
    }
}
