//! What a user says about a table.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::format::{GROUP, LABEL};
use crate::target::Comparison;

/// How a table is read and what its columns mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DataOptions {
    /// What the files are. Without it they tell by their first bytes and by their names, and are
    /// CSV if neither says otherwise.
    pub format: Option<Format>,
    /// Names of the columns of delimited files without a header. Without them the first line is
    /// the header.
    pub columns: Option<Vec<String>>,
    /// What separates cells of delimited files: a comma unless given, a tab in files named `*.tsv`
    /// (also `*.tsv.gz`, `*.tsv.zst`).
    pub delimiter: Option<char>,
    /// Lines that start with this text are skipped.
    pub comment: Option<String>,
    /// The smallest index of LIBSVM files, 0 or 1. Without it: 1, unless an index 0 occurs.
    pub index_base: Option<u32>,
    /// Files with the group label of each row, one a line, plain or compressed. They make the
    /// column `group`, which is no feature, and which groups are made of unless `groups` says
    /// otherwise.
    pub group_file: Vec<PathBuf>,
    /// Whether numbers are standardised. Without it they are, except the features of LIBSVM files.
    pub scaling: Option<Scaling>,
    /// The column to predict; or a comparison of a numeric column with a number, such as
    /// `arr_delay>30` (also `>=`, `<`, `<=`), which makes a binary task. A column of exactly this
    /// name comes first. [`crate::prepare`] needs it, reading does not. Of LIBSVM files: the
    /// column `label` unless given.
    pub target: Option<String>,
    /// The label that becomes +1 in a binary task. Without it: 1 over 0 and −1, yes, true, y and t
    /// over no, false, n and f in any case, else the label that sorts last. Of a comparison: what
    /// the target says.
    pub positive: Option<String>,
    /// Group columns: every combination of values that occurs is a group. No column: one group.
    pub groups: Vec<String>,
    /// Merged values of group columns: column → merged value → original values. Groups see the
    /// merged value, features the original ones.
    pub merge: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Columns that are no features.
    pub ignore: Vec<String>,
    /// Columns taken as text although they look numeric.
    pub text: Vec<String>,
    /// Column of row weights: finite and not negative. Rows of weight 0 are left out.
    pub weight: Option<String>,
    /// Whether group columns are features too.
    pub group_features: GroupFeatures,
    /// Texts that mean a missing cell, besides the empty cell.
    pub na: Vec<String>,
    /// What to do with a missing feature, target or weight.
    pub missing: Missing,
    /// What to do with a missing group label.
    pub missing_group: MissingGroup,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Delimited text, plain or compressed by gzip or zstd.
    Csv,
    /// The same with tabs.
    Tsv,
    /// Parquet.
    Parquet,
    /// Arrow IPC, a file or a stream.
    Arrow,
    /// LIBSVM or SVMlight, plain or compressed by gzip or zstd.
    Svmlight,
}

/// Whether numbers are standardised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// To mean 0 and deviation 1 over the training rows. Sparse features become dense.
    Standard,
    /// They are taken as they are.
    None,
}

impl Format {
    /// The format that a file name says.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        let (_, ending) = name.rsplit_once('.')?;
        match ending {
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "parquet" => Some(Format::Parquet),
            "arrow" | "arrows" | "feather" => Some(Format::Arrow),
            "svm" | "libsvm" | "svmlight" => Some(Format::Svmlight),
            _ => None,
        }
    }

    /// Formats that may be mixed in one table have the same number.
    pub(crate) fn family(self) -> u8 {
        match self {
            Format::Csv | Format::Tsv => 0,
            Format::Parquet | Format::Arrow => 1,
            Format::Svmlight => 2,
        }
    }

    /// The format in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Format::Csv => "delimited text",
            Format::Tsv => "text delimited by tabs",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow IPC",
            Format::Svmlight => "LIBSVM",
        }
    }
}

/// Whether group columns are features too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupFeatures {
    /// They are.
    #[default]
    Keep,
    /// They only define groups.
    Drop,
}

/// What to do with a missing feature, target or weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Refuse the table, naming the first such cell.
    #[default]
    Error,
    /// Leave the row out. This includes a group column that is a feature too, unless
    /// [`MissingGroup::Own`] gives its missing labels a group.
    Drop,
}

