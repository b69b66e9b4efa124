//! The pass that delivers.

use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::portion::{Open, Part, Portion};
use super::schema::Schema;
use super::selection::Selection;
use crate::error::{Error, Result};
use crate::features::usable_rows;
use crate::options::DataOptions;
use crate::table::Table;

/// Which rows of a table are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// Those that are visited.
    Visited,
    /// All rows for training.
    Training,
    /// Rows held out, too.
    All,
}

/// Where a feed stands, so that another one of the same table goes on from there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Place {
    /// Rows of the table so far.
    pub rows: u64,
    portions: u64,
    selections: Vec<Selection>,
    remainders: Vec<u64>,
    trained: Vec<u64>,
    held_out: Vec<u64>,
    /// The portion that is being filled.
    open: Open,
}

/// Turns a table, block by block, into encoded rows. Of each group some rows are held out, which
/// are a random sample of it, and the others are for training. The rows of a portion are shuffled
/// together; a portion crosses the ends of blocks and files, so that the same rows in the same
/// order give the same bits however they are split.
pub struct Feed {
    schema: Arc<Schema>,
    /// The options, with a target that is the name of a column.
    settled: Option<DataOptions>,
    encoded: Encoded,
    /// Rows of the table that make a portion.
    size: usize,
    /// Which rows of each group are held out.
    selections: Vec<Selection>,
    /// Number of rows of each group that are for training, and of those that are visited.
    training: Vec<u64>,
    visits: Vec<u64>,
    remainders: Vec<u64>,
    /// Rows for training of each group so far, and rows that were held out.
    trained: Vec<u64>,
    held_out: Vec<u64>,
    seed: u64,
    portions: u64,
    /// Rows of the table in portions that are complete.
    rows: u64,
    open: Open,
    /// The groups of a row.
    groups: Vec<usize>,
}

impl Feed {
    /// A feed of the table that a schema describes, in portions of `size` rows. `held_out[i]` rows
    /// of group i are held out; of a group of a second family of groups about as many, since a row
    /// is on the same side in all its groups: the first one decides. Every group keeps a row for
    /// training. `seed` decides which rows are held out, and the order of visits in a portion.
    ///
    /// # Panics
    /// When `held_out` has another length than the schema has groups, and when `size` is 0.
    pub fn new(
        schema: Arc<Schema>,
        held_out: &[u64],
        encoded: Encoded,
        size: usize,
        seed: u64,
    ) -> Self {
        assert_eq!(held_out.len(), schema.counts.len(), "one number per group");
        assert!(size > 0, "a portion has at least one row");
        let m = held_out.len();
        let sizes = || schema.counts.iter().zip(held_out);
        let most = |(n, wanted): (&u64, &u64)| (*n, (*wanted).min(n.saturating_sub(1)));
        let selection = |(group, of): (usize, (u64, u64))| Selection::new(of.1, of.0, seed, group);
        let training: Vec<u64> = sizes().map(most).map(|(n, wanted)| n - wanted).collect();
        Feed {
            selections: sizes().map(most).enumerate().map(selection).collect(),
            settled: None,
            encoded,
            size,
            visits: training.clone(),
            training,
            remainders: vec![0; m],
            trained: vec![0; m],
            held_out: vec![0; m],
            seed,
            portions: 0,
            rows: 0,
            open: Open::new(m),
            groups: Vec::new(),
            schema,
        }
    }

    /// Visits only so many of the training rows of each group, evenly spread over all of them, so
    /// that groups keep step.
    ///
    /// # Panics
    /// When `visits` has another length than there are groups.
    pub fn visiting(mut self, visits: &[u64]) -> Self {
        assert_eq!(visits.len(), self.training.len(), "one number per group");
        self.visits = visits.iter().zip(&self.training).map(|(v, n)| *v.min(n)).collect();
        self
    }

    /// Makes one portion of all rows.
    pub fn in_one_portion(mut self) -> Self {
        self.size = usize::MAX;
        self
    }

    /// Takes over how many rows of each group are for training, where a pass before has counted
    /// them ([`Feed::trained`]): of groups of a second family only that is exact.
    pub fn with_training(mut self, training: &[u64]) -> Self {
        training.clone_into(&mut self.training);
        training.clone_into(&mut self.visits);
        self
    }

    /// Where the feed stands.
    pub fn place(&self) -> Place {
        Place {
            rows: self.rows + self.open.rows() as u64,
            portions: self.portions,
            selections: self.selections.clone(),
            remainders: self.remainders.clone(),
            trained: self.trained.clone(),
            held_out: self.held_out.clone(),
            open: self.open.clone(),
        }
    }

    /// Goes on from the place of another feed, which was made in the same way: the next row is the one
    /// after [`Place::rows`].
    ///
    /// # Errors
    /// [`Error::StaleSchema`] for a place in a table with another number of groups.
    pub fn go_on(mut self, place: Place) -> Result<Self> {
        let m = self.training.len();
        let Place { rows, portions, selections, remainders, trained, held_out, open } = place;
        let lengths = [selections.len(), remainders.len(), trained.len(), held_out.len()];
        if lengths != [m; 4] || open.groups() != m || open.rows() as u64 > rows {
            let what = "a place in another table".into();
            return Err(Error::StaleSchema { what });
        }
        self.rows = rows - open.rows() as u64;
        (self.portions, self.selections, self.remainders) = (portions, selections, remainders);
        (self.trained, self.held_out, self.open) = (trained, held_out, open);
        Ok(self)
    }

