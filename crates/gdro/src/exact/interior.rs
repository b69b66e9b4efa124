//! A primal–dual interior-point method for the game.
//!
//! The game min_w max_{q ∈ Q} Σ q_i r_i(w) + (λ/2)‖w‖² with payoffs r_i = p_i(R_i − b_i) and
//! Q = {q ≥ 0, Σ q = 1, q_i ≤ 1/k} is the convex programme
//!
//! ```text
//! min  t + (1/k) Σ u_i + (λ/2)‖w‖²
//! s.t. r_i(w) − t − u_i + s_i = 0,  s_i ≥ 0     multiplier q_i
//!      u_i ≥ 0                                  multiplier v_i = 1/k − q_i
//!      w in the domain: a ball, or bounds on single numbers
//! ```
//!
//! (without the u_i for k = 1). The multipliers q_i of its groups are the group weights of the saddle
//! point. Each iteration takes one Hessian of the Lagrangian, one Cholesky factorisation, and two
//! solves: a predictor that decides how far to lower the complementarity μ, and the step. The
//! slacks are variables of their own, so that a step need not keep r_i(w) below t exactly; steps are
//! cut back until the residual of the optimality conditions falls. Ten to thirty iterations reach
//! rounding level, where the smoothed maximum with a falling temperature takes several Newton
//! iterations for each temperature.
//!
//! Sources: Boyd and Vandenberghe, Convex Optimization, § 11.7; Mehrotra, DOI 10.1137/0802028.

use super::Risks;
use super::point::{Ball, Bound, Point, Step};
use super::problem::{Goal, Options, Problem, Solution};
use super::system::{RankOne, System};
use crate::domain::{Constraints, MirrorMap};
use crate::error::{Error, Result};
use crate::group_weights::project_capped_simplex;
use crate::row::dot;

/// Solves the problem to the tolerance, or as far as double precision goes.
///
/// # Errors
/// What [`crate::game::Game::check`] and the risks find wrong; [`Error::Length`] when parts do not fit together.
pub fn solve<R: Risks, M: MirrorMap>(
    risks: &mut R,
    problem: &Problem<'_, M>,
    options: &Options,
) -> Result<Solution> {
    problem.game.check()?;
    let (m, n) = (risks.groups(), risks.dim());
    if problem.game.groups() != m {
        return Err(Error::Length { what: "game", found: problem.game.groups(), expected: m });
    }
    if let Some(start) = &options.start
        && start.len() != n
    {
        return Err(Error::Length { what: "start", found: start.len(), expected: n });
    }
    let fixed = match &problem.goal {
        Goal::Fixed(q) if q.len() != m => {
            return Err(Error::Length { what: "weights", found: q.len(), expected: m });
        }
        Goal::Fixed(q) => Some(q.clone()),
        // Q is a single point.
        Goal::Adversary if problem.game.k == m as f64 => Some(vec![1.0 / m as f64; m]),
        Goal::Adversary => None,
    };
    let mut solver = Solver::new(problem, m, n, fixed);
    solver.start(risks, options.start.as_deref(), None)?;
    solver.run(risks, options)
}

/// Steps shorter than this share call for a return to the centre,
const SHORT: f64 = 0.1;

/// with the complementarity raised by this factor.
const RECENTRE: f64 = 3.0;

/// The complementarity stays above this share of the infeasibility, both relative to the start.
const LAG: f64 = 0.1;

/// Shares of the gap that a new start leaves as room above the largest payoff, one after the other.
const RESTARTS: [f64; 4] = [1.0, 10.0, 0.1, 100.0];

/// Risks and gradients of the payoffs at a point.
#[derive(Clone, Debug)]
struct Values {
    payoffs: Vec<f64>,
    gradients: Vec<f64>,
}

struct Solver<'p, M> {
    problem: &'p Problem<'p, M>,
    m: usize,
    n: usize,
    /// Numbers under ridge and ball; the rest are intercepts.
    weights: usize,
    radius: f64,
    fixed: Option<Vec<f64>>,
    point: Point,
    values: Values,
    best: Solution,
}

