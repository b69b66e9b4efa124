//! Models of the program: their encoding, and ONNX.

use std::path::PathBuf;

use gdro_data::onnx::{Input, Linear, Meaning, onnx};
use gdro_data::{Cells, DataOptions, Encoding, Kind, Table};
use gdro_train::files::write_one;
use gdro_train::model::{Model, OfRows};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::{failed, refuse};
use crate::run::run;

/// How the columns of a table become features, as it stands in a `model.json`.
#[pyclass(module = "gdro._gdro", frozen)]
pub struct Encoder {
    encoding: Encoding,
    /// What means a missing cell.
    options: DataOptions,
}

/// A column: numbers, or texts.
#[derive(FromPyObject)]
pub enum Values<'py> {
    /// Numbers; NaN is missing.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Texts; an empty one is missing.
    Texts(Vec<String>),
}

#[pymethods]
impl Encoder {
    /// The encoding of a JSON text, and the texts that mean a missing cell.
    #[new]
    #[pyo3(signature = (text, na: "Sequence[str]"))]
    fn new(text: &str, na: Vec<String>) -> PyResult<Self> {
        let encoding = serde_json::from_str(text).map_err(|e| refuse(format!("encoding: {e}")))?;
        Ok(Encoder { encoding, options: DataOptions { na, ..DataOptions::default() } })
    }

    /// (name, whether it holds texts) of each column.
    fn columns(&self) -> Vec<(String, bool)> {
        let columns = self.encoding.columns().iter();
        columns.map(|c| (c.name().to_owned(), c.cells() == Kind::Text)).collect()
    }

    /// Names of the features.
    fn feature_names(&self) -> Vec<String> {
        self.encoding.feature_names()
    }

    /// Whether the last feature is the constant 1.
    fn has_constant(&self) -> bool {
        self.encoding.has_constant()
    }

    /// The features of columns, in compressed rows: starts, columns and values; and for each
    /// column how many texts training never saw.
    #[pyo3(signature = (
        columns: "Sequence[tuple[str, Vector | Sequence[str]]]"
    ) -> "dict[str, Any]")]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<(String, Values<'py>)>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let cells = columns.into_iter().map(|(name, values)| {
            let cells = match values {
                Values::Numbers(numbers) => Cells::Numbers(numbers.as_array().to_vec()),
                Values::Texts(texts) => Cells::Texts(texts),
            };
            (name, cells)
        });
        let cells = cells.collect();
        let (encoding, options) = (&self.encoding, &self.options);
        let encoded = run(py, None, None, move |_| {
            let table = Table::of_columns(cells, options).map_err(gdro::Error::user)?;
            let rows: Vec<u32> = (0..table.rows() as u32).collect();
            encoding.encode(&table, &rows).map_err(gdro::Error::user)
        })?;
        let (mut starts, mut indices, mut values) = (vec![0i64], Vec::new(), Vec::new());
        for row in 0..encoded.matrix.rows() {
            encoded.matrix.row(row).for_each(|j, v| {
                if v != 0.0 {
                    indices.push(j as i64);
                    values.push(v);
                }
            });
            starts.push(values.len() as i64);
        }
        let dict = PyDict::new(py);
        dict.set_item("indptr", PyArray1::from_vec(py, starts))?;
        dict.set_item("indices", PyArray1::from_vec(py, indices))?;
        dict.set_item("data", PyArray1::from_vec(py, values))?;
        dict.set_item("unseen", encoded.unseen)?;
        Ok(dict)
    }
}

/// The text of a `model.json`, or of the one in a folder, of which the parts fit together.
#[pyfunction]
#[pyo3(signature = (path: "str"))]
pub fn read_model(path: PathBuf) -> PyResult<String> {
    Model::load(&path).and_then(|model| model.text()).map_err(failed)
}

/// Writes a `model.json`. `model` is the JSON text of [`OfRows`].
#[pyfunction]
#[pyo3(signature = (path: "str", model))]
pub fn write_model(path: PathBuf, model: &str) -> PyResult<()> {
    let model: OfRows = serde_json::from_str(model).map_err(|e| refuse(format!("model: {e}")))?;
    let text = Model::of_rows(model).and_then(|model| model.text()).map_err(failed)?;
    write_one(&path, text).map_err(failed)
}

/// A linear model as ONNX. `encoding` is the JSON text of an encoding, or the number of features.
/// `kind` is `binary`, `multiclass` or `regression`.
#[pyfunction]
#[pyo3(signature = (
    encoding, features: "int", weights: "Vector", intercepts: "Vector", kind,
    labels: "Sequence[str]", probabilities, integers
))]
#[allow(clippy::too_many_arguments)]
pub fn to_onnx<'py>(
    py: Python<'py>,
    encoding: Option<&str>,
    features: usize,
    weights: PyReadonlyArray1<'py, f64>,
    intercepts: PyReadonlyArray1<'py, f64>,
    kind: &str,
    labels: Vec<String>,
    probabilities: bool,
    integers: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let encoding: Option<Encoding> = encoding
        .map(serde_json::from_str)
        .transpose()
        .map_err(|e| refuse(format!("encoding: {e}")))?;
    let meaning = match (kind, &labels[..]) {
        ("binary", [negative, positive]) => {
            Meaning::Binary { labels: [negative, positive], probabilities }
        }
        ("multiclass", labels) => Meaning::Multiclass { labels },
        _ => Meaning::Number,
    };
    let (weights, intercepts) = (weights.as_array().to_vec(), intercepts.as_array().to_vec());
    let model = Linear {
        input: encoding.as_ref().map_or(Input::Features(features), Input::Columns),
        weights: &weights,
        intercepts: &intercepts,
        meaning,
        integers,
    };
    let bytes = onnx(&model).map_err(|e| refuse(e.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}
