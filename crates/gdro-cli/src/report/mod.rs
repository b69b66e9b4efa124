//! What a person sees of a run.

mod grid;
mod numbers;
mod summary;
mod tables;

pub use numbers::risk;
pub use summary::Summary;
pub use tables::{groups, text};
