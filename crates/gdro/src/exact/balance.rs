//! Lower bounds where intercepts are free.
//!
//! A tangent of the objective at a model, minimised over the weights, is A + ⟨g, b⟩ in the
//! intercepts: without end below where g ≠ 0, and g is 0 at the optimum alone. Two tangents whose
//! slopes point away from one another have a mean without a slope, θg + (1 − θ)g' = 0, and so
//!
//! ```text
//! F(w, b) ≥ θA + (1 − θ)A'   for all models.
//! ```
//!
//! In the dual problem this is a point with Σ α_j u_j = 0, and, as a mean of two, in the domain of
//! the conjugate. What the other tangent costs falls with g.
//!
//! With one intercept the other tangent is the one at the same weights and an intercept on the other
//! side of the optimum. With c of them it is that at a constant model: the softmax with shares ρ of
//! the classes in the place of p, those of the rows, has the slope ρ − p, so that ρ = p − κg lies
//! where it is wanted.

use serde::{Deserialize, Serialize};

use super::Risks;
use super::goal::Goal;
use super::problem::{Problem, Solution};
use super::surrogate::Surrogate;
use super::system::conjugate_gradients;
use crate::domain::MirrorMap;
use crate::error::{Error, Result};
use crate::row::dot;

/// Distances of the other intercept that are tried: 4 to the powers below this.
const FARTHEST: i32 = 20;

/// A slope below this may be rounding, and is not the other slope of anything.
const CERTAIN: f64 = 1e-9;

/// Classes with a smaller share have no rows, and slopes below the second number are none.
const ABSENT: (f64, f64) = (1e-12, 1e-20);

/// A tangent, minimised over the weights.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tangent {
    /// A.
    pub(super) value: f64,
    /// A for the risks that these smooth; −∞ when there are none.
    pub(super) beneath: f64,
    /// g.
    pub(super) slope: Vec<f64>,
}

impl Tangent {
    /// A + ⟨g, b⟩ and share times that of another, whose slopes add up to 0, over 1 + share.
    fn with(&self, other: &Tangent, share: f64) -> (f64, f64) {
        let mean = |own: f64, other: f64| (own + share * other) / (1.0 + share);
        (mean(self.value, other.value), mean(self.beneath, other.beneath))
    }
}

/// The tangents that others are balanced with.
pub(super) struct Balance<'p, M> {
    problem: &'p Problem<'p, M>,
    fixed: Option<Vec<f64>>,
    /// What no model is below.
    floor: f64,
    /// Those of one intercept with a slope below 0, and above.
    pub(super) sides: [Option<Tangent>; 2],
    /// Sides on which there are none.
    pub(super) missing: [bool; 2],
    /// p for several intercepts.
    pub(super) shares: Vec<f64>,
}

/// What is left of two slopes that add up to 0, as a share of the second and in itself.
const ROUNDING: (f64, f64) = (1e-10, 1e-14);

/// Nothing known.
const NOTHING: (f64, f64) = (f64::NEG_INFINITY, f64::NEG_INFINITY);

impl<'p, M: MirrorMap> Balance<'p, M> {
    pub(super) fn new(problem: &'p Problem<'p, M>, fixed: Option<Vec<f64>>, floor: f64) -> Self {
        let (sides, missing, shares) = ([None, None], [false; 2], Vec::new());
        Balance { problem, fixed, floor, sides, missing, shares }
    }

    /// The lower bounds that a tangent with one intercept at the model `w` gives, for these risks and
    /// those beneath, and whether the risks have moved. A tangent that cannot improve the best ones
    /// gives none.
    pub(super) fn bounds<R: Risks>(
        &mut self,
        risks: &mut R,
        w: &[f64],
        tangent: &Tangent,
        best: [&Solution; 2],
    ) -> Result<((f64, f64), bool)> {
        let slope = tangent.slope[0];
        if slope == 0.0 {
            return Ok(((tangent.value, tangent.beneath), false));
        }
        if tangent.value <= best[0].lower && tangent.beneath <= best[1].lower {
            return Ok((NOTHING, false));
        }
        self.one(risks, w, tangent, slope, best[0].upper)
    }

