//! `gdro fit`: train a model and compare it with ordinary training.

use std::path::PathBuf;

use clap::Args;
use gdro_report::{Summary, page};
use gdro_train::checkpoint::Work;
use gdro_train::fit::{Fitted, fit};
use gdro_train::job::{Fitting, Job, Streaming};
use gdro_train::progress::{Event, Progress as _};
use gdro_train::select::{Open, Selection, fit_open};
use gdro_train::solve::Ended;
use gdro_train::stream::{self, Told};
use gdro_train::{Failure, Result};
use serde::Serialize;

use super::args::{Fit as Own, Given, OutputArgs, ResumeArg, ThreadsArg, TrainArg};
use super::run::Run;
use super::select::{choose_job, write_selected};
use super::{files_of, pretty};
use crate::print;
use crate::progress::Watch;

/// Train a model on a table and compare it with ordinary training, group by group.
///
/// What is learnt and how can also be set in a job file (TOML), under the names of the options;
/// options win. A job file may hold a table [solver.NAME] with the rounds, steps and average of
/// each solver. A list is separated by commas; an entry that holds a comma is put in double quotes.
#[derive(Debug, Args)]
#[command(before_help = super::help::FIT)]
pub struct Fit {
    /// Files of one table (CSV, TSV, Parquet, Arrow IPC or LIBSVM; patterns such as 'part-*.csv'; -
    /// for standard input), or a job file (*.toml)
    #[arg(required = true, value_name = "TABLE|JOB.toml")]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    options: Given<Own>,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    resume: ResumeArg,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    train: TrainArg,
}

/// What `--json` prints of a model that was chosen without being asked to: the summary of any model,
/// with the choice in it.
#[derive(Serialize)]
struct Unasked<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    selection: &'a Selection,
}

impl Fit {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let (job, fitting) = Job::resolve(&self.inputs, self.options.settings()?)?;
        let run = Run { job: &job, output: &self.output, train: &self.train };
        let _folder = run.check(&self.threads)?;
        fit_job(&run, fitting, self.resume.resume)
    }
}

/// Does what `gdro fit` does with a job.
pub(super) fn fit_job(run: &Run<'_>, fitting: Fitting, resume: bool) -> Result<()> {
    let job = run.job;
    if let Some(streaming) = &job.streaming {
        let keys = [("one-pass", streaming.one_pass), ("robust-only", streaming.robust_only)];
        if let Some((key, _)) = keys.iter().find(|(_, given)| job.report.is_some() && *given) {
            return Err(Failure::input(format!(
                "{}: the page compares models after a last pass: leave {key} out, or the page",
                job.place("report")
            )));
        }
    }
    run.keep(Work::Fit(fitting.clone()), resume, |watch| match (&job.streaming, fitting) {
        (Some(streaming), fitting) => stream_job(run, streaming, &fitting, watch),
        (None, Fitting::Chosen(search)) => choose_job(run, &search, watch),
        (None, Fitting::Named) => write_fitted(run, &fit(job, watch)?, None),
        (None, Fitting::Open(search)) => match fit_open(job, &search, watch)? {
            Open::Fitted(fitted) => write_fitted(run, &fitted, None),
            Open::Selected(selected) => write_selected(run, &selected, |selection, summary| {
                pretty(&Unasked { summary, selection })
            }),
        },
    })
}

/// Trains in one pass.
fn stream_job(
    run: &Run<'_>,
    streaming: &Streaming,
    fitting: &Fitting,
    watch: &mut Watch,
) -> Result<()> {
    let (job, output) = (run.job, run.output);
    if let Fitting::Open(Err(against)) = fitting {
        watch.tell(Event::Note(&against.note(job)));
    }
    let streamed = stream::run(job, streaming, watch)?;
    watch.tell(Event::Table(&streamed.facts()));
    let schema = pretty(&*streamed.schema)?;
    let brief = match streamed.tell(job)? {
        Told::Fully(fitted) => return write_fitted(run, &fitted, Some(schema)),
        Told::Briefly(brief) => brief,
    };
    let json = pretty(&brief.summary)?;
    if let Some(out) = &job.out {
        let written = [
            (out.join("model.json"), brief.model.text()?),
            (out.join("summary.json"), json.clone()),
            (out.join("schema.json"), schema),
        ];
        print::run(job, &written, brief.summary.ended == Ended::Interrupted)?;
    }
    if let Some(page) = &job.report {
        let page = page.display();
        print::note(&format!("{page} is not written: the run ended before its last pass"));
    }
    match (output.json, output.quiet) {
        (true, _) => print::text(&json),
        (false, true) => Ok(()),
        (false, false) => print::text(&gdro_report::brief(&brief, job)),
    }
}

/// Writes and prints what came out; the schema of a stream beside it.
fn write_fitted(run: &Run<'_>, fitted: &Fitted, schema: Option<String>) -> Result<()> {
    let (job, output) = (run.job, run.output);
    let summary = Summary::new(job, fitted);
    let json = pretty(&summary)?;
    let mut written = Vec::new();
    if let Some(out) = &job.out {
        written = files_of(out, fitted, json.clone())?;
        written.extend(schema.map(|text| (out.join("schema.json"), text)));
    }
    if let Some(page) = &job.report {
        written.push((page.clone(), page::of_fit(job, fitted, &summary)?));
    }
    print::run(job, &written, fitted.solved.ended() == Ended::Interrupted)?;
    if output.json {
        print::text(&json)?;
    } else if !output.quiet {
        let shown = run.train.shown(output)?;
        print::text(&gdro_report::text(job, fitted, &summary, shown))?;
    }
    Ok(())
}
