//! The curve of a run.

use serde::Serialize;

use crate::failure::{Failure, Result};

/// With more groups than this a point holds only the summary of the risks.
const MANY: usize = 64;

/// A point of the curve: the averaged iterate after so many rounds.
#[derive(Debug, Serialize)]
struct Point {
    round: u64,
    samples: u64,
    seconds: f64,
    max_risk: f64,
    objective: f64,
    avg_risk_groups: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    risks: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
}

/// The points of a run, from round 0 on, on training rows.
#[derive(Debug, Default)]
pub struct Trace {
    points: Vec<Point>,
}

impl Trace {
    /// Adds a point: rounds (or iterations), samples and seconds so far, risks, group weights, and
    /// the objective without the ridge.
    pub fn point(
        &mut self,
        (round, samples, seconds): (u64, u64, f64),
        risks: &[f64],
        weights: &[f64],
        objective: f64,
    ) {
        let few = risks.len() <= MANY;
        self.points.push(Point {
            round,
            samples,
            seconds,
            max_risk: risks.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            objective,
            avg_risk_groups: risks.iter().sum::<f64>() / risks.len() as f64,
            risks: few.then(|| risks.to_vec()),
            weights: few.then(|| weights.to_vec()),
        });
    }

    /// The text of `trace.jsonl`, a point per line.
    pub fn text(&self) -> Result<String> {
        let mut text = String::new();
        for point in &self.points {
            text += &serde_json::to_string(point)
                .map_err(|e| Failure::Machine(format!("cannot write the trace: {e}")))?;
            text.push('\n');
        }
        Ok(text)
    }
}
