//! Tables for a terminal.

use std::fmt::Write as _;

use console::{Term, style};
use gdro::certificate::Certificate;
use gdro::group_weights::effective_groups;
use gdro::interval::{Estimate, GroupEstimates, Interval};
use gdro::loss::AnyLoss;
use gdro::pilot::StepsBy;
use gdro::risk::GroupMetric;
use gdro::run::Outcome;
use gdro_data::{Group, Target};

use super::caps::{caps, clusters, largest_share, not_estimable, too_small};
use super::cells;
use super::grid::{Grid, terminal_width, wrapped};
use super::numbers::{NONE, Scale, count, counted, level, percent, risk};
use super::summary::{Part, Summary};
use gdro::setting::{Objective, Tilt};
use gdro_train::facts::Facts;
use gdro_train::fit::Fitted;
use gdro_train::job::{Job, Training};
use gdro_train::solve::{Play, Solved};
use gdro_train::verdict::Verdict;

/// With more groups than [`FULL`] a list shows only this many.
pub(super) const WORST: usize = 10;

/// Most groups that a table shows, the worst, unless all are asked for.
pub(super) const FULL: usize = 30;

/// What the table holds: rows, target, groups, and what was decided for the user.
pub fn groups(table: &Facts) -> String {
    let width = terminal_width(&Term::stderr());
    let rows = table.train_rows + table.test_rows;
    let target = match &table.target {
        Target::Binary { column, positive, negative, .. } => {
            format!("`{column}`: `{positive}` (positive) or `{negative}`")
        }
        Target::Multiclass { column, classes } => {
            format!("`{column}`, {} classes", count(classes.len() as u64))
        }
        Target::Regression { column } => format!("`{column}`, a number"),
    };
    let mut out = wrapped(
        &plain(&format!(
            "{} ({} held out), {}, target {target}",
            counted(rows as u64, "row"),
            count(table.test_rows as u64),
            counted(table.encoding.dimension() as u64, "feature"),
        )),
        width,
        2,
    );
    let all = &table.groups;
    let shown = if all.len() > FULL { &all[..WORST] } else { &all[..] };
    let mut names: Vec<String> = shown.iter().map(|g| plain(&g.name)).collect();
    if shown.len() < all.len() {
        names.push(format!("… and {} more", count((all.len() - shown.len()) as u64)));
    }
    let blank = (names.len() > shown.len()).then(String::new);
    let mut grid = Grid::new(&counted(all.len() as u64, "group"), names);
    let mut column = |header: &str, of: &dyn Fn(&Group) -> String| {
        grid.block();
        grid.column(["", header], shown.iter().map(of).chain(blank.clone()).collect());
    };
    column("rows", &|g| count(g.rows as u64));
    if all.iter().any(|g| g.clusters.is_some()) {
        column("clusters", &|g| g.clusters.map_or_else(String::new, |n| count(n as u64)));
    }
    // A stream does not count them.
    if matches!(table.target, Target::Binary { .. }) && all.iter().any(|g| g.positives.is_some()) {
        let rate = |g: &Group| g.positives.map(|p| percent(p as f64 / g.rows.max(1) as f64));
        column("positive", &|g| rate(g).unwrap_or_default());
    }
    out += &grid.text(width);
    for note in &table.notes {
        out += &wrapped(&plain(&format!("note: {note}")), width, 6);
    }
    out
}

/// What of a run is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// Every group, however many there are.
    pub all_groups: bool,
    /// The table of training rows below that of rows held out.
    pub train: bool,
    /// What else was done, a line before the verdict.
    pub also: Option<&'static str>,
}

/// The whole report of a run. The verdict comes last, in three lines.
pub fn text(job: &Job, fitted: &Fitted, summary: &Summary, shown: Shown) -> String {
    let width = terminal_width(&Term::stdout());
    let all_groups = shown.all_groups;
    let mut out = String::new();
    let held_out = fitted.table.test_rows > 0;
    let parts = [("Rows held out", held_out), ("Training rows", shown.train || !held_out)];
    for (at, (title, present)) in parts.into_iter().enumerate() {
        if present {
            let all = fitted.table.groups.len();
            let cut = if all > FULL && !all_groups {
                format!(": the {FULL} worst of {} groups", count(all as u64))
            } else {
                String::new()
            };
            let _ = writeln!(out, "\n{title}{cut}");
            out += &part(job, fitted, at == 0, all_groups).text(width);
        }
    }
    out.push('\n');
    for line in notes(job, fitted, summary).lines() {
        out += &wrapped(&plain(line), width, 2);
    }
    if let Some(also) = shown.also {
        out += &wrapped(&plain(also), width, 2);
    }
    out + &verdict(&fitted.verdict, width)
}

