//! The data of an experiment as CSV.

use std::fmt::Write as _;

use crate::digits::number;
use crate::experiment::Experiment;
use crate::outcome::Outcome;

/// Groups of which the data hold the risk: those of the panels, or all when there are few.
fn groups(experiment: &Experiment, count: usize) -> Vec<usize> {
    let mut groups: Vec<usize> = experiment.panels.iter().filter_map(|p| p.group).collect();
    groups.sort_unstable();
    groups.dedup();
    if groups.is_empty() && count <= 6 { (1..=count).collect() } else { groups }
}

/// Every look at every run: one line each, numbers with six significant digits.
pub(crate) fn runs(outcome: &Outcome) -> String {
    let groups = groups(&outcome.experiment, outcome.groups);
    let mut text = String::from("steps,run,algorithm,seed,rounds,samples,objective,optimum,gap");
    for group in &groups {
        let _ = write!(text, ",risk_{group}");
    }
    text.push('\n');
    for series in &outcome.series {
        for (at, trace) in series.traces.iter().enumerate() {
            let optimum = outcome.own_optima().get(at).map_or(f64::NAN, |o| o.value);
            for point in &trace.points {
                let _ = write!(
                    text,
                    "{},{},{},{},{},{},{},{}",
                    series.rule.name(),
                    series.run.id,
                    series.run.algorithm,
                    outcome.seeds[at],
                    point.rounds,
                    point.samples,
                    number(point.objective(outcome.experiment.k)),
                    number(optimum)
                );
                let gap = point.gap.map_or(String::new(), number);
                let _ = write!(text, ",{gap}");
                for group in &groups {
                    let risk = point.risks.get(group - 1).copied().map_or(String::new(), number);
                    let _ = write!(text, ",{risk}");
                }
                text.push('\n');
            }
        }
    }
    text
}
