//! Training.

use std::num::NonZeroUsize;
use std::time::Instant;

use gdro::certificate::Certificate;
use gdro::exact::{self, Options};
use gdro::loss::Loss;
use gdro::pilot::usual_range;
use gdro::risk::group_risks;
use gdro::setting::{Setting, Size, SolverName};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::input::Rows;
use crate::rounds::play;
use crate::run::{Control, run};
use crate::setting::{Settings, parse};

/// Accuracy of losses with kinks, relative to the objective at 0: each digit costs as much as the
/// one before.
const KINKED: f64 = 1e-8;

/// A point of the curve.
pub struct Point {
    /// Iterations or rounds.
    pub round: u64,
    /// Samples drawn.
    pub samples: u64,
    /// Seconds since the start, evaluations left out.
    pub seconds: f64,
    /// Group risks of the model.
    pub risks: Vec<f64>,
    /// Group weights.
    pub weights: Vec<f64>,
    /// What the risks come to, without the ridge.
    pub objective: f64,
}

/// What training gives.
pub struct Fitted {
    /// Who trained it.
    pub solver: SolverName,
    /// The model.
    pub w: Vec<f64>,
    /// The group weights.
    pub q: Vec<f64>,
    /// The group risks.
    pub risks: Vec<f64>,
    /// The offsets b_i.
    pub offsets: Vec<f64>,
    /// How far the model is from the optimum.
    pub certificate: Certificate,
    /// Iterations or rounds.
    pub iterations: u64,
    /// M: losses count as min(ℓ, M) in intervals.
    pub cap: f64,
    /// Multipliers on the steps of the theorems, for rounds.
    pub steps: Option<(f64, f64)>,
    /// The group whose budget ended the run, if one did.
    pub exhausted: Option<usize>,
    /// The curve.
    pub trace: Vec<Point>,
}

/// Trains a model. `settings` is a JSON object, see `setting.rs`. Lines about the progress go to
/// `listener`.
#[pyfunction]
#[pyo3(signature = (
    rows: "Rows", settings, threads: "int | None" = None, listener: "Listener | None" = None
) -> "dict[str, Any]")]
pub fn fit<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    settings: &str,
    threads: Option<NonZeroUsize>,
    listener: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings: Settings = parse(settings)?;
    let rows = rows.view();
    let fitted = run(py, threads, listener.as_ref(), |control| {
        let loss = settings.loss()?;
        let data = rows.dataset()?;
        control.say(|| {
            let (rows, m) = (data.rows(), data.groups());
            format!("{rows} rows, {m} groups, {} features", data.features())
        });
        let numbers = data.features() + usize::from(settings.fit_intercept);
        let solver = match settings.solver {
            SolverName::Auto => {
                let size = Size::of(&data, &loss, numbers * loss.outputs());
                let (solver, why) = size.solver(settings.objective);
                control.say(|| format!("solver {solver}: {why}"));
                solver
            }
            chosen => chosen,
        };
        match solver {
            SolverName::Rounds(algorithm) => {
                let setting = settings.on(data, loss, loss.targets())?;
                play(&setting, algorithm, &settings.rounds, settings.tol, control)
            }
            SolverName::Exact | SolverName::Auto => {
                let setting = settings.on(data, control.watched(loss), loss.targets())?;
                exactly(&setting, &settings, control)
            }
        }
    })?;
    fitted.dict(py)
}

/// The reference solver.
fn exactly<L: Loss + Sync>(
    setting: &Setting<L>,
    settings: &Settings,
    control: &Control<'_>,
) -> gdro::Result<Fitted> {
    let zero = vec![0.0; setting.model_len()];
    let at_zero = group_risks(&setting.loss, &zero, &setting.data)?;
    let m = at_zero.len();
    let began = Instant::now();
    let objective = setting.objective(&at_zero);
    let scale = objective.abs().max(1.0);
    let usual = if setting.loss.has_kinks() { KINKED * scale } else { 0.0 };
    let mut trace = vec![Point {
        round: 0,
        samples: 0,
        seconds: 0.0,
        risks: at_zero,
        weights: vec![1.0 / m as f64; m],
        objective,
    }];
    let options = Options {
        tolerance: settings.tol.unwrap_or(usual),
        iterations: settings.max_iter,
        start: None,
    };
    let solution = exact::minimize(&setting.data, &setting.loss, &setting.problem(), &options)?;
    let seconds = began.elapsed().as_secs_f64();
    let certificate = setting.certify(&solution.w, &solution.q)?;
    let (iterations, gap) = (solution.iterations, certificate.gap);
    control.say(|| format!("{iterations} iterations in {seconds:.2} s, gap {gap:.1e}"));
    let risks = group_risks(&setting.loss, &solution.w, &setting.data)?;
    trace.push(Point {
        round: solution.iterations as u64,
        samples: 0,
        seconds,
        risks: risks.clone(),
        weights: solution.q.clone(),
        objective: setting.objective(&risks),
    });
    Ok(Fitted {
        solver: SolverName::Exact,
        cap: usual_range(&setting.loss, &setting.data, &solution.w)?,
        steps: None,
        exhausted: None,
        w: solution.w,
        q: solution.q,
        risks,
        offsets: setting.game.offsets.clone(),
        certificate,
        iterations: solution.iterations as u64,
        trace,
    })
}

impl Fitted {
    /// As a dictionary of arrays.
    fn dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("solver", self.solver.to_string())?;
        dict.set_item("w", PyArray1::from_vec(py, self.w))?;
        dict.set_item("q", PyArray1::from_vec(py, self.q))?;
        dict.set_item("risks", PyArray1::from_vec(py, self.risks))?;
        dict.set_item("offsets", PyArray1::from_vec(py, self.offsets))?;
        let c = self.certificate;
        dict.set_item("certificate", (c.upper, c.lower, c.gap, c.relative_gap, c.method))?;
        dict.set_item("iterations", self.iterations)?;
        dict.set_item("cap", self.cap)?;
        dict.set_item("steps", self.steps)?;
        dict.set_item("exhausted", self.exhausted)?;
        let trace = PyList::empty(py);
        for point in self.trace {
            let risks = PyArray1::from_vec(py, point.risks);
            let weights = PyArray1::from_vec(py, point.weights);
            let (seconds, objective) = (point.seconds, point.objective);
            trace.append((point.round, point.samples, seconds, risks, weights, objective))?;
        }
        dict.set_item("trace", trace)?;
        Ok(dict)
    }
}