    /// Rows of each group that are visited.
    pub fn visits(&self) -> &[u64] {
        &self.visits
    }

    /// Rows of each group that are for training.
    pub fn training(&self) -> &[u64] {
        &self.training
    }

    /// Rows of each group that were for training so far.
    pub fn trained(&self) -> &[u64] {
        &self.trained
    }

    /// Takes the next block, and gives the portions that it completes, each with where the feed stands
    /// after it: the order of calls is that of the table.
    ///
    /// # Errors
    /// For cells that the schema does not allow, such as a group that it does not know, those that
    /// cannot be encoded, and more rows of a group than it counted.
    pub fn take(&mut self, block: &Table) -> Result<Vec<(Portion, Place)>> {
        let schema = self.schema.clone();
        if self.settled.is_none() {
            self.settled = Some(schema.options.settle(block.names())?.0);
        }
        let features: Vec<&str> = schema.encoding.columns().iter().map(|c| c.name()).collect();
        let options = self.settled.as_ref().unwrap_or(&schema.options);
        let rows = match usable_rows(block, &features, options, &mut Vec::new()) {
            Err(Error::NothingLeft { .. }) => Vec::new(),
            rows => rows?,
        };
        let assigned = schema.grouping.assign(block, &rows)?;
        if let Some(name) = assigned.unseen.first() {
            return Err(Error::StaleSchema { what: format!("the group `{name}`") });
        }
        let mut full = Vec::new();
        let (mut from, mut at) = (0, 0);
        while from < block.rows() {
            let room = self.size - self.open.rows();
            let until = from.saturating_add(room).min(block.rows());
            let mut wanted = Vec::new();
            while let Some(row) = rows.get(at).filter(|row| (**row as usize) < until) {
                self.groups.clear();
                self.groups.extend(assigned.of_row(at));
                self.check_room()?;
                if self.put(wanted.len()) {
                    wanted.push(*row);
                }
                at += 1;
            }
            self.open.encode(&schema, block, until - from, &wanted)?;
            from = until;
            if self.open.rows() == self.size {
                if let Some(portion) = self.finish()? {
                    full.push((portion, self.place()));
                }
            }
        }
        Ok(full)
    }

    /// Says that this was the whole table.
    ///
    /// # Errors
    /// [`Error::StaleSchema`] when a group had fewer rows than the schema counted.
    pub fn end(&self) -> Result<()> {
        let counts = &self.schema.counts;
        match (0..counts.len()).find(|group| self.seen(*group) < counts[*group]) {
            None => Ok(()),
            Some(group) => {
                let (name, seen) = (&self.schema.grouping.names()[group], self.seen(group));
                let what = format!("{seen} rows of the group `{name}`, not {}", counts[group]);
                Err(Error::StaleSchema { what })
            }
        }
    }

    /// Rows of a group so far.
    fn seen(&self, group: usize) -> u64 {
        self.trained[group] + self.held_out[group]
    }

    /// Refuses a row of a group all of whose rows have come.
    fn check_room(&self) -> Result<()> {
        let counts = &self.schema.counts;
        match self.groups.iter().find(|group| self.seen(**group) >= counts[**group]) {
            None => Ok(()),
            Some(group) => {
                let (name, counted) = (&self.schema.grouping.names()[*group], counts[*group]);
                let what = format!("more than {counted} rows of the group `{name}`");
                Err(Error::StaleSchema { what })
            }
        }
    }

    /// The rows that make no whole portion; `None` when there are none.
    ///
    /// # Errors
    /// Those of the library, which the encoding rules out.
    pub fn finish(&mut self) -> Result<Option<Portion>> {
        let open = std::mem::replace(&mut self.open, Open::new(self.training.len()));
        if open.rows() == 0 {
            return Ok(None);
        }
        self.rows += open.rows() as u64;
        let rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ (self.portions << 32));
        self.portions += 1;
        Ok(Some(open.close(&self.schema, rng)?))
    }

    /// Puts the next row into its groups, `before` rows after the last one that is encoded. Whether
    /// it is encoded.
    fn put(&mut self, before: usize) -> bool {
        let Some(first) = self.groups.first() else { return false };
        // A row is on the same side in all its groups: the first one decides, unless the last row
        // of another one would not be for training.
        let drawn = self.selections[*first].draw();
        let spares = |group: &usize| self.trained[*group] > 0 || !self.selections[*group].is_last();
        let held_out = drawn && self.groups.iter().all(spares);
        let mut is_encoded = false;
        for at in 0..self.groups.len() {
            let group = self.groups[at];
            self.selections[group].pass(held_out);
            let part = match held_out {
                true => Part::HeldOut,
                false if self.is_visited(group) => Part::Visited,
                false => Part::Other,
            };
            self.trained[group] += u64::from(!held_out);
            self.held_out[group] += u64::from(held_out);
            let wanted = match self.encoded {
                Encoded::Visited => part == Part::Visited,
                Encoded::Training => part != Part::HeldOut,
                Encoded::All => true,
            };
            if wanted {
                self.open.put(group, part, before);
                is_encoded = true;
            }
        }
        is_encoded
    }

    /// Whether the next training row of a group is visited: ⌊(j + 1)v/n⌋ > ⌊jv/n⌋ for row j of n,
    /// by the remainder of jv, which grows by v.
    fn is_visited(&mut self, group: usize) -> bool {
        let (v, n) = (self.visits[group], self.training[group]);
        if self.trained[group] >= n {
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
