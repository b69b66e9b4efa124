//! What a person sees of a run, and of a saved model.

mod grid;
mod numbers;
pub mod page;
mod saved;
mod summary;
mod tables;

pub use numbers::risk;
pub use saved::{Evaluated, evaluation, model};
pub use summary::Summary;
pub use tables::{certificate_in_words, groups, objective_in_words, plain, text};
