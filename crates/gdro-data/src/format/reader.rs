//! Files, one after another, as one table or as a sequence of tables.

use std::collections::VecDeque;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::batch::{Batch, Limit, Source};
use super::roles::{check_names, wanted};
use super::side::Side;
use super::{open, opened};
use crate::error::{Error, Result};
use crate::features::Encoding;
use crate::labels::GROUP;
use crate::options::{DataOptions, Format, Scaling};
use crate::table::Table;
use crate::table::kind::{Forced, Wanted};
use crate::table::raw::RawColumn;

/// Bytes of cells after which a block ends, however few its rows: bounds the memory.
const BLOCK_BYTES: usize = 64 << 20;

/// The kinds of columns that the rows of a table so far have settled ([`Reader::skip`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kinds(Vec<Option<Forced>>);

/// Reads files block by block, so that a table may be larger than memory.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("people.csv");
/// # std::fs::write(&file, "age,ill\n20,no\n30,yes\n40,no\n")?;
/// use gdro_data::{DataOptions, Reader};
///
/// let mut reader = Reader::open(&[file], &DataOptions::default(), None)?;
/// let mut rows = 0;
/// while let Some(block) = reader.next_block(2)? {
///     rows += block.rows();
/// }
/// assert_eq!(rows, 3);
/// # Ok(())
/// # }
/// ```
pub struct Reader {
    options: DataOptions,
    encoding: Option<Encoding>,
    /// The files that are not opened yet.
    paths: VecDeque<PathBuf>,
    source: Option<Box<dyn Source>>,
    /// Number of columns of a file.
    width: usize,
    /// Group labels in files of their own.
    side: Option<Side>,
    threads: usize,
    format: Format,
    /// The file that gave the names of the columns.
    first: String,
    names: Vec<String>,
    wanted: Vec<Wanted>,
    settled: Vec<Option<Forced>>,
    /// The file last read.
    last: String,
    /// Number of the row last read in its file.
    line: u64,
    rows: u64,
}

impl Reader {
    /// Opens the first file. With an encoding the table is read for its model, as
    /// [`crate::read_for`] says; without one for training, as [`crate::read`] says.
    ///
    /// # Errors
    /// As [`crate::read`] or [`crate::read_for`], as far as the first file tells.
    pub fn open(
        paths: &[PathBuf],
        options: &DataOptions,
        encoding: Option<&Encoding>,
    ) -> Result<Self> {
        options.check()?;
        let mut reader = Reader {
            options: options.clone(),
            encoding: encoding.cloned(),
            paths: opened::expand(paths)?.into(),
            source: None,
            width: 0,
            side: Side::open(options)?,
            threads: 0,
            format: Format::Csv,
            first: String::new(),
            names: Vec::new(),
            wanted: Vec::new(),
            settled: Vec::new(),
            last: String::new(),
            line: 0,
            rows: 0,
        };
        if let Some(columns) = &options.columns {
            check_names(columns, "columns")?;
        }
        if !reader.advance()? {
            return Err(Error::NoFile);
        }
        Ok(reader)
    }

    /// Lets blocks be decoded on so many threads of their own, ahead of [`Reader::next_block`],
    /// where the format allows it (Parquet: each thread decodes some of the columns). The blocks
    /// are the same for any number; each thread holds a few of them. 0, as at the start: none.
    pub fn decode_ahead(mut self, threads: usize) -> Self {
        self.threads = threads;
        if let Some(source) = &mut self.source {
            source.decode_ahead(threads);
        }
        self
    }

    /// Names of the columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads the next rows, at most `rows` of them; `None` at the end of the last file. A block
    /// does not reach over the end of a file, and ends early where its cells are very long.
    ///
    /// The kind of a column is settled by the options, by the encoding, or by the first block in
    /// which it has a cell that is not missing (until then it is [`crate::Kind::Text`]); a later
    /// cell that does not fit is an error.
    ///
    /// # Errors
    /// As [`crate::read`]; and when there is no row at all.
    ///
    /// # Panics
    /// When `rows` is 0.
    pub fn next_block(&mut self, rows: usize) -> Result<Option<Table>> {
        assert!(rows > 0, "a block has at least one row");
        let standard = self.options.scaling == Some(Scaling::Standard);
        if standard && self.format == Format::Svmlight && self.encoding.is_none() {
            let found = "standard, of sparse features block by block".into();
            return Err(Error::Option { option: "scaling", found, expected: "none".into() });
        }
        let limit = Limit { rows, bytes: BLOCK_BYTES };
        loop {
            let Some(source) = &mut self.source else {
                if !self.advance()? {
                    self.check_rows()?;
                    self.side.as_mut().map_or(Ok(()), Side::finish)?;
                    return Ok(None);
                }
                continue;
            };
            let mut batch = Batch::new(self.names.len(), self.line, source.unit());
            if source.next(&self.wanted[..self.width], limit, &mut batch)? {
                if let Some(side) = &mut self.side {
                    side.take(batch.lines.len(), &mut batch.columns[self.width])?;
                }
                batch.files.push((self.last.clone(), batch.lines.len()));
                self.rows += batch.lines.len() as u64;
                self.line += u64::from(batch.lines.last().copied().unwrap_or(0));
                return batch.finish(&self.names, &self.wanted, &mut self.settled).map(Some);
            }
            self.source = None;
        }
    }

