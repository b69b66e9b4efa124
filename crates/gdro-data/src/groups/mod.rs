//! Groups: combinations of the labels of columns, in one or several families.

mod advice;
mod column;
mod counting;
mod family;
mod small;

pub use advice::group_remarks;
pub use column::{GroupColumn, Labels};
pub(crate) use counting::{Counting, Known};
pub use family::Family;
pub use small::Small;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::options::Comparison;
use crate::options::{DataOptions, GroupEntry, MissingGroup, spelled};
use crate::table::Table;
use crate::words::{count, list, number};
use family::{Combined, distinct};

/// How rows are assigned to groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Grouping {
    families: Vec<Family>,
    missing: MissingGroup,
    names: Vec<String>,
}

/// The groups of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// For each family and each row an index into [`Grouping::names`] or, from their number on,
    /// into `unseen`. `None` when a label is missing and such rows are left out, or when the group
    /// was left out in training because it was small.
    pub families: Vec<Vec<Option<u32>>>,
    /// Names of groups that the grouping does not know, family by family in the order of
    /// appearance.
    pub unseen: Vec<String>,
    /// Their families, as indices into [`Grouping::families`].
    pub unseen_families: Vec<usize>,
    /// Number of groups that it knows.
    known: usize,
}

impl Assignment {
    /// Whether a row is in a group of any family.
    ///
    /// # Panics
    /// When `row` is not below the number of rows.
    pub fn is_grouped(&self, row: usize) -> bool {
        self.families.iter().any(|groups| groups[row].is_some())
    }

    /// The rows of each group, those of the grouping first, then the unseen ones.
    pub fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.known + self.unseen.len()];
        for groups in &self.families {
            for (row, group) in (0u32..).zip(groups) {
                if let Some(group) = group {
                    members[*group as usize].push(row);
                }
            }
        }
        members
    }

    /// The given rows alone, numbered anew.
    ///
    /// # Panics
    /// When a row is not below the number of rows.
    pub fn select(&self, rows: &[usize]) -> Self {
        let pick =
            |groups: &Vec<Option<u32>>| rows.iter().map(|row| groups[*row]).collect::<Vec<_>>();
        Assignment { families: self.families.iter().map(pick).collect(), ..self.clone() }
    }
}

