//! Where a solver stands, so that a later one goes on from there.
//!
//! A problem may take several solves, one after another, each from what the last one found: of a solve
//! that has ended the answer is kept, and of the one under way what it is at the start of an iteration.

use serde::{Deserialize, Serialize};

use super::balance::Tangent;
use super::point::Point;
use super::problem::Solution;
use super::surrogate::Surrogate;
use crate::error::{Error, Result};

/// Who keeps where a solver stands.
pub trait Keep {
    /// Whether it is time to.
    fn is_due(&self) -> bool;

    /// Keeps where the solver stands.
    fn keep(&mut self, stand: &Stand);
}

/// Where a solver stands: numbers that only the solver of the same problem understands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stand {
    /// What the solves that have ended have found.
    ended: Vec<(Solution, Solution)>,
    /// The one that is under way.
    live: Option<Live>,
}

/// The interior-point method at the start of an iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Live {
    pub(super) turn: Turn,
    pub(super) phase: Phase,
    pub(super) tau: Option<f64>,
    pub(super) point: Point,
    pub(super) values: Values,
    pub(super) best: Solution,
    pub(super) beneath: Solution,
    pub(super) sides: [Option<Tangent>; 2],
    pub(super) missing: [bool; 2],
    pub(super) shares: Vec<f64>,
    pub(super) scale: f64,
}

/// Risks and gradients of the payoffs at a point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Values {
    pub(super) payoffs: Vec<f64>,
    pub(super) gradients: Vec<f64>,
    pub(super) surrogate: Option<Surrogate>,
}

/// A turn of both phases.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Turn {
    /// The complementarity at the start of all, and that of the last return to the path.
    pub(super) first: f64,
    pub(super) central: f64,
    /// Turns without a smaller gap.
    pub(super) futile: usize,
    /// The gap before this one.
    pub(super) before: f64,
}

/// The phase of a turn.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Phase {
    /// Primal–dual steps.
    Follow(Following),
    /// Newton's method on the barrier function.
    Centre,
}

impl Phase {
    /// What primal–dual steps remember.
    pub(super) fn following(self) -> Option<Following> {
        match self {
            Phase::Follow(following) => Some(following),
            Phase::Centre => None,
        }
    }
}

/// What primal–dual steps remember.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Following {
    pub(super) stalls: usize,
    pub(super) shorts: usize,
    /// The length of the last step.
    pub(super) length: f64,
    /// Complementarity at the start, infeasibility, and its scale.
    pub(super) first: f64,
    pub(super) infeasible: f64,
    pub(super) scale: f64,
    /// The least gap, complementarity and infeasibility.
    pub(super) least: [f64; 3],
}

/// Keeps where the solves of a problem stand, if anybody wants to know.
#[derive(Default)]
pub struct Keeper<'a> {
    to: Option<&'a mut dyn Keep>,
    stand: Stand,
    /// Solves that have ended, those that were kept included.
    next: usize,
}

impl<'a> Keeper<'a> {
    /// Goes on from where a solver of the same problem stood, if it did, and keeps it up to date.
    pub fn new(stand: Option<Stand>, to: &'a mut dyn Keep) -> Self {
        Keeper { to: Some(to), stand: stand.unwrap_or_default(), next: 0 }
    }

    /// What the next solve has found, if it has ended already.
    pub(super) fn ended(&mut self) -> Option<(Solution, Solution)> {
        let found = self.stand.ended.get(self.next).cloned();
        self.next += usize::from(found.is_some());
        found
    }

    /// Where the next solve stands.
    pub(super) fn live(&mut self) -> Option<Live> {
        self.stand.live.take()
    }

    /// Whether it is time to keep where a solve stands.
    pub(super) fn is_due(&self) -> bool {
        self.to.as_ref().is_some_and(|to| to.is_due())
    }

    /// Keeps where the solve stands.
    pub(super) fn keep(&mut self, live: Live) {
        if let Some(to) = &mut self.to {
            self.stand.live = Some(live);
            to.keep(&self.stand);
        }
    }

    /// Keeps what a solve has found.
    pub(super) fn end(&mut self, found: &(Solution, Solution)) {
        self.next += 1;
        if self.to.is_some() {
            self.stand.live = None;
            self.stand.ended.push(found.clone());
        }
    }
}

/// The error for a place of another problem.
pub(super) fn other_problem() -> Error {
    Error::State("where the solver of another problem stood".into())
}

impl Live {
    /// Whether it is of a problem with so many groups and numbers, of which the point has this form.
    pub(super) fn check(&self, m: usize, n: usize, form: &Point) -> Result<()> {
        let Live { point, values, best, beneath, sides, .. } = self;
        let models = [&point.w, &best.w, &beneath.w].iter().all(|w| w.len() == n);
        let groups = [&point.q, &best.q, &beneath.q, &values.payoffs];
        let groups = groups.iter().all(|q| q.len() == m);
        let parts = [&point.u, &point.s, &point.v].iter().all(|v| [0, m].contains(&v.len()));
        let places = |point: &Point| point.bounds.iter().map(|b| b.at).collect::<Vec<usize>>();
        let fits = models
            && groups
            && parts
            && values.gradients.len() == m * n
            && values.surrogate.as_ref().is_none_or(|surrogate| surrogate.is_of(m))
            && sides.iter().flatten().all(|tangent| tangent.slope.len() <= n)
            && places(point) == places(form);
        if fits { Ok(()) } else { Err(other_problem()) }
    }
}
