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
    /// Group columns; every combination of their values is a group. age:25,40,60 cuts a numeric
    /// column into age<=25, 25<age<=40, … Given several times: families; a row is in one group of
    /// each, and the worst group is that of all families
    #[arg(long, value_name = "A,B:CUT,CUT,…")]
    groups: Vec<String>,
    /// Smallest number of rows of a group, before rows are held out [default: any]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number)]
    min_group: Option<Value>,
    /// What to do with smaller groups; merge makes them one, (small), drop leaves their rows out
    /// unless another family has a group for them [default: error]
    #[arg(long, value_name = "error|merge|drop")]
    small_groups: Option<String>,
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
    /// Hold out the rows of this file, another table of the same columns
    #[arg(long, value_name = "FILE")]
    holdout_file: Option<String>,
    /// Hold out the rows that have --holdout-value in this column, which is no feature
    #[arg(long, value_name = "COLUMN")]
    holdout_column: Option<String>,
    /// Texts of --holdout-column in rows to hold out
    #[arg(long, value_name = "TEXT,…", allow_negative_numbers = true)]
    holdout_value: Option<String>,
    /// Intervals hold for all groups at once, and eliminate is right, with probability 1 − D
    /// [default: 0.05]
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = number)]
    delta: Option<Value>,
    /// Texts that mean a missing cell, besides the empty one
    #[arg(long, value_name = "TEXTS", allow_negative_numbers = true)]
    na: Option<String>,
    /// What to do with missing cells: error; drop (the row); mean (of the training rows; texts:
    /// own-category); own-category (texts: a level `(missing)`; numbers: the mean and an
    /// indicator). COLUMN=POLICY for one column (repeatable) [default: error]
    #[arg(long, value_name = "[COLUMN=]POLICY")]
    missing: Vec<String>,
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
    /// Fold the texts of a column that fewer than N training rows have into one level, `(rare)`
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number)]
    min_count: Option<Value>,
    /// Turn a column with many texts into B indicators of the bucket of a hash [default: 1024
    /// buckets] (repeatable)
    #[arg(long, value_name = "COLUMN[=B]")]
    hash: Vec<String>,
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
    /// Whether a level of intervals was given.
    pub fn has_delta(&self) -> bool {
        self.delta.is_some()
    }

    /// Adds the options that were given.
    pub fn give(&self, settings: &mut Settings) -> Result<()> {
        settings.set_some("target", self.target.clone());
        settings.set_some("positive", self.positive.clone());
        settings.set_some("groups", families(&self.groups));
        settings.set_some("min-group", self.min_group.clone());
        settings.set_some("small-groups", self.small_groups.clone());
        settings.set_some("group-features", self.group_features.clone());
        settings.set_some("holdout", self.holdout.clone());
        settings.set_some("holdout-file", self.holdout_file.clone());
        settings.set_some("holdout-column", self.holdout_column.clone());
        settings.set_some("holdout-value", self.holdout_value.as_deref().map(list));
        settings.set_some("delta", self.delta.clone());
        settings.set_some("na", self.na.as_deref().map(list));
        settings.set_some("min-count", self.min_count.clone());
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
        if !self.missing.is_empty() {
            settings.set("missing", policies(&self.missing)?);
        }
        if !self.hash.is_empty() {
            settings.set("hash", buckets(&self.hash)?);
        }
        Ok(())
    }
}

/// One family as a list of columns, several as a list of such lists.
fn families(texts: &[String]) -> Option<Value> {
    match texts {
        [] => None,
        [one] => Some(list(one)),
        several => Some(Value::Array(several.iter().map(|text| list(text)).collect())),
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

/// `POLICY` or `COLUMN=POLICY`, several times, as a job file has them: one policy, or a table.
fn policies(texts: &[String]) -> Result<Value> {
    const DEFAULT: &str = "default";
    let mut policies = toml::Table::new();
    for text in texts {
        let refuse = |why: &str| Err(Failure::input(format!("--missing {text}: {why}")));
        let (column, policy) = match text.rsplit_once('=') {
            Some((DEFAULT, _)) => {
                return refuse("a column of this name has the policy of all columns: rename it");
            }
            Some((column, policy)) => (unquoted(column), policy.trim()),
            None => (DEFAULT.to_owned(), text.trim()),
        };
        if policies.insert(column, policy.into()).is_some() {
            return refuse("given twice: expected one policy, or one for each column");
        }
    }
    match (policies.len(), policies.get(DEFAULT)) {
        (1, Some(policy)) => Ok(policy.clone()),
        _ => Ok(Value::Table(policies)),
    }
}

/// `COLUMN` or `COLUMN=BUCKETS`, several times, as the table of a job file.
fn buckets(texts: &[String]) -> Result<Value> {
    const USUAL: i64 = 1024;
    let mut columns = toml::Table::new();
    for text in texts {
        let (column, buckets) = match text.rsplit_once('=') {
            None => (text.as_str(), Some(USUAL)),
            Some((column, buckets)) => (column, buckets.trim().parse().ok()),
        };
        let Some(buckets) = buckets else {
            return Err(Failure::input(format!(
                "--hash {text}: expected COLUMN or COLUMN=BUCKETS, as in tailnum=1024"
            )));
        };
        if columns.insert(unquoted(column), Value::Integer(buckets)).is_some() {
            return Err(Failure::input(format!("--hash {text}: the column is given twice")));
        }
    }
    Ok(Value::Table(columns))
}

/// The name of a column, which may stand in quotes.
fn unquoted(column: &str) -> String {
    let column = column.trim();
    let inner = column.strip_prefix('"').and_then(|c| c.strip_suffix('"'));
    inner.map_or(column.to_owned(), |c| c.replace("\"\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(texts: &[&str], parse: fn(&[String]) -> Result<Value>) -> String {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        match parse(&texts) {
            Ok(value) => value.to_string(),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn policies_are_one_or_a_table() {
        assert_eq!(given(&["drop"], policies), r#""drop""#);
        let table = given(&["mean", "ca=drop", "a=b=error", "\"x,y\"=drop"], policies);
        let table: toml::Table = format!("t = {table}").parse().unwrap();
        let expected: toml::Table =
            "t = {default = 'mean', ca = 'drop', 'a=b' = 'error', 'x,y' = 'drop'}".parse().unwrap();
        assert_eq!(table, expected);
        assert!(given(&["mean", "drop"], policies).starts_with("--missing drop: given twice"));
        assert!(given(&["default=drop"], policies).contains("rename it"));
    }

    #[test]
    fn hashes_have_a_usual_number_of_buckets() {
        assert_eq!(given(&["a"], buckets), "{ a = 1024 }");
        assert_eq!(given(&["a=64"], buckets), "{ a = 64 }");
        assert!(given(&["a=many"], buckets).starts_with("--hash a=many: expected COLUMN or"));
        assert!(given(&["a", "a=3"], buckets).starts_with("--hash a=3: the column is given twice"));
    }
}
