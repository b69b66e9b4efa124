//! What a person sees of a saved model: what it is, and how it does on another table.

use std::fmt::Write as _;

use console::{Term, style};
use gdro::interval::{Interval, METRICS};
use gdro_data::Target;
use gdro_train::certify::Certified;
use gdro_train::evaluate::Evaluated;

use super::caps::{self, caps, clusters, not_estimable, too_small};
use super::cells;
use super::grid::{Grid, terminal_width, wrapped};
use super::numbers::{NONE, Scale, count, level, percent};
use super::tables::{
    FULL, INTERCEPT, WORST, certificate_in_words, largest_in_words, objective_in_words, plain,
    verdict,
};
use gdro_train::model::Model;

/// Most weights that are shown unless all are asked for.
const MOST_WEIGHTS: usize = 20;

/// The tables of an evaluation.
pub fn evaluation(evaluated: &Evaluated, all_groups: bool) -> String {
    let width = terminal_width(&Term::stdout());
    let groups = &evaluated.intervals.groups;
    let risk_of = |i: &usize| groups[*i].clipped_risk.value;
    let mut order: Vec<usize> = (0..groups.len()).collect();
    // The worst first.
    let risk = |i: &usize| risk_of(i).unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|a, b| risk(b).total_cmp(&risk(a)));
    if groups.len() > FULL && !all_groups {
        order.truncate(FULL);
    }
    let rest = groups.len() - order.len();
    let name = |i: &usize| {
        let unseen = if *i >= evaluated.known { " (unseen)" } else { "" };
        plain(&evaluated.names[*i]) + unseen
    };
    let worst = evaluated.intervals.worst_risk.group.filter(|_| groups.len() > 1);
    let marked = |i: &usize| match worst == Some(*i) {
        true => style(name(i)).red().bold().to_string(),
        false => name(i),
    };
    let mut names: Vec<String> = order.iter().map(marked).collect();
    if rest > 0 {
        names.push(format!("… and {} more", count(rest as u64)));
    }
    let first_total = names.len();
    let graded = groups.iter().any(|g| g.accuracy.is_some());
    names.extend(worst.iter().map(|i| format!("worst: {}", name(i))));
    names.push(largest_in_words("risk", graded));
    names.extend(["mean over rows", "mean over groups"].map(str::to_owned));
    let mut grid = Grid::new("group", names);
    grid.rule(first_total);
    let mut add = |header: [&str; 2], of: &dyn Fn(usize) -> String, totals: [String; 3]| {
        let gap = (rest > 0).then(String::new);
        let worst = worst.map(of);
        let cells = order.iter().map(|i| of(*i)).chain(gap).chain(worst).chain(totals).collect();
        grid.block();
        grid.column(header, cells);
    };
    let blank = || [String::new(), String::new(), String::new()];
    let scale = Scale::of((0..groups.len()).filter_map(|i| risk_of(&i)));
    // `sign` is −1 where the least value is the worst.
    let totals = |values: Vec<f64>, by_rows: f64, sign: f64| {
        let worst = values.iter().map(|v| sign * v).fold(f64::NEG_INFINITY, f64::max) * sign;
        let by_groups = values.iter().sum::<f64>() / values.len() as f64;
        [worst, by_rows, by_groups]
    };
    let ends = |i: Interval| scale.ends(i.low, i.high);
    let shares = |i: Interval| format!("{} to {}", percent(i.low), percent(i.high));
    let extreme = |text: String| [text, String::new(), String::new()];
    let at_level = format!("at {}", level(1.0 - evaluated.settings.delta));

    let mut all_rows = blank();
    all_rows[1] = count(evaluated.rows as u64);
    add(["", "rows"], &|i| count(groups[i].rows as u64), all_rows);
    if groups.iter().any(|g| g.clipped_risk.clusters.is_some()) {
        let of = |i: usize| groups[i].clipped_risk.clusters;
        add(["", "clusters"], &|i| of(i).map_or(NONE.into(), |n| count(n as u64)), blank());
    }
    let show = |v: Option<f64>| v.map_or(NONE.into(), |v| scale.show(v));
    let mean = evaluated.capped_mean_over_rows;
    let values: Vec<f64> = (0..groups.len()).filter_map(|i| risk_of(&i)).collect();
    let risks = totals(values, mean.risk, 1.0).map(|v| scale.show(v));
    let kind = if caps::largest_share(groups).is_some() { "capped" } else { "" };
    add([kind, "risk"], &|i| show(risk_of(&i)), risks);
    let cut = caps::largest_share(groups);
    let largest = cells::largest(&evaluated.intervals.worst_risk, cut, &|v| scale.show(v));
    let risk =
        |i: usize| cells::interval(Some(groups[i].clipped_risk), groups[i].clipped_share(), &ends);
    add(["risk", &at_level], &risk, extreme(largest));
    if cut.is_some() {
        let scale = Scale::of(groups.iter().filter_map(|g| g.risk));
        let show = |v: Option<f64>| v.map_or(NONE.into(), |v| scale.show(v));
        add(["uncut", "risk"], &|i| show(groups[i].risk), blank());
    }
    if graded {
        let value = |i: usize| groups[i].accuracy.and_then(|e| e.value);
        let share = |v: Option<f64>| v.map_or(NONE.into(), percent);
        let by_rows = mean.accuracy.unwrap_or(f64::NAN);
        let values: Vec<f64> = (0..groups.len()).filter_map(value).collect();
        let accuracies = totals(values, by_rows, -1.0).map(percent);
        add(["", "accuracy"], &|i| share(value(i)), accuracies);
        let least = evaluated.intervals.worst_accuracy.as_ref();
        let least = least.map_or(String::new(), |worst| cells::least(worst, &percent));
        let accuracy = |i: usize| cells::interval(groups[i].accuracy, None, &shares);
        add(["accuracy", &at_level], &accuracy, extreme(least));
    }
    for metric in &METRICS {
        let of = |i: usize| groups[i].metrics.get(metric.key);
        if (0..groups.len()).any(|i| of(i).is_some()) {
            let ends = |i: Interval| match metric.is_share {
                true => shares(i),
                false => Scale::Decimals(3).ends(i.low, i.high),
            };
            let cell = |i: usize| cells::interval(of(i), None, &ends);
            add([metric.label, &at_level], &cell, blank());
        }
    }
    let mut out = grid.text(width);
    let mut notes = vec![format!(
        "each column of intervals holds for all groups at once with probability {}; in points and intervals {}",
        level(1.0 - evaluated.settings.delta),
        caps(&evaluated.settings, groups)
    )];
    let (column, heavy) = (evaluated.cluster.as_deref(), &evaluated.heavy_clusters);
    notes.extend(clusters(&evaluated.settings, groups, column, heavy));
    notes.extend(groups_in_words(evaluated));
    let all: Vec<&str> = evaluated.names.iter().map(String::as_str).collect();
    notes.extend(not_estimable(&all, groups));
    notes.extend(evaluated.notes.iter().cloned());
    notes.extend(evaluated.verdict.as_ref().and_then(|told| too_small(&told.verdict)));
    let warning = caps::warning(&evaluated.settings, groups);
    notes.extend(warning.map(|text| format!("warning: {text}")));
    for note in notes {
        out += &wrapped(&plain(&note), width, 2);
    }
    let judged = evaluated.verdict.as_ref().map(|told| verdict(&told.verdict, width));
    out + &judged.unwrap_or_default()
}

