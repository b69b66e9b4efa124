//! The first rows of the table: what step sizes are tried on, and what curves are drawn from.

use gdro::Dataset;
use gdro::exact::Goal;
use gdro::game::Game;
use gdro_data::stream::Schema;

use super::super::setting::domain_of;
use super::super::{Setting, loss_of};
use super::pass::Rows;
use crate::failure::{Failure, Result};
use crate::job::{Baseline, Job};

/// The first rows, and the groups that have any of them.
pub struct Head {
    data: Dataset,
    /// Numbers of the groups of `data`.
    pub groups: Vec<usize>,
}

impl Head {
    /// The training rows of the first block that has some.
    pub fn read(rows: &Rows<'_>) -> Result<Self> {
        let refuse = |e: gdro_data::Error| Failure::data(&e, rows.job);
        let (mut reader, mut feed) = rows.open()?;
        while let Some(block) = reader.next_block(rows.block).map_err(refuse)? {
            let portion = feed.take(block).map_err(refuse)?;
            if let Some((data, groups)) = portion.training().map_err(refuse)? {
                return Ok(Head { data, groups });
            }
        }
        Err(Failure::input("no row can be used for training"))
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
        let domain = domain_of(training, &loss, schema.largest_target).map_err(plain)?;
        let game = Game::gdro(data.groups()).with_ridge(training.l2);
        Ok(Setting { data, loss, domain, game, goal, offset_errors: None })
    }
}

fn plain(error: gdro::Error) -> Failure {
    Failure::library(error, &[])
}
