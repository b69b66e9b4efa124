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
//! (without the u_i for k = 1). The multipliers q_i of its groups are the group weights of the
//! saddle point. Fixed q_i, and those of a tilted risk, which are a smooth function of the payoffs,
//! are no multipliers: then the domain's are the only inequalities. There are two phases, and one
//! before them where τ is small (`cool`).
//!
//! - `primal_dual`: Newton steps on the optimality conditions with a falling complementarity μ. Ten
//!   to thirty of them reach rounding level, where the smoothed maximum with a falling temperature
//!   takes several Newton iterations for each temperature.
//! - `centre`: Newton's method on the barrier function for one μ. It converges from wherever the
//!   first phase loses the path, and returns to it.
//!
//! Each iteration of either takes one Hessian of the Lagrangian and one Cholesky factorisation.
//!
//! Sources: Boyd and Vandenberghe, Convex Optimization, § 11.3 and § 11.7; Mehrotra, DOI
//! 10.1137/0802028.

use super::Risks;
use super::balance::{Balance, Tangent};
use super::first_order::FirstOrder;
use super::goal::{Goal, tilted};
use super::keeper::{Found, Interior, Keeper, Live, Method, Phase, Turn, Values};
use super::point::{Ball, Bound, Point};
use super::problem::{Options, Problem, Solution};
use super::surrogate::Surrogate;
use crate::domain::{Constraints, MirrorMap};
use crate::error::{Error, Result};
use crate::group_weights::project_capped_simplex;
use crate::row::dot;

/// Solves the problem to the tolerance, or as far as double precision goes.
///
/// # Errors
/// What [`crate::game::Game::check`] and the risks find wrong; [`Error::Length`] when parts do not
/// fit together.
pub fn solve<R: Risks, M: MirrorMap>(
    risks: &mut R,
    problem: &Problem<'_, M>,
    options: &Options,
) -> Result<Solution> {
    Ok(solve_smoothing(risks, problem, options, None, &mut Keeper::default())?.0)
}

/// As [`solve`], with a second answer for the risks that these smooth ([`Risks::surrogate`]): its
/// bounds are infinite when there are none. `near` says how far the start is from the optimum, at
/// most and about, when that is known.
pub(super) fn solve_smoothing<R: Risks, M: MirrorMap>(
    risks: &mut R,
    problem: &Problem<'_, M>,
    options: &Options,
    near: Option<f64>,
    keeper: &mut Keeper<'_>,
) -> Result<(Solution, Solution)> {
    if let Some(found) = keeper.ended() {
        return Ok(found);
    }
    let found = solve_next(risks, problem, options, near, keeper)?;
    keeper.end(&found);
    Ok(found)
}

fn solve_next<R: Risks, M: MirrorMap>(
    risks: &mut R,
    problem: &Problem<'_, M>,
    options: &Options,
    near: Option<f64>,
    keeper: &mut Keeper<'_>,
) -> Result<(Solution, Solution)> {
    let (m, n) = (risks.groups(), risks.dim());
    problem.check(m)?;
    if let Some(start) = &options.start
        && start.len() != n
    {
        return Err(Error::Length { what: "start", found: start.len(), expected: n });
    }
    let fixed = problem.goal.fixed(problem.game);
    let floor = problem.floor(risks.infimum(), |_| 0.0);
    if !problem.domain.map.constraints().are_smooth() {
        return FirstOrder::new(problem, m, n, fixed, floor).run(risks, options, keeper);
    }
    let mut solver = Solver::new(problem, m, n, fixed, floor);
    if let Some(live) = keeper.live() {
        let (turn, phase) = solver.take_over(risks, live)?;
        return solver.run(risks, options, keeper, Some((turn, phase)));
    }
    match (near, &options.start) {
        (Some(gap), Some(start)) => solver.resume(risks, options, start, gap)?,
        _ => {
            solver.start(risks, options.start.as_deref())?;
            solver.record(risks)?;
            let first = solver.scale;
            solver.cool(risks, options, first, options.start.is_some())?;
        }
    }
    solver.run(risks, options, keeper, None)
}

/// Gaps relatively below this are rounding.
const ROUNDING: f64 = 1e-14;

/// After so many rounds of both phases without a smaller gap, what is left of it is rounding.
const FUTILE: usize = 3;

/// How far from the bounds a start is, as a share of the way to the centre.
const INSIDE: f64 = 0.01;

