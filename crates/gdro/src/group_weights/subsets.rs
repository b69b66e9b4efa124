//! How sets of groups are drawn.

use serde::{Deserialize, Serialize};

/// How k groups are drawn such that group i is among them with probability k·q_i. The proofs need
/// these marginals and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subsets {
    /// Dependent rounding, O(m): the paper's own (label `appendix:section:DepRound`). Groups repel
    /// each other: no two are together more often than independent draws would have them.
    #[default]
    DepRound,
    /// Systematic sampling ([`crate::sampling::systematic`]): one random number, O(k log m) with
    /// weights in a tree. Groups near each other in order are rarely together, some pairs never.
    Systematic,
}

impl Subsets {
    /// The name used in options and files.
    pub const fn name(self) -> &'static str {
        match self {
            Subsets::DepRound => "dep-round",
            Subsets::Systematic => "systematic",
        }
    }
}