impl<'p, M: MirrorMap> Solver<'p, M> {
    fn new(problem: &'p Problem<'p, M>, m: usize, n: usize, fixed: Option<Vec<f64>>) -> Self {
        let weights = problem.features * problem.outputs;
        let (mut radius, mut bounds) = (f64::INFINITY, Vec::new());
        let bound = |at, low, high| Bound { at, low, high, z_low: 0.0, z_high: 0.0 };
        match problem.domain.map.constraints() {
            Constraints::Free => {}
            Constraints::Ball(b) => radius = b,
            Constraints::Box(low, high) => bounds.extend((0..weights).map(|j| bound(j, low, high))),
        }
        if let Some(b) = problem.domain.intercept {
            bounds.extend((weights..n).map(|j| bound(j, -b, b)));
        }
        let point = Point {
            w: vec![0.0; n],
            t: 0.0,
            u: Vec::new(),
            s: Vec::new(),
            q: fixed.clone().unwrap_or_else(|| vec![1.0 / m as f64; m]),
            v: Vec::new(),
            ball: None,
            bounds,
        };
        let values = Values { payoffs: vec![0.0; m], gradients: vec![0.0; m * n] };
        let best = Solution {
            w: point.w.clone(),
            q: point.q.clone(),
            upper: f64::INFINITY,
            lower: f64::NEG_INFINITY,
            iterations: 0,
        };
        Solver { problem, m, n, weights, radius, fixed, point, values, best }
    }

    fn cap(&self) -> f64 {
        1.0 / self.problem.game.k
    }

    fn is_capped(&self) -> bool {
        self.problem.game.k > 1.0
    }

    fn evaluate<R: Risks>(&self, risks: &mut R, w: &[f64], values: &mut Values) -> Result<()> {
        risks.evaluate(w, &mut values.payoffs, &mut values.gradients)?;
        let game = self.problem.game;
        for i in 0..self.m {
            values.payoffs[i] = game.payoff(i, values.payoffs[i]);
            if game.scales[i] != 1.0 {
                let line = &mut values.gradients[i * self.n..(i + 1) * self.n];
                line.iter_mut().for_each(|g| *g *= game.scales[i]);
            }
        }
        Ok(())
    }

    /// A point strictly inside all inequalities.
    ///
    /// `room` is how far the epigraph variable starts above the largest payoff; by the payoffs and
    /// gradients when not given.
    fn start<R: Risks>(
        &mut self,
        risks: &mut R,
        start: Option<&[f64]>,
        room: Option<f64>,
    ) -> Result<()> {
        let w = &mut self.point.w;
        self.problem.domain.map.center(&mut w[..self.weights]);
        if let Some(start) = start {
            w.copy_from_slice(start);
        }
        let norm = dot(&w[..self.weights], &w[..self.weights]).sqrt();
        if norm > 0.99 * self.radius {
            let scale = 0.99 * self.radius / norm;
            w[..self.weights].iter_mut().for_each(|v| *v *= scale);
        }
        for bound in &self.point.bounds {
            let margin = 1e-3 * (bound.high - bound.low);
            w[bound.at] = w[bound.at].clamp(bound.low + margin, bound.high - margin);
        }
        let w = self.point.w.clone();
        let mut values = self.values.clone();
        self.evaluate(risks, &w, &mut values)?;
        self.values = values;

        let payoffs = &self.values.payoffs;
        let top = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let bottom = payoffs.iter().copied().fold(f64::INFINITY, f64::min);
        let (spread, size) = (top - bottom, top.abs().max(bottom.abs()));
        let mut guess = (0.1 * spread).max(0.01 * size).max(1e-6);
        // In a set that may be tight, leave room for about the decrease that the gradient promises.
        let gradient = self.group_sum(&self.point.q, &self.values.gradients);
        let promise = -self.problem.domain.map.minimum(&gradient[..self.weights], 0.0);
        if promise.is_finite() {
            guess = guess.max(0.3 * promise.min(spread + size));
        }
        let room = room.unwrap_or(guess);
        let mut mu = room / self.m as f64;
        if self.fixed.is_none() {
            self.point.t = top + room;
            self.point.s = payoffs.iter().map(|r| top + room - r).collect();
            if self.is_capped() {
                self.point.u = vec![room; self.m];
                self.point.v = self.point.q.iter().map(|q| self.cap() - q).collect();
            }
            mu = dot(&self.point.q, &self.point.s) / self.m as f64;
        }
        if self.radius.is_finite() {
            let mut ball = Ball { radius: self.radius, weights: self.weights, nu: 0.0 };
            ball.nu = mu / ball.slack(&self.point.w);
            self.point.ball = Some(ball);
        }
        for bound in &mut self.point.bounds {
            bound.z_low = mu / (self.point.w[bound.at] - bound.low);
            bound.z_high = mu / (bound.high - self.point.w[bound.at]);
        }
        Ok(())
    }