pub(super) struct Solver<'p, M> {
    pub(super) problem: &'p Problem<'p, M>,
    pub(super) m: usize,
    pub(super) n: usize,
    /// Numbers under ridge and ball; the rest are intercepts.
    pub(super) weights: usize,
    pub(super) radius: f64,
    pub(super) fixed: Option<Vec<f64>>,
    /// τ as it is at present, of a tilted risk ([`Goal::Tilted`]).
    pub(super) tau: Option<f64>,
    pub(super) point: Point,
    pub(super) values: Values,
    pub(super) best: Solution,
    /// The best answer for the risks that these smooth.
    beneath: Solution,
    balance: Balance<'p, M>,
    /// The problem's own scale ([`Options::relative`]).
    pub(super) scale: f64,
}

impl<'p, M: MirrorMap> Solver<'p, M> {
    fn new(
        problem: &'p Problem<'p, M>,
        m: usize,
        n: usize,
        fixed: Option<Vec<f64>>,
        floor: f64,
    ) -> Self {
        let weights = problem.features * problem.outputs;
        let (mut radius, mut bounds) = (f64::INFINITY, Vec::new());
        let bound = |at, low, high| Bound { at, low, high, z_low: 0.0, z_high: 0.0 };
        match problem.domain.map.constraints() {
            Constraints::Free => {}
            Constraints::Ball(b) => radius = b,
            Constraints::Box(low, high) => bounds.extend((0..weights).map(|j| bound(j, low, high))),
            Constraints::Bounds(own) => {
                bounds.extend(own.iter().enumerate().map(|(j, b)| bound(j, b.0, b.1)))
            }
            // Those are not for this solver: `first_order`.
            Constraints::L1(_) | Constraints::Other => {}
        }
        if let Some(b) = problem.domain.intercept {
            bounds.extend((weights..n).map(|j| bound(j, -b, b)));
        }
        let (first, tau) = match &problem.goal {
            Goal::Tilted { prior, tau } if fixed.is_none() => (prior.clone(), Some(*tau)),
            _ => (fixed.clone().unwrap_or_else(|| vec![1.0 / m as f64; m]), None),
        };
        let point = Point {
            w: vec![0.0; n],
            t: 0.0,
            u: Vec::new(),
            s: Vec::new(),
            q: first,
            v: Vec::new(),
            ball: None,
            bounds,
        };
        let values = Values { payoffs: vec![0.0; m], gradients: vec![0.0; m * n], surrogate: None };
        let best = Solution::start(point.w.clone(), point.q.clone(), floor);
        let beneath = best.clone();
        let balance = Balance::new(problem, fixed.clone(), floor);
        let scale = 0.0;
        Solver {
            problem,
            m,
            n,
            weights,
            radius,
            fixed,
            tau,
            point,
            values,
            best,
            beneath,
            balance,
            scale,
        }
    }

    pub(super) fn cap(&self) -> f64 {
        1.0 / self.problem.game.k
    }

    pub(super) fn is_capped(&self) -> bool {
        self.problem.game.k > 1.0
    }

    /// Whether the q_i are multipliers of inequalities.
    pub(super) fn is_game(&self) -> bool {
        self.fixed.is_none() && self.tau.is_none()
    }

    /// The group weights of a tilted risk at the model of a point; others stay as they are.
    pub(super) fn respond(&self, point: &mut Point, values: &Values) {
        if let (Goal::Tilted { prior, .. }, Some(tau)) = (&self.problem.goal, self.tau) {
            point.q = tilted(prior, tau, &values.payoffs);
        }
    }

    pub(super) fn evaluate<R: Risks>(
        &self,
        risks: &mut R,
        w: &[f64],
        values: &mut Values,
    ) -> Result<()> {
        risks.evaluate(w, &mut values.payoffs, &mut values.gradients)?;
        let game = self.problem.game;
        values.surrogate = Surrogate::of(risks, game);
        for i in 0..self.m {
            values.payoffs[i] = game.payoff(i, values.payoffs[i]);
            if game.scales[i] != 1.0 {
                let line = &mut values.gradients[i * self.n..(i + 1) * self.n];
                line.iter_mut().for_each(|g| *g *= game.scales[i]);
            }
        }
        Ok(())
    }

    /// Moves to a model, or to one near it strictly inside of the domain.
    ///
    /// `inside` is the share of the way from the bounds to the centre that is at least kept.
    fn enter<R: Risks>(&mut self, risks: &mut R, w: &[f64], inside: f64) -> Result<()> {
        let mut w = w.to_vec();
        let norm = dot(&w[..self.weights], &w[..self.weights]).sqrt();
        let most = (1.0 - inside) * self.radius;
        if norm > most {
            let scale = most / norm;
            w[..self.weights].iter_mut().for_each(|v| *v *= scale);
        }
        for bound in &self.point.bounds {
            let margin = 0.1 * inside * (bound.high - bound.low);
            w[bound.at] = w[bound.at].clamp(bound.low + margin, bound.high - margin);
        }
        let mut values = self.values.clone();
        self.evaluate(risks, &w, &mut values)?;
        (self.point.w, self.values) = (w, values);
        let mut point = self.point.clone();
        self.respond(&mut point, &self.values);
        self.point = point;
        Ok(())
    }

