//! A choice as a table.

use console::Term;

use super::grid::{Grid, terminal_width, wrapped};
use super::numbers::{NONE, Scale, count, counted, percent, setting};
use super::tables::{goal_name, plain};
use gdro::setting::Objective;
use gdro_train::job::Criterion;
use gdro_train::select::{Member, Selection};

/// What was tried, what it gave, and what was chosen.
pub fn selection(selection: &Selection) -> String {
    let width = terminal_width(&Term::stdout());
    let mut out =
        format!("\n{}, each model at its best {}\n", part_of(selection), selection.knob.words());
    let members = &selection.members;
    let mut grid = Grid::new("model", members.iter().map(|m| name_of(m.objective)).collect());
    let best = || members.iter().map(Member::at_best);
    let scale = scale_of(selection);
    grid.block();
    let values = members.iter().map(|member| setting(member.value));
    grid.column(["", selection.knob.words()], values.collect());
    grid.column(
        ["", worst_of(selection.criterion)],
        best().map(|p| scale.show(p.criterion)).collect(),
    );
    let error = |error: Option<f64>| error.map_or(NONE.into(), |e| scale.show(e));
    grid.column(["", "± s.e."], best().map(|p| error(p.standard_error)).collect());
    grid.column(["mean", "over rows"], best().map(|p| scale.show(p.mean_rows)).collect());
    let mark = |at: usize| if at == selection.chosen { "chosen" } else { "" };
    grid.left_column("", (0..members.len()).map(|at| mark(at).to_owned()).collect());
    grid.block();
    let worst = best().map(|p| plain(&selection.groups[p.worst]));
    grid.left_column("worst group", worst.collect());
    out += &grid.text(width);
    out.push('\n');
    let mut say = |text: &str| out += &wrapped(&plain(text), width, 2);
    say(&in_words(selection));
    say(&how(selection));
    for note in &selection.notes {
        say(&format!("note: {note}"));
    }
    if let Some(text) = cut_short(selection) {
        say(&text);
    }
    out
}

/// A member of the family.
pub(super) fn name_of(objective: Objective) -> String {
    match objective {
        Objective::Average => "ERM".into(),
        other => goal_name(other),
    }
}

/// The digits of the risks.
pub(super) fn scale_of(selection: &Selection) -> Scale {
    let best = selection.members.iter().map(Member::at_best);
    Scale::of(best.flat_map(|p| [p.criterion, p.mean_rows]))
}

/// What decides, as the header of a column.
pub(super) fn worst_of(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Risk => "largest risk",
        Criterion::Accuracy => "most errors",
        Criterion::TopK(_) => "largest risks",
    }
}

/// The rows that decide.
pub(super) fn part_of(selection: &Selection) -> String {
    let rows = selection.rows.iter().sum::<usize>() as u64;
    format!("On {}", counted(rows, "validation row"))
}

/// What Ctrl-C left out.
pub(super) fn cut_short(selection: &Selection) -> Option<String> {
    selection.interrupted.then(|| match selection.folds {
        1 => format!(
            "interrupted: chosen among the {} strongest values, which were tried on {}",
            count(selection.values.len() as u64),
            counted(1, "fold")
        ),
        folds => format!(
            "interrupted: chosen by {} of {} folds",
            count(folds as u64),
            count(selection.folds_planned as u64)
        ),
    })
}

/// What was chosen, and why.
pub(super) fn in_words(selection: &Selection) -> String {
    let scale = scale_of(selection);
    let what = selection.knob.words();
    let named = |member: &Member| {
        let point = member.at_best();
        format!(
            "{} with {what} {} ({}, worst validation group `{}`)",
            name_of(member.objective),
            setting(member.value),
            scale.show(point.criterion),
            selection.groups[point.worst]
        )
    };
    let erm = named(selection.erm());
    let Some(best) = selection.best.map(|best| &selection.members[best]) else {
        return format!("chosen: {erm}, the only model of the family");
    };
    let Some(contest) = &selection.contest else {
        return format!(
            "chosen: {erm}: no other model of the family is better; the best is {}",
            named(best)
        );
    };
    let samples = format!(
        "better in {} of {} samples of these rows",
        percent(contest.better),
        count(contest.samples as u64)
    );
    let asked = percent(contest.asked);
    if selection.kept_erm() {
        format!(
            "chosen: {erm}: no model of the family is better than ERM beyond doubt; the best, {}, is {samples}, and {asked} are asked for",
            named(best)
        )
    } else {
        format!("chosen: {} in place of {erm}: {samples}; {asked} are asked for", named(best))
    }
}

/// How it was chosen.
pub(super) fn how(selection: &Selection) -> String {
    let rows = match selection.share {
        Some(share) => format!("{} of the training rows", percent(share)),
        None => counted(selection.folds as u64, "fold"),
    };
    format!(
        "chosen by {} on rows that the models were not trained on ({rows}); samples draw these rows anew within each group, the same ones for \
         both models",
        selection.criterion.words()
    )
}
