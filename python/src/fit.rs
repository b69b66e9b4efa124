//! Training.

use std::num::NonZeroUsize;

use gdro::certificate::Certificate;
use gdro::loss::AnyLoss;
use gdro::pilot::StepsBy;
use gdro::run::{Outcome, Start};
use gdro_train::checkpoint::{Work, of_start};
use gdro_train::fit::{OnRows, fit_rows};
use gdro_train::job::{Fitting, Job};
use gdro_train::options::Front;
use gdro_train::prepared::TrainRows;
use gdro_train::solve::Solved;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arguments::job_of;
use crate::error::refuse;
use crate::input::{Rows, RowsView};
use crate::run::{Kept, run};

/// Where training starts: a model, and the player of q of an earlier run on the same groups.
pub type Given<'py> = (PyReadonlyArray1<'py, f64>, Option<PyReadonlyArray1<'py, f64>>);

/// Where training starts, without the interpreter.
pub fn start_of(start: &Given<'_>) -> Start {
    let weights = start.1.as_ref().map(|weights| weights.as_array().to_vec());
    Start { model: start.0.as_array().to_vec(), weights }
}

/// Trains a model on rows whose groups have these names; `classes` is their number for a loss that
/// takes classes, and 0 for others; `clusters` has the cluster of each row. Lines about the progress
/// go to `listener`. A checkpoint is kept in a file, with so many seconds between them, and gone on
/// from where it is there. Training starts from a model, and from where the player of q stood on the same
/// groups, where they are given.
#[pyfunction]
#[pyo3(signature = (
    rows: "Rows", names: "Sequence[str]", arguments: "Arguments", classes: "int",
    clusters: "NDArray[np.uint32] | None" = None, threads: "int | None" = None,
    listener: "Listener | None" = None, checkpoint: "tuple[str, float | None] | None" = None,
    start: "Start | None" = None
) -> "dict[str, Any]")]
#[allow(clippy::too_many_arguments)]
pub fn fit<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    names: Vec<String>,
    arguments: &Bound<'py, PyDict>,
    classes: usize,
    clusters: Option<PyReadonlyArray1<'py, u32>>,
    threads: Option<NonZeroUsize>,
    listener: Option<Bound<'py, PyAny>>,
    checkpoint: Kept,
    start: Option<Given<'py>>,
) -> PyResult<Bound<'py, PyDict>> {
    let job = job_of(arguments)?;
    let rows = rows.view();
    let clusters = clusters.map(|codes| codes.as_array().to_vec());
    let start = start.as_ref().map(start_of);
    let fitted = run(py, threads, listener.as_ref(), |control| {
        let (rows, loss) = prepared(&job, rows, names, clusters, classes)?;
        control.say(|| {
            let (n, m, d) = (rows.data.rows(), rows.data.groups(), rows.data.features());
            format!("{n} rows, {m} groups, {d} features")
        });
        let from = start.as_ref().map(of_start);
        control.keep(checkpoint, (&job, from), Work::Fit(Fitting::Named), rows, |rows, control| {
            fit_rows(&job, rows, loss, start, control)
        })
    })?;
    dict_of(py, fitted)
}

/// Remarks on a family of groups that are too many to be meant, with the number of rows of each.
#[pyfunction]
#[pyo3(signature = (
    columns: "Sequence[str]", names: "Sequence[str]", rows: "Sequence[int]"
) -> "list[str]")]
pub fn group_remarks(columns: Vec<String>, names: Vec<String>, rows: Vec<u64>) -> Vec<String> {
    let groups: Vec<(&str, u64)> = names.iter().map(String::as_str).zip(rows).collect();
    gdro_data::group_remarks(&columns, &groups, |_, cuts| {
        let cuts: Vec<String> = cuts.iter().map(f64::to_string).collect();
        format!("pandas.cut(column, [-inf, {}, inf])", cuts.join(", "))
    })
}

