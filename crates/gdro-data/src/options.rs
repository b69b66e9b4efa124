//! What a user says about a table.

mod missing;

pub use missing::{Missing, MissingCells};

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Error, Result};
use crate::format::{GROUP, LABEL};
use crate::groups::{self, GroupEntry};
use crate::target::Comparison;

/// Largest number of buckets of a hashed column.
const MOST_BUCKETS: u32 = 1 << 24;

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
    /// Group columns: every combination of labels that occurs is a group. No column: one group.
    /// Several families: a row is in one group of each.
    pub groups: Vec<GroupEntry>,
    /// Merged values of group columns: column → merged value → original values. Groups see the
    /// merged value, features the original ones.
    pub merge: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Columns that are no features.
    pub ignore: Vec<String>,
    /// Columns taken as text although they look numeric.
    pub text: Vec<String>,
    /// Texts of fewer training rows (at least 2) become the level `(rare)` of their column.
    pub min_count: Option<usize>,
    /// Columns taken as text and hashed: column → number of buckets, 2 to 2^24. See
    /// [`crate::FeatureColumn::Hash`].
    pub hash: BTreeMap<String, u32>,
    /// Column of row weights: finite and not negative. Rows of weight 0 are left out.
    pub weight: Option<String>,
    /// The column that says which rows are held out, for [`Split::Column`]. It is text, and no
    /// feature.
    pub holdout_column: Option<String>,
    /// The texts of that column in rows that are held out. A single one may stand without a list.
    #[serde(deserialize_with = "one_or_many")]
    pub holdout_value: Vec<String>,
    /// Whether group columns are features too.
    pub group_features: GroupFeatures,
    /// Texts that mean a missing cell, besides the empty cell.
    pub na: Vec<String>,
    /// What to do with a missing feature, target or weight, by column. Targets and weights are
    /// refused under policies that keep rows.
    pub missing: MissingCells,
    /// What to do with a missing group label.
    pub missing_group: MissingGroup,
    /// Smallest number of rows of a group, at least 2, before rows are held out; any number when
    /// absent.
    pub min_group: Option<usize>,
    /// What to do with groups of fewer rows.
    pub small_groups: SmallGroups,
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

/// What to do with a missing group label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingGroup {
    /// Refuse the table, naming the first such row.
    #[default]
    Error,
    /// Missing is a label of its own, `(missing)`; also as a level of a text feature.
    Own,
    /// Leave the row out. A row that is in a group of another family stays, unless the column is a
    /// feature or the target, too.
    Drop,
}

/// What to do with groups of fewer rows than [`DataOptions::min_group`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmallGroups {
    /// Refuse the table, naming them.
    #[default]
    Error,
    /// Make them one group of their family, `(small)`.
    Merge,
    /// Leave their rows out; a row that is in a group of another family stays.
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
    /// The rows with one of [`DataOptions::holdout_value`] in [`DataOptions::holdout_column`].
    Column,
    /// The rows of the last file of the table. Labels are those of the other files.
    LastFile,
}

