//! A first-order method for sets of models that are known by their mirror map alone.
//!
//! The game min_w max_{q ∈ Q} Σ q_i r_i(w) + (λ/2)‖w‖² is solved by the proximal point method for q
//! in the entropy, which is the exponential method of multipliers: from weights p the next are the
//! q of
//!
//! ```text
//! min_w F(w) + (λ/2)‖w‖²,   F(w) = max_{q ∈ Q} Σ q_i r_i(w) − τ KL(q, p)
//! ```
//!
//! so that τ need not go to 0, as it must for a smoothed maximum. F is smooth, with gradient Σ q_i
//! ∇r_i at its own q, and is minimised by accelerated mirror descent with the ridge in the prox. (A
//! tilted risk has an entropy of its own, by which another q pays as well: [`Goal::price`]. One that
//! is large does without the proximal term.) At a model w the gap of the game has two parts, both
//! known:
//!
//! ```text
//! max_{q' ∈ Q} Σ q'_i r_i − Σ q_i r_i                     what another p may gain
//! ⟨h, w⟩ + (λ/2)‖w‖² − min_{u ∈ W} (⟨h, u⟩ + (λ/2)‖u‖²)   what another w may gain, h = Σ q_i ∇r_i
//! ```
//!
//! and p moves to q when the second is a tenth of the first.
//!
//! Sources: Auslender and Teboulle, DOI 10.1137/S1052623403427823, and Tseng, DOI
//! 10.1007/s10107-010-0394-2 (acceleration); O'Donoghue and Candès, DOI 10.1007/s10208-013-9150-3
//! (restarts); Tseng and Bertsekas, DOI 10.1007/BF01582416 (exponential multipliers).

use super::Risks;
use super::balance::{Balance, Tangent};
use super::goal::Goal;
use super::keeper::{Descending, Descent, Falls, Found, Keeper, Live, Method, Place};
use super::problem::{Options, Problem, Solution};
use super::surrogate::Surrogate;
use crate::domain::MirrorMap;
use crate::error::Result;
use crate::row::dot;

/// So many evaluations of all gradients count as one iteration of the options.
const EVALUATIONS: usize = 100;

/// After so many evaluations without a smaller gap, what is left of it is rounding.
const FUTILE: usize = 4000;

/// Gaps relatively below this are rounding.
const ROUNDING: f64 = 1e-14;

/// The least smoothness that a step assumes: where F is flat up to rounding it would fall to 0, and the
/// step, its inverse, overflow.
const SMOOTHEST: f64 = 1e-150;

pub(super) struct FirstOrder<'p, M> {
    problem: &'p Problem<'p, M>,
    m: usize,
    n: usize,
    weights: usize,
    fixed: Option<Vec<f64>>,
    /// p.
    prior: Vec<f64>,
    tau: f64,
    /// The smoothness that the last step needed.
    smoothness: f64,
    evaluations: usize,
    best: Solution,
    /// The best answer for the risks that these smooth.
    beneath: Solution,
    balance: Balance<'p, M>,
    /// The problem's own scale ([`Options::relative`]).
    scale: f64,
}

impl<'p, M: MirrorMap> FirstOrder<'p, M> {
    pub(super) fn new(
        problem: &'p Problem<'p, M>,
        m: usize,
        n: usize,
        fixed: Option<Vec<f64>>,
        floor: f64,
    ) -> Self {
        let prior = fixed.clone().unwrap_or_else(|| vec![1.0 / m as f64; m]);
        let best = Solution::start(vec![0.0; n], prior.clone(), floor);
        let weights = problem.features * problem.outputs;
        let (tau, smoothness, evaluations) = (f64::INFINITY, 1.0, 0);
        let beneath = best.clone();
        let balance = Balance::new(problem, fixed.clone(), floor);
        FirstOrder {
            problem,
            m,
            n,
            weights,
            fixed,
            prior,
            tau,
            smoothness,
            evaluations,
            best,
            beneath,
            balance,
            scale: 0.0,
        }
    }

