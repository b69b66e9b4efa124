//! Everything that can go wrong, as data.

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. Variants carry the offending values, so that a caller who knows names (of
/// groups, of columns) can say them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter lies outside its range.
    #[error("{name} = {found}: expected {expected}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// The value that was given.
        found: String,
        /// The range it must lie in.
        expected: &'static str,
    },
    /// Two lengths that must agree do not.
    #[error("{what} has length {found}, expected {expected}")]
    Length {
        /// The array in question.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// A group has no rows, so that its risk is not defined.
    #[error("group {group} of {groups} has no rows")]
    EmptyGroup {
        /// Index of the group.
        group: usize,
        /// Number of groups.
        groups: usize,
    },
    /// All rows of a group have weight zero, so that its risk is not defined.
    #[error("every row of group {group} has weight 0")]
    WeightlessGroup {
        /// Index of the group.
        group: usize,
    },
    /// A number that must be finite is not.
    #[error("{what} of row {row} is {value}: expected a finite number")]
    NotFinite {
        /// What kind of number it is.
        what: &'static str,
        /// Row index, from 0.
        row: usize,
        /// `NaN`, `inf` or `-inf`.
        value: f64,
    },
    /// A sparse row has indices that are not strictly increasing or not below the number of
    /// columns.
    #[error(
        "row {row}: sparse indices must increase strictly and stay below {cols}, found {index}"
    )]
    SparseIndex {
        /// Row index, from 0.
        row: usize,
        /// The offending column index.
        index: u32,
        /// Number of columns.
        cols: usize,
    },
    /// A target is not one that the loss accepts.
    #[error("target {found} of row {row}: the {loss} loss expects {expected}")]
    Target {
        /// Row index, from 0.
        row: usize,
        /// The target.
        found: f64,
        /// Name of the loss.
        loss: &'static str,
        /// What it accepts.
        expected: String,
    },
    /// A loss came out infinite or NaN.
    #[error(
        "the loss in group {group} is {value} in round {round}: lower the step of w, bound the domain, or check the data"
    )]
    NonFiniteLoss {
        /// Index of the group.
        group: usize,
        /// Round, from 1; 0 for an evaluation outside the rounds.
        round: u64,
        /// The loss.
        value: f64,
    },
    /// A group's budget is used up and another draw from it was asked for.
    #[error("the budget of group {group} ({budget} samples) is used up")]
    BudgetExhausted {
        /// Index of the group.
        group: usize,
        /// Number of samples it had.
        budget: u64,
    },
    /// No point of the capped simplex has the given support.
    #[error(
        "cannot project onto the capped simplex: {positive} positive weights, expected at least {needed}"
    )]
    CappedSupport {
        /// Number of positive entries.
        positive: usize,
        /// Number needed, ⌈k⌉.
        needed: usize,
    },
    /// An algorithm was asked for something that it does not do.
    #[error("{algorithm} does not take {option}: {advice}")]
    Unsupported {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// What was asked.
        option: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
    /// A checkpoint does not belong to the solver it was given to.
    #[error("this state does not fit the solver: {0}")]
    State(String),
    /// A user's loss or source failed.
    #[error("{0}")]
    User(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Wraps an error of a user's own loss or source.
    pub fn user(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::User(error.into())
    }

    /// Shorthand for [`Error::Parameter`].
    pub(crate) fn parameter(
        name: &'static str,
        found: impl std::fmt::Display,
        expected: &'static str,
    ) -> Self {
        Error::Parameter { name, found: found.to_string(), expected }
    }
}

/// Checks a parameter: `Ok` when `holds`, otherwise [`Error::Parameter`].
pub(crate) fn require(
    holds: bool,
    name: &'static str,
    found: impl std::fmt::Display,
    expected: &'static str,
) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::parameter(name, found, expected)) }
}

/// A setting that nothing uses, or that contradicts another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Its name in job files.
    pub setting: &'static str,
    /// Why, and what to do.
    pub why: String,
}
