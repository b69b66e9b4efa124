//! The commands, one file each.

mod args;
pub mod certify;
pub mod completions;
pub mod evaluate;
pub mod example;
pub mod export;
pub mod fit;
pub mod help;
pub mod inspect;
pub mod man;
pub mod predict;
pub mod resume;
mod run;
pub mod select;
pub mod show;

use std::path::{Path, PathBuf};

use gdro_train::fit::Fitted;
use gdro_train::model::Model;
use gdro_train::{Failure, Result};
use serde::Serialize;

use crate::print;

/// Reads a model, and notes when its run was interrupted, unless notes are not wanted.
fn load(path: &Path, quiet: bool) -> Result<Model> {
    let model = Model::load(path)?;
    if !quiet && Model::is_unfinished(path) {
        print::note("this model is of a run that was interrupted: gdro resume finishes it");
    }
    Ok(model)
}

/// Something as JSON that people may read.
fn pretty(value: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|e| Failure::Machine(format!("cannot write JSON: {e}")))
}

/// The files of a training run.
fn files_of(out: &Path, fitted: &Fitted, summary: String) -> Result<Vec<(PathBuf, String)>> {
    Ok(vec![
        (out.join("model.json"), fitted.model.text()?),
        (out.join("summary.json"), summary),
        (out.join("trace.jsonl"), fitted.trace.text(&fitted.table.train_names())?),
    ])
}
