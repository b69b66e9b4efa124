//! Figures of outcomes.

use gdro::game::top_k_mean;
use gdro::source::Coins;

use crate::bands::{View, curves, median, quantile};
use crate::error::{Error, Result};
use crate::experiment::Panel;
use crate::figure::{self, Axis, Band, Curve, Dot, Figure, Level, Mark, Scale};
use crate::outcome::{Outcome, Series};
use crate::quantity::{Against, Quantity};
use crate::settings::StepRule;

/// The lower and upper end of bands over seeds.
const BAND: (f64, f64) = (0.1, 0.9);

/// Of the sixteen coins of Example 1 those whose risks are drawn, from 1.
const COINS: [usize; 9] = [1, 2, 4, 6, 8, 10, 12, 14, 16];

/// The name of the optimum of the experiment's own objective.
const EXACT: &str = "at the exact optimum";

/// Points of a curve over the model.
const MODELS: usize = 201;

/// The figure of an experiment under a rule: ending and contents of each file.
pub(crate) fn figure(outcome: &Outcome, rule: StepRule) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let steps = match rule {
        StepRule::Theory => "steps of the theorems",
        StepRule::Tuned => "tuned steps",
    };
    let experiment = &outcome.experiment;
    let figure = Figure {
        title: format!("{} ({steps})", experiment.title),
        columns: experiment.columns,
        panels: experiment.panels.iter().map(|p| panel(outcome, rule, p)).collect(),
    };
    let failed = |e: figure::Error| Error::Figure {
        figure: format!("{}-{}", experiment.name, rule.name()),
        message: e.to_string(),
    };
    let svg = figure::svg(&figure).map_err(failed)?;
    let png = figure::png(&svg).map_err(failed)?;
    Ok(vec![("svg", svg.into_bytes()), ("png", png)])
}

/// The style of a run: runs of one label share it.
fn style(outcome: &Outcome, series: &Series) -> usize {
    let mut labels: Vec<&str> = Vec::new();
    for run in &outcome.experiment.runs {
        if !labels.contains(&run.label.as_str()) {
            labels.push(&run.label);
        }
    }
    labels.iter().position(|label| *label == series.run.label).unwrap_or(0)
}

fn panel(outcome: &Outcome, rule: StepRule, panel: &Panel) -> figure::Panel {
    let axis = |label: &str, scale| Axis { label: label.into(), scale, range: None };
    let shown: Vec<&Series> = outcome
        .series
        .iter()
        .filter(|s| s.rule == rule)
        .filter(|s| panel.runs.is_empty() || panel.runs.contains(&s.run.id))
        .collect();
    let marks = panel.marks.iter().map(|m| Mark { name: m.name.clone(), x: m.x });
    let mut drawn = figure::Panel {
        title: panel.title.clone(),
        x: match panel.x {
            Against::Rounds => axis("rounds", Scale::Log),
            Against::Samples => axis("samples", Scale::Log),
            Against::Model => axis("w", Scale::Linear),
        },
        y: match panel.y {
            Quantity::Objective => axis(&objective(outcome.experiment.k), Scale::Linear),
            Quantity::Objectives => axis("objective", Scale::Linear),
            Quantity::Excess => axis("above the exact optimum", Scale::Log),
            Quantity::Gap => axis("duality gap", Scale::Log),
            Quantity::Risk | Quantity::Risks => axis("risk", Scale::Linear),
        },
        marks: marks.collect(),
        ..figure::Panel::default()
    };
    drawn.y.range = panel.range;
    if panel.x == Against::Model {
        over_the_model(outcome, rule, panel, &mut drawn);
        return drawn;
    }
    let view = View { y: panel.y, group: panel.group, x: panel.x };
    for series in &shown {
        drawn.curves.push(Curve {
            name: series.run.label.clone(),
            style: style(outcome, series),
            bound: false,
            points: bands(outcome, series, view),
        });
    }
    if panel.y == Quantity::Gap {
        for series in &shown {
            bound(outcome, series, panel.x, &mut drawn);
        }
    }
    drawn.levels = levels(outcome, panel, &shown);
    drawn
}

/// The name of the mean of the k largest risks.
fn objective(k: f64) -> String {
    if k == 1.0 { "largest risk".into() } else { format!("mean of the {k} largest risks") }
}

/// Median and band over seeds at every look.
fn bands(outcome: &Outcome, series: &Series, view: View) -> Vec<Band> {
    let curves = curves(outcome, series, view);
    let looks = curves.iter().map(Vec::len).max().unwrap_or(0);
    let at = |look: usize| {
        let seen: Vec<(f64, f64)> = curves.iter().filter_map(|c| c.get(look)).copied().collect();
        // Where some seeds ran out of samples the others are no band of all.
        if 2 * seen.len() <= curves.len() {
            return None;
        }
        let x = seen.iter().map(|p| p.0).sum::<f64>() / seen.len() as f64;
        let y: Vec<f64> = seen.iter().map(|p| p.1).collect();
        let (low, high) = (quantile(&y, BAND.0), quantile(&y, BAND.1));
        Some(Band { x, low, median: median(&y), high })
    };
    let mut bands: Vec<Band> = (0..looks).filter_map(at).collect();
    bands.dedup_by(|next, last| next.x <= last.x);
    bands
}

