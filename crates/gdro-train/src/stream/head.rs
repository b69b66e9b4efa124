//! The rows that are kept in memory: what step sizes are tried on, what curves are drawn from, and
//! the small groups, whose rows are drawn again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gdro::Dataset;
use gdro::exact::Goal;
use gdro::game::Game;
use gdro::setting::Baseline;
use gdro::source::Batch;
use gdro_data::stream::{Encoded, Portion, Schema};
use gdro_data::{Reader, Table};

use super::pass::{Mark, Rows};
use crate::checkpoint::Checkpoint;
use crate::failure::{Failure, Result};
use crate::job::Job;
use crate::prepared::{Setting, domain_of, loss_of};

/// As many of the first rows of a large group are enough.
const ENOUGH: u64 = 1000;

/// So many times the rows of the shuffle buffer are kept in memory.
const KEPT: u64 = 4;

/// Rows in memory, and the groups that have any of them.
pub struct Head {
    data: Dataset,
    /// Numbers of the groups of `data`.
    pub groups: Vec<usize>,
    /// The same rows as a batch of all groups.
    pub batch: Arc<Batch>,
    /// The groups of which every training row is here.
    pub whole: Vec<bool>,
    /// Whether it is a sample of the whole table.
    pub is_sample: bool,
}

/// As many rows of each group as fit into so many rows in all: the same number of every group, or
/// all that it has.
fn shares(training: &[u64], rows: u64) -> Vec<u64> {
    let mut sizes = training.to_vec();
    sizes.sort_unstable();
    let (mut left, mut share) = (rows, 1);
    for (at, size) in sizes.iter().enumerate() {
        share = share.max(left / (sizes.len() - at) as u64);
        if *size > share {
            break;
        }
        left = left.saturating_sub(*size);
        share = *size;
    }
    training.iter().map(|n| (*n).min(share)).collect()
}

impl Head {
    /// Whether the rows that are shuffled together first do not stand for the table: a group that
    /// would fit into memory may lie elsewhere, a large one may have few of them, rows are not in
    /// random order, or groups overlap, so that their training rows have yet to be counted.
    pub fn needs_sample(rows: &Rows<'_>) -> bool {
        let (schema, buffer) = (rows.schema, rows.buffer as u64);
        let shares = |training: &[u64]| shares(training, KEPT * buffer);
        let training = rows.feed(Encoded::Visited).training().to_vec();
        let overlap = schema.first_family() < training.len();
        let first = |n: u64| n as f64 * buffer as f64 / schema.rows.max(1) as f64;
        let is_large = |(n, share): (&u64, &u64)| n > share && first(*n) >= ENOUGH as f64;
        overlap
            || schema.rows > buffer
                && !(schema.in_random_order
                    && training.iter().zip(&shares(&training)).all(is_large))
    }

    /// The training rows among those that are shuffled together first, and the blocks that were
    /// read for them.
    pub fn first(reader: &mut Reader, rows: &Rows<'_>) -> Result<(Self, Vec<Table>)> {
        let refuse = |e: gdro_data::Error| rows.job.refuse(&e);
        let mut feed = rows.feed(Encoded::Training);
        let mut blocks = Vec::new();
        let mut found = Vec::new();
        while found.is_empty() {
            let Some(block) = reader.next_block(rows.buffer).map_err(refuse)? else { break };
            found = feed.take(&block).map_err(refuse)?;
            blocks.push(block);
        }
        let first = match found.into_iter().next() {
            Some((portion, _)) => Some(portion),
            None => feed.finish().map_err(refuse)?,
        };
        let first = first.ok_or_else(|| Failure::input("the table has no rows"))?;
        Ok((Head::of(&first, feed.training(), rows)?, blocks))
    }

