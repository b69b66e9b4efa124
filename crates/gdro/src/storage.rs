//! Which form of points and group weights a run uses.

use serde::{Deserialize, Serialize};

/// How the model and the group weights are stored. All forms give the same numbers up to rounding;
/// they differ in what a round costs.
///
/// - Group weights in a tree ([`crate::group_weights::Tree`] and
///   [`crate::group_weights::CappedTree`]): for smd-1, online-1, atkro-k, atkro-1 and smd-clip,
///   which tell the player of a few groups per round.
/// - Lazy models ([`crate::iterate::Lazy`]): in balls, boxes that contain 0 and the whole space,
///   with ν = ½‖w‖², for all algorithms but smpa-m and hybrid (mirror-prox copies points),
///   eliminate (it measures distances) and adaptive (it measures gradients).
///
/// Everything else is in arrays whatever is asked for.
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

/// From this many groups on a tree of capped weights is faster by a margin that cannot be missed;
/// below about 16 both are alike (docs/benchmarks.md, "Rounds as m and d grow").
const LEAST_GROUPS: usize = 64;

/// Lazy points are faster for rows that store at most about a half of their features, and need a
/// little more memory; for full rows dense ones are.
const SPARSE: f64 = 2.0;

impl Storage {
    /// Whether m group weights with the cap 1/k, of which a round moves a few, are kept in a tree.
    /// Without a cap (k = 1) a tree is no slower for any m.
    pub fn tree(self, groups: usize, k: f64) -> bool {
        match self {
            Storage::Automatic => k == 1.0 || groups >= LEAST_GROUPS,
            Storage::Arrays => false,
            Storage::Sublinear => true,
        }
    }

    /// Whether the model is lazy, for d features and rows that store so many values.
    pub fn lazy(self, features: usize, stored: Option<f64>) -> bool {
        match self {
            Storage::Automatic => stored.is_some_and(|stored| SPARSE * stored < features as f64),
            Storage::Arrays => false,
            Storage::Sublinear => true,
        }
    }
}
