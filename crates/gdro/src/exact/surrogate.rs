//! Bounds for the risks that others smooth.

use super::Risks;
use super::problem::Solution;
use crate::game::Game;
use crate::row::dot;

/// [`Risks::surrogate`] in payoffs, at the point of the last evaluation.
#[derive(Clone, Debug)]
pub(super) struct Surrogate {
    excess: Vec<f64>,
    slack: Vec<f64>,
}

impl Surrogate {
    /// That of these risks; `None` for risks that stand for themselves.
    pub(super) fn of(risks: &impl Risks, game: &Game) -> Option<Self> {
        let m = risks.groups();
        let (mut excess, mut slack) = (vec![0.0; m], vec![0.0; m]);
        if !risks.surrogate(&mut excess, &mut slack) {
            return None;
        }
        for numbers in [&mut excess, &mut slack] {
            numbers.iter_mut().zip(&game.scales).for_each(|(v, p)| *v *= p);
        }
        Some(Surrogate { excess, slack })
    }

    /// Improves the answer for the risks beneath by the model w, where these are its payoffs, and
    /// by the weights q, with which the risks above have this lower bound. `objective` is that of
    /// payoffs at w, infinite outside of the domain.
    pub(super) fn improve(
        &self,
        beneath: &mut Solution,
        w: &[f64],
        payoffs: &[f64],
        (q, lower): (&[f64], f64),
        objective: impl Fn(&[f64]) -> f64,
    ) {
        let payoffs: Vec<f64> = payoffs.iter().zip(&self.excess).map(|(r, e)| r - e).collect();
        let (upper, lower) = (objective(&payoffs), lower - dot(q, &self.slack));
        if upper < beneath.upper {
            beneath.upper = upper;
            beneath.w.copy_from_slice(w);
        }
        if lower > beneath.lower {
            beneath.lower = lower;
            beneath.q.copy_from_slice(q);
        }
    }
}
