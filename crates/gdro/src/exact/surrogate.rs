//! Bounds for the risks that others smooth.

use serde::{Deserialize, Serialize};

use super::Risks;
use crate::game::Game;
use crate::row::dot;

/// [`Risks::surrogate`] in payoffs, at the point of the last evaluation.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

    /// Whether it is of so many groups.
    pub(super) fn is_of(&self, m: usize) -> bool {
        [self.excess.len(), self.slack.len()] == [m; 2]
    }

    /// The payoffs of the risks beneath, from those of the risks above.
    pub(super) fn payoffs(&self, above: &[f64]) -> Vec<f64> {
        above.iter().zip(&self.excess).map(|(r, e)| r - e).collect()
    }

    /// The lower bound for the risks beneath with the weights q, from that for the risks above.
    pub(super) fn lower(&self, q: &[f64], above: f64) -> f64 {
        above - dot(q, &self.slack)
    }
}
