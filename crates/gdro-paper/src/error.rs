//! What can go wrong.

use std::path::PathBuf;

use thiserror::Error;

/// The result of most functions here.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong.
#[derive(Debug, Error)]
pub enum Error {
    /// A file that cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that does not say what it should.
    #[error("{path}: {message}")]
    Content {
        /// The file.
        path: PathBuf,
        /// Where and what.
        message: String,
    },
    /// An experiment that does not exist.
    #[error("unknown experiment `{name}`: expected all, or some of {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// An option that does nothing.
    #[error("--{option}: tuning has no small version, and seeds of its own: leave it out")]
    Unused {
        /// Its name.
        option: &'static str,
    },
    /// An error of the library.
    #[error("{experiment}, {run}: {source}")]
    Library {
        /// The experiment.
        experiment: String,
        /// The run.
        run: String,
        /// Why.
        source: gdro::Error,
    },
    /// An error of a table.
    #[error(transparent)]
    Data(#[from] gdro_data::Error),
    /// A figure that cannot be drawn.
    #[error("{figure}: {message}")]
    Figure {
        /// The figure.
        figure: String,
        /// Why.
        message: String,
    },
}

impl Error {
    pub(crate) fn content(path: &std::path::Path, message: impl Into<String>) -> Self {
        Error::Content { path: path.to_owned(), message: message.into() }
    }
}

/// Reads a TOML file.
pub(crate) fn read_toml<T: serde::de::DeserializeOwned>(path: &std::path::Path) -> Result<T> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    toml::from_str(&text).map_err(|e| {
        let at = e.span().map(|span| text[..span.start].matches('\n').count() + 1);
        let line = at.map_or(String::new(), |line| format!("line {line}: "));
        Error::content(path, line + e.message())
    })
}
