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
use super::system::Factor;
use crate::domain::{Constraints, Domain, MirrorMap};
use crate::error::{Error, Result};
use crate::game::Game;
use crate::group_weights::project_capped_simplex;
use crate::row::dot;

/// Who plays q.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// The adversary: the objective is the game's.
    Adversary,
    /// These fixed weights: the objective is Σ q_i p_i (R_i − b_i) + (λ/2)‖w‖².
    Fixed(Vec<f64>),
}

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

/// When to stop.
#[derive(Clone, Debug)]
pub struct Options {
    /// Stop when upper − lower is at most this.
    pub tolerance: f64,
    /// Stop after so many iterations.
    pub iterations: usize,
    /// A model to start from; the centre of the domain otherwise.
    pub start: Option<Vec<f64>>,
}

impl Default for Options {
    /// Tolerance 1e-10, at most 200 iterations.
    fn default() -> Self {
        Options { tolerance: 1e-10, iterations: 200, start: None }
    }
}

/// The best model and group weights that were found, and how good they are.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The model.
    pub w: Vec<f64>,
    /// The group weights.
    pub q: Vec<f64>,
    /// The objective at the model.
    pub upper: f64,
    /// A lower bound on the optimum, attained with the group weights.
    pub lower: f64,
    /// Iterations, each with one Hessian.
    pub iterations: usize,
}

impl Solution {
    /// upper − lower.
    pub fn gap(&self) -> f64 {
        self.upper - self.lower
    }
}

/// Solves the problem to the tolerance, or as far as double precision goes.
///
/// # Errors
/// What [`Game::check`] and the risks find wrong; [`Error::Length`] when parts do not fit together.
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
    solver.start(risks, options.start.as_deref())?;
    solver.run(risks, options)
}

/// A bound l ≤ w_j ≤ h with its two multipliers.
#[derive(Clone, Debug)]
struct Bound {
    at: usize,
    low: f64,
    high: f64,
    z_low: f64,
    z_high: f64,
}

/// The variables.
#[derive(Clone, Debug)]
struct Point {
    w: Vec<f64>,
    t: f64,
    u: Vec<f64>,
    s: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    /// Slack and multiplier of ½(‖w‖² − B²) ≤ 0.
    ball: Option<(f64, f64)>,
    bounds: Vec<Bound>,
}

impl Point {
    /// The mean of multiplier × slack, 0 when there is no inequality.
    fn complementarity(&self) -> f64 {
        // With fixed group weights there are no slacks s, and their products are not counted.
        let mut sum = dot(&self.q, &self.s) + dot(&self.v, &self.u);
        let mut count = self.s.len() + self.u.len();
        if let Some((slack, multiplier)) = self.ball {
            sum += slack * multiplier;
            count += 1;
        }
        for bound in self.bounds.iter().filter(|b| b.high.is_finite()) {
            let w = self.w[bound.at];
            sum += bound.z_low * (w - bound.low) + bound.z_high * (bound.high - w);
            count += 2;
        }
        if count == 0 { 0.0 } else { sum / count as f64 }
    }
}

