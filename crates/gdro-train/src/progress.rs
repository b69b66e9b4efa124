//! What a run says while it works, and how it learns that it should stop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gdro::pilot::StepsBy;

use crate::checkpoint::Checkpoint;
use crate::facts::Facts;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A stage of the work begins.
    Stage(&'a str),
    /// What the table holds.
    Table(&'a Facts),
    /// Something that was decided for the user.
    Note(&'a str),
    /// The solver, and why it was chosen.
    Solver(&'a str, &'a str),
    /// Multipliers on the steps of w and q, and how they came about.
    Steps(f64, f64, StepsBy),
    /// A stage goes on from a checkpoint: so many were done, of so many where that is known, of this.
    Resumed(u64, Option<u64>, &'a str),
    /// So many rounds are about to be played.
    Rounds(u64),
    /// So many rounds have been played.
    Played(u64),
    /// The largest risk of the model after so many rounds of those planned.
    Risk {
        /// Rounds played.
        round: u64,
        /// Rounds planned.
        planned: u64,
        /// The largest risk.
        max_risk: f64,
    },
    /// The certified gap of the present model.
    Gap(f64),
    /// The exact solver has ended, after so many iterations and seconds.
    Solved(usize, f64),
    /// So many models are about to be trained.
    Models(usize),
    /// So many models have been trained; the next one is this.
    Model(usize, &'a str),
    /// The stage is over.
    Done,
}

/// Whoever follows a run. [`Quiet`] does not.
pub trait Progress {
    /// Shows something.
    fn tell(&self, event: Event<'_>);

    /// A flag that is set when the work should stop with what it has. Whoever asks for it
    /// announces that there is something to stop with.
    fn interrupts(&mut self) -> Arc<AtomicBool>;

    /// A flag that is set when work that leaves nothing behind should be given up; `None` where
    /// such work is ended from outside.
    fn gives_up(&self) -> Option<Arc<AtomicBool>>;

    /// The journal of the work.
    fn checkpoint(&self) -> Checkpoint {
        Checkpoint::default()
    }
}

/// Shows nothing; flags are those of somebody else.
#[derive(Clone, Default)]
pub struct Quiet {
    stop: Arc<AtomicBool>,
    give_up: Option<Arc<AtomicBool>>,
    checkpoint: Checkpoint,
}

impl Quiet {
    /// For runs that are one step of a longer piece of work, and its name there.
    pub fn within(outer: &mut dyn Progress, step: &str) -> Self {
        let checkpoint = outer.checkpoint().within(step);
        Quiet { stop: outer.interrupts(), give_up: outer.gives_up(), checkpoint }
    }
}

impl Progress for Quiet {
    fn tell(&self, _: Event<'_>) {}

    fn interrupts(&mut self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    fn gives_up(&self) -> Option<Arc<AtomicBool>> {
        self.give_up.clone()
    }

    fn checkpoint(&self) -> Checkpoint {
        self.checkpoint.clone()
    }
}
