//! `gdro evaluate`: a model on another table.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use gdro::Dataset;
use gdro::interval::Settings;
use gdro::loss::Loss as _;

use super::args::{FormatArg, GroupFileArg};
use crate::failure::{Failure, Result};
use crate::files;
use crate::model::Model;
use crate::report::{self, Evaluated};
use crate::train::{class_of, columns, each_score, evaluate_columns, loss_of};

/// Evaluate a model on a table that it was not trained on, group by group, with intervals.
#[derive(Debug, Args)]
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
    group_file: GroupFileArg,
    /// Intervals hold for all groups at once with probability 1 − D [default: that of the training]
    #[arg(long, value_name = "D")]
    delta: Option<f64>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Show every group, however many
    #[arg(long)]
    all_groups: bool,
}

impl Evaluate {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let model = Model::load(&self.model)?;
        let delta = self.delta.unwrap_or(model.job.training.delta);
        if !(delta > 0.0 && delta < 1.0) {
            return Err(Failure::input(format!(
                "--delta {delta}: expected a probability between 0 and 1"
            )));
        }
        let mut options = self.format.options(&model)?;
        self.group_file.give(&model, &mut options)?;
        let table = gdro_data::read_for(&self.tables, &options, &model.encoding)?;
        let rows = model.encoding.complete_rows(&table)?;
        let incomplete = table.rows() - rows.len();
        let assigned = model.grouping.assign(&table, &rows)?;
        // Rows without a group are left out, as in training.
        let grouped: Vec<usize> =
            (0..rows.len()).filter(|at| assigned.groups[*at].is_some()).collect();
        let kept: Vec<u32> = grouped.iter().map(|at| rows[*at]).collect();
        if kept.is_empty() {
            return Err(Failure::input(
                "no row can be evaluated: every row misses a feature or a group label",
            ));
        }
        let encoded = model.encoding.encode(&table, &kept)?;
        let targets = model.target.encode(&table, &kept)?;

        let mut names = model.grouping.names().to_vec();
        let known = names.len();
        names.extend(assigned.unseen.iter().cloned());
        let mut members = vec![Vec::new(); names.len()];
        for (at, row) in grouped.iter().enumerate() {
            if let Some(group) = assigned.groups[*row] {
                members[group as usize].push(at as u32);
            }
        }
        let library = |e| Failure::library(e, &names);
        let present: Vec<Vec<u32>> = members.iter().filter(|m| !m.is_empty()).cloned().collect();
        let data =
            Dataset::new(Arc::new(encoded.matrix), targets, None, &present).map_err(library)?;
        let (loss, w) = (loss_of(Some(model.loss), &model.target).map_err(library)?, model.w());
        let settings = Settings { delta, cap: model.cap, seed: model.job.training.seed };
        let lists: Vec<&[u32]> = members.iter().map(Vec::as_slice).collect();
        let columns = columns(&loss, &data, &w, &lists).map_err(library)?;
        let intervals =
            evaluate_columns(&loss, &data, &lists, &columns, &settings).map_err(library)?;
        let mut first = None;
        let mut one_class = loss.correct(&vec![0.0; loss.outputs()], 0.0).is_some();
        each_score(&loss, &data, &w, |_, s| {
            one_class &= *first.get_or_insert(class_of(s)) == class_of(s);
        });
        let mut notes = Vec::new();
        if incomplete > 0 {
            notes.push(format!("rows that miss a feature and are left out: {incomplete}"));
        }
        if grouped.len() < rows.len() {
            let without = rows.len() - grouped.len();
            notes.push(format!("rows that miss a group label and are left out: {without}"));
        }
        notes.extend(encoded.unseen.iter().map(|(column, count)| {
            format!("column `{column}`: rows with a text that training never saw: {count}")
        }));
        if encoded.beyond > 0 {
            let rows = encoded.beyond;
            notes.push(format!("rows with features that training never saw: {rows}"));
        }
        if one_class {
            notes.push("warning: the model predicts one class for every row".into());
        }
        let evaluated = Evaluated { names, known, settings, intervals, notes };
        if self.json {
            let text = serde_json::to_string_pretty(&evaluated)
                .map_err(|e| Failure::Machine(format!("cannot write the evaluation: {e}")))?;
            return files::print(&(text + "\n"));
        }
        files::print(&report::evaluation(&evaluated, self.all_groups))
    }
}
