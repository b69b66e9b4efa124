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
use gdro_train::{Failure, Result};
use serde::Serialize;

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
