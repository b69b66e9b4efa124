//! Rows as they come out of a file, before the kinds of their columns are settled.

use crate::bytes::Purpose;
use crate::error::{Error, Result, Unit};
use crate::memory::check_memory;
use crate::table::kind::{Forced, Odd, Refused, Wanted};
use crate::table::raw::RawColumn;
use crate::table::sparse::Sparse;
use crate::table::{Column, Kind, Table};
use crate::words::count;

/// Largest number of rows of a table: data sets number them by `u32`.
pub(super) const MOST: usize = u32::MAX as usize;

/// How much is read at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// Most rows.
    pub rows: usize,
    /// Bytes of cells after which no further row is read.
    pub bytes: usize,
}

/// One file, read from its start to its end.
pub(super) trait Source: Send {
    /// The file, as the caller named it.
    fn file(&self) -> &str;

    /// Names of the columns. `None`: they are given by the caller.
    fn names(&self) -> Option<&[String]>;

    /// What its rows are numbered by.
    fn unit(&self) -> Unit;

    /// Lets blocks be decoded on so many threads of their own, ahead of [`Source::next`], where
    /// the format allows it; 0 for none.
    fn decode_ahead(&mut self, _threads: usize) {}

    /// Appends rows to a batch: false when there was none left.
    fn next(&mut self, wanted: &[Wanted], limit: Limit, batch: &mut Batch) -> Result<bool>;

    /// The same for rows that nobody looks at: their cells may be left out.
    fn skip(&mut self, wanted: &[Wanted], limit: Limit, batch: &mut Batch) -> Result<bool> {
        self.next(wanted, limit, batch)
    }
}

/// Rows of one or several files.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub columns: Vec<RawColumn>,
    /// Files with the number of rows up to their end.
    pub files: Vec<(String, usize)>,
    /// Number of each row in its file, less the base.
    pub lines: Vec<u32>,
    pub base: u64,
    pub unit: Unit,
    pub sparse: Option<Sparse>,
    /// What a user should know of how the files were read.
    pub notes: Vec<String>,
}

impl Batch {
    /// An empty batch.
    pub fn new(columns: usize, base: u64, unit: Unit) -> Self {
        let mut batch = Batch { base, unit, ..Batch::default() };
        batch.columns.resize_with(columns, RawColumn::default);
        batch
    }

    /// Numbers the next row of a file.
    pub fn number(&mut self, file: &str, line: u64) -> Result<()> {
        let number = u32::try_from(line - self.base).ok().filter(|_| self.lines.len() < MOST);
        let too_many = || Error::TooManyRows { file: file.to_owned(), limit: MOST as u64 };
        self.lines.push(number.ok_or_else(too_many)?);
        Ok(())
    }

    /// Refuses cells that leave no memory for the numbers that they become.
    pub fn check_memory(&self, file: &str) -> Result<()> {
        let columns = self.columns.iter().map(RawColumn::bytes).sum::<usize>();
        let sparse = self.sparse.as_ref().map_or(0, Sparse::bytes);
        let rows = self.lines.len();
        let cells = rows * self.columns.iter().filter(|column| column.bytes() > 0).count();
        let lines = size_of::<u32>() * self.lines.capacity();
        let bytes = columns + sparse + lines + size_of::<f64>() * cells;
        check_memory(bytes as f64, Purpose::Table, || {
            format!("{file}: the first {} of the table", count(rows, "row"))
        })
    }

    /// The table. `settled` are the kinds that earlier batches have settled, and takes those that
    /// this one settles.
    pub fn finish(
        self,
        names: &[String],
        wanted: &[Wanted],
        settled: &mut [Option<Forced>],
    ) -> Result<Table> {
        let mut table = Table {
            names: names.to_vec(),
            columns: Vec::with_capacity(names.len()),
            files: self.files,
            lines: self.lines,
            base: self.base,
            unit: self.unit,
            sparse: self.sparse,
            notes: Vec::new(),
            places: Default::default(),
        };
        for note in self.notes {
            if !table.notes.contains(&note) {
                table.notes.push(note);
            }
        }
        let mut stopped: Option<Error> = None;
        for (at, (raw, wanted)) in self.columns.into_iter().zip(wanted).enumerate() {
            let kind = match (wanted.kind, settled[at]) {
                (Some(Forced::Date(None)), Some(known)) => Some(known),
                (given, known) => given.or(known),
            };
            let wanted = Wanted { kind, settled: wanted.kind.is_none(), ..*wanted };
            let blank = raw.is_blank();
            let column = match raw.finish(wanted, |found| refuse(&table, at, found)) {
                Ok(column) => column,
                // What usually means a missing cell is said of all columns at once.
                Err(error) if stopped.is_none() && error.is_mark() => {
                    stopped = Some(error);
                    Column::default()
                }
                Err(error) => match &mut stopped {
                    Some(first) => {
                        first.add_marks(error);
                        Column::default()
                    }
                    None => return Err(error),
                },
            };
            if stopped.is_some() {
                continue;
            }
            // Numbers have no texts unless they are wanted from the start.
            if column.kind() == Kind::Ignored && wanted.kind != Some(Forced::Ignored) {
                let (file, column) = (table.position(0).file, table.names[at].clone());
                return Err(Error::MixedKinds { file, column });
            }
            if wanted.kind.is_none() && !blank {
                settled[at] = Some(Forced::from(column.kind()));
            }
            if column.date.is_some() {
                settled[at] = Some(Forced::Date(column.date));
            }
            table.columns.push(column);
        }
        stopped.map_or(Ok(table), Err)
    }
}

/// The error for a cell of a column.
fn refuse(table: &Table, column: usize, found: Refused<'_>) -> Error {
    let (at, column) = (table.position(found.row), table.names[column].clone());
    let (text, marks) = (found.text.to_owned(), found.marks.into());
    let look = found.look.map(Box::new);
    match found.odd {
        Odd::NotANumber => Error::NotANumber { at, column, text, marks, look },
        Odd::NotFinite => Error::NotFinite { at, column, text, marks },
        Odd::Padded => Error::Padded { at, column, text },
        Odd::NotADate => Error::NotADate { at, column, text, marks },
        Odd::DateOrder => Error::DateOrder { at, column, text },
        Odd::OtherOrder => Error::OtherOrder { at, column, text },
    }
}
