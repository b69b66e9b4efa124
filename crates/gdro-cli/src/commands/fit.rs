//! `gdro fit`: train a model and compare it with ordinary training.

use std::path::PathBuf;

use clap::Args;

use super::args::{GoalArgs, SolverArgs, TableArgs};
use crate::failure::{Failure, Result};
use crate::job::{Job, Settings, utf8};
use crate::train::{self, Watch};
use crate::{files, report};

/// Train a model on a table and compare it with ordinary training, group by group.
///
/// What is learnt and how can also be set in a job file (TOML), under the names of the options;
/// options win. A job file may hold a table [solver.NAME] with the rounds, steps and average of
/// each solver. A list is separated by commas; an entry that holds a comma is put in double quotes.
#[derive(Debug, Args)]
pub struct Fit {
    /// Files of one table (CSV, TSV, Parquet, Arrow IPC or LIBSVM; patterns such as 'part-*.csv'; -
    /// for standard input), or a job file (*.toml)
    #[arg(required = true, value_name = "TABLE|JOB.toml")]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    goal: GoalArgs,
    #[command(flatten)]
    solver: SolverArgs,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// What is shown and kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Folder for model.json, summary.json and trace.jsonl
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the summary as JSON instead of tables
    #[arg(long)]
    json: bool,
    /// No progress and no tables; with --json, the JSON alone
    #[arg(long, short)]
    quiet: bool,
    /// Show every group, however many
    #[arg(long)]
    all_groups: bool,
}

impl Fit {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let job = Job::resolve(&self.inputs, self.settings()?)?;
        let output = &self.output;
        if output.all_groups && (output.json || output.quiet) {
            return Err(Failure::input(
                "--all-groups: no table is shown with --json or --quiet, and JSON holds all groups",
            ));
        }
        self.solver.start_threads()?;
        if let Some(out) = &job.out {
            files::check_folder(out)?;
        }
        let fitted = train::fit(&job, &mut Watch::new(!output.quiet))?;
        let summary = report::Summary::new(&job, &fitted);
        let json = serde_json::to_string_pretty(&summary)
            .map(|text| text + "\n")
            .map_err(|e| Failure::Machine(format!("cannot write the summary: {e}")))?;
        if let Some(out) = &job.out {
            let files = [
                ("model.json", fitted.model.text()?),
                ("summary.json", json.clone()),
                ("trace.jsonl", fitted.trace.text()?),
            ];
            files::write_all(out, &files)?;
        }
        if output.json {
            files::print(&json)?;
        } else if !output.quiet {
            files::print(&report::text(&job, &fitted, &summary, output.all_groups))?;
        }
        Ok(())
    }
    /// The options that were given, as settings.
    fn settings(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        self.goal.give(&mut settings);
        self.solver.give(&mut settings)?;
        self.table.give(&mut settings)?;
        settings.set_some("out", self.output.out.as_deref().map(utf8).transpose()?);
        Ok(settings)
    }
}
