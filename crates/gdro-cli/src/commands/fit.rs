//! `gdro fit`: train a model and compare it with ordinary training.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::args::{GoalArgs, SolverArgs, StreamArgs, TableArgs};
use crate::failure::{Failure, Result};
use crate::job::{Job, Settings, Streaming, utf8};
use crate::train::stream::Told;
use crate::train::{self, Fitted, Watch};
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
    stream: StreamArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// What is shown and kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Folder for model.json, summary.json and trace.jsonl; of select for selection.json, too, or
    /// for path.json alone
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Write what came out as one page for a browser: charts and tables, no network
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(super) json: bool,
    /// No progress and no tables; with --json, the JSON alone
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// Show every group, however many
    #[arg(long)]
    pub(super) all_groups: bool,
}

impl OutputArgs {
    /// Refuses options that do nothing together.
    pub(super) fn check(&self) -> Result<()> {
        if self.all_groups && (self.json || self.quiet) {
            return Err(Failure::input(
                "--all-groups: no table is shown with --json or --quiet, and JSON holds all groups",
            ));
        }
        Ok(())
    }
}

/// Something as JSON that people may read.
pub(super) fn pretty(value: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|e| Failure::Machine(format!("cannot write JSON: {e}")))
}

/// The files of a training run.
pub(super) fn files_of(
    out: &Path,
    fitted: &Fitted,
    summary: String,
) -> Result<Vec<(PathBuf, String)>> {
    Ok(vec![
        (out.join("model.json"), fitted.model.text()?),
        (out.join("summary.json"), summary),
        (out.join("trace.jsonl"), fitted.trace.text()?),
    ])
}

impl Fit {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let job = Job::resolve(&self.inputs, self.settings()?)?;
        let output = &self.output;
        output.check()?;
        self.solver.threads.start()?;
        if let Some(out) = &job.out {
            files::check_folder(out)?;
        }
        if let Some(page) = &job.report {
            report::page::check(page, &job.files(&job.tables), &job.place("report"))?;
        }
        if let Some(streaming) = &job.streaming {
            let keys = [("one-pass", streaming.one_pass), ("robust-only", streaming.robust_only)];
            if let Some((key, _)) = keys.iter().find(|(_, given)| job.report.is_some() && *given) {
                return Err(Failure::input(format!(
                    "{}: the page compares models after a last pass: leave {key} out, or the page",
                    job.place("report")
                )));
            }
            return self.stream(&job, streaming);
        }
        let fitted = train::fit(&job, &mut Watch::new(!output.quiet))?;
        self.write(&job, &fitted, None)
    }

    /// Trains in one pass.
    fn stream(&self, job: &Job, streaming: &Streaming) -> Result<()> {
        let output = &self.output;
        let mut watch = Watch::new(!output.quiet);
        let streamed = train::stream::run(job, streaming, &mut watch)?;
        watch.groups(&streamed.facts());
        let schema = pretty(&*streamed.schema)?;
        let brief = match streamed.tell(job)? {
            Told::Fully(fitted) => return self.write(job, &fitted, Some(schema)),
            Told::Briefly(brief) => brief,
        };
        let json = pretty(&brief.summary)?;
        if let Some(out) = &job.out {
            files::write_all(&[
                (out.join("model.json"), brief.model.text()?),
                (out.join("summary.json"), json.clone()),
                (out.join("schema.json"), schema),
            ])?;
        }
        if let Some(page) = &job.report {
            let page = page.display();
            files::note(&format!("{page} is not written: the run ended before its last pass"));
        }
        match (output.json, output.quiet) {
            (true, _) => files::print(&json),
            (false, true) => Ok(()),
            (false, false) => files::print(&brief.text(job)),
        }
    }

    /// Writes and prints what came out; the schema of a stream beside it.
    fn write(&self, job: &Job, fitted: &Fitted, schema: Option<String>) -> Result<()> {
        let output = &self.output;
        let summary = report::Summary::new(job, fitted);
        let json = pretty(&summary)?;
        let mut written = Vec::new();
        if let Some(out) = &job.out {
            written = files_of(out, fitted, json.clone())?;
            written.extend(schema.map(|text| (out.join("schema.json"), text)));
        }
        if let Some(page) = &job.report {
            written.push((page.clone(), report::page::of_fit(job, fitted, &summary)?));
        }
        files::write_all(&written)?;
        if output.json {
            files::print(&json)?;
        } else if !output.quiet {
            files::print(&report::text(job, fitted, &summary, output.all_groups))?;
        }
        Ok(())
    }

    /// The options that were given, as settings.
    fn settings(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        self.goal.give(&mut settings);
        self.solver.give(&mut settings)?;
        self.table.give(&mut settings)?;
        self.stream.give(&mut settings);
        settings.set_some("out", self.output.out.as_deref().map(utf8).transpose()?);
        settings.set_some("report", self.output.report.as_deref().map(utf8).transpose()?);
        Ok(settings)
    }
}
