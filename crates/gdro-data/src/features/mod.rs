//! Columns to features: which rows can be used, and how cells become numbers.

mod column;
mod encode;
mod hash;
mod moments;
mod notes;
mod usable;

pub use column::{FeatureColumn, WhenMissing};
pub(crate) use column::{RARE, most_levels};
pub use encode::{Encoded, Encoding};
pub(crate) use moments::moments;
pub(crate) use notes::notes;
pub(crate) use usable::usable_rows;
