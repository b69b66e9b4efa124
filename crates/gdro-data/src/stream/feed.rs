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
    /// Number of rows of each group that are for training.
    training: Vec<u64>,
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
    /// Rows of the block for training, and rows held out.
    training: Vec<Vec<u32>>,
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
        let (training, seen) = (training.collect(), vec![0; held_out.len()]);
        Feed { schema, settled: None, training, seen, seed, blocks: 0 }
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
        let schema = &self.schema;
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
        let (mut training, mut held_out) = (vec![Vec::new(); m], vec![Vec::new(); m]);
        for (at, row) in rows.iter().enumerate() {
            // A row is on the same side in all its groups: the first one decides.
            let Some(first) = assigned.of_row(at).next() else { continue };
            let part =
                if self.seen[first] < self.training[first] { &mut training } else { &mut held_out };
            assigned.of_row(at).for_each(|group| part[group].push(*row));
            self.seen[first] += 1;
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ (self.blocks << 32));
        training.iter_mut().for_each(|rows| rows.shuffle(&mut rng));
        self.blocks += 1;
        let (block, schema) = (Arc::new(block), schema.clone());
        Ok(Portion { block, schema, training, held_out })
    }
}

impl Portion {
    /// The rows for training, as an algorithm visits them: group by group in random order.
    ///
    /// # Errors
    /// For cells that cannot be encoded.
    pub fn batch(&self) -> Result<Batch> {
        let rows: Vec<u32> = self.training.concat();
        let (matrix, targets) = self.encode(&rows)?;
        Ok(Batch::new(matrix, targets, &consecutive(&self.training))?)
    }

    /// Number of rows of the block, whether they are used or not.
    pub fn rows(&self) -> usize {
        self.block.rows()
    }

    /// Number of rows that come first in a batch: those of the first family of groups, which has
    /// every row once.
    pub fn rows_once(&self) -> usize {
        self.training[..self.schema.first_family()].iter().map(Vec::len).sum()
    }

    /// The rows for training as data, with the numbers of the groups that have any; `None` when no
    /// group has.
    ///
    /// # Errors
    /// For cells that cannot be encoded.
    pub fn training(&self) -> Result<Option<(Dataset, Vec<usize>)>> {
        self.data(&self.training)
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
