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

/// A solve that is under way, at the start of an iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Live {
    pub(super) found: Found,
    pub(super) method: Method,
}

/// What a solve has found so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) best: Solution,
    pub(super) beneath: Solution,
    pub(super) sides: [Option<Tangent>; 2],
    pub(super) missing: [bool; 2],
    pub(super) shares: Vec<f64>,
    pub(super) scale: f64,
}

/// How a problem is solved, and where that stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Method {
    /// By the interior-point method.
    Interior(Box<Interior>),
    /// By the first-order method.
    FirstOrder(Box<Descending>),
}

/// Where the interior-point method stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Interior {
    pub(super) turn: Turn,
    pub(super) phase: Phase,
    pub(super) tau: Option<f64>,
    pub(super) point: Point,
    pub(super) values: Values,
}

/// Where the first-order method stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Descending {
    pub(super) prior: Vec<f64>,
    pub(super) tau: f64,
    pub(super) smoothness: f64,
    pub(super) evaluations: usize,
    pub(super) falls: Falls,
    pub(super) descent: Descent,
}

/// The last gap that was notably smaller than the one before, and the evaluations by then.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Falls {
    pub(super) gap: f64,
    pub(super) since: usize,
}

/// Accelerated steps for one prior.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Descent {
    pub(super) x: Place,
    pub(super) z: Vec<f64>,
    /// The sum of the step lengths.
    pub(super) sum: f64,
    /// What another w could gain at the last restart.
    pub(super) mark: f64,
    /// What another prior could gain at the start, and the evaluations by then.
    pub(super) gain: f64,
    pub(super) since: usize,
}

/// A model of the first-order method with what F is there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) w: Vec<f64>,
    pub(super) payoffs: Vec<f64>,
    /// ∇r_i, line by line.
    pub(super) gradients: Vec<f64>,
    pub(super) q: Vec<f64>,
    /// Σ q_i ∇r_i.
    pub(super) h: Vec<f64>,
    /// What another q, and what another w may gain.
    pub(super) gains: (f64, f64),
    pub(super) surrogate: Option<Surrogate>,
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

impl Found {
    /// Whether it is of a problem with so many groups and numbers.
    fn is_of(&self, m: usize, n: usize) -> bool {
        let Found { best, beneath, sides, .. } = self;
        [best, beneath].iter().all(|s| s.w.len() == n && s.q.len() == m)
            && sides.iter().flatten().all(|tangent| tangent.slope.len() <= n)
    }
}

impl Interior {
    /// Whether it is of a problem with so many groups and numbers, of which the point has this form.
    fn is_of(&self, m: usize, n: usize, form: &Point) -> bool {
        let Interior { point, values, .. } = self;
        let parts = [&point.u, &point.s, &point.v].iter().all(|v| [0, m].contains(&v.len()));
        let places = |point: &Point| point.bounds.iter().map(|b| b.at).collect::<Vec<usize>>();
        parts
            && point.w.len() == n
            && [&point.q, &values.payoffs].iter().all(|q| q.len() == m)
            && values.gradients.len() == m * n
            && values.surrogate.as_ref().is_none_or(|surrogate| surrogate.is_of(m))
            && places(point) == places(form)
    }
}

impl Descending {
    /// Whether it is of a problem with so many groups and numbers.
    fn is_of(&self, m: usize, n: usize) -> bool {
        let Descent { x, z, .. } = &self.descent;
        [&self.prior, &x.q, &x.payoffs].iter().all(|q| q.len() == m)
            && [z, &x.w, &x.h].iter().all(|w| w.len() == n)
            && x.gradients.len() == m * n
            && x.surrogate.as_ref().is_none_or(|surrogate| surrogate.is_of(m))
    }
}

impl Live {
    /// What an interior-point method that goes on starts from, for a point of this form.
    ///
    /// # Errors
    /// [`Error::State`] for a solve of another problem.
    pub(super) fn interior(self, m: usize, n: usize, form: &Point) -> Result<(Found, Interior)> {
        match self.method {
            Method::Interior(own) if self.found.is_of(m, n) && own.is_of(m, n, form) => {
                Ok((self.found, *own))
            }
            _ => Err(other_problem()),
        }
    }

    /// What a first-order method that goes on starts from.
    ///
    /// # Errors
    /// [`Error::State`] for a solve of another problem.
    pub(super) fn first_order(self, m: usize, n: usize) -> Result<(Found, Descending)> {
        match self.method {
            Method::FirstOrder(own) if self.found.is_of(m, n) && own.is_of(m, n) => {
                Ok((self.found, *own))
            }
            _ => Err(other_problem()),
        }
    }
}
