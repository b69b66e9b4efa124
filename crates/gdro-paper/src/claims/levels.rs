//! Claims about where runs end.

use super::verdict::{MOST, Verdict, percent, risk, short};
use crate::bands::median;
use crate::outcome::{Outcome, Series};
use crate::settings::StepRule;

/// The risk of a group (from 1) at the end of each seed's run.
fn ends(series: &Series, group: usize) -> Vec<f64> {
    let last =
        |t: &crate::run::Trace| t.points.last().and_then(|p| p.risks.get(group - 1)).copied();
    series.traces.iter().filter_map(last).collect()
}

/// Share of the seeds in which the first value is the smaller one.
fn won(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a < b).count() as f64 / a.len().max(1) as f64
}

/// The smallest risk on one group.
pub fn lowest(
    outcome: &Outcome,
    run: &Series,
    than: &[&Series],
    group: usize,
) -> (Verdict, String, String) {
    let own = ends(run, group);
    let shares: Vec<f64> = than.iter().map(|other| won(&own, &ends(other, group))).collect();
    let least = shares.iter().copied().fold(1.0, f64::min);
    let lower = than.iter().filter(|o| median(&own) < median(&ends(o, group))).count();
    let verdict = if least >= MOST {
        Verdict::Holds
    } else if lower == than.len() {
        Verdict::Partly
    } else {
        Verdict::Fails
    };
    let others = than.iter().zip(&shares).map(|(other, share)| {
        let end = risk(median(&ends(other, group)));
        format!("{} {end} (lower than that in {} of the seeds)", other.run.label, percent(*share))
    });
    let others: Vec<String> = others.collect();
    let ours = format!("{} {} against {}", run.run.label, risk(median(&own)), others.join(", "));
    (verdict, ours, at_optimum(outcome, group))
}

/// The smallest risk on most groups.
pub fn lowest_in_most(
    outcome: &Outcome,
    run: &Series,
    than: &[&Series],
) -> (Verdict, String, String) {
    let is_lowest = |group: &usize| {
        let own = median(&ends(run, *group));
        than.iter().all(|other| own < median(&ends(other, *group)))
    };
    let groups: Vec<usize> = (1..=outcome.groups).filter(is_lowest).collect();
    let verdict = Verdict::of(2 * groups.len() > outcome.groups);
    let named: Vec<String> = groups.iter().map(|g| format!("P{g}")).collect();
    let which = if named.is_empty() || named.len() == outcome.groups {
        String::new()
    } else {
        format!(": {}", named.join(", "))
    };
    let ours = format!(
        "{} ends lowest on {} of {} groups{which}",
        run.run.label,
        groups.len(),
        outcome.groups
    );
    (verdict, ours, String::new())
}

/// Two runs with about the same risk.
pub fn same(
    outcome: &Outcome,
    a: &Series,
    b: &Series,
    group: usize,
    within: f64,
) -> (Verdict, String, String) {
    let [first, second] = [a, b].map(|series| median(&ends(series, group)));
    let ours = format!(
        "{} {}, {} {}: {} apart, {within} allowed",
        a.run.label,
        risk(first),
        b.run.label,
        risk(second),
        risk((first - second).abs())
    );
    (Verdict::of((first - second).abs() <= within), ours, at_optimum(outcome, group))
}