    /// Moves the risks back to the present point, after steps that were not taken.
    pub(super) fn back<R: Risks>(&mut self, risks: &mut R) -> Result<()> {
        let mut values = self.values.clone();
        self.evaluate(risks, &self.point.w, &mut values)
    }

    /// The objective at the present point.
    fn upper(&self) -> f64 {
        self.objective(&self.values.payoffs)
    }

    /// The objective at the present model for given payoffs.
    fn objective(&self, payoffs: &[f64]) -> f64 {
        let w = &self.point.w[..self.weights];
        let value = match &self.fixed {
            Some(q) => dot(q, payoffs),
            None => self.problem.goal.value(payoffs, self.problem.game.k),
        };
        value + self.problem.game.ridge / 2.0 * dot(w, w)
    }

    /// A point strictly inside all inequalities, at the centre of the domain or at a better start.
    fn start<R: Risks>(&mut self, risks: &mut R, start: Option<&[f64]>) -> Result<()> {
        let mut centre = vec![0.0; self.n];
        self.problem.domain.map.center(&mut centre[..self.weights]);
        self.enter(risks, &centre, INSIDE)?;
        let game = self.problem.game;
        let losses = (0..self.m).map(|i| self.values.payoffs[i] - game.payoff(i, 0.0));
        self.scale = losses.fold(0.0, f64::max);
        if let Some(start) = start {
            let upper = self.upper();
            match self.enter(risks, start, INSIDE) {
                Ok(()) if self.upper() <= upper => {}
                // Far out, where the losses are large, every way is longer than from the centre.
                Ok(()) | Err(Error::NonFiniteLoss { .. }) => self.enter(risks, &centre, INSIDE)?,
                Err(error) => return Err(error),
            }
        }

        let payoffs = &self.values.payoffs;
        let top = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let bottom = payoffs.iter().copied().fold(f64::INFINITY, f64::min);
        let (spread, size) = (top - bottom, top.abs().max(bottom.abs()));
        let mut room = (0.1 * spread).max(0.01 * size).max(1e-6);
        // In a set that may be tight, leave room for about the decrease that the gradient promises.
        let gradient = self.group_sum(&self.point.q, &self.values.gradients);
        let promise = -self.problem.domain.map.minimum(&gradient[..self.weights], 0.0);
        if promise.is_finite() {
            room = room.max(0.3 * promise.min(spread + size));
        }
        let mut mu = room / self.m as f64;
        if self.is_game() {
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

    /// Starts at a model that is about `gap` from the optimum, on the part of the central path that
    /// belongs to such a gap.
    fn resume<R: Risks>(
        &mut self,
        risks: &mut R,
        options: &Options,
        start: &[f64],
        gap: f64,
    ) -> Result<()> {
        self.start(risks, None)?;
        let size = self.upper().abs().max(gap);
        self.enter(risks, start, INSIDE.min(gap / size))?;
        self.record(risks)?;
        let count = self.point.inequalities().max(1) as f64;
        self.cool(risks, options, gap, false)?;
        self.centre(risks, options, gap / count, 0.0, usize::MAX, None).map(drop)
    }

    /// Improves the best bounds by those of the present point.
    pub(super) fn record<R: Risks>(&mut self, risks: &mut R) -> Result<()> {
        let (game, domain) = (self.problem.game, self.problem.domain);
        let (w, payoffs) = (&self.point.w, &self.values.payoffs);
        let mut q = self.point.q.clone();
        if self.is_game() {
            project_capped_simplex(&mut q, game.k)?;
        }
        let inside = domain.map.contains(&w[..self.weights]);
        let attained = |p: &[f64]| if inside { self.objective(p) } else { f64::INFINITY };
        let h = self.group_sum(&q, &self.values.gradients);
        let flat = dot(&q, payoffs) - self.problem.goal.price(&q) - dot(&h, w);
        let surrogate = self.values.surrogate.as_ref();
        let beneath = |lower| surrogate.map_or(f64::NEG_INFINITY, |s| s.lower(&q, lower));
        let uppers =
            [attained(payoffs), surrogate.map_or(f64::INFINITY, |s| attained(&s.payoffs(payoffs)))];
        let mut lowers = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let mut moved = false;
        if domain.is_free() && self.problem.outputs == 1 {
            let (own, slope) = h.split_at(self.weights);
            let value = flat + domain.map.minimum(own, game.ridge);
            let tangent = Tangent { value, beneath: beneath(value), slope: slope.to_vec() };
            self.best.upper_bound(w, uppers[0]);
            let best = [&self.best, &self.beneath];
            (lowers, moved) = self.balance.bounds(risks, w, &tangent, best)?;
        } else {
            let (features, outputs) = (self.problem.features, self.problem.outputs);
            lowers.0 = flat + domain.minimum(&h, game.ridge, features, outputs);
            lowers.1 = beneath(lowers.0);
        }
        self.beneath.improve(w, uppers[1], &q, lowers.1);
        self.best.improve(w, uppers[0], &q, lowers.0);
        if moved { self.back(risks) } else { Ok(()) }
    }

    /// Whether the answer is good enough, or has taken too long.
    pub(super) fn done(&self, options: &Options) -> bool {
        let Solution { upper, iterations, .. } = self.best;
        let wanted = options.wanted(upper, self.scale);
        self.best.gap() <= wanted.max(ROUNDING * upper.abs()) || iterations >= options.iterations
    }

    /// Where the solver stands in a phase of a turn.
    pub(super) fn live(&self, turn: Turn, phase: Phase) -> Live {
        let own = Interior {
            turn,
            phase,
            tau: self.tau,
            point: self.point.clone(),
            values: self.values.clone(),
        };
        let found = Found {
            best: self.best.clone(),
            beneath: self.beneath.clone(),
            sides: self.balance.sides.clone(),
            missing: self.balance.missing,
            shares: self.balance.shares.clone(),
            scale: self.scale,
        };
        Live { found, method: Method::Interior(Box::new(own)) }
    }

    /// Goes to where another solver of the same problem stood.
    fn take_over<R: Risks>(&mut self, risks: &mut R, live: Live) -> Result<(Turn, Phase)> {
        let (found, own) = live.interior(self.m, self.n, &self.point)?;
        let Interior { turn, phase, .. } = own;
        (self.tau, self.point, self.values) = (own.tau, own.point, own.values);
        (self.best, self.beneath, self.scale) = (found.best, found.beneath, found.scale);
        self.balance.sides = found.sides;
        (self.balance.missing, self.balance.shares) = (found.missing, found.shares);
        self.back(risks)?;
        Ok((turn, phase))
    }

    /// Primal–dual steps as long as they are long, a return to the central path when they are not;
    /// perhaps from the midst of a turn.
    fn run<R: Risks>(
        mut self,
        risks: &mut R,
        options: &Options,
        keeper: &mut Keeper<'_>,
        midst: Option<(Turn, Phase)>,
    ) -> Result<(Solution, Solution)> {
        let count = self.point.inequalities().max(1) as f64;
        let (mut turn, mut midst) = match midst {
            Some((turn, phase)) => (turn, Some(phase)),
            None => {
                self.record(risks)?;
                let (first, central) = (self.point.complementarity(), f64::INFINITY);
                (Turn { first, central, futile: 0, before: 0.0 }, None)
            }
        };
        loop {
            let begins = midst.is_none();
            if begins && (self.done(options) || turn.futile >= FUTILE) {
                break;
            }
            if begins {
                turn.before = self.best.gap();
            }
            let midst = midst.take();
            if let Some(Phase::Centre) = midst {
                let kept = Some((&turn, &mut *keeper));
                self.centre_on(risks, options, turn.central, 0.0, usize::MAX, kept)?;
            } else {
                let following = midst.and_then(Phase::following);
                self.follow(risks, options, (&turn, &mut *keeper), following)?;
                // On the path the gap is the sum of the complementarities. Where that was tried before,
                // it is time to go on along the path.
                let mu = self.point.complementarity();
                let mu = (self.best.gap().max(0.0) / count).min(turn.first).max(mu);
                turn.central = if mu > 0.5 * turn.central { 0.2 * turn.central } else { mu };
                let kept = Some((&turn, &mut *keeper));
                self.centre(risks, options, turn.central, 0.0, usize::MAX, kept)?;
            }
            let gap = self.best.gap();
            let falls = gap < 0.9 * turn.before || gap < turn.central;
            turn.futile = if falls { 0 } else { turn.futile + 1 };
        }
        self.beneath.iterations = self.best.iterations;
        Ok((self.best, self.beneath))
    }
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
