//! Every option once: what it is called, what it takes, its range and default, its help, and who
//! uses it.
//!
//! The program makes its arguments from [`TABLE`], a job file is read by it, and the arguments of
//! the Python package are checked against it. [`Settings`] are the values that were given, each with
//! where it came from.

mod settings;
mod table;
mod values;

pub use settings::{Settings, TABLES};
pub use table::{Command, Heading, Kind, Opt, Range, TABLE, Use, find};

/// Who talks to the user: each has its own way to name an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Front {
    /// The program: `--step-w`.
    #[default]
    Program,
    /// The Python package: `step_w`.
    Python,
}

impl Front {
    /// How an option is called.
    pub fn name(self, key: &str) -> String {
        match self {
            Front::Program => format!("--{key}"),
            Front::Python => find(key).map_or_else(|| key.replace('-', "_"), Opt::python_name),
        }
    }
}