/// Reads a text as a list of one.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Texts;
    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a text or a list of texts")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<String>, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = seq.next_element()? {
                texts.push(text);
            }
            Ok(texts)
        }
    }
    deserializer.deserialize_any(Texts)
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

    /// Names of columns that have a role, with the name of the option that gives it. The target's
    /// `comparison` is no column, although it may stand among the groups.
    pub(crate) fn named_columns(
        &self,
        comparison: Option<Comparison>,
    ) -> Vec<(&'static str, &str)> {
        let label = self.target.as_deref().zip(comparison).map(|(t, c)| c.label(t));
        let mut named = Vec::new();
        named.extend(self.target.iter().map(|n| ("target", n.as_str())));
        named.extend(self.weight.iter().map(|n| ("weight", n.as_str())));
        let groups = self.group_columns().map(|(n, _)| ("groups", n));
        named.extend(groups.filter(|(_, n)| Some(*n) != label.as_deref()));
        named.extend(self.merge.keys().map(|n| ("merge", n.as_str())));
        named.extend(self.ignore.iter().map(|n| ("ignore", n.as_str())));
        named.extend(self.holdout_column.iter().map(|n| ("holdout-column", n.as_str())));
        named.extend(self.text.iter().map(|n| ("text", n.as_str())));
        named.extend(self.hash.keys().map(|n| ("hash", n.as_str())));
        named.extend(self.missing.columns.keys().map(|n| ("missing", n.as_str())));
        named
    }

    /// Whether a column is a feature, its kind aside.
    pub(crate) fn is_feature(&self, name: &str) -> bool {
        let is = |other: &Option<String>| other.as_deref() == Some(name);
        let dropped = self.group_features == GroupFeatures::Drop && self.is_group(name);
        let dropped = dropped || !self.group_file.is_empty() && name == GROUP;
        let used = is(&self.target) || is(&self.weight) || is(&self.holdout_column);
        !used && !dropped && !self.is_ignored(name)
    }

    /// The columns that define groups, with the cuts of those that are cut. In settled options a
    /// comparison that is the target stands as its label.
    fn group_columns(&self) -> impl Iterator<Item = (&str, Option<&[f64]>)> {
        self.groups.iter().flat_map(GroupEntry::columns)
    }

    /// Number of families of groups: 1 unless there are several.
    pub fn families(&self) -> usize {
        let families = self.groups.iter().filter(|e| matches!(e, GroupEntry::Family(_)));
        families.count().max(1)
    }

    /// Whether a column defines groups.
    pub(crate) fn is_group(&self, name: &str) -> bool {
        self.group_columns().any(|(n, _)| n == name)
    }

    /// Whether the values of a column are group labels.
    pub(crate) fn is_label(&self, name: &str) -> bool {
        self.group_columns().any(|(n, cuts)| n == name && cuts.is_none())
    }

    /// Whether a numeric column is cut into groups.
    pub(crate) fn is_cut(&self, name: &str) -> bool {
        self.group_columns().any(|(n, cuts)| n == name && cuts.is_some())
    }

    /// Whether a column is named as text, whatever its cells look like.
    pub(crate) fn is_text(&self, name: &str) -> bool {
        self.text.iter().any(|n| n == name) || self.hash.contains_key(name)
    }

    /// Whether a column is named as no feature.
    pub(crate) fn is_ignored(&self, name: &str) -> bool {
        self.ignore.iter().any(|n| n == name)
    }

    /// These options for a table with these columns: with a target that is the name of a column, of
    /// the one that is compared when it is a comparison; and with groups as [`groups::settle`] gives
    /// them.
    ///
    /// # Errors
    /// For a target that is neither; for groups that are none; for options that contradict each
    /// other.
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
        let target = settled.target.as_deref().zip(comparison);
        settled.groups = groups::settle(&self.groups, names, |text| {
            let (column, comparison) = target?;
            let meant = Comparison::parse(text, names).ok().flatten();
            (meant == target).then(|| comparison.label(column))
        })?;
        settled.check()?;
        settled.check_groups()?;
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
        let means = std::iter::once(&self.missing.default).chain(self.missing.columns.values());
        if self.scaling == Some(Scaling::None) && means.into_iter().any(|m| *m == Missing::Mean) {
            let expected = "standard, since numbers as they are have no mean of 0 to stand in, or \
                            missing cells of their own category (missing)";
            return refuse("scaling", "none".into(), expected);
        }
        if let Some(least) = self.min_group {
            if least < 2 {
                let expected = "at least 2: every group has a row";
                return refuse("min-group", least.to_string(), expected);
            }
            if self.groups.is_empty() {
                return refuse("min-group", least.to_string(), "groups: there is no group column");
            }
        } else if self.small_groups != SmallGroups::Error {
            let expected = "a smallest number of rows, too (min-group)";
            return refuse("small-groups", "given alone".into(), expected);
        }
        for (column, merged) in &self.merge {
            let mut seen = BTreeMap::new();
            for (new, old) in merged.iter().flat_map(|(new, old)| old.iter().map(move |o| (new, o)))
            {
                if let Some(other) = seen.insert(old, new).filter(|other| *other != new) {
                    let found = format!("`{old}` of `{column}` in `{other}` and in `{new}`");
                    return refuse("merge", found, "each value in one merged value");
                }
            }
        }
        let used = [
            ("target", &self.target),
            ("weight", &self.weight),
            ("holdout-column", &self.holdout_column),
        ];
        for (option, name) in used {
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
        if let Some(name) = &self.holdout_column {
            let used = self.target.as_ref() == Some(name) || self.weight.as_ref() == Some(name);
            if used {
                let expected = "a column that is not the target or the weight";
                return refuse("holdout-column", format!("`{name}`"), expected);
            }
            if self.text.contains(name) {
                let expected = "not the holdout-column, which is text anyway";
                return refuse("text", format!("`{name}`"), expected);
            }
            if self.holdout_value.is_empty() {
                let expected = "holdout-value: the texts of the rows to hold out";
                return refuse("holdout-column", format!("`{name}` alone"), expected);
            }
        } else if !self.holdout_value.is_empty() {
            let expected = "the column that has it: name it with holdout-column";
            return refuse("holdout-value", "no column is named".into(), expected);
        }
        if let Some(n @ (0 | 1)) = self.min_count {
            return refuse("min-count", n.to_string(), "a number of rows of at least 2");
        }
        for (name, buckets) in &self.hash {
            if !self.is_feature(name) {
                return refuse("hash", format!("`{name}`"), "a column that is a feature");
            }
            if !(2..=MOST_BUCKETS).contains(buckets) {
                let expected = format!("2 to {MOST_BUCKETS} buckets");
                return refuse("hash", format!("{buckets} buckets for `{name}`"), &expected);
            }
            if self.text.contains(name) {
                let expected = "a column in one of text and hash: hashed columns are text";
                return refuse("text", format!("`{name}`"), expected);
            }
        }
        self.check_missing()
    }

    /// Refuses policies for missing cells that cannot be followed.
    fn check_missing(&self) -> Result<()> {
        for (name, policy) in &self.missing.columns {
            let is = |other: &Option<String>| other.as_ref() == Some(name);
            let used = is(&self.target) || is(&self.weight) || is(&self.holdout_column);
            let expected = if used {
                policy.keeps().then_some("error or drop: only features are made up")
            } else if !self.is_feature(name) {
                Some("a column that is a feature, the target or the weight")
            } else if self.is_group(name) {
                let fits = match self.missing_group {
                    MissingGroup::Error => !policy.keeps(),
                    MissingGroup::Own => policy.keeps(),
                    MissingGroup::Drop => false,
                };
                (!fits)
                    .then_some("a policy that agrees with missing-group, which group labels follow")
            } else {
                None
            };
            if let Some(expected) = expected {
                let found = format!("`{name}={}`", policy.name());
                let expected = expected.to_owned();
                return Err(Error::Option { option: "missing", found, expected });
            }
        }
        Ok(())
    }

    /// Refuses settled options that contradict the groups.
    fn check_groups(&self) -> Result<()> {
        let refuse = |option, name: &str, expected: &str| {
            let (found, expected) = (format!("`{name}`"), expected.to_owned());
            Err(Error::Option { option, found, expected })
        };
        for column in self.merge.keys() {
            if self.is_cut(column) && !self.is_label(column) {
                let expected = "a column whose values are groups, and this one is cut into bins";
                return refuse("merge", column, expected);
            }
            if !self.is_label(column) {
                return refuse("merge", column, "a column that groups are made of");
            }
        }
        match self.text.iter().find(|name| self.is_cut(name)) {
            Some(column) => {
                let expected = "not a group column that is cut, whose numbers are compared";
                refuse("text", column, expected)
            }
            None => Ok(()),
        }
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
        assert_eq!(options.missing, Missing::Drop.into());
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
            let options = serde_json::from_str::<DataOptions>(json).unwrap();
            options.settle(&["g".into(), "y".into()]).unwrap_err().to_string()
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
        assert_eq!(
            message(r#"{"groups":["g:3"],"merge":{"g":{"a":["x"]}}}"#),
            "merge: `g`: expected a column whose values are groups, and this one is cut into bins"
        );
        assert!(
            message(r#"{"groups":["g:3"],"text":["g"]}"#).starts_with("text: `g`: expected not")
        );
        assert!(message(r#"{"groups":["g:3"],"weight":"g"}"#).starts_with("weight: `g`"));
        assert!(message(r#"{"groups":["g"],"min-group":1}"#).starts_with("min-group: 1: expected"));
        assert!(message(r#"{"min-group":5}"#).ends_with("there is no group column"));
        assert_eq!(
            message(r#"{"groups":["g"],"small-groups":"drop"}"#),
            "small-groups: given alone: expected a smallest number of rows, too (min-group)"
        );
        assert!(message(r#"{"target":"y","weight":"y"}"#).starts_with("weight: `y`"));
        assert!(message(r#"{"weight":"w","text":["w"]}"#).starts_with("text: `w`"));
        assert!(message(r#"{"comment":""}"#).starts_with("comment: an empty text"));
        assert!(message(r#"{"delimiter":"\""}"#).starts_with("delimiter: '\"'"));
    }
}
