//! What is to be done: a job, from a file, from options, or both.
//!
//! Every setting has one name, on the command line (`--step-w`) and in a job file (`step-w`).
//! Options win over `[solver.NAME]` tables, which win over the top level of the file.

mod choice;
mod resolve;
mod settings;
mod streaming;
mod training;

pub use choice::{Choice, Knob, Rule, Search};
pub use settings::{SOLVER, Settings};
pub use streaming::Streaming;
pub use training::{Baseline, Budget, LossName, Objective, SolverName, Training};

use std::collections::BTreeMap;
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
    /// How the table is streamed; it is read into memory when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<Streaming>,
    /// Where the results are written; nowhere when absent. The model is the same wherever it goes.
    #[serde(skip)]
    pub out: Option<PathBuf>,
    /// Where the page for a browser is written; nowhere when absent.
    #[serde(skip)]
    pub report: Option<PathBuf>,
    /// For messages: how to speak of each setting that was given.
    #[serde(skip)]
    places: BTreeMap<String, String>,
}

impl Job {
    /// Resolves a job from positional arguments (a job file, tables, or both) and options.
    pub fn resolve(inputs: &[PathBuf], options: Settings) -> Result<Self> {
        Self::settings(inputs, options)?.into_job()
    }

    /// Resolves a job and what `gdro select` is to do with it. Where a value is to be chosen, the
    /// job has the strongest one.
    pub fn resolve_choice(inputs: &[PathBuf], options: Settings) -> Result<(Self, Choice)> {
        let mut settings = Self::settings(inputs, options)?;
        let choice = settings.take_choice()?;
        Ok((settings.into_job()?, choice))
    }

    /// The settings of positional arguments and options together.
    fn settings(inputs: &[PathBuf], mut options: Settings) -> Result<Settings> {
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
        if !tables.is_empty() {
            let names: Result<Vec<&str>> = tables.into_iter().map(|path| utf8(path)).collect();
            options.set("tables", names?);
        }
        let solver = options.peek("solver").or(settings.peek("solver")).unwrap_or("auto");
        let solver = solver.to_owned();
        settings.overlay(options, &solver);
        Ok(settings)
    }

    /// The files to read for training on `tables`: the one whose rows are held out comes last.
    pub fn files(&self, tables: &[PathBuf]) -> Vec<PathBuf> {
        tables.iter().chain(&self.training.holdout_file).cloned().collect()
    }

    /// How to speak of a setting: `FILE:LINE: name` where a job file sets it, else `--name`.
    pub fn place(&self, name: &str) -> String {
        self.places.get(name).cloned().unwrap_or_else(|| format!("--{name}"))
    }
}

/// The text of a path: a model records its job, in UTF-8.
pub fn utf8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Failure::input(format!("{}: the name is not valid UTF-8: rename it", path.display()))
    })
}

/// A path of a job file, relative to the file's folder.
fn beside(file: &Path, path: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) => folder.join(path),
        None => path.to_owned(),
    }
}
