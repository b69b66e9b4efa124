//! Following a run: what its curve shows, without the time that looking takes.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::Solver;
use super::drive::{Observer, Outcome, drive_at};
use crate::error::Result;

/// The averaged players after so many rounds.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Rounds played.
    pub rounds: u64,
    /// Samples drawn from all groups.
    pub samples: u64,
    /// Seconds of play so far: looks and pauses are left out.
    pub seconds: f64,
    /// The averaged model.
    pub w: &'a [f64],
    /// The averaged group weights.
    pub q: &'a [f64],
}

/// Someone who follows a run.
pub trait Follower {
    /// Called between rounds, first at round 0, and where the run ends; `Break` ends it.
    ///
    /// # Errors
    /// An error ends the run and is passed on.
    fn look(&mut self, look: &Look<'_>) -> Result<ControlFlow<()>>;

    /// Called when more rounds have been played, with their number so far.
    fn played(&mut self, _rounds: u64) {}

    /// Called some twenty times a second, where the run could end: the place to write a checkpoint.
    /// The solver and its place are all that [`follow_on`] needs to go on with the same bits.
    /// `is_last` says that the stop flag ends the run here.
    ///
    /// # Errors
    /// An error ends the run and is passed on.
    fn pause(&mut self, _solver: &dyn Solver, _place: Place, _is_last: bool) -> Result<()> {
        Ok(())
    }
}

/// Where a run stands that is followed, besides its solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The round of the next look.
    pub due: u64,
    /// Seconds of play so far: looks and pauses are left out.
    pub seconds: f64,
}

/// How a run ended that was followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Followed {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the follower ended it.
    pub ended: bool,
    /// Seconds of play: looks and pauses are left out.
    pub seconds: f64,
}

/// Plays until `rounds` rounds have been played in all, and shows the averaged players on the way:
/// at the first round, after `t` rounds at `next(t)`, and at the end, also of a run that is cut
/// short. Otherwise as [`super::drive()`].
///
/// # Errors
/// Those of [`super::drive()`].
pub fn follow(
    solver: &mut dyn Solver,
    rounds: u64,
    next: &dyn Fn(u64) -> u64,
    stop: &AtomicBool,
    follower: &mut dyn Follower,
) -> Result<Followed> {
    let place = Place { due: solver.rounds(), seconds: 0.0 };
    follow_on(solver, rounds, next, stop, follower, place)
}

/// Goes on with a run that was at this place when its solver was saved.
///
/// # Errors
/// Those of [`super::drive()`].
pub fn follow_on(
    solver: &mut dyn Solver,
    rounds: u64,
    next: &dyn Fn(u64) -> u64,
    stop: &AtomicBool,
    follower: &mut dyn Follower,
    place: Place,
) -> Result<Followed> {
    let mut eyes = Eyes {
        w: vec![0.0; solver.model_len()],
        q: vec![0.0; solver.samples().len()],
        start: Instant::now(),
        before: place.seconds,
        looking: 0.0,
        ended: false,
        follower,
    };
    let outcome = drive_at(solver, rounds, (place.due, next), stop, &mut eyes)?;
    if outcome != Outcome::Finished && !eyes.ended {
        let _ = eyes.observe(solver)?;
    }
    Ok(Followed { outcome, ended: eyes.ended, seconds: eyes.seconds(Instant::now()) })
}

/// What is seen, and how long looking took.
struct Eyes<'a> {
    w: Vec<f64>,
    q: Vec<f64>,
    start: Instant,
    /// Seconds of play before the start.
    before: f64,
    /// Seconds since then that were no play.
    looking: f64,
    ended: bool,
    follower: &'a mut dyn Follower,
}

impl Eyes<'_> {
    /// Seconds of play up to now.
    fn seconds(&self, now: Instant) -> f64 {
        self.before + now.duration_since(self.start).as_secs_f64() - self.looking
    }
}

impl Observer for Eyes<'_> {
    fn observe(&mut self, solver: &dyn Solver) -> Result<ControlFlow<()>> {
        let pause = Instant::now();
        solver.write_model(&mut self.w);
        solver.write_weights(&mut self.q);
        let look = Look {
            rounds: solver.rounds(),
            samples: solver.samples().iter().sum(),
            seconds: self.seconds(pause),
            w: &self.w,
            q: &self.q,
        };
        let flow = self.follower.look(&look)?;
        self.ended = flow.is_break();
        self.looking += pause.elapsed().as_secs_f64();
        Ok(flow)
    }

    fn played(&mut self, rounds: u64) {
        self.follower.played(rounds);
    }

    fn pause(&mut self, solver: &dyn Solver, due: u64, is_last: bool) -> Result<()> {
        let pause = Instant::now();
        let place = Place { due, seconds: self.seconds(pause) };
        self.follower.pause(solver, place, is_last)?;
        self.looking += pause.elapsed().as_secs_f64();
        Ok(())
    }
}
