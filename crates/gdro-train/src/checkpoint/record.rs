//! Which run a checkpoint is of.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::job::{Choice, Fitting, Job};
use crate::options::{Front, find};

/// What is done with a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// `gdro fit`.
    Fit(Fitting),
    /// `gdro select`.
    Select(Choice),
}

/// A run: what follows from it, and from its inputs, are the bits of its results.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Record {
    /// The version of gdro, of which other versions may have other bits.
    pub version: String,
    /// The folder that names of files start from.
    pub folder: Option<PathBuf>,
    /// The job.
    pub job: Job,
    /// What is done with it.
    pub work: Work,
    /// CRC-32 of the rows, where they are in memory.
    pub rows: Option<u32>,
    /// CRC-32 of the model that it starts from, if there is one.
    #[serde(default)]
    pub start: Option<u32>,
    /// Where the page for a browser is written.
    pub report: Option<PathBuf>,
    /// Seconds between checkpoints, where they were given.
    pub every: Option<f64>,
}

impl Record {
    /// The record of a run of this version of gdro.
    pub fn new(job: &Job, work: Work) -> Self {
        Record {
            version: env!("CARGO_PKG_VERSION").into(),
            folder: std::env::current_dir().ok(),
            job: job.clone(),
            work,
            rows: None,
            start: None,
            report: job.report.clone(),
            every: job.checkpoint_every,
        }
    }

    /// What another run does otherwise, in words: `l2 was 1 and is 2`. Empty when it ends with the same
    /// bits.
    pub fn differences(&self, now: &Record, front: Front) -> Vec<String> {
        let mut found = Vec::new();
        if self.version != now.version {
            found.push(format!("gdro was {} and is {}", self.version, now.version));
        }
        if self.rows != now.rows {
            found.push("the rows are others".into());
        }
        if self.start != now.start {
            found.push("the model that it starts from is another".into());
        }
        let value = |record: &Record| serde_json::to_value((&record.job, &record.work));
        let (Ok(before), Ok(now)) = (value(self), value(now)) else { return found };
        compare("the job", &before, &now, front, &mut found);
        found
    }
}

/// Compares two values of this name, entry by entry.
fn compare(name: &str, before: &Value, now: &Value, front: Front, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(a), Value::Object(b)) => {
            let new = b.keys().filter(|key| !a.contains_key(*key));
            for key in a.keys().chain(new) {
                let of = |map: &serde_json::Map<String, Value>| {
                    map.get(key).cloned().unwrap_or(Value::Null)
                };
                compare(key, &of(a), &of(b), front, found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).for_each(|(a, b)| compare(name, a, b, front, found));
        }
        _ if before == now => {}
        _ => {
            let name = find(name).map_or_else(|| name.to_owned(), |option| front.name(option.key));
            found.push(format!("{name} was {} and is {}", words(before), words(now)));
        }
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => "not given".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_named() {
        let differences = |a: Value, b: Value| {
            let mut found = Vec::new();
            compare("the job", &a, &b, Front::Program, &mut found);
            found
        };
        let job = json!({"tables": ["a.csv"], "training": {"l2": 1.0, "ball": null}});
        assert_eq!(differences(job.clone(), job.clone()), [""; 0]);
        let other = json!({"tables": ["b.csv"], "training": {"l2": 2.0, "tol": 0.5}});
        assert_eq!(
            differences(job, other),
            [
                "tables was a.csv and is b.csv",
                "--l2 was 1.0 and is 2.0",
                "--tol was not given and is 0.5"
            ]
        );
    }
}
