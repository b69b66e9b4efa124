//! What a user says about a table.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::character;
use super::choices::{Format, GroupFeatures, MissingGroup, Scaling, SmallGroups, WeightKind};
use super::comparison::Comparison;
use super::entry::GroupEntry;
use super::missing::MissingCells;
use crate::labels::GROUP;
use crate::table::DateOrder;

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
    /// What separates cells of delimited files. Without it: a tab in files named `*.tsv` (also
    /// `*.tsv.gz`, `*.tsv.zst`), what a first line `sep=;` says, else that of comma, semicolon, tab
    /// and pipe which splits the first records (100 at most, within 64 KiB; quotes observed) into
    /// the same number of cells, at least two. When none does, a comma if there is one in the first
    /// record, or what alone is there; when several do, that is an error.
    #[serde(deserialize_with = "character::named")]
    pub delimiter: Option<char>,
    /// The decimal sign of numbers in texts: a point unless given, or a comma.
    #[serde(deserialize_with = "character::named")]
    pub decimal: Option<char>,
    /// What stands between the thousands of numbers in texts: a comma, a point, an apostrophe or a
    /// blank (of any width). Nothing unless given.
    #[serde(deserialize_with = "character::named")]
    pub thousands: Option<char>,
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
    /// over no, false, n and f in any case (likewise in German, French, Spanish, Portuguese, Italian
    /// and Dutch), else the label that sorts last. Of a comparison: what the target says.
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
    /// Columns taken as numbers although leading zeros look like codes.
    pub number: Vec<String>,
    /// Columns of dates, which become numbers: days since 1970-01-01, the time of the day as a
    /// fraction. `2024-01-31`, `2024/01/31`, `20240131`, `31.01.2024`, `31 Jan 2024`; `31/01/2024` and
    /// `01/31/2024`, whose order a cell of the column must show or the entry says: `day=dmy` or
    /// `day=mdy`. A time may follow (`13:45:30`); one with a zone is taken to UTC.
    pub date: Vec<String>,
    /// Texts of fewer training rows (at least 2) become the level `(rare)` of their column.
    pub min_count: Option<usize>,
    /// Columns taken as text and hashed: column → number of buckets, 2 to 2^24. See
    /// [`crate::FeatureColumn::Hash`].
    pub hash: BTreeMap<String, u32>,
    /// Column of row weights: finite and not negative. Rows of weight 0 are left out.
    pub weight: Option<String>,
    /// What these weights mean.
    pub weight_kind: WeightKind,
    /// The column that says which rows belong together, such as those of a patient: clusters are
    /// independent, rows of one are not. A cluster is held out as a whole, and may have rows in
    /// several groups; of a group that has a single one, rows are held out one by one. The column is
    /// text, and no feature; groups may be made of it.
    pub cluster: Option<String>,
    /// The column that says which rows are held out, for [`Split::Column`](crate::Split::Column). It is text, and no
    /// feature.
    pub holdout_column: Option<String>,
    /// The texts of that column in rows that are held out. A single one may stand without a list.
    #[serde(deserialize_with = "one_or_many")]
    pub holdout_value: Vec<String>,
    /// Whether group columns are features too.
    pub group_features: GroupFeatures,
    /// Texts that mean a missing cell, besides the empty cell. `COLUMN=TEXT` means it in one column
    /// alone, where a number stands for its other spellings, too.
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
        named.extend(self.cluster.iter().map(|n| ("cluster", n.as_str())));
        let groups = self.group_columns().map(|(n, _)| ("groups", n));
        named.extend(groups.filter(|(_, n)| Some(*n) != label.as_deref()));
        named.extend(self.merge.keys().map(|n| ("merge", n.as_str())));
        named.extend(self.ignore.iter().map(|n| ("ignore", n.as_str())));
        named.extend(self.holdout_column.iter().map(|n| ("holdout-column", n.as_str())));
        named.extend(self.text.iter().map(|n| ("text", n.as_str())));
        named.extend(self.number.iter().map(|n| ("number", n.as_str())));
        named.extend(self.date.iter().map(|entry| ("date", date(entry).0)));
        named.extend(self.hash.keys().map(|n| ("hash", n.as_str())));
        named.extend(self.missing.columns.keys().map(|n| ("missing", n.as_str())));
        named
    }

    /// Whether a column is a feature, its kind aside.
    pub(crate) fn is_feature(&self, name: &str) -> bool {
        let is = |other: &Option<String>| other.as_deref() == Some(name);
        let dropped = self.group_features == GroupFeatures::Drop && self.is_group(name);
        let dropped = dropped || !self.group_file.is_empty() && name == GROUP;
        let used = [&self.target, &self.weight, &self.cluster, &self.holdout_column];
        let used = used.into_iter().any(is);
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

    /// Whether a column holds dates, and in which order, where that is said.
    pub(crate) fn date_of(&self, name: &str) -> Option<Option<DateOrder>> {
        self.date.iter().map(|entry| date(entry)).find(|(n, _)| *n == name).map(|(_, order)| order)
    }

    /// Whether a column is named as no feature.
    pub(crate) fn is_ignored(&self, name: &str) -> bool {
        self.ignore.iter().any(|n| n == name)
    }
}

/// The column of an entry of [`DataOptions::date`], and the order of day and month if it says so.
fn date(entry: &str) -> (&str, Option<DateOrder>) {
    let ordered = entry.rsplit_once('=');
    let ordered = ordered.and_then(|(name, order)| Some((name, Some(DateOrder::of_name(order)?))));
    ordered.unwrap_or((entry, None))
}

#[cfg(test)]
mod tests {
    use super::super::missing::Missing;
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
}
