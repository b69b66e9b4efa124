//! `gdro certify`: the certificate of a model again.

use std::path::PathBuf;

use clap::Args;
use gdro_train::certify::certify;

use super::args::{FormatArg, GroupFileArg, MemoryArg};
use super::{load, pretty};
use crate::print;
use gdro_train::{Failure, Result};

/// Compute the certificate of a model again, from nothing but the model and the table it was
/// trained on.
#[derive(Debug, Args)]
#[command(before_help = super::help::CERTIFY)]
pub struct Certify {
    /// A model.json, or the folder it is in
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The files of the table that the model was trained on
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
    #[command(flatten)]
    memory: MemoryArg,
    #[command(flatten)]
    group_file: GroupFileArg,
    /// Print the certificate as JSON
    #[arg(long)]
    json: bool,
}

impl Certify {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        self.memory.apply();
        let model = load(&self.model, false)?;
        let mut options = self.format.options(&model)?;
        self.group_file.give(&model, &mut options)?;
        let found = certify(&model, &self.tables, &options).map_err(Failure::of_saved_model)?;
        if self.json {
            return print::text(&pretty(&found.now)?);
        }
        print::text(&gdro_report::certified(&model, &found))
    }
}
