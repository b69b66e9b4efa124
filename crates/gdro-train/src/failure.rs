//! Reasons to stop.

use std::fmt;

use crate::options::Front;

/// A reason to stop, and whether the input or the machine is to blame.
#[derive(Debug)]
pub enum Failure {
    /// Something the user gave.
    Input(String),
    /// Something the machine refused, such as writing a file.
    Machine(String),
    /// An error of the library on groups of these names.
    Library {
        /// What is wrong.
        error: gdro::Error,
        /// Names of the groups that it numbers.
        groups: Vec<String>,
    },
    /// An error of a table that no job describes.
    Data(gdro_data::Error),
    /// The work was given up because the user asked for it.
    Interrupted,
    /// Standard output was closed.
    BrokenPipe,
}

/// The result of a piece of work.
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

    /// An error of the library, whose groups have these names.
    pub fn library(error: gdro::Error, groups: &[String]) -> Self {
        match error {
            gdro::Error::User(own) if own.is::<Interrupted>() => Failure::Interrupted,
            error => Failure::Library { error, groups: groups.to_vec() },
        }
    }

    /// The message in the words of a front end, which calls its options by other names.
    pub fn text(&self, front: Front) -> String {
        match self {
            Failure::Input(message) | Failure::Machine(message) => message.clone(),
            Failure::Library { error, groups } => in_words(error, groups, front),
            Failure::Data(error) => error.text(|setting| front.setting(setting)),
            Failure::Interrupted => {
                "interrupted before there was anything of this run to keep".into()
            }
            Failure::BrokenPipe => "standard output was closed".into(),
        }
    }

    /// The same where a table is read for a saved model: most options that would help are of its training.
    #[must_use]
    pub fn of_saved_model(self) -> Self {
        let Failure::Data(error) = &self else { return self };
        let Some(hint) = error.hint() else { return self };
        if hint.settings().all(|setting| matches!(setting.option, "format" | "memory")) {
            return self;
        }
        let hint = match error {
            gdro_data::Error::Memory { .. } => {
                "split it into smaller tables, or allow more with --memory".to_owned()
            }
            _ => {
                let hint = hint.text(|setting| Front::Program.setting(setting));
                format!("mend the table, or train again with gdro fit, and there {hint}")
            }
        };
        Failure::Input(format!("{error}: {hint}"))
    }

    /// Whether nobody reads the output any more.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::BrokenPipe)
    }

    /// Whether the input is to blame.
    pub fn is_input(&self) -> bool {
        matches!(self, Failure::Input(_) | Failure::Library { .. } | Failure::Data(_))
    }
}

/// An error of the library, with names in the place of numbers of groups.
fn in_words(error: &gdro::Error, groups: &[String], front: Front) -> String {
    use gdro::Error;
    let name = |group: usize| groups.get(group).map_or("?", String::as_str);
    let step = front.name("step-w");
    match error {
        Error::NonFiniteLoss { group, round: 0, value } => format!(
            "a loss in group `{}` is {value}: the model has diverged or the table holds numbers too large to square; scale the columns or lower {step}",
            name(*group)
        ),
        Error::NonFiniteLoss { group, round, value } => format!(
            "a loss in group `{}` is {value} in round {round}: lower {step}, or bound the model with {}",
            name(*group),
            front.name("ball")
        ),
        Error::Parameter { name, found, expected } => {
            let name = front.name(&name.replace(' ', "-"));
            format!("{name}: {found}: expected {expected}")
        }
        other => other.to_string(),
    }
}

/// What a loss fails with once the work should be given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

impl From<gdro_data::Error> for Failure {
    fn from(error: gdro_data::Error) -> Self {
        Failure::Data(error)
    }
}

impl fmt::Display for Failure {
    /// The message in the words of the program.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Front::Program))
    }
}
