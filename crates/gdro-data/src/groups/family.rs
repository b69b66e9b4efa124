//! A family of groups: the combinations of the labels of its columns.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::column::GroupColumn;
use super::small::Small;
use crate::error::{Error, Result};
use crate::labels::SMALL;
use crate::options::{MissingGroup, SmallGroups};
use crate::table::Table;

/// The name of the only group of a table without group columns.
const ALL: &str = "all";

/// Most combinations of labels that are numbered by a table.
const TABLE: usize = 1 << 12;

/// Groups of which a row is in one at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Family {
    pub(super) columns: Vec<GroupColumn>,
    /// Number of its groups.
    pub(super) groups: usize,
    pub(super) small: Option<Small>,
}

/// The groups of rows in a family: for each row an index into the names.
pub(super) struct Combined {
    pub(super) groups: Vec<Option<u32>>,
    pub(super) names: Vec<String>,
}

impl Family {
    /// The columns whose labels make the groups.
    pub fn columns(&self) -> &[GroupColumn] {
        &self.columns
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Groups that were too small in training.
    pub fn small(&self) -> Option<&Small> {
        self.small.as_ref()
    }

    /// The columns as they were given: `race,age:25,40`, or `all` without columns.
    pub fn name(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(GroupColumn::spelled).collect();
        if columns.is_empty() { ALL.to_owned() } else { columns.join(",") }
    }

    /// A family that knows no groups yet.
    pub(super) fn open(columns: Vec<GroupColumn>) -> Self {
        Family { columns, groups: 0, small: None }
    }

    /// What the group of all small groups is called.
    pub(super) fn name_of_small(&self, qualified: bool) -> String {
        if qualified { format!("{}={SMALL}", self.name()) } else { SMALL.to_owned() }
    }

    /// Finds the groups in the given rows, the largest first, then by name. `least` is the smallest
    /// number of rows of a group, with what becomes of smaller ones. Returns a note, too.
    pub(super) fn fit(
        columns: Vec<GroupColumn>,
        table: &Table,
        rows: &[u32],
        missing: MissingGroup,
        least: Option<(usize, SmallGroups)>,
        qualified: bool,
    ) -> Result<(Self, Combined, Option<String>)> {
        let mut family = Family::open(columns);
        let mut found = family.combine(table, rows, missing, qualified)?;
        let mut note = None;
        if let Some((least, policy)) = least {
            let merged = family.name_of_small(qualified);
            let counts = found.counts();
            if let Some((small, said)) = Small::find(&found.names, &counts, least, policy, merged)?
            {
                found.names = small.apply(&mut found.groups, found.names)?;
                (family.small, note) = (Some(small), Some(said));
            }
        }
        found.sort();
        family.groups = found.names.len();
        Ok((family, found, note))
    }

    /// The groups of the given rows of any table, in the order of appearance: those of training,
    /// and others.
    pub(super) fn assign(
        &self,
        table: &Table,
        rows: &[u32],
        missing: MissingGroup,
        qualified: bool,
    ) -> Result<Combined> {
        let mut found = self.combine(table, rows, missing, qualified)?;
        if let Some(small) = &self.small {
            found.names = small.apply(&mut found.groups, found.names)?;
        }
        Ok(found)
    }

    /// The combination of labels of each row, numbered in the order of appearance.
    fn combine(
        &self,
        table: &Table,
        rows: &[u32],
        missing: MissingGroup,
        qualified: bool,
    ) -> Result<Combined> {
        let mut groups = vec![Some(0); rows.len()];
        let mut names = vec![ALL.to_owned()];
        for (position, column) in self.columns.iter().enumerate() {
            let labelled = column.label(table, rows, missing, qualified)?;
            let mut pairs: HashMap<(u32, u32), Option<u32>> = HashMap::new();
            let mut joined: Vec<String> = Vec::new();
            // Few combinations are numbered by a table, many by a hash.
            let table = names.len() * labelled.labels.len();
            let mut places = vec![None; if table <= TABLE { table } else { 0 }];
            for (group, label) in groups.iter_mut().zip(labelled.codes) {
                let (Some(old), Some(label)) = (*group, label) else {
                    *group = None;
                    continue;
                };
                let place = places.get_mut(old as usize * labelled.labels.len() + label as usize);
                let place = match place {
                    Some(place) => place,
                    None => pairs.entry((old, label)).or_default(),
                };
                *group = Some(*place.get_or_insert_with(|| {
                    let (before, label) = (&names[old as usize], &labelled.labels[label as usize]);
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
        distinct(names.iter())?;
        Ok(Combined { groups, names })
    }
}

impl Combined {
    pub(super) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0usize; self.names.len()];
        self.groups.iter().flatten().for_each(|g| counts[*g as usize] += 1);
        counts
    }

    /// Sorts the groups by their number of rows, the largest first, then by name.
    fn sort(&mut self) {
        let (counts, names) = (self.counts(), &self.names);
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by(|a, b| counts[*b].cmp(&counts[*a]).then_with(|| names[*a].cmp(&names[*b])));
        let mut rank = vec![0u32; names.len()];
        (0..).zip(&order).for_each(|(new, old)| rank[*old] = new);
        self.groups.iter_mut().flatten().for_each(|g| *g = rank[*g as usize]);
        self.names = order.iter().map(|old| self.names[*old].clone()).collect();
    }
}

/// Refuses names that are not distinct.
pub(super) fn distinct<'a>(mut names: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut seen = HashSet::new();
    match names.find(|name| !seen.insert(*name)) {
        Some(name) => Err(Error::AmbiguousGroup { name: name.clone() }),
        None => Ok(()),
    }
}