    /// The lower bound of the tangent with weights q at a model with several intercepts, or of one
    /// near by; −∞ when there is none.
    pub(super) fn bound_of_several<R: Risks>(
        &mut self,
        risks: &mut R,
        w: &[f64],
        q: &[f64],
        upper: f64,
    ) -> Result<f64> {
        let tangent = self.at(risks, w, Some(q), upper)?;
        let (bound, _) = self.several(risks, &tangent, upper)?;
        let near = self.near(risks, w, q, upper)?;
        let other = near.map(|near| self.several(risks, &near, upper)).transpose()?;
        Ok(other.map_or(bound, |other| bound.max(other.0)))
    }

    fn one<R: Risks>(
        &mut self,
        risks: &mut R,
        w: &[f64],
        tangent: &Tangent,
        slope: f64,
        upper: f64,
    ) -> Result<((f64, f64), bool)> {
        // The side with slopes below 0 for a slope above 0.
        let side = usize::from(slope < 0.0);
        let wanted = self.sides[side].is_none() && !self.missing[side];
        if wanted {
            for power in 0..FARTHEST {
                let mut there = w.to_vec();
                there[w.len() - 1] -= 4f64.powi(power).copysign(slope);
                match self.at(risks, &there, None, upper) {
                    Ok(other) if other.slope[0] * slope < 0.0 => {
                        self.sides[side] = Some(other);
                        break;
                    }
                    Ok(_) => {}
                    Err(Error::NonFiniteLoss { .. }) => break,
                    Err(error) => return Err(error),
                }
            }
            self.missing[side] = self.sides[side].is_none();
        }
        let bounds = self.sides[side]
            .as_ref()
            .map_or(NOTHING, |other| tangent.with(other, slope.abs() / other.slope[0].abs()));
        // How much a slope of 1 costs with it.
        let cost = |t: &Tangent| (upper - t.value) / t.slope[0].abs();
        let own = &mut self.sides[1 - side];
        if slope.abs() > CERTAIN && own.as_ref().is_none_or(|own| cost(tangent) < cost(own)) {
            *own = Some(tangent.clone());
        }
        Ok((bounds, wanted))
    }

    fn several<R: Risks>(
        &mut self,
        risks: &mut R,
        tangent: &Tangent,
        upper: f64,
    ) -> Result<(f64, f64)> {
        if tangent.slope.iter().all(|g| *g == 0.0) {
            return Ok((tangent.value, tangent.beneath));
        }
        let (problem, c) = (self.problem, tangent.slope.len());
        let weights = problem.features * c;
        let mut there = vec![0.0; weights + c];
        problem.domain.map.center(&mut there[..weights]);
        let mass = dot(&self.weights(), &problem.game.scales);
        if self.shares.is_empty() {
            let even = self.at(risks, &there, None, upper)?;
            self.shares = even.slope.iter().map(|g| 1.0 / c as f64 - g / mass).collect();
        }
        // 1/κ, such that ρ ≥ p/2.
        let mut least = 0f64;
        for (p, g) in self.shares.iter().zip(&tangent.slope) {
            if *p > ABSENT.0 {
                least = least.max(2.0 * g.abs() / (p * mass));
            } else if g.abs() > ABSENT.1 {
                return Ok(NOTHING);
            }
        }
        for ((b, p), g) in there[weights..].iter_mut().zip(&self.shares).zip(&tangent.slope) {
            *b = (p - g / (least * mass)).max(1e-300).ln();
        }
        let other = self.at(risks, &there, None, upper)?;
        let off: f64 =
            tangent.slope.iter().zip(&other.slope).map(|(g, h)| (g + least * h).abs()).sum();
        // More than rounding: no softmax.
        if off > (ROUNDING.0 * least + ROUNDING.1) * mass {
            return Ok(NOTHING);
        }
        Ok(tangent.with(&other, least))
    }

