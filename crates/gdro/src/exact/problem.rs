//! What the reference solver is asked, and what it answers.

use serde::{Deserialize, Serialize};

use super::goal::Goal;
use crate::domain::{Domain, MirrorMap};
use crate::error::{Error, Result};
use crate::game::Game;

/// What to minimise over which models.
#[derive(Clone, Debug)]
pub struct Problem<'a, M> {
    /// Scales, offsets, ridge and cap.
    pub game: &'a Game,
    /// The set of models.
    pub domain: &'a Domain<M>,
    /// Number of features d.
    pub features: usize,
    /// Number of outputs c.
    pub outputs: usize,
    /// Who plays q.
    pub goal: Goal,
}

impl<M: MirrorMap> Problem<'_, M> {
    /// Checks all ranges, and the numbers of groups and weights.
    ///
    /// # Errors
    /// Those of [`Game::check`] and [`Domain::check`]; [`Error::Length`] for a game or weights of
    /// another number of groups, [`Error::Parameter`] for a prior or τ out of range.
    pub(crate) fn check(&self, groups: usize) -> Result<()> {
        self.game.check()?;
        self.domain.check(self.features, self.outputs)?;
        let found = self.game.groups();
        if found != groups {
            return Err(Error::Length { what: "game", found, expected: groups });
        }
        self.goal.check(self.game)
    }

    /// What no model is below because no risk is below `infimum`: the objective of risks that are
    /// all there, without a ridge. `error(i)` says how far the offset of group i may be off.
    pub(crate) fn floor(&self, infimum: f64, error: impl Fn(usize) -> f64) -> f64 {
        if infimum == f64::NEG_INFINITY {
            return infimum;
        }
        let game = self.game;
        let payoff = |i: usize| game.payoff(i, infimum - error(i));
        let payoffs: Vec<f64> = (0..game.groups()).map(payoff).collect();
        self.goal.value(&payoffs, game.k)
    }
}

/// When to stop.
#[derive(Clone, Debug)]
pub struct Options {
    /// Stop when upper − lower is at most this.
    pub tolerance: f64,
    /// Stop when upper − lower is at most this share of |upper|, or of a thousandth of the problem's
    /// own scale where that is more: max_i p_i R_i at the model in the centre of the domain, for a
    /// free intercept with the middle of the targets as its constant.
    pub relative: f64,
    /// Stop after so many iterations.
    pub iterations: usize,
    /// A model to start from; the centre of the domain otherwise.
    pub start: Option<Vec<f64>>,
}

/// The part of a problem's own scale below which an objective counts as this part.
pub(crate) const LEAST: f64 = 1e-3;

impl Options {
    /// The gap that is small enough for a problem of this scale whose objective is `upper`.
    pub(super) fn wanted(&self, upper: f64, scale: f64) -> f64 {
        let size = if upper.is_finite() { upper.abs() } else { 0.0 };
        self.tolerance.max(self.relative * size.max(LEAST * scale))
    }
}

impl Default for Options {
    /// A relative 1e-10, at most 200 iterations.
    fn default() -> Self {
        Options { tolerance: 0.0, relative: 1e-10, iterations: 200, start: None }
    }
}

/// The best model and group weights that were found, and how good they are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Solution {
    /// The model.
    pub w: Vec<f64>,
    /// The group weights.
    pub q: Vec<f64>,
    /// The objective at the model.
    pub upper: f64,
    /// A lower bound on the optimum, attained with the group weights unless it is the one that
    /// holds for all losses above their infimum.
    pub lower: f64,
    /// Iterations, each with one Hessian; or with a hundred evaluations of all gradients, where the
    /// set of models is known by its mirror map alone.
    pub iterations: usize,
    /// The gap that was small enough.
    pub wanted: f64,
    /// The largest bound of any group weights, below `lower` where the infimum of the losses says
    /// more.
    pub(super) attained: f64,
}

impl Solution {
    /// Nothing found yet: a model, group weights, and what no model is below.
    pub(super) fn start(w: Vec<f64>, q: Vec<f64>, floor: f64) -> Self {
        let attained = f64::NEG_INFINITY;
        let upper = f64::INFINITY;
        Solution { w, q, upper, lower: floor, iterations: 0, wanted: 0.0, attained }
    }

    /// upper − lower.
    pub fn gap(&self) -> f64 {
        self.upper - self.lower
    }

    /// Takes over what another answer has better.
    pub(super) fn better(mut self, other: Solution) -> Self {
        self.improve(&other.w, other.upper, &other.q, other.attained);
        self.lower = self.lower.max(other.lower);
        self.iterations += other.iterations;
        self
    }

    /// Takes over a model whose objective is smaller.
    pub(super) fn upper_bound(&mut self, w: &[f64], upper: f64) {
        if upper < self.upper {
            self.upper = upper;
            self.w.copy_from_slice(w);
        }
    }

    /// Takes over a model whose objective is smaller, and group weights whose bound is larger; any
    /// weights as long as there is no bound.
    pub(super) fn improve(&mut self, w: &[f64], upper: f64, q: &[f64], lower: f64) {
        self.upper_bound(w, upper);
        if lower > self.attained || self.attained == f64::NEG_INFINITY {
            self.attained = lower.max(self.attained);
            self.lower = self.lower.max(lower);
            self.q.copy_from_slice(q);
        }
    }
}
