//! What makes an algorithm.

use serde::{Deserialize, Serialize};

use crate::average::Average;
use crate::constants::Constants;
use crate::schedule::Schedule;

/// How the players use an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Mirror descent: one estimate and one step per round.
    Descent,
    /// Mirror-prox: an estimate at the anchor gives the lead, an estimate at the lead moves the
    /// anchor (labels `eqn:upate:wt:mirror` to `eqn:upate:qt:mirror:2`).
    MirrorProx,
}

/// What makes an algorithm.
#[derive(Clone, Debug)]
pub struct Recipe<E> {
    /// What is drawn in a round.
    pub estimator: E,
    /// How the estimate is used.
    pub rule: Rule,
    /// Step sizes.
    pub schedule: Schedule,
    /// Number of rounds T that the steps are meant for; `None` for anytime forms.
    pub rounds: Option<u64>,
    /// The average that the guarantee speaks of.
    pub average: Average,
    /// The interval [L₀, U] in which payoffs lie, for the bandit players.
    pub payoffs: (f64, f64),
    /// The first step η_1 of the groups' own models, which then fall like η_1/√t; `None` when the
    /// estimator uses no such models.
    pub own_step: Option<f64>,
}

impl<E> Recipe<E> {
    /// The recipe with a multiplier on the step of each player; the groups' own models follow w.
    pub fn scaled(mut self, w: f64, q: f64) -> Self {
        self.schedule = self.schedule.scaled(w, q);
        self.own_step = self.own_step.map(|eta| eta * w);
        self
    }

    /// The recipe with another average.
    pub fn averaged(mut self, average: Average) -> Self {
        self.average = average;
        self
    }

    /// The recipe of steps for so many rounds.
    pub(super) fn fixed(
        estimator: E,
        schedule: Schedule,
        rounds: u64,
        constants: &Constants,
    ) -> Self {
        Recipe {
            estimator,
            rule: Rule::Descent,
            schedule,
            rounds: Some(rounds),
            average: Average::Uniform,
            payoffs: constants.payoffs,
            own_step: None,
        }
    }

    /// The recipe of steps that fall with time.
    pub(super) fn anytime(estimator: E, schedule: Schedule, constants: &Constants) -> Self {
        Recipe {
            estimator,
            rule: Rule::Descent,
            schedule,
            rounds: None,
            average: Average::Weighted,
            payoffs: constants.payoffs,
            own_step: None,
        }
    }
}
