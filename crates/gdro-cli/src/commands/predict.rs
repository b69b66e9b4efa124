//! `gdro predict`: the predictions of a model.

use std::path::PathBuf;

use clap::Args;
use gdro_train::predict::predict;
use gdro_train::{Failure, Result, files};

use super::args::{FormatArg, MemoryArg};
use super::load;
use crate::print;

/// Predict the rows of a table: a CSV with a line for each row, in the order of the rows.
///
/// The columns are `prediction`, and for labels the probability of each (binary targets:
/// `probability` of the positive one; after training with a hinge loss, whose scores are no
/// log-odds, `score`). A row that misses a feature gets empty cells, or is refused with
/// --strict. The whole table is read into memory: split one that is larger.
#[derive(Debug, Args)]
#[command(before_help = super::help::PREDICT)]
pub struct Predict {
    /// A model.json, or the folder it is in
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Files of one table; it needs the features of the model and nothing else
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
    #[command(flatten)]
    memory: MemoryArg,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Let names that a spreadsheet would run as formulas, such as `=1+1`, begin with an apostrophe
    #[arg(long)]
    spreadsheet_safe: bool,
    /// Refuse rows that miss a feature, even where a mean stands in for it, or hold a text that training
    /// never saw, instead of a note
    #[arg(long)]
    strict: bool,
    /// No notes beside the predictions
    #[arg(long, short)]
    quiet: bool,
}

impl Predict {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        self.memory.apply();
        let model = load(&self.model, self.quiet)?;
        if let Some(file) = &self.out {
            files::check_output(file, &model.inputs(&self.model, &self.tables), "--out")?;
        }
        let options = self.format.options(&model)?;
        let predicted = predict(&model, &self.tables, &options, self.spreadsheet_safe)
            .map_err(Failure::of_saved_model)?;
        if self.strict && !predicted.doubts.is_empty() {
            return Err(Failure::input(format!("--strict: {}", predicted.doubts.join("; "))));
        }
        if !self.quiet {
            predicted.notes.iter().chain(&predicted.doubts).for_each(|note| print::note(note));
        }
        match &self.out {
            Some(file) => print::file(file, predicted.text),
            None => print::text(&predicted.text),
        }
    }
}