    /// Norms of the residual of the optimality conditions: how far from feasible the duals and the
    /// epigraph are, and how far the products multiplier × slack are from `mu`.
    fn residual(&self, point: &Point, values: &Values, mu: f64) -> (f64, f64) {
        let mut dual = self.group_sum(&point.q, &values.gradients);
        let pull = self.problem.game.ridge + point.ball.as_ref().map_or(0.0, |b| b.nu);
        for (d, w) in dual.iter_mut().zip(&point.w).take(self.weights) {
            *d += pull * w;
        }
        let mut products = 0.0;
        for bound in &point.bounds {
            let w = point.w[bound.at];
            dual[bound.at] += bound.z_high - bound.z_low;
            products += (bound.z_low * (w - bound.low) - mu).powi(2);
            products += (bound.z_high * (bound.high - w) - mu).powi(2);
        }
        if let Some(ball) = &point.ball {
            products += (ball.slack(&point.w) * ball.nu - mu).powi(2);
        }
        let mut infeasible = dot(&dual, &dual);
        if self.fixed.is_none() {
            infeasible += (1.0 - point.q.iter().sum::<f64>()).powi(2);
            for i in 0..self.m {
                let u = point.u.get(i).copied().unwrap_or(0.0);
                infeasible += (values.payoffs[i] - point.t - u + point.s[i]).powi(2);
                products += (point.q[i] * point.s[i] - mu).powi(2);
                if let Some(v) = point.v.get(i) {
                    infeasible += (self.cap() - point.q[i] - v).powi(2);
                    products += (v * u - mu).powi(2);
                }
            }
        }
        (infeasible.sqrt(), products.sqrt())
    }

