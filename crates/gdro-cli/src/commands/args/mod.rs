//! Arguments that several commands share.

mod given;
mod later;
mod output;
mod resume;
mod threads;

pub use given::{Fit, Given, Inspect, Select};
pub use later::{FormatArg, GroupFileArg};
pub use output::{OutputArgs, TrainArg};
pub use resume::ResumeArg;
pub use threads::ThreadsArg;