/// A verdict in its three lines, below a blank one.
pub(super) fn verdict(verdict: &Verdict, width: Option<usize>) -> String {
    let word = verdict.word.words();
    let mut out = "\n".to_owned();
    for line in verdict.lines() {
        let line = wrapped(&plain(&line), width, 2);
        match line.strip_prefix(word) {
            Some(rest) => out += &format!("{}{rest}", style(word).bold()),
            None => out += &line,
        }
    }
    out
}

/// A text without what could garble a terminal or deceive who reads it.
pub fn plain(text: &str) -> String {
    gdro_data::escaped(text)
}

/// Metrics of the three models on one part: ERM, balanced, robust. Those of rows held out are with
/// losses and weights capped, as their intervals.
pub(super) fn metrics(fitted: &Fitted, held_out: bool) -> [Vec<GroupMetric>; 3] {
    [&fitted.erm, &fitted.balanced, &fitted.robust].map(|e| match held_out {
        true => e.capped(),
        false => e.train.clone(),
    })
}

/// Whether the cap on losses cuts so many rows of a group that their risk as it is must be shown, too.
pub(super) fn shows_uncut(fitted: &Fitted) -> bool {
    let models = [&fitted.erm, &fitted.balanced, &fitted.robust];
    let mut groups = models.iter().filter_map(|e| e.intervals.as_ref()).flat_map(|i| &i.groups);
    groups.any(|g| g.clipped_share().is_some())
}

/// A total: what it is, the three risks, the three accuracies.
pub(super) struct Total {
    /// What it is; nothing for the largest risk and the least accuracy, of any group.
    pub name: String,
    rows: String,
    /// Of ERM, balanced and the robust model.
    pub risks: [Option<f64>; 3],
    /// Likewise.
    pub accuracies: [Option<f64>; 3],
}

