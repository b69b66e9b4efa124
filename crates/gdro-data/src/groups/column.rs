//! From the cells of a column to group labels.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::labels::{MISSING, normal};
use crate::options::Comparison;
use crate::options::MissingGroup;
use crate::options::spelled;
use crate::table::{Column, Table};
use crate::words::shown;

/// A column that groups are made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct GroupColumn {
    /// Name of the column.
    pub name: String,
    /// What its labels are.
    pub labels: Labels,
}

/// How the cells of a column become labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Labels {
    /// The values as they are written.
    Values {
        /// Original value → merged value; other values stay as they are.
        merge: BTreeMap<String, String>,
        /// Whether the column is the target, whose labels are compared as [`crate::Target`] says.
        target: bool,
    },
    /// Between which numbers a number lies.
    Bins {
        /// c_1 < … < c_k, finite: the bins are (−∞, c_1], (c_1, c_2], …, (c_k, ∞), and are called
        /// `age<=25`, `25<age<=40`, `age>40`.
        cuts: Vec<f64>,
    },
    /// Whether the target's comparison is true of a number.
    Compared {
        /// The comparison.
        comparison: Comparison,
    },
}

/// The labels of rows.
pub(super) struct Labelled {
    /// For each row an index into `labels`; `None` where the label is missing and such rows are
    /// left out.
    pub(super) codes: Vec<Option<u32>>,
    pub(super) labels: Vec<String>,
}

impl GroupColumn {
    /// Refuses labels that no options give.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let fits = match &self.labels {
            Labels::Values { .. } => true,
            Labels::Bins { cuts } => {
                cuts.iter().all(|cut| cut.is_finite()) && cuts.is_sorted_by(|a, b| a < b)
            }
            Labels::Compared { comparison } => comparison.number.is_finite(),
        };
        let name = shown(&self.name);
        if fits { Ok(()) } else { Err(format!("bins of `{name}` that do not rise")) }
    }

    /// The labels of the given rows. Where there are several families they say of which column
    /// they are: `race=Black`.
    pub(super) fn label(
        &self,
        table: &Table,
        rows: &[u32],
        policy: MissingGroup,
        qualified: bool,
    ) -> Result<Labelled> {
        let cells = table.find("groups", &self.name)?;
        let (mut codes, mut labels) = match &self.labels {
            Labels::Values { .. } => self.values(cells, rows, qualified)?,
            Labels::Bins { cuts } => {
                let bin = |v: f64| cuts.partition_point(|cut| *cut < v) as u32;
                (self.numbers(cells, rows, bin)?, bin_labels(&self.name, cuts))
            }
            Labels::Compared { comparison } => {
                let bin = |v: f64| u32::from(!comparison.holds(v));
                let labels = [*comparison, comparison.negated()].map(|c| c.label(&self.name));
                (self.numbers(cells, rows, bin)?, labels.to_vec())
            }
        };
        match (policy, codes.iter().position(Option::is_none)) {
            (_, None) | (MissingGroup::Drop, _) => {}
            (MissingGroup::Error, Some(first)) => {
                let (at, column) = (table.position(rows[first] as usize), self.name.clone());
                return Err(Error::MissingGroup { at, column });
            }
            (MissingGroup::Own, Some(_)) => {
                // A value may be written like that.
                let label = self.qualify(MISSING, qualified);
                let known = labels.iter().position(|l| *l == label);
                let code = known.unwrap_or(labels.len()) as u32;
                if known.is_none() {
                    labels.push(label);
                }
                codes.iter_mut().for_each(|c| *c = c.or(Some(code)));
            }
        }
        Ok(Labelled { codes, labels })
    }

    fn values(
        &self,
        cells: &Column,
        rows: &[u32],
        qualified: bool,
    ) -> Result<(Vec<Option<u32>>, Vec<String>)> {
        let Some(texts) = &cells.texts else { return Err(self.unfit(cells, "group labels")) };
        // Texts to labels: merging makes them fewer.
        let mut labels: Vec<String> = Vec::new();
        let mut known: HashMap<String, u32> = HashMap::new();
        let mut number = |label: String| {
            *known.entry(label).or_insert_with_key(|label| {
                labels.push(label.clone());
                labels.len() as u32 - 1
            })
        };
        let label_of = |text: &String| number(self.qualify(&self.merged(text), qualified));
        let code_of: Vec<u32> = texts.levels.iter().map(label_of).collect();
        let code = |row: &u32| texts.code(*row as usize).map(|code| code_of[code]);
        Ok((rows.iter().map(code).collect(), labels))
    }

    fn numbers(
        &self,
        cells: &Column,
        rows: &[u32],
        bin: impl Fn(f64) -> u32,
    ) -> Result<Vec<Option<u32>>> {
        if cells.numbers.is_none() {
            return Err(self.unfit(cells, "numbers"));
        }
        Ok(rows.iter().map(|row| cells.number(*row as usize).map(&bin)).collect())
    }

    fn unfit(&self, cells: &Column, expected: &'static str) -> Error {
        Error::Kind { column: self.name.clone(), found: cells.kind().words(), expected }
    }

    fn qualify(&self, label: &str, qualified: bool) -> String {
        if qualified { format!("{}={label}", self.name) } else { label.to_owned() }
    }

    /// The value as it is compared with those to be merged.
    fn original(&self, text: &str) -> String {
        match self.labels {
            Labels::Values { target: true, .. } => normal(text),
            _ => text.to_owned(),
        }
    }

    fn merged(&self, text: &str) -> String {
        let text = self.original(text);
        match &self.labels {
            Labels::Values { merge, .. } => merge.get(&text).cloned().unwrap_or(text),
            _ => text,
        }
    }

    /// A note when no row has one of the values that are to be merged.
    pub(super) fn merges_without_rows(
        &self,
        table: &Table,
        rows: &[u32],
    ) -> Result<Option<String>> {
        let Labels::Values { merge, .. } = &self.labels else { return Ok(None) };
        if merge.is_empty() {
            return Ok(None);
        }
        let occurring: HashSet<String> = match &table.find("groups", &self.name)?.texts {
            Some(texts) => {
                let codes: HashSet<_> =
                    rows.iter().filter_map(|r| texts.code(*r as usize)).collect();
                codes.into_iter().map(|c| self.original(&texts.levels[c])).collect()
            }
            None => HashSet::new(),
        };
        let absent = merge.keys().filter(|old| !occurring.contains(*old));
        let absent: Vec<String> = absent.map(|old| format!("`{}`", shown(old))).collect();
        Ok((!absent.is_empty()).then(|| {
            format!("merge of `{}`: no row has the value {}", self.name, absent.join(", "))
        }))
    }

    /// The column as an entry of the option: `race`, `age:25,40`, `arr_delay>30`.
    pub(super) fn spelled(&self) -> String {
        match &self.labels {
            Labels::Values { .. } => self.name.clone(),
            Labels::Bins { cuts } => spelled(&self.name, cuts),
            Labels::Compared { comparison } => comparison.label(&self.name),
        }
    }
}

