//! Grouped samples in memory.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::prefetch::prefetch;
use crate::row::{Matrix, Row};

/// One sample: its features and its target.
///
/// The target is −1 or +1 for binary losses, the class index 0, 1, … for multi-class losses, and
/// any finite number for regression losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// Features x.
    pub x: Row<'a>,
    /// Target y.
    pub y: f64,
}

/// Whether a number is the weight of a row: 0, or from 1e-290 to 1e290.
///
/// Sums of numbers nearer to the least that there are (2.2e-308) would lose their digits, and with
/// them every bound that is made of such sums.
pub fn is_weight(weight: f64) -> bool {
    weight == 0.0 || (1e-290..=1e290).contains(&weight)
}

/// Rows in memory and the groups they belong to. A row may be in several groups, and carries a
/// weight (1 unless given). The empirical risk of group i is
///
/// R̂_i(w) = Σ_r ω_r ℓ(w; z_r) / Σ_r ω_r over the rows r of group i.
///
/// Cloning is cheap: the arrays are shared.
#[derive(Clone, Debug)]
pub struct Dataset {
    features: Arc<Matrix>,
    targets: Arc<[f64]>,
    weights: Option<Arc<[f64]>>,
    starts: Arc<[usize]>,
    members: Arc<[u32]>,
    totals: Arc<[f64]>,
    /// [`Dataset::places`], once they have been asked for.
    places: Arc<OnceLock<Arc<[Place]>>>,
}

/// A member of a group: all that a round needs to know of a row besides its features, in one
/// place of memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Place {
    /// Where the features are in the matrix.
    start: usize,
    stored: usize,
    /// y.
    pub target: f64,
    /// ‖x‖₂².
    pub norm_squared: f64,
}

impl Place {
    /// The part of the matrix with the features.
    #[inline(always)]
    pub fn span(&self) -> Range<usize> {
        self.start..self.start + self.stored
    }
}

impl Dataset {
    /// Groups samples. `groups[i]` lists the rows of group i.
    ///
    /// # Errors
    /// [`Error::Length`] when arrays differ in length; [`Error::EmptyGroup`] and
    /// [`Error::WeightlessGroup`] for a group whose risk is not defined; [`Error::NotFinite`] for
    /// a target or weight that is NaN or infinite; [`Error::Parameter`] for a number that is no
    /// weight ([`is_weight`]), a row number out of range, or no group at all.
    pub fn new(
        features: Arc<Matrix>,
        targets: Vec<f64>,
        weights: Option<Vec<f64>>,
        groups: &[Vec<u32>],
    ) -> Result<Self> {
        let rows = features.rows();
        if targets.len() != rows {
            return Err(Error::Length { what: "targets", found: targets.len(), expected: rows });
        }
        if let Some(row) = targets.iter().position(|y| !y.is_finite()) {
            return Err(Error::NotFinite { what: "the target", row, value: targets[row] });
        }
        if let Some(weights) = &weights {
            if weights.len() != rows {
                return Err(Error::Length {
                    what: "weights",
                    found: weights.len(),
                    expected: rows,
                });
            }
            if let Some(row) = weights.iter().position(|v| !v.is_finite()) {
                return Err(Error::NotFinite { what: "the weight", row, value: weights[row] });
            }
            if let Some(v) = weights.iter().find(|v| !is_weight(**v)) {
                return Err(Error::parameter("row weight", v, "0, or from 1e-290 to 1e290"));
            }
        }
        Self::assemble(features, targets.into(), weights.map(Into::into), groups)
    }

    fn assemble(
        features: Arc<Matrix>,
        targets: Arc<[f64]>,
        weights: Option<Arc<[f64]>>,
        groups: &[Vec<u32>],
    ) -> Result<Self> {
        let rows = features.rows();
        crate::error::require(!groups.is_empty(), "number of groups", 0, "at least 1")?;
        let mut starts = Vec::with_capacity(groups.len() + 1);
        let mut members = Vec::with_capacity(groups.iter().map(Vec::len).sum());
        let mut totals = Vec::with_capacity(groups.len());
        starts.push(0);
        for (group, list) in groups.iter().enumerate() {
            if list.is_empty() {
                return Err(Error::EmptyGroup { group, groups: groups.len() });
            }
            if let Some(row) = list.iter().find(|r| **r as usize >= rows) {
                return Err(Error::parameter("row of a group", row, "below the number of rows"));
            }
            let total = match &weights {
                None => list.len() as f64,
                Some(weights) => list.iter().map(|r| weights[*r as usize]).sum(),
            };
            if total <= 0.0 {
                return Err(Error::WeightlessGroup { group });
            }
            members.extend_from_slice(list);
            starts.push(members.len());
            totals.push(total);
        }
        let (starts, members, totals) = (starts.into(), members.into(), totals.into());
        let places = Arc::default();
        Ok(Dataset { features, targets, weights, starts, members, totals, places })
    }