/// A difference of risks beside that of the optima.
pub fn difference(
    outcome: &Outcome,
    run: &Series,
    minus: &Series,
    (first, last): (usize, usize),
    within: f64,
) -> (Verdict, String, String) {
    let count = (last + 1 - first) as f64;
    let mean = |risks: &[f64]| risks[first - 1..last].iter().sum::<f64>() / count;
    let optima = [run, minus].map(|series| outcome.optima(series.plan.k));
    let (mut ours, mut exact, mut off) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (a, b)) in run.traces.iter().zip(&minus.traces).enumerate() {
        let (Some(a), Some(b)) = (a.points.last(), b.points.last()) else { continue };
        let found = mean(&a.risks) - mean(&b.risks);
        let true_one = mean(&optima[0][at].risks) - mean(&optima[1][at].risks);
        ours.push(found);
        exact.push(true_one);
        off.push(found - true_one);
    }
    let verdict = Verdict::of(median(&off).abs() <= within);
    let words = format!(
        "{} ± {} ({} − {}), {:+.4} from the exact difference of the same draws; {within} allowed",
        risk(median(&ours)),
        risk(deviation(&ours)),
        run.run.label,
        minus.run.label,
        median(&off)
    );
    (verdict, words, format!("{} ± {}", risk(median(&exact)), risk(deviation(&exact))))
}

/// The sample standard deviation; 0 of fewer than two values.
fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// The end close to the optimum.
pub fn reaches(outcome: &Outcome, run: &Series, within: f64) -> (Verdict, String, String) {
    let k = outcome.experiment.k;
    let (mut ends, mut off, mut gaps) = (Vec::new(), Vec::new(), Vec::new());
    for (trace, optimum) in run.traces.iter().zip(outcome.own_optima()) {
        let Some(last) = trace.points.last() else { continue };
        ends.push(last.objective(k));
        off.push(last.objective(k) - optimum.value);
        gaps.push(last.gap.unwrap_or(f64::NAN));
    }
    let worst = off.iter().copied().fold(0.0, f64::max);
    // A run that crosses the optimum on its way has its objective, and not its gap.
    let is_there = |(off, gap): &(&f64, &f64)| **off <= within && **gap <= within;
    let share = off.iter().zip(&gaps).filter(is_there).count() as f64 / off.len().max(1) as f64;
    let verdict = if share >= MOST {
        Verdict::Holds
    } else if median(&off) <= within && median(&gaps) <= within {
        Verdict::Partly
    } else {
        Verdict::Fails
    };
    let ours = format!(
        "{} ends at {}: {} above the optimum of its draw, {} in the worst seed, gap {}; both at most {within} in {} of the seeds",
        run.run.label,
        risk(median(&ends)),
        short(median(&off)),
        short(worst),
        short(median(&gaps)),
        percent(share)
    );
    let optima: Vec<f64> = outcome.own_optima().iter().map(|o| o.value).collect();
    (verdict, ours, format!("optimum {}", risk(median(&optima))))
}

/// All gaps below their bounds; `None` where no theorem speaks.
pub fn below_bound(outcome: &Outcome, rule: StepRule) -> Option<(Verdict, String, String)> {
    let (mut above, mut looks, mut parts) = (0, 0, Vec::new());
    for series in outcome.series.iter().filter(|s| s.rule == rule) {
        let mut largest = (0f64, f64::NAN);
        for (rounds, _, bound) in &series.bounds {
            for trace in &series.traces {
                let point = trace.points.iter().find(|p| p.rounds == *rounds);
                let Some(gap) = point.and_then(|p| p.gap) else { continue };
                looks += 1;
                above += usize::from(gap > *bound);
                if gap / bound > largest.0 {
                    largest = (gap / bound, *bound);
                }
            }
        }
        if largest.0 > 0.0 {
            parts.push(format!("{} {}", series.run.label, short(largest.0)));
        }
    }
    if looks == 0 {
        return None;
    }
    let ours = format!(
        "{above} of {looks} gaps above their bound; largest gap as a share of its bound: {}",
        parts.join(", ")
    );
    let chance = format!("at most {} may fail", percent(outcome.delta));
    Some((Verdict::of(above == 0), ours, chance))
}

/// The risk of a group at the exact optimum.
fn at_optimum(outcome: &Outcome, group: usize) -> String {
    let risks = outcome.own_optima().iter().filter_map(|o| o.risks.get(group - 1)).copied();
    format!("R{group} at the optimum {}", risk(median(&risks.collect::<Vec<_>>())))
}
