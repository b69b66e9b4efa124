//! Files to a table.

mod records;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result, unknown_column};
use crate::features::Encoding;
use crate::options::DataOptions;
use crate::table::kind::{Forced, Odd, RawColumn, Wanted};
use crate::table::{Kind, Table};
use records::Records;

/// Reads files, plain or gzip, as one table.
///
/// The kinds of columns are inferred: a column is numeric when every cell that is not missing is a
/// finite number. The file names in messages are `paths` as given.
///
/// # Errors
/// For files that cannot be read, are no table, differ in their columns or have no rows; for a
/// mostly numeric column with a cell that is no finite number; for options that contradict each
/// other or name columns that do not exist.
pub fn read(paths: &[PathBuf], options: &DataOptions) -> Result<Table> {
    read_with(paths, options, None)
}

/// Reads a later table for a model: columns that the encoding knows are read as the kind that it
/// knows, columns that have no use for it are ignored, and columns that only training needs, such
/// as the target, may be absent.
///
/// # Errors
/// As [`read`]; for a column of the encoding that does not exist.
pub fn read_for(paths: &[PathBuf], options: &DataOptions, encoding: &Encoding) -> Result<Table> {
    read_with(paths, options, Some(encoding))
}

fn read_with(
    paths: &[PathBuf],
    options: &DataOptions,
    encoding: Option<&Encoding>,
) -> Result<Table> {
    options.check()?;
    let mut names: Option<(String, Vec<String>)> = None;
    if let Some(columns) = &options.columns {
        check_names(columns, "columns")?;
        names = Some(("columns".into(), columns.clone()));
    }
    let mut rows = Rows::default();
    for path in paths {
        let mut records =
            Records::open(path, delimiter(path, options), options.comment.as_deref())?;
        if options.columns.is_none() {
            let found = header(&mut records)?;
            match &names {
                None => names = Some((records.file().to_owned(), found)),
                Some((_, expected)) if *expected == found => {}
                Some((first, expected)) => {
                    return Err(Error::Headers {
                        file: records.file().to_owned(),
                        first: first.clone(),
                        found: found.join(","),
                        expected: expected.join(","),
                    });
                }
            }
        }
        if rows.files.is_empty()
            && let Some((_, names)) = &names
        {
            rows.wanted = wanted(names, options, encoding)?;
            rows.columns.resize_with(names.len(), RawColumn::default);
        }
        let before = rows.lines.len();
        rows.read(&mut records, &options.na)?;
        if options.columns.is_some() && rows.lines.len() == before {
            let file = records.file().to_owned();
            return Err(Error::EmptyFile { file, expected: "rows" });
        }
    }
    let (names, last) = match (names, rows.files.last()) {
        (Some((_, names)), Some((last, _))) => (names, last.clone()),
        _ => return Err(Error::NoFile),
    };
    if rows.lines.is_empty() {
        return Err(Error::NoRows { file: last });
    }
    rows.finish(names)
}

/// Cells as they are read.
#[derive(Default)]
struct Rows {
    wanted: Vec<Wanted>,
    columns: Vec<RawColumn>,
    files: Vec<(String, usize)>,
    lines: Vec<u32>,
}

impl Rows {
    fn read(&mut self, records: &mut Records, na: &[String]) -> Result<()> {
        while records.advance()? {
            let at = records.position();
            if records.len() != self.columns.len() {
                return Err(Error::Ragged {
                    at,
                    found: records.len(),
                    expected: self.columns.len(),
                    delimiter: records.delimiter(),
                });
            }
            let Some(line) = u32::try_from(at.line).ok().filter(|_| self.lines.len() < MOST) else {
                return Err(Error::TooManyRows { file: at.file, limit: MOST as u64 });
            };
            self.lines.push(line);
            for ((cell, column), wanted) in records.cells().zip(&mut self.columns).zip(&self.wanted)
            {
                if wanted.kind != Some(Forced::Ignored) {
                    column.push(if na.iter().any(|t| t.trim() == cell) { "" } else { cell });
                }
            }
        }
        self.files.push((records.file().to_owned(), self.lines.len()));
        Ok(())
    }

    fn finish(self, names: Vec<String>) -> Result<Table> {
        let mut table = Table {
            columns: Vec::with_capacity(names.len()),
            names,
            files: self.files,
            lines: self.lines,
        };
        for (at, (raw, wanted)) in self.columns.into_iter().zip(self.wanted).enumerate() {
            let column = raw.finish(wanted, |odd, row, text| {
                let (at, column) = (table.position(row), table.names[at].clone());
                let text = text.to_owned();
                match odd {
                    Odd::NotANumber => Error::NotANumber { at, column, text },
                    Odd::NotFinite => Error::NotFinite { at, column, text },
                }
            })?;
            table.columns.push(column);
        }
        Ok(table)
    }
}

