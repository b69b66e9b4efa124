//! How a table is streamed.

use std::path::PathBuf;

use gdro::algorithm::Algorithm;
use gdro::setting::{Objective, SolverName};
use serde::{Deserialize, Serialize};

use super::training::Training;
use crate::failure::Result;
use crate::options::{Settings, TABLE, Use};

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

impl Streaming {
    /// How the table is streamed, when it is.
    pub(super) fn of(settings: &Settings, training: &Training) -> Result<Option<Self>> {
        if !settings.flag("stream")? {
            let mut of_streams = TABLE.iter().filter(|option| option.used_by == Use::Stream);
            if let Some(option) = of_streams.find(|option| settings.has(option.key)) {
                let why = "it is for tables that are streamed: add --stream";
                return Err(settings.refusal(option.key, why));
            }
            return Ok(None);
        }
        for option in TABLE {
            if let Some(why) = option.unstreamed.filter(|_| settings.insists(option.key)) {
                return Err(settings.refusal(option.key, &format!("not with --stream: {why}")));
            }
        }
        if training.objective != Objective::Max {
            let instead = match training.objective {
                Objective::Tilted(_) => ": leave --stream out where the table fits in memory",
                _ => "",
            };
            let why = format!("--stream minimises max, not {}{instead}", training.objective);
            return Err(settings.refusal("objective", &why));
        }
        let known = match training.solver {
            SolverName::Auto => true,
            SolverName::Exact => false,
            SolverName::Rounds(algorithm) => algorithm.spec().streams,
        };
        if !known {
            let names = Algorithm::named(|spec| spec.streams);
            let why = format!(
                "{} needs the rows in memory: with --stream use one of {names}",
                training.solver
            );
            return Err(settings.refusal("solver", &why));
        }
        Ok(Some(Streaming {
            schema: settings.text("schema")?.map(PathBuf::from),
            buffer: settings.count("buffer")?,
            one_pass: settings.flag("one-pass")?,
            robust_only: settings.flag("robust-only")?,
        }))
    }
}
