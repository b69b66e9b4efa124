//! The algorithms of the paper, by name.
//!
//! A named algorithm is a [`Recipe`]: an estimator, a rule, the step sizes of its theorem. The
//! rest of a round — drawing, mirror steps, averaging, counting — is the same for all and lives in
//! [`crate::run`].

mod atkro_1;
mod atkro_k;
mod atkro_m;
mod constants;
mod online_1;
mod smd_1;
mod smd_m;
mod smd_r;
mod smpa_m;

pub use atkro_1::atkro_1;
pub use atkro_k::atkro_k;
pub use atkro_m::{atkro_m, atkro_m_anytime};
pub use constants::{Constants, SampleBounds};
pub use online_1::{online_1, online_1_anytime};
pub use smd_1::smd_1;
pub use smd_m::{smd_m, smd_m_anytime};
pub use smd_r::smd_r;
pub use smpa_m::smpa_m;

use serde::{Deserialize, Serialize};

use crate::average::Average;
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
}

impl<E> Recipe<E> {
    /// The recipe with a multiplier on the step of each player.
    pub fn scaled(mut self, w: f64, q: f64) -> Self {
        self.schedule = self.schedule.scaled(w, q);
        self
    }

    /// The recipe with another average.
    pub fn averaged(mut self, average: Average) -> Self {
        self.average = average;
        self
    }

    fn fixed(estimator: E, schedule: Schedule, rounds: u64, constants: &Constants) -> Self {
        Recipe {
            estimator,
            rule: Rule::Descent,
            schedule,
            rounds: Some(rounds),
            average: Average::Uniform,
            payoffs: constants.payoffs,
        }
    }

    fn anytime(estimator: E, schedule: Schedule, constants: &Constants) -> Self {
        Recipe {
            estimator,
            rule: Rule::Descent,
            schedule,
            rounds: None,
            average: Average::Weighted,
            payoffs: constants.payoffs,
        }
    }
}

/// The names of the algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Algorithm 1, SMD(m).
    SmdM,
    /// Algorithm 1 of Sagawa et al., SMD(1).
    #[serde(rename = "smd-1")]
    Smd1,
    /// Algorithm 2, Online(1).
    #[serde(rename = "online-1")]
    Online1,
    /// Algorithm 3, SMD_r.
    SmdR,
    /// Algorithm 4, SMPA_m.
    SmpaM,
    /// Algorithm 5, AT_kRO(m).
    AtkroM,
    /// Algorithm 6, AT_kRO(k).
    AtkroK,
    /// Algorithm 7, AT_kRO(1), anytime.
    #[serde(rename = "atkro-1")]
    Atkro1,
}

impl Algorithm {
    /// All of them, in the order of the paper.
    pub const ALL: [Algorithm; 8] = [
        Algorithm::SmdM,
        Algorithm::Smd1,
        Algorithm::Online1,
        Algorithm::SmdR,
        Algorithm::SmpaM,
        Algorithm::AtkroM,
        Algorithm::AtkroK,
        Algorithm::Atkro1,
    ];

    /// The name used in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::SmdM => "smd-m",
            Algorithm::Smd1 => "smd-1",
            Algorithm::Online1 => "online-1",
            Algorithm::SmdR => "smd-r",
            Algorithm::SmpaM => "smpa-m",
            Algorithm::AtkroM => "atkro-m",
            Algorithm::AtkroK => "atkro-k",
            Algorithm::Atkro1 => "atkro-1",
        }
    }

    /// Whether it plays on the capped simplex.
    pub fn plays_top_k(self) -> bool {
        matches!(self, Algorithm::AtkroM | Algorithm::AtkroK | Algorithm::Atkro1)
    }

    /// Whether it has a form with steps that fall with time (Algorithm 7 has no other).
    pub fn has_anytime_form(self) -> bool {
        matches!(self, Algorithm::SmdM | Algorithm::Online1 | Algorithm::AtkroM | Algorithm::Atkro1)
    }

    /// Whether its scale factors and its number of rounds come from the groups' budgets n_i.
    pub fn uses_budgets(self) -> bool {
        matches!(self, Algorithm::SmdR | Algorithm::SmpaM)
    }
}

impl std::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Algorithm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Algorithm::ALL.iter().find(|a| a.name() == name);
        known.copied().ok_or_else(|| {
            let names: Vec<_> = Algorithm::ALL.iter().map(|a| a.name()).collect();
            format!("unknown solver `{name}`: expected one of {}", names.join(", "))
        })
    }
}