/// The groups that training never saw, and those of the model that are not here.
pub(super) fn groups_in_words(evaluated: &Evaluated) -> Vec<String> {
    let unseen: Vec<&str> = evaluated.names[evaluated.known..].iter().map(|n| &n[..]).collect();
    let missing: Vec<&str> = evaluated.missing.iter().map(|n| &n[..]).collect();
    let mut out = Vec::new();
    for (list, what) in [
        (unseen, "groups that training never saw"),
        (missing, "groups of the model that have no rows here"),
    ] {
        if !list.is_empty() {
            out.push(format!("{what}: {} ({})", count(list.len() as u64), caps::names(&list)));
        }
    }
    out
}

/// What a model is.
pub fn model(model: &Model, all: bool) -> String {
    let width = terminal_width(&Term::stdout());
    let training = &model.job.training;
    let mut out = String::new();
    let target = match &model.target {
        Target::Binary { column, positive, negative, .. } => {
            format!("`{column}`: `{positive}` (positive) or `{negative}`")
        }
        Target::Multiclass { column, classes } => {
            format!("`{column}`: {} classes", count(classes.len() as u64))
        }
        Target::Regression { column } => format!("`{column}`, a number"),
    };
    let files: Vec<String> = model.job.tables.iter().map(|t| t.display().to_string()).collect();
    for line in [
        format!("linear model for {target}"),
        format!(
            "objective {}, {} loss, solver {}, seed {}, gdro {}",
            training.objective, model.loss, training.solver, training.seed, model.gdro
        ),
        format!(
            "penalty {}, {}, intercept {}",
            training.l2,
            match (training.domain, training.ball) {
                (Some(domain), _) => format!("domain {domain}"),
                (None, Some(radius)) => format!("ball {radius}"),
                (None, None) => "ball none".to_owned(),
            },
            if training.penalize_intercept { "penalised" } else { "free" }
        ),
        format!("trained on {}", files.join(", ")),
    ] {
        out += &wrapped(&plain(&line), width, 2);
    }
    let words = objective_in_words(training, false);
    let words = model.certificate.as_ref().map_or_else(
        || "certificate: none: it was trained without a pass that makes one\n".to_owned(),
        |certificate| certificate_in_words(certificate, &words),
    );
    words.lines().for_each(|line| out += &wrapped(line, width, 2));

    let names = model.grouping.names();
    let shown = if names.len() > FULL && !all { WORST } else { names.len() };
    let mut order: Vec<usize> = (0..names.len()).collect();
    if shown < names.len() {
        order.sort_by(|a, b| model.group_weights[*b].total_cmp(&model.group_weights[*a]));
        order.truncate(shown);
    }
    let mut labels: Vec<String> = order.iter().map(|i| plain(&names[*i])).collect();
    let mut cells: Vec<String> = {
        let scale = Scale::of(model.group_weights.iter().copied());
        order.iter().map(|i| scale.weight(model.group_weights[*i])).collect()
    };
    if shown < names.len() {
        labels.push(format!("… and {} more", count((names.len() - shown) as u64)));
        cells.push(String::new());
    }
    let mut grid = Grid::new("group", labels);
    grid.block();
    grid.column(["", "weight"], cells);
    let _ = write!(out, "\n{}", grid.text(width));

    let size = |j: usize| {
        let w = &model.weights[j * model.outputs..(j + 1) * model.outputs];
        w.iter().map(|v| v * v).sum::<f64>()
    };
    let mut order: Vec<usize> = (0..model.features.len()).collect();
    order.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
    let most = if all { order.len() } else { order.len().min(MOST_WEIGHTS) };
    let mut labels: Vec<String> =
        order[..most].iter().map(|j| plain(&model.features[*j])).collect();
    if most < order.len() {
        labels.push(format!("… and {} more", count((order.len() - most) as u64)));
    }
    if !model.intercepts.is_empty() {
        labels.push("(intercept)".into());
    }
    let scale = Scale::of(model.weights.iter().chain(&model.intercepts).copied());
    let mut grid = Grid::new("feature", labels);
    for o in 0..model.outputs {
        let header = match &model.target {
            Target::Multiclass { classes, .. } => plain(&classes[o]),
            _ => "weight".into(),
        };
        let gap = (most < order.len()).then(String::new);
        let cells = order[..most]
            .iter()
            .map(|j| scale.show(model.weights[j * model.outputs + o]))
            .chain(gap)
            .chain(model.intercepts.get(o).map(|b| scale.show(*b)))
            .collect();
        grid.block();
        grid.column(["", &header], cells);
    }
    let _ = write!(out, "\n{}", grid.text(width));
    out +=
        &wrapped("weights belong to standardised numbers and to one indicator per text", width, 2);
    out
}

/// The certificate of a saved model, computed again.
pub fn certified(model: &Model, found: &Certified) -> String {
    let what = objective_in_words(&model.job.training, found.has_offsets);
    let now = &found.now;
    let mut text = certificate_in_words(now, &what);
    let Some(stored) = &model.certificate else {
        return text + "stored in the model: none\n";
    };
    text += &format!(
        "stored in the model: a gap of {:.1e}; now: {:.1e} ({})\n",
        stored.gap, now.gap, now.method
    );
    if !stored.any_intercept {
        let within = INTERCEPT;
        text += &format!("the stored one is about models with {within}; the one above about any\n");
    }
    if found.is_worse_than(stored) {
        text +=
            "warning: the gap is larger than the stored one: the model or the table has changed\n";
    }
    text
}