    /// Runs to the tolerance. The second answer is for the risks that these smooth
    /// ([`Risks::surrogate`]); its bounds are infinite when there are none.
    pub(super) fn run<R: Risks>(
        mut self,
        risks: &mut R,
        options: &Options,
        keeper: &mut Keeper<'_>,
    ) -> Result<(Solution, Solution)> {
        let (mut falls, mut descent) = match keeper.live() {
            Some(live) => {
                let (falls, descent) = self.take_over(live)?;
                (falls, Some(descent))
            }
            None => {
                let place = self.start(risks, options)?;
                let falls = Falls { gap: self.best.gap(), since: 0 };
                (falls, self.next(options, falls, place))
            }
        };
        while let Some(present) = descent {
            let gain = present.gain;
            let mut place = self.descend(risks, options, present, (falls, &mut *keeper))?;
            // A prior that gains little is held back by too large a τ.
            if place.gains.0 > 0.3 * gain {
                self.tau = (0.5 * self.tau).max(f64::MIN_POSITIVE);
            }
            // A move of p is work too: without it the end of what rounding allows would not be
            // seen.
            self.evaluations += 1;
            self.prior.copy_from_slice(&place.q);
            self.weigh(risks, &mut place)?;
            if self.best.gap() <= 0.9 * falls.gap {
                falls = Falls { gap: self.best.gap(), since: self.evaluations };
            }
            descent = self.next(options, falls, place);
        }
        self.best.iterations = self.evaluations.div_ceil(EVALUATIONS);
        self.beneath.iterations = self.best.iterations;
        Ok((self.best, self.beneath))
    }

    /// The descent from a place for the present prior, unless it is time to end.
    fn next(&self, options: &Options, falls: Falls, x: Place) -> Option<Descent> {
        if self.done(options) || self.evaluations >= falls.since + FUTILE {
            return None;
        }
        let (z, (gain, mark), since) = (x.w.clone(), x.gains, self.evaluations);
        Some(Descent { x, z, sum: 0.0, mark, gain, since })
    }

    /// Where the solver stands in a descent.
    fn live(&self, falls: Falls, descent: &Descent) -> Live {
        let own = Descending {
            prior: self.prior.clone(),
            tau: self.tau,
            smoothness: self.smoothness,
            evaluations: self.evaluations,
            falls,
            descent: descent.clone(),
        };
        let found = Found {
            best: self.best.clone(),
            beneath: self.beneath.clone(),
            sides: self.balance.sides.clone(),
            missing: self.balance.missing,
            shares: self.balance.shares.clone(),
            scale: self.scale,
        };
        Live { found, method: Method::FirstOrder(Box::new(own)) }
    }

    /// Goes to where another solver of the same problem stood.
    fn take_over(&mut self, live: Live) -> Result<(Falls, Descent)> {
        let (found, own) = live.first_order(self.m, self.n)?;
        (self.prior, self.tau, self.smoothness) = (own.prior, own.tau, own.smoothness);
        self.evaluations = own.evaluations;
        (self.best, self.beneath, self.scale) = (found.best, found.beneath, found.scale);
        self.balance.sides = found.sides;
        (self.balance.missing, self.balance.shares) = (found.missing, found.shares);
        Ok((own.falls, own.descent))
    }

    fn done(&self, options: &Options) -> bool {
        let upper = self.best.upper;
        let wanted = options.wanted(upper, self.scale);
        self.best.gap() <= wanted.max(ROUNDING * upper.abs())
            || self.evaluations >= EVALUATIONS.saturating_mul(options.iterations)
    }

