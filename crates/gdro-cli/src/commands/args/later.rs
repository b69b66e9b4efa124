//! Options of commands that read a table for a saved model.

use std::path::PathBuf;

use clap::Args;
use gdro_data::{Bytes, DataOptions, Format};
use gdro_train::model::Model;
use gdro_train::options::Kind;
use gdro_train::{Failure, Result};
use toml::Value;

/// How much memory a command may take.
#[derive(Debug, Args)]
pub struct MemoryArg {
    /// Refuse a table or a model that would take more memory, before it is taken [default: what the
    /// machine, the control group and ulimit -v leave]
    #[arg(long, value_name = "SIZE")]
    memory: Option<Bytes>,
}

impl MemoryArg {
    /// Holds from now on.
    pub fn apply(&self) {
        self.memory.into_iter().for_each(gdro_data::limit_memory);
    }
}

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
    /// The files.
    pub fn files(&self) -> Vec<PathBuf> {
        let list =
            self.group_file.as_ref().map(|text| Kind::List.parse(std::slice::from_ref(text)));
        let list = list.and_then(std::result::Result::ok).unwrap_or(Value::Array(vec![]));
        list.try_into().unwrap_or_default()
    }

    /// Adds the files to options that [`FormatArg::options`] gave.
    pub fn give(&self, model: &Model, options: &mut DataOptions) -> Result<()> {
        match &self.group_file {
            Some(_) => options.group_file = self.files(),
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