    /// The same rows as one single group: the data of ordinary training.
    ///
    /// # Errors
    /// [`Error::WeightlessGroup`] cannot occur: a data set has a group with positive weight.
    pub fn pooled(&self) -> Result<Self> {
        let all = vec![(0..self.rows() as u32).collect::<Vec<_>>()];
        Self::assemble(self.features.clone(), self.targets.clone(), self.weights.clone(), &all)
    }

    /// Group i alone, with the rows of no other group.
    ///
    /// # Errors
    /// None for a valid index.
    ///
    /// # Panics
    /// When `group` is not below [`Dataset::groups`].
    pub fn only(&self, group: usize) -> Result<Self> {
        let rows = self.members(group);
        let pick = |values: &[f64]| rows.iter().map(|r| values[*r as usize]).collect::<Vec<_>>();
        Self::assemble(
            Arc::new(self.features.select(rows)),
            pick(&self.targets).into(),
            self.weights.as_deref().map(|w| pick(w).into()),
            &[(0..rows.len() as u32).collect()],
        )
    }

    /// The same rows with other features, other targets, or both, in the same number.
    #[cfg(feature = "exact")]
    pub(crate) fn with(&self, features: Option<Arc<Matrix>>, targets: Option<Vec<f64>>) -> Self {
        let mut data = self.clone();
        data.places = Arc::default();
        data.features = features.unwrap_or(data.features);
        data.targets = targets.map_or(data.targets, Into::into);
        data
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.targets.len()
    }

    /// Number of features d.
    pub fn features(&self) -> usize {
        self.features.cols()
    }

    /// Number of groups m.
    pub fn groups(&self) -> usize {
        self.totals.len()
    }

    /// The feature matrix.
    pub fn matrix(&self) -> &Matrix {
        &self.features
    }

    /// The targets, one per row.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// Rows of group i.
    ///
    /// # Panics
    /// When `group` is not below [`Dataset::groups`].
    #[inline]
    pub fn members(&self, group: usize) -> &[u32] {
        self.span(group).1
    }

    /// The rows of group i, and how many members groups before it have.
    #[inline]
    pub(crate) fn span(&self, group: usize) -> (usize, &[u32]) {
        let (start, end) = (self.starts[group], self.starts[group + 1]);
        (start, &self.members[start..end])
    }

    /// The row with a number among the members of all groups.
    #[inline]
    pub(crate) fn member(&self, at: usize) -> usize {
        self.members[at] as usize
    }

    /// Has what [`Dataset::member`] needs brought closer.
    #[inline]
    pub(crate) fn prefetch_member(&self, at: usize) {
        prefetch(&self.members, at);
    }

    /// The members of all groups one after the other, where rows are sparse: a row then takes one
    /// look-up. Made when they are first asked for, and shared like the rest.
    pub(crate) fn places(&self) -> Option<&Arc<[Place]>> {
        let place = |row: &u32| {
            let (row, span) = (*row as usize, self.features.span(*row as usize));
            let norm_squared = self.features.entries(span.clone()).norm_squared();
            Place { start: span.start, stored: span.len(), target: self.targets[row], norm_squared }
        };
        let all = || self.members.iter().map(place).collect();
        self.features.is_sparse().then(|| self.places.get_or_init(all))
    }

    /// Number of rows n_i of group i.
    pub fn count(&self, group: usize) -> u64 {
        self.members(group).len() as u64
    }

    /// The counts n_1, …, n_m.
    pub fn counts(&self) -> Vec<u64> {
        (0..self.groups()).map(|i| self.count(i)).collect()
    }

    /// Total row weight Σ_r ω_r of group i (the count n_i when rows have no weights).
    pub fn total_weight(&self, group: usize) -> f64 {
        self.totals[group]
    }

    /// Weight ω_r of row r.
    #[inline]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[row])
    }

    /// Whether rows carry weights other than the implied 1.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Sample r.
    ///
    /// # Panics
    /// When `row` is not below [`Dataset::rows`].
    #[inline(always)]
    pub fn sample(&self, row: usize) -> Sample<'_> {
        Sample { x: self.features.row(row), y: self.targets[row] }
    }

    /// Has sample r brought closer.
    #[inline]
    pub(crate) fn prefetch(&self, row: usize) {
        prefetch(&self.targets, row);
        self.features.prefetch(self.features.span(row));
    }

    /// The largest target in absolute value.
    pub fn max_abs_target(&self) -> f64 {
        self.targets.iter().fold(0.0, |a, y| a.max(y.abs()))
    }
}
