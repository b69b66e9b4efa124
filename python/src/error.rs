//! Errors of the library as Python exceptions.

use gdro_train::failure::Interrupted;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};

/// The exception of an error: `ValueError` with its message, except that an exception of the user's
/// own code is passed on as it is.
pub fn exception(error: gdro::Error) -> PyErr {
    match error {
        gdro::Error::User(own) => match own.downcast::<PyErr>() {
            Ok(own) => *own,
            Err(own) if own.is::<Interrupted>() => PyKeyboardInterrupt::new_err(()),
            Err(own) => PyValueError::new_err(own.to_string()),
        },
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Bad input, in words.
pub fn refuse(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}
