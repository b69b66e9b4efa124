//! Which form of points and group weights a run uses.

use serde::{Deserialize, Serialize};

/// How the model and the group weights are stored. All forms give the same numbers up to rounding;
/// they differ in what a round costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// What is expected to be faster: see [`Storage::lazy`] and [`Storage::tree`].
    #[default]
    Automatic,
    /// Arrays: O(d) and O(m).
    Arrays,
    /// Lazy points and trees, where there are such forms: O(stored values) and O(log m).
    Sublinear,
}

/// From this many groups on a tree is faster.
const LEAST_GROUPS: usize = 64;

impl Storage {
    /// Whether group weights of which a round moves a few are kept in a tree.
    pub fn tree(self, groups: usize) -> bool {
        match self {
            Storage::Automatic => groups >= LEAST_GROUPS,
            Storage::Arrays => false,
            Storage::Sublinear => true,
        }
    }

    /// Whether the model is lazy, for d·c weights and rows that store so many values.
    pub fn lazy(self, weights: usize, stored: Option<f64>) -> bool {
        match self {
            Storage::Automatic => stored.is_some_and(|stored| 4.0 * stored < weights as f64),
            Storage::Arrays => false,
            Storage::Sublinear => true,
        }
    }
}
