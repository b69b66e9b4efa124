//! Arrow IPC: files and streams.

use std::collections::VecDeque;
use std::fs::File;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, Message, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::Schema;
use rayon::prelude::*;

use super::super::batch::{Batch, Limit, Source};
use super::super::na::Na;
use super::columns::{check_rows, names, used};
use super::convert::convert;
use super::guard::guarded;
use super::input::Input;
use crate::bytes::Bytes;
use crate::error::{Error, Position, Result, Unit};
use crate::memory::memory_limit;
use crate::options::DataOptions;
use crate::table::kind::Wanted;
use crate::table::raw::RawColumn;

/// The first and last bytes of a file.
const MAGIC: &[u8] = b"ARROW1";

/// Starts a message.
const MARK: [u8; 4] = [0xff; 4];

/// Most bytes that a compressed buffer may unfold to.
const MOST_BYTES: i64 = 1 << 32;

/// An Arrow IPC file or stream. It is read a record batch at a time, as it was written.
pub(in super::super) struct Arrow {
    file: String,
    input: Input,
    schema: Arc<Schema>,
    names: Vec<String>,
    /// Of each column.
    na: Vec<Na>,
    version: MetadataVersion,
    layout: Layout,
    /// Made when the first rows are asked for.
    decoder: Option<FileDecoder>,
    used: Vec<usize>,
    /// Rows of a record batch that were not given out yet.
    pending: Option<RecordBatch>,
    /// Rows read so far.
    row: u64,
}

/// Where the messages are.
enum Layout {
    /// A footer has listed them.
    File(VecDeque<Block>),
    /// One starts where the last one ended.
    Stream(u64),
}

impl Arrow {
    /// Opens a file.
    pub fn open(file: String, opened: File, options: &DataOptions) -> Result<Self> {
        let input = Input::new(opened).map_err(|why| Error::Open { file: file.clone(), why })?;
        let opened = guarded(|| {
            let start = input.bytes(0, MAGIC.len()).map_err(|e| e.to_string())?;
            if start == MAGIC { footer(&input) } else { head(&input) }
        });
        let (schema, version, layout) =
            opened.map_err(|why| Error::Damaged { at: file.clone(), format: "Arrow", why })?;
        let names = names(&file, schema.fields())?;
        Ok(Arrow {
            file,
            input,
            schema: Arc::new(schema),
            na: Na::of(options, &names),
            names,
            version,
            layout,
            decoder: None,
            used: Vec::new(),
            pending: None,
            row: 0,
        })
    }

    fn damaged(&self, why: String) -> Error {
        let (file, line) = (self.file.clone(), self.row + 1);
        let at = Position { file, line, unit: Unit::Row }.to_string();
        Error::Damaged { at, format: "Arrow", why }
    }

