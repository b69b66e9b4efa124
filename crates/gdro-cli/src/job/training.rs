//! How a model is trained.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use gdro::algorithm::Algorithm;
use gdro::average::Average;
use gdro::group_weights::Subsets;
use gdro::loss::AnyLoss;
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
    /// The largest regret R_i(w) − R_i*, where R_i* is what a model for group i alone attains.
    Regret,
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
            Objective::Regret => f.write_str("regret"),
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
        let expected = "expected max, top-k:K, regret, average or balanced";
        match text {
            "max" => Ok(Objective::Max),
            "average" => Ok(Objective::Average),
            "balanced" => Ok(Objective::Balanced),
            "regret" => Ok(Objective::Regret),
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

/// Who minimises the objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum SolverName {
    /// The reference solver where it fits, else the stochastic solver of the objective.
    Auto,
    /// The reference solver.
    Exact,
    /// One of the paper's algorithms, in rounds.
    Rounds(Algorithm),
}

impl SolverName {
    /// The algorithm, for the solvers that play rounds.
    pub fn algorithm(self) -> Option<Algorithm> {
        match self {
            SolverName::Rounds(algorithm) => Some(algorithm),
            SolverName::Auto | SolverName::Exact => None,
        }
    }
}

impl fmt::Display for SolverName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolverName::Auto => f.write_str("auto"),
            SolverName::Exact => f.write_str("exact"),
            SolverName::Rounds(algorithm) => f.write_str(algorithm.name()),
        }
    }
}

impl FromStr for SolverName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(SolverName::Auto),
            "exact" => Ok(SolverName::Exact),
            _ => text.parse().map(SolverName::Rounds).map_err(|_| {
                let names = Algorithm::named(|_| true);
                format!("unknown solver `{text}`: expected one of auto, exact, {names}")
            }),
        }
    }
}

impl From<SolverName> for String {
    fn from(solver: SolverName) -> Self {
        solver.to_string()
    }
}

impl TryFrom<String> for SolverName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// A loss by its name, which does not say how many classes there are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LossName(pub AnyLoss);

impl fmt::Display for LossName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for LossName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(LossName)
    }
}

impl From<LossName> for String {
    fn from(loss: LossName) -> Self {
        loss.to_string()
    }
}

impl TryFrom<String> for LossName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
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
    /// By which solver.
    pub solver: SolverName,
    /// Stop when the certified gap is at most this; the solver's own rule when absent.
    pub tol: Option<f64>,
    /// Offsets b_i of the groups (columns group, offset); none when absent.
    pub offsets: Option<PathBuf>,
    /// C of the offsets −C/√n_i; none when absent.
    pub adjustment: Option<f64>,
    /// Scale factors p_i of the groups (columns group, scale); 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scales: Option<PathBuf>,
    /// n̄ of the hybrid; by the budgets when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbar: Option<u64>,
    /// Numbers of groups that flexible queries ask in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<Vec<usize>>,
    /// Samples of every group that elimination keeps; by the rounds when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<u64>,
    /// How AT_kRO(k) draws its groups; by their number when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subsets: Option<Subsets>,
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
    /// Multiplier on the theorem's step of w; by pilot runs when absent.
    pub step_w: Option<f64>,
    /// Multiplier on the theorem's step of q; by pilot runs when absent.
    pub step_q: Option<f64>,
    /// The average; the theorem's when absent.
    pub average: Option<Average>,
    /// Budgets; draws with replacement when absent.
    pub budget: Option<Budget>,
    /// What is held out: a share below 1, or a number of rows per group.
    pub holdout: f64,
    /// A table whose rows are held out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout_file: Option<PathBuf>,
    /// Seed of the split and of the solver.
    pub seed: u64,
    /// δ: intervals hold for all groups at once with probability 1 − δ.
    pub delta: f64,
}