/// The table of one part.
fn part(job: &Job, fitted: &Fitted, held_out: bool, all_groups: bool) -> Grid {
    let models = metrics(fitted, held_out);
    let models = models.each_ref().map(|m| &m[..]);
    let graded = models[2].iter().any(|m| m.accuracy.is_some());
    let groups = &fitted.table.groups;
    let place = |g: &Group| if held_out { g.test } else { g.train };

    // The worst of the robust model first.
    let mut order: Vec<&Group> = groups.iter().collect();
    let key = |g: &Group| place(g).map_or(f64::NEG_INFINITY, |p| models[2][p].risk);
    order.sort_by(|a, b| key(b).total_cmp(&key(a)));
    if groups.len() > FULL && !all_groups {
        order.truncate(FULL);
    }
    let rest = groups.len() - order.len();
    let totals = totals(job, fitted, held_out, models);

    let worst = worst_group(groups, place, models[2]);
    let name = |g: &&Group| match worst.is_some_and(|worst| std::ptr::eq(worst, *g)) {
        true => style(plain(&g.name)).red().bold().to_string(),
        false => plain(&g.name),
    };
    let mut names: Vec<String> = order.iter().map(name).collect();
    if rest > 0 {
        names.push(format!("… and {} more", count(rest as u64)));
    }
    let first_total = names.len();
    names.extend(worst.map(|g| format!("worst: {}", plain(&g.name))));
    let squared = matches!(fitted.model.loss.0, AnyLoss::Squared(_));
    let unit = if squared { "MSE" } else { "risk" };
    let largest = largest_in_words(unit, graded);
    let shows_uncut = held_out && shows_uncut(fitted);
    let kind = if shows_uncut { format!("capped {unit}") } else { unit.to_owned() };
    names.extend(
        totals.iter().map(|t| if t.is_extreme() { largest.clone() } else { t.name.clone() }),
    );
    // A column: a cell for each group, nothing beside "and … more", the worst group once more, a cell
    // for each total.
    let cells = |of: &dyn Fn(&Group) -> String, total: &dyn Fn(&Total) -> String| {
        let groups = order.iter().map(|g| of(g));
        let gap = (rest > 0).then(String::new);
        let worst = worst.map(of);
        groups.chain(gap).chain(worst).chain(totals.iter().map(total)).collect::<Vec<String>>()
    };
    let of_place =
        |of: &dyn Fn(usize) -> String, g: &Group| place(g).map_or_else(|| NONE.to_owned(), of);

    let mut grid = Grid::new("group", names);
    grid.rule(first_total);
    grid.block();
    let rows = |g: &Group| count(if held_out { g.test_rows } else { g.train_rows } as u64);
    grid.column(["", "rows"], cells(&rows, &|t| t.rows.clone()));
    let clusters = |g: &Group| if held_out { g.test_clusters } else { g.train_clusters };
    if groups.iter().any(|g| clusters(g).is_some()) {
        let of = |g: &Group| clusters(g).map_or_else(String::new, |n| count(n as u64));
        grid.column(["", "clusters"], cells(&of, &|_| String::new()));
    }

    let shown: Vec<usize> = order.iter().filter_map(|g| place(g)).collect();
    let risks = shown.iter().flat_map(|p| models.map(|m| m[*p].risk));
    let scale = Scale::of(risks.chain(totals.iter().flat_map(|t| t.risks).flatten()));
    // Ordinary training is compared with the balanced model alone.
    let is_erm = fitted.verdict.is_ordinary();
    let goal = if is_erm { "ERM".to_owned() } else { goal_name(job.training.objective) };
    let names = ["ERM", "balanced", &goal];
    let names = &names[..if is_erm { 2 } else { 3 }];
    grid.block();
    for (model, name) in names.iter().enumerate() {
        let of = |g: &Group| of_place(&|p| scale.show(models[model][p].risk), g);
        let total = |t: &Total| t.risks[model].map_or(NONE.into(), |r| scale.show(r));
        grid.column([&*kind, name], cells(&of, &total));
    }
    let change = |g: &Group| of_place(&|p| scale.change(models[0][p].risk, models[2][p].risk), g);
    let total = |t: &Total| match (t.risks[0], t.risks[2]) {
        (Some(erm), Some(robust)) => scale.change(erm, robust),
        _ => NONE.into(),
    };
    if !is_erm {
        grid.column([&goal, "− ERM"], cells(&change, &total));
    }

    if shows_uncut {
        let uncut = [&fitted.erm, &fitted.balanced, &fitted.robust].map(|e| e.test.as_deref());
        let risk = |model: usize, p: usize| uncut[model].map_or(f64::NAN, |test| test[p].risk);
        let all = shown.iter().flat_map(|p| [0, 1, 2].map(|model| risk(model, *p)));
        let scale = Scale::of(all);
        grid.block();
        for (model, name) in names.iter().enumerate() {
            let of = |g: &Group| of_place(&|p| scale.show(risk(model, p)), g);
            grid.column([&format!("uncut {unit}"), name], cells(&of, &|_| String::new()));
        }
    }
    if graded {
        grid.block();
        for (model, name) in names.iter().enumerate() {
            let accuracy = |p: usize| models[model][p].accuracy.map_or(NONE.into(), percent);
            let of = |g: &Group| of_place(&accuracy, g);
            let total = |t: &Total| t.accuracies[model].map_or(String::new(), percent);
            grid.column(["accuracy", name], cells(&of, &total));
        }
    }
    if held_out && let Some(intervals) = &fitted.robust.intervals {
        let at = |g: &Group| groups.iter().position(|other| other.name == g.name);
        let of_group = |g: &Group| at(g).map(|i| &intervals.groups[i]);
        let ends = |i: Interval| scale.ends(i.low, i.high);
        let shares = |i: Interval| format!("{} to {}", percent(i.low), percent(i.high));
        let extreme = |text: String, t: &Total| if t.is_extreme() { text } else { String::new() };
        let at_level = format!("at {}", level(1.0 - job.training.delta));
        grid.block();
        let risk = |g: &Group| {
            let found = of_group(g);
            let cut = found.and_then(GroupEstimates::clipped_share);
            cells::interval(found.map(|e| e.clipped_risk), cut, &ends)
        };
        let largest =
            cells::largest(&intervals.worst_risk, largest_share(&intervals.groups), &|v| {
                scale.show(v)
            });
        let header = [&format!("{goal} {unit}"), &at_level[..]];
        grid.column(header, cells(&risk, &|t| extreme(largest.clone(), t)));
        if let Some(comparison) = fitted.comparison.as_ref().filter(|_| !is_erm) {
            let change = |g: &Group| {
                let found = at(g).map(|i| comparison.groups[i]);
                let cut = found.and_then(|d| d.clipped_share());
                cells::interval(found.map(|d| d.clipped_difference), cut, &ends)
            };
            let of_largest = cells::difference(comparison, &fitted.verdict, &ends);
            let header = [&format!("{goal} − ERM"), &at_level[..]];
            grid.block();
            grid.column(header, cells(&change, &|t| extreme(of_largest.clone(), t)));
        }
        if graded {
            let accuracy = |g: &Group| {
                let found: Option<Estimate> = of_group(g).and_then(|e| e.accuracy);
                cells::interval(found, None, &shares)
            };
            let least = intervals.worst_accuracy.as_ref();
            let least = least.map_or(String::new(), |worst| cells::least(worst, &percent));
            let header = [&format!("{goal} accuracy"), &at_level[..]];
            grid.block();
            grid.column(header, cells(&accuracy, &|t| extreme(least.clone(), t)));
        }
    }
    if !held_out {
        let scale = Scale::of(fitted.weights.iter().copied());
        grid.block();
        let weight = |g: &Group| of_place(&|p| scale.weight(fitted.weights[p]), g);
        grid.column(["group", "weight"], cells(&weight, &|_| String::new()));
        if let Solved::Rounds(play) = &fitted.solved {
            let drawn = |g: &Group| of_place(&|p| count(play.samples[p]), g);
            grid.column(["samples", "drawn"], cells(&drawn, &|_| String::new()));
        }
        if let Some(offsets) = &fitted.offsets {
            let scale = Scale::of(offsets.iter().copied());
            grid.block();
            let offset = |g: &Group| of_place(&|p| scale.show(offsets[p]), g);
            let (top, name) = match job.training.objective {
                Objective::Regret => ("risk", "alone"),
                _ => ("", "offset"),
            };
            grid.column([top, name], cells(&offset, &|_| String::new()));
            if job.training.objective == Objective::Regret {
                let regret =
                    |g: &Group| of_place(&|p| scale.show(models[2][p].risk - offsets[p]), g);
                grid.column(["", "regret"], cells(&regret, &|_| String::new()));
            }
        }
    }
    grid
}

