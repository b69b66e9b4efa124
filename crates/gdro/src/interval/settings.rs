//! What intervals need besides the rows, fixed before these are seen.

use super::check_level;
use crate::error::{Error, Result, require};
use serde::{Deserialize, Serialize};

/// What [`evaluate`](super::evaluate) and [`compare`](super::compare()) need besides the rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// δ ∈ (0, 1): each column holds for all groups at once with probability at least 1 − δ.
    pub delta: f64,
    /// M > 0: losses count as min(ℓ, M). From [`loss_cap`](super::loss_cap), so that it does not
    /// look at held-out rows.
    pub cap: f64,
    /// B > 0, for rows with weights: a row counts as min(w, B). Fixed without looking at held-out
    /// rows, as M is: the largest weight of the training rows, or a bound by construction.
    pub weight_cap: Option<f64>,
    /// S > 0, for rows in clusters: a cluster counts as min(Σ w, S), Σ w the total weight of its rows
    /// in the group (their number without weights). Fixed without looking at held-out rows, too: the
    /// largest of any training group, or a bound by construction. B is not asked for then.
    pub cluster_cap: Option<f64>,
    /// Seed of the order in which the rows of a group are taken.
    pub seed: u64,
}

impl Settings {
    /// The largest weight that a draw can have, a cluster or a row, with weights or without; a row
    /// without has 1.
    pub(super) fn heaviest(&self, weighted: bool, clustered: bool) -> f64 {
        match (clustered, weighted) {
            (true, _) => self.cluster_cap,
            (false, true) => self.weight_cap,
            (false, false) => None,
        }
        .unwrap_or(1.0)
    }

    /// Refuses numbers out of range, and no groups.
    pub(super) fn check(&self, groups: usize) -> Result<()> {
        check_level("delta", self.delta)?;
        let cap = self.cap;
        // 2M must be finite too.
        require(cap > 0.0 && cap <= 0.5 * f64::MAX, "cap", cap, "a positive number")?;
        let positive = |b: f64| b > 0.0 && b.is_finite();
        let caps = [("weight_cap", self.weight_cap), ("cluster_cap", self.cluster_cap)];
        for (name, cap) in caps {
            if let Some(cap) = cap.filter(|cap| !positive(*cap)) {
                return Err(Error::parameter(name, cap, "a positive number"));
            }
        }
        if groups == 0 {
            return Err(Error::Length { what: "the list of groups", found: 0, expected: 1 });
        }
        Ok(())
    }
}
