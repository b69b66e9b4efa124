//! The curve of a run as the page draws it.

use serde::Serialize;

use gdro_train::fit::Fitted;
use gdro_train::trace::TracePoint;

/// Most groups that are named in the chart.
const NAMED: usize = 12;

/// Most groups that are drawn at all.
const DRAWN: usize = 150;

/// Risks and weights of groups over the rounds of the last run.
#[derive(Debug, Serialize)]
pub struct Curve {
    rounds: Vec<u64>,
    lines: Vec<Line>,
    /// Groups with training rows that are not drawn.
    left_out: usize,
}

/// A group. Values have the digits that a chart shows.
#[derive(Debug, Serialize)]
struct Line {
    /// Its index among the groups of the page.
    group: usize,
    /// Whether the chart names it.
    named: bool,
    /// Empty where none of its rows is looked at.
    risks: Vec<f32>,
    weights: Vec<f32>,
}

impl Curve {
    /// The curve of a run; `None` when its points do not tell groups apart.
    pub fn of(fitted: &Fitted) -> Option<Self> {
        let points = fitted.trace.points();
        // A solver that was not certified in time starts anew: its last run is the answer.
        let start = points.iter().rposition(|p| p.round == 0).unwrap_or(0);
        let points = &points[start..];
        let last = points.last()?;
        let (risks, weights) = (last.risks.as_ref()?, last.weights.as_ref()?);
        let by = |values: &[f64]| {
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
            order
        };
        let risk = |group: usize| fitted.trace.place(group).map(|at| risks[at]);
        let risks: Vec<f64> =
            (0..weights.len()).map(|group| risk(group).unwrap_or(f64::NEG_INFINITY)).collect();
        // In turn the groups that decide and those that do worst.
        let mut order = Vec::new();
        for pair in by(weights).into_iter().zip(by(&risks)) {
            for group in [pair.0, pair.1] {
                if order.len() < DRAWN && !order.contains(&group) {
                    order.push(group);
                }
            }
            if order.len() == DRAWN {
                break;
            }
        }
        let place = |train: usize| fitted.table.groups.iter().position(|g| g.train == Some(train));
        let column = |of: fn(&TracePoint) -> Option<&Vec<f64>>, group: usize| {
            points.iter().filter_map(of).map(|v| v[group] as f32).collect()
        };
        let line = |(at, train): (usize, &usize)| {
            Some(Line {
                group: place(*train)?,
                named: at < NAMED,
                risks: fitted
                    .trace
                    .place(*train)
                    .map_or_else(Vec::new, |at| column(|p| p.risks.as_ref(), at)),
                weights: column(|p| p.weights.as_ref(), *train),
            })
        };
        Some(Curve {
            rounds: points.iter().map(|p| p.round).collect(),
            lines: order.iter().enumerate().filter_map(line).collect(),
            left_out: weights.len() - order.len(),
        })
    }
}
