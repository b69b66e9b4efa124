//! Claims about curves.

use super::verdict::{MOST, Verdict, percent, risk, short};
use crate::bands::{Common, View, at, curves, median, side_by_side};
use crate::outcome::{Outcome, Series};
use crate::quantity::{Against, Quantity};

fn excess(x: Against) -> View {
    View { y: Quantity::Excess, group: None, x }
}

fn word(x: Against) -> &'static str {
    if x == Against::Samples { "samples" } else { "rounds" }
}

/// Share of the range where the median of run `a` is below that of run `b`, and of the seeds at its
/// end.
fn below(range: &[Common], a: usize, b: usize) -> (f64, f64) {
    let Some(last) = range.last() else { return (0.0, 0.0) };
    let ahead = range.iter().filter(|c| median(&c.values[a]) < median(&c.values[b])).count();
    let seeds = last.values[a].iter().zip(&last.values[b]);
    let won = seeds.clone().filter(|(a, b)| a < b).count();
    (ahead as f64 / range.len() as f64, won as f64 / seeds.len().max(1) as f64)
}

fn stands(range: f64, end: f64) -> Verdict {
    if range >= MOST && end >= MOST {
        Verdict::Holds
    } else if range >= 0.5 || end >= MOST {
        Verdict::Partly
    } else {
        Verdict::Fails
    }
}

/// Smaller excess from each run to the next.
pub fn order(outcome: &Outcome, runs: &[&Series], x: Against) -> (Verdict, String, String) {
    let (mut verdict, mut ours) = (Verdict::Holds, Vec::new());
    for pair in runs.windows(2) {
        let range = side_by_side(outcome, pair, excess(x));
        let (share, seeds) = below(&range, 0, 1);
        verdict = verdict.min(stands(share, seeds));
        let [a, b] = [0, 1].map(|i| range.last().map_or(f64::NAN, |c| median(&c.values[i])));
        let end = range.last().map_or(0.0, |c| c.x);
        ours.push(format!(
            "{} {} against {} {} above the optimum after {end} {}; ahead on {} of the range, in {} of the seeds at its end",
            pair[0].run.label,
            short(a),
            pair[1].run.label,
            short(b),
            word(x),
            percent(share),
            percent(seeds)
        ));
    }
    (verdict, ours.join(". "), optimum(outcome))
}

/// Excesses within a factor of one another.
pub fn close(
    outcome: &Outcome,
    runs: &[&Series],
    x: Against,
    factor: f64,
) -> (Verdict, String, String) {
    let range = side_by_side(outcome, runs, excess(x));
    let ratio = |c: &Common| median(&c.values[1]) / median(&c.values[0]);
    let ratios: Vec<f64> = range.iter().map(ratio).collect();
    let near = |r: &&f64| **r <= factor && **r >= 1.0 / factor;
    let share = ratios.iter().filter(near).count() as f64 / ratios.len().max(1) as f64;
    let end = ratios.last().copied().unwrap_or(f64::NAN);
    let at_end = f64::from(u8::from(near(&&end)));
    let ours = format!(
        "excess of {} over that of {} at equal {}: {} at the end, {} in the middle; within a factor {factor} on {} of the range",
        runs[1].run.label,
        runs[0].run.label,
        word(x),
        short(end),
        short(median(&ratios)),
        percent(share)
    );
    (stands(share, at_end), ours, optimum(outcome))
}

/// Smaller risks on every group at equal rounds.
pub fn faster(outcome: &Outcome, run: &Series, than: &[&Series]) -> (Verdict, String, String) {
    let (mut verdict, mut ours) = (Verdict::Holds, Vec::new());
    for other in than {
        let (mut least, mut mean, mut ahead) = (f64::INFINITY, 0.0, 0);
        for group in 1..=outcome.groups {
            let view = View { y: Quantity::Risk, group: Some(group), x: Against::Rounds };
            let (share, _) = below(&side_by_side(outcome, &[run, other], view), 0, 1);
            least = least.min(share);
            mean += share / outcome.groups as f64;
            ahead += usize::from(share >= MOST);
        }
        verdict = verdict.min(if ahead == outcome.groups {
            Verdict::Holds
        } else if 2 * ahead > outcome.groups {
            Verdict::Partly
        } else {
            Verdict::Fails
        });
        ours.push(format!(
            "ahead of {} at equal rounds on {ahead} of {} groups (on the mean group on {} of the range, on the worst on {})",
            other.run.label,
            outcome.groups,
            percent(mean),
            percent(least)
        ));
    }
    (verdict, ours.join("; "), String::new())
}

/// Behind at the preset, ahead at the end.
pub fn overtakes(
    outcome: &Outcome,
    anytime: &Series,
    fixed: &Series,
    preset: u64,
) -> (Verdict, String, String) {
    let view = excess(Against::Rounds);
    let [a, f] = [anytime, fixed].map(|series| curves(outcome, series, view));
    let end = |c: &Vec<(f64, f64)>| c.last().map_or(0.0, |p| p.0);
    let last = a.iter().chain(&f).map(end).fold(f64::INFINITY, f64::min);
    let seen = |curves: &[Vec<(f64, f64)>], x: f64| -> Vec<f64> {
        curves.iter().filter_map(|c| at(c, x)).collect()
    };
    let first = (preset as f64).min(last);
    let [(a0, f0), (a1, f1)] = [first, last].map(|x| (seen(&a, x), seen(&f, x)));
    let won = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).filter(|(a, b)| a < b).count() as f64 / a.len().max(1) as f64
    };
    let (before, after) = (won(&f0, &a0), won(&a1, &f1));
    // Where the anytime form is ahead for good.
    let range = side_by_side(outcome, &[anytime, fixed], view);
    let ahead = |c: &&Common| median(&c.values[0]) < median(&c.values[1]);
    let crossing = range.iter().rev().take_while(ahead).last().map(|c| c.x);
    let verdict = match (before >= MOST, after >= MOST) {
        (true, true) => Verdict::Holds,
        (_, true) | (true, _) => Verdict::Partly,
        _ => Verdict::Fails,
    };
    let crossed = crossing.map_or("it is not ahead at the end".to_owned(), |x| {
        format!("it is ahead from round {x:.0} on")
    });
    let ours = format!(
        "at round {first:.0}: {} {} against {} {} above the optimum (the preset form ahead in {} of the seeds); at round {last:.0}: {} against {} (the anytime form ahead in {}); {crossed}",
        fixed.run.label,
        short(median(&f0)),
        anytime.run.label,
        short(median(&a0)),
        percent(before),
        short(median(&f1)),
        short(median(&a1)),
        percent(after)
    );
    (verdict, ours, optimum(outcome))
}

/// The optimum of the experiment in words.
fn optimum(outcome: &Outcome) -> String {
    let values: Vec<f64> = outcome.own_optima().iter().map(|o| o.value).collect();
    format!("optimum {}", risk(median(&values)))
}
