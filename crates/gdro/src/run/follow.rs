//! Following a run: what its curve shows, without the time that looking takes.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

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
    /// Seconds of play so far: looks are left out.
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
}

/// How a run ended that was followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Followed {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the follower ended it.
    pub ended: bool,
    /// Seconds of play: looks are left out.
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
    let mut eyes = Eyes {
        w: vec![0.0; solver.model_len()],
        q: vec![0.0; solver.samples().len()],
        start: Instant::now(),
        looking: 0.0,
        ended: false,
        follower,
    };
    let outcome = drive_at(solver, rounds, next, stop, &mut eyes)?;
    if outcome != Outcome::Finished && !eyes.ended {
        let _ = eyes.observe(solver)?;
    }
    let (ended, seconds) = (eyes.ended, eyes.start.elapsed().as_secs_f64() - eyes.looking);
    Ok(Followed { outcome, ended, seconds })
}

/// What is seen, and how long looking took.
struct Eyes<'a> {
    w: Vec<f64>,
    q: Vec<f64>,
    start: Instant,
    looking: f64,
    ended: bool,
    follower: &'a mut dyn Follower,
}

impl Observer for Eyes<'_> {
    fn observe(&mut self, solver: &dyn Solver) -> Result<ControlFlow<()>> {
        let pause = Instant::now();
        solver.write_model(&mut self.w);
        solver.write_weights(&mut self.q);
        let look = Look {
            rounds: solver.rounds(),
            samples: solver.samples().iter().sum(),
            seconds: pause.duration_since(self.start).as_secs_f64() - self.looking,
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
}
