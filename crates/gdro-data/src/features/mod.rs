//! Columns to features: which rows can be used, and how cells become numbers.

mod encode;
mod moments;
mod sparse;
mod usable;

pub(crate) use encode::most_levels;
pub use encode::{Encoded, Encoding, FeatureColumn};
pub use sparse::SparseFeatures;
pub(crate) use usable::usable_rows;
