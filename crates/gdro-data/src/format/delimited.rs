//! CSV and TSV.

use super::batch::{Batch, Limit, Source};
use super::delimiter::separated;
use super::na::Na;
use super::opened::Text;
use super::records::Records;
use super::roles::check_names;
use super::unnamed::Unnamed;
use crate::error::{Error, Result, Unit};
use crate::options::{DataOptions, Format};

use crate::table::kind::{Forced, Wanted};

/// A delimited text.
pub(super) struct Delimited {
    records: Records,
    names: Option<Vec<String>>,
    unnamed: Unnamed,
    /// Of each column.
    na: Vec<Na>,
    /// Rows read so far.
    rows: u64,
}

impl Delimited {
    /// Opens a file and reads its header, unless the names of the columns are given.
    pub fn open(text: Text, format: Format, options: &DataOptions) -> Result<Self> {
        let usual = (format == Format::Tsv).then_some('\t');
        let found = separated(text, usual, options)?;
        let mut records = Records::new(found.text, found.delimiter, options.comment.as_deref());
        if found.says {
            records.skip_line()?;
        }
        let mut names = match options.columns {
            None => Some(header(&mut records)?),
            Some(_) => None,
        };
        let mut unnamed = Unnamed::default();
        if let Some(names) = &mut names {
            let place = records.position().to_string();
            unnamed = Unnamed::take(names, place.clone());
            check_names(names, &place)?;
        }
        let columns = names.as_ref().or(options.columns.as_ref());
        let na = columns.map_or_else(Vec::new, |columns| Na::of(options, columns));
        Ok(Delimited { records, names, unnamed, na, rows: 0 })
    }
}

impl Source for Delimited {
    fn file(&self) -> &str {
        self.records.file()
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn unit(&self) -> Unit {
        Unit::Line
    }

    fn next(&mut self, wanted: &[Wanted], limit: Limit, batch: &mut Batch) -> Result<bool> {
        self.read(wanted, limit, batch, true)
    }

    fn skip(&mut self, wanted: &[Wanted], limit: Limit, batch: &mut Batch) -> Result<bool> {
        self.read(wanted, limit, batch, false)
    }
}

impl Delimited {
    /// Appends rows to a batch, with or without their cells.
    fn read(
        &mut self,
        wanted: &[Wanted],
        limit: Limit,
        batch: &mut Batch,
        with_cells: bool,
    ) -> Result<bool> {
        let (mut rows, mut bytes) = (0, 0);
        while rows < limit.rows && bytes < limit.bytes {
            if !self.records.advance()? {
                break;
            }
            let records = &self.records;
            let expected = wanted.len() + self.unnamed.len();
            if records.len() != expected {
                return Err(Error::Ragged {
                    at: records.position(),
                    found: records.len(),
                    expected,
                    delimiter: records.delimiter(),
                });
            }
            batch.number(records.file(), records.line())?;
            let unnamed = &mut self.unnamed;
            if unnamed.len() > 0 {
                unnamed.check(records.cells(), records.line())?;
            }
            let named = records.cells().enumerate().filter(|(place, _)| !unnamed.holds(*place));
            let columns = batch.columns.iter_mut().zip(&self.na).zip(wanted);
            for ((_, cell), ((column, na), wanted)) in named.zip(columns) {
                if with_cells && wanted.kind != Some(Forced::Ignored) {
                    column.push(na.cell(cell));
                    bytes += cell.len();
                }
            }
            rows += 1;
        }
        if self.rows == 0 && rows > 0 {
            batch.notes.extend(self.unnamed.notes());
        }
        self.rows += rows as u64;
        if rows == 0 && self.rows == 0 && self.names.is_none() {
            let file = self.records.file().to_owned();
            return Err(Error::EmptyFile { file, expected: "rows" });
        }
        Ok(rows > 0)
    }
}

fn header(records: &mut Records) -> Result<Vec<String>> {
    if !records.advance()? {
        let file = records.file().to_owned();
        return Err(Error::EmptyFile { file, expected: "a line with the names of the columns" });
    }
    // A name is on one line: line breaks inside it become blanks.
    let name = |cell: &str| cell.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(records.cells().map(name).collect())
}
