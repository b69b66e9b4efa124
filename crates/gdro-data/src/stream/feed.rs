//! The pass that delivers.

use std::sync::Arc;

use gdro::Dataset;
use gdro::source::Batch;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

use super::schema::Schema;
use crate::error::{Error, Result};
use crate::features::usable_rows;
use crate::options::DataOptions;
use crate::table::Table;

/// Turns the blocks of a table into encoded rows. Of each group the first rows are for training and
/// the last ones are held out.
pub struct Feed {
    schema: Arc<Schema>,
    /// The options, with a target that is the name of a column.
    settled: Option<DataOptions>,
    /// Number of rows of each group that are for training, and of those that are visited.
    training: Vec<u64>,
    visits: Vec<u64>,
    /// Over how many rows, from the first, the visits are spread.
    spans: Vec<u64>,
    remainders: Vec<u64>,
    /// Rows of each group so far.
    seen: Vec<u64>,
    seed: u64,
    blocks: u64,
}

/// The rows of a block that are used, group by group.
#[derive(Clone, Debug)]
pub struct Portion {
    block: Arc<Table>,
    schema: Arc<Schema>,
    /// Rows of the block for training that are visited, the others, and rows held out.
    visited: Vec<Vec<u32>>,
    others: Vec<Vec<u32>>,
    held_out: Vec<Vec<u32>>,
}

impl Feed {
    /// A feed of the table that a schema describes. `held_out[i]` rows of group i, its last ones,
    /// are held out. `seed` decides the order of visits inside of a block.
    ///
    /// # Panics
    /// When `held_out` has another length than the schema has groups.
    pub fn new(schema: Arc<Schema>, held_out: &[u64], seed: u64) -> Self {
        assert_eq!(held_out.len(), schema.counts.len(), "one number per group");
        let training = schema.counts.iter().zip(held_out).map(|(n, h)| n.saturating_sub(*h));
        let (training, seen): (Vec<u64>, _) = (training.collect(), vec![0; held_out.len()]);
        let (visits, spans) = (training.clone(), training.clone());
        let remainders = vec![0; held_out.len()];
        Feed { schema, settled: None, training, visits, spans, remainders, seen, seed, blocks: 0 }
    }

    /// Visits only so many of the training rows of each group, evenly spread, so that all groups
    /// keep step: over that share of the rows of each that is for training in all of them.
    pub fn visiting(mut self, visits: u64) -> Self {
        let counts = &self.schema.counts;
        let shares = self.training.iter().zip(counts).map(|(t, n)| *t as f64 / (*n).max(1) as f64);
        let share = shares.fold(1.0, f64::min);
        let spans = self.training.iter().zip(counts);
        self.spans = spans.map(|(t, n)| ((share * *n as f64) as u64).clamp(1, *t)).collect();
        let least = self.spans.iter().copied().min().unwrap_or(0);
        self.visits = vec![visits.min(least); self.training.len()];
        self
    }

    /// Rows of each group that are visited.
    pub fn visits(&self) -> &[u64] {
        &self.visits
    }

    /// Rows of each group that are for training.
    pub fn training(&self) -> &[u64] {
        &self.training
    }

    /// Takes the next block: the order of calls is that of the table.
    ///
    /// # Errors
    /// For cells that the schema does not allow, such as a group that it does not know.
    pub fn take(&mut self, block: Table) -> Result<Portion> {
        let schema = self.schema.clone();
        if self.settled.is_none() {
            self.settled = Some(schema.options.settle(block.names())?.0);
        }
        let features: Vec<&str> = schema.encoding.columns().iter().map(|c| c.name()).collect();
        let options = self.settled.as_ref().unwrap_or(&schema.options);
        let rows = match usable_rows(&block, &features, options, &mut Vec::new()) {
            Err(Error::NothingLeft { .. }) => Vec::new(),
            rows => rows?,
        };
        let assigned = schema.grouping.assign(&block, &rows)?;
        if let Some(name) = assigned.unseen.first() {
            return Err(Error::StaleSchema { what: format!("the group `{name}`") });
        }
        let m = self.training.len();
        let none = vec![Vec::new(); m];
        let several = assigned.families.len() > 1;
        let (mut visited, mut others, mut held_out) = (none.clone(), none.clone(), none);
        for (at, row) in rows.iter().enumerate() {
            // A row is on the same side in all its groups: the first one decides.
            let Some(first) = assigned.of_row(at).next() else { continue };
            let trains = self.seen[first] < self.training[first];
            let mut give = |group: usize| {
                let part = match trains {
                    true if self.is_visited(group) => &mut visited,
                    true => &mut others,
                    false => &mut held_out,
                };
                part[group].push(*row);
                self.seen[group] += 1;
            };
            if several {
                assigned.of_row(at).for_each(give);
            } else {
                give(first);
            }
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ (self.blocks << 32));
        visited.iter_mut().for_each(|rows| rows.shuffle(&mut rng));
        self.blocks += 1;
        let block = Arc::new(block);
        Ok(Portion { block, schema, visited, others, held_out })
    }

