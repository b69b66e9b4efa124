//! Groups of a table that is read block by block.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::family::{Family, distinct};
use super::small::Small;
use super::{Assignment, Grouping, column_lists};
use crate::error::Result;
use crate::options::Comparison;
use crate::options::{DataOptions, MissingGroup, SmallGroups};
use crate::order::Runs;
use crate::table::Table;

/// The groups so far, family by family.
pub(crate) struct Counting {
    families: Vec<Counted>,
    missing: MissingGroup,
    least: Option<(usize, SmallGroups)>,
}

/// A family with its groups.
struct Counted {
    family: Family,
    known: Known,
}

/// The groups of a family, which are numbered in the order of appearance, and how their rows lie.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Known {
    numbers: HashMap<String, usize>,
    runs: Runs,
}

impl Counting {
    /// Nothing counted yet; the options are settled.
    pub(crate) fn open(options: &DataOptions, comparison: Option<Comparison>) -> Self {
        let families = column_lists(options, comparison).into_iter();
        let families = families
            .map(|columns| Counted { family: Family::open(columns), known: Known::default() });
        let least = options.min_group.map(|least| (least, options.small_groups));
        Counting { families: families.collect(), missing: options.missing_group, least }
    }

    /// Counts the given rows of a block, and says which of them are in a group.
    pub(crate) fn add(&mut self, block: &Table, rows: &[u32]) -> Result<Vec<bool>> {
        let qualified = self.families.len() > 1;
        let mut grouped = vec![false; rows.len()];
        for Counted { family, known: Known { numbers, runs } } in &mut self.families {
            let found = family.assign(block, rows, self.missing, qualified)?;
            let number = |name: String| {
                let next = numbers.len();
                *numbers.entry(name).or_insert(next)
            };
            let number: Vec<usize> = found.names.into_iter().map(number).collect();
            found.groups.iter().flatten().for_each(|group| runs.add(number[*group as usize]));
            let inside = grouped.iter_mut().zip(&found.groups);
            inside.for_each(|(grouped, group)| *grouped |= group.is_some());
        }
        Ok(grouped)
    }

    /// What is known so far, family by family.
    pub(crate) fn known(&self) -> Vec<Known> {
        self.families.iter().map(|counted| counted.known.clone()).collect()
    }

    /// Takes over what another one knew of the same families: whether it is of as many.
    pub(crate) fn take_over(&mut self, known: Vec<Known>) -> bool {
        let fits = known.len() == self.families.len();
        for (counted, known) in self.families.iter_mut().zip(known) {
            counted.known = known;
        }
        fits
    }

    /// The groups so far, with their numbers of rows.
    pub(crate) fn sizes(&self) -> BTreeMap<&str, u64> {
        let groups =
            self.families.iter().flat_map(|Counted { known: Known { numbers, runs }, .. }| {
                numbers.iter().map(|(name, number)| (name.as_str(), runs.rows(*number)))
            });
        groups.collect()
    }

    /// The families by name, with how the rows of their groups lie.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (String, &Runs)> {
        self.families.iter().map(|counted| (counted.family.name(), &counted.known.runs))
    }

    /// The grouping, the number of rows of each of its groups, and what a user should know.
    pub(crate) fn finish(self) -> Result<(Grouping, Vec<u64>, Vec<String>)> {
        let qualified = self.families.len() > 1;
        let (mut names, mut counts, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let mut families = Vec::new();
        for Counted { mut family, known: Known { numbers, runs } } in self.families {
            let found = numbers.into_iter().map(|(name, number)| (name, runs.rows(number)));
            let (mut known, mut sizes): (Vec<String>, Vec<u64>) = found.unzip();
            if let Some((least, policy)) = self.least {
                let rows: Vec<usize> = sizes.iter().map(|n| *n as usize).collect();
                let merged = family.name_of_small(qualified);
                if let Some((small, note)) = Small::find(&known, &rows, least, policy, merged)? {
                    let mut place: Vec<Option<u32>> = (0..known.len() as u32).map(Some).collect();
                    known = small.apply(&mut place, known)?;
                    let mut merged = vec![0; known.len()];
                    for (place, n) in place.iter().zip(&sizes) {
                        place.iter().for_each(|at| merged[*at as usize] += n);
                    }
                    sizes = merged;
                    family.small = Some(small);
                    notes.push(note);
                }
            }
            let mut order: Vec<(String, u64)> = known.into_iter().zip(sizes).collect();
            order.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            family.groups = order.len();
            let (known, sizes): (Vec<String>, Vec<u64>) = order.into_iter().unzip();
            names.extend(known);
            counts.extend(sizes);
            families.push(family);
        }
        distinct(names.iter())?;
        Ok((Grouping { families, missing: self.missing, names }, counts, notes))
    }
}

impl Assignment {
    /// The rows that are in a group, as the numbers of groups that they are in.
    pub(crate) fn of_row(&self, row: usize) -> impl Iterator<Item = usize> {
        self.families.iter().filter_map(move |groups| groups[row].map(|g| g as usize))
    }
}
