//! Groups: combinations of the values of columns.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, shown};
use crate::options::{DataOptions, MissingGroup};
use crate::table::Table;
use crate::target::normal;

/// The label of rows without one, where missing is a label of its own.
pub(crate) const MISSING: &str = "(missing)";

/// The name of the only group of a table without group columns.
const ALL: &str = "all";

/// How rows are assigned to groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Grouping {
    columns: Vec<GroupColumn>,
    missing: MissingGroup,
    names: Vec<String>,
}

/// A column that groups are made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct GroupColumn {
    /// Name of the column.
    pub name: String,
    /// Original value → merged value; other values stay as they are.
    pub merge: BTreeMap<String, String>,
    /// Whether the column is the target, whose labels are compared as [`crate::Target`] says.
    pub target: bool,
}

/// The groups of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// For each row an index into [`Grouping::names`] or, from their number on, into `unseen`.
    /// `None` when a label is missing and such rows are left out.
    pub groups: Vec<Option<u32>>,
    /// Names of groups that the grouping does not know, in the order of appearance.
    pub unseen: Vec<String>,
}

impl Grouping {
    /// Finds the groups in the given rows. The groups are sorted by their number of rows, the
    /// largest first, then by name. Returns what a user should know, too.
    pub(crate) fn fit(
        table: &Table,
        rows: &[u32],
        options: &DataOptions,
    ) -> Result<(Self, Vec<Option<u32>>, Vec<String>)> {
        let empty = BTreeMap::new();
        let columns = options.groups.iter().map(|name| {
            let merge = options.merge.get(name).unwrap_or(&empty);
            let merge = merge.iter().flat_map(|(new, old)| old.iter().map(move |o| (o, new)));
            GroupColumn {
                name: name.clone(),
                merge: merge.map(|(old, new)| (old.clone(), new.clone())).collect(),
                target: options.target.as_ref() == Some(name),
            }
        });
        let columns = columns.collect();
        let mut grouping = Grouping { columns, missing: options.missing_group, names: Vec::new() };
        let notes = grouping.merges_without_rows(table, rows)?;
        let (mut groups, names) = grouping.combine(table, rows)?;
        let mut counts = vec![0usize; names.len()];
        groups.iter().flatten().for_each(|g| counts[*g as usize] += 1);
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by(|a, b| counts[*b].cmp(&counts[*a]).then_with(|| names[*a].cmp(&names[*b])));
        let mut rank = vec![0u32; names.len()];
        (0..).zip(&order).for_each(|(new, old)| rank[*old] = new);
        groups.iter_mut().flatten().for_each(|g| *g = rank[*g as usize]);
        grouping.names = order.iter().map(|old| names[*old].clone()).collect();
        Ok((grouping, groups, notes))
    }

    /// The columns whose values make the groups.
    pub fn columns(&self) -> &[GroupColumn] {
        &self.columns
    }

    /// Names of the groups: the values of the columns joined by ` / `, or `all` without columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Assigns groups to the given rows of any table.
    ///
    /// # Errors
    /// For a table without one of the columns; for a missing label, where that is an error; when
    /// two combinations of values have the same name.
    ///
    /// # Panics
    /// When a row is not below [`Table::rows`].
    pub fn assign(&self, table: &Table, rows: &[u32]) -> Result<Assignment> {
        let (mut groups, names) = self.combine(table, rows)?;
        let known: HashMap<&str, u32> = self.names.iter().map(String::as_str).zip(0..).collect();
        let mut unseen = Vec::new();
        let place: Vec<u32> = names
            .into_iter()
            .map(|name| {
                known.get(name.as_str()).copied().unwrap_or_else(|| {
                    unseen.push(name);
                    (self.names.len() + unseen.len() - 1) as u32
                })
            })
            .collect();
        groups.iter_mut().flatten().for_each(|g| *g = place[*g as usize]);
        Ok(Assignment { groups, unseen })
    }

