//! Where the training pass can be cut: learners that read the same portions, each at its own pace.
//!
//! What a learner does follows from its portions alone. So each keeps where it stands when it comes to it,
//! and a checkpoint holds that of all of them and where the pass stood before the oldest portion that one
//! of them still has rows of. From there the portions are made again; a learner drops those that it does
//! not need any more.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gdro::average::Average;
use gdro::run::{Outcome, Place, State};
use gdro::sampling::Rng;
use gdro::source::oldest_batch;
use serde::{Deserialize, Serialize};

use super::pass::Mark;
use crate::checkpoint::Checkpoint;
use crate::failure::Result;
use crate::trace::Trace;

/// The name of the pass among the stages of a job.
const STAGE: &str = "training pass";

/// Where a learner stands.
#[derive(Clone, Serialize, Deserialize)]
pub enum Stand {
    /// Among the rows.
    Playing {
        /// The solver, with where it is in its portions.
        solver: State,
        /// The run.
        place: Place,
        /// The curve so far.
        trace: Trace,
    },
    /// At its end.
    Ended(Box<Ended>),
}

/// What is left of a learner at its end.
#[derive(Clone, Serialize, Deserialize)]
pub struct Ended {
    /// The averaged model.
    pub w: Vec<f64>,
    /// The averaged group weights.
    pub weights: Vec<f64>,
    /// Rounds played.
    pub rounds: u64,
    /// Samples drawn from each group.
    pub samples: Vec<u64>,
    /// Losses clipped for the bandit player.
    pub clipped: u64,
    /// How the run ended.
    pub outcome: Outcome,
    /// The average.
    pub average: Average,
    /// Seconds of play.
    pub seconds: f64,
    /// The curve.
    pub trace: Trace,
}

/// Where the pass stands before a portion.
#[derive(Clone, Serialize, Deserialize)]
pub struct Before {
    /// The number of the portion, from 0.
    pub portion: u64,
    /// The rows before it; nothing at the start of the table.
    pub mark: Option<Mark>,
    /// The order of rows for ordinary training.
    pub order: Rng,
    /// Number of rows before it.
    pub read: u64,
}

/// The learners of a pass.
pub struct Cuts {
    checkpoint: Checkpoint,
    state: Mutex<Learners>,
    /// The first portion that is made.
    first: u64,
}

struct Learners {
    /// Where the pass stood before the portions that may be needed again.
    before: VecDeque<Before>,
    stands: Vec<Option<Stand>>,
    /// Who has said where it stands since the last checkpoint.
    answered: Vec<bool>,
}

impl Cuts {
    /// The pass of so many learners, from where a checkpoint says that it was, or else from `start`. Gives
    /// where it begins, too.
    ///
    /// # Errors
    /// When what is kept is no such thing.
    pub fn new(checkpoint: Checkpoint, learners: usize, start: Before) -> Result<(Self, Before)> {
        let kept: Option<(Before, Vec<Option<Stand>>)> = checkpoint.get(STAGE)?;
        let kept = kept.filter(|(_, stands)| stands.len() == learners);
        let (from, stands) = kept.unwrap_or_else(|| (start, vec![None; learners]));
        let state = Learners {
            before: VecDeque::from([from.clone()]),
            stands,
            answered: vec![false; learners],
        };
        Ok((Cuts { checkpoint, first: from.portion, state: Mutex::new(state) }, from))
    }

    fn lock(&self) -> MutexGuard<'_, Learners> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all learners are at their ends, so that nobody needs a row.
    pub fn have_ended(&self) -> bool {
        self.lock().stands.iter().all(|stand| matches!(stand, Some(Stand::Ended(_))))
    }

    /// Where a learner stood, and how many portions come that it does not need.
    pub fn stand(&self, learner: usize) -> (Option<Stand>, u64) {
        let stand = self.lock().stands[learner].clone();
        let oldest = stand.as_ref().and_then(Stand::oldest).unwrap_or(self.first);
        (stand, oldest.saturating_sub(self.first))
    }

    /// Says that the pass stands before a portion. It must be said before anyone has the portion before
    /// it.
    pub fn passes(&self, before: Before) {
        if self.checkpoint.is_kept() {
            self.lock().before.push_back(before);
        }
    }

    /// Between two rounds of a learner: says where it stands when a checkpoint is due, which is written
    /// when all have said it. `is_last` says that the learner is stopped here.
    pub fn pause(&self, learner: usize, is_last: bool, stand: impl FnOnce() -> Stand) {
        if !is_last && !self.checkpoint.is_due() {
            return;
        }
        let mut state = self.lock();
        if is_last || !state.answered[learner] {
            state.stands[learner] = Some(stand());
            state.answered[learner] = true;
            if self.keep(&mut state) && is_last {
                self.checkpoint.freeze();
            }
        }
    }

    /// Says that a learner is at its end.
    pub fn end(&self, learner: usize, ended: Ended) {
        let mut state = self.lock();
        state.stands[learner] = Some(Stand::Ended(Box::new(ended)));
        state.answered[learner] = true;
        self.keep(&mut state);
    }

    /// Keeps where all stand, once all have said it; says whether they have.
    fn keep(&self, state: &mut Learners) -> bool {
        let Learners { before, stands, answered } = state;
        if !answered.iter().all(|answered| *answered) {
            return false;
        }
        // Nobody needs an older portion from now on.
        if let Some(oldest) = stands.iter().flatten().filter_map(Stand::oldest).min() {
            while before.len() > 1 && before[0].portion < oldest {
                before.pop_front();
            }
        }
        if let Some(first) = before.front() {
            self.checkpoint.put(STAGE, &(first, &*stands));
        }
        for (answered, stand) in answered.iter_mut().zip(stands) {
            *answered = matches!(stand, Some(Stand::Ended(_)));
        }
        true
    }
}

impl Stand {
    /// The oldest portion that is still needed.
    fn oldest(&self) -> Option<u64> {
        match self {
            Stand::Playing { solver, .. } => oldest_batch(&solver.source),
            Stand::Ended(_) => None,
        }
    }
}