    /// The centre of the domain or a better start, a little inside of the domain; and the first τ.
    fn start<R: Risks>(&mut self, risks: &mut R, options: &Options) -> Result<Place> {
        let mut centre = vec![0.0; self.n];
        self.problem.domain.map.center(&mut centre[..self.weights]);
        let mut place = self.evaluate(risks, centre.clone())?;
        let payoff = |(i, r): (usize, &f64)| r - self.problem.game.payoff(i, 0.0);
        let largest = place.payoffs.iter().enumerate().map(payoff).fold(0.0, f64::max);
        self.scale = largest;
        if let Some(start) = &options.start {
            let upper = self.best.upper;
            let w = start.iter().zip(&centre).map(|(w, c)| w + 1e-6 * (c - w)).collect();
            let other = self.evaluate(risks, w)?;
            if self.best.upper < upper {
                place = other;
            }
        }
        let size = place.payoffs.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        self.tau = place.gains.0.max(1e-3 * size).max(1e-12);
        if let Goal::Tilted { tau, .. } = self.problem.goal
            && tau >= self.tau
        {
            self.tau = 0.0;
        }
        self.weigh(risks, &mut place)?;
        Ok(place)
    }

    fn evaluate<R: Risks>(&mut self, risks: &mut R, w: Vec<f64>) -> Result<Place> {
        let (game, n) = (self.problem.game, self.n);
        let mut place = Place {
            w,
            payoffs: vec![0.0; self.m],
            gradients: vec![0.0; self.m * n],
            q: self.prior.clone(),
            h: vec![0.0; n],
            gains: (0.0, 0.0),
            surrogate: None,
        };
        risks.evaluate(&place.w, &mut place.payoffs, &mut place.gradients)?;
        place.surrogate = Surrogate::of(risks, game);
        self.evaluations += 1;
        for (i, line) in place.gradients.chunks_exact_mut(n).enumerate() {
            place.payoffs[i] = game.payoff(i, place.payoffs[i]);
            line.iter_mut().for_each(|g| *g *= game.scales[i]);
        }
        self.weigh(risks, &mut place)?;
        Ok(place)
    }

    /// The group weights of F, with all that depends on them; improves the best bounds.
    fn weigh<R: Risks>(&mut self, risks: &mut R, place: &mut Place) -> Result<()> {
        let (game, domain, goal) = (self.problem.game, self.problem.domain, &self.problem.goal);
        let Place { w, payoffs, gradients, q, h, gains, surrogate } = place;
        if self.fixed.is_none() {
            *q = goal.step(&self.prior, payoffs, self.tau, game.k)?;
        }
        let attained = |payoffs: &[f64]| match &self.fixed {
            Some(fixed) => dot(fixed, payoffs),
            None => goal.value(payoffs, game.k),
        };
        h.fill(0.0);
        for (q, line) in q.iter().zip(gradients.chunks_exact(self.n)) {
            h.iter_mut().zip(line).for_each(|(h, g)| *h += q * g);
        }
        let ridge = game.ridge / 2.0 * dot(&w[..self.weights], &w[..self.weights]);
        let least = domain.minimum(h, game.ridge, self.problem.features, self.problem.outputs);
        let value = dot(q, payoffs) - goal.price(q);
        *gains = (attained(payoffs) - value, dot(h, w) + ridge - least);
        let outside = if domain.map.contains(&w[..self.weights]) { 0.0 } else { f64::INFINITY };
        let objective = |payoffs: &[f64]| attained(payoffs) + ridge + outside;
        let upper = objective(payoffs);
        let beneath = |lower| surrogate.as_ref().map_or(f64::NEG_INFINITY, |s| s.lower(q, lower));
        let flat = value - dot(h, w);
        let (lower, under) = if domain.is_free() && self.problem.outputs == 1 {
            let (own, slope) = h.split_at(self.weights);
            let value = flat + domain.map.minimum(own, game.ridge);
            let tangent = Tangent { value, beneath: beneath(value), slope: slope.to_vec() };
            self.best.upper_bound(w, upper);
            self.balance.bounds(risks, w, &tangent, [&self.best, &self.beneath])?.0
        } else {
            (flat + least, beneath(flat + least))
        };
        if let Some(surrogate) = surrogate {
            let upper = objective(&surrogate.payoffs(payoffs));
            self.beneath.improve(w, upper, q, under);
        }
        self.best.improve(w, upper, q, lower);
        Ok(())
    }

