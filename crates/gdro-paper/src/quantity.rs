//! What a panel shows, and against what.

use serde::Deserialize;

/// What a panel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// The objective of the experiment: the mean of its k largest risks.
    Objective,
    /// That minus the exact optimum.
    Excess,
    /// The exact duality gap of the run's own game.
    Gap,
    /// The risk of one group.
    Risk,
    /// With x = "model": the risks of single groups.
    Risks,
    /// With x = "model": the largest risk and the mean of the k largest.
    Objectives,
}

/// What a panel has on its horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// Rounds.
    Rounds,
    /// Samples, of all groups together.
    Samples,
    /// The model, a single number.
    Model,
}