/// Names of bins: `age<=25`, `25<age<=40`, `age>40`.
fn bin_labels(name: &str, cuts: &[f64]) -> Vec<String> {
    // Adding 0 turns −0 into 0.
    let cuts: Vec<f64> = cuts.iter().map(|cut| cut + 0.0).collect();
    let first = cuts.first().map(|cut| format!("{name}<={cut}"));
    let inner = cuts.windows(2).map(|pair| format!("{}<{name}<={}", pair[0], pair[1]));
    let last = cuts.last().map(|cut| format!("{name}>{cut}"));
    first.into_iter().chain(inner).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_their_upper_ends() {
        assert_eq!(bin_labels("age", &[25.0]), ["age<=25", "age>25"]);
        let labels = bin_labels("a b", &[-1.5, 0.0, 1e3]);
        assert_eq!(labels, ["a b<=-1.5", "-1.5<a b<=0", "0<a b<=1000", "a b>1000"]);
        let numbers = [-2.0, -1.5, -1.4, 0.0, 1e-300, 1000.0, 1001.0, f64::NAN];
        let table = Table {
            names: vec!["a b".into()],
            columns: vec![Column { numbers: Some(numbers.to_vec()), ..Column::default() }],
            files: vec![("t".into(), numbers.len())],
            lines: (2..).take(numbers.len()).collect(),
            ..Table::default()
        };
        let labels = Labels::Bins { cuts: vec![-1.5, 0.0, 1e3] };
        let column = GroupColumn { name: "a b".into(), labels };
        let rows: Vec<u32> = (0..8).collect();
        let found = column.label(&table, &rows[..7], MissingGroup::Error, true).unwrap();
        assert_eq!(found.codes, [0, 0, 1, 1, 2, 2, 3].map(Some));
        let found = column.label(&table, &rows, MissingGroup::Own, false).unwrap();
        assert_eq!((found.codes[7], &found.labels[4][..]), (Some(4), "(missing)"));
        let found = column.label(&table, &rows, MissingGroup::Drop, false).unwrap();
        assert_eq!(found.codes[7], None);
        let error = column.label(&table, &rows, MissingGroup::Error, false).err().unwrap();
        assert!(error.to_string().starts_with("t:9: column `a b`: the group label is missing"));
    }
}