    /// The combination of values of each row, numbered in the order of appearance, and the names.
    fn combine(&self, table: &Table, rows: &[u32]) -> Result<(Vec<Option<u32>>, Vec<String>)> {
        let mut groups = vec![Some(0); rows.len()];
        let mut names = vec![ALL.to_owned()];
        for (position, column) in self.columns.iter().enumerate() {
            let cells = table.find("groups", &column.name)?;
            let Some(texts) = &cells.texts else {
                let (name, found) = (column.name.clone(), cells.kind().words());
                return Err(Error::Kind { column: name, found, expected: "group labels" });
            };
            // Texts to labels: merging makes them fewer.
            let mut labels: Vec<String> = Vec::new();
            let mut known: HashMap<String, u32> = HashMap::new();
            let mut number = |label: String| {
                *known.entry(label).or_insert_with_key(|label| {
                    labels.push(label.clone());
                    labels.len() as u32 - 1
                })
            };
            let label_of: Vec<u32> =
                texts.levels.iter().map(|text| number(column.label(text))).collect();
            let missing = number(MISSING.to_owned());
            let mut pairs: HashMap<(u32, u32), u32> = HashMap::new();
            let mut joined: Vec<String> = Vec::new();
            for (group, row) in groups.iter_mut().zip(rows) {
                let Some(old) = *group else { continue };
                let label = match (texts.code(*row as usize), self.missing) {
                    (Some(code), _) => label_of[code],
                    (None, MissingGroup::Own) => missing,
                    (None, MissingGroup::Drop) => {
                        *group = None;
                        continue;
                    }
                    (None, MissingGroup::Error) => {
                        let (at, column) = (table.position(*row as usize), column.name.clone());
                        return Err(Error::MissingGroup { at, column });
                    }
                };
                *group = Some(*pairs.entry((old, label)).or_insert_with(|| {
                    let (before, label) = (&names[old as usize], &labels[label as usize]);
                    joined.push(if position == 0 {
                        label.clone()
                    } else {
                        format!("{before} / {label}")
                    });
                    joined.len() as u32 - 1
                }));
            }
            names = joined;
        }
        let mut seen = HashSet::new();
        match names.iter().find(|name| !seen.insert(*name)) {
            Some(name) => Err(Error::AmbiguousGroup { name: name.clone() }),
            None => Ok((groups, names)),
        }
    }

    /// A note for each merged column that has no row with one of the values to be merged.
    fn merges_without_rows(&self, table: &Table, rows: &[u32]) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        for column in self.columns.iter().filter(|c| !c.merge.is_empty()) {
            let cells = table.find("groups", &column.name)?;
            let occurring: HashSet<String> = match &cells.texts {
                Some(texts) => {
                    let codes: HashSet<_> =
                        rows.iter().filter_map(|r| texts.code(*r as usize)).collect();
                    codes.into_iter().map(|c| column.original(&texts.levels[c])).collect()
                }
                None => HashSet::new(),
            };
            let absent = column.merge.keys().filter(|old| !occurring.contains(*old));
            let absent: Vec<String> = absent.map(|old| format!("`{}`", shown(old))).collect();
            if !absent.is_empty() {
                let (name, absent) = (&column.name, absent.join(", "));
                notes.push(format!("merge of `{name}`: no row has the value {absent}"));
            }
        }
        Ok(notes)
    }
}

impl GroupColumn {
    fn original(&self, text: &str) -> String {
        if self.target { normal(text) } else { text.to_owned() }
    }

    fn label(&self, text: &str) -> String {
        let text = self.original(text);
        self.merge.get(&text).cloned().unwrap_or(text)
    }
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

    #[test]
    fn groups_are_sorted_by_size_then_name() {
        let table = table(&["2", "1", "n", "1", "2"], &["x", "y", "y", "x", "y"]);
        let (grouping, groups, notes) =
            Grouping::fit(&table, &[0, 1, 2, 3, 4], &options(MissingGroup::Error)).unwrap();
        assert_eq!(grouping.names(), ["y / n", "x / 2", "x / n", "y / 2"]);
        assert_eq!(groups, [1, 0, 0, 2, 3].map(Some));
        assert!(notes.is_empty());
        assert_eq!(grouping.assign(&table, &[4, 0]).unwrap().groups, [Some(3), Some(1)]);
    }

    #[test]
    fn missing_labels() {
        let table = table(&["1", "", "2"], &["x", "x", ""]);
        let fit = |policy| Grouping::fit(&table, &[0, 1, 2], &options(policy));
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
        let (grouping, groups, _) =
            Grouping::fit(&table, &[0, 1], &DataOptions::default()).unwrap();
        assert_eq!((grouping.names(), groups), (&["all".to_owned()][..], vec![Some(0); 2]));
    }
}
