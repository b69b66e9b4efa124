//! The compiled half of the Python package `gdro`: arrays in, arrays out.
//!
//! [`run`] is the one place where the interpreter is let go, Ctrl-C is seen and errors become
//! exceptions. What users see is written in Python, in `gdro/`.

use pyo3::prelude::*;

mod arguments;
mod error;
mod example;
mod fit;
mod incremental;
mod input;
mod metrics;
mod model;
mod parts;
mod player;
mod program;
mod run;
mod select;
mod solver;

/// The compiled half of `gdro`; its names may change at any time.
#[pymodule]
mod _gdro {
    #[pymodule_export]
    use super::arguments::{check, options};
    #[pymodule_export]
    use super::example::example;
    #[pymodule_export]
    use super::fit::{fit, group_remarks};
    #[pymodule_export]
    use super::incremental::Incremental;
    #[pymodule_export]
    use super::metrics::{intervals, losses, targets_of, verdict};
    #[pymodule_export]
    use super::model::{Encoder, read_model, to_onnx, write_model};
    #[pymodule_export]
    use super::player::Player;
    #[pymodule_export]
    use super::program::program;
    #[pymodule_export]
    use super::select::select;
    #[pymodule_export]
    use super::solver::{Loop, takes_k, takes_portions};

    /// Version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
