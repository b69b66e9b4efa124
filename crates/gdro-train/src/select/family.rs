//! The family of models that is chosen from.

use gdro::setting::{Objective, SolverName};

use crate::job::Search;

/// What the members of a family minimise: ERM first, then what presses more and more on the worst
/// groups.
#[derive(Clone, Debug)]
pub struct Family {
    /// One of each member.
    pub objectives: Vec<Objective>,
    /// What a user should know.
    pub notes: Vec<String>,
}

/// Beside ERM, unless something else is asked for.
const USUAL: [Objective; 2] = [Objective::Balanced, Objective::Max];

impl Family {
    /// The family of a search, for a job whose solver is settled.
    pub fn of(search: &Search, solver: SolverName) -> Self {
        let mut notes = Vec::new();
        let others = match &search.objectives {
            Some(given) => given.clone(),
            None => {
                let plays = |objective: &Objective| {
                    let solver = solver.algorithm().filter(|_| !objective.fixes_weights());
                    solver.is_none_or(|solver| objective.check_solver(solver).is_ok())
                };
                let (played, left): (Vec<_>, Vec<_>) = USUAL.into_iter().partition(plays);
                if let Some(first) = left.first() {
                    notes.push(format!(
                        "{solver} does not minimise objectives such as {first}: they are left out"
                    ));
                }
                played
            }
        };
        let others = others.into_iter().filter(|objective| *objective != Objective::Average);
        let objectives = std::iter::once(Objective::Average).chain(others).collect();
        Family { objectives, notes }
    }
}
