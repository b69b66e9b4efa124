//! Newton steps on the optimality conditions: the fast phase.
//!
//! Slacks are variables of their own, so that a step need not keep r_i(w) below t exactly. Each
//! iteration solves twice with one factorisation: a predictor that decides how far to lower the
//! complementarity μ, and the step. Steps are cut back until the residual of the conditions does
//! not grow; this phase ends when they are short, and leaves the rest to `centre`.

use super::Risks;
use super::interior::Solver;
use super::keeper::{Following, Keeper, Phase, Turn, Values};
use super::point::{Point, Step};
use super::problem::Options;
use crate::domain::MirrorMap;
use crate::error::{Error, Result};
use crate::row::dot;

/// Steps shorter than this share call for a return to the centre.
const SHORT: f64 = 0.2;

/// This many short steps in a row, or iterations that improve nothing, end the phase.
const SHORTS: usize = 3;
const STALLS: usize = 4;

/// The complementarity stays above this share of the infeasibility, both relative to the start.
const LAG: f64 = 0.1;

/// Where the full step to a lower μ fails, μ is lowered to this share only, and the step is
/// halved at most this often.
const MODEST: f64 = 0.3;
const HALVINGS: usize = 4;

/// A step may raise the residual by this factor: products q_i s_i have to leave the old μ at times.
const LOOSE: f64 = 2.0;

/// A slack is made exact as far as that changes it by this factor at most.
const EXACT: f64 = 4.0;

/// The product of the ball stays above this share of where the step should have led it.
const BALL: f64 = 0.1;

impl<M: MirrorMap> Solver<'_, M> {
    /// Primal–dual steps to the tolerance, or until they are short or improve nothing any more; those of
    /// a turn, perhaps from their midst.
    pub(super) fn follow<R: Risks>(
        &mut self,
        risks: &mut R,
        options: &Options,
        (turn, keeper): (&Turn, &mut Keeper<'_>),
        midst: Option<Following>,
    ) -> Result<()> {
        let mut memory = Vec::new();
        let first = self.point.complementarity();
        if midst.is_none() && first == 0.0 {
            return Ok(());
        }
        let Following {
            mut stalls,
            mut shorts,
            mut length,
            first,
            mut infeasible,
            scale,
            mut least,
        } = midst.unwrap_or_else(|| {
            let infeasible = self.residual(&self.point, &self.values, 0.0).0;
            let gradient = self.group_sum(&self.point.q, &self.values.gradients);
            let scale = infeasible.max(dot(&gradient, &gradient).sqrt());
            let least = [self.best.gap(), first, infeasible];
            let (stalls, shorts, length) = (0, 0, 1.0);
            Following { stalls, shorts, length, first, infeasible, scale, least }
        });
        while !self.done(options) && stalls < STALLS && shorts < SHORTS {
            if keeper.is_due() {
                let now = Following { stalls, shorts, length, first, infeasible, scale, least };
                keeper.keep(self.live(*turn, Phase::Follow(now)));
            }
            self.best.iterations += 1;
            let (system, spread) = self.system(risks, &mut memory);
            let mu = self.point.complementarity();
            // After a short step the point lies too near to a bound: back to the centre.
            let mut target = mu;
            if length >= SHORT {
                let predictor = self.direction(risks, &system, &spread, 0.0);
                let reach = self.point.longest(&predictor);
                let ahead = self.point.moved(&predictor, reach).complementarity();
                target = mu * (ahead / mu).clamp(1e-6, 0.8).powi(3);
            }
            // Complementarity must not run ahead of feasibility: it would leave the point stuck at
            // a bound.
            target = target.max((LAG * first * infeasible / scale).min(mu));
            length = 0.0;
            if target < MODEST * mu {
                let step = self.direction(risks, &system, &spread, target);
                length = self.take(risks, &step, target, 0)?;
                target = MODEST * mu;
            }
            if length == 0.0 {
                let step = self.direction(risks, &system, &spread, target);
                length = self.take(risks, &step, target, HALVINGS)?;
            }
            if length == 0.0 {
                break;
            }
            self.record(risks)?;
            shorts = if length < SHORT { shorts + 1 } else { 0 };
            infeasible = self.residual(&self.point, &self.values, 0.0).0;
            let now = [self.best.gap(), self.point.complementarity(), infeasible];
            stalls += 1;
            for (least, now) in least.iter_mut().zip(now) {
                if now < 0.9 * *least {
                    (*least, stalls) = (now, 0);
                }
            }
        }
        Ok(())
    }

    /// Moves along a step, halved at most so often until the residual does not grow much, and says
    /// how long a share of it that was: 0 when nothing moves.
    fn take<R: Risks>(
        &mut self,
        risks: &mut R,
        step: &Step,
        mu: f64,
        halvings: usize,
    ) -> Result<f64> {
        let merit = |point: &Point, values: &Values| {
            let (infeasible, products) = self.residual(point, values, mu);
            infeasible.hypot(products)
        };
        let before = merit(&self.point, &self.values);
        let now = self.point.complementarity();
        let mut alpha = self.point.longest(step);
        let finite = step.w.iter().all(|v| v.is_finite());
        let mut values = self.values.clone();
        for _ in 0..=halvings {
            if !(finite && alpha > 0.0) {
                break;
            }
            let mut point = self.point.moved(step, alpha);
            match self.evaluate(risks, &point.w, &mut values) {
                Ok(()) => {
                    self.refit(&mut point, &values, alpha * mu + (1.0 - alpha) * now);
                    if merit(&point, &values) <= LOOSE * before {
                        (self.point, self.values) = (point, values);
                        return Ok(alpha);
                    }
                }
                // Too long a step may overflow a loss.
                Err(Error::NonFiniteLoss { .. }) => {}
                Err(error) => return Err(error),
            }
            alpha *= 0.5;
        }
        self.back(risks)?;
        Ok(0.0)
    }

    /// Takes up what the step, which is linear, does not see of the payoffs and the ball.
    ///
    /// - t moves by the mean error of the payoffs, with the weights that it has in Newton's
    ///   equations;
    /// - the slacks become exact, s_i = t + u_i − r_i(w), as far as their products with the q_i
    ///   stay near `mu`;
    /// - the slack of the ball falls by more than its slope says: its multiplier makes up for that.
    fn refit(&self, point: &mut Point, values: &Values, mu: f64) {
        if let Some(ball) = &mut point.ball {
            ball.nu = ball.nu.max(BALL * mu / ball.slack(&point.w));
        }
        self.respond(point, values);
        if !self.is_game() {
            return;
        }
        let level = |point: &Point, i: usize| {
            values.payoffs[i] - point.u.get(i).copied().unwrap_or(0.0) + point.s[i]
        };
        let h = point.stiffness();
        let error: f64 = h.iter().enumerate().map(|(i, h)| h * (level(point, i) - point.t)).sum();
        point.t += error / h.iter().sum::<f64>();
        for i in 0..self.m {
            let (s, off) = (point.s[i], level(point, i) - point.t);
            point.s[i] = (s - off).clamp(s / EXACT, s * EXACT);
        }
    }
}
