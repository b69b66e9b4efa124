//! A look at a table before anything is trained: its columns, and what is odd about them.

mod columns;
mod leaks;
mod repeated;
mod spikes;

use std::collections::HashMap;

use serde::Serialize;

pub use columns::{ColumnProfile, LevelCount};
pub(crate) use columns::{is_like_an_id, like_ids};
pub(crate) use leaks::leak;
pub use repeated::repeated_units;
pub(crate) use spikes::spike;

use crate::error::Result;
use crate::features::most_levels;
use crate::options::{DataOptions, Task};
use crate::schema::Role;
use crate::table::{Column, Kind, Table};
use crate::target::Target;
use crate::words::{count, list, number};

/// A text feature with more levels than this, of fewer rows than this on average, is worth a
/// warning.
const MANY_LEVELS: usize = 100;

/// What a table holds.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Inspection {
    /// Number of rows.
    pub rows: usize,
    /// The columns, in the order of the table.
    pub columns: Vec<ColumnProfile>,
    /// What is odd about the columns: constant ones, those without a cell or with a text for each
    /// row, texts of many levels, columns that hold the same, features that alone predict the
    /// target or tell the group, ids of units with several rows each.
    pub warnings: Vec<String>,
}

/// Looks at a table that was read with the same options. A target is not needed (LIBSVM files have
/// one, as in [`prepare`](crate::prepare)), and one that cannot be learnt is no error here: nothing
/// is said of leaks then.
///
/// # Errors
/// When an option names a column that does not exist, or options contradict each other.
pub fn inspect(table: &Table, options: &DataOptions, task: Option<Task>) -> Result<Inspection> {
    let filled = options.filled(table.sparse.is_some());
    let (options, comparison) = &filled.settle(table.names())?;
    for (option, name) in options.named_columns(*comparison) {
        table.find(option, name)?;
    }
    let columns: Vec<ColumnProfile> = table
        .names()
        .iter()
        .zip(&table.columns)
        .map(|(name, cells)| ColumnProfile::new(name, Role::of(options, name), cells, table.rows()))
        .collect();
    let mut warnings = odd_columns(table, options, &columns);
    let features = table.columns.iter().zip(&columns).filter(|(_, c)| c.role.is_feature());
    warnings.extend(
        features.filter_map(|(cells, column)| spike(&column.name, cells.numbers.as_deref()?)),
    );
    warnings.extend(same_columns(table, &columns));
    warnings.extend(tell_groups(table, &columns));
    warnings.extend(repeated_units(table, options)?);
    if let Some(name) = &options.target {
        let cells = table.find("target", name)?;
        let present = |row: &u32| !cells.is_missing(*row as usize);
        let rows: Vec<u32> = (0..table.rows() as u32).filter(present).collect();
        if let Ok((target, _)) = Target::fit(table, &rows, options, *comparison, task) {
            let targets = target.encode(table, &rows)?;
            let features = columns.iter().filter(|c| c.role.is_feature() && c.name != *name);
            for (feature, cells) in features.filter_map(|c| Some((c, table.column(&c.name)?))) {
                warnings.extend(leak(&feature.name, cells, &rows, &targets, target.task()));
            }
        }
    }
    Ok(Inspection { rows: table.rows(), columns, warnings })
}

/// Features that cannot be of use, or that are many features.
fn odd_columns(table: &Table, options: &DataOptions, columns: &[ColumnProfile]) -> Vec<String> {
    let features = || columns.iter().filter(|c| c.role.is_feature());
    let mut warnings = Vec::new();
    let named = |of: &dyn Fn(&ColumnProfile) -> bool| -> Option<String> {
        let names: Vec<&str> = features().filter(|c| of(c)).map(|c| c.name.as_str()).collect();
        (!names.is_empty()).then(|| list(names.into_iter()))
    };
    if let Some(names) = named(&|c| c.missing == table.rows()) {
        warnings.push(format!("every cell is missing: {names}: leave out with `ignore`"));
    }
    if let Some(names) = named(&|c| c.missing < table.rows() && 2 * c.missing > table.rows()) {
        warnings.push(format!("more cells are missing than not: {names}"));
    }
    if let Some(names) = named(&|c| c.distinct == 1) {
        warnings.push(format!("one value only: {names}: teaches nothing"));
    }
    let is_id = |c: &ColumnProfile| {
        table.column(&c.name).is_some_and(|cells| is_like_an_id(cells, table.rows()))
    };
    warnings.extend(like_ids(features().filter(|c| is_id(c)).map(|c| c.name.as_str())));
    let limit = most_levels(table.rows());
    for column in features().filter(|c| c.kind == Kind::Text && c.distinct > MANY_LEVELS) {
        let common = column.distinct * MANY_LEVELS < table.rows();
        let hashed = options.hash.contains_key(&column.name);
        if common || hashed || is_id(column) {
            continue;
        }
        let refused = if column.distinct > limit && options.min_count.is_none() {
            format!(", more than the {} that `fit` takes", number(limit))
        } else {
            String::new()
        };
        warnings.push(format!(
            "`{}` has {} different texts{refused}: fold the rare ones with `min-count`, or `hash` it",
            column.name,
            number(column.distinct)
        ));
    }
    warnings
}

