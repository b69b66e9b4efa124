//! Parquet.

use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use arrow_array::RecordBatch;
use arrow_schema::{Fields, Schema};
use rayon::prelude::*;

use super::super::batch::{Batch, Limit, Source};
use super::super::na::Na;
use super::columns::{check_rows, names, used};
use super::convert::{coded, convert};
use super::guard::guarded;
use super::input::Input;
use crate::error::{Error, Position, Result, Unit};
use crate::options::DataOptions;
use crate::table::kind::Wanted;
use crate::table::raw::RawColumn;

/// Most rows of a block.
const ROWS: usize = 1 << 16;

/// Most rows that are decoded at a time when a whole file is read.
const MOST_ROWS: u64 = 1 << 20;

/// What is wrong when columns do not have the same number of rows.
const SHORTER: &str = "a column is shorter than the others";

/// Blocks that a thread may decode ahead.
const AHEAD: usize = 2;

/// Columns of the same rows, each with its place in the table.
type Part = Vec<(usize, RawColumn)>;

/// The next block, with its number of rows; `None` at the end.
type Decoded = Result<Option<(usize, Part)>, String>;

/// A Parquet file.
pub(in super::super) struct Parquet {
    file: String,
    content: Content,
    names: Vec<String>,
    /// Of each column.
    na: Arc<[Na]>,
    /// Rows read so far.
    row: u64,
    threads: usize,
    stream: Option<Stream>,
}

/// What readers of a file share.
#[derive(Clone)]
struct Content {
    input: Input,
    metadata: ArrowReaderMetadata,
}

/// Where blocks come from: one place, or several that have some of the columns each.
enum Stream {
    Here(Decoder),
    Threads(Vec<Receiver<Decoded>>),
}

/// Decodes some columns of a file.
struct Decoder {
    reader: ParquetRecordBatchReader,
    columns: Vec<(usize, Wanted)>,
    na: Arc<[Na]>,
}

impl Parquet {
    /// Opens a file.
    pub fn open(file: String, opened: File, options: &DataOptions) -> Result<Self> {
        let input = Input::new(opened).map_err(|why| Error::Open { file: file.clone(), why })?;
        let metadata = guarded(|| {
            let found = ArrowReaderMetadata::load(&input, ArrowReaderOptions::new())?;
            let fields = found.schema().fields().iter().map(|field| coded(field));
            let schema = Arc::new(Schema::new(fields.collect::<Fields>()));
            let with_codes = ArrowReaderOptions::new().with_schema(schema);
            ArrowReaderMetadata::try_new(found.metadata().clone(), with_codes)
        });
        let metadata =
            metadata.map_err(|why| Error::Damaged { at: file.clone(), format: "Parquet", why })?;
        let names = names(&file, metadata.schema().fields())?;
        Ok(Parquet {
            file,
            content: Content { input, metadata },
            na: Na::of(options, &names).into(),
            names,
            row: 0,
            threads: 0,
            stream: None,
        })
    }

    fn damaged(&self, why: String) -> Error {
        self.damaged_from(self.row, why)
    }

    /// Damage somewhere after so many rows.
    fn damaged_from(&self, rows: u64, why: String) -> Error {
        let (file, line) = (self.file.clone(), rows + 1);
        let at = Position { file, line, unit: Unit::Row }.to_string();
        Error::Damaged { at, format: "Parquet", why }
    }

