//! Arguments that several commands share.

mod given;
mod later;
mod threads;

pub use given::{Fit, Given, Inspect, Select};
pub use later::{FormatArg, GroupFileArg};
pub use threads::ThreadsArg;
