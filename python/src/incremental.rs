//! Training on rows that come in portions.

use std::num::NonZeroUsize;

use gdro_train::solve::{Incremental as Run, Learnt};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::job_of;
use crate::error::refuse;
use crate::fit::{Given, prepared, start_of};
use crate::input::Rows;
use crate::run::run;

/// A run in rounds between two portions of its rows.
#[pyclass(module = "gdro._gdro", frozen)]
pub struct Incremental {
    run: Run,
}

#[pymethods]
impl Incremental {
    /// What `__getnewargs__` gave.
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let run = serde_json::from_str(text).map_err(|e| refuse(format!("a run: {e}")))?;
        Ok(Incremental { run })
    }

    /// The run as text, for copies.
    #[pyo3(signature = () -> "tuple[str]")]
    fn __getnewargs__(&self) -> PyResult<(String,)> {
        let text = serde_json::to_string(&self.run).map_err(|e| refuse(e.to_string()))?;
        Ok((text,))
    }

    /// Plays on a portion of rows, of which so many are new, and goes on with the run before it, or else
    /// starts from a model if one is given. The others are as for `fit`. Gives the run as it then stands,
    /// and the model.
    #[staticmethod]
    #[pyo3(signature = (
        before: "Incremental | None", rows: "Rows", names: "Sequence[str]", arguments: "Arguments",
        classes: "int", fresh: "int", start: "Start | None" = None, threads: "int | None" = None,
        listener: "Listener | None" = None
    ) -> "tuple[Incremental, dict[str, Any]]")]
    #[allow(clippy::too_many_arguments)]
    fn learn<'py>(
        py: Python<'py>,
        before: Option<&Self>,
        rows: Rows<'py>,
        names: Vec<String>,
        arguments: &Bound<'py, PyDict>,
        classes: usize,
        fresh: u64,
        start: Option<Given<'py>>,
        threads: Option<NonZeroUsize>,
        listener: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Self, Bound<'py, PyDict>)> {
        let job = job_of(arguments)?;
        let (rows, start) = (rows.view(), start.as_ref().map(start_of));
        let before = before.map(|before| &before.run);
        let (run, learnt) = run(py, threads, listener.as_ref(), |control| {
            let (rows, loss) = prepared(&job, rows, names, None, classes)?;
            Run::learn(before, &job, rows, loss, (fresh, start), control)
        })?;
        let dict = dict_of(py, &run, learnt)?;
        Ok((Incremental { run }, dict))
    }
}

/// What there is after a portion, as a dictionary of arrays.
fn dict_of<'py>(py: Python<'py>, run: &Run, learnt: Learnt) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("w", PyArray1::from_vec(py, learnt.w))?;
    dict.set_item("q", PyArray1::from_vec(py, learnt.weights))?;
    dict.set_item("risks", PyArray1::from_vec(py, learnt.risks))?;
    dict.set_item("offsets", PyArray1::from_vec(py, learnt.offsets))?;
    dict.set_item("cap", learnt.cap)?;
    dict.set_item("iterations", learnt.rounds)?;
    dict.set_item("steps", learnt.steps)?;
    dict.set_item("player", PyArray1::from_slice(py, run.player()))?;
    let job = serde_json::to_string(&learnt.job).map_err(|e| refuse(e.to_string()))?;
    dict.set_item("job", job)?;
    Ok(dict)
}