/// A step in the variables.
#[derive(Clone, Debug, Default)]
struct Step {
    w: Vec<f64>,
    t: f64,
    u: Vec<f64>,
    s: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    ball: (f64, f64),
    /// Multipliers of each bound, low and high.
    bounds: Vec<(f64, f64)>,
}

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
        let intercept = problem.domain.intercept.unwrap_or(f64::INFINITY);
        bounds.extend((weights..n).map(|j| bound(j, -intercept, intercept)));
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
    fn start<R: Risks>(&mut self, risks: &mut R, start: Option<&[f64]>) -> Result<()> {
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
            if bound.high.is_finite() {
                let margin = 1e-3 * (bound.high - bound.low);
                w[bound.at] = w[bound.at].clamp(bound.low + margin, bound.high - margin);
            }
        }
        let w = self.point.w.clone();
        let mut values = self.values.clone();
        self.evaluate(risks, &w, &mut values)?;
        self.values = values;

        let payoffs = &self.values.payoffs;
        let top = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let bottom = payoffs.iter().copied().fold(f64::INFINITY, f64::min);
        let room = (0.1 * (top - bottom)).max(0.01 * top.abs()).max(1e-6);
        let mut mu = room / self.m as f64;
        if self.fixed.is_none() {
            self.point.t = top + room;
            self.point.s = payoffs.iter().map(|r| top + room - r).collect();
            if self.is_capped() {
                self.point.u = vec![room; self.m];
                self.point.v = vec![self.cap() - 1.0 / self.m as f64; self.m];
            }
            mu = dot(&self.point.q, &self.point.s) / self.m as f64;
        }
        if self.radius.is_finite() {
            let slack = self.ball_slack(&self.point.w).max(1e-3 * self.radius * self.radius);
            self.point.ball = Some((slack, mu / slack));
        }
        for bound in &mut self.point.bounds {
            if bound.high.is_finite() {
                bound.z_low = mu / (self.point.w[bound.at] - bound.low);
                bound.z_high = mu / (bound.high - self.point.w[bound.at]);
            }
        }
        Ok(())
    }

    fn ball_slack(&self, w: &[f64]) -> f64 {
        0.5 * (self.radius * self.radius - dot(&w[..self.weights], &w[..self.weights]))
    }

    /// Norm of the residual of the optimality conditions with complementarity `mu`.
    fn residual(&self, point: &Point, values: &Values, mu: f64) -> f64 {
        let n = self.n;
        let mut dual = self.group_sum(&point.q, &values.gradients);
        let pull = self.problem.game.ridge + point.ball.map_or(0.0, |(_, nu)| nu);
        for (d, w) in dual.iter_mut().zip(&point.w).take(self.weights) {
            *d += pull * w;
        }
        let mut square = 0.0;
        for bound in point.bounds.iter().filter(|b| b.high.is_finite()) {
            let w = point.w[bound.at];
            dual[bound.at] += bound.z_high - bound.z_low;
            square += (bound.z_low * (w - bound.low) - mu).powi(2);
            square += (bound.z_high * (bound.high - w) - mu).powi(2);
        }
        square += dot(&dual[..n], &dual[..n]);
        if let Some((slack, nu)) = point.ball {
            square += (slack - self.ball_slack(&point.w)).powi(2) + (slack * nu - mu).powi(2);
        }
        if self.fixed.is_none() {
            square += (1.0 - point.q.iter().sum::<f64>()).powi(2);
            for i in 0..self.m {
                let u = point.u.get(i).copied().unwrap_or(0.0);
                square += (values.payoffs[i] - point.t - u + point.s[i]).powi(2);
                square += (point.q[i] * point.s[i] - mu).powi(2);
                if let Some(v) = point.v.get(i) {
                    square += (self.cap() - point.q[i] - v).powi(2) + (v * u - mu).powi(2);
                }
            }
        }
        square.sqrt()
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

    fn run<R: Risks>(mut self, risks: &mut R, options: &Options) -> Result<Solution> {
        let mut hessian = vec![0.0; self.n * self.n];
        let mut stalled = 0;
        self.record()?;
        while self.best.iterations < options.iterations {
            let gap = self.best.gap();
            if gap <= options.tolerance || stalled >= 4 {
                break;
            }
            self.best.iterations += 1;
            let (factor, spread) = self.factor(risks, &mut hessian);
            let mu = self.point.complementarity();
            let predictor = self.direction(&factor, &spread, 0.0);
            let reach = self.longest(&predictor);
            let ahead = self.moved(&predictor, reach).complementarity();
            let mut target =
                if mu > 0.0 { mu * (ahead / mu).clamp(1e-6, 0.8).powi(3) } else { 0.0 };
            // The slack of the ball must not vanish before w is back inside.
            if let Some((slack, nu)) = self.point.ball {
                target = target.max(0.1 * nu * (slack - self.ball_slack(&self.point.w)));
            }
            let step = self.direction(&factor, &spread, target);
            self.take(risks, &step, target)?;
            self.record()?;
            // At rounding level neither the gap nor the complementarity falls any more.
            let now = self.point.complementarity();
            let falls = now < 0.5 * mu && now > 1e-17 * self.best.upper.abs().min(1.0);
            stalled = if self.best.gap() < 0.99 * gap || falls { 0 } else { stalled + 1 };
        }
        Ok(self.best)
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

    /// Assembles and factors the reduced Newton matrix.
    fn factor<R: Risks>(&self, risks: &mut R, hessian: &mut [f64]) -> (Factor, Spread) {
        let (n, game, point) = (self.n, self.problem.game, &self.point);
        let c: Vec<f64> = point.q.iter().zip(&game.scales).map(|(q, p)| q * p).collect();
        risks.hessian(&c, hessian);
        let pull = game.ridge + point.ball.map_or(0.0, |(_, nu)| nu);
        (0..self.weights).for_each(|j| hessian[j * n + j] += pull);
        for bound in point.bounds.iter().filter(|b| b.high.is_finite()) {
            let (j, w) = (bound.at, point.w[bound.at]);
            hessian[j * n + j] += bound.z_low / (w - bound.low) + bound.z_high / (bound.high - w);
        }
        let mut add = |scale: f64, g: &[f64]| {
            for (j, gj) in g.iter().enumerate() {
                let by = scale * gj;
                if by != 0.0 {
                    let line = &mut hessian[j * n..][..=j];
                    line.iter_mut().zip(g).for_each(|(h, gi)| *h += by * gi);
                }
            }
        };
        if let Some((slack, nu)) = point.ball {
            add(nu / slack, &point.w[..self.weights]);
        }
        let spread = self.spread();
        let mut offset = vec![0.0; n];
        for (h, g) in spread.h.iter().zip(self.values.gradients.chunks_exact(n)) {
            for ((o, g), c) in offset.iter_mut().zip(g).zip(&spread.center) {
                *o = g - c;
            }
            add(*h, &offset);
        }
        (Factor::new(hessian, n), spread)
    }

    /// The Newton direction towards complementarity `mu`.
    fn direction(&self, factor: &Factor, spread: &Spread, mu: f64) -> Step {
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
        if let Some((slack, nu)) = point.ball {
            let by = mu / slack + nu / slack * (slack - self.ball_slack(&point.w));
            for (r, w) in rhs.iter_mut().zip(&point.w).take(self.weights) {
                *r -= by * w;
            }
        }
        for bound in point.bounds.iter().filter(|b| b.high.is_finite()) {
            let w = point.w[bound.at];
            rhs[bound.at] -= mu / (bound.high - w) - mu / (w - bound.low);
        }
        factor.solve(&mut rhs);

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
        if let Some((slack, nu)) = point.ball {
            let change = slack - self.ball_slack(&point.w)
                + dot(&point.w[..self.weights], &step.w[..self.weights]);
            step.ball = (-change, mu / slack - nu + nu / slack * change);
        }
        for bound in &point.bounds {
            let (w, dw) = (point.w[bound.at], step.w[bound.at]);
            step.bounds.push(if bound.high.is_finite() {
                let (low, high) = (w - bound.low, bound.high - w);
                let z_low = mu / low - bound.z_low - bound.z_low / low * dw;
                (z_low, mu / high - bound.z_high + bound.z_high / high * dw)
            } else {
                (0.0, 0.0)
            });
        }
        step
    }

    /// The longest share of a step, at most 1, that keeps slacks and multipliers at 0.5 % of their
    /// value or more.
    fn longest(&self, step: &Step) -> f64 {
        let point = &self.point;
        let mut alpha = 1f64;
        let mut keep = |value: f64, change: f64| {
            if change < 0.0 {
                alpha = alpha.min(-0.995 * value / change);
            }
        };
        if self.fixed.is_none() {
            for (values, changes) in
                [(&point.s, &step.s), (&point.q, &step.q), (&point.u, &step.u), (&point.v, &step.v)]
            {
                values.iter().zip(changes).for_each(|(v, c)| keep(*v, *c));
            }
        }
        if let Some((slack, nu)) = point.ball {
            keep(slack, step.ball.0);
            keep(nu, step.ball.1);
        }
        for (bound, (low, high)) in point.bounds.iter().zip(&step.bounds) {
            if bound.high.is_finite() {
                let (w, dw) = (point.w[bound.at], step.w[bound.at]);
                keep(w - bound.low, dw);
                keep(bound.high - w, -dw);
                keep(bound.z_low, *low);
                keep(bound.z_high, *high);
            }
        }
        alpha
    }

    /// The point after a share of a step.
    fn moved(&self, step: &Step, alpha: f64) -> Point {
        let mut point = self.point.clone();
        let add = |to: &mut [f64], by: &[f64]| {
            to.iter_mut().zip(by).for_each(|(a, b)| *a += alpha * b);
        };
        add(&mut point.w, &step.w);
        point.t += alpha * step.t;
        add(&mut point.u, &step.u);
        add(&mut point.s, &step.s);
        if self.fixed.is_none() {
            add(&mut point.q, &step.q);
        }
        add(&mut point.v, &step.v);
        if let Some((slack, nu)) = &mut point.ball {
            *slack += alpha * step.ball.0;
            *nu += alpha * step.ball.1;
        }
        for (bound, (low, high)) in point.bounds.iter_mut().zip(&step.bounds) {
            bound.z_low += alpha * low;
            bound.z_high += alpha * high;
        }
        point
    }

    /// Moves along a step as far as the residual falls.
    fn take<R: Risks>(&mut self, risks: &mut R, step: &Step, mu: f64) -> Result<()> {
        let before = self.residual(&self.point, &self.values, mu);
        let mut alpha = self.longest(step);
        let mut values = self.values.clone();
        for attempt in 0.. {
            let point = self.moved(step, alpha);
            match self.evaluate(risks, &point.w, &mut values) {
                Ok(()) => {
                    let after = self.residual(&point, &values, mu);
                    if after <= (1.0 - 1e-4 * alpha) * before || attempt >= 20 {
                        (self.point, self.values) = (point, values);
                        return Ok(());
                    }
                }
                // Too long a step may overflow a loss; a short one may not.
                Err(Error::NonFiniteLoss { .. }) if attempt < 20 => {}
                Err(error) => return Err(error),
            }
            alpha *= 0.5;
        }
        Ok(())
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
    use crate::domain::L2Ball;
    use crate::exact::Population;
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
