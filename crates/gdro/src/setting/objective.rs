//! What is minimised, and by whom, by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::algorithm::Algorithm;

/// What is minimised. In text `max`, `top-k:K`, `tilted:TAU` or `tilted:TAU:groups`, `average`,
/// `balanced` or `regret`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Objective {
    /// The largest group risk.
    Max,
    /// The mean of the k largest group risks, real k.
    TopK(f64),
    /// The tilted risk, between the mean over the prior and the largest group risk.
    Tilted(Tilt),
    /// The mean over rows: ordinary training.
    Average,
    /// The mean over groups.
    Balanced,
    /// The largest regret R_i(w) − R_i*, where R_i* is what a model for group i alone attains.
    Regret,
}

/// The tilted risk τ ln Σ p̂_i exp(R_i/τ) of a prior p̂ ([`crate::exact::Goal::Tilted`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tilt {
    /// τ > 0, in units of the loss.
    pub tau: f64,
    /// What p̂ is.
    pub prior: Prior,
}

/// The weights of the groups from which a tilted risk starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// Rows alike: the shares of the groups; with several families of groups those of each, divided by
    /// the number of families.
    Rows,
    /// Groups alike: 1/m.
    Groups,
}

impl fmt::Display for Prior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Prior::Rows => "rows",
            Prior::Groups => "groups",
        })
    }
}

impl fmt::Display for Tilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tilted:{}", self.tau)?;
        if self.prior == Prior::Rows { Ok(()) } else { write!(f, ":{}", self.prior) }
    }
}

impl Tilt {
    /// TAU, TAU:rows or TAU:groups; `None` for anything else.
    fn of(text: &str) -> Option<Self> {
        let (tau, prior) = match text.split_once(':') {
            None => (text, Prior::Rows),
            Some((tau, "rows")) => (tau, Prior::Rows),
            Some((tau, "groups")) => (tau, Prior::Groups),
            Some(_) => return None,
        };
        let tau = tau.parse().ok().filter(|tau: &f64| *tau > 0.0 && tau.is_finite())?;
        Some(Tilt { tau, prior })
    }
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
            Objective::Tilted(tilt) => tilt.fmt(f),
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
        let expected = "expected max, top-k:K, tilted:TAU, regret, average or balanced";
        match text {
            "max" => Ok(Objective::Max),
            "average" => Ok(Objective::Average),
            "balanced" => Ok(Objective::Balanced),
            "regret" => Ok(Objective::Regret),
            _ if text.starts_with("tilted:") => {
                let tilt = Tilt::of(&text["tilted:".len()..]).map(Objective::Tilted);
                tilt.ok_or(format!(
                    "`{text}`: expected a number TAU above 0 after tilted:, and :groups or :rows after it or nothing"
                ))
            }
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

/// Who minimises the objective. In text `auto`, `exact` or the name of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum SolverName {
    /// The reference solver where it fits, else the stochastic solver of the objective, see
    /// [`Size::solver`](super::Size::solver).
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
