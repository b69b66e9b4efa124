//! What a person sees of a run, and of a saved model: tables for the terminal, the summary as data,
//! the page for a browser.

mod brief;
mod caps;
mod cells;
mod grid;
mod inspect;
mod numbers;
pub mod page;
mod path;
mod saved;
mod selection;
mod summary;
mod tables;

pub use brief::brief;
pub use inspect::{Encoded, GroupCount, Inspected, inspected};
pub use numbers::risk;
pub use path::path;
pub use saved::{certified, evaluation, model};
pub use selection::selection;
pub use summary::Summary;
pub use tables::{certificate_in_words, groups, objective_in_words, plain, text};
