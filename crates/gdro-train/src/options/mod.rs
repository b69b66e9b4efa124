//! Every option once: what it is called, what it takes, its range and default, its help, and who
//! uses it.
//!
//! The program makes its arguments from [`TABLE`], a job file is read by it, and the arguments of
//! the Python package are checked against it. [`Settings`] are the values that were given, each with
//! where it came from.

mod front;
mod settings;
mod table;
mod values;

pub use front::{Front, word};
pub use settings::{Settings, TABLES};
pub use table::{Command, Heading, Kind, Opt, Range, TABLE, Use, find};
