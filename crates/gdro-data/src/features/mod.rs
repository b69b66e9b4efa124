//! Columns to features: which rows can be used, and how cells become numbers.

mod column;
mod encode;
mod hash;
mod moments;
mod notes;
mod sparse;
mod usable;

pub use column::{FeatureColumn, WhenMissing};
pub(crate) use column::{Wish, most_levels};
pub use encode::{Encoded, Encoding};
pub(crate) use moments::moments;
pub(crate) use notes::{ids, notes};
pub use sparse::SparseFeatures;
pub(crate) use usable::usable_rows;