/// What to do with a missing group label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingGroup {
    /// Refuse the table, naming the first such row.
    #[default]
    Error,
    /// Missing is a label of its own, `(missing)`; also as a level of a text feature.
    Own,
    /// Leave the row out.
    Drop,
}

/// What is to be learnt from the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Two labels, −1 and +1.
    Binary,
    /// Classes 0, 1, …
    Multiclass,
    /// A number.
    Regression,
}

/// Which rows are held out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// None.
    None,
    /// A share of every group, rounded to whole rows and spread over the labels in proportion. In
    /// a group all but one row are held out at most. Regression has no labels to spread over.
    Share {
        /// In [0, 1).
        share: f64,
        /// Seed of the draw.
        seed: u64,
    },
    /// The same number of rows of every group, drawn without regard to labels; all but one row of
    /// a smaller group, which is noted.
    PerGroup {
        /// Number of rows.
        rows: usize,
        /// Seed of the draw.
        seed: u64,
    },
}

impl DataOptions {
    /// These options for files of a format, with what it implies: the target of LIBSVM files, the
    /// groups of a file of labels.
    pub(crate) fn filled(&self, sparse: bool) -> Self {
        let mut filled = self.clone();
        if sparse && filled.target.is_none() {
            filled.target = Some(LABEL.into());
        }
        if filled.groups.is_empty() && !filled.group_file.is_empty() {
            filled.groups = vec![GROUP.into()];
        }
        filled
    }

    /// Names of columns that have a role, with the name of the option that gives it.
    pub(crate) fn named_columns(&self) -> Vec<(&'static str, &str)> {
        let mut named = Vec::new();
        named.extend(self.target.iter().map(|n| ("target", n.as_str())));
        named.extend(self.weight.iter().map(|n| ("weight", n.as_str())));
        named.extend(self.groups.iter().map(|n| ("groups", n.as_str())));
        named.extend(self.merge.keys().map(|n| ("merge", n.as_str())));
        named.extend(self.ignore.iter().map(|n| ("ignore", n.as_str())));
        named.extend(self.text.iter().map(|n| ("text", n.as_str())));
        named
    }

    /// Whether a column is a feature, its kind aside.
    pub(crate) fn is_feature(&self, name: &str) -> bool {
        let is = |other: &Option<String>| other.as_deref() == Some(name);
        let dropped = self.group_features == GroupFeatures::Drop && self.is_group(name);
        let dropped = dropped || !self.group_file.is_empty() && name == GROUP;
        !is(&self.target) && !is(&self.weight) && !dropped && !self.is_ignored(name)
    }

    /// Whether a column defines groups.
    pub(crate) fn is_group(&self, name: &str) -> bool {
        self.groups.iter().any(|n| n == name)
    }

    /// Whether a column is named as no feature.
    pub(crate) fn is_ignored(&self, name: &str) -> bool {
        self.ignore.iter().any(|n| n == name)
    }

    /// These options for a table with these columns, with a target that is the name of a column:
    /// of the one that is compared, when it is a comparison.
    ///
    /// # Errors
    /// For a target that is neither; for options that contradict each other.
    pub(crate) fn settle(&self, names: &[String]) -> Result<(Self, Option<Comparison>)> {
        let (mut settled, mut comparison) = (self.clone(), None);
        if let Some(target) = self.target.as_ref().filter(|t| !names.contains(t))
            && let Some((column, found)) = Comparison::parse(target, names)?
        {
            if let Some(column) = self.text.iter().find(|n| *n == column) {
                let expected = "not the target, whose numbers are compared".into();
                return Err(Error::Option {
                    option: "text",
                    found: format!("`{column}`"),
                    expected,
                });
            }
            settled.target = Some(column.to_owned());
            comparison = Some(found);
        }
        settled.check()?;
        Ok((settled, comparison))
    }

