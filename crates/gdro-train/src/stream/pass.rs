//! A pass over the table: decoding, encoding and the rest on threads of their own.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use gdro_data::stream::{Encoded, Feed, Place, Portion, Schema};
use gdro_data::{Kinds, Reader, Table};
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::job::Job;

/// Where a pass stands between two portions.
#[derive(Clone, Serialize, Deserialize)]
pub struct Mark {
    /// The rows so far.
    pub feed: Place,
    /// The kinds that they have settled.
    pub kinds: Kinds,
}

/// A table that is read from its start as often as needed.
pub struct Rows<'a> {
    /// The job.
    pub job: &'a Job,
    /// What is known of the table.
    pub schema: &'a Arc<Schema>,
    /// Rows of each group that are held out.
    pub held_out: &'a [u64],
    /// Rows of each group that are for training, where a pass has counted them.
    pub training: Option<Vec<u64>>,
    /// Rows that are shuffled together.
    pub buffer: usize,
}

impl Rows<'_> {
    /// The table from its start, decoded on so many threads of their own.
    pub fn open(&self, threads: usize) -> Result<Reader> {
        let job = self.job;
        Reader::open(&job.files(&job.tables), &job.data, Some(&self.schema.encoding))
            .map(|reader| reader.decode_ahead(threads))
            .map_err(|e| job.refuse(&e))
    }

    /// The table from a mark on, and what turns it into samples: a feed of a pass that was cut off there.
    pub fn open_at(
        &self,
        threads: usize,
        feed: Feed,
        mark: Option<Mark>,
    ) -> Result<(Reader, Feed)> {
        let mut reader = self.open(threads)?;
        let Some(Mark { feed: place, kinds }) = mark else { return Ok((reader, feed)) };
        let refuse = |e: gdro_data::Error| self.job.refuse(&e);
        reader.skip(place.rows, kinds).map_err(refuse)?;
        Ok((reader, feed.go_on(place).map_err(refuse)?))
    }

    /// What turns its blocks into samples.
    pub fn feed(&self, encoded: Encoded) -> Feed {
        let seed = self.job.training.seed;
        let feed = Feed::new(self.schema.clone(), self.held_out, encoded, self.buffer, seed);
        match &self.training {
            Some(training) => feed.with_training(training),
            None => feed,
        }
    }
}

/// Decoded blocks that wait to be encoded.
const AHEAD: usize = 1;

/// Goes through a table: its first blocks, where those have been read, and then those of `reader`.
/// They become portions on one thread while the next block is decoded on another; `deliver` takes a
/// portion, and where the pass stands after it, to where it is used, and says whether more are wanted. `work` goes on meanwhile and is
/// what is returned.
pub fn run<R>(
    rows: &Rows<'_>,
    (first, reader): (Vec<Table>, Reader),
    feed: Feed,
    deliver: impl FnMut(&Portion, Mark) -> Result<bool> + Send,
    work: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let (job, most) = (rows.job, rows.buffer);
    let (mut reader, mut feed, mut deliver) = (reader, feed, deliver);
    let refuse = |e: gdro_data::Error| job.refuse(&e);
    let kinds = reader.kinds();
    std::thread::scope(|scope| {
        let (decoded, blocks) = sync_channel(AHEAD);
        let decoding = scope.spawn(move || {
            let mut first = first.into_iter();
            loop {
                let block = match first.next() {
                    Some(block) => Some(block),
                    None => reader.next_block(most).map_err(refuse)?,
                };
                let Some(block) = block else { break };
                if decoded.send((block, reader.kinds())).is_err() {
                    break;
                }
            }
            Ok(())
        });
        let encoding = scope.spawn(move || {
            let mut last = kinds;
            for (block, kinds) in blocks {
                for (portion, place) in feed.take(&block).map_err(refuse)? {
                    if !deliver(&portion, Mark { feed: place, kinds: kinds.clone() })? {
                        return Ok(());
                    }
                }
                last = kinds;
            }
            feed.end().map_err(refuse)?;
            if let Some(rest) = feed.finish().map_err(refuse)? {
                deliver(&rest, Mark { feed: feed.place(), kinds: last })?;
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
