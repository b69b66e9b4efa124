//! What a solver leaves behind.

use std::fmt::{self, Display, Formatter};

use gdro::average::Average;
use gdro::certificate::Certificate;
use gdro::group_weights::Subsets;
use gdro::pilot::StepsBy;
use gdro::run::Outcome;
use gdro_data::{Setting, Value};
use serde::Serialize;

use crate::options::Front;
use crate::trace::Trace;

/// What minimised the objective.
#[derive(Debug)]
pub enum Solved {
    /// The reference solver, in so many iterations.
    Exact {
        /// Iterations.
        iterations: usize,
        /// The gap at which it stopped and the one that was wanted, where that was missed by far.
        missed: Option<(f64, f64)>,
    },
    /// One of the paper's algorithms.
    Rounds(Play),
}

impl Solved {
    /// How the run ended. One of the reference solver that gave up has no model.
    pub fn ended(&self) -> Ended {
        match self {
            Solved::Exact { .. } => Ended::Finished,
            Solved::Rounds(play) => play.ended(),
        }
    }

    /// Whether rounds were interrupted before the first one had ended, so that there is no model.
    pub(crate) fn has_nothing(&self) -> bool {
        matches!(self, Solved::Rounds(play) if play.has_nothing())
    }
}

/// How a run ended, as its summary says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum Ended {
    /// All that was asked for was done.
    Finished,
    /// Somebody stopped it before.
    Interrupted,
    /// A budget of rows was used up before the last round.
    Exhausted,
    /// The table of a stream ended before the last round.
    FileEnded,
}

impl From<Ended> for &'static str {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Finished => "finished",
            Ended::Interrupted => "interrupted",
            Ended::Exhausted => "budget exhausted",
            Ended::FileEnded => "file ended",
        }
    }
}

impl Display for Ended {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str((*self).into())
    }
}

/// What a solver leaves behind.
#[derive(Debug)]
pub struct Answer {
    /// The model.
    pub w: Vec<f64>,
    /// Averaged weights of the groups.
    pub weights: Vec<f64>,
    /// The certificate with the best lower bound that was found on the way, when there was one.
    pub proof: Option<Certificate>,
    /// Where the player of q stands, for a run that starts from it: [`gdro::run::State::weights`]. None of
    /// the reference solver, and of players that find their own steps in place of the theorem's.
    pub player: Option<Vec<f64>>,
    /// What the solver did.
    pub solved: Solved,
    /// Seconds that it took, without evaluations.
    pub seconds: f64,
    /// The curve.
    pub trace: Trace,
}

/// Rounds that were played.
#[derive(Debug)]
pub struct Play {
    /// Rounds played, of those planned.
    pub rounds: (u64, u64),
    /// Samples drawn from each group.
    pub samples: Vec<u64>,
    /// The budgets n_i, when rows were visited once.
    pub budgets: Option<Vec<u64>>,
    /// Losses clipped for the bandit player.
    pub clipped: u64,
    /// How the run ended.
    pub outcome: Outcome,
    /// Whether it ended because the gap was small enough.
    pub certified: bool,
    /// Multipliers on the steps of w and q.
    pub steps: (f64, f64),
    /// How they came about.
    pub steps_by: StepsBy,
    /// The range of the losses, when it was chosen here.
    pub loss_range: Option<f64>,
    /// The average.
    pub average: Average,
    /// How the groups of a round were drawn, where several are.
    pub subsets: Option<Subsets>,
    /// Whether the reference solver is for a table of this size.
    pub fits_exact: bool,
}

impl Play {
    /// How the rounds ended.
    pub fn ended(&self) -> Ended {
        match self.outcome {
            Outcome::Finished => Ended::Finished,
            Outcome::Stopped => Ended::Interrupted,
            Outcome::Exhausted { .. } => Ended::Exhausted,
        }
    }

    /// Whether they were interrupted before the first one had ended, so that there is no model.
    pub(crate) fn has_nothing(&self) -> bool {
        self.ended() == Ended::Interrupted && self.rounds.0 == 0
    }

    /// What would bring the model nearer to its optimum, for a user of this front end.
    pub fn advice(&self, front: Front) -> String {
        if self.fits_exact {
            let exact = Setting { option: "solver", value: Value::Words(&["exact"]) };
            return format!("{} fits this table and closes the gap", front.setting(&exact));
        }
        let [rounds, w, q] = ["rounds", "step-w", "step-q"].map(|key| front.name(key));
        format!(
            "the table is too large for the exact solver: more {rounds}, or other {w} and {q}, \
             would help"
        )
    }
}
