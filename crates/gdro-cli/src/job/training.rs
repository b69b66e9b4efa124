//! How a model is trained.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use gdro::algorithm::Algorithm;
use gdro::average::Average;
use serde::{Deserialize, Serialize};

/// What is minimised.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Objective {
    /// The largest group risk.
    Max,
    /// The mean of the k largest group risks, real k.
    TopK(f64),
    /// The mean over rows: ordinary training.
    Average,
    /// The mean over groups.
    Balanced,
}

/// Ordinary training, with which the robust model is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Empirical risk minimisation: every row counts alike.
    Erm,
    /// Every group counts alike.
    Balanced,
}

impl Objective {
    /// Whether the group weights stay as they are: ordinary training.
    pub fn fixes_weights(self) -> bool {
        matches!(self, Objective::Average | Objective::Balanced)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objective::Max => f.write_str("max"),
            Objective::TopK(k) => write!(f, "top-k:{k}"),
            Objective::Average => f.write_str("average"),
            Objective::Balanced => f.write_str("balanced"),
        }
    }
}

impl From<Objective> for String {
    fn from(objective: Objective) -> Self {
        objective.to_string()
    }
}

impl TryFrom<String> for Objective {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected max, top-k:K, average or balanced";
        match text {
            "max" => Ok(Objective::Max),
            "average" => Ok(Objective::Average),
            "balanced" => Ok(Objective::Balanced),
            _ => {
                let k = text.strip_prefix("top-k:").ok_or(format!("`{text}`: {expected}"))?;
                match k.parse::<f64>() {
                    Ok(k) if k >= 1.0 && k.is_finite() => Ok(Objective::TopK(k)),
                    _ => Err(format!("`{text}`: expected a number K of at least 1 after top-k:")),
                }
            }
        }
    }
}

/// The losses by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// For two labels.
    Logistic,
    /// For classes.
    Softmax,
    /// For numbers.
    Squared,
}

impl FromStr for LossName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "logistic" => Ok(LossName::Logistic),
            "softmax" => Ok(LossName::Softmax),
            "squared" => Ok(LossName::Squared),
            _ => Err(format!(
                "`{text}`: expected logistic (two labels), softmax (classes) or squared (numbers)"
            )),
        }
    }
}

/// Which rows a solver may draw, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    /// Every training row once.
    All,
    /// Rows once each, and of each group as many as a file says.
    File(PathBuf),
}

/// All settings of a training run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Training {
    /// What is minimised.
    pub objective: Objective,
    /// By which algorithm.
    pub solver: Algorithm,
    /// Whether its steps fall with time.
    pub anytime: bool,
    /// The loss; by the kind of target when absent.
    pub loss: Option<LossName>,
    /// The range M of the losses for the steps and the bandit players; by the domain when absent.
    pub loss_range: Option<f64>,
    /// Radius of the ball; none when absent.
    pub ball: Option<f64>,
    /// Ridge.
    pub l2: f64,
    /// Whether the intercept lies under ridge and ball.
    pub penalize_intercept: bool,
    /// Number of rounds; by solver and budget when absent.
    pub rounds: Option<u64>,
    /// Multiplier on the theorem's step of w.
    pub step_w: f64,
    /// Multiplier on the theorem's step of q.
    pub step_q: f64,
    /// The average; the theorem's when absent.
    pub average: Option<Average>,
    /// Budgets; draws with replacement when absent.
    pub budget: Option<Budget>,
    /// What is held out: a share below 1, or a number of rows per group.
    pub holdout: f64,
    /// Seed of the split and of the solver.
    pub seed: u64,
}
