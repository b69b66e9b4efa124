//! A setting and a solver: the exact path, and rounds until they are enough.

mod answer;
mod exact;
mod incremental;
mod rounds;
mod solved;
mod watched;

pub use answer::{Answer, Ended, Play, Solved};
pub use incremental::{Incremental, Learnt};
pub use rounds::{RoundsPlan, budgets, check_queries, config_of};
pub use solved::solved;
pub use watched::{Patience, Watched};

use gdro::run::Start;
use gdro::setting::SolverName;

use crate::failure::Result;
use crate::job::Job;
use crate::prepared::Setting;
use crate::progress::Progress;

/// What a solver makes of the setting of a job, whose groups have these names, from where it starts if
/// that is not nothing: a model that may be near, of which the player of q is for rounds alone.
///
/// # Errors
/// Budgets that are not enough, options out of the range that the rows allow, and errors of the
/// library; [`crate::Failure::Interrupted`] when the exact solver was given up.
pub fn solve(
    setting: &Setting,
    solver: SolverName,
    job: &Job,
    names: &[String],
    start: Option<Start>,
    progress: &mut dyn Progress,
) -> Result<Answer> {
    match solver {
        SolverName::Rounds(algorithm) => {
            // Rounds can be cut short; the reference solver has nothing to show before its end.
            let stop = progress.interrupts();
            rounds::solve(setting, job, names, algorithm, start, progress, &stop)
        }
        SolverName::Exact | SolverName::Auto => {
            let start = start.map(|start| start.model);
            exact::solve(setting, job, names, start, progress)
        }
    }
}
