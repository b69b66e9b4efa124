//! `gdro select`: choose the penalty or the ball, or draw the trade-off.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use toml::Value;

use super::args::{GoalArgs, SolverArgs, TableArgs, number};
use super::fit::{OutputArgs, files_of, pretty};
use crate::failure::{Failure, Result};
use crate::job::{Choice, Job, Search, Settings, utf8};
use crate::select::Selection;
use crate::train::Watch;
use crate::{files, report, select};

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
    choice: ChoiceArgs,
    #[command(flatten)]
    goal: GoalArgs,
    #[command(flatten)]
    solver: SolverArgs,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// What is tried, and how one is chosen.
#[derive(Debug, Args)]
#[command(next_help_heading = "Choice")]
struct ChoiceArgs {
    /// Penalties to try, or balls (ball:LOW:HIGH:N): N values, evenly spaced by their logarithms
    /// [default: 1e-6:10:15, unless --l2 or --ball has several values]
    #[arg(long, value_name = "LOW:HIGH:N", allow_hyphen_values = true)]
    grid: Option<String>,
    /// Folds of the training rows, stratified by group and label; each is for validation once
    /// [default: 5]
    #[arg(long, value_name = "K", allow_hyphen_values = true, value_parser = number)]
    folds: Option<Value>,
    /// Instead of folds: the share of the training rows that is for validation
    #[arg(long, value_name = "F", allow_hyphen_values = true, value_parser = number)]
    validation: Option<Value>,
    /// one-se: the strongest value (largest penalty, smallest ball) whose worst group is within one
    /// standard error of the best; best: the best [default: one-se]
    #[arg(long, value_name = "one-se|best")]
    rule: Option<String>,
    /// Draw the trade-off instead, at every k, or with many groups at about N of them [default: 20]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
          default_missing_value = "20", value_parser = number)]
    path: Option<Value>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    selection: &'a Selection,
    summary: &'a report::Summary,
}

impl Select {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let (job, choice) = Job::resolve_choice(&self.inputs, self.settings()?)?;
        self.output.check()?;
        self.solver.threads.start()?;
        if let Some(out) = &job.out {
            files::check_folder(out)?;
        }
        if let Some(page) = &job.report {
            report::page::check(page, &job.files(&job.tables), &job.place("report"))?;
        }
        match choice {
            Choice::Search(search) => self.search(&job, &search),
            Choice::Path(points) => self.path(&job, points),
        }
    }

    fn search(&self, job: &Job, search: &Search) -> Result<()> {
        let output = &self.output;
        let selected = select::select(job, search, &mut Watch::new(!output.quiet))?;
        let (selection, fitted) = (&selected.selection, &selected.fitted);
        let summary = report::Summary::new(&selected.job, fitted);
        let mut written = Vec::new();
        if let Some(out) = &job.out {
            written = files_of(out, fitted, pretty(&summary)?)?;
            written.push((out.join("selection.json"), pretty(selection)?));
        }
        if let Some(page) = &job.report {
            let text = report::page::of_selection(&selected, &summary)?;
            written.push((page.clone(), text));
        }
        files::write_all(&written)?;
        if output.json {
            return files::print(&pretty(&Printed { selection, summary: &summary })?);
        }
        if output.quiet {
            return Ok(());
        }
        let mut text = report::selection(selection, job.training.objective);
        text += &report::text(&selected.job, fitted, &summary, output.all_groups);
        if job.out.is_some() {
            text += "wrote selection.json there, too: all that was tried\n";
        }
        files::print(&text)
    }

    fn path(&self, job: &Job, points: usize) -> Result<()> {
        let output = &self.output;
        if output.all_groups {
            return Err(Failure::input(
                "--all-groups: path shows no groups: path.json and --json hold all of them",
            ));
        }
        let path = select::path(job, points, &mut Watch::new(!output.quiet))?;
        let json = pretty(&path)?;
        let mut written = Vec::new();
        if let Some(out) = &job.out {
            written.push((out.join("path.json"), json.clone()));
        }
        if let Some(page) = &job.report {
            written.push((page.clone(), report::page::of_path(job, &path)?));
        }
        files::write_all(&written)?;
        if output.json {
            return files::print(&json);
        }
        if output.quiet {
            return Ok(());
        }
        files::print(&report::path(&path, job))
    }

    /// The options that were given, as settings.
    fn settings(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        self.goal.give(&mut settings);
        self.solver.give(&mut settings)?;
        self.table.give(&mut settings)?;
        settings.set_some("out", self.output.out.as_deref().map(utf8).transpose()?);
        settings.set_some("report", self.output.report.as_deref().map(utf8).transpose()?);
        let choice = &self.choice;
        settings.set_some("grid", choice.grid.clone());
        settings.set_some("folds", choice.folds.clone());
        settings.set_some("validation", choice.validation.clone());
        settings.set_some("rule", choice.rule.clone());
        settings.set_some("path", choice.path.clone());
        Ok(settings)
    }
}
