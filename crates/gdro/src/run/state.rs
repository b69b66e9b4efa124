//! The state of a solver as one value.

use serde::{Deserialize, Serialize};

use super::kept::Kept;
use crate::sampling::Streams;

/// Everything a solver needs to go on, bit for bit: points, averages, generators and counters.
/// Plain numbers, to be stored in any format that keeps 64-bit floats exactly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Rounds played.
    pub rounds: u64,
    /// Samples drawn from each group.
    pub samples: Vec<u64>,
    /// Losses clipped for the bandit player.
    pub clipped: u64,
    /// The random streams.
    pub streams: Streams,
    /// Point and average of the model.
    pub model: Vec<f64>,
    /// Point and average of the group weights.
    pub weights: Vec<f64>,
    /// The anchor of mirror-prox, model and weights.
    pub anchor: Option<(Vec<f64>, Vec<f64>)>,
    /// The finished stretch of a suffix average: model, weights, and its length.
    pub stretch: Option<(Vec<f64>, Vec<f64>, f64)>,
    /// The memory of the source.
    pub source: Vec<u64>,
    /// The memory of the estimator.
    pub estimator: Vec<f64>,
    /// Point and average of the groups' own models, for minimax regret.
    pub own: Vec<Vec<f64>>,
    /// Samples that outlive their round.
    pub kept: Kept,
    /// The model that distances are measured from.
    pub mark: Vec<f64>,
}

/// Where a run starts that does not start from nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// The first model, a point of the set of models.
    pub model: Vec<f64>,
    /// [`State::weights`] of an earlier run on the same groups, if there is one.
    pub weights: Option<Vec<f64>>,
}

impl Start {
    /// At a model, with uniform group weights.
    pub fn at(model: Vec<f64>) -> Self {
        Start { model, weights: None }
    }
}
