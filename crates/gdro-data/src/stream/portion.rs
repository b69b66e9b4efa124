//! Rows that are shuffled together.

use std::sync::Arc;

use gdro::source::Batch;
use gdro::{Dataset, Matrix};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom as _;
use serde::{Deserialize, Serialize};

use super::schema::Schema;
use crate::error::Result;
use crate::table::Table;

/// Encoded rows of one stretch of the table, group by group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Portion {
    /// Number of groups of the first family.
    first_family: usize,
    /// Rows of the table that it stands for.
    rows: usize,
    features: Matrix,
    targets: Vec<f64>,
    /// Rows for training that are visited, the others, and rows held out.
    visited: Vec<Vec<u32>>,
    others: Vec<Vec<u32>>,
    held_out: Vec<Vec<u32>>,
}

/// What becomes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Visited,
    Other,
    HeldOut,
}

/// A portion that is being filled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Open {
    rows: usize,
    features: Vec<Matrix>,
    targets: Vec<f64>,
    lists: [Vec<Vec<u32>>; 3],
}

impl Open {
    /// Nothing of any group.
    pub(super) fn new(groups: usize) -> Self {
        let none = vec![Vec::new(); groups];
        let lists = [none.clone(), none.clone(), none];
        Open { rows: 0, features: Vec::new(), targets: Vec::new(), lists }
    }

    /// Number of groups.
    pub(super) fn groups(&self) -> usize {
        self.lists[0].len()
    }

    /// Rows of the table so far.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Puts the row that is encoded next but `before` into a group.
    pub(super) fn put(&mut self, group: usize, part: Part, before: usize) {
        let place = (self.targets.len() + before) as u32;
        self.lists[part as usize][group].push(place);
    }

    /// Encodes the given rows of a block, which stand for `rows` rows of the table.
    pub(super) fn encode(
        &mut self,
        schema: &Schema,
        block: &Table,
        rows: usize,
        wanted: &[u32],
    ) -> Result<()> {
        self.rows += rows;
        if !wanted.is_empty() {
            self.features.push(schema.encoding.encode(block, wanted)?.matrix);
            self.targets.extend(schema.target.encode(block, wanted)?);
        }
        Ok(())
    }

    /// The portion, with the visited rows of each group in random order.
    pub(super) fn close(
        self,
        schema: &Schema,
        mut rng: Xoshiro256PlusPlus,
    ) -> gdro::Result<Portion> {
        let [mut visited, others, held_out] = self.lists;
        visited.iter_mut().for_each(|rows| rows.shuffle(&mut rng));
        let (first_family, width) = (schema.first_family(), schema.encoding.dimension());
        let features = Matrix::stack(width, self.features)?;
        let (rows, targets) = (self.rows, self.targets);
        Ok(Portion { first_family, rows, features, targets, visited, others, held_out })
    }
}

impl Portion {
    /// Whether it is one of so many groups: its lists are of rows that it has. One that was read back need
    /// not be.
    pub fn is_whole(&self, groups: usize) -> bool {
        let rows = self.targets.len();
        let lists = [&self.visited, &self.others, &self.held_out];
        self.first_family <= groups
            && self.features.rows() == rows
            && lists.iter().all(|lists| lists.len() == groups)
            && lists
                .iter()
                .flat_map(|lists| lists.iter().flatten())
                .all(|row| (*row as usize) < rows)
    }

    /// The rows that an algorithm visits, group by group in random order. With `all` the matrix
    /// holds the other training rows, too, for [`Batch::pooled`].
    ///
    /// # Errors
    /// Those of [`Batch::new`].
    pub fn batch(&self, all: bool) -> Result<Batch> {
        let training;
        let lists = if all {
            training = self.training_rows();
            &training
        } else {
            &self.visited
        };
        let (matrix, targets) = self.select(&lists.concat());
        let mut places = consecutive(lists);
        places.iter_mut().zip(&self.visited).for_each(|(all, some)| all.truncate(some.len()));
        Ok(Batch::new(matrix, targets, &places)?)
    }

    /// Number of rows of the table that it stands for, whether they are used or not.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of rows that come first in a batch of all: those of the first family of groups, which
    /// has every row once.
    pub fn rows_once(&self) -> usize {
        let first = self.first_family;
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
    /// Those of [`Dataset::new`].
    pub fn training(&self) -> Result<Option<(Dataset, Vec<usize>)>> {
        self.data(&self.training_rows())
    }

    /// The rows held out, likewise.
    ///
    /// # Errors
    /// Those of [`Dataset::new`].
    pub fn held_out(&self) -> Result<Option<(Dataset, Vec<usize>)>> {
        self.data(&self.held_out)
    }

    fn data(&self, lists: &[Vec<u32>]) -> Result<Option<(Dataset, Vec<usize>)>> {
        let groups: Vec<usize> = (0..lists.len()).filter(|i| !lists[*i].is_empty()).collect();
        if groups.is_empty() {
            return Ok(None);
        }
        let (matrix, targets) = self.select(&lists.concat());
        let mut places = consecutive(lists);
        places.retain(|list| !list.is_empty());
        Ok(Some((Dataset::new(Arc::new(matrix), targets, None, &places)?, groups)))
    }

    fn select(&self, rows: &[u32]) -> (Matrix, Vec<f64>) {
        let targets = rows.iter().map(|row| self.targets[*row as usize]).collect();
        (self.features.select(rows), targets)
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
