//! Groups that are too small.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::options::SmallGroups;
use crate::words::{count, list, number};

/// Groups that are none of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Small {
    /// Names of the groups, sorted.
    pub names: Vec<String>,
    /// The group that has their rows instead; without it their rows are in no group.
    pub merged: Option<String>,
}

impl Small {
    /// The groups with fewer rows than `least`, and a note about them; `merged` is what a group of
    /// all of them is called.
    pub(super) fn find(
        names: &[String],
        counts: &[usize],
        least: usize,
        policy: SmallGroups,
        merged: String,
    ) -> Result<Option<(Self, String)>> {
        let mut small: Vec<(&String, usize)> =
            names.iter().zip(counts.iter().copied()).filter(|(_, n)| *n < least).collect();
        if small.is_empty() {
            return Ok(None);
        }
        small.sort();
        let texts: Vec<String> =
            small.iter().map(|(name, rows)| format!("{name} ({})", count(*rows, "row"))).collect();
        let (rows, listed) = (count(least, "row"), list(texts.iter().map(String::as_str)));
        let rest = names.len() - small.len();
        let which = format!("{} of fewer than {rows}", count(small.len(), "group"));
        let are = if small.len() == 1 { "is" } else { "are" };
        let total: usize = small.iter().map(|(_, n)| n).sum();
        let note = match policy {
            SmallGroups::Error => return Err(Error::SmallGroups { least, groups: listed }),
            SmallGroups::Merge => {
                let still = match total < least {
                    true => format!(", which has {} still", count(total, "row")),
                    false => String::new(),
                };
                format!("{which} {are} merged into `{merged}`{still}: {listed}")
            }
            SmallGroups::Drop => format!(
                "{which} {are} left out, {} stay{}: {listed}",
                number(rest),
                if rest == 1 { "s" } else { "" }
            ),
        };
        let names = small.into_iter().map(|(name, _)| name.clone()).collect();
        let merged = (policy == SmallGroups::Merge).then_some(merged);
        Ok(Some((Small { names, merged }, note)))
    }

    /// Applies this to numbered groups: those that are merged get one number, those that are left
    /// out none.
    pub(super) fn apply(
        &self,
        groups: &mut [Option<u32>],
        names: Vec<String>,
    ) -> Result<Vec<String>> {
        let small: HashSet<&str> = self.names.iter().map(String::as_str).collect();
        let (mut kept, mut place) = (Vec::new(), Vec::with_capacity(names.len()));
        let mut merged = None;
        for name in names {
            if !small.contains(name.as_str()) {
                if self.merged.as_ref() == Some(&name) {
                    return Err(Error::AmbiguousGroup { name });
                }
                place.push(Some(kept.len() as u32));
                kept.push(name);
            } else if let Some(name) = &self.merged {
                place.push(Some(*merged.get_or_insert_with(|| {
                    kept.push(name.clone());
                    kept.len() as u32 - 1
                })));
            } else {
                place.push(None);
            }
        }
        groups.iter_mut().for_each(|g| *g = g.and_then(|g| place[g as usize]));
        Ok(kept)
    }
}
