//! `gdro select`: choose a model, or draw the trade-off.

use std::path::PathBuf;

use clap::Args;
use gdro_report::{Shown, Summary, page};
use gdro_train::checkpoint::Work;
use gdro_train::job::{Choice, Job, Search};
use gdro_train::select::{Selected, Selection, path, select};
use gdro_train::solve::Ended;
use gdro_train::{Failure, Result};
use serde::Serialize;

use super::args::{Given, OutputArgs, ResumeArg, Select as Own, ThreadsArg, TrainArg};
use super::run::Run;
use super::{files_of, pretty};
use crate::print;
use crate::progress::Watch;

/// Choose a model by its worst group on rows that it was not trained on, and ERM unless another one is
/// better beyond doubt.
///
/// One family of models goes from ERM (ordinary training) to gdro (the largest group risk), each with
/// several penalties. Every one is tried on rows that it was not trained on: the training rows in five
/// folds, or a share of them. The best takes the place of ERM only where it is better in 95 % of the
/// samples that are drawn from these rows. The rows of --holdout are in no fold; they are looked at
/// once, for the report. --l2 and --ball take several values, separated by commas; the other one stays
/// a single number.
///
/// With --path nothing is chosen: it draws the trade-off between the worst group and the mean over
/// groups, by the optima of the mean of the k largest risks from k = 1 to the number of groups.
///
/// Everything can also be set in a job file (TOML), under the names of the options; options win.
#[derive(Debug, Args)]
#[command(before_help = super::help::SELECT)]
pub struct Select {
    /// Files of one table, or a job file (*.toml)
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

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    selection: &'a Selection,
    summary: &'a Summary,
}

impl Select {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let (job, choice) = Job::resolve_choice(&self.inputs, self.options.settings()?)?;
        let run = Run { job: &job, output: &self.output, train: &self.train };
        let _folder = run.check(&self.threads)?;
        select_job(&run, choice, self.resume.resume)
    }
}

/// Does what `gdro select` does with a job.
pub(super) fn select_job(run: &Run<'_>, choice: Choice, resume: bool) -> Result<()> {
    run.keep(Work::Select(choice.clone()), resume, |watch| match choice {
        Choice::Search(search) => choose_job(run, &search, watch),
        Choice::Path(points) => path_job(run, points, watch),
    })
}

/// Draws, writes and prints a trade-off.
fn path_job(run: &Run<'_>, points: usize, watch: &mut Watch) -> Result<()> {
    let (job, output) = (run.job, run.output);
    for (option, given) in [("--all-groups", output.all_groups), ("--train", run.train.train)] {
        if given {
            return Err(Failure::input(format!(
                "{option}: path shows no groups: path.json and --json hold all of them"
            )));
        }
    }
    let path = path(job, points, watch)?;
    let json = pretty(&path)?;
    let mut written = Vec::new();
    if let Some(out) = &job.out {
        written.push((out.join("path.json"), json.clone()));
    }
    if let Some(page) = &job.report {
        written.push((page.clone(), page::of_path(job, &path)?));
    }
    print::run(job, &written, path.interrupted)?;
    if output.json {
        return print::text(&json);
    }
    if output.quiet {
        return Ok(());
    }
    print::text(&gdro_report::path(&path, job))
}

/// Chooses a model, writes and prints it.
pub(super) fn choose_job(run: &Run<'_>, search: &Search, watch: &mut Watch) -> Result<()> {
    let selected = select(run.job, search, watch)?;
    write_selected(run, &selected, |selection, summary| pretty(&Printed { selection, summary }))
}

/// Writes and prints a model that was chosen; `json` is what `--json` prints.
pub(super) fn write_selected(
    run: &Run<'_>,
    selected: &Selected,
    json: impl FnOnce(&Selection, &Summary) -> Result<String>,
) -> Result<()> {
    let (job, output) = (run.job, run.output);
    let (selection, fitted) = (&selected.selection, &selected.fitted);
    let summary = Summary::new(&selected.job, fitted);
    let mut written = Vec::new();
    if let Some(out) = &job.out {
        written = files_of(out, fitted, pretty(&summary)?)?;
        written.push((out.join("selection.json"), pretty(selection)?));
    }
    if let Some(page) = &job.report {
        let text = page::of_selection(selected, &summary)?;
        written.push((page.clone(), text));
    }
    let is_cut = selection.interrupted || fitted.solved.ended() == Ended::Interrupted;
    print::run(job, &written, is_cut)?;
    if output.json {
        return print::text(&json(selection, &summary)?);
    }
    if output.quiet {
        return Ok(());
    }
    let mut text = gdro_report::selection(selection);
    let also = job.out.as_ref().map(|_| "wrote selection.json there, too: all that was tried");
    let shown = Shown { also, ..run.train.shown(output)? };
    text += &gdro_report::text(&selected.job, fitted, &summary, shown);
    print::text(&text)
}
