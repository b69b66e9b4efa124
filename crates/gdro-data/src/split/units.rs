//! What is drawn.

use crate::error::{Error, Result};

/// Rows, or clusters of rows, and what draws of them go by.
#[derive(Clone, Copy)]
pub(crate) struct Units<'a> {
    /// For each family the group of each unit.
    pub(crate) families: &'a [Vec<Option<u32>>],
    /// The units of each group.
    pub(crate) groups: &'a [Vec<u32>],
    /// The label of each unit, where there are labels.
    pub(crate) labels: Option<&'a [f64]>,
}

impl Units<'_> {
    /// Number of units.
    pub(super) fn count(&self) -> usize {
        self.families.first().map_or(0, Vec::len)
    }

    /// What tells the label of a unit from others.
    pub(crate) fn label(&self, unit: usize) -> u64 {
        self.labels.map_or(0, |labels| labels[unit].to_bits())
    }

    /// Whether every unit is in one group.
    pub(super) fn is_partition(&self) -> bool {
        self.groups.iter().map(Vec::len).sum::<usize>() == self.count()
    }
}

/// Whether this is a share of units to hold out.
///
/// # Errors
/// [`Error::Option`] for a share outside of [0, 1).
pub(super) fn check_share(share: f64) -> Result<()> {
    if (0.0..1.0).contains(&share) {
        return Ok(());
    }
    let expected = "a share of at least 0 and below 1".to_owned();
    Err(Error::Option { option: "holdout", found: share.to_string(), expected })
}
