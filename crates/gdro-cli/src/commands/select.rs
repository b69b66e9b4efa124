//! `gdro select`: choose the penalty or the ball, or draw the trade-off.

use std::path::PathBuf;

use clap::Args;
use gdro_report::{Summary, page};
use gdro_train::job::{Choice, Job, Search};
use gdro_train::select::{Selection, path, select};
use gdro_train::{Failure, Result, files};
use serde::Serialize;

use super::args::{Given, Select as Own, ThreadsArg};
use super::fit::{OutputArgs, files_of};
use super::pretty;
use crate::print;
use crate::progress::Watch;

/// Choose the penalty (or the ball) by the worst group on validation rows, for the robust model,
/// ERM and balanced ERM by the same rule, and train the chosen models.
///
/// Every value is tried on rows that the model was not trained on: the training rows in five folds,
/// or a share of them. The criterion is the largest group risk there. The rows of --holdout are in
/// no fold; they are looked at once, for the report of the chosen models. --l2 and --ball take
/// several values, separated by commas; the other one stays a single number.
///
/// With --path nothing is chosen: it draws the trade-off between the worst group and the mean over
/// groups, by the optima of the mean of the k largest risks from k = 1 to the number of groups.
///
/// Everything can also be set in a job file (TOML), under the names of the options; options win.
#[derive(Debug, Args)]
pub struct Select {
    /// Files of one table, or a job file (*.toml)
    #[arg(required = true, value_name = "TABLE|JOB.toml")]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    options: Given<Own>,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    output: OutputArgs,
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
        self.output.check()?;
        self.threads.start()?;
        if let Some(out) = &job.out {
            files::check_run(out)?;
        }
        if let Some(page) = &job.report {
            page::check(page, &job.files(&job.tables), &job.place("report"))?;
        }
        match choice {
            Choice::Search(search) => self.search(&job, &search),
            Choice::Path(points) => self.path(&job, points),
        }
    }

    fn search(&self, job: &Job, search: &Search) -> Result<()> {
        let output = &self.output;
        let selected = select(job, search, &mut Watch::new(!output.quiet))?;
        let (selection, fitted) = (&selected.selection, &selected.fitted);
        let summary = Summary::new(&selected.job, fitted);
        let mut written = Vec::new();
        if let Some(out) = &job.out {
            written = files_of(out, fitted, pretty(&summary)?)?;
            written.push((out.join("selection.json"), pretty(selection)?));
        }
        if let Some(page) = &job.report {
            let text = page::of_selection(&selected, &summary)?;
            written.push((page.clone(), text));
        }
        print::files(&written)?;
        if output.json {
            return print::text(&pretty(&Printed { selection, summary: &summary })?);
        }
        if output.quiet {
            return Ok(());
        }
        let mut text = gdro_report::selection(selection, job.training.objective);
        text += &gdro_report::text(&selected.job, fitted, &summary, output.all_groups);
        if job.out.is_some() {
            text += "wrote selection.json there, too: all that was tried\n";
        }
        print::text(&text)
    }

    fn path(&self, job: &Job, points: usize) -> Result<()> {
        let output = &self.output;
        if output.all_groups {
            return Err(Failure::input(
                "--all-groups: path shows no groups: path.json and --json hold all of them",
            ));
        }
        let path = path(job, points, &mut Watch::new(!output.quiet))?;
        let json = pretty(&path)?;
        let mut written = Vec::new();
        if let Some(out) = &job.out {
            written.push((out.join("path.json"), json.clone()));
        }
        if let Some(page) = &job.report {
            written.push((page.clone(), page::of_path(job, &path)?));
        }
        print::files(&written)?;
        if output.json {
            return print::text(&json);
        }
        if output.quiet {
            return Ok(());
        }
        print::text(&gdro_report::path(&path, job))
    }
}