    /// A sample of every group, evenly spread over the table, from a pass of its own, and how many
    /// rows of each group are for training. `None` when it was stopped.
    pub fn sampled(
        rows: &Rows<'_>,
        checkpoint: &Checkpoint,
        stop: &AtomicBool,
    ) -> Result<Option<(Self, Vec<u64>)>> {
        let (stage, so_far) = ("sample", "sample/so far");
        let refuse = |e: gdro_data::Error| rows.job.refuse(&e);
        let found: Option<(Portion, Vec<u64>)> = checkpoint.get(stage)?;
        let groups = rows.held_out.len();
        if found.as_ref().is_some_and(|(portion, _)| !portion.is_whole(groups)) {
            return Err(Failure::input("the checkpoint is damaged: a sample of another table"));
        }
        let (found, training) = match found {
            Some(known) => known,
            None => {
                let feed = rows.feed(Encoded::Visited);
                let shares = shares(feed.training(), KEPT * rows.buffer as u64);
                let feed = feed.visiting(&shares).in_one_portion();
                let threads = rayon::current_num_threads();
                let (mut reader, mut feed) =
                    rows.open_at(threads, feed, checkpoint.get(so_far)?)?;
                while let Some(block) = reader.next_block(rows.buffer).map_err(refuse)? {
                    feed.take(&block).map_err(refuse)?;
                    let is_last = stop.load(Ordering::Relaxed);
                    if is_last || checkpoint.is_due() {
                        let mark = Mark { feed: feed.place(), kinds: reader.kinds() };
                        checkpoint.put(so_far, &mark);
                    }
                    if is_last {
                        checkpoint.freeze();
                        return Ok(None);
                    }
                }
                feed.end().map_err(refuse)?;
                let found = feed.finish().map_err(refuse)?;
                let found = found.ok_or_else(|| Failure::input("the table has no rows"))?;
                let known = (found, feed.trained().to_vec());
                checkpoint.put(stage, &known);
                known
            }
        };
        let head = Head { is_sample: true, ..Head::of(&found, &training, rows)? };
        Ok(Some((head, training)))
    }

    fn of(portion: &Portion, training: &[u64], rows: &Rows<'_>) -> Result<Self> {
        let refuse = |e: gdro_data::Error| rows.job.refuse(&e);
        let Some((data, groups)) = portion.training().map_err(refuse)? else {
            let why = "none of the first rows can be used for training: give more rows";
            return Err(rows.job.refusal("buffer", why));
        };
        let batch = Arc::new(portion.batch(false).map_err(refuse)?);
        let whole = |group: usize| batch.members(group).len() as u64 == training[group];
        let whole = (0..training.len()).map(whole).collect();
        Ok(Head { data, groups, batch, whole, is_sample: false })
    }

    /// The game of the robust model on these rows.
    pub fn robust(&self, job: &Job, schema: &Schema) -> Result<Setting> {
        self.setting(job, schema, self.data.clone(), Goal::Adversary)
    }

    /// Ordinary training on these rows.
    pub fn baseline(&self, job: &Job, schema: &Schema, which: Baseline) -> Result<Setting> {
        let (data, m) = match which {
            Baseline::Erm => (self.data.pooled().map_err(plain)?, 1),
            Baseline::Balanced => (self.data.clone(), self.data.groups()),
        };
        self.setting(job, schema, data, Goal::Fixed(vec![1.0 / m as f64; m]))
    }

    fn setting(&self, job: &Job, schema: &Schema, data: Dataset, goal: Goal) -> Result<Setting> {
        let training = &job.training;
        let loss = loss_of(training.loss, &schema.target).map_err(plain)?;
        let domain = domain_of(training, loss.targets(), schema.largest_target).map_err(plain)?;
        let game = Game::gdro(data.groups()).with_ridge(training.l2);
        Ok(Setting { data, loss, domain, game, goal, offset_errors: None })
    }
}

fn plain(error: gdro::Error) -> Failure {
    Failure::library(error, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fill_the_room() {
        assert_eq!(shares(&[100, 5, 40], 60), [27, 5, 27]);
        assert_eq!(shares(&[100, 5, 10], 60), [45, 5, 10]);
        assert_eq!(shares(&[3, 5], 60), [3, 5]);
        assert_eq!(shares(&[9, 9, 9], 2), [1, 1, 1]);
    }
}
