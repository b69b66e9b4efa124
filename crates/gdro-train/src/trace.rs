//! The curve of a run.

use gdro::risk::group_risks;
use gdro::run::Look;
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::prepared::Setting;

/// With more groups than this a point of the file holds only the summary of the risks.
const MANY: usize = 64;

/// With more groups than this, so does a point in memory.
const MOST: usize = 20_000;

/// A point of the curve: the averaged iterate after so many rounds.
#[derive(Debug, Serialize)]
pub struct TracePoint {
    /// Rounds, or iterations of the reference solver.
    pub round: u64,
    /// Samples drawn so far.
    pub samples: u64,
    /// Seconds of the solver so far.
    pub seconds: f64,
    max_risk: f64,
    /// The objective without the ridge.
    pub objective: f64,
    avg_risk_groups: f64,
    /// Risks of the groups on training rows; absent when there are too many.
    #[serde(skip_serializing_if = "is_long")]
    pub risks: Option<Vec<f64>>,
    /// Weights of the groups; absent when there are too many.
    #[serde(skip_serializing_if = "is_long")]
    pub weights: Option<Vec<f64>>,
}

/// Whether a list is not written to the file.
fn is_long(list: &Option<Vec<f64>>) -> bool {
    list.as_ref().is_none_or(|values| values.len() > MANY)
}

/// The points of a run, from round 0 on, on training rows.
#[derive(Debug, Default)]
pub struct Trace {
    points: Vec<TracePoint>,
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
        let few = risks.len() <= MOST;
        self.points.push(TracePoint {
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

    /// Adds what is seen of a run on the rows of a setting, after so many samples and seconds of
    /// earlier runs. Returns the largest risk.
    ///
    /// # Errors
    /// Those of the loss.
    pub fn look(
        &mut self,
        setting: &Setting,
        look: &Look<'_>,
        (samples, seconds): (u64, f64),
    ) -> gdro::Result<f64> {
        let risks = group_risks(&setting.loss, look.w, &setting.data)?;
        let at = (look.rounds, samples + look.samples, seconds + look.seconds);
        self.point(at, &risks, look.q, setting.objective(&risks));
        Ok(risks.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }

    /// The points.
    pub fn points(&self) -> &[TracePoint] {
        &self.points
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