/// Features that hold the same: numbers that are equal, or texts up to their names.
fn same_columns(table: &Table, columns: &[ColumnProfile]) -> Vec<String> {
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut warnings = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        if !column.role.is_feature() || column.distinct < 2 {
            continue;
        }
        let cells = &table.columns[at];
        let alike = seen.entry(fingerprint(cells)).or_default();
        let twin = alike.iter().find(|other| same(&table.columns[**other], cells));
        match twin {
            Some(twin) => warnings.push(format!(
                "`{}` and `{}` hold the same{}",
                columns[*twin].name,
                column.name,
                if column.kind == Kind::Text { " up to the names of their texts" } else { "" }
            )),
            None => alike.push(at),
        }
    }
    warnings
}

/// The cells of a column as numbers that are equal where cells are.
fn keys(cells: &Column) -> Box<dyn Iterator<Item = u64> + '_> {
    match (&cells.numbers, &cells.texts) {
        // Adding 0 turns −0 into 0.
        (Some(numbers), _) => Box::new(numbers.iter().map(|v| (v + 0.0).to_bits())),
        (None, Some(texts)) => Box::new(texts.codes.iter().map(|code| u64::from(*code))),
        (None, None) => Box::new(std::iter::empty()),
    }
}

fn fingerprint(cells: &Column) -> u64 {
    let mix = |hash: u64, key: u64| (hash ^ key).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    keys(cells).fold(cells.kind() as u64, mix)
}

fn same(a: &Column, b: &Column) -> bool {
    a.kind() == b.kind() && keys(a).eq(keys(b))
}

/// Features, no group columns themselves, that tell the label of a group column.
fn tell_groups(table: &Table, columns: &[ColumnProfile]) -> Vec<String> {
    let mut warnings = Vec::new();
    let is_group = |c: &ColumnProfile| matches!(c.role, Role::Group | Role::GroupFeature);
    for (at, group) in columns.iter().enumerate().filter(|(_, c)| is_group(c)) {
        let Some(labels) = &table.columns[at].texts else { continue };
        for (at, feature) in columns.iter().enumerate() {
            // A column with a value for every other row determines anything.
            let many = 2 * feature.distinct > table.rows();
            if feature.role != Role::Feature || feature.distinct < 2 || many {
                continue;
            }
            let mut label_of: HashMap<u64, usize> = HashMap::new();
            let mut back: HashMap<usize, u64> = HashMap::new();
            let (mut determines, mut determined) = (true, true);
            for (row, key) in keys(&table.columns[at]).enumerate() {
                let Some(label) = labels.code(row) else { continue };
                determines &= *label_of.entry(key).or_insert(label) == label;
                if !determines {
                    break;
                }
                determined &= *back.entry(label).or_insert(key) == key;
            }
            if determines && back.len() > 1 {
                let (feature, group) = (&feature.name, &group.name);
                warnings.push(if determined {
                    format!("feature `{feature}` is group column `{group}` under other names")
                } else {
                    format!("feature `{feature}` determines the value of group column `{group}`")
                });
            }
        }
    }
    warnings
}

/// What to say of groups with few rows.
pub fn tiny_groups(groups: &[crate::Group], least: usize) -> Option<String> {
    let tiny: Vec<&str> =
        groups.iter().filter(|g| g.rows < least).map(|g| g.name.as_str()).collect();
    (!tiny.is_empty()).then(|| {
        format!(
            "{} of {} {} fewer than {}: {}",
            number(tiny.len()),
            count(groups.len(), "group"),
            if tiny.len() == 1 { "has" } else { "have" },
            count(least, "row"),
            list(tiny.into_iter())
        )
    })
}
