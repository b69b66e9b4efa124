//! The curve of a run.

use gdro::risk::group_risks;
use gdro::run::Look;
use serde::{Deserialize, Serialize, Serializer};

use crate::failure::{Failure, Result};
use crate::prepared::Setting;

/// With more groups than this a point of the file holds only the summary of the risks.
const MANY: usize = 64;

/// With more groups than this, so does a point in memory.
const MOST: usize = 20_000;

/// A point of the curve: the averaged iterate after so many rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Risks on training rows of the groups that have any, see [`Trace::place`]; absent when there
    /// are too many.
    pub risks: Option<Vec<f64>>,
    /// Weights of all groups; absent when there are too many.
    pub weights: Option<Vec<f64>>,
}

/// A point as a line of the file.
#[derive(Serialize)]
struct Line<'a> {
    round: u64,
    samples: u64,
    seconds: f64,
    max_risk: f64,
    objective: f64,
    avg_risk_groups: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    risks: Option<Named<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Named<'a>>,
}

/// Values by the names of their groups.
struct Named<'a>(Vec<(&'a str, f64)>);

impl<'a> Named<'a> {
    /// The values of the groups that have one, and where it is.
    fn of(names: &[&'a str], values: &[f64], place: impl Fn(&usize) -> Option<usize>) -> Self {
        let value = |(group, name): (usize, &&'a str)| Some((*name, values[place(&group)?]));
        Named(names.iter().enumerate().filter_map(value).collect())
    }
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// The points of a run, from round 0 on, on training rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    points: Vec<TracePoint>,
    /// The groups that risks are of, in order; all when absent.
    present: Option<Vec<usize>>,
}

impl Trace {
    /// A curve on rows in which only these groups, in ascending order, occur.
    pub fn of_groups(present: &[usize]) -> Self {
        Trace { present: Some(present.to_vec()), ..Trace::default() }
    }

    /// Where a group is among the risks of a point; `None` when none of its rows is looked at.
    pub fn place(&self, group: usize) -> Option<usize> {
        match &self.present {
            Some(present) => present.binary_search(&group).ok(),
            None => Some(group),
        }
    }

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

    /// The text of `trace.jsonl`, a point per line; `names` are those of the groups.
    pub fn text(&self, names: &[&str]) -> Result<String> {
        let few = names.len() <= MANY;
        let at = |group: &usize| self.place(*group);
        let mut text = String::new();
        for point in &self.points {
            let risks = point.risks.as_deref().filter(|_| few);
            let weights = point.weights.as_deref().filter(|_| few);
            let line = Line {
                round: point.round,
                samples: point.samples,
                seconds: point.seconds,
                max_risk: point.max_risk,
                objective: point.objective,
                avg_risk_groups: point.avg_risk_groups,
                risks: risks.map(|values| Named::of(names, values, at)),
                weights: weights.map(|values| Named::of(names, values, |group| Some(*group))),
            };
            text += &serde_json::to_string(&line)
                .map_err(|e| Failure::Machine(format!("cannot write the trace: {e}")))?;
            text.push('\n');
        }
        Ok(text)
    }
}
