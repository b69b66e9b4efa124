//! How a table is streamed.

use std::path::PathBuf;

use gdro::algorithm::Algorithm;
use serde::{Deserialize, Serialize};

use super::settings::Settings;
use super::training::{Objective, SolverName, Training};
use crate::failure::{Failure, Result};

/// Names of the settings that need `stream`.
const OWN: [&str; 4] = ["schema", "buffer", "one-pass", "robust-only"];

/// Names of settings that need the rows in memory.
const IN_MEMORY: [(&str, &str); 8] = [
    ("tol", "the certificate comes after the pass"),
    ("budget", "every row is visited at most once anyway"),
    ("weight", "rows that are visited once cannot be weighted"),
    ("holdout-file", "the last rows of each group are held out"),
    ("holdout-column", "the last rows of each group are held out"),
    ("offsets", "it plays the game without offsets"),
    ("adjustment", "it plays the game without offsets"),
    ("scales", "it plays the game without scales"),
];

/// Algorithms that visit each row at most once.
const SOLVERS: [Algorithm; 4] =
    [Algorithm::SmdR, Algorithm::SmdM, Algorithm::SmpaM, Algorithm::Hybrid];

/// Most rows of a block.
const MOST: u64 = 1 << 24;

/// Training in one pass over the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Streaming {
    /// What an earlier pass found out about the table; a pass that counts comes first when absent.
    pub schema: Option<PathBuf>,
    /// Rows that are shuffled at a time; by the width of the encoded table when absent.
    pub buffer: Option<u64>,
    /// Whether there is no pass after training: no certificate and no evaluation.
    pub one_pass: bool,
    /// Whether ordinary training is left out.
    pub robust_only: bool,
}

impl Settings {
    /// How the table is streamed, when it is.
    pub(super) fn streaming(&self, training: &Training) -> Result<Option<Streaming>> {
        if !self.flag("stream")? {
            if let Some(key) = OWN.into_iter().find(|key| self.has(key)) {
                return Err(self.refused(key, "it is for tables that are streamed: add --stream"));
            }
            return Ok(None);
        }
        for (key, why) in IN_MEMORY {
            if self.insists(key) {
                return Err(self.refused(key, &format!("not with --stream: {why}")));
            }
        }
        if training.objective != Objective::Max {
            let why = format!("--stream minimises max, not {}", training.objective);
            return Err(self.refused("objective", &why));
        }
        let known = match training.solver {
            SolverName::Auto => true,
            SolverName::Exact => false,
            SolverName::Rounds(algorithm) => SOLVERS.contains(&algorithm),
        };
        if !known {
            let names = SOLVERS.map(|a| a.name()).join(", ");
            let why = format!(
                "{} needs the rows in memory: with --stream use one of {names}",
                training.solver
            );
            return Err(self.refused("solver", &why));
        }
        Ok(Some(Streaming {
            schema: self.text("schema")?.map(PathBuf::from),
            buffer: self.count("buffer", 16, MOST)?,
            one_pass: self.flag("one-pass")?,
            robust_only: self.flag("robust-only")?,
        }))
    }

    fn refused(&self, key: &str, why: &str) -> Failure {
        Failure::input(format!("{}: {why}", self.place(key)))
    }
}
