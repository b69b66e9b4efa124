//! What a solver leaves behind.

use gdro::average::Average;
use gdro::certificate::Certificate;
use gdro::group_weights::Subsets;
use gdro::pilot::StepsBy;
use gdro::run::Outcome;
use gdro_data::{Setting, Value};

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
    /// Whether rounds were interrupted.
    pub fn is_cut(&self) -> bool {
        matches!(self, Solved::Rounds(play) if play.outcome == Outcome::Stopped)
    }

    /// Whether rounds were interrupted before the first one had ended, so that there is no model.
    pub(crate) fn has_nothing(&self) -> bool {
        self.is_cut() && matches!(self, Solved::Rounds(play) if play.rounds.0 == 0)
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
