//! Columns to features: which rows can be used, and how cells become numbers.

mod encode;
mod moments;
mod usable;

pub(crate) use encode::most_levels;
pub use encode::{Encoded, Encoding, FeatureColumn};
#[cfg(test)]
pub(crate) use moments::moments;
pub(crate) use usable::usable_rows;
