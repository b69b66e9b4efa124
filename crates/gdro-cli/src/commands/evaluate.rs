//! `gdro evaluate`: a model on another table.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use gdro::Dataset;
use gdro::interval::Settings;
use gdro::loss::Loss as _;
use gdro_data::{Table, Weighted};

use super::args::{FormatArg, GroupFileArg};
use crate::failure::{Failure, Result};
use crate::files;
use crate::model::Model;
use crate::report::{self, Evaluated, Mean};
use crate::train::{class_of, columns, each_score, evaluate_columns, loss_of, mean_over_rows};

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
    /// Write the evaluation as one page for a browser: charts and tables, no network
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
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
        if let Some(page) = &self.report {
            let model = if self.model.is_dir() {
                self.model.join("model.json")
            } else {
                self.model.clone()
            };
            let inputs = [&self.tables[..], &[model]].concat();
            report::page::check(page, &inputs, "--report")?;
        }
        let mut options = self.format.options(&model)?;
        self.group_file.give(&model, &mut options)?;
        let table = gdro_data::read_for(&self.tables, &options, &model.encoding)?;
        let mut rows = model.encoding.complete_rows(&table)?;
        let mut notes = Vec::new();
        if rows.len() < table.rows() {
            let incomplete = table.rows() - rows.len();
            notes.push(format!("rows that miss a feature and are left out: {incomplete}"));
        }
        let mut weights = weights(&table, &mut rows, &model, &mut notes)?;
        let assigned = model.grouping.assign(&table, &rows)?;
        // Rows without a group are left out, as in training.
        let grouped: Vec<usize> = (0..rows.len()).filter(|at| assigned.is_grouped(*at)).collect();
        let kept: Vec<u32> = grouped.iter().map(|at| rows[*at]).collect();
        if kept.is_empty() {
            return Err(Failure::input(
                "no row can be evaluated: every row misses a feature or a weight, or is in no group",
            ));
        }
        if grouped.len() < rows.len() {
            let without = rows.len() - grouped.len();
            notes.push(format!(
                "rows that miss a group label, or are of groups left out in training, and are left out: {without}"
            ));
        }
        if let Some(weights) = &mut weights {
            *weights = grouped.iter().map(|at| weights[*at]).collect();
        }
        let encoded = model.encoding.encode(&table, &kept)?;
        let targets = model.target.encode(&table, &kept)?;

        let mut names = model.grouping.names().to_vec();
        let known = names.len();
        names.extend(assigned.unseen.iter().cloned());
        let families = model.grouping.families();
        let of_known = (0..known).map(|group| model.grouping.family(group));
        let of_all = of_known.chain(assigned.unseen_families.iter().copied());
        let families = of_all.map(|family| families[family].name()).collect();
        let members = assigned.select(&grouped).members();
        let library = |e| Failure::library(e, &names);
        let present: Vec<Vec<u32>> = members.iter().filter(|m| !m.is_empty()).cloned().collect();
        let data =
            Dataset::new(Arc::new(encoded.matrix), targets, weights, &present).map_err(library)?;
        let (loss, w) = (loss_of(Some(model.loss), &model.target).map_err(library)?, model.w());
        let settings = Settings { delta, cap: model.cap, seed: model.job.training.seed };
        let lists: Vec<&[u32]> = members.iter().map(Vec::as_slice).collect();
        let columns = columns(&loss, &data, &w, &lists).map_err(library)?;
        let intervals =
            evaluate_columns(&loss, &data, &lists, &columns, &settings).map_err(library)?;
        let mean = mean_over_rows(&loss, &w, &data).map_err(library)?;
        let mut first = None;
        let mut one_class = loss.correct(&vec![0.0; loss.outputs()], 0.0).is_some();
        each_score(&loss, &data, &w, |_, s| {
            one_class &= *first.get_or_insert(class_of(s)) == class_of(s);
        });
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
        let mean_over_rows = Mean { risk: mean.risk, accuracy: mean.accuracy };
        let rows = kept.len();
        let evaluated =
            Evaluated { names, families, known, rows, settings, intervals, mean_over_rows, notes };
        if let Some(page) = &self.report {
            let text = report::page::of_evaluation(&model, &self.tables, &evaluated)?;
            files::write_one(page, text)?;
        }
        if self.json {
            let text = serde_json::to_string_pretty(&evaluated)
                .map_err(|e| Failure::Machine(format!("cannot write the evaluation: {e}")))?;
            return files::print(&(text + "\n"));
        }
        files::print(&report::evaluation(&evaluated, self.all_groups))
    }
}

/// The weights of the rows, of which those without one are taken out; none when the model was
/// trained without weights or the table has none.
fn weights(
    table: &Table,
    rows: &mut Vec<u32>,
    model: &Model,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<f64>>> {
    let Some(column) = &model.job.data.weight else { return Ok(None) };
    let Some(weighted) = Weighted::of(table, rows, &model.job.data)? else {
        notes.push(format!(
            "the table has no column `{column}`, which weighs rows in training: rows count alike"
        ));
        return Ok(None);
    };
    if weighted.missing > 0 {
        let missing = weighted.missing;
        notes.push(format!("rows that miss the weight `{column}` and are left out: {missing}"));
    }
    if weighted.weightless > 0 {
        notes.push(format!("rows of weight 0 that are left out: {}", weighted.weightless));
    }
    notes.push(format!("rows are weighted by `{column}`"));
    *rows = weighted.rows;
    Ok(Some(weighted.weights))
}
