//! Tilted risks of a small τ, by way of larger ones.
//!
//! τ ln Σ p̂_i exp(r_i/τ) bends the more sharply the smaller τ is: from afar Newton's method takes many
//! short steps. From the minimum for one τ to that for a share of it there are two or three.

use super::Risks;
use super::goal::Goal;
use super::interior::Solver;
use super::problem::Options;
use crate::domain::MirrorMap;
use crate::error::Result;

/// From one τ to the next.
const FALL: f64 = 0.1;

/// The model of a τ is near enough when a Newton step gains less than this share of it.
const NEAR: f64 = 0.1;

/// From a model that may be near, so many steps are tried at the last τ.
const TRIED: usize = 6;

/// The complementarity, in units of τ: in a set that may be tight, and for intercepts alone, whose
/// bounds are far away.
const TIGHT: f64 = 0.1;
const LOOSE: f64 = 1e-6;

/// Below this share of the problem's scale τ makes no difference but rounding.
const COLDEST: f64 = 1e-10;

impl<M: MirrorMap> Solver<'_, M> {
    /// Lowers τ to that of the problem, from `first` or at once where the model is near its optimum; a τ
    /// that is no smaller than `first` needs no way to it.
    pub(super) fn cool<R: Risks>(
        &mut self,
        risks: &mut R,
        options: &Options,
        first: f64,
        is_near: bool,
    ) -> Result<()> {
        let (Goal::Tilted { tau, .. }, Some(_)) = (&self.problem.goal, self.tau) else {
            return Ok(());
        };
        let last = tau.max(COLDEST * self.scale);
        // All bounds are those of intercepts.
        let is_free = self.radius.is_infinite() && self.point.bounds.len() <= self.n - self.weights;
        let share = if is_free { LOOSE } else { TIGHT };
        let mut stage = |solver: &mut Self, tau: f64, most: usize| {
            solver.tau = Some(tau);
            let size = tau.min(solver.scale);
            solver.centre(risks, options, share * size, NEAR * size, most, None)
        };
        if first <= last {
            self.tau = Some(last);
            return Ok(());
        }
        if is_near && stage(self, last, TRIED)? {
            return Ok(());
        }
        let mut tau = first;
        loop {
            stage(self, tau, usize::MAX)?;
            if tau == last {
                return Ok(());
            }
            tau = (FALL * tau).max(last);
        }
    }
}
