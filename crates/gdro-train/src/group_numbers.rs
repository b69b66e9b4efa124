//! A number for every group: by name, or in a small file.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use gdro_data::DataOptions;

use crate::failure::{Failure, Result};
use crate::job::PerGroup;

/// The numbers of the groups `names`, each of which `accept` takes or not; `expected` says which it
/// takes. `column` is what a number is called.
///
/// # Errors
/// A number that is not taken, a group without a number, a number without a group.
pub fn numbers_of<T: Copy>(
    numbers: &PerGroup,
    column: &str,
    names: &[String],
    expected: &str,
    accept: impl Fn(usize, f64) -> Option<T>,
) -> Result<Vec<T>> {
    let numbers = match numbers {
        PerGroup::File(file) => return read_numbers(file, column, names, expected, accept),
        PerGroup::Named(numbers) => numbers,
    };
    let known: HashSet<&str> = names.iter().map(String::as_str).collect();
    if let Some(name) = numbers.keys().find(|name| !known.contains(name.as_str())) {
        return Err(Failure::input(format!(
            "{column}s: `{name}` has no training rows: expected one of {}",
            some_of(names)
        )));
    }
    let number = |(group, name): (usize, &String)| {
        let Some(number) = numbers.get(name) else {
            return Err(Failure::input(format!("{column}s: no {column} for group `{name}`")));
        };
        accept(group, *number).ok_or_else(|| {
            Failure::input(format!(
                "{column}s: found {number} for group `{name}`, expected {expected}"
            ))
        })
    };
    names.iter().enumerate().map(number).collect()
}

/// Reads a file with the columns `group` and `column`, in which every group of `names` occurs once.
fn read_numbers<T: Copy>(
    file: &Path,
    column: &str,
    names: &[String],
    expected: &str,
    accept: impl Fn(usize, f64) -> Option<T>,
) -> Result<Vec<T>> {
    let options =
        DataOptions { text: vec!["group".into(), column.into()], ..DataOptions::default() };
    let table = gdro_data::read(&[file.to_owned()], &options).map_err(|error| match error {
        gdro_data::Error::UnknownColumn { .. } => {
            Failure::input(format!("{}: expected the columns group and {column}", file.display()))
        }
        other => other.into(),
    })?;
    let cell = |name, row| table.column(name).and_then(|c| c.text(row)).unwrap_or_default();
    let places: HashMap<&str, usize> =
        names.iter().enumerate().map(|(group, name)| (name.as_str(), group)).collect();
    let mut numbers = vec![None; names.len()];
    for row in 0..table.rows() {
        let at = table.position(row);
        let (name, text) = (cell("group", row), cell(column, row));
        let Some(group) = places.get(name).copied() else {
            return Err(Failure::input(format!(
                "{at}: column `group`: `{name}` has no training rows: expected one of {}",
                some_of(names)
            )));
        };
        let Some(number) = text.parse().ok().and_then(|v| accept(group, v)) else {
            return Err(Failure::input(format!(
                "{at}: column `{column}`: found `{text}` for group `{name}`, expected {expected}"
            )));
        };
        if numbers[group].replace(number).is_some() {
            return Err(Failure::input(format!("{at}: group `{name}` has a {column} already")));
        }
    }
    if let Some(group) = numbers.iter().position(Option::is_none) {
        let (file, name) = (file.display(), &names[group]);
        return Err(Failure::input(format!("{file}: no {column} for group `{name}`")));
    }
    Ok(numbers.into_iter().flatten().collect())
}

/// The first few names.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|n| format!("`{n}`")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        _ => format!("{}, … {} in all", shown.join(", "), names.len()),
    }
}