    /// Minimises F until what is left is small beside the gain of another prior.
    ///
    /// With A the sum of the step lengths a so far and a² L = A + a, one step is
    ///
    /// ```text
    /// y  = (A x + a z)/(A + a)
    /// z' = argmin_u a⟨∇F(y), u⟩ + (aλ/2)‖u‖² + B(u, z)
    /// x' = (A x + a z')/(A + a)
    /// ```
    ///
    /// with L so large that ⟨∇F(x') − ∇F(y), x' − y⟩ ≤ ⟨∇ν(z') − ∇ν(z), z' − z⟩/(A + a): the usual
    /// condition with both divergences in their symmetric form, which needs no values and so holds
    /// in the face of rounding.
    fn descend<R: Risks>(
        &mut self,
        risks: &mut R,
        options: &Options,
        mut descent: Descent,
        (falls, keeper): (Falls, &mut Keeper<'_>),
    ) -> Result<Place> {
        loop {
            let Descent { x, since, .. } = &descent;
            if self.done(options)
                || x.gains.1 <= 0.1 * x.gains.0
                || self.evaluations > since + FUTILE
            {
                break;
            }
            if keeper.is_due() {
                keeper.keep(self.live(falls, &descent));
            }
            let Descent { x, z, sum, mark, .. } = &mut descent;
            let length = self.smoothness;
            let a = (1.0 + (1.0 + 4.0 * length * *sum).sqrt()) / (2.0 * length);
            let total = *sum + a;
            let mix = |z: &[f64]| -> Vec<f64> {
                // a z/a is another number by rounding, which would look like a bend without a move:
                // at an optimum L would be doubled for ever.
                if *sum == 0.0 {
                    return z.to_vec();
                }
                x.w.iter().zip(z).map(|(x, z)| (*sum * x + a * z) / total).collect()
            };
            let y = if *sum == 0.0 { x.clone() } else { self.evaluate(risks, mix(z))? };
            let (next_z, apart) = self.prox(z, &y.h, a);
            let next = self.evaluate(risks, mix(&next_z))?;
            let (mut bent, mut uphill) = (0.0, 0.0);
            for j in 0..self.n {
                bent += (next.h[j] - y.h[j]) * (next.w[j] - y.w[j]);
                uphill += y.h[j] * (next.w[j] - x.w[j]);
            }
            if bent > apart / total {
                self.smoothness *= 2.0;
                continue;
            }
            self.smoothness = (0.9 * self.smoothness).max(SMOOTHEST);
            let ridge = self.problem.game.ridge;
            let square = |w: &[f64]| dot(&w[..self.weights], &w[..self.weights]);
            uphill += ridge / 2.0 * (square(&next.w) - square(&x.w));
            // Away from the minimum: the momentum has gone too far.
            let back = uphill > 0.0 && *sum > 0.0;
            if !back {
                (*x, *z, *sum) = (next, next_z, total);
            }
            // After a fall by e² the old steps, of which x is a mean, weigh it down.
            if back || x.gains.1 < 0.135 * *mark {
                *sum = 0.0;
                z.copy_from_slice(&x.w);
                *mark = x.gains.1;
            }
        }
        Ok(descent.x)
    }

    /// The mirror step from z along −a h, and ⟨∇ν(z') − ∇ν(z), z' − z⟩.
    fn prox(&self, z: &[f64], h: &[f64], a: f64) -> (Vec<f64>, f64) {
        let (map, weights) = (&self.problem.domain.map, self.weights);
        let mut from = z.to_vec();
        map.dual(&mut from[..weights]);
        let mut to: Vec<f64> = from.iter().zip(h).map(|(v, h)| v - a * h).collect();
        map.primal(&mut to[..weights], a * self.problem.game.ridge);
        if let Some(bound) = self.problem.domain.intercept {
            to[weights..].iter_mut().for_each(|b| *b = b.clamp(-bound, bound));
        }
        let mut there = to.clone();
        map.dual(&mut there[..weights]);
        let apart = (0..self.n).map(|j| (there[j] - from[j]) * (to[j] - z[j])).sum();
        (to, apart)
    }
}