impl Grouping {
    /// Finds the groups in the given rows, family by family, the largest first, then by name; the
    /// options are settled. Returns what a user should know, too.
    pub(crate) fn fit(
        table: &Table,
        rows: &[u32],
        options: &DataOptions,
        comparison: Option<Comparison>,
    ) -> Result<(Self, Assignment, Vec<String>)> {
        let columns = column_lists(options, comparison);
        let qualified = columns.len() > 1;
        let (mut notes, mut noted) = (Vec::new(), HashSet::new());
        for column in columns.iter().flatten() {
            let note = column.merges_without_rows(table, rows)?;
            notes.extend(note.filter(|note| noted.insert(note.clone())));
        }
        if qualified {
            let families = number(columns.len());
            notes.push(format!("{families} families of groups: a row is in one group of each"));
        }
        let least = options.min_group.map(|least| (least, options.small_groups));
        let (mut families, mut groups, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for columns in columns {
            let (family, mut found, note) =
                Family::fit(columns, table, rows, options.missing_group, least, qualified)?;
            let before = names.len() as u32;
            found.groups.iter_mut().flatten().for_each(|g| *g += before);
            let without = found.groups.iter().filter(|g| g.is_none()).count();
            if qualified && without > 0 {
                let (rows, name) = (count(without, "row"), family.name());
                notes.push(format!("{rows} in no group of the family `{name}`"));
            }
            names.extend(found.names);
            groups.push(found.groups);
            families.push(family);
            notes.extend(note);
        }
        distinct(names.iter())?;
        let known = names.len();
        let (unseen, unseen_families) = (Vec::new(), Vec::new());
        let assigned = Assignment { families: groups, unseen, unseen_families, known };
        Ok((Grouping { families, missing: options.missing_group, names }, assigned, notes))
    }

    /// The groups of rows that are in memory, by the columns of each family, the number of rows of
    /// its groups, and the names of all groups, family by family. They get the order of
    /// [`crate::prepare`]: within a family the largest first, then by name; the order is returned,
    /// as indices into `names`.
    ///
    /// # Errors
    /// For two groups of the same name.
    ///
    /// # Panics
    /// When there are not as many names as numbers of rows.
    pub fn of_labels(
        families: &[(Vec<String>, Vec<u64>)],
        names: &[String],
        target: Option<&str>,
    ) -> Result<(Self, Vec<usize>)> {
        distinct(names.iter())?;
        let (mut order, mut first) = (Vec::new(), 0);
        for (_, rows) in families {
            let mut own: Vec<usize> = (first..first + rows.len()).collect();
            own.sort_by_key(|g| (std::cmp::Reverse(rows[*g - first]), &names[*g]));
            order.append(&mut own);
            first += rows.len();
        }
        let column = |name: &String| {
            let (merge, target) = (BTreeMap::new(), target == Some(name));
            GroupColumn { name: name.clone(), labels: Labels::Values { merge, target } }
        };
        let family = |(columns, rows): &(Vec<String>, Vec<u64>)| Family {
            groups: rows.len(),
            ..Family::open(columns.iter().map(column).collect())
        };
        let families = families.iter().map(family).collect();
        let names = order.iter().map(|g| names[*g].clone()).collect();
        Ok((Grouping { families, missing: MissingGroup::Error, names }, order))
    }

    /// The families: one, unless several were asked for.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// The family of a group, as an index into [`Grouping::families`].
    ///
    /// # Panics
    /// When `group` is not below the number of groups.
    pub fn family(&self, group: usize) -> usize {
        let mut end = 0;
        let place = self.families.iter().position(|family| {
            end += family.groups;
            group < end
        });
        place.expect("a group of the grouping")
    }

    /// Names of the groups, family by family: the labels of the columns joined by ` / `, or `all`
    /// without columns. Where there are several families a label says of which column it is:
    /// `race=Black`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Remarks on groups that are too many to be meant, of which this many rows are in each:
    /// [`group_remarks`] of each family.
    pub(crate) fn remarks(&self, rows: &[u64]) -> Vec<String> {
        let (mut remarks, mut first) = (Vec::new(), 0);
        for family in &self.families {
            let own = first..first + family.groups;
            first = own.end;
            let names = self.names[own.clone()].iter().map(String::as_str);
            let groups: Vec<(&str, u64)> = names.zip(rows[own].iter().copied()).collect();
            let columns: Vec<String> = family.columns().iter().map(|c| c.name.clone()).collect();
            let cut =
                |column: &str, cuts: &[f64]| format!("`{}` of `groups`", spelled(column, cuts));
            remarks.extend(group_remarks(&columns, &groups, cut));
        }
        remarks
    }

    /// A note on the groups that lose most of their rows because rows are left out: `kept` rows of
    /// each are used, and `left_out` are not.
    pub(crate) fn note_of_lost(
        kept: &BTreeMap<&str, u64>,
        left_out: &BTreeMap<&str, u64>,
    ) -> Option<String> {
        let lost = left_out.iter().filter_map(|(name, lost)| {
            let all = lost + kept.get(name).copied().unwrap_or(0);
            (10 * lost >= 9 * all).then(|| format!("{name} ({} of {})", number(lost), number(all)))
        });
        let lost: Vec<String> = lost.collect();
        let names = list(lost.iter().map(String::as_str));
        (!lost.is_empty()).then(|| {
            format!(
                "leaving rows out because cells are missing takes nine tenths or more of {}: {names}; \
                 `missing` can keep such rows",
                count(lost.len(), "group")
            )
        })
    }

    /// Assigns groups to the given rows of any table.
    ///
    /// # Errors
    /// For a table without one of the columns, or with a column of another kind; for a missing
    /// label, where that is an error; when two combinations of labels have the same name.
    ///
    /// # Panics
    /// When a row is not below [`Table::rows`].
    pub fn assign(&self, table: &Table, rows: &[u32]) -> Result<Assignment> {
        let qualified = self.families.len() > 1;
        let (mut unseen, mut families, mut before) = (Vec::new(), Vec::new(), 0);
        let mut unseen_families = Vec::new();
        for (at, family) in self.families.iter().enumerate() {
            let Combined { mut groups, names } =
                family.assign(table, rows, self.missing, qualified)?;
            let known: HashMap<&str, u32> = self.names[before..before + family.groups]
                .iter()
                .map(String::as_str)
                .zip(before as u32..)
                .collect();
            let place: Vec<u32> = names
                .into_iter()
                .map(|name| {
                    known.get(name.as_str()).copied().unwrap_or_else(|| {
                        unseen.push(name);
                        unseen_families.push(at);
                        (self.names.len() + unseen.len() - 1) as u32
                    })
                })
                .collect();
            groups.iter_mut().flatten().for_each(|g| *g = place[*g as usize]);
            families.push(groups);
            before += family.groups;
        }
        distinct(self.names.iter().chain(&unseen))?;
        Ok(Assignment { families, unseen, unseen_families, known: self.names.len() })
    }
}

/// The columns of each family; the options are settled.
fn column_lists(options: &DataOptions, comparison: Option<Comparison>) -> Vec<Vec<GroupColumn>> {
    match &options.groups[..] {
        [] => vec![Vec::new()],
        families => families.iter().map(|f| columns(f, options, comparison)).collect(),
    }
}

/// The columns of a settled entry.
fn columns(
    family: &GroupEntry,
    options: &DataOptions,
    comparison: Option<Comparison>,
) -> Vec<GroupColumn> {
    let target = options.target.as_deref().unwrap_or_default();
    let empty = BTreeMap::new();
    let column = |(name, cuts): (&str, Option<&[f64]>)| {
        let name = name.to_owned();
        if let Some(comparison) = comparison.filter(|c| c.label(target) == name) {
            return GroupColumn { name: target.into(), labels: Labels::Compared { comparison } };
        }
        if let Some(cuts) = cuts {
            return GroupColumn { name, labels: Labels::Bins { cuts: cuts.to_vec() } };
        }
        let merge = options.merge.get(&name).unwrap_or(&empty);
        let merge = merge.iter().flat_map(|(new, old)| old.iter().map(move |o| (o, new)));
        let merge = merge.map(|(old, new)| (old.clone(), new.clone())).collect();
        let target = options.target.as_ref() == Some(&name);
        GroupColumn { name, labels: Labels::Values { merge, target } }
    };
    family.columns().into_iter().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, Texts};