    /// The kinds of the columns that earlier rows have settled.
    pub fn kinds(&self) -> Kinds {
        Kinds(self.settled.clone())
    }

    /// Goes past so many rows from the start, whose cells are not looked at, and takes over the kinds of
    /// columns that were settled there.
    ///
    /// # Errors
    /// Those of [`Reader::next_block`] that do not need cells; [`Error::StaleSchema`] where there are not
    /// so many rows or other columns.
    pub fn skip(&mut self, rows: u64, kinds: Kinds) -> Result<()> {
        const ROWS: u64 = 1 << 16;
        let stale = |what: &str| Error::StaleSchema { what: what.into() };
        if kinds.0.len() != self.settled.len() {
            return Err(stale("other columns"));
        }
        self.settled = kinds.0;
        let mut left = rows;
        while left > 0 {
            let limit = Limit { rows: left.min(ROWS) as usize, bytes: BLOCK_BYTES };
            let Some(source) = &mut self.source else {
                if !self.advance()? {
                    return Err(stale("fewer rows"));
                }
                continue;
            };
            let mut batch = Batch::new(self.names.len(), self.line, source.unit());
            if source.skip(&self.wanted[..self.width], limit, &mut batch)? {
                if let Some(side) = &mut self.side {
                    side.take(batch.lines.len(), &mut batch.columns[self.width])?;
                }
                left = left.saturating_sub(batch.lines.len() as u64);
                self.rows += batch.lines.len() as u64;
                self.line += u64::from(batch.lines.last().copied().unwrap_or(0));
            } else {
                self.source = None;
            }
        }
        Ok(())
    }

    /// Reads all that is left as one table, whose columns have the kinds that all rows together
    /// give.
    ///
    /// # Errors
    /// As [`crate::read`].
    pub fn read(mut self) -> Result<Table> {
        let limit = Limit { rows: usize::MAX, bytes: usize::MAX };
        let mut batch: Option<Batch> = None;
        while self.source.is_some() || self.advance()? {
            let Some(mut source) = self.source.take() else { continue };
            let batch = batch.get_or_insert_with(|| Batch::new(self.names.len(), 0, source.unit()));
            while source.next(&self.wanted[..self.width], limit, batch)? {}
            batch.files.push((self.last.clone(), batch.lines.len()));
        }
        let mut batch = batch.ok_or(Error::NoFile)?;
        let rows = batch.lines.len();
        self.rows += rows as u64;
        self.check_rows()?;
        if let Some(side) = &mut self.side {
            let mut labels = RawColumn::default();
            side.all(rows, &mut labels)?;
            batch.columns[self.width] = labels;
        }
        let table = batch.finish(&self.names, &self.wanted, &mut self.settled)?;
        let zero = table.sparse.as_ref().is_some_and(|sparse| sparse.has_zero);
        let base = self.options.index_base.unwrap_or(u32::from(!zero));
        match self.options.scaling {
            Some(Scaling::Standard) if self.encoding.is_none() => table.dense(base),
            _ => Ok(table),
        }
    }

    /// Opens the next file: false when there is none.
    fn advance(&mut self) -> Result<bool> {
        let Some(path) = self.paths.pop_front() else { return Ok(false) };
        let (format, mut source) = open::source(&path, &self.options, self.encoding.as_ref())?;
        source.decode_ahead(self.threads);
        let file = source.file().to_owned();
        let found = source.names().or(self.options.columns.as_deref()).unwrap_or_default();
        let mut found = found.to_vec();
        self.width = found.len();
        if self.side.is_some() {
            found.push(GROUP.to_owned());
            check_names(&found, &file)?;
        }
        if self.first.is_empty() {
            let options = self.options.filled(format == Format::Svmlight);
            self.wanted = wanted(&found, &options, self.encoding.as_ref())?;
            self.settled = vec![None; found.len()];
            (self.first, self.names) = (file.clone(), found);
            self.format = format;
        } else if format.family() != self.format.family() {
            return Err(Error::MixedFormats {
                file,
                found: format.words(),
                first: self.first.clone(),
                expected: self.format.words(),
            });
        } else if self.names != found {
            return Err(Error::Headers {
                file,
                first: self.first.clone(),
                found: found.join(","),
                expected: self.names.join(","),
            });
        }
        (self.last, self.line, self.source) = (file, 0, Some(source));
        Ok(true)
    }

    fn check_rows(&self) -> Result<()> {
        if self.rows == 0 { Err(Error::NoRows { file: self.last.clone() }) } else { Ok(()) }
    }
}
