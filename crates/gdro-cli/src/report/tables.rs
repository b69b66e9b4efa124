//! Tables for a terminal.

use std::fmt::Write as _;

use comfy_table::{Cell, CellAlignment, ContentLineStyle, LineStyle, Table, TableStyle};
use gdro::group_weights::effective_groups;
use gdro::risk::GroupMetric;
use gdro::run::Outcome;
use gdro_data::{Prepared, Target};

use super::numbers::{change, count, percent, risk};
use super::summary::{Part, Summary, sizes};
use crate::job::{Job, Objective};
use crate::train::Fitted;

/// Lines above, under the header and below; the line above the totals is put in afterwards.
const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('─', '─', '─', '─'))
    .header_lines(ContentLineStyle::new(' ', ' ', ' '))
    .header_separator(LineStyle::new('─', '─', '─', '─'))
    .content_lines(ContentLineStyle::new(' ', ' ', ' '))
    .bottom_border(LineStyle::new('─', '─', '─', '─'));

/// With more groups than [`FULL`] a table shows only this many, the worst.
const WORST: usize = 10;

/// The first line of the totals.
const TOTALS: &str = "worst group";

/// Most groups that a table shows in full.
const FULL: usize = 30;

/// What the table holds: rows, target, groups, and what was decided for the user.
pub fn groups(prepared: &Prepared) -> String {
    let rows: usize = prepared.train_rows.len() + prepared.test_rows.len();
    let mut out = String::new();
    let (target, many) = match &prepared.target {
        Target::Binary { column, positive, negative } => {
            (format!("`{column}`: `{positive}` (positive) or `{negative}`"), String::new())
        }
        Target::Multiclass { column, classes } => {
            (format!("`{column}`"), format!(", {} classes", classes.len()))
        }
        Target::Regression { column } => (format!("`{column}`, a number"), String::new()),
    };
    let _ = writeln!(
        out,
        "{} rows ({} held out), {} features, target {target}{many}",
        count(rows as u64),
        count(prepared.test_rows.len() as u64),
        count(prepared.encoding.dimension() as u64),
    );
    let shown = if prepared.groups.len() > FULL { WORST } else { prepared.groups.len() };
    let list: Vec<String> = prepared.groups[..shown]
        .iter()
        .map(|g| {
            let rate = g.positives.map_or(String::new(), |p| {
                format!(", {} positive", percent(p as f64 / g.rows.max(1) as f64))
            });
            format!("{} ({}{rate})", g.name, count(g.rows as u64))
        })
        .collect();
    let rest = prepared.groups.len() - shown;
    let more = if rest > 0 { format!("; and {} more", count(rest as u64)) } else { String::new() };
    let _ = writeln!(out, "{} groups: {}{more}", prepared.groups.len(), list.join("; "));
    for note in &prepared.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

/// The whole report of a run.
pub fn text(job: &Job, fitted: &Fitted, summary: &Summary, all_groups: bool) -> String {
    let mut out = String::new();
    let parts = [("Rows held out", fitted.prepared.test.is_some()), ("Training rows", true)];
    for (at, (title, present)) in parts.into_iter().enumerate() {
        if present {
            let _ = writeln!(out, "\n{title}");
            out += &part(job, fitted, at == 0, all_groups);
        }
    }
    out.push('\n');
    out += &notes(job, fitted, summary);
    out
}

/// Metrics of the three models on one part: ERM, balanced, robust.
fn metrics(fitted: &Fitted, held_out: bool) -> [&[GroupMetric]; 3] {
    [&fitted.erm, &fitted.balanced, &fitted.robust].map(|e| match (held_out, &e.test) {
        (true, Some(test)) => &test[..],
        (true, None) => &[],
        (false, _) => &e.train[..],
    })
}

/// The table of one part.
fn part(job: &Job, fitted: &Fitted, held_out: bool, all_groups: bool) -> String {
    let models = metrics(fitted, held_out);
    let graded = models[2].iter().any(|m| m.accuracy.is_some());
    let mut table = Table::new();
    table.load_style(STYLE);
    let unit = if graded { "risk" } else { "MSE" };
    let name = goal_name(job.training.objective);
    let mut header = vec![
        "group".to_owned(),
        "rows".to_owned(),
        format!("{unit}\nERM"),
        format!("{unit}\nbalanced"),
        format!("{unit}\n{name}"),
        format!("{name}\n− ERM"),
    ];
    if graded {
        header.extend([
            "accuracy\nERM".into(),
            "accuracy\nbalanced".into(),
            format!("accuracy\n{name}"),
        ]);
    }
    if !held_out {
        header.extend(["group\nweight".into(), "samples\ndrawn".into()]);
    }
    let width = header.len();
    table.set_header(header);

    // Groups with rows in this part, the worst of the robust model first when not all are shown.
    let groups = &fitted.prepared.groups;
    let place = |g: &gdro_data::Group| if held_out { g.test } else { g.train };
    let mut order: Vec<usize> = (0..groups.len()).collect();
    if groups.len() > FULL && !all_groups {
        let key = |i: &usize| place(&groups[*i]).map_or(f64::NEG_INFINITY, |p| models[2][p].risk);
        order.sort_by(|a, b| key(b).total_cmp(&key(a)));
        order.truncate(WORST);
    }
    for i in &order {
        let group = &groups[*i];
        let rows = if held_out { group.test_rows } else { group.train_rows };
        let mut line = vec![group.name.clone(), count(rows as u64)];
        match place(group) {
            None => line.extend((2..width).map(|_| "–".to_owned())),
            Some(p) => {
                line.extend(models.iter().map(|m| risk(m[p].risk)));
                line.push(change(models[0][p].risk, models[2][p].risk));
                if graded {
                    line.extend(models.iter().map(|m| m[p].accuracy.map_or("–".into(), percent)));
                }
                if !held_out {
                    line.push(risk(fitted.weights[p]));
                    line.push(count(fitted.samples[p]));
                }
            }
        }
        table.add_row(line);
    }
    if order.len() < groups.len() {
        table
            .add_row([format!("… and {} more groups", count((groups.len() - order.len()) as u64))]);
    }
    footer(job, fitted, &mut table, held_out, graded, models);
    for column in 1..width {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text = table.to_string();
    let rule = text.lines().next().unwrap_or_default();
    let mut out = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with(TOTALS) {
            let _ = writeln!(out, "{rule}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// Largest and mean values, each labelled with what it averages.
fn footer(
    job: &Job,
    fitted: &Fitted,
    table: &mut Table,
    held_out: bool,
    graded: bool,
    models: [&[GroupMetric]; 3],
) {
    let k = match job.training.objective {
        Objective::TopK(k) => Some(k),
        _ => None,
    };
    let (train, test) = sizes(fitted);
    let sizes = if held_out { test } else { train };
    let risks = models.map(|m| Part::new(m, |m| Some(m.risk), &sizes, k));
    // The least accuracy is minus the largest of its negatives.
    let accuracy = models.map(|m| Part::new(m, |m| m.accuracy.map(|a| -a), &sizes, None));
    type Pick = fn(&Part) -> Option<f64>;
    let lines: [(String, Pick, bool); 4] = [
        (TOTALS.into(), |p| Some(p.max), true),
        (k.map_or(String::new(), |k| format!("mean of the {k} worst")), |p| p.topk, false),
        ("mean over rows".into(), |p| Some(p.rows), true),
        ("mean over groups".into(), |p| Some(p.groups), true),
    ];
    let total: f64 = sizes.iter().sum();
    for (name, pick, with_accuracy) in lines.into_iter().filter(|l| !l.0.is_empty()) {
        let values = risks.each_ref().map(|p| p.as_ref().and_then(pick));
        let show = |v: Option<f64>| v.map_or("–".to_owned(), risk);
        let mut line = vec![Cell::new(&name)];
        let rows =
            if name == "mean over rows" { count(total.round() as u64) } else { String::new() };
        line.push(Cell::new(rows));
        line.extend(values.map(|v| Cell::new(show(v))));
        line.push(Cell::new(match (values[0], values[2]) {
            (Some(a), Some(b)) => change(a, b),
            _ => "–".into(),
        }));
        if graded && with_accuracy {
            let shares = accuracy.each_ref().map(|p| p.as_ref().and_then(pick));
            line.extend(shares.map(|v| Cell::new(v.map_or("–".into(), |a| percent(-a)))));
        }
        table.add_row(line);
    }
}

/// How the robust model is called in a column.
fn goal_name(objective: Objective) -> String {
    match objective {
        Objective::Max => "gdro".into(),
        other => other.to_string(),
    }
}

/// What else should be known.
fn notes(job: &Job, fitted: &Fitted, summary: &Summary) -> String {
    let mut out = String::new();
    let training = &job.training;
    let samples: u64 = fitted.samples.iter().sum();
    let _ = writeln!(
        out,
        "{}: {} rounds, {} samples, {:.2} s",
        training.solver,
        count(fitted.rounds.0),
        count(samples),
        fitted.seconds
    );
    let names: Vec<&str> = {
        let with_rows = fitted.prepared.groups.iter().filter(|g| g.train.is_some());
        with_rows.map(|g| g.name.as_str()).collect()
    };
    match fitted.outcome {
        Outcome::Finished => {}
        Outcome::Stopped => {
            let _ = writeln!(
                out,
                "stopped by Ctrl-C after {} of {} rounds: this is the model so far",
                count(fitted.rounds.0),
                count(fitted.rounds.1)
            );
        }
        Outcome::Exhausted { group, budget } => {
            let _ = writeln!(
                out,
                "stopped after {} of {} rounds: the budget of group `{}` ({} rows) is used up",
                count(fitted.rounds.0),
                count(fitted.rounds.1),
                names[group],
                count(budget)
            );
        }
    }
    if let Some(budgets) = &fitted.budgets {
        let unused = budgets.iter().zip(&fitted.samples).map(|(n, used)| n - used);
        let list: Vec<String> = names
            .iter()
            .zip(unused)
            .map(|(name, left)| format!("{name} {}", count(left)))
            .collect();
        let _ = writeln!(out, "rows of the budget left unused: {}", list.join(", "));
    }
    if matches!(training.objective, Objective::Max | Objective::TopK(_)) {
        let (m, effective) = (fitted.weights.len(), effective_groups(&fitted.weights));
        let uniform = fitted.weights.iter().all(|q| (q * m as f64 - 1.0).abs() < 1e-6);
        if m > 1 && uniform {
            let _ = writeln!(out, "no group dominates: the averaged group weights are uniform");
        } else if m > 1 {
            let _ = writeln!(out, "effective number of groups: {effective:.1} of {m}");
        }
    }
    if fitted.clipped > 0 {
        let _ = writeln!(
            out,
            "{} losses lay above the loss range and were clipped for the group weights only; a larger --loss-range clips fewer",
            count(fitted.clipped)
        );
    }
    for (name, evaluation) in [
        ("the ERM model", &fitted.erm),
        ("the balanced model", &fitted.balanced),
        ("the robust model", &fitted.robust),
    ] {
        if evaluation.one_class {
            let _ = writeln!(out, "warning: {name} predicts one class for every row");
        }
    }
    if let (Some(robust), Some(erm)) =
        (summary.totals.max_risk, summary.erm.as_ref().and_then(|e| e.totals.max_risk))
        && robust > erm
        && training.objective == Objective::Max
    {
        let _ = writeln!(
            out,
            "warning: the worst group does better under ordinary training: more --rounds, or larger --step-w and --step-q, are needed"
        );
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
            let _ = writeln!(out, "nothing was written: give --out DIR to keep the model");
        }
    }
    out
}
