//! The family of models that is chosen from.

use gdro::loss::AnyLoss;
use gdro::risk::group_risks;
use gdro::setting::{Baseline, Objective, Prior, SolverName, Tilt};

use crate::job::Search;
use crate::prepared::{Bounds, Setting, within};

/// What the members of a family minimise: ERM first, then what presses more and more on the worst
/// groups.
#[derive(Clone, Debug)]
pub struct Family {
    /// One of each member.
    pub objectives: Vec<Objective>,
    /// What a user should know.
    pub notes: Vec<String>,
}

/// τ of the usual family, from ERM (∞) to the largest risk (0), in units of the loss of a table
/// ([`unit`]).
const TILTS: [f64; 6] = [3.0, 1.0, 0.3, 0.1, 0.03, 0.01];

/// Number of members of the usual family: ERM, balanced, those of the τ with either prior, max.
pub const USUAL: usize = 3 + 2 * TILTS.len();

impl Family {
    /// The family of a search with a solver; `unit` is that of [`unit`] for the table.
    ///
    /// # Errors
    /// Those of `unit`.
    pub fn of(
        search: &Search,
        solver: SolverName,
        unit: impl FnOnce() -> gdro::Result<f64>,
    ) -> gdro::Result<Self> {
        let mut notes = Vec::new();
        let others = match (&search.objectives, solver) {
            (Some(given), _) => given.clone(),
            (None, SolverName::Rounds(_)) => {
                notes.push(format!(
                    "{solver} does not minimise what lies between ERM and max: the family is ERM, \
                     balanced and max"
                ));
                vec![Objective::Balanced, Objective::Max]
            }
            (None, _) => usual(unit()?),
        };
        let others = others.into_iter().filter(|objective| *objective != Objective::Average);
        let objectives = std::iter::once(Objective::Average).chain(others).collect();
        Ok(Family { objectives, notes })
    }
}

/// The usual family besides ERM.
fn usual(unit: f64) -> Vec<Objective> {
    let tilted = |tilt: f64| {
        // Two digits, so that objectives can be read.
        let tau = format!("{:.1e}", tilt * unit).parse::<f64>().ok();
        let tau = tau.filter(|tau| *tau > 0.0 && tau.is_finite());
        let of = move |prior| tau.map(|tau| Objective::Tilted(Tilt { tau, prior }));
        [Prior::Rows, Prior::Groups].into_iter().filter_map(of)
    };
    let tilted = TILTS.into_iter().flat_map(tilted);
    [Objective::Balanced].into_iter().chain(tilted).chain([Objective::Max]).collect()
}

/// The unit of τ: the mean loss of ERM within bounds, for squared loss the variance of the targets,
/// which is that of the best constant.
///
/// # Errors
/// Those of [`Setting::ordinary`].
pub fn unit(setting: &Setting, bounds: Bounds) -> gdro::Result<f64> {
    let data = setting.data.pooled()?;
    if let AnyLoss::Squared(_) = setting.loss {
        let mean = |value: &dyn Fn(f64) -> f64| {
            let terms = (0..data.rows()).map(|row| data.weight(row) * value(data.targets()[row]));
            terms.sum::<f64>() / data.total_weight(0)
        };
        let centre = mean(&|y| y);
        return Ok(mean(&|y| (y - centre).powi(2)));
    }
    let w = within(setting, bounds)?.ordinary(Baseline::Erm, None)?;
    Ok(group_risks(&setting.loss, &w, &data)?[0])
}
