//! What is to be done: a job, from a file, from options, or both.
//!
//! Every setting has one name, on the command line (`--step-w`) and in a job file (`step-w`). Options
//! win over `[solver.NAME]` tables, which win over the top level of the file.

mod settings;
mod training;

pub use settings::Settings;
pub use training::{Baseline, Budget, Objective, Training};

use std::path::{Path, PathBuf};

use gdro_data::DataOptions;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};

/// A resolved job: nothing is left open, and it is saved with the model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The files of the table.
    pub tables: Vec<PathBuf>,
    /// How the table is read.
    pub data: DataOptions,
    /// How the model is trained.
    pub training: Training,
    /// Where the results are written; nowhere when absent.
    pub out: Option<PathBuf>,
}

impl Job {
    /// Resolves a job from positional arguments (a job file, tables, or both) and options.
    pub fn resolve(inputs: &[PathBuf], options: Settings) -> Result<Self> {
        let is_job = |path: &&PathBuf| path.extension().is_some_and(|e| e == "toml");
        let (files, tables): (Vec<_>, Vec<_>) = inputs.iter().partition(is_job);
        let mut settings = match files[..] {
            [] => Settings::default(),
            [file] => Settings::load(file)?,
            [first, second, ..] => {
                return Err(Failure::input(format!(
                    "two job files, {} and {}: expected one",
                    first.display(),
                    second.display()
                )));
            }
        };
        settings.select_solver(options.solver())?;
        settings.overlay(options);
        if !tables.is_empty() {
            settings.set_tables(tables.into_iter().cloned().collect());
        }
        settings.into_job()
    }
}

/// A path of a job file, relative to the file's folder.
fn beside(file: &Path, path: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) => folder.join(path),
        None => path.to_owned(),
    }
}
