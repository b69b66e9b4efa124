//! Which rows are used: missing cells, weights of 0.

use std::collections::{BTreeMap, HashSet};

use crate::error::{Error, Result};
use crate::options::{DataOptions, Missing, MissingGroup};
use crate::table::{Column, Kind, Table};
use crate::weights::check_weight;
use crate::words::{count, number};

/// A column in which a cell may be missing, and what to do then.
struct Check<'a> {
    name: &'a str,
    cells: &'a Column,
    policy: Policy,
}

#[derive(Clone, Copy, PartialEq)]
enum Policy {
    Refuse,
    RefuseTarget,
    RefuseGroup,
    RefuseNumber,
    Drop,
}

/// The rows that are used. Notes how many are left out, and why.
pub(crate) fn usable_rows(
    table: &Table,
    features: &[&str],
    options: &DataOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<u32>> {
    let mut checks = Vec::new();
    let features: HashSet<&str> = features.iter().copied().collect();
    for (name, cells) in table.names().iter().zip(&table.columns) {
        let feature = features.contains(name.as_str());
        let named = |other: &Option<String>| other.as_ref() == Some(name);
        let read = [&options.target, &options.weight, &options.cluster, &options.holdout_column];
        let used = feature || read.into_iter().any(named);
        let policy = options.missing.of(name);
        let refuse = match policy {
            Missing::Drop => Some(Policy::Drop),
            _ if used && !feature => Some(Policy::RefuseTarget),
            Missing::Error => Some(Policy::Refuse),
            Missing::Mean | Missing::OwnCategory => None,
        };
        let policy = match options.missing_group {
            _ if !options.is_group(name) => refuse.filter(|_| used),
            // The row may be in a group of another family.
            MissingGroup::Drop if !used && options.families() > 1 => None,
            MissingGroup::Drop => Some(Policy::Drop),
            MissingGroup::Error if used && policy == Missing::Drop => Some(Policy::Drop),
            MissingGroup::Error => Some(Policy::RefuseGroup),
            MissingGroup::Own if named(&options.target) => refuse,
            MissingGroup::Own => (feature && cells.kind() == Kind::Number && !policy.keeps())
                .then_some(Policy::RefuseNumber),
        };
        checks.extend(policy.map(|policy| Check { name, cells, policy }));
    }
    // Most columns miss nothing: a look along each is cheaper than one across them for every row.
    checks.retain(|check| check.cells.misses_any());
    let mut dropped: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut rows, mut weightless) = (Vec::with_capacity(table.rows()), 0);
    let weight = options.weight.as_deref().map(|name| table.find("weight", name)).transpose()?;
    for row in 0..table.rows() {
        let missing = |check: &&Check| check.cells.is_missing(row);
        let mut drop = false;
        for check in checks.iter().filter(missing) {
            let (at, column) = (table.position(row), check.name.to_owned());
            match check.policy {
                Policy::Refuse => return Err(Error::MissingCell { at, column }),
                Policy::RefuseTarget => return Err(Error::MissingTarget { at, column }),
                Policy::RefuseGroup => return Err(Error::MissingGroup { at, column }),
                Policy::RefuseNumber => return Err(Error::MissingNumber { at, column }),
                Policy::Drop => {
                    *dropped.entry(check.name).or_default() += 1;
                    drop = true;
                }
            }
        }
        if drop {
            continue;
        }
        match weight.and_then(|cells| cells.number(row)) {
            Some(0.0) => weightless += 1,
            Some(found) => {
                let column = options.weight.as_deref().unwrap_or_default();
                check_weight(found, || (table.position(row), column.to_owned()))?;
                rows.push(row as u32);
            }
            None => rows.push(row as u32),
        }
    }
    let left_out = table.rows() - rows.len() - weightless;
    let columns = worst_columns(&dropped);
    let mut reasons = Vec::new();
    if left_out > 0 {
        reasons.push(format!(
            "{} of {} left out because cells are missing: {columns}",
            number(left_out),
            count(table.rows(), "row")
        ));
    }
    if weightless > 0 {
        reasons.push(format!("{} of weight 0 left out", count(weightless, "row")));
    }
    if rows.is_empty() {
        return Err(Error::NothingLeft { dropped: reasons.join("; ") });
    }
    notes.extend(reasons);
    Ok(rows)
}

/// The columns with the most missing cells, and how many more there are.
pub(crate) fn worst_columns(missing: &BTreeMap<&str, usize>) -> String {
    const SHOWN: usize = 8;
    let mut columns: Vec<_> = missing.iter().collect();
    columns.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let shown =
        columns.iter().take(SHOWN).map(|(name, count)| format!("`{name}` in {}", number(**count)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match columns.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {}", count(more, "more column")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_with_most_missing_cells_come_first() {
        let missing = BTreeMap::from([("a", 1), ("b", 3), ("c", 1)]);
        assert_eq!(worst_columns(&missing), "`b` in 3, `a` in 1, `c` in 1");
        let names: Vec<String> = (0..10).map(|i| format!("c{i}")).collect();
        let many = names.iter().map(|n| (n.as_str(), 2)).collect();
        assert!(worst_columns(&many).ends_with("`c7` in 2 and 2 more columns"));
    }
}