    /// Starts to decode the columns in blocks.
    fn start(&self, wanted: &[Wanted], rows: usize) -> Result<Stream> {
        let fields = self.content.metadata.schema().fields();
        let used = used(&self.file, fields, &self.names, wanted)?;
        if self.threads == 0 || used.is_empty() {
            let columns = used.iter().map(|at| (*at, wanted[*at])).collect();
            let decoder = self.content.decoder(columns, None, rows, &self.na);
            return Ok(Stream::Here(decoder.map_err(|why| self.damaged(why))?));
        }
        let parts = self.content.share(&used, self.threads);
        let receivers = parts.into_iter().map(|part| {
            let (sender, receiver) = sync_channel(AHEAD);
            let (content, na) = (self.content.clone(), self.na.clone());
            let columns = part.into_iter().map(|at| (at, wanted[at])).collect();
            thread::spawn(move || {
                let mut decoder = match content.decoder(columns, None, rows, &na) {
                    Ok(decoder) => decoder,
                    Err(why) => return drop(sender.send(Err(why))),
                };
                // Nobody listens any more when the reader was dropped.
                loop {
                    let block = decoder.next();
                    let goes_on = matches!(block, Ok(Some(_)));
                    if sender.send(block).is_err() || !goes_on {
                        return;
                    }
                }
            });
            receiver
        });
        Ok(Stream::Threads(receivers.collect()))
    }

    /// Decodes everything: columns and row groups in parallel, put together in order.
    fn whole(&self, wanted: &[Wanted], batch: &mut Batch) -> Result<usize> {
        let fields = self.content.metadata.schema().fields();
        let used = used(&self.file, fields, &self.names, wanted)?;
        let (content, na) = (&self.content, &self.na);
        let decode = |at: usize, group: usize, rows: u64| -> Result<(usize, RawColumn), String> {
            let columns = vec![(at, wanted[at])];
            let most = rows.clamp(1, MOST_ROWS) as usize;
            let mut decoder = content.decoder(columns, Some(group), most, na)?;
            let (mut rows, mut all) = (0, RawColumn::default());
            while let Some((more, part)) = decoder.next()? {
                rows += more;
                part.into_iter().for_each(|(_, raw)| {
                    all.append(raw);
                });
            }
            Ok((rows, all))
        };
        let counts: Vec<u64> = content.group_rows().collect();
        let rows = counts.iter().fold(0, |sum: u64, rows| sum.saturating_add(*rows));
        check_rows(&self.file, rows, used.len())?;
        let rows = rows as usize;
        let column = |at: &usize| {
            let groups = counts.par_iter().enumerate();
            let parts: Vec<_> = groups.map(|(group, rows)| decode(*at, group, *rows)).collect();
            let (mut found, mut all) = (0, RawColumn::default());
            for (group, part) in parts.into_iter().enumerate() {
                let before = counts[..group].iter().sum();
                let (more, part) = part.map_err(|why| (before, why))?;
                found += more;
                all.append(part);
            }
            if found == rows { Ok(all) } else { Err((0, SHORTER.to_owned())) }
        };
        let columns: Vec<Result<RawColumn, (u64, String)>> = used.par_iter().map(column).collect();
        for (at, column) in used.iter().zip(columns) {
            let column = column.map_err(|(rows, why)| self.damaged_from(rows, why))?;
            self.put(*at, column, batch)?;
        }
        Ok(rows)
    }

    /// Appends a column of a part.
    fn put(&self, at: usize, part: RawColumn, batch: &mut Batch) -> Result<()> {
        if batch.columns[at].append(part) {
            return Ok(());
        }
        let (file, column) = (self.file.clone(), self.names[at].clone());
        Err(Error::MixedKinds { file, column })
    }
}

impl Content {
    /// Numbers of rows of the row groups.
    fn group_rows(&self) -> impl Iterator<Item = u64> {
        self.metadata.metadata().row_groups().iter().map(|g| g.num_rows().max(0) as u64)
    }

    /// A decoder of some columns, of all row groups or of one.
    fn decoder(
        &self,
        columns: Vec<(usize, Wanted)>,
        group: Option<usize>,
        rows: usize,
        na: &Arc<[Na]>,
    ) -> Result<Decoder, String> {
        guarded(|| {
            let (input, metadata) = (self.input.clone(), self.metadata.clone());
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(input, metadata);
            let roots = columns.iter().map(|(at, _)| *at);
            let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
            let mut builder = builder.with_projection(mask).with_batch_size(rows);
            if let Some(group) = group {
                builder = builder.with_row_groups(vec![group]);
            }
            builder.build()
        })
        .map(|reader| Decoder { reader, columns, na: na.clone() })
    }

