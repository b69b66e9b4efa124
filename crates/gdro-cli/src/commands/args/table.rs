//! Options that say what the table means.

use clap::Args;
use toml::Value;

use super::{list, number};
use crate::failure::{Failure, Result};
use crate::job::Settings;

/// What the table means.
#[derive(Debug, Args)]
#[command(next_help_heading = "Table")]
pub struct TableArgs {
    /// Column to predict; or a comparison such as 'arr_delay>30'
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// Label that counts as positive [default: 1, yes, true, or the one that sorts last]
    #[arg(long, value_name = "LABEL", allow_negative_numbers = true)]
    positive: Option<String>,
    /// Group columns; every combination of their values is a group
    #[arg(long, value_name = "A,B,…")]
    groups: Option<String>,
    /// Merge values of a group column, as in race:Other=Eskimo|Islander (repeatable)
    #[arg(long, value_name = "COLUMN:NEW=OLD|OLD")]
    merge: Vec<String>,
    /// Whether group columns are features too [default: keep]
    #[arg(long, value_name = "keep|drop")]
    group_features: Option<String>,
    /// Share of the rows to hold out, stratified by group and label; from 1 on, rows per group
    /// [default: 0.2]
    #[arg(long, value_name = "F", allow_hyphen_values = true, value_parser = number)]
    holdout: Option<Value>,
    /// Intervals hold for all groups at once, and eliminate is right, with probability 1 − D
    /// [default: 0.05]
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = number)]
    delta: Option<Value>,
    /// Texts that mean a missing cell, besides the empty one
    #[arg(long, value_name = "TEXTS", allow_negative_numbers = true)]
    na: Option<String>,
    /// What to do with rows that miss a cell [default: error]
    #[arg(long, value_name = "error|drop")]
    missing: Option<String>,
    /// What to do with rows that miss a group label; own makes them a group [default: error]
    #[arg(long, value_name = "error|own|drop")]
    missing_group: Option<String>,
    /// Files with the group label of each row, one a line, which are the column `group`
    #[arg(long, value_name = "FILE,…")]
    group_file: Option<String>,
    /// Whether numbers are standardised [default: standard; none for the features of LIBSVM files]
    #[arg(long, value_name = "standard|none")]
    scaling: Option<String>,
    /// Columns that are no features
    #[arg(long, value_name = "A,B,…")]
    ignore: Option<String>,
    /// Columns that are text although they look numeric
    #[arg(long, value_name = "A,B,…")]
    text: Option<String>,
    /// Column of row weights
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// csv, tsv, parquet, arrow or svmlight [default: told by the content and the name]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Smallest index of LIBSVM files [default: 1, or 0 where it occurs]
    #[arg(long, value_name = "0|1", allow_hyphen_values = true, value_parser = number)]
    index_base: Option<Value>,
    /// Names of the columns, for files without a header
    #[arg(long, value_name = "A,B,…")]
    columns: Option<String>,
    /// What separates cells [default: a comma; a tab in *.tsv]
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// Skip lines that start with this text
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
}

impl TableArgs {
    /// Adds the options that were given.
    pub fn give(&self, settings: &mut Settings) -> Result<()> {
        settings.set_some("target", self.target.clone());
        settings.set_some("positive", self.positive.clone());
        settings.set_some("groups", self.groups.as_deref().map(list));
        settings.set_some("group-features", self.group_features.clone());
        settings.set_some("holdout", self.holdout.clone());
        settings.set_some("delta", self.delta.clone());
        settings.set_some("na", self.na.as_deref().map(list));
        settings.set_some("missing", self.missing.clone());
        settings.set_some("missing-group", self.missing_group.clone());
        settings.set_some("group-file", self.group_file.as_deref().map(list));
        settings.set_some("scaling", self.scaling.clone());
        settings.set_some("format", self.format.clone());
        settings.set_some("index-base", self.index_base.clone());
        settings.set_some("ignore", self.ignore.as_deref().map(list));
        settings.set_some("text", self.text.as_deref().map(list));
        settings.set_some("weight", self.weight.clone());
        settings.set_some("columns", self.columns.as_deref().map(list));
        settings.set_some("comment", self.comment.clone());
        // A shell passes a tab as it is typed: by its name.
        let delimiter = self.delimiter.as_deref().map(|d| if d == "\\t" { "\t" } else { d });
        settings.set_some("delimiter", delimiter);
        if !self.merge.is_empty() {
            settings.set("merge", merges(&self.merge)?);
        }
        Ok(())
    }
}

/// `COLUMN:NEW=OLD|OLD`, several times, as the table of a job file.
fn merges(texts: &[String]) -> Result<Value> {
    let mut columns = toml::Table::new();
    for text in texts {
        let parts = text.split_once(':').and_then(|(c, rest)| Some((c, rest.split_once('=')?)));
        let Some((column, (new, old))) = parts else {
            return Err(Failure::input(format!(
                "--merge {text}: expected COLUMN:NEW=OLD|OLD, as in race:Other=Eskimo|Islander"
            )));
        };
        let old = old.split('|').map(|v| Value::String(v.trim().to_owned())).collect();
        let column = columns
            .entry(column.trim().to_owned())
            .or_insert_with(|| Value::Table(toml::Table::new()));
        if let Value::Table(values) = column {
            values.insert(new.trim().to_owned(), Value::Array(old));
        }
    }
    Ok(Value::Table(columns))
}
