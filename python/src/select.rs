//! Choosing a model.

use std::num::NonZeroUsize;

use gdro_train::checkpoint::Work;
use gdro_train::job::Choice;
use gdro_train::select::{SelectedRows, select_rows};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::choice_of;
use crate::error::refuse;
use crate::fit::{dict_of, prepared};
use crate::input::Rows;
use crate::run::{Kept, run};

/// Chooses a model of a family and trains it on all rows: what `fit` gives of it, and the choice as
/// JSON. The arguments are those of `fit`, and how to choose.
#[pyfunction]
#[pyo3(signature = (
    rows: "Rows", names: "Sequence[str]", arguments: "Arguments", classes: "int",
    clusters: "NDArray[np.uint32] | None" = None, threads: "int | None" = None,
    listener: "Listener | None" = None, checkpoint: "tuple[str, float | None] | None" = None
) -> "tuple[dict[str, Any], str]")]
#[allow(clippy::too_many_arguments)]
pub fn select<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    names: Vec<String>,
    arguments: &Bound<'py, PyDict>,
    classes: usize,
    clusters: Option<PyReadonlyArray1<'py, u32>>,
    threads: Option<NonZeroUsize>,
    listener: Option<Bound<'py, PyAny>>,
    checkpoint: Kept,
) -> PyResult<(Bound<'py, PyDict>, String)> {
    let (job, search) = choice_of(arguments)?;
    let rows = rows.view();
    let clusters = clusters.map(|codes| codes.as_array().to_vec());
    let SelectedRows { selection, fitted } = run(py, threads, listener.as_ref(), |control| {
        let (rows, loss) = prepared(&job, rows, names, clusters, classes)?;
        let work = Work::Select(Choice::Search(search.clone()));
        control.keep(checkpoint, (&job, None), work, rows, |rows, control| {
            select_rows(&job, &search, rows, loss, control)
        })
    })?;
    let text = serde_json::to_string(&selection).map_err(|e| refuse(e.to_string()))?;
    Ok((dict_of(py, fitted)?, text))
}