    fn table(a: &[&str], b: &[&str]) -> Table {
        let column = |cells: &[&str]| Column {
            texts: Some(Texts::new(cells.iter().copied())),
            ..Column::default()
        };
        Table {
            names: vec!["a".into(), "b".into()],
            columns: vec![column(a), column(b)],
            files: vec![("t".into(), a.len())],
            lines: (2..).take(a.len()).collect(),
            ..Table::default()
        }
    }

    fn options(missing_group: MissingGroup) -> DataOptions {
        DataOptions {
            groups: vec!["b".into(), "a".into()],
            merge: [("a".to_owned(), [("n".to_owned(), vec!["1".to_owned()])].into())].into(),
            missing_group,
            ..DataOptions::default()
        }
    }

    /// The grouping, the groups of the only family, and the notes.
    fn fit(
        table: &Table,
        rows: &[u32],
        options: &DataOptions,
    ) -> Result<(Grouping, Vec<Option<u32>>, Vec<String>)> {
        let options = options.settle(table.names())?.0;
        let (grouping, mut assigned, notes) = Grouping::fit(table, rows, &options, None)?;
        assert_eq!(assigned.families.len(), 1);
        Ok((grouping, assigned.families.remove(0), notes))
    }

    #[test]
    fn groups_are_sorted_by_size_then_name() {
        let table = table(&["2", "1", "n", "1", "2"], &["x", "y", "y", "x", "y"]);
        let (grouping, groups, notes) =
            fit(&table, &[0, 1, 2, 3, 4], &options(MissingGroup::Error)).unwrap();
        assert_eq!(grouping.names(), ["y / n", "x / 2", "x / n", "y / 2"]);
        assert_eq!(groups, [1, 0, 0, 2, 3].map(Some));
        assert!(notes.is_empty());
        assert_eq!(grouping.assign(&table, &[4, 0]).unwrap().families, [[Some(3), Some(1)]]);
    }

    #[test]
    fn missing_labels() {
        let table = table(&["1", "", "2"], &["x", "x", ""]);
        let fit = |policy| fit(&table, &[0, 1, 2], &options(policy));
        let message = fit(MissingGroup::Error).unwrap_err().to_string();
        assert!(message.starts_with("t:4: column `b`: the group label is missing"), "{message}");
        let (grouping, ..) = fit(MissingGroup::Own).unwrap();
        assert_eq!(grouping.names(), ["(missing) / 2", "x / (missing)", "x / n"]);
        let (grouping, groups, _) = fit(MissingGroup::Drop).unwrap();
        assert_eq!((grouping.names().len(), groups), (1, vec![Some(0), None, None]));
    }

    #[test]
    fn without_columns_there_is_one_group() {
        let table = table(&["1", "2"], &["x", "y"]);
        let (grouping, groups, _) = fit(&table, &[0, 1], &DataOptions::default()).unwrap();
        assert_eq!((grouping.names(), groups), (&["all".to_owned()][..], vec![Some(0); 2]));
    }
}
