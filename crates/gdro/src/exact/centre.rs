//! Newton's method on the barrier function: the globally convergent phase.
//!
//! For a complementarity μ > 0 the point of the central path minimises the convex function
//!
//! ```text
//! Φ_μ(w) + (λ/2)‖w‖² − μ Σ ln(slacks of the domain)
//! Φ_μ(w) = min_{t,u} t + (1/k) Σ u_i − μ Σ ln(t + u_i − r_i(w)) − μ Σ ln u_i
//! ```
//!
//! of the model alone: Φ_μ is a smooth maximum of the payoffs, with gradient Σ q_i ∇r_i at the q of
//! its own t and u. With fixed weights q it is Σ q_i r_i; a tilted risk is a smooth maximum itself. Newton's direction of a convex function
//! descends, and a line search along it cannot get stuck: where steps of the primal–dual iteration
//! are cut to nothing, this phase goes on, if slowly, and leaves a point with exact slacks and
//! multipliers, from which the fast iteration takes over.

use super::Risks;
use super::goal::{Goal, smooth_max};
use super::interior::Solver;
use super::keeper::{Keeper, Phase, Turn, Values};
use super::level::{capped_level, capped_slacks, level};
use super::point::{Point, Step};
use super::problem::Options;
use crate::domain::MirrorMap;
use crate::error::{Error, Result};
use crate::row::dot;

/// A point is central when the square of the Newton decrement is below this multiple of μ.
const CENTRAL: f64 = 0.1;

/// Values of the barrier function that differ relatively by less are equal.
const ROUNDING: f64 = 1e-13;

impl<M: MirrorMap> Solver<'_, M> {
    /// Minimises the barrier function for `mu` until the point is central, or a step gains less than
    /// `enough`, in at most so many steps. Says whether it came to that. Where the steps stand in a turn
    /// is kept.
    pub(super) fn centre<R: Risks>(
        &mut self,
        risks: &mut R,
        options: &Options,
        mu: f64,
        enough: f64,
        most: usize,
        kept: Option<(&Turn, &mut Keeper<'_>)>,
    ) -> Result<bool> {
        let mut point = self.point.clone();
        self.settle(&mut point, &self.values, mu);
        self.point = point;
        if self.point.ball.is_some() || !self.point.bounds.is_empty() {
            // Close to a bound a Newton step can do little more than double the slack: first away
            // from it.
            let mut inward = vec![0.0; self.n];
            self.problem.domain.map.center(&mut inward[..self.weights]);
            inward.iter_mut().zip(&self.point.w).for_each(|(c, w)| *c -= w);
            self.search(risks, Step { w: inward, ..Step::default() }, mu)?;
        }
        self.centre_on(risks, options, mu, enough, most, kept)
    }

    /// The same from the midst of the steps.
    pub(super) fn centre_on<R: Risks>(
        &mut self,
        risks: &mut R,
        options: &Options,
        mu: f64,
        enough: f64,
        most: usize,
        mut kept: Option<(&Turn, &mut Keeper<'_>)>,
    ) -> Result<bool> {
        let mut memory = Vec::new();
        for _ in 0..most {
            if self.done(options) {
                break;
            }
            if let Some((turn, keeper)) = &mut kept
                && keeper.is_due()
            {
                keeper.keep(self.live(**turn, Phase::Centre));
            }
            self.best.iterations += 1;
            let (system, spread) = self.system(risks, &mut memory);
            let w = self.direction(risks, &system, &spread, mu).w;
            let decrement = -dot(&w, &self.dual(&self.point, &self.values));
            let moved = self.search(risks, Step { w, ..Step::default() }, mu)?;
            self.record(risks)?;
            if !moved || decrement < enough.max(CENTRAL * mu) {
                return Ok(moved);
            }
        }
        Ok(self.done(options))
    }

    /// Slacks and multipliers of the central path for the model of a point.
    fn settle(&self, point: &mut Point, values: &Values, mu: f64) {
        self.respond(point, values);
        if self.is_game() {
            let top = values.payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let below: Vec<f64> = values.payoffs.iter().map(|r| top - r).collect();
            let above = if self.is_capped() {
                let above = capped_level(&below, self.cap(), mu);
                let pair = |b: &f64| capped_slacks(above + b, self.cap(), mu);
                (point.s, point.u) = below.iter().map(pair).unzip();
                point.v = point.u.iter().map(|u| mu / u).collect();
                above
            } else {
                let above = level(&below, mu);
                point.s = below.iter().map(|b| above + b).collect();
                above
            };
            point.q = point.s.iter().map(|s| mu / s).collect();
            point.t = top + above;
        }
        if let Some(ball) = &mut point.ball {
            ball.nu = mu / ball.slack(&point.w);
        }
        for bound in &mut point.bounds {
            bound.z_low = mu / (point.w[bound.at] - bound.low);
            bound.z_high = mu / (bound.high - point.w[bound.at]);
        }
    }

    /// The barrier function at a settled point.
    fn barrier(&self, point: &Point, values: &Values, mu: f64) -> f64 {
        let w = &point.w[..self.weights];
        let objective = match (&self.problem.goal, self.tau) {
            (Goal::Tilted { prior, .. }, Some(tau)) => smooth_max(prior, tau, &values.payoffs),
            _ if self.is_game() => point.t + self.cap() * point.u.iter().sum::<f64>(),
            _ => dot(&point.q, &values.payoffs),
        };
        let mut logs: f64 = point.s.iter().chain(&point.u).map(|s| s.ln()).sum();
        if let Some(ball) = &point.ball {
            logs += ball.slack(&point.w).ln();
        }
        for bound in &point.bounds {
            let w = point.w[bound.at];
            logs += (w - bound.low).ln() + (bound.high - w).ln();
        }
        objective + self.problem.game.ridge / 2.0 * dot(w, w) - mu * logs
    }

    /// Moves along a direction to about the minimum of the barrier function: its slope falls to at
    /// most half, and its value does not rise (an approximate Wolfe condition, Hager and Zhang, DOI
    /// 10.1137/030601880, which holds in the face of rounding). Says whether there is such a
    /// point; otherwise nothing moves.
    fn search<R: Risks>(&mut self, risks: &mut R, step: Step, mu: f64) -> Result<bool> {
        let start = self.barrier(&self.point, &self.values, mu);
        let slope = dot(&step.w, &self.dual(&self.point, &self.values));
        let finite = step.w.iter().all(|v| v.is_finite());
        let mut alpha = self.point.longest(&step);
        let mut values = self.values.clone();
        for _ in 0..60 {
            if !(finite && slope < 0.0 && alpha > 0.0) {
                break;
            }
            let mut shrink = 0.1;
            let mut point = self.point.moved(&step, alpha);
            match self.evaluate(risks, &point.w, &mut values) {
                Ok(()) => {
                    self.settle(&mut point, &values, mu);
                    let after = dot(&step.w, &self.dual(&point, &values));
                    let value = self.barrier(&point, &values, mu);
                    if after <= -0.5 * slope && value <= start + ROUNDING * start.abs() {
                        (self.point, self.values) = (point, values);
                        return Ok(true);
                    }
                    // Where a straight slope would vanish.
                    shrink = (slope / (slope - after)).clamp(0.1, 0.5);
                }
                // Too long a step may overflow a loss.
                Err(Error::NonFiniteLoss { .. }) => {}
                Err(error) => return Err(error),
            }
            alpha *= shrink;
        }
        self.back(risks)?;
        Ok(false)
    }
}
