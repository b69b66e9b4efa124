//! What is shown and kept.

use clap::Args;
use gdro_report::Shown;
use gdro_train::{Failure, Result};

/// Which tables of a training run are shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct TrainArg {
    /// Show the table of training rows, too, below that of rows held out
    #[arg(long, hide_short_help = true)]
    pub train: bool,
}

/// What is shown and kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
    /// No progress and no tables; with --json, the JSON alone
    #[arg(long, short)]
    pub quiet: bool,
    /// Show every group, however many
    #[arg(long)]
    pub all_groups: bool,
}

impl TrainArg {
    /// What of a run is shown; refuses what does nothing.
    pub fn shown(&self, output: &OutputArgs) -> Result<Shown> {
        if self.train && (output.json || output.quiet) {
            return Err(Failure::input(
                "--train: no table is shown with --json or --quiet, and JSON holds both parts",
            ));
        }
        Ok(Shown { all_groups: output.all_groups, train: self.train, also: None })
    }
}

impl OutputArgs {
    /// Refuses options that do nothing together.
    pub fn check(&self) -> Result<()> {
        if self.all_groups && (self.json || self.quiet) {
            return Err(Failure::input(
                "--all-groups: no table is shown with --json or --quiet, and JSON holds all groups",
            ));
        }
        Ok(())
    }
}
