//! Small files that give every group a number.

use std::collections::HashMap;
use std::path::Path;

use gdro_data::DataOptions;

use crate::failure::{Failure, Result};

/// Reads a file with the columns `group` and `column`, in which every group of `names` occurs once.
/// `parse` turns the text of a group into its number; `expected` says what it accepts.
pub fn read_numbers<T: Copy>(
    file: &Path,
    column: &str,
    names: &[String],
    expected: &str,
    parse: impl Fn(usize, &str) -> Option<T>,
) -> Result<Vec<T>> {
    let options =
        DataOptions { text: vec!["group".into(), column.into()], ..DataOptions::default() };
    let table = gdro_data::read(&[file.to_owned()], &options).map_err(|error| match error {
        gdro_data::Error::UnknownColumn { .. } => {
            Failure::input(format!("{}: expected the columns group and {column}", file.display()))
        }
        other => Failure::input(other.to_string()),
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
        let Some(number) = parse(group, text) else {
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