impl Total {
    /// Whether it is the largest risk and the least accuracy, each of any group.
    pub fn is_extreme(&self) -> bool {
        self.name.is_empty()
    }
}

/// The group with the largest risk, the first one at ties; none where there is one group.
fn worst_group<'a>(
    groups: &'a [Group],
    place: impl Fn(&Group) -> Option<usize>,
    metrics: &[GroupMetric],
) -> Option<&'a Group> {
    let mut worst: Option<(&Group, f64)> = None;
    for group in groups {
        let Some(risk) = place(group).map(|p| metrics[p].risk) else { continue };
        if worst.is_none_or(|(_, largest)| risk > largest) {
            worst = Some((group, risk));
        }
    }
    worst.filter(|_| groups.len() > 1).map(|(group, _)| group)
}

/// What the line of extremes is called: they may be of different groups.
pub(super) fn largest_in_words(unit: &str, graded: bool) -> String {
    format!("largest {unit}{}", if graded { ", least accuracy" } else { "" })
}

/// Largest and mean values, each labelled with what it averages.
pub(super) fn totals(
    job: &Job,
    fitted: &Fitted,
    held_out: bool,
    models: [&[GroupMetric]; 3],
) -> Vec<Total> {
    let k = match job.training.objective {
        Objective::TopK(k) => Some(k),
        _ => None,
    };
    let all = [&fitted.erm, &fitted.balanced, &fitted.robust].map(|e| match held_out {
        true => e.capped_rows.as_ref(),
        false => Some(&e.train_rows),
    });
    let parts = |of: fn(&GroupMetric) -> Option<f64>, k: Option<f64>| {
        [0, 1, 2].map(|i| all[i].and_then(|rows| Part::new(models[i], rows, of, k)))
    };
    let risks = parts(|m| Some(m.risk), k);
    // The least accuracy is minus the largest of its negatives.
    let accuracies = parts(|m| m.accuracy.map(|a| -a), None);
    type Pick = fn(&Part) -> Option<f64>;
    let total = |name: String, pick: Pick| Total {
        name,
        rows: String::new(),
        risks: risks.each_ref().map(|p| p.as_ref().and_then(pick)),
        accuracies: accuracies.each_ref().map(|p| p.as_ref().and_then(pick).map(|a| -a)),
    };
    let rows = if held_out { fitted.table.test_rows } else { fitted.table.train_rows };
    let mut totals = vec![total(String::new(), |p| Some(p.max))];
    totals.extend(k.map(|k| total(format!("mean of the {k} worst"), |p| p.topk)));
    totals.push(total("mean over rows".into(), |p| Some(p.rows)));
    totals[1 + usize::from(k.is_some())].rows = count(rows as u64);
    totals.push(total("mean over groups".into(), |p| Some(p.groups)));
    totals
}

