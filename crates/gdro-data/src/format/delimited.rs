//! CSV and TSV.

use super::batch::{Batch, Limit, Source};
use super::na::Na;
use super::opened::Text;
use super::records::Records;
use super::roles::check_names;
use crate::error::{Error, Result, Unit};
use crate::options::{DataOptions, Format};

use crate::table::kind::{Forced, Wanted};

/// A delimited text.
pub(super) struct Delimited {
    records: Records,
    names: Option<Vec<String>>,
    na: Na,
    /// Rows read so far.
    rows: u64,
}

impl Delimited {
    /// Opens a file and reads its header, unless the names of the columns are given.
    pub fn open(text: Text, format: Format, options: &DataOptions) -> Result<Self> {
        let usual = if format == Format::Tsv { '\t' } else { ',' };
        let delimiter = options.delimiter.unwrap_or(usual);
        let mut records = Records::new(text, delimiter, options.comment.as_deref());
        let names = match options.columns {
            None => Some(header(&mut records)?),
            Some(_) => None,
        };
        Ok(Delimited { records, names, na: Na::new(options), rows: 0 })
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
        let (mut rows, mut bytes) = (0, 0);
        while rows < limit.rows && bytes < limit.bytes {
            if !self.records.advance()? {
                break;
            }
            let records = &self.records;
            if records.len() != wanted.len() {
                return Err(Error::Ragged {
                    at: records.position(),
                    found: records.len(),
                    expected: wanted.len(),
                    delimiter: records.delimiter(),
                });
            }
            batch.number(records.file(), records.line())?;
            for ((cell, column), wanted) in records.cells().zip(&mut batch.columns).zip(wanted) {
                if wanted.kind != Some(Forced::Ignored) {
                    column.push(self.na.cell(cell));
                    bytes += cell.len();
                }
            }
            rows += 1;
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
    let names: Vec<String> = records.cells().map(name).collect();
    check_names(&names, &records.position().to_string())?;
    Ok(names)
}
