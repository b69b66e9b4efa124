//! A pass over the table: decoding, encoding and the rest on threads of their own.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use gdro_data::Reader;
use gdro_data::stream::{Feed, Portion, Schema};

use crate::failure::{Failure, Result};
use crate::job::Job;

/// A table that is read from its start as often as needed.
pub struct Rows<'a> {
    /// The job.
    pub job: &'a Job,
    /// What is known of the table.
    pub schema: &'a Arc<Schema>,
    /// Rows of each group that are held out.
    pub held_out: &'a [u64],
    /// Most rows of a block.
    pub block: usize,
}

impl Rows<'_> {
    /// The table from its start.
    pub fn open(&self) -> Result<(Reader, Feed)> {
        let (job, schema) = (self.job, self.schema);
        let reader = Reader::open(&job.files(&job.tables), &job.data, Some(&schema.encoding))
            .map_err(|e| Failure::data(&e, job))?;
        Ok((reader, Feed::new(schema.clone(), self.held_out, job.training.seed)))
    }
}

/// Decoded blocks that wait to be encoded.
const AHEAD: usize = 1;

/// Reads a table in blocks of at most `rows` rows. Each becomes a portion on one
/// thread while the next one is decoded on another; `deliver` takes it to where it is used, and
/// says whether more are wanted. `work` goes on meanwhile and is what is returned.
pub fn run<R>(
    job: &Job,
    reader: Reader,
    feed: Feed,
    rows: usize,
    deliver: impl FnMut(&Portion) -> Result<bool> + Send,
    work: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let (mut reader, mut feed, mut deliver) = (reader, feed, deliver);
    let refuse = |e: gdro_data::Error| Failure::data(&e, job);
    std::thread::scope(|scope| {
        let (decoded, blocks) = sync_channel(AHEAD);
        let decoding = scope.spawn(move || {
            while let Some(block) = reader.next_block(rows).map_err(refuse)? {
                if decoded.send(block).is_err() {
                    break;
                }
            }
            Ok(())
        });
        let encoding = scope.spawn(move || {
            for block in blocks {
                if !deliver(&feed.take(block).map_err(refuse)?)? {
                    break;
                }
            }
            Ok(())
        });
        let worked = work();
        // What went wrong first is what the user should hear of: a table that cannot be read ends
        // the rows of those who wait for them.
        let panicked = |_| Failure::Machine("a thread ended unexpectedly".into());
        decoding.join().unwrap_or_else(|e| Err(panicked(e)))?;
        encoding.join().unwrap_or_else(|e| Err(panicked(e)))?;
        worked
    })
}
