//! The tables that ship.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A table that ships, as CSV, with the column of its target and those of its groups.
#[pyfunction]
#[pyo3(signature = (name: "str") -> "tuple[str, str, str]")]
pub fn example(name: &str) -> PyResult<(String, &'static str, &'static str)> {
    let Some(table) = gdro_examples::Example::find(name) else {
        let names = gdro_examples::ALL.map(|table| format!("{:?}", table.name)).join(", ");
        return Err(PyValueError::new_err(format!("name={name:?}: expected one of {names}")));
    };
    Ok((table.text(), table.target, table.groups))
}
