//! What is to be done: a job, from a file, from options, or both.
//!
//! Every setting has one name, on the command line (`--step-w`) and in a job file (`step-w`).
//! Options win over `[solver.NAME]` tables, which win over the top level of the file.

mod choice;
mod criterion;
mod resolve;
mod streaming;
mod training;

pub use choice::{Against, Choice, Fitting, Hyperparameter, Search};
pub use criterion::Criterion;
pub use resolve::utf8;
pub use streaming::Streaming;
pub use training::{Budget, LossName, PerGroup, Training};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gdro_data::DataOptions;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::options::Front;

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
    /// Seconds between checkpoints, where they were given; none are written when 0.
    #[serde(skip)]
    pub checkpoint_every: Option<f64>,
    /// The job file, if there is one.
    #[serde(skip)]
    file: Option<PathBuf>,
    /// Who talks to the user.
    #[serde(skip)]
    front: Front,
    /// For messages: what to call each setting that was given.
    #[serde(skip)]
    places: BTreeMap<String, String>,
}

impl Job {
    /// The files to read for training on `tables`: the one whose rows are held out comes last.
    pub fn files(&self, tables: &[PathBuf]) -> Vec<PathBuf> {
        tables.iter().chain(&self.training.holdout_file).cloned().collect()
    }

    /// What to call a setting: `FILE:LINE: name` where a job file sets it, else `--name`, and
    /// `name` in Python.
    pub fn place(&self, name: &str) -> String {
        self.places.get(name).cloned().unwrap_or_else(|| self.front.name(name))
    }

    /// A refusal that speaks of a setting.
    pub fn refusal(&self, name: &str, message: impl std::fmt::Display) -> Failure {
        Failure::input(format!("{}: {message}", self.place(name)))
    }

    /// The job file, if the comment that it starts with names a table.
    fn tells_of(&self, table: &Path) -> Option<&Path> {
        let (file, name) = (self.file.as_deref()?, table.file_name()?.to_str()?);
        let text = std::fs::read_to_string(file).ok()?;
        let mut comment = text.lines().take_while(|line| line.trim_start().starts_with('#'));
        comment.any(|line| line.contains(name)).then_some(file)
    }

    /// An error of the table; one about an option says where the option was given.
    pub fn refuse(&self, error: &gdro_data::Error) -> Failure {
        let message = error.text(|setting| self.front.setting(setting));
        if let gdro_data::Error::Open { file, why } = error
            && why.kind() == std::io::ErrorKind::NotFound
            && let Some(job) = self.tells_of(Path::new(file))
        {
            let (job, why) = (job.display(), "says where to get it");
            return Failure::Input(format!("{message}: the comment at the start of {job} {why}"));
        }
        let about = error.option().and_then(|name| Some((name, message.strip_prefix(name)?)));
        Failure::Input(match about {
            Some((name, rest)) => self.place(name) + rest,
            None => message,
        })
    }
}
