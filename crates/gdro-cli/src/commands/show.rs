//! `gdro show`: what a saved model is.

use std::path::PathBuf;

use clap::Args;

use gdro_train::Result;

use super::load;
use crate::print;

/// Show what a saved model is: how it was trained, on which groups, how good it is, and its
/// weights.
#[derive(Debug, Args)]
#[command(before_help = super::help::SHOW)]
pub struct Show {
    /// A model.json, or the folder it is in
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Show all weights instead of the largest
    #[arg(long)]
    all: bool,
}

impl Show {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        print::text(&gdro_report::model(&load(&self.model, false)?, self.all))
    }
}
