//! What a person sees of a run.

mod numbers;
mod summary;
mod tables;

pub use summary::Summary;
pub use tables::{groups, text};
