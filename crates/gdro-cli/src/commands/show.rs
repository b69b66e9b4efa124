//! `gdro show`: what a saved model is.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Result;
use crate::model::Model;
use crate::{files, report};

/// Show what a saved model is: how it was trained, on which groups, how good it is, and its
/// weights.
#[derive(Debug, Args)]
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
        files::print(&report::model(&Model::load(&self.model)?, self.all))
    }
}
