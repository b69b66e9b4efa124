//! Checkpoints: a run that was cut off goes on to the bits of one that was never stopped.
//!
//! | file | what it holds |
//! |---|---|
//! | `journal.rs` | [`Checkpoint`]: the finished stages of a run and the one that is under way |
//! | `record.rs` | [`Record`]: which run it is, and how two runs differ |
//! | `inputs.rs` | the files that a run reads: size, time and checksum |
//! | `file.rs` | all of that as one file |
//! | `encode.rs`, `decode.rs` | values as bytes |
//!
//! A job is a sequence of stages each of which follows from the job and its inputs alone. So a run
//! goes on by being run again: a finished stage is looked up instead of computed
//! ([`Checkpoint::stage`]), and a long one starts from where it was last
//! ([`Checkpoint::get`], [`Checkpoint::put`]). The clock decides when the file is written and nothing
//! else.

mod decode;
mod encode;
mod file;
mod inputs;
mod journal;
mod record;

pub use inputs::{of_rows, of_start};
pub use journal::{Checkpoint, NAME};
pub use record::{Record, Work};
