//! `gdro export`: a model for other programs.

use std::path::PathBuf;

use clap::Args;

use gdro_train::{Result, files};

use super::load;
use crate::print;

/// Write a model as ONNX, with its encoding: columns in, labels and probabilities out.
///
/// Every column is an input of shape (rows, 1): double for numbers, string for texts; NaN and the
/// empty text are missing cells, and what else meant one in training (--na) must be given so. Texts
/// have no blanks around them, true and false are spelled as in the table of the training, dates are
/// days since 1970-01-01. A missing cell where training had none gives no sensible answer.
///
/// Outputs are `label` and `probabilities` (`score` after training with a hinge loss), or
/// `prediction` for numbers. Features of LIBSVM files are one input `X` of shape (rows, features), by
/// increasing index. Hashed texts cannot be written.
#[derive(Debug, Args)]
#[command(before_help = super::help::EXPORT)]
pub struct Export {
    /// A model.json, or the folder it is in
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE.onnx")]
    out: PathBuf,
}

impl Export {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let model = load(&self.model, false)?;
        files::check_output(&self.out, &model.inputs(&self.model, &[]), "--out")?;
        print::file(&self.out, model.onnx()?)
    }
}
