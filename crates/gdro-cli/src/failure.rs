//! What the program says when it cannot go on, and its exit code.

use std::fmt;
use std::process::ExitCode;

use crate::job::Job;

/// A reason to stop: one message, and whether the input or the machine is to blame.
#[derive(Debug)]
pub enum Failure {
    /// Something the user gave: exit code 2.
    Input(String),
    /// Something the machine refused, such as writing a file: exit code 1.
    Machine(String),
    /// Standard output was closed.
    BrokenPipe,
}

/// The result of a command.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Bad input.
    pub fn input(message: impl Into<String>) -> Self {
        Failure::Input(message.into())
    }

    /// A failed write.
    pub fn write(path: &std::path::Path, error: &std::io::Error) -> Self {
        Failure::Machine(format!("cannot write {}: {error}", path.display()))
    }

    /// An error of the library, with group numbers turned into names.
    pub fn library(error: gdro::Error, groups: &[String]) -> Self {
        use gdro::Error;
        let name = |group: usize| groups.get(group).map_or("?", String::as_str).to_owned();
        Failure::Input(match error {
            Error::NonFiniteLoss { group, round: 0, value } => format!(
                "a loss in group `{}` is {value}: the model has diverged or the table holds numbers too large to square; scale the columns or lower --step-w",
                name(group)
            ),
            Error::NonFiniteLoss { group, round, value } => format!(
                "a loss in group `{}` is {value} in round {round}: lower --step-w, or bound the model with --ball",
                name(group)
            ),
            Error::Parameter { name, found, expected } => {
                format!("--{}: {found}: expected {expected}", name.replace(' ', "-"))
            }
            other => other.to_string(),
        })
    }

    /// An error of the table; one about an option says where the option was given.
    pub fn data(error: &gdro_data::Error, job: &Job) -> Self {
        let message = error.to_string();
        let about = error.option().and_then(|name| Some((name, message.strip_prefix(name)?)));
        Failure::Input(match about {
            Some((name, rest)) => job.place(name) + rest,
            None => message,
        })
    }

    /// Whether nobody reads the output any more.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::BrokenPipe)
    }

    /// The exit code.
    pub fn code(&self) -> ExitCode {
        match self {
            Failure::Input(_) => ExitCode::from(2),
            Failure::Machine(_) | Failure::BrokenPipe => ExitCode::FAILURE,
        }
    }
}

impl From<gdro_data::Error> for Failure {
    /// An error of a table that no job describes.
    fn from(error: gdro_data::Error) -> Self {
        Failure::Input(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(message) | Failure::Machine(message) => f.write_str(message),
            Failure::BrokenPipe => f.write_str("standard output was closed"),
        }
    }
}
