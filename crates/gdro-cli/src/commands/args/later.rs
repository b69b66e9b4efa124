//! Options of commands that read a table for a saved model.

use std::path::PathBuf;

use clap::Args;
use gdro_data::{DataOptions, Format};
use gdro_train::model::Model;
use gdro_train::options::Kind;
use gdro_train::{Failure, Result};
use toml::Value;

/// What the files are.
#[derive(Debug, Args)]
pub struct FormatArg {
    /// csv, tsv, parquet, arrow or svmlight [default: that of the training if it was given, else
    /// detected by the content and the name]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
}

/// Group labels in files of their own.
#[derive(Debug, Args)]
pub struct GroupFileArg {
    /// Files with the group label of each row, where the training had them
    #[arg(long, value_name = "FILE,…")]
    group_file: Option<String>,
}

impl FormatArg {
    /// How a table without groups is read for a model.
    pub fn options(&self, model: &Model) -> Result<DataOptions> {
        let mut options = DataOptions { group_file: Vec::new(), ..model.job.data.clone() };
        if let Some(text) = &self.format {
            let format = Value::from(text.as_str()).try_into::<Format>().map_err(|_| {
                let expected = "expected csv, tsv, parquet, arrow or svmlight";
                Failure::input(format!("--format {text}: {expected}"))
            })?;
            options.format = Some(format);
        }
        Ok(options)
    }
}

impl GroupFileArg {
    /// Adds the files to options that [`FormatArg::options`] gave.
    pub fn give(&self, model: &Model, options: &mut DataOptions) -> Result<()> {
        match &self.group_file {
            Some(text) => {
                let paths =
                    Kind::List.parse(std::slice::from_ref(text)).unwrap_or(Value::Array(vec![]));
                options.group_file = paths.try_into::<Vec<PathBuf>>().unwrap_or_default();
            }
            None if !model.job.data.group_file.is_empty() => {
                return Err(Failure::input(
                    "--group-file: the groups of the model come from a file of labels: give that of this table",
                ));
            }
            None => {}
        }
        Ok(())
    }
}
