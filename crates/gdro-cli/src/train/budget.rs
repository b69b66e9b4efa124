//! How many rows of each group may be drawn.

use std::path::Path;

use gdro_data::{DataOptions, Prepared};

use super::train_names;
use crate::failure::{Failure, Result};
use crate::job::{Budget, Job};

/// The budgets that a job asks for, one for each group with training rows.
pub fn budgets(job: &Job, prepared: &Prepared) -> Result<Option<Vec<u64>>> {
    let counts = prepared.train.counts();
    match &job.training.budget {
        None => Ok(None),
        Some(Budget::All) => Ok(Some(counts)),
        Some(Budget::File(file)) => from_file(file, &train_names(prepared), &counts).map(Some),
    }
}

/// Reads a file with the columns `group` and `budget`, in which every group occurs once.
fn from_file(file: &Path, names: &[String], counts: &[u64]) -> Result<Vec<u64>> {
    let columns = ["group", "budget"].map(str::to_owned).to_vec();
    let options = DataOptions { text: columns, ..DataOptions::default() };
    let table = gdro_data::read(&[file.to_owned()], &options).map_err(|error| match error {
        gdro_data::Error::UnknownColumn { .. } => {
            Failure::input(format!("{}: expected the columns group and budget", file.display()))
        }
        other => Failure::input(other.to_string()),
    })?;
    let cell = |name, row| table.column(name).and_then(|c| c.text(row)).unwrap_or_default();
    let mut budgets = vec![None; names.len()];
    for row in 0..table.rows() {
        let at = table.position(row);
        let (name, text) = (cell("group", row), cell("budget", row));
        let Some(group) = names.iter().position(|n| n == name) else {
            return Err(Failure::input(format!(
                "{at}: column `group`: `{name}` has no training rows: expected one of {}",
                some_of(names)
            )));
        };
        let most = counts[group];
        let n = text.parse::<f64>().unwrap_or(f64::NAN);
        if n.fract() != 0.0 || !(1.0..=most as f64).contains(&n) {
            return Err(Failure::input(format!(
                "{at}: column `budget`: found `{text}` for group `{name}`, expected a whole number from 1 to {most}, its training rows"
            )));
        }
        if budgets[group].replace(n as u64).is_some() {
            return Err(Failure::input(format!("{at}: group `{name}` has a budget already")));
        }
    }
    if let Some(group) = budgets.iter().position(Option::is_none) {
        let (file, name) = (file.display(), &names[group]);
        return Err(Failure::input(format!("{file}: no budget for group `{name}`")));
    }
    Ok(budgets.into_iter().flatten().collect())
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
