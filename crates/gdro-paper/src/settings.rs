//! What all experiments share: `settings.toml`.

use std::path::Path;

use gdro::average::Average;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, read_toml};

/// What all experiments share.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// Number of seeds of every run, at least 1: 1, 2, ….
    pub seeds: u64,
    /// Looks at a run per decade of rounds, at least 1.
    pub looks_per_decade: u32,
    /// Decades of rounds before the last round in which a run is looked at.
    pub decades: f64,
    /// δ of the bounds that gaps are held against.
    pub delta: f64,
    /// The rule `tuned`.
    pub tuned: Grid,
    /// What `--quick` changes.
    pub quick: Quick,
}

/// The grid that every method is tuned on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Grid {
    /// The average of the iterates that is the answer.
    pub average: Average,
    /// First of the seeds for tuning, that of the first look at a cell; none of them is one of the runs.
    pub first_seed: u64,
    /// Share of the rounds that the first look at a cell plays.
    pub share: f64,
    /// Number of cells, the best of the first look, that are played to the end.
    pub finalists: usize,
    /// Number of seeds of each of these: those after the first one.
    pub seeds: u64,
    /// How many times the grid may grow beyond an edge at which the best cell lies.
    pub widenings: u32,
    /// Multipliers on the theorem's η_w.
    pub step_w: Vec<f64>,
    /// Multipliers on the theorem's η_q (and γ).
    pub step_q: Vec<f64>,
}

/// A small version of everything.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Quick {
    /// Number of seeds.
    pub seeds: u64,
    /// Share of the rounds that are played, unless budgets fix them.
    pub rounds: f64,
}

/// Which steps a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepRule {
    /// Those of the theorems, with the average that the theorem speaks of.
    Theory,
    /// Multiples of them, tuned on a grid, with the average of the grid; with that of the theorem where
    /// steps fall with time.
    Tuned,
}

impl StepRule {
    /// Both.
    pub const ALL: [StepRule; 2] = [StepRule::Theory, StepRule::Tuned];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            StepRule::Theory => "theory",
            StepRule::Tuned => "tuned",
        }
    }
}

impl Settings {
    /// Reads `settings.toml` of a folder.
    ///
    /// # Errors
    /// When it cannot be read, or a number is out of range.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("settings.toml");
        let settings: Settings = read_toml(&path)?;
        let grid = &settings.tuned;
        let positive =
            |list: &[f64]| !list.is_empty() && list.iter().all(|v| *v > 0.0 && v.is_finite());
        let wrong = if settings.seeds == 0 || settings.quick.seeds == 0 {
            "seeds: expected at least 1"
        } else if settings.looks_per_decade == 0
            || settings.decades.is_nan()
            || settings.decades <= 0.0
        {
            "looks-per-decade, decades: expected numbers above 0"
        } else if !(settings.delta > 0.0 && settings.delta < 1.0) {
            "delta: expected 0 < delta < 1"
        } else if grid.seeds == 0 || grid.finalists == 0 {
            "tuned: seeds, finalists: expected at least 1"
        } else if !(grid.share > 0.0 && grid.share <= 1.0) {
            "tuned: share: expected 0 < share <= 1"
        } else if grid.first_seed <= settings.seeds {
            "first-seed: expected a seed that no run has"
        } else if !positive(&grid.step_w) || !positive(&grid.step_q) {
            "step-w, step-q: expected multipliers above 0"
        } else if !(settings.quick.rounds > 0.0 && settings.quick.rounds <= 1.0) {
            "rounds: expected 0 < share <= 1"
        } else {
            return Ok(settings);
        };
        Err(Error::content(&path, wrong))
    }

    /// The small version.
    #[must_use]
    pub fn quick(mut self) -> Self {
        self.seeds = self.quick.seeds;
        // Where nothing is tuned yet.
        (self.tuned.seeds, self.tuned.widenings) = (1, 0);
        self
    }
}