    /// Σ_i c_i g_i.
    fn group_sum(&self, c: &[f64], gradients: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.n];
        for (c, g) in c.iter().zip(gradients.chunks_exact(self.n)) {
            if *c != 0.0 {
                sum.iter_mut().zip(g).for_each(|(s, g)| *s += c * g);
            }
        }
        sum
    }

    /// Improves the best bounds by those of the present point.
    fn record(&mut self) -> Result<()> {
        let (game, domain) = (self.problem.game, self.problem.domain);
        let w = &self.point.w;
        let ridge = game.ridge / 2.0 * dot(&w[..self.weights], &w[..self.weights]);
        let payoffs = &self.values.payoffs;
        let q = match &self.fixed {
            Some(q) => q.clone(),
            None => {
                let mut q = self.point.q.clone();
                project_capped_simplex(&mut q, game.k)?;
                q
            }
        };
        let upper = match &self.fixed {
            Some(q) => dot(q, payoffs) + ridge,
            None => crate::game::top_k_mean(payoffs, game.k) + ridge,
        };
        if upper < self.best.upper && domain.map.contains(&w[..self.weights]) {
            self.best.upper = upper;
            self.best.w.copy_from_slice(w);
        }
        let h = self.group_sum(&q, &self.values.gradients);
        let least = domain.minimum(&h, game.ridge, self.problem.features, self.problem.outputs);
        let lower = dot(&q, payoffs) - dot(&h, w) + least;
        if lower > self.best.lower {
            self.best.lower = lower;
            self.best.q = q;
        }
        Ok(())
    }

    /// Iterates to the tolerance. When the iteration gets stuck before, it starts anew from the best
    /// point so far, with other slacks and multipliers.
    fn run<R: Risks>(mut self, risks: &mut R, options: &Options) -> Result<Solution> {
        for room in RESTARTS {
            self.iterate(risks, options)?;
            let gap = self.best.gap();
            if gap <= options.tolerance || gap <= 1e-12 * self.best.upper.abs() {
                break;
            }
            if self.fixed.is_none() {
                // Group weights near the best ones, but strictly inside of Q.
                let even = 1.0 / self.m as f64;
                self.point.q = self.best.q.iter().map(|q| 0.9 * q + 0.1 * even).collect();
            }
            let w = self.best.w.clone();
            self.start(risks, Some(&w), Some(room * gap))?;
        }
        Ok(self.best)
    }

    /// Iterates to the tolerance, or until nothing moves any more.
    fn iterate<R: Risks>(&mut self, risks: &mut R, options: &Options) -> Result<()> {
        let mut memory = Vec::new();
        let mut stalled = 0;
        let mut length = 1.0;
        let start_mu = self.point.complementarity();
        let mut infeasible = self.residual(&self.point, &self.values, 0.0).0;
        let gradient = self.group_sum(&self.point.q, &self.values.gradients);
        let start = infeasible.max(dot(&gradient, &gradient).sqrt());
        self.record()?;
        while self.best.iterations < options.iterations {
            let gap = self.best.gap();
            if gap <= options.tolerance || stalled >= 8 {
                break;
            }
            self.best.iterations += 1;
            let (system, spread) = self.system(risks, &mut memory);
            let mu = self.point.complementarity();
            // Complementarity must not run ahead of feasibility: it would leave the point stuck at a bound.
            let floor = (LAG * start_mu * infeasible / start).min(10.0 * mu);
            let target = if mu == 0.0 {
                0.0
            } else if length < SHORT {
                // The last step was cut short: the point lies too near to a bound. Back to the centre.
                (RECENTRE * mu).max(floor)
            } else {
                let predictor = self.direction(risks, &system, &spread, 0.0);
                let reach = self.point.longest(&predictor);
                let ahead = self.point.moved(&predictor, reach).complementarity();
                (mu * (ahead / mu).clamp(1e-6, 0.8).powi(3)).max(floor)
            };
            let step = self.direction(risks, &system, &spread, target);
            length = self.take(risks, &step, target)?;
            if length == 0.0 {
                break;
            }
            self.record()?;
            // At rounding level neither the gap, nor the complementarity, nor the residual falls any
            // more.
            let before = infeasible;
            infeasible = self.residual(&self.point, &self.values, 0.0).0;
            let now = self.point.complementarity();
            let falls = self.best.gap() < 0.99 * gap
                || infeasible < 0.9 * before && infeasible > 1e-15 * start
                || now < 0.5 * mu && now > 1e-17 * self.best.upper.abs().min(1.0);
            stalled = if falls { 0 } else { stalled + 1 };
        }
        Ok(())
    }

    /// The group terms of the reduced system: ĥ_i, ĝ and S.
    fn spread(&self) -> Spread {
        if self.fixed.is_some() {
            return Spread::default();
        }
        let point = &self.point;
        let h: Vec<f64> = (0..self.m)
            .map(|i| {
                let d = point.q[i] / point.s[i];
                match point.v.get(i) {
                    None => d,
                    Some(v) => {
                        let e = v / point.u[i];
                        d * (e / (d + e))
                    }
                }
            })
            .collect();
        let total = h.iter().sum();
        let mut center = self.group_sum(&h, &self.values.gradients);
        center.iter_mut().for_each(|g| *g /= total);
        Spread { h, total, center }
    }

    /// The reduced Newton system.
    fn system<R: Risks>(&self, risks: &mut R, memory: &mut Vec<f64>) -> (System, Spread) {
        let (n, game, point) = (self.n, self.problem.game, &self.point);
        let c: Vec<f64> = point.q.iter().zip(&game.scales).map(|(q, p)| q * p).collect();
        let mut diagonal = vec![0.0; n];
        diagonal[..self.weights].fill(game.ridge + point.ball.as_ref().map_or(0.0, |b| b.nu));
        for bound in &point.bounds {
            let w = point.w[bound.at];
            diagonal[bound.at] += bound.z_low / (w - bound.low) + bound.z_high / (bound.high - w);
        }
        let spread = self.spread();
        let ball = point.ball.as_ref().map(|ball| {
            let mut u = point.w.clone();
            u[self.weights..].fill(0.0);
            RankOne { scale: ball.nu / ball.slack(&point.w), u }
        });
        let groups = spread.h.iter().zip(self.values.gradients.chunks_exact(n));
        let groups = groups.filter(|(h, _)| **h > 0.0).map(|(h, g)| RankOne {
            scale: *h,
            u: g.iter().zip(&spread.center).map(|(g, c)| g - c).collect(),
        });
        let system = System::new(risks, &c, &diagonal, ball.into_iter().chain(groups), memory);
        (system, spread)
    }

    /// The Newton direction towards complementarity `mu`.
    fn direction<R: Risks>(
        &self,
        risks: &mut R,
        system: &System,
        spread: &Spread,
        mu: f64,
    ) -> Step {
        let (point, values, n) = (&self.point, &self.values, self.n);
        let ridge = self.problem.game.ridge;
        let mut rhs = vec![0.0; n];
        let adversary = self.fixed.is_none();
        // π_i: what takes the place of the multiplier q_i on the right-hand side.
        let mut pi = self.fixed.clone().unwrap_or_default();
        let (mut gap_u, mut zeta) = (vec![0.0; point.u.len()], vec![0.0; self.m]);
        let mut kappa = 0.0;
        let slope = |i: usize| point.q[i] / point.s[i];
        let infeasible = |i: usize| {
            let u = point.u.get(i).copied().unwrap_or(0.0);
            values.payoffs[i] - point.t - u + point.s[i]
        };
        if adversary {
            pi = (0..self.m).map(|i| mu / point.s[i] + slope(i) * infeasible(i)).collect();
            for i in 0..point.u.len() {
                let (d, e) = (slope(i), point.v[i] / point.u[i]);
                gap_u[i] = self.cap() - pi[i] - mu / point.u[i];
                zeta[i] = d / (d + e) * gap_u[i];
            }
            let gap_t = 1.0 - pi.iter().sum::<f64>();
            kappa = (zeta.iter().sum::<f64>() - gap_t) / spread.total;
        }
        let groups: Vec<f64> = pi.iter().zip(&zeta).map(|(pi, zeta)| -(pi + zeta)).collect();
        let pulled = self.group_sum(&groups, &values.gradients);
        for j in 0..n {
            rhs[j] = pulled[j];
            if j < self.weights {
                rhs[j] -= ridge * point.w[j];
            }
            if adversary {
                rhs[j] += spread.total * kappa * spread.center[j];
            }
        }
        if let Some(ball) = &point.ball {
            let by = mu / ball.slack(&point.w);
            for (r, w) in rhs.iter_mut().zip(&point.w).take(self.weights) {
                *r -= by * w;
            }
        }
        for bound in &point.bounds {
            let w = point.w[bound.at];
            rhs[bound.at] -= mu / (bound.high - w) - mu / (w - bound.low);
        }
        system.solve(risks, &mut rhs);

        let mut step = Step { w: rhs, ..Step::default() };
        if adversary {
            step.t = dot(&spread.center, &step.w) + kappa;
            for (i, gradient) in values.gradients.chunks_exact(n).enumerate() {
                let along = dot(gradient, &step.w) - step.t;
                let mut du = 0.0;
                if let Some(u) = point.u.get(i) {
                    let (d, e) = (slope(i), point.v[i] / u);
                    du = (d * along - gap_u[i]) / (d + e);
                    step.u.push(du);
                    step.v.push(mu / u - point.v[i] - e * du);
                }
                let change = infeasible(i) + along - du;
                step.s.push(-change);
                step.q.push(mu / point.s[i] - point.q[i] + slope(i) * change);
            }
        }
        if let Some(ball) = &point.ball {
            let slack = ball.slack(&point.w);
            let change = dot(&point.w[..self.weights], &step.w[..self.weights]);
            step.nu = mu / slack - ball.nu + ball.nu / slack * change;
        }
        for bound in &point.bounds {
            let (w, dw) = (point.w[bound.at], step.w[bound.at]);
            let (low, high) = (w - bound.low, bound.high - w);
            let z_low = mu / low - bound.z_low - bound.z_low / low * dw;
            let z_high = mu / high - bound.z_high + bound.z_high / high * dw;
            step.bounds.push((z_low, z_high));
        }
        step
    }

    /// Moves along a step as far as the residual falls, and says how long a share of it that was: 0 when
    /// it is no number any more, at rounding level.
    fn take<R: Risks>(&mut self, risks: &mut R, step: &Step, mu: f64) -> Result<f64> {
        let merit = |point: &Point, values: &Values| {
            let (infeasible, products) = self.residual(point, values, mu);
            infeasible.hypot(products)
        };
        let before = merit(&self.point, &self.values);
        let mut alpha = self.point.longest(step);
        if !(step.w.iter().all(|v| v.is_finite()) && alpha > 0.0) {
            return Ok(0.0);
        }
        let mut values = self.values.clone();
        for last in (0..=20).rev() {
            let point = self.point.moved(step, alpha);
            match self.evaluate(risks, &point.w, &mut values) {
                Ok(()) => {
                    let after = merit(&point, &values);
                    if after <= (1.0 - 1e-4 * alpha) * before || last == 0 && after.is_finite() {
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
        Ok(0.0)
    }
}

/// The group terms of the reduced system.
#[derive(Clone, Debug, Default)]
struct Spread {
    h: Vec<f64>,
    total: f64,
    center: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Domain, L2Ball};
    use crate::exact::Population;
    use crate::game::Game;
    use crate::source::Synthetic;

    fn saddle(population: &Population, game: &Game, domain: &Domain<L2Ball>) -> Solution {
        let problem =
            Problem { game, domain, features: population.dim(), outputs: 1, goal: Goal::Adversary };
        solve(&mut population.clone(), &problem, &Options::default()).unwrap()
    }

    /// The table of exact values for the paper's two synthetic sets, computed independently (means
    /// and spreads over 20 draws of the w_i*).
    #[test]
    fn saddle_points_of_the_synthetic_sets() {
        for seed in 0..3 {
            let source = Synthetic::balanced(20, 1000, seed).unwrap();
            let population = Population::new(&source);
            let free = Domain::new(L2Ball::new(5.0).unwrap());
            let gdro = saddle(&population, &Game::gdro(20), &free);
            assert!(gdro.gap() < 1e-10, "{} after {}", gdro.gap(), gdro.iterations);
            assert!((gdro.upper - 0.49155).abs() < 1e-3, "{}", gdro.upper);
            let norm = dot(&gdro.w, &gdro.w).sqrt();
            assert!((norm - 1.765).abs() < 0.02, "{norm}");

            let source = Synthetic::heterogeneous(20, 1000, seed).unwrap();
            let population = Population::new(&source);
            let gdro = saddle(&population, &Game::gdro(20), &free);
            assert!((gdro.upper - 0.68025).abs() < 2e-5, "{}", gdro.upper);
            assert!(gdro.q[0] > 1.0 - 1e-6);
            let norm = dot(&gdro.w, &gdro.w).sqrt();
            assert!((norm - 0.327).abs() < 0.001, "{norm}");
            let top3 = saddle(&population, &Game::top_k(20, 3.0), &free);
            assert!(top3.gap() < 1e-10, "{} after {}", top3.gap(), top3.iterations);
            assert!((top3.upper - 0.590).abs() < 0.02, "{}", top3.upper);
            assert!((top3.q[0] - 1.0 / 3.0).abs() < 1e-9);
            let risks = |s: &Solution| population.risks(&population.embed(&s.w));
            let (robust, top) = (risks(&gdro), risks(&top3));
            assert!((top[0] - robust[0] - 0.0565).abs() < 0.02);
            let gain: f64 = (1..20).map(|i| robust[i] - top[i]).sum::<f64>() / 19.0;
            assert!((gain - 0.119).abs() < 0.03, "{gain}");
        }
    }

    /// A small ball is active, and the bound is attained on its surface.
    #[test]
    fn an_active_ball() {
        let source = Synthetic::balanced(8, 30, 3).unwrap();
        let population = Population::new(&source);
        let domain = Domain::new(L2Ball::new(0.5).unwrap());
        let solution = saddle(&population, &Game::gdro(8), &domain);
        assert!(solution.gap() < 1e-9, "{}", solution.gap());
        assert!((dot(&solution.w, &solution.w).sqrt() - 0.5).abs() < 1e-6);
    }
}