/// The rows of a job in groups of these names, with the cluster of each, and its loss, for so many
/// classes if it takes classes.
///
/// # Errors
/// Those of [`loss_of`] and [`RowsView::train_rows`].
pub fn prepared(
    job: &Job,
    rows: RowsView<'_>,
    names: Vec<String>,
    clusters: Option<Vec<u32>>,
    classes: usize,
) -> gdro_train::Result<(TrainRows, AnyLoss)> {
    let library = |e| gdro_train::Failure::library(e, &[]);
    let loss = loss_of(job, classes).map_err(library)?;
    let rows = rows.train_rows(names).map_err(library)?;
    Ok((TrainRows { clusters, ..rows }, loss))
}

/// The loss of a job, for so many classes if it takes classes.
///
/// # Errors
/// For a loss that does not take so many.
pub fn loss_of(job: &Job, classes: usize) -> gdro::Result<AnyLoss> {
    let usual = || AnyLoss::usual(gdro::loss::Targets::Labels);
    let loss = job.training.loss.map_or_else(usual, |name| name.0);
    if classes > 0 { loss.with_classes(classes) } else { Ok(loss) }
}

/// A certificate as the numbers and words of a `Certificate` in Python.
pub type Proof = (f64, f64, f64, f64, String, bool);

/// The fields of a certificate, in the order of Python's class.
pub fn proof_of(c: Certificate) -> Proof {
    (c.upper, c.lower, c.gap, c.relative_gap, c.method, c.any_intercept)
}

/// What was trained, as a dictionary of arrays.
///
/// # Errors
/// Those of the interpreter.
pub fn dict_of(py: Python<'_>, fitted: OnRows) -> PyResult<Bound<'_, PyDict>> {
    let OnRows { trained, risks, constant, offsets, settings, remarks } = fitted;
    let answer = trained.answer;
    let (iterations, steps, exhausted, advice) = match &answer.solved {
        Solved::Exact { iterations, .. } => (*iterations as u64, None, None, None),
        Solved::Rounds(play) => {
            let exhausted = match play.outcome {
                Outcome::Exhausted { group, .. } => Some(group),
                Outcome::Finished | Outcome::Stopped => None,
            };
            let steps = (play.steps_by != StepsBy::Players).then_some(play.steps);
            (play.rounds.0, steps, exhausted, Some(play.advice(Front::Python)))
        }
    };
    let dict = PyDict::new(py);
    dict.set_item("solver", trained.solver.to_string())?;
    dict.set_item("w", PyArray1::from_vec(py, answer.w))?;
    dict.set_item("q", PyArray1::from_vec(py, answer.weights))?;
    dict.set_item("risks", PyArray1::from_vec(py, risks))?;
    dict.set_item("offsets", PyArray1::from_vec(py, offsets))?;
    dict.set_item("certificate", proof_of(trained.certificate))?;
    let warning = constant.warning(Front::Python);
    dict.set_item("constant", (constant.objective, warning))?;
    dict.set_item("iterations", iterations)?;
    dict.set_item("cap", settings.cap)?;
    dict.set_item("cluster_cap", settings.cluster_cap)?;
    dict.set_item("remarks", remarks)?;
    dict.set_item("steps", steps)?;
    dict.set_item("exhausted", exhausted)?;
    dict.set_item("player", answer.player.map(|player| PyArray1::from_vec(py, player)))?;
    dict.set_item("advice", advice)?;
    let trace = PyList::empty(py);
    for point in answer.trace.points() {
        let risks = PyArray1::from_slice(py, point.risks.as_deref().unwrap_or_default());
        let weights = PyArray1::from_slice(py, point.weights.as_deref().unwrap_or_default());
        let (seconds, objective) = (point.seconds, point.objective);
        trace.append((point.round, point.samples, seconds, risks, weights, objective))?;
    }
    dict.set_item("trace", trace)?;
    let job = serde_json::to_string(&trained.job).map_err(|e| refuse(e.to_string()))?;
    dict.set_item("job", job)?;
    Ok(dict)
}
