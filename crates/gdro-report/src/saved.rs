//! What a person sees of a saved model: what it is, and how it does on another table.

use std::fmt::Write as _;

use console::Term;
use gdro::interval::{Estimate, Interval, METRICS};
use gdro_data::Target;
use gdro_train::certify::Certified;
use gdro_train::evaluate::Evaluated;

use super::grid::{Grid, terminal_width, wrapped};
use super::numbers::{self, Scale, count, counted, level, percent};
use super::tables::{
    FULL, INTERCEPT, NONE, WORST, certificate_in_words, objective_in_words, plain,
};
use gdro_train::model::Model;

/// Most weights that are shown unless all are asked for.
const MOST_WEIGHTS: usize = 20;

/// An interval, `not estimable`, or nothing.
fn bounds(estimate: Option<Estimate>, show: &dyn Fn(Interval) -> String) -> String {
    match estimate {
        Some(e) if e.rows > 0 => e.bounds().map_or("not estimable".into(), show),
        _ => NONE.into(),
    }
}

/// The tables of an evaluation.
pub fn evaluation(evaluated: &Evaluated, all_groups: bool) -> String {
    let width = terminal_width(&Term::stdout());
    let groups = &evaluated.intervals.groups;
    let mut order: Vec<usize> = (0..groups.len()).collect();
    if groups.len() > FULL && !all_groups {
        let risk = |i: &usize| groups[*i].risk.unwrap_or(f64::NEG_INFINITY);
        order.sort_by(|a, b| risk(b).total_cmp(&risk(a)));
        order.truncate(WORST);
    }
    let rest = groups.len() - order.len();
    let name = |i: &usize| {
        let unseen = if *i >= evaluated.known { " (unseen)" } else { "" };
        plain(&evaluated.names[*i]) + unseen
    };
    let mut names: Vec<String> = order.iter().map(name).collect();
    if rest > 0 {
        names.push(format!("… and {} more", count(rest as u64)));
    }
    let first_total = names.len();
    names.extend(["worst group", "mean over rows", "mean over groups"].map(str::to_owned));
    let mut grid = Grid::new("group", names);
    grid.rule(first_total);
    let mut add = |header: [&str; 2], of: &dyn Fn(usize) -> String, totals: [String; 3]| {
        let gap = (rest > 0).then(String::new);
        let cells = order.iter().map(|i| of(*i)).chain(gap).chain(totals).collect();
        grid.block();
        grid.column(header, cells);
    };
    let blank = || [String::new(), String::new(), String::new()];
    let with_rows = || groups.iter().filter(|g| g.rows > 0);
    let scale = Scale::of(groups.iter().filter_map(|g| g.risk));
    // `sign` is −1 where the least value is the worst.
    let totals =
        |of: &dyn Fn(&gdro::interval::GroupEstimates) -> Option<f64>, by_rows: f64, sign: f64| {
            let values: Vec<f64> = with_rows().filter_map(of).collect();
            let worst = values.iter().map(|v| sign * v).fold(f64::NEG_INFINITY, f64::max) * sign;
            let by_groups = values.iter().sum::<f64>() / values.len() as f64;
            [worst, by_rows, by_groups]
        };
    let ends = |i: Interval| scale.ends(i.low, i.high);
    let shares = |i: Interval| format!("{} to {}", percent(i.low), percent(i.high));
    let worst_only =
        |text: Option<String>| [text.unwrap_or_default(), String::new(), String::new()];
    let at_level = format!("at {}", level(1.0 - evaluated.settings.delta));

    let mut all_rows = blank();
    all_rows[1] = count(evaluated.rows as u64);
    add(["", "rows"], &|i| count(groups[i].rows as u64), all_rows);
    let show = |v: Option<f64>| v.map_or(NONE.into(), |v| scale.show(v));
    let mean = evaluated.mean_over_rows;
    let risks = totals(&|g| g.risk, mean.risk, 1.0).map(|v| scale.show(v));
    add(["", "risk"], &|i| show(groups[i].risk), risks);
    let worst = evaluated.intervals.worst_risk.estimable.map(ends);
    let risk = |i: usize| bounds(Some(groups[i].clipped_risk), &ends);
    add(["risk", &at_level], &risk, worst_only(worst));
    if groups.iter().any(|g| g.accuracy.is_some()) {
        let value = |e: Option<Estimate>| e.and_then(|e| e.value);
        let share = |v: Option<f64>| v.map_or(NONE.into(), percent);
        let by_rows = mean.accuracy.unwrap_or(f64::NAN);
        let accuracies = totals(&|g| value(g.accuracy), by_rows, -1.0).map(percent);
        add(["", "accuracy"], &|i| share(value(groups[i].accuracy)), accuracies);
        let worst = evaluated.intervals.worst_accuracy.and_then(|w| w.estimable).map(shares);
        let accuracy = |i: usize| bounds(groups[i].accuracy, &shares);
        add(["accuracy", &at_level], &accuracy, worst_only(worst));
    }
    for metric in &METRICS {
        let of = |i: usize| groups[i].metrics.get(metric.key);
        if (0..groups.len()).any(|i| of(i).is_some()) {
            let ends = |i: Interval| match metric.is_share {
                true => shares(i),
                false => Scale::Decimals(3).ends(i.low, i.high),
            };
            add([metric.label, &at_level], &|i| bounds(of(i), &ends), blank());
        }
    }
    let mut out = grid.text(width);
    let clipped: usize = groups.iter().map(|g| g.clipped).sum();
    let mut notes = vec![format!(
        "each column of intervals holds for all groups at once with probability {}; losses count as at most {}, which cuts {}; the worst group is that among the estimable ones",
        level(1.0 - evaluated.settings.delta),
        numbers::risk(evaluated.settings.cap),
        counted(clipped as u64, "row")
    )];
    let unseen = evaluated.names.len() - evaluated.known;
    if unseen > 0 {
        notes.push(format!("groups that training never saw: {}", count(unseen as u64)));
    }
    notes.extend(evaluated.notes.iter().cloned());
    for note in notes {
        out += &wrapped(&plain(&note), width, 2);
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