    /// Refuses options that contradict each other.
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |option, found: String, expected: &str| {
            Err(Error::Option { option, found, expected: expected.to_owned() })
        };
        if let Some(c) = self.delimiter.filter(|c| matches!(c, '"' | '\n' | '\r')) {
            return refuse("delimiter", format!("{c:?}"), "a character that can separate cells");
        }
        if self.format == Some(Format::Tsv)
            && let Some(c) = self.delimiter.filter(|c| *c != '\t')
        {
            return refuse("delimiter", format!("{c:?}"), "none with the format tsv, or csv");
        }
        if let Some(base) = self.index_base.filter(|base| *base > 1) {
            return refuse("index-base", base.to_string(), "0 or 1");
        }
        if self.comment.as_deref() == Some("") {
            return refuse("comment", "an empty text".into(), "the text that starts a comment");
        }
        let grouped = self.groups.is_empty() || self.is_group(GROUP);
        if !self.group_file.is_empty() && !grouped {
            let found = format!("its labels are the column `{GROUP}`");
            return refuse("group-file", found, "groups that are made of it, or no such file");
        }
        for (i, name) in self.groups.iter().enumerate() {
            if self.groups[..i].contains(name) {
                return refuse("groups", format!("`{name}` twice"), "each column once");
            }
        }
        for (column, merged) in &self.merge {
            if !self.is_group(column) {
                return refuse("merge", format!("`{column}`"), "a column that groups are made of");
            }
            let mut seen = BTreeMap::new();
            for (new, old) in merged.iter().flat_map(|(new, old)| old.iter().map(move |o| (new, o)))
            {
                if let Some(other) = seen.insert(old, new).filter(|other| *other != new) {
                    let found = format!("`{old}` of `{column}` in `{other}` and in `{new}`");
                    return refuse("merge", found, "each value in one merged value");
                }
            }
        }
        for (option, name) in [("target", &self.target), ("weight", &self.weight)] {
            if let Some(name) = name.as_deref().filter(|n| self.is_ignored(n)) {
                return refuse("ignore", format!("`{name}`"), &format!("not the {option}"));
            }
        }
        if let Some(name) = self.weight.as_deref() {
            if self.target.as_deref() == Some(name) || self.is_group(name) {
                let found = format!("`{name}`");
                return refuse("weight", found, "a column that is not the target or a group");
            }
            if self.text.iter().any(|n| n == name) {
                return refuse("text", format!("`{name}`"), "not the weight, which is a number");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_program() {
        let json = r#"{"group-features":"drop","missing":"drop","missing-group":"own",
            "merge":{"race":{"Other":["a","b"]}},"groups":["race"],"delimiter":";"}"#;
        let options: DataOptions = serde_json::from_str(json).unwrap();
        assert_eq!(options.group_features, GroupFeatures::Drop);
        assert_eq!(options.missing, Missing::Drop);
        assert_eq!(options.missing_group, MissingGroup::Own);
        assert_eq!(options.delimiter, Some(';'));
        let again: DataOptions =
            serde_json::from_str(&serde_json::to_string(&options).unwrap()).unwrap();
        assert_eq!(again, options);
        assert!(serde_json::from_str::<DataOptions>(r#"{"mising":"drop"}"#).is_err());
    }

    #[test]
    fn contradictions_are_refused() {
        let message = |json: &str| {
            serde_json::from_str::<DataOptions>(json).unwrap().check().unwrap_err().to_string()
        };
        assert_eq!(
            message(r#"{"target":"y","ignore":["y"]}"#),
            "ignore: `y`: expected not the target"
        );
        assert_eq!(
            message(r#"{"groups":["g","g"]}"#),
            "groups: `g` twice: expected each column once"
        );
        assert_eq!(
            message(r#"{"merge":{"g":{"a":["b"]}}}"#),
            "merge: `g`: expected a column that groups are made of"
        );
        assert_eq!(
            message(r#"{"groups":["g"],"merge":{"g":{"a":["x"],"b":["x"]}}}"#),
            "merge: `x` of `g` in `a` and in `b`: expected each value in one merged value"
        );
        assert!(message(r#"{"target":"y","weight":"y"}"#).starts_with("weight: `y`"));
        assert!(message(r#"{"weight":"w","text":["w"]}"#).starts_with("text: `w`"));
        assert!(message(r#"{"comment":""}"#).starts_with("comment: an empty text"));
        assert!(message(r#"{"delimiter":"\""}"#).starts_with("delimiter: '\"'"));
    }
}
