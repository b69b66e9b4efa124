//! A setting and a solver: the exact path, and rounds until they are enough.

mod answer;
mod exact;
mod rounds;
mod solved;
mod watched;

pub use answer::{Answer, Play, Solved};
pub use rounds::{RoundsPlan, budgets, check_queries, config_of};
pub use solved::solved;
pub use watched::{Patience, Watched};

use gdro::setting::SolverName;

use crate::failure::Result;
use crate::job::Job;
use crate::prepared::Setting;
use crate::progress::Progress;

/// What a solver makes of the setting of a job, whose groups have these names; the reference solver
/// starts from a model that may be near.
///
/// # Errors
/// Budgets that are not enough, options out of the range that the rows allow, and errors of the
/// library; [`crate::Failure::Interrupted`] when the exact solver was given up.
pub fn solve(
    setting: &Setting,
    solver: SolverName,
    job: &Job,
    names: &[String],
    start: Option<Vec<f64>>,
    progress: &mut dyn Progress,
) -> Result<Answer> {
    match solver {
        SolverName::Rounds(algorithm) => {
            // Rounds can be cut short; the reference solver has nothing to show before its end.
            let stop = progress.interrupts();
            rounds::solve(setting, job, names, algorithm, progress, &stop)
        }
        SolverName::Exact | SolverName::Auto => exact::solve(setting, job, names, start, progress),
    }
}
