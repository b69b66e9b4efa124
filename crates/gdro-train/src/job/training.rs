//! How a model is trained.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use gdro::average::Average;
use gdro::domain::DomainSpec;
use gdro::group_weights::Subsets;
use gdro::loss::AnyLoss;
use gdro::setting::{Objective, SolverName};
use serde::{Deserialize, Serialize};

use crate::options::{Kind, find};

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
    /// Rows once each, and so many of each group.
    Named(BTreeMap<String, f64>),
}

/// A number for each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerGroup {
    /// By the name of the group.
    Named(BTreeMap<String, f64>),
    /// In a file with a column `group` and one of the numbers.
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
    /// Most iterations of the exact solver.
    #[serde(default = "most_iterations", skip_serializing_if = "is_usual")]
    pub max_iter: usize,
    /// Offsets b_i of the groups (columns group, offset); none when absent.
    pub offsets: Option<PerGroup>,
    /// C of the offsets −C/√n_i; none when absent.
    pub adjustment: Option<f64>,
    /// Scale factors p_i of the groups (columns group, scale); 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scales: Option<PerGroup>,
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
    /// Radius of the Euclidean ball; none when absent.
    pub ball: Option<f64>,
    /// Another set that the weights lie in; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<DomainSpec>,
    /// Ridge.
    pub l2: f64,
    /// Whether there is no intercept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_intercept: bool,
    /// Whether the intercept lies under the ridge and in the set of the weights.
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
    /// B: rows with weights count as min(w, B) in intervals; the largest weight of a training row
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight_cap: Option<f64>,
    /// S: rows in clusters count as min(Σ w, S) together in intervals; the largest weight of a
    /// cluster in a training group when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_cap: Option<f64>,
}

impl Training {
    /// Whether it is ordinary training (ERM).
    pub fn is_ordinary(&self) -> bool {
        self.objective == Objective::Average
    }

    /// The set that the weights lie in.
    pub fn domain(&self) -> DomainSpec {
        self.domain.unwrap_or(DomainSpec::ball(self.ball))
    }

    /// Refuses numbers, as they were read from a file, that no options give.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        let numbers = [
            ("tol", self.tol),
            ("adjustment", self.adjustment),
            ("loss-range", self.loss_range),
            ("ball", self.ball),
            ("l2", Some(self.l2)),
            ("step-w", self.step_w),
            ("step-q", self.step_q),
            ("delta", Some(self.delta)),
            ("weight-cap", self.weight_cap),
            ("cluster-cap", self.cluster_cap),
        ];
        for (key, number) in numbers {
            let (Some(number), Some(Kind::Number(range) | Kind::Bound(range))) =
                (number, find(key).map(|option| option.kind))
            else {
                continue;
            };
            if !range.holds(number) {
                return Err(format!("{key} is {number}: expected {}", range.expected));
            }
        }
        match self.holdout {
            share if (0.0..1.0).contains(&share) => Ok(()),
            rows if rows >= 1.0 && rows.fract() == 0.0 => Ok(()),
            other => Err(format!("holdout is {other}: expected a share or a number of rows")),
        }
    }

    /// Whether there is an intercept outside of ridge and domain.
    pub fn is_free(&self) -> bool {
        !self.penalize_intercept && !self.no_intercept
    }

    /// Puts the weights in a set. Euclidean balls have a field of their own.
    pub fn set_domain(&mut self, domain: DomainSpec) {
        (self.ball, self.domain) = match domain {
            DomainSpec::Free => (None, None),
            DomainSpec::Ball(radius) => (Some(radius), None),
            other => (None, Some(other)),
        };
    }
}

/// Iterations of the exact solver where nothing else is said.
pub const MOST_ITERATIONS: usize = 200;

fn most_iterations() -> usize {
    MOST_ITERATIONS
}

fn is_usual(iterations: &usize) -> bool {
    *iterations == MOST_ITERATIONS
}