    /// The next record batch that has rows.
    fn record_batch(&mut self) -> Result<Option<RecordBatch>, String> {
        let Some(decoder) = &mut self.decoder else { return Ok(None) };
        while let Some(block) = self.layout.next(&self.input)? {
            let found = guarded(|| decode(decoder, &self.input, &block))?;
            if found.as_ref().is_some_and(|batch| batch.num_rows() > 0) {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

impl Layout {
    fn next(&mut self, input: &Input) -> Result<Option<Block>, String> {
        match self {
            Layout::File(blocks) => Ok(blocks.pop_front()),
            Layout::Stream(at) => {
                let Some((block, _)) = message(input, *at)? else { return Ok(None) };
                *at = end(&block).ok_or("a length is out of range")?;
                Ok(Some(block))
            }
        }
    }
}

/// Where a message ends.
fn end(block: &Block) -> Option<u64> {
    let length = i64::from(block.metaDataLength()).checked_add(block.bodyLength())?;
    u64::try_from(block.offset()).ok()?.checked_add(u64::try_from(length).ok()?)
}

/// The message of a stream at a place, and its head; `None` at the end of the stream.
fn message(input: &Input, at: u64) -> Result<Option<(Block, Vec<u8>)>, String> {
    use ::parquet::file::reader::Length;
    if at >= input.len() {
        return Ok(None);
    }
    let why = |e: std::io::Error| e.to_string();
    let start = input.bytes(at, 8).map_err(why)?;
    let length = i32::from_le_bytes([start[4], start[5], start[6], start[7]]);
    if start[..4] != MARK {
        return Err("a message does not start where it should".into());
    }
    if length == 0 {
        return Ok(None);
    }
    let length = usize::try_from(length).map_err(|_| "a length is negative")?;
    let head = input.bytes(at + 8, length).map_err(why)?;
    let message = root_as_message(&head).map_err(|e| e.to_string())?;
    let block = Block::new(at as i64, length as i32 + 8, message.bodyLength());
    Ok(Some((block, head)))
}

/// The schema of a stream, and where its rows start.
fn head(input: &Input) -> Result<(Schema, MetadataVersion, Layout), String> {
    let (block, head) = message(input, 0)?.ok_or("there is no schema")?;
    let message = root_as_message(&head).map_err(|e| e.to_string())?;
    let schema = message.header_as_schema().ok_or("there is no schema")?;
    let start = end(&block).ok_or("a length is out of range")?;
    let schema = try_fb_to_schema(schema).map_err(|e| e.to_string())?;
    Ok((schema, message.version(), Layout::Stream(start)))
}

/// The schema of a file, and its messages: dictionaries, then rows.
fn footer(input: &Input) -> Result<(Schema, MetadataVersion, Layout), String> {
    use ::parquet::file::reader::Length;
    let why = |e: std::io::Error| e.to_string();
    let last = input.len().checked_sub(10).ok_or("it ends early")?;
    let tail = input.bytes(last, 10).map_err(why)?;
    if tail[4..] != *MAGIC {
        return Err("it does not end in ARROW1".into());
    }
    let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let start = last.checked_sub(length).ok_or("its footer is longer than the file")?;
    let bytes = input.bytes(start, length as usize).map_err(why)?;
    let footer = root_as_footer(&bytes).map_err(|e| e.to_string())?;
    let schema = footer.schema().ok_or("there is no schema")?;
    let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten();
    let schema = try_fb_to_schema(schema).map_err(|e| e.to_string())?;
    Ok((schema, footer.version(), Layout::File(blocks.copied().collect())))
}

/// Takes in a dictionary, or decodes rows.
fn decode(
    decoder: &mut FileDecoder,
    input: &Input,
    block: &Block,
) -> Result<Option<RecordBatch>, String> {
    let start = u64::try_from(block.offset()).map_err(|e| e.to_string())?;
    let length = end(block).and_then(|end| usize::try_from(end - start).ok());
    let bytes = input.bytes(start, length.ok_or("a length is out of range")?);
    let bytes = bytes.map_err(|e| e.to_string())?;
    let head = usize::try_from(block.metaDataLength()).map_err(|e| e.to_string())?;
    if !bytes.starts_with(&MARK) || head < 8 {
        return Err("a message does not start where it should".into());
    }
    let message = root_as_message(&bytes[8..head]).map_err(|e| e.to_string())?;
    check_lengths(&message, &bytes[head..])?;
    let kind = message.header_type();
    let buffer = arrow_buffer::Buffer::from_vec(bytes);
    match kind {
        MessageHeader::DictionaryBatch => {
            decoder.read_dictionary(block, &buffer).map_err(|e| e.to_string())?;
            Ok(None)
        }
        _ => decoder.read_record_batch(block, &buffer).map_err(|e| e.to_string()),
    }
}

/// Refuses compressed buffers that claim to unfold to more memory than there is, together or one.
fn check_lengths(message: &Message<'_>, body: &[u8]) -> Result<(), String> {
    let rows = message.header_as_record_batch();
    let Some(batch) = rows.or_else(|| message.header_as_dictionary_batch()?.data()) else {
        return Ok(());
    };
    if batch.compression().is_none() {
        return Ok(());
    }
    let mut all = 0;
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).map_err(|e| e.to_string())?;
        if buffer.length() == 0 {
            continue;
        }
        let prefix = body.get(start..).and_then(|rest| rest.first_chunk::<8>());
        let claimed = i64::from_le_bytes(*prefix.ok_or("a buffer lies outside of its batch")?);
        let room = usize::try_from(claimed.max(0)).unwrap_or(usize::MAX);
        all += room as u64;
        let is_too_large = claimed > MOST_BYTES || Bytes(all) > memory_limit();
        if is_too_large || Vec::<u8>::new().try_reserve_exact(room).is_err() {
            return Err(format!("a buffer of {claimed} bytes"));
        }
    }
    Ok(())
}

impl Source for Arrow {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn unit(&self) -> Unit {
        Unit::Row
    }

    fn next(&mut self, wanted: &[Wanted], limit: Limit, batch: &mut Batch) -> Result<bool> {
        if self.decoder.is_none() {
            self.used = used(&self.file, self.schema.fields(), &self.names, wanted)?;
            let decoder = FileDecoder::new(self.schema.clone(), self.version);
            self.decoder = Some(decoder.with_projection(self.used.clone()));
        }
        let rows = match self.pending.take() {
            None => self.record_batch().map_err(|why| self.damaged(why))?,
            rows => rows,
        };
        let Some(mut rows) = rows else { return Ok(false) };
        let (claimed, columns) = (rows.num_rows(), self.used.len());
        check_rows(&self.file, claimed as u64, columns)?;
        let most = (limit.bytes / size_of::<f64>() / columns.max(1)).clamp(1, limit.rows);
        if claimed > most {
            self.pending = Some(rows.slice(most, claimed - most));
            rows = rows.slice(0, most);
        }
        let count = rows.num_rows() as u64;
        let (_, arrays, _) = rows.into_parts();
        let columns: Result<Vec<RawColumn>, String> = arrays
            .into_par_iter()
            .zip(&self.used)
            .map(|(array, at)| guarded(|| convert(array, wanted[*at], &self.na[*at])))
            .collect();
        let columns = columns.map_err(|why| self.damaged(why))?;
        for (at, part) in self.used.iter().zip(columns) {
            if !batch.columns[*at].append(part) {
                let (file, column) = (self.file.clone(), self.names[*at].clone());
                return Err(Error::MixedKinds { file, column });
            }
        }
        for row in 0..count {
            batch.number(&self.file, self.row + row + 1)?;
        }
        self.row += count;
        Ok(true)
    }
}
