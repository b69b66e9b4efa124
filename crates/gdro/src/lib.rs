//! Group distributionally robust optimisation.
pub mod dataset;
pub mod error;
pub mod row;

pub use dataset::{Dataset, Sample};
pub use error::{Error, Result};
pub use row::{Matrix, Row};
