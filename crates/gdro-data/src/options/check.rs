//! Options that contradict each other.

use std::collections::BTreeMap;

use super::choices::{Format, MissingGroup, Scaling, SmallGroups, WeightKind};
use super::data::DataOptions;
use super::missing::Missing;
use crate::error::{Error, Result};
use crate::labels::GROUP;

/// Largest number of buckets of a hashed column.
pub(crate) const MOST_BUCKETS: u32 = 1 << 24;

impl DataOptions {
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
        if let Some(c) = self.decimal.filter(|c| !matches!(c, '.' | ',')) {
            return refuse("decimal", format!("{c:?}"), "a point or a comma");
        }
        if let Some(c) = self.thousands {
            if !matches!(c, ',' | '.' | '\'' | ' ') {
                return refuse(
                    "thousands",
                    format!("{c:?}"),
                    "a comma, point, apostrophe or space",
                );
            }
            if c == self.decimal.unwrap_or('.') {
                let expected = "another sign than the decimal one, which decimal sets";
                return refuse("thousands", format!("{c:?}"), expected);
            }
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
            ("cluster", &self.cluster),
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
        if self.weight.is_none() && self.weight_kind != WeightKind::default() {
            let expected = "the column of the weights, too (weight)";
            return refuse("weight-kind", "given alone".into(), expected);
        }
        if let Some(name) = &self.cluster {
            if self.target.as_ref() == Some(name) || self.weight.as_ref() == Some(name) {
                let expected = "a column that is not the target or the weight";
                return refuse("cluster", format!("`{name}`"), expected);
            }
            if self.text.contains(name) {
                return refuse(
                    "text",
                    format!("`{name}`"),
                    "not the cluster, which is text anyway",
                );
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
        if let Some(name) = self.number.iter().find(|name| self.is_text(name)) {
            let expected = "a column in one of number, text and hash";
            return refuse("number", format!("`{name}`"), expected);
        }
        for (_, name) in self.named_columns(None).iter().filter(|(option, _)| *option == "date") {
            let is = |other: &Option<String>| other.as_deref() == Some(*name);
            let is_number = self.number.iter().any(|n| n == name);
            if self.is_text(name) || is_number || is(&self.weight) || is(&self.holdout_column) {
                let expected = "a column with no other kind: dates are days, which are numbers";
                return refuse("date", format!("`{name}`"), expected);
            }
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
            let used = [&self.target, &self.weight, &self.cluster, &self.holdout_column];
            let used = used.into_iter().any(is);
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
    pub(super) fn check_groups(&self) -> Result<()> {
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
