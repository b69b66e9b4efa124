//! An algorithm at work on rows that pass by.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use gdro::algorithm::Algorithm;
use gdro::game::Game;
use gdro::run::{Cadence, Follower, Look, Outcome, Place, Solver, follow_on};
use gdro::source::{Batch, Stream};

use super::cut::{Cuts, Ended, Stand};
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

/// What comes to a learner, and where it says how far it is.
pub struct Pass<'a> {
    /// Its portions.
    pub batches: Receiver<Arc<Batch>>,
    /// Where it can be cut.
    pub cuts: &'a Cuts,
    /// Its number there.
    pub number: usize,
    /// The journal of its own work.
    pub checkpoint: Checkpoint,
    /// When to stop.
    pub stop: &'a AtomicBool,
}

impl Learner<'_> {
    /// Finds the steps on the first rows and then plays on the rows that a pass delivers.
    pub fn learn(&self, pass: Pass<'_>, progress: Option<&dyn Progress>) -> Result<Learnt> {
        let library = |e| Failure::library(e, self.names);
        let Pass { batches, cuts, number, checkpoint, stop } = pass;
        let mut plan = RoundsPlan::of_head(
            self.head,
            &self.training,
            self.algorithm,
            self.names,
            (self.budgets.1.clone(), self.nbar, self.rounds),
        )?;
        // The largest risk is what is asked for, whatever the budgets.
        plan.play_unweighted();
        let steps = plan.steps(self.rounds, &checkpoint, stop)?;
        if stop.load(Ordering::Relaxed) {
            // Steps of pilots that were cut short are not those of the run.
            checkpoint.freeze();
        }
        let (stand, not_needed) = cuts.stand(number);
        let (stand, ended) = match stand {
            Some(Stand::Ended(ended)) => (None, Some(*ended)),
            Some(Stand::Playing { solver, place, trace }) => (Some((solver, place, trace)), None),
            None => (None, None),
        };
        let ended = match ended {
            Some(ended) => ended,
            None => {
                for _ in 0..not_needed {
                    // A checkpoint of more portions than there are would have it wait for ever.
                    batches.recv().map_err(|_| {
                        let why = "it stands behind the last row of the table";
                        Failure::input(format!("the checkpoint is damaged: {why}"))
                    })?;
                }
                let feed = move || Ok(batches.recv().ok());
                let mut solver = self.solver(&plan, steps, feed)?;
                let (place, trace) = match stand {
                    None => (Place::default(), Trace::of_groups(self.present)),
                    Some((state, place, trace)) => {
                        solver.restore(&state).map_err(library)?;
                        if let Some(progress) = progress {
                            let played = solver.rounds();
                            progress.tell(Event::Resumed(played, Some(self.rounds), "round"));
                        }
                        (place, trace)
                    }
                };
                if let Some(progress) = progress {
                    progress.tell(Event::Rounds(self.rounds));
                }
                let (head, planned) = (self.head, self.rounds);
                let mut curve = Curve { head, planned, trace, progress, cuts, number };
                let next = |t| Cadence::Geometric(1.5).next(t);
                let followed = follow_on(&mut *solver, self.rounds, &next, stop, &mut curve, place)
                    .map_err(library)?;
                let ended = Ended {
                    w: solver.model(),
                    weights: solver.weights(),
                    rounds: solver.rounds(),
                    samples: solver.samples().to_vec(),
                    clipped: solver.clipped(),
                    outcome: followed.outcome,
                    average: solver.average(),
                    seconds: followed.seconds,
                    trace: curve.trace,
                };
                if ended.outcome != Outcome::Stopped {
                    cuts.end(number, ended.clone());
                }
                ended
            }
        };
        let mut w = ended.w;
        let moved = match self.constant {
            Some(constant) => floor::move_towards(self.head, constant, &mut w).map_err(library)?,
            None => None,
        };
        Ok(Learnt {
            w,
            moved,
            weights: ended.weights,
            play: Play {
                rounds: (ended.rounds, self.rounds),
                samples: ended.samples,
                budgets: Some(self.budgets.0.clone()),
                clipped: ended.clipped,
                outcome: ended.outcome,
                certified: false,
                steps,
                steps_by: plan.steps_by(),
                loss_range: None,
                average: ended.average,
                subsets: None,
                fits_exact: false,
            },
            seconds: ended.seconds,
            trace: ended.trace,
        })
    }

    /// The solver of the whole table, on rows that `feed` delivers.
    fn solver(
        &self,
        plan: &RoundsPlan<'_>,
        steps: (f64, f64),
        feed: impl FnMut() -> gdro::Result<Option<Arc<Batch>>> + 'static,
    ) -> Result<Box<dyn Solver>> {
        let library = |e| Failure::library(e, self.names);
        let m = self.budgets.0.len();
        let mut config = plan.config(self.rounds, steps, false);
        if let gdro::config::GroupPlayer::Fixed(q) = &mut config.player {
            *q = vec![1.0 / m as f64; m];
        }
        let game = Game::gdro(m).with_ridge(self.head.game.ridge);
        let constants = plan.constants_of(&game).map_err(library)?;
        let features = self.head.data.features();
        let visits = self.visits.iter().map(|n| (*n).max(1)).collect();
        let mut source = Stream::new(features, visits, WAITING, feed).map_err(library)?;
        if let Some((batch, groups)) = &self.kept {
            source = source.keeping(batch.clone(), groups).map_err(library)?;
        }
        let (loss, domain) = (self.head.loss, self.head.domain.clone());
        config.build(game, loss, source, domain, &constants, Some(&self.budgets.0)).map_err(library)
    }
}

/// Draws the curve of a run on the first rows.
struct Curve<'a> {
    head: &'a Setting,
    planned: u64,
    trace: Trace,
    progress: Option<&'a dyn Progress>,
    cuts: &'a Cuts,
    /// The number of the learner there.
    number: usize,
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

    fn pause(&mut self, solver: &dyn Solver, place: Place, is_last: bool) -> gdro::Result<()> {
        let trace = &self.trace;
        self.cuts.pause(self.number, is_last, || Stand::Playing {
            solver: Box::new(solver.save()),
            place,
            trace: trace.clone(),
        });
        Ok(())
    }
}