    /// The tangent after a Newton step in the intercepts alone, whose slope is less by far.
    fn near<R: Risks>(
        &self,
        risks: &mut R,
        w: &[f64],
        q: &[f64],
        upper: f64,
    ) -> Result<Option<Tangent>> {
        let tangent = self.at(risks, w, Some(q), upper)?;
        let (game, weights) = (self.problem.game, w.len() - tangent.slope.len());
        let c: Vec<f64> = q.iter().zip(&game.scales).map(|(q, p)| q * p).collect();
        let mut diagonal = vec![0.0; w.len()];
        risks.hessian_diagonal(&c, &mut diagonal);
        let inverse: Vec<f64> = diagonal[weights..].iter().map(|d| 1.0 / d.max(1e-300)).collect();
        let (mut whole, mut image) = (vec![0.0; w.len()], vec![0.0; w.len()]);
        let times = |v: &[f64], out: &mut [f64]| {
            whole[weights..].copy_from_slice(v);
            risks.hessian_times(&whole, &mut image);
            out.copy_from_slice(&image[weights..]);
        };
        let back: Vec<f64> = tangent.slope.iter().map(|g| -g).collect();
        let step = conjugate_gradients(times, &inverse, &back, 1e-8);
        let mut there = w.to_vec();
        there[weights..].iter_mut().zip(&step).for_each(|(b, s)| *b += s);
        match self.at(risks, &there, Some(q), upper) {
            Ok(near) => Ok(Some(near)),
            Err(Error::NonFiniteLoss { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Group weights of a tangent at a constant model.
    fn weights(&self) -> Vec<f64> {
        let m = self.problem.game.groups();
        self.fixed.clone().unwrap_or_else(|| vec![1.0 / m as f64; m])
    }

    /// The tangent at a model, with these group weights or those that suit it. Models that are worse than `upper` do not matter, so that weights
    /// farther out than a ridge allows are not looked at.
    fn at<R: Risks>(
        &self,
        risks: &mut R,
        w: &[f64],
        q: Option<&[f64]>,
        upper: f64,
    ) -> Result<Tangent> {
        let (game, map) = (self.problem.game, &self.problem.domain.map);
        let (m, n, weights) =
            (risks.groups(), w.len(), self.problem.features * self.problem.outputs);
        let (mut payoffs, mut gradients) = (vec![0.0; m], vec![0.0; m * n]);
        risks.evaluate(w, &mut payoffs, &mut gradients)?;
        let surrogate = Surrogate::of(risks, game);
        payoffs.iter_mut().enumerate().for_each(|(i, r)| *r = game.payoff(i, *r));
        let goal = &self.problem.goal;
        let is_open = !matches!(goal, Goal::Fixed(_)) && self.fixed.is_none();
        let q = match q {
            Some(q) => q.to_vec(),
            None if is_open && n == weights + 1 => goal.response(&payoffs, game.k),
            None => self.weights(),
        };
        let mut h = vec![0.0; n];
        for ((q, p), line) in q.iter().zip(&game.scales).zip(gradients.chunks_exact(n)) {
            h.iter_mut().zip(line).for_each(|(h, g)| *h += q * p * g);
        }
        let (own, slope) = h.split_at(weights);
        let mut least = map.minimum(own, game.ridge);
        let norm = dot(own, own).sqrt();
        let room = upper - self.floor;
        if game.ridge > 0.0 && room.is_finite() && norm > 0.0 {
            least = least.max(-norm * (2.0 * room.max(0.0) / game.ridge).sqrt());
        }
        let value = dot(&q, &payoffs) - goal.price(&q) - dot(&h, w) + least;
        let beneath = surrogate.map_or(f64::NEG_INFINITY, |s| s.lower(&q, value));
        Ok(Tangent { value, beneath, slope: slope.to_vec() })
    }
}