/// The theorem's bound: a line, or a dot where it speaks of one number of rounds only.
fn bound(outcome: &Outcome, series: &Series, x: Against, drawn: &mut figure::Panel) {
    let style = style(outcome, series);
    let place =
        |rounds: u64, samples: u64| (if x == Against::Samples { samples } else { rounds }) as f64;
    let points =
        series.bounds.iter().map(|(rounds, samples, value)| (place(*rounds, *samples), *value));
    let points: Vec<(f64, f64)> = points.collect();
    match points[..] {
        [] => {}
        [(x, y)] => drawn.dots.push(Dot { name: "bound".into(), style, x, y }),
        _ => drawn.curves.push(Curve {
            name: "bound".into(),
            style,
            bound: true,
            points: points
                .iter()
                .map(|(x, y)| Band { x: *x, low: *y, median: *y, high: *y })
                .collect(),
        }),
    }
}

/// Exact values beside the curves.
fn levels(outcome: &Outcome, panel: &Panel, shown: &[&Series]) -> Vec<Level> {
    let level = |name: String, values: Vec<f64>| Level {
        name,
        value: median(&values),
        low: quantile(&values, BAND.0),
        high: quantile(&values, BAND.1),
    };
    match panel.y {
        Quantity::Objective => {
            let optima = outcome.own_optima();
            let best = optima.iter().map(|o| o.value).collect();
            let mean = optima.iter().map(|o| o.of_mean).collect();
            vec![level(EXACT.into(), best), level("least mean risk".into(), mean)]
        }
        Quantity::Risk => {
            let group = panel.group.unwrap_or(1) - 1;
            let mut ks: Vec<f64> = Vec::new();
            for series in shown {
                if !ks.contains(&series.plan.k) {
                    ks.push(series.plan.k);
                }
            }
            let of = |k: &f64| {
                let risks = outcome.optima(*k).iter().filter_map(|o| o.risks.get(group).copied());
                let name = if ks.len() == 1 {
                    "at the exact optimum".to_owned()
                } else if *k == 1.0 {
                    "at the exact GDRO optimum".to_owned()
                } else {
                    EXACT.to_owned()
                };
                level(name, risks.collect())
            };
            ks.iter().map(of).collect()
        }
        _ => Vec::new(),
    }
}

/// A whole number in subscript digits.
fn subscript(k: f64) -> String {
    let digits = format!("{k}");
    let lower = |c: char| c.to_digit(10).and_then(|d| char::from_u32('₀' as u32 + d)).unwrap_or(c);
    digits.chars().map(lower).collect()
}

/// Example 1 over its only number.
fn over_the_model(outcome: &Outcome, rule: StepRule, panel: &Panel, drawn: &mut figure::Panel) {
    let coins = Coins::example_1();
    let curve = |name: String, style: usize, of: &dyn Fn(f64) -> f64| {
        let point = |at: usize| {
            let w = at as f64 / (MODELS - 1) as f64;
            Band { x: w, low: of(w), median: of(w), high: of(w) }
        };
        Curve { name, style, bound: false, points: (0..MODELS).map(point).collect() }
    };
    let k = outcome.experiment.k;
    let first = outcome.experiment.runs.len();
    drawn.x.range = Some((0.0, 1.0));
    if panel.y == Quantity::Risks {
        for (at, group) in COINS.iter().enumerate() {
            let name = format!("R{}", subscript(*group as f64));
            drawn.curves.push(curve(name, first + 2 + at, &|w| coins.risk(group - 1, w)));
        }
        return;
    }
    let all = |w: f64| (0..coins.means().len()).map(|i| coins.risk(i, w)).collect::<Vec<_>>();
    let names = ["largest risk".to_owned(), objective(k)];
    for (at, (name, k)) in names.into_iter().zip([1.0, k]).enumerate() {
        drawn.curves.push(curve(name, first + at, &|w| top_k_mean(&all(w), k)));
    }
    for series in outcome.series.iter().filter(|s| s.rule == rule) {
        let models = series.traces.iter().filter_map(|t| t.model.as_ref()?.first().copied());
        let x = median(&models.collect::<Vec<_>>());
        let y = top_k_mean(&all(x), series.plan.k);
        let (name, style) = (series.run.label.clone(), style(outcome, series));
        drawn.dots.push(Dot { name, style, x, y });
    }
}
