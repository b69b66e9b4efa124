//! The program `gdro`, for the command that the package installs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with its arguments, of which the first is its name, and gives its exit code.
#[pyfunction]
pub fn program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| gdro_cli::run(arguments))
}