    /// Whether the next row of a group is visited: ⌊(j + 1)v/n⌋ > ⌊jv/n⌋ for row j of n, by the
    /// remainder of jv, which grows by v.
    fn is_visited(&mut self, group: usize) -> bool {
        let (v, n) = (self.visits[group], self.spans[group]);
        if self.seen[group] >= n {
            return false;
        }
        let left = &mut self.remainders[group];
        *left += v;
        if *left < n {
            return false;
        }
        *left -= n;
        true
    }
}

impl Portion {
    /// The rows that an algorithm visits, group by group in random order. With `all` the matrix
    /// holds the other training rows, too, for [`Batch::pooled`].
    ///
    /// # Errors
    /// For cells that cannot be encoded.
    pub fn batch(&self, all: bool) -> Result<Batch> {
        let training;
        let lists = if all {
            training = self.training_rows();
            &training
        } else {
            &self.visited
        };
        let (matrix, targets) = self.encode(&lists.concat())?;
        let mut places = consecutive(lists);
        places.iter_mut().zip(&self.visited).for_each(|(all, some)| all.truncate(some.len()));
        Ok(Batch::new(matrix, targets, &places)?)
    }

    /// Number of rows of the block, whether they are used or not.
    pub fn rows(&self) -> usize {
        self.block.rows()
    }

    /// Number of rows that come first in a batch of all: those of the first family of groups, which
    /// has every row once.
    pub fn rows_once(&self) -> usize {
        let first = self.schema.first_family();
        self.visited[..first].iter().chain(&self.others[..first]).map(Vec::len).sum()
    }

    fn training_rows(&self) -> Vec<Vec<u32>> {
        let both = self.visited.iter().zip(&self.others);
        both.map(|(visited, others)| [&visited[..], others].concat()).collect()
    }

    /// The rows for training as data, with the numbers of the groups that have any; `None` when no
    /// group has.
    ///
    /// # Errors
    /// For cells that cannot be encoded.
    pub fn training(&self) -> Result<Option<(Dataset, Vec<usize>)>> {
        self.data(&self.training_rows())
    }

    /// The rows held out, likewise.
    ///
    /// # Errors
    /// For cells that cannot be encoded.
    pub fn held_out(&self) -> Result<Option<(Dataset, Vec<usize>)>> {
        self.data(&self.held_out)
    }

    fn data(&self, lists: &[Vec<u32>]) -> Result<Option<(Dataset, Vec<usize>)>> {
        let groups: Vec<usize> = (0..lists.len()).filter(|i| !lists[*i].is_empty()).collect();
        if groups.is_empty() {
            return Ok(None);
        }
        let (matrix, targets) = self.encode(&lists.concat())?;
        let mut places = consecutive(lists);
        places.retain(|list| !list.is_empty());
        Ok(Some((Dataset::new(Arc::new(matrix), targets, None, &places)?, groups)))
    }

    fn encode(&self, rows: &[u32]) -> Result<(gdro::Matrix, Vec<f64>)> {
        let encoded = self.schema.encoding.encode(&self.block, rows)?;
        Ok((encoded.matrix, self.schema.target.encode(&self.block, rows)?))
    }
}

/// Where rows are after those of the groups have been put one after another.
fn consecutive(lists: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut from = 0;
    let place = |list: &Vec<u32>| {
        let places = (from..from + list.len() as u32).collect();
        from += list.len() as u32;
        places
    };
    lists.iter().map(place).collect()
}
