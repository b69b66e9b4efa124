//! What a person sees of a run, and of a saved model: tables for the terminal, the summary as data,
//! the page for a browser.

mod brief;
mod caps;
mod cells;
mod grid;
mod inspect;
pub mod page;
mod path;
mod saved;
mod selection;
mod summary;
mod tables;

pub use brief::brief;
pub use gdro_train::numbers::risk;
pub use inspect::{Encoded, GroupCount, Inspected, inspected};

use gdro_train::numbers;
pub use path::path;
pub use saved::{certified, evaluation, model};
pub use selection::selection;
pub use summary::Summary;
pub use tables::{Shown, certificate_in_words, groups, objective_in_words, plain, text};
