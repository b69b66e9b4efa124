//! A choice as a table.

use std::fmt::Write as _;

use console::Term;

use super::grid::{Grid, terminal_width, wrapped};
use super::numbers::{NONE, Scale, count, counted, percent, setting};
use super::tables::{goal_name, plain};
use gdro::setting::Objective;
use gdro_train::job::SelectionRule;
use gdro_train::select::{Curve, Selection};

/// Share of the bootstrap choices that a range of values is to hold.
const MOST: f64 = 0.9;

/// What was tried, what it gave, and what was chosen.
pub fn selection(selection: &Selection, objective: Objective) -> String {
    let width = terminal_width(&Term::stdout());
    let goal = goal_name(objective);
    let what = selection.knob.words();
    let rows = selection.rows.iter().sum::<usize>() as u64;
    let mut out = format!("\nWorst group on {}, by {what}\n", counted(rows, "validation row"));

    // From weak to strong where that is from small to large, as people list numbers.
    let mut order: Vec<usize> = (0..selection.values.len()).collect();
    order.sort_by(|a, b| selection.values[*a].total_cmp(&selection.values[*b]));
    let names = order.iter().map(|i| setting(selection.values[*i])).collect();
    let mut grid = Grid::new(what, names);
    let models = [(&goal[..], &selection.robust), ("ERM", &selection.erm)];
    let models = [models[0], models[1], ("balanced", &selection.balanced)];
    let scale = Scale::of(models.iter().flat_map(|(_, c)| c.points.iter().map(|p| p.criterion)));
    for (name, curve) in models {
        let column = |of: &dyn Fn(usize) -> String| order.iter().map(|i| of(*i)).collect();
        let error =
            |i: usize| curve.points[i].standard_error.map_or(NONE.into(), |e| scale.show(e));
        let mark = |i: usize| match i {
            i if i == curve.chosen => "chosen".to_owned(),
            i if i == curve.best => "best".to_owned(),
            _ => String::new(),
        };
        grid.block();
        grid.column([name, "risk"], column(&|i| scale.show(curve.points[i].criterion)));
        grid.column(["", "± s.e."], column(&error));
        grid.column(["", ""], column(&mark));
        grid.column(["taken", "in"], column(&|i| percent(curve.points[i].frequency)));
    }
    out += &grid.text(width);
    out.push('\n');
    let mut say = |text: &str| out += &wrapped(&plain(text), width, 2);
    for (name, curve) in models {
        say(&in_words(selection, name, curve, scale));
    }
    say(&how(selection));
    for note in &selection.notes {
        say(&format!("note: {note}"));
    }
    if let Some(text) = cut_short(selection) {
        say(&text);
    }
    out
}

/// What Ctrl-C left out.
pub(super) fn cut_short(selection: &Selection) -> Option<String> {
    selection.interrupted.then(|| match selection.folds {
        1 => format!(
            "stopped by Ctrl-C: chosen among the {} strongest values, which were tried on {}",
            count(selection.values.len() as u64),
            counted(1, "fold")
        ),
        folds => format!(
            "stopped by Ctrl-C: chosen by {} of {} folds",
            count(folds as u64),
            count(selection.folds_planned as u64)
        ),
    })
}

/// What was chosen for one model, and how certain that is.
pub(super) fn in_words(selection: &Selection, name: &str, curve: &Curve, scale: Scale) -> String {
    let (best, chosen) = (&curve.points[curve.best], &curve.points[curve.chosen]);
    let what = selection.knob.words();
    let mut text = format!("{name}: {what} {}", setting(chosen.value));
    if curve.best != curve.chosen {
        let error = curve.limit - best.criterion;
        let _ = write!(
            text,
            ", the strongest within one standard error ({}) of the best, {} at {}",
            scale.show(error),
            setting(best.value),
            scale.show(best.criterion)
        );
    }
    let _ = write!(
        text,
        "; worst group `{}` at {} (95 % of samples: {})",
        selection.groups[chosen.worst],
        scale.show(chosen.criterion),
        scale.ends(chosen.interval[0], chosen.interval[1])
    );
    let (low, high) = usual(selection, curve);
    let _ = write!(text, "; taken in {} of samples", percent(chosen.frequency));
    if low < high {
        let _ = write!(text, ", and 90 % of them take from {} to {}", setting(low), setting(high));
    }
    text
}

/// The shortest run of values, in their order, that most samples take.
fn usual(selection: &Selection, curve: &Curve) -> (f64, f64) {
    let shares: Vec<f64> = curve.points.iter().map(|p| p.frequency).collect();
    let all = 0..shares.len();
    let runs = all.clone().flat_map(|from| (from..shares.len()).map(move |to| (from, to)));
    let holds = |(from, to): &(usize, usize)| shares[*from..=*to].iter().sum::<f64>() >= MOST;
    let (from, to) =
        runs.filter(holds).min_by_key(|(from, to)| to - from).unwrap_or((0, shares.len() - 1));
    let (a, b) = (selection.values[from], selection.values[to]);
    (a.min(b), a.max(b))
}

/// How it was chosen.
pub(super) fn how(selection: &Selection) -> String {
    let rows = match selection.share {
        Some(share) => format!("{} of the training rows", percent(share)),
        None => counted(selection.folds as u64, "fold"),
    };
    let rule = match selection.rule {
        SelectionRule::OneSe => {
            "one-se, with the standard error of the best value's worst group over its rows"
        }
        SelectionRule::Best => "best",
    };
    format!(
        "chosen by the largest group risk on {rows}, each model by the same rule: {rule}; samples: {} bootstrap samples of the validation rows within groups, the models as they are",
        count(selection.bootstrap as u64)
    )
}
