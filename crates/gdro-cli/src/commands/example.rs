//! `gdro example`: a table to try the program on.

use std::path::PathBuf;

use clap::Args;
use gdro_examples::{ALL, Example as Table};
use gdro_train::options::word;
use gdro_train::{Failure, Result, files};

use crate::print;

/// Write a table to try the program on, and say what to do with it; without a name, list the tables.
#[derive(Debug, Args)]
#[command(before_help = super::help::EXAMPLE)]
pub struct Example {
    /// Which table
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The file to write [default: NAME.csv]
    #[arg(long, value_name = "FILE", requires = "name")]
    out: Option<PathBuf>,
}

impl Example {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let Some(name) = &self.name else { return print::text(&list()) };
        let Some(table) = Table::find(name) else {
            let names = ALL.map(|table| table.name).join(", ");
            return Err(Failure::input(format!(
                "{name}: no such example: expected one of {names}"
            )));
        };
        let file = self.out.unwrap_or_else(|| format!("{name}.csv").into());
        files::check_file(&file)?;
        if file.exists() {
            return Err(Failure::input(format!(
                "{}: it exists, and is not overwritten: name another file with --out",
                file.display()
            )));
        }
        print::file(&file, table.text())?;
        let written = file.display();
        print::text(&format!(
            "{written}: {}\nsource: {}\nnext: gdro fit {} {}\n",
            table.about,
            table.source,
            word(&written.to_string()),
            table.options()
        ))
    }
}

/// The tables, each with the command that writes it.
fn list() -> String {
    let width = ALL.iter().map(|table| table.name.len()).max().unwrap_or(0);
    let lines =
        ALL.iter().map(|table| format!("gdro example {:width$}  {}\n", table.name, table.about));
    lines.collect()
}