/// How the robust model is called in a column.
pub(super) fn goal_name(objective: Objective) -> String {
    match objective {
        Objective::Max => "gdro".into(),
        other => other.to_string(),
    }
}

/// An objective in words that follow "the".
pub(crate) fn goal_in_words(objective: Objective) -> String {
    match objective {
        Objective::Max => "largest risk".to_owned(),
        Objective::TopK(_) => "top-k risk".to_owned(),
        Objective::Tilted(Tilt { tau, prior }) => {
            format!("tilted risk (tau = {tau}, prior by {prior})")
        }
        Objective::Regret => "largest regret".to_owned(),
        Objective::Average => "mean risk over rows".to_owned(),
        Objective::Balanced => "mean risk over groups".to_owned(),
    }
}

/// What is minimised, in words.
pub fn objective_in_words(training: &Training, has_offsets: bool) -> String {
    let what = goal_in_words(training.objective);
    let given = training.offsets.is_some() || training.adjustment.is_some();
    let offsets = has_offsets && training.objective != Objective::Regret || given;
    let offsets = if offsets { " after offsets" } else { "" };
    let scales = if training.scales.is_some() { " times scales" } else { "" };
    let ridge = if training.l2 > 0.0 { " with the penalty" } else { "" };
    format!("the {what}{offsets}{scales}{ridge}")
}

/// The models that a bound is about which is not about any intercept.
pub(crate) const INTERCEPT: &str =
    "an intercept within ±100 (for numbers ±2 max|y| where that is more)";

/// A certificate in words.
pub fn certificate_in_words(certificate: &Certificate, what: &str) -> String {
    let scale = Scale::precise(certificate.gap, certificate.upper);
    if certificate.is_void() {
        return format!(
            "on training rows, {what} is {}; no useful bound was found on how much less another model may reach\n",
            scale.show(certificate.upper)
        );
    }
    format!(
        "certified on training rows: {what} is {}, and no model{} can go below {} (gap {:.1e})\n",
        scale.show(certificate.upper),
        if certificate.any_intercept { String::new() } else { format!(" with {INTERCEPT}") },
        scale.show(certificate.lower),
        certificate.gap
    )
}

/// What the rounds were like.
fn rounds(fitted: &Fitted, play: &Play) -> String {
    let mut out = String::new();
    let samples: u64 = play.samples.iter().sum();
    let _ = writeln!(
        out,
        "{}: {}, {}, {:.2} s",
        fitted.solver,
        counted(play.rounds.0, "round"),
        counted(samples, "sample"),
        fitted.seconds
    );
    let found = match play.steps_by {
        StepsBy::Given => None,
        StepsBy::Players => Some("steps that the players found themselves".to_owned()),
        by => {
            let how = if by == StepsBy::Pilots { "pilot runs" } else { "the balanced model" };
            let (w, q) = (risk(play.steps.0), risk(play.steps.1));
            Some(format!("steps by {how}: {w} and {q} times those of the theorem"))
        }
    };
    if let Some(found) = found {
        let range = play.loss_range.map_or(String::new(), |m| format!(", loss range {}", risk(m)));
        let _ = writeln!(out, "{found}{range}");
    }
    if let Some(subsets) = play.subsets {
        let _ = writeln!(out, "the groups of a round drawn by {}", subsets.name());
    }
    if play.certified {
        let _ = writeln!(out, "stopped when the certified gap was small enough");
    }
    let with_rows = fitted.table.groups.iter().filter(|g| g.train.is_some());
    let names: Vec<&str> = with_rows.map(|g| g.name.as_str()).collect();
    match play.outcome {
        Outcome::Finished => {}
        Outcome::Stopped => {
            let _ = writeln!(
                out,
                "interrupted after {} of {} rounds: this is the model so far",
                count(play.rounds.0),
                count(play.rounds.1)
            );
        }
        Outcome::Exhausted { group, budget } => {
            let _ = writeln!(
                out,
                "stopped after {} of {} rounds: the budget of group `{}` ({} rows) is used up",
                count(play.rounds.0),
                count(play.rounds.1),
                names[group],
                count(budget)
            );
        }
    }
    if let Some(budgets) = &play.budgets {
        let left = budgets.iter().zip(&play.samples).map(|(n, used)| n.saturating_sub(*used));
        let mut list: Vec<(&str, u64)> = names.iter().copied().zip(left).collect();
        list.retain(|(_, left)| *left > 0);
        let total: u64 = list.iter().map(|(_, left)| left).sum();
        let few = list.iter().take(WORST);
        let few: Vec<String> = few.map(|(name, n)| format!("{name} {}", count(*n))).collect();
        let more = list.len() - few.len();
        let more = if more > 0 { format!(", … and {more} more groups") } else { String::new() };
        let list = if total > 0 { format!(": {}{more}", few.join(", ")) } else { String::new() };
        let _ = writeln!(out, "{} of the budget left unused{list}", counted(total, "row"));
    }
    if play.clipped > 0 {
        let _ = writeln!(
            out,
            "losses above the loss range, clipped for the group weights only: {}; a larger --loss-range clips fewer",
            count(play.clipped)
        );
    }
    out
}

