//! An algorithm at work on rows that pass by.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;

use gdro::algorithm::Algorithm;
use gdro::game::Game;
use gdro::run::{Cadence, Follower, Look, follow};
use gdro::source::{Batch, Stream};

use super::floor;
use crate::checkpoint::Checkpoint;
use crate::failure::{Failure, Result};
use crate::job::Training;
use crate::prepared::Setting;
use crate::progress::{Event, Progress};
use crate::solve::{Play, RoundsPlan};
use crate::trace::Trace;

/// Batches that may wait for the rows of a group.
const WAITING: usize = 4;

/// A model from one pass.
pub struct Learnt {
    /// The model.
    pub w: Vec<f64>,
    /// What is left of the model that the algorithm ended with, which did worse than a constant one
    /// and was moved towards it.
    pub moved: Option<f64>,
    /// Averaged group weights.
    pub weights: Vec<f64>,
    /// What the algorithm did.
    pub play: Play,
    /// Seconds from the first row to the last.
    pub seconds: f64,
    /// The curve, on the first rows.
    pub trace: Trace,
}

/// A learner: an algorithm, with the game on all rows and on the first ones.
pub struct Learner<'a> {
    /// The game on the first rows.
    pub head: &'a Setting,
    /// How the model is trained.
    pub training: Training,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Names of all groups.
    pub names: &'a [String],
    /// Numbers of the groups that are among the first rows.
    pub present: &'a [usize],
    /// Training rows of all groups, and of those among the first rows.
    pub budgets: (Vec<u64>, Vec<u64>),
    /// Rows of every group that the stream holds for it.
    pub visits: Vec<u64>,
    /// Rows in memory, and the groups that are drawn from them again and again.
    pub kept: Option<(Arc<Batch>, &'a [bool])>,
    /// The constant model, when the answer must not do worse.
    pub constant: Option<&'a [f64]>,
    /// n̄ of the hybrid.
    pub nbar: Option<u64>,
    /// Rounds of the pass.
    pub rounds: u64,
}

impl Learner<'_> {
    /// Finds the steps on the first rows and then plays on the rows that `batches` delivers.
    pub fn learn(
        &self,
        batches: Receiver<Arc<Batch>>,
        progress: Option<&dyn Progress>,
        stop: &AtomicBool,
    ) -> Result<Learnt> {
        let library = |e| Failure::library(e, self.names);
        let mut plan = RoundsPlan::of_head(
            self.head,
            &self.training,
            self.algorithm,
            self.names,
            (self.budgets.1.clone(), self.nbar, self.rounds),
        )?;
        // The largest risk is what is asked for, whatever the budgets.
        plan.play_unweighted();
        let steps = plan.steps(self.rounds, &Checkpoint::default(), stop)?;
        let m = self.budgets.0.len();
        let mut config = plan.config(self.rounds, steps, false);
        if let gdro::config::GroupPlayer::Fixed(q) = &mut config.player {
            *q = vec![1.0 / m as f64; m];
        }
        let game = Game::gdro(m).with_ridge(self.head.game.ridge);
        let constants = plan.constants_of(&game).map_err(library)?;
        let feed = move || Ok(batches.recv().ok());
        let features = self.head.data.features();
        let visits = self.visits.iter().map(|n| (*n).max(1)).collect();
        let mut source = Stream::new(features, visits, WAITING, feed).map_err(library)?;
        if let Some((batch, groups)) = &self.kept {
            source = source.keeping(batch.clone(), groups).map_err(library)?;
        }
        let (loss, domain) = (self.head.loss, self.head.domain.clone());
        let mut solver = config
            .build(game, loss, source, domain, &constants, Some(&self.budgets.0))
            .map_err(library)?;
        if let Some(progress) = progress {
            progress.tell(Event::Rounds(self.rounds));
        }
        let trace = Trace::of_groups(self.present);
        let mut curve = Curve { head: self.head, planned: self.rounds, trace, progress };
        let next = |t| Cadence::Geometric(1.5).next(t);
        let followed =
            follow(&mut *solver, self.rounds, &next, stop, &mut curve).map_err(library)?;
        let mut w = solver.model();
        let moved = match self.constant {
            Some(constant) => floor::move_towards(self.head, constant, &mut w).map_err(library)?,
            None => None,
        };
        Ok(Learnt {
            w,
            moved,
            weights: solver.weights(),
            play: Play {
                rounds: (solver.rounds(), self.rounds),
                samples: solver.samples().to_vec(),
                budgets: Some(self.budgets.0.clone()),
                clipped: solver.clipped(),
                outcome: followed.outcome,
                certified: false,
                steps,
                steps_by: plan.steps_by(),
                loss_range: None,
                average: solver.average(),
                subsets: None,
                fits_exact: false,
            },
            seconds: followed.seconds,
            trace: curve.trace,
        })
    }
}

/// Draws the curve of a run on the first rows.
struct Curve<'a> {
    head: &'a Setting,
    planned: u64,
    trace: Trace,
    progress: Option<&'a dyn Progress>,
}

impl Follower for Curve<'_> {
    fn look(&mut self, look: &Look<'_>) -> gdro::Result<ControlFlow<()>> {
        let max_risk = self.trace.look(self.head, look, (0, 0.0))?;
        if let Some(progress) = self.progress {
            let (round, planned) = (look.rounds, self.planned);
            progress.tell(Event::Risk { round, planned, max_risk });
        }
        Ok(ControlFlow::Continue(()))
    }

    fn played(&mut self, rounds: u64) {
        if let Some(progress) = self.progress {
            progress.tell(Event::Played(rounds));
        }
    }
}