    /// Spreads columns over so many places that each has about as much to decode.
    fn share(&self, used: &[usize], places: usize) -> Vec<Vec<usize>> {
        let metadata = self.metadata.metadata();
        let roots = self.metadata.parquet_schema();
        let size = |at: usize| -> i64 {
            let leaves = (0..roots.num_columns()).filter(|l| roots.get_column_root_idx(*l) == at);
            let groups = metadata.row_groups();
            leaves
                .map(|l| groups.iter().map(|g| g.column(l).uncompressed_size()).sum::<i64>())
                .sum()
        };
        let mut by_size: Vec<(i64, usize)> = used.iter().map(|at| (size(*at), *at)).collect();
        by_size.sort_unstable_by(|a, b| b.cmp(a));
        let mut shares = vec![(0i64, Vec::new()); places.min(used.len())];
        for (size, at) in by_size {
            if let Some(least) = shares.iter_mut().min_by_key(|(total, _)| *total) {
                least.0 = least.0.saturating_add(size.max(1));
                least.1.push(at);
            }
        }
        shares
            .into_iter()
            .map(|(_, mut columns)| {
                // Columns of a projection come in the order of the file.
                columns.sort_unstable();
                columns
            })
            .collect()
    }
}

impl Decoder {
    /// The next block and its number of rows.
    fn next(&mut self) -> Decoded {
        guarded(|| {
            let Some(batch) = self.reader.next() else { return Ok(None) };
            let batch: RecordBatch = batch.map_err(|e| e.to_string())?;
            let rows = batch.num_rows();
            let (_, arrays, _) = batch.into_parts();
            let cells = arrays.into_iter().zip(&self.columns);
            let cells = cells
                .map(|(array, (at, wanted))| Ok((*at, convert(array, *wanted, &self.na[*at])?)));
            Ok::<_, String>(Some((rows, cells.collect::<Result<_, String>>()?)))
        })
    }
}

impl Stream {
    fn next(&mut self) -> Decoded {
        let receivers = match self {
            Stream::Here(decoder) => return decoder.next(),
            Stream::Threads(receivers) => receivers,
        };
        let mut block: Option<(usize, Part)> = None;
        let mut ended = 0;
        for receiver in receivers.iter() {
            let stopped = |_| "decoding has stopped".to_owned();
            match (receiver.recv().map_err(stopped)??, &mut block) {
                (None, _) => ended += 1,
                (found, None) => block = found,
                (Some((rows, part)), Some((all, block))) if rows == *all => block.extend(part),
                _ => return Err(SHORTER.into()),
            }
        }
        match block {
            Some(_) if ended > 0 => Err(SHORTER.into()),
            block => Ok(block),
        }
    }
}

impl Source for Parquet {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn unit(&self) -> Unit {
        Unit::Row
    }

    fn decode_ahead(&mut self, threads: usize) {
        self.threads = threads;
    }

    fn next(&mut self, wanted: &[Wanted], limit: Limit, batch: &mut Batch) -> Result<bool> {
        let rows = if limit.rows == usize::MAX && self.stream.is_none() {
            if self.row > 0 {
                return Ok(false);
            }
            self.whole(wanted, batch)?
        } else {
            let mut stream = match self.stream.take() {
                Some(stream) => stream,
                None => self.start(wanted, limit.rows.min(ROWS))?,
            };
            let block = stream.next().map_err(|why| self.damaged(why))?;
            self.stream = Some(stream);
            let Some((rows, part)) = block else { return Ok(false) };
            for (at, raw) in part {
                self.put(at, raw, batch)?;
            }
            rows
        };
        for row in 0..rows as u64 {
            batch.number(&self.file, self.row + row + 1)?;
        }
        self.row += rows as u64;
        Ok(rows > 0)
    }
}