/// What the solver did, a line each.
pub(super) fn solving(fitted: &Fitted) -> String {
    let mut out = String::new();
    match &fitted.solved {
        Solved::Exact { iterations, missed } => {
            let _ = writeln!(
                out,
                "exact: {}, {:.2} s",
                counted(*iterations as u64, "iteration"),
                fitted.seconds
            );
            // The certificate may have found a better bound.
            if let Some((gap, wanted)) = missed.filter(|m| fitted.certificate.gap > m.1) {
                let _ = writeln!(
                    out,
                    "stopped at a gap of {gap:.1e}, where {wanted:.1e} was wanted: by --max-iter, or because rounding allows no less"
                );
            }
        }
        Solved::Rounds(play) => out += &rounds(fitted, play),
    }
    if let Some(reason) = &fitted.reason {
        let _ = writeln!(out, "solver chosen by itself: {reason}");
    }
    out
}

/// What else should be known.
fn notes(job: &Job, fitted: &Fitted, summary: &Summary) -> String {
    let mut out = solving(fitted);
    let training = &job.training;
    let what = objective_in_words(training, fitted.offsets.is_some());
    out += &certificate_in_words(&fitted.certificate, &what);
    if let Some(intervals) = &fitted.robust.intervals {
        let _ = writeln!(
            out,
            "rows held out: each column of intervals holds for all groups at once with probability {}; in points and intervals {}",
            level(1.0 - job.training.delta),
            caps(&fitted.settings, &intervals.groups)
        );
        let (column, heavy) = (job.data.cluster.as_deref(), &fitted.heavy_clusters);
        if let Some(text) = clusters(&fitted.settings, &intervals.groups, column, heavy) {
            let _ = writeln!(out, "{text}");
        }
        let names: Vec<&str> = fitted.table.groups.iter().map(|g| &g.name[..]).collect();
        if let Some(note) = not_estimable(&names, &intervals.groups) {
            let _ = writeln!(out, "{note}");
        }
    }
    if let Some(note) = too_small(&fitted.verdict) {
        let _ = writeln!(out, "{note}");
    }
    if !training.objective.fixes_weights() {
        let (m, effective) = (fitted.weights.len(), effective_groups(&fitted.weights));
        let uniform = fitted.weights.iter().all(|q| (q * m as f64 - 1.0).abs() < 1e-6);
        if m > 1 && uniform {
            let _ = writeln!(out, "no group dominates: the averaged group weights are uniform");
        } else if m > 1 {
            let _ = writeln!(
                out,
                "effective number of groups, by the averaged group weights: {effective:.1} of {m}"
            );
        }
    }
    for warning in summary.warnings() {
        let _ = writeln!(out, "warning: {warning}");
    }
    match &job.out {
        Some(folder) => {
            let _ = writeln!(
                out,
                "wrote model.json, summary.json and trace.jsonl to {}",
                folder.display()
            );
        }
        None => {
            let what = if job.report.is_some() { "no model" } else { "nothing" };
            let _ = writeln!(out, "{what} was written: give --out DIR to keep the model");
        }
    }
    if let Some(page) = &job.report {
        let _ = writeln!(out, "wrote {}", page.display());
    }
    out
}
