//! What is trained: the settings of an estimator, in the words of the job file.

use gdro::Dataset;
use gdro::loss::{AnyLoss, Loss, Targets};
use gdro::setting::{Objective, Setting, SolverName, Terms, intercept_bound, row_shares};
use pyo3::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::refuse;
use crate::rounds::Rounds;

/// The settings of an estimator. Python has checked types; ranges are checked here and in the
/// library.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What is minimised.
    pub objective: Objective,
    /// By whom.
    pub solver: SolverName,
    /// Name of the loss.
    pub loss: String,
    /// Number of classes; 0 for labels and numbers.
    pub classes: usize,
    /// Ridge λ.
    pub l2: f64,
    /// Radius of the ball.
    pub ball: Option<f64>,
    /// Whether there is an intercept.
    pub fit_intercept: bool,
    /// Offsets b_i of the groups.
    pub offsets: Option<Vec<f64>>,
    /// C of the offsets −C/√n_i.
    pub adjustment: Option<f64>,
    /// Scale factors p_i of the groups.
    pub scales: Option<Vec<f64>>,
    /// Largest certified gap that is good enough.
    pub tol: Option<f64>,
    /// Most iterations of the reference solver.
    pub max_iter: usize,
    /// Number of groups of each family.
    pub families: Vec<usize>,
    /// How an algorithm plays.
    pub rounds: Rounds,
}

/// What Python wrote as JSON.
///
/// # Errors
/// `ValueError` with what is wrong in it.
pub fn parse<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|e| refuse(e.to_string()))
}

impl Settings {
    /// The loss.
    ///
    /// # Errors
    /// What is wrong with its name.
    pub fn loss(&self) -> gdro::Result<AnyLoss> {
        let loss: AnyLoss = self.loss.parse().map_err(|e: String| gdro::Error::user(e))?;
        if self.classes > 0 { loss.with_classes(self.classes) } else { Ok(loss) }
    }

    /// The bound on an intercept, if there is one, with room for targets up to this size.
    pub fn intercept(&self, targets: Targets, largest_target: f64) -> Option<f64> {
        self.fit_intercept.then(|| intercept_bound(targets, largest_target))
    }

    /// The game on rows; `targets` says what kind of targets the loss takes.
    ///
    /// # Errors
    /// Those of [`Setting::new`].
    pub fn on<L: Loss + Sync>(
        &self,
        data: Dataset,
        loss: L,
        targets: Targets,
    ) -> gdro::Result<Setting<L>> {
        let shares = match self.objective {
            // Every family has all rows.
            Objective::Average => Some(row_shares(&data, 0..self.families[0])?),
            _ => None,
        };
        let terms = Terms {
            l2: self.l2,
            ball: self.ball,
            intercept: self.intercept(targets, data.max_abs_target()),
            shares,
            adjustment: self.adjustment,
            offsets: self.offsets.clone(),
            scales: self.scales.clone(),
            ..Terms::new(self.objective)
        };
        Setting::new(data, loss, &terms)
    }
}

/// The first setting that nothing uses, or that contradicts another, by its name in job files, and
/// why. `given` are the names of those that were given.
#[pyfunction]
#[pyo3(signature = (objective, solver, given: "Sequence[str]"))]
pub fn conflict(
    objective: &str,
    solver: &str,
    given: Vec<String>,
) -> PyResult<Option<(String, String)>> {
    let objective: Objective = objective.parse().map_err(|e: String| refuse(e))?;
    let solver: SolverName = solver.parse().map_err(|e: String| refuse(e))?;
    let solver = solver.algorithm();
    let given = |name: &str| given.iter().any(|g| g == name);
    if let Some(Err(why)) = solver.map(|s| objective.check_solver(s)) {
        return Ok(Some(("solver".to_owned(), why)));
    }
    let found = objective.idle(solver, given).or_else(|| objective.idle_of_rounds(solver?, given));
    Ok(found.map(|c| (c.setting.to_owned(), c.why)))
}

/// What a loss takes as targets: `labels`, `classes` or `numbers`.
#[pyfunction]
pub fn targets_of(loss: &str) -> PyResult<&'static str> {
    let loss: AnyLoss = loss.parse().map_err(|e: String| refuse(e))?;
    Ok(match loss.targets() {
        Targets::Labels => "labels",
        Targets::Classes => "classes",
        Targets::Numbers => "numbers",
    })
}

/// Whether an algorithm minimises the mean of the k largest risks.
#[pyfunction]
pub fn takes_k(solver: &str) -> PyResult<bool> {
    let solver: SolverName = solver.parse().map_err(|e: String| refuse(e))?;
    Ok(solver.algorithm().is_some_and(|a| a.facts().top_k))
}