/// Largest number of rows: data sets number them by `u32`.
const MOST: usize = u32::MAX as usize;

fn delimiter(path: &Path, options: &DataOptions) -> char {
    let name = path.to_string_lossy().to_lowercase();
    let tabs = name.ends_with(".tsv") || name.ends_with(".tsv.gz");
    options.delimiter.unwrap_or(if tabs { '\t' } else { ',' })
}

fn header(records: &mut Records) -> Result<Vec<String>> {
    if !records.advance()? {
        let file = records.file().to_owned();
        return Err(Error::EmptyFile { file, expected: "a line with the names of the columns" });
    }
    // A name is on one line: line breaks inside it become blanks.
    let name = |cell: &str| cell.split_whitespace().collect::<Vec<_>>().join(" ");
    let names: Vec<String> = records.cells().map(name).collect();
    check_names(&names, &records.position().to_string())?;
    Ok(names)
}

fn check_names(names: &[String], place: &str) -> Result<()> {
    let place = place.to_owned();
    let mut seen = std::collections::HashMap::new();
    for (at, name) in names.iter().enumerate() {
        let number = at + 1;
        if name.is_empty() {
            return Err(Error::UnnamedColumn { place, number });
        }
        if let Some(first) = seen.insert(name, number) {
            let column = name.clone();
            return Err(Error::DuplicateColumn { place, column, first, second: number });
        }
    }
    Ok(())
}

/// What is wanted of each column.
fn wanted(
    names: &[String],
    options: &DataOptions,
    encoding: Option<&Encoding>,
) -> Result<Vec<Wanted>> {
    let options = &match (encoding, options.settle(names)) {
        (None, settled) => settled?.0,
        // Training has settled what the target is, and a later table may lack it.
        (Some(_), settled) => settled.map_or_else(|_| options.clone(), |(options, _)| options),
    };
    let unknown = |name: &str| !names.iter().any(|n| n == name);
    match encoding {
        None => {
            for (option, name) in options.named_columns() {
                if unknown(name) {
                    return Err(unknown_column(option, name, names));
                }
            }
        }
        Some(encoding) => {
            if let Some(column) = encoding.columns().iter().find(|c| unknown(c.name())) {
                return Err(unknown_column("model", column.name(), names));
            }
        }
    }
    let kind = |name: &String| {
        let known = encoding.map(|e| e.columns().iter().find(|c| c.name() == name));
        let is = |other: &Option<String>| other.as_ref() == Some(name);
        let text = options.is_text(name);
        match known {
            Some(Some(column)) => Some(match column.cells() {
                Kind::Number => Forced::Number,
                _ => Forced::Text,
            }),
            _ if is(&options.weight) => Some(Forced::Number),
            _ if is(&options.target) => text.then_some(Forced::Text),
            _ if options.is_group(name) && (known.is_some() || !options.is_feature(name)) => {
                Some(Forced::Text)
            }
            Some(None) => Some(Forced::Ignored),
            None if options.is_ignored(name) => Some(Forced::Ignored),
            None if is(&options.holdout_column) => Some(Forced::Text),
            None => text.then_some(Forced::Text),
        }
    };
    Ok(names
        .iter()
        .map(|name| Wanted { kind: kind(name), labels: options.is_group(name) })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_follow_the_name_unless_given() {
        let mut options = DataOptions::default();
        let of = |name: &str, options: &DataOptions| delimiter(Path::new(name), options);
        assert_eq!(of("a.csv", &options), ',');
        assert_eq!(of("a.TSV", &options), '\t');
        assert_eq!(of("a.tsv.gz", &options), '\t');
        options.delimiter = Some(';');
        assert_eq!(of("a.tsv", &options), ';');
    }

    #[test]
    fn roles_decide_what_is_read() {
        let names = ["g", "w", "z", "i", "y"].map(str::to_owned);
        let options = DataOptions {
            target: Some("y".into()),
            groups: vec!["g".into()],
            weight: Some("w".into()),
            text: vec!["z".into()],
            ignore: vec!["i".into()],
            ..DataOptions::default()
        };
        let found = wanted(&names, &options, None).unwrap();
        let kinds: Vec<_> = found.iter().map(|w| w.kind).collect();
        let (number, text) = (Some(Forced::Number), Some(Forced::Text));
        assert_eq!(kinds, [None, number, text, Some(Forced::Ignored), None]);
        assert_eq!(
            found.iter().map(|w| w.labels).collect::<Vec<_>>(),
            [true, false, false, false, false]
        );
    }
}
