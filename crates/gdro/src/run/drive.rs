//! Driving a solver: how far, how often someone looks, and when it stops.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Solver;
use crate::error::{Error, Result};

/// When the observer is called, besides round 0 and the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cadence {
    /// Every so many rounds (at least 1).
    Every(u64),
    /// At rounds that grow by this factor (above 1), for logarithmic plots.
    Geometric(f64),
}

impl Cadence {
    /// The first round after `t` at which the observer is called.
    pub fn next(self, t: u64) -> u64 {
        match self {
            Cadence::Every(n) => (t / n.max(1) + 1).saturating_mul(n.max(1)),
            Cadence::Geometric(factor) => ((t as f64 * factor).ceil() as u64).max(t + 1),
        }
    }
}

/// Someone who watches a run.
pub trait Observer {
    /// Called between rounds, first at round 0; `Break` ends the run.
    ///
    /// # Errors
    /// An error of the observer ends the run and is passed on.
    fn observe(&mut self, solver: &dyn Solver) -> Result<ControlFlow<()>>;

    /// Called when more rounds have been played, with their number so far.
    fn played(&mut self, _rounds: u64) {}

    /// Called some twenty times a second, where the run could end, with the round of the next call of
    /// [`Observer::observe`]: the place to write a checkpoint, which must not change what the rounds
    /// compute. `is_last` says that the stop flag ends the run here.
    ///
    /// # Errors
    /// An error of the observer ends the run and is passed on.
    fn pause(&mut self, _solver: &dyn Solver, _due: u64, _is_last: bool) -> Result<()> {
        Ok(())
    }
}

impl<F> Observer for F
where
    F: FnMut(&dyn Solver) -> Result<ControlFlow<()>>,
{
    fn observe(&mut self, solver: &dyn Solver) -> Result<ControlFlow<()>> {
        self(solver)
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// All rounds were played.
    Finished,
    /// The observer or the stop flag ended it.
    Stopped,
    /// A group's budget was used up before the last round.
    Exhausted {
        /// The group.
        group: usize,
        /// Its budget.
        budget: u64,
    },
}

/// Plays until `rounds` rounds have been played in all, and shows the solver to `observer` on the
/// way. The flag `stop` (set by a signal handler, say) ends the run within about a tenth of a
/// second. Neither cadence nor flag changes what the rounds compute.
///
/// # Errors
/// Those of [`Solver::advance`] and of the observer, except that a used-up budget is an
/// [`Outcome`].
pub fn drive(
    solver: &mut dyn Solver,
    rounds: u64,
    cadence: Cadence,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let due = solver.rounds();
    drive_at(solver, rounds, (due, &|t| cadence.next(t)), stop, observer)
}

/// The same, with the first look at round `due`, and the next one after `t` rounds at `next(t)`.
pub(super) fn drive_at(
    solver: &mut dyn Solver,
    rounds: u64,
    (mut due, next): (u64, &dyn Fn(u64) -> u64),
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    const PATIENCE: Duration = Duration::from_millis(50);
    let mut chunk = 16;
    loop {
        let t = solver.rounds();
        let at_end = t >= rounds;
        if t >= due || at_end {
            if observer.observe(solver)?.is_break() {
                return Ok(Outcome::Stopped);
            }
            due = next(t);
        }
        if at_end {
            return Ok(Outcome::Finished);
        }
        let is_last = stop.load(Ordering::Relaxed);
        observer.pause(solver, due, is_last)?;
        if is_last {
            return Ok(Outcome::Stopped);
        }
        let start = Instant::now();
        match solver.advance(chunk.min(due - t).min(rounds - t)) {
            Err(Error::BudgetExhausted { group, budget }) => {
                return Ok(Outcome::Exhausted { group, budget });
            }
            other => other?,
        }
        observer.played(solver.rounds());
        let elapsed = start.elapsed();
        if elapsed < PATIENCE / 2 {
            chunk = (chunk * 2).min(1 << 30);
        } else if elapsed > PATIENCE {
            chunk = (chunk / 2).max(1);
        }
    }
}
