//! The parts of the page that `gdro select` adds.

use super::data::Data;
use super::html::{self, Section};
use super::sections::configuration;
use super::words::sentence;
use crate::numbers::{NONE, setting};
use crate::selection::{cut_short, how, in_words, name_of, part_of, scale_of, worst_of};
use gdro_train::Result;
use gdro_train::job::Job;
use gdro_train::select::{Member, PartRisks, Path, Risks, Selection};

/// What was tried and chosen.
pub fn selection(selection: &Selection) -> Section {
    let mut texts = vec![sentence(&in_words(selection))];
    texts.push(format!(
        "{}: each mark is a model of the family at its best {}, from ERM to those that press most on \
         the worst groups; left and low is better. Across is the mean over rows, up is {}.",
        part_of(selection),
        selection.knob.words(),
        selection.criterion.words()
    ));
    texts.push(sentence(&how(selection)));
    texts.extend(cut_short(selection).map(|text| sentence(&text)));
    let notes: Vec<String> =
        selection.notes.iter().map(|note| format!("<li>{}</li>\n", html::prose(note))).collect();
    let notes = match notes.len() {
        0 => String::new(),
        _ => format!("<ul class=\"notes\">\n{}</ul>\n", notes.concat()),
    };
    let body = html::paragraphs(&texts)
        + &html::chart("selection-chart")
        + &html::details("What was tried, in numbers", &tried(selection))
        + &notes;
    Section::new("selection", "What was chosen, and why", body)
}

/// The models that were tried as a table.
fn tried(selection: &Selection) -> String {
    let header = [
        "model",
        selection.knob.words(),
        worst_of(selection.criterion),
        "± s.e.",
        "mean over rows",
        "worst group",
        "",
    ];
    let scale = scale_of(selection);
    let line = |(at, member): (usize, &Member)| {
        let point = member.at_best();
        vec![
            name_of(member.objective),
            setting(member.value),
            scale.show(point.criterion),
            point.standard_error.map_or(NONE.into(), |e| scale.show(e)),
            scale.show(point.mean_rows),
            format!("`{}`", selection.groups[point.worst]),
            if at == selection.chosen { "chosen".into() } else { String::new() },
        ]
    };
    let lines: Vec<Vec<String>> = selection.members.iter().enumerate().map(line).collect();
    html::table(&part_of(selection), &header.map(str::to_owned), &lines)
}

/// The parts of the page of a trade-off.
pub fn of_path(job: &Job, path: &Path, data: &Data) -> Result<Vec<Section>> {
    // With blanks at which no line breaks.
    let mut texts = vec![format!(
        "A model that minimises the mean of the k largest group risks protects the worst group at \
         k\u{a0}=\u{a0}1, and at k\u{a0}=\u{a0}{} it minimises the mean over groups, on training rows. \
         Each mark is the best model for one k; left and low is better. Ordinary training stands \
         beside it.",
        path.groups.len(),
    )];
    if path.interrupted {
        texts.push("Interrupted: the smallest k are missing.".into());
    }
    let bounds = match job.training.domain().words() {
        Some(set) => format!("Penalty {}, weights {set}.", path.l2),
        None => format!("Penalty {}.", path.l2),
    };
    texts.push(bounds);
    let overview = html::paragraphs(&texts) + &html::chart("path-chart") + &numbers(path, data);
    let title = "The worst group against the mean";
    let mut sections = vec![Section::new("overview", title, overview)];
    sections.push(configuration(job, data, job.training.delta, String::new())?);
    Ok(sections)
}

/// The trade-off as a table, on both parts.
fn numbers(path: &Path, data: &Data) -> String {
    let scale = data.scale();
    let mut header = vec!["model".to_owned()];
    let held_out = path.erm.test.is_some();
    let parts = if held_out { &["training", "held out"][..] } else { &["training"][..] };
    for part in parts {
        for name in ["worst group", "mean over groups", "mean over rows"] {
            header.push(format!("{part}: {name}"));
        }
    }
    let cells = |part: &PartRisks| {
        [part.max, part.mean_groups, part.mean_rows].map(|v| scale.show(v)).to_vec()
    };
    let line = |name: String, risks: &Risks| {
        let mut line = vec![name];
        line.extend(cells(&risks.train));
        line.extend(risks.test.as_ref().map(cells).unwrap_or_default());
        line
    };
    let points = path.points.iter().map(|p| line(format!("k = {}", p.k), &p.risks));
    let mut lines: Vec<Vec<String>> = points.collect();
    lines.push(line("balanced".into(), &path.balanced));
    lines.push(line("ERM".into(), &path.erm));
    html::table("The trade-off in numbers", &header, &lines)
}
