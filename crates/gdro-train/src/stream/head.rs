//! The first rows of the table: what step sizes are tried on, and what curves are drawn from.

use gdro::Dataset;
use gdro::exact::Goal;
use gdro::game::Game;
use gdro::setting::Baseline;
use gdro_data::stream::{Encoded, Schema};
use gdro_data::{Reader, Table};

use super::pass::Rows;
use crate::failure::{Failure, Result};
use crate::job::Job;
use crate::prepared::{Setting, domain_of, loss_of};

/// The first rows, and the groups that have any of them.
pub struct Head {
    data: Dataset,
    /// Numbers of the groups of `data`.
    pub groups: Vec<usize>,
}

impl Head {
    /// The training rows among those that are shuffled together first, and the blocks that were
    /// read for them.
    pub fn of(reader: &mut Reader, rows: &Rows<'_>) -> Result<(Self, Vec<Table>)> {
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
            Some(portion) => Some(portion),
            None => feed.finish().map_err(refuse)?,
        };
        let first = first.ok_or_else(|| Failure::input("the table has no rows"))?;
        match first.training().map_err(refuse)? {
            Some((data, groups)) => Ok((Head { data, groups }, blocks)),
            None => {
                let why = "none of the first rows can be used for training: give more rows";
                Err(rows.job.refusal("buffer", why))
            }
        }
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
