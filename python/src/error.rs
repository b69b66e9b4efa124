//! Errors of the library and of jobs as Python exceptions.

use gdro_train::Failure;
use gdro_train::failure::Interrupted;
use gdro_train::options::Front;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};

/// What becomes an exception.
pub trait Raised {
    /// The exception.
    fn raised(self) -> PyErr;
}

impl Raised for gdro::Error {
    fn raised(self) -> PyErr {
        exception(self)
    }
}

impl Raised for Failure {
    fn raised(self) -> PyErr {
        failed(self)
    }
}

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

/// The exception of a job that failed, in the words of Python.
pub fn failed(failure: Failure) -> PyErr {
    match failure {
        Failure::Library { error: error @ gdro::Error::User(_), .. } => exception(error),
        Failure::Interrupted => PyKeyboardInterrupt::new_err(()),
        Failure::Machine(message) => PyOSError::new_err(message),
        other => PyValueError::new_err(other.text(Front::Python)),
    }
}

/// Bad input, in words.
pub fn refuse(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}
