//! The parts of the page, from top to bottom.

use std::path::PathBuf;

use super::data::Data;
use super::html::{self, Section};
use super::words::Tile;
use super::{coefficients, detail, recipe, words};
use crate::caps::{caps, clusters, warning};
use crate::numbers::{NONE, Scale, count, counted, percent};
use crate::saved::groups_in_words;
use crate::summary::Summary;
use crate::tables::{Total, largest_in_words, metrics, objective_in_words, solving, totals};
use gdro_train::Result;
use gdro_train::evaluate::Evaluated;
use gdro_train::fit::Fitted;
use gdro_train::job::Job;
use gdro_train::model::Model;
use gdro_train::options::Front;
use gdro_train::solve::Solved;
use gdro_train::verdict::Verdict;

/// The parts of the page of a training run.
pub fn of_fit(job: &Job, fitted: &Fitted, summary: &Summary, data: &Data) -> Result<Vec<Section>> {
    let model = &fitted.model;
    let training = &model.job.training;
    let held_out = fitted.table.test_rows > 0;
    let metrics = metrics(fitted, held_out);
    let totals = totals(job, fitted, held_out, metrics.each_ref().map(|m| &m[..]));
    let mean = totals.iter().find(|t| t.name == "mean over rows");
    let mean = mean.map_or([[None; 3]; 2], |t| [t.risks, t.accuracies]);
    let objective = objective_in_words(&job.training, fitted.offsets.is_some());

    let mut warnings = summary.warnings();
    if !held_out {
        warnings.push(
            "no rows were held out: all numbers are on the rows that the models were trained on, \
             and look better than they would on new ones"
                .into(),
        );
    }
    let mut list = vec![
        ("Task".to_owned(), words::task(model)),
        ("Table".into(), files(&model.job.tables)),
        ("Rows".into(), words::rows(fitted.table.train_rows, fitted.table.test_rows)),
        ("Groups".into(), words::of_groups(&model.job, data.names.len())),
        ("Model".into(), words::kind(model)),
        ("Objective".into(), objective.clone()),
    ];
    let solver = match &fitted.reason {
        Some(reason) => format!("{}, because {reason}", fitted.solver),
        None => fitted.solver.to_string(),
    };
    list.push(("Solver".into(), format!("{solver}; {:.2} s", fitted.seconds)));
    list.push(("Seed".into(), training.seed.to_string()));

    let about =
        |column: &super::data::Column| (column.name.clone(), words::about(training, &column.name));
    let models: Vec<_> = data.models.iter().map(about).collect();
    let lead = format!(
        "{}: {}, {}.",
        words::sentence(&words::task(model)).trim_end_matches('.'),
        words::rows(fitted.table.train_rows, fitted.table.test_rows),
        words::of_groups(&model.job, data.names.len())
    );
    let overview = verdict(&fitted.verdict, &words::tiles(data, mean, &fitted.verdict))
        + &html::paragraphs(&[lead])
        + &alerts(&warnings)
        + &html::paragraphs(&words::scope(&fitted.verdict))
        + &html::paragraphs(&words::small_groups_included(data, &fitted.verdict))
        + &glance(data, &totals)
        + "<h3>The models</h3>\n"
        + &html::definitions(&models);
    let run = html::definitions(&list) + &notes(&fitted.table.notes);

    let intervals = fitted.robust.intervals.as_ref();
    let caps = intervals.map(|i| caps(&fitted.settings, &i.groups));
    let (column, heavy) = (job.data.cluster.as_deref(), &fitted.heavy_clusters);
    let unit = intervals.and_then(|i| clusters(&fitted.settings, &i.groups, column, heavy));
    let mut proof = words::certificate(&fitted.certificate, &objective);
    // That it is the best possible says little of a model that no features have helped.
    let constant = fitted.constant.as_ref().and_then(|c| c.warning(Front::Program));
    proof.extend(constant.map(|warning| format!("But: {warning}.")));
    let mut sections =
        vec![Section::new("overview", "What came out", overview), risks(data, caps, unit), table()];
    if !fitted.verdict.is_ordinary() {
        sections.push(gains(data));
    }
    sections.extend(detail::part(data));
    sections.extend(coefficients::part(fitted, &data.models[2].name));
    let title = "How close to the best on training rows";
    sections.push(Section::new("certificate", title, html::paragraphs(&proof)));
    sections.push(course(fitted, data));
    sections.push(configuration(&model.job, data, training.delta, run)?);
    Ok(sections)
}

/// The parts of the page of a model on another table.
pub fn of_evaluation(
    model: &Model,
    tables: &[PathBuf],
    evaluated: &Evaluated,
    data: &Data,
) -> Result<Vec<Section>> {
    let training = &model.job.training;
    let (warnings, rest): (Vec<String>, Vec<String>) =
        evaluated.notes.iter().cloned().partition(|note| note.starts_with("warning: "));
    let mut warnings: Vec<String> =
        warnings.iter().map(|w| w.trim_start_matches("warning: ").to_owned()).collect();
    warnings.extend(warning(&evaluated.settings, &evaluated.intervals.groups));
    let scale = data.scale();
    let worst = data.worst(0).map(|(group, risk)| {
        format!(
            "The model does worst on `{group}`, with {} {} on {}.",
            data.unit,
            scale.show(risk),
            data.part
        )
    });
    let rows: usize = data.rows.iter().sum();
    let list = vec![
        ("Task".to_owned(), words::task(model)),
        ("Table".into(), files(tables)),
        ("Rows".into(), count(rows as u64)),
        ("Groups".into(), words::of_groups(&model.job, data.names.len())),
        ("Model".into(), words::kind(model)),
        ("Trained on".into(), files(&model.job.tables)),
        (
            "Solver".into(),
            format!("{}, seed {}, gdro {}", training.solver, training.seed, model.gdro),
        ),
    ];
    let models = [(data.models[0].name.clone(), words::about(training, &data.models[0].name))];
    let judged =
        evaluated.verdict.as_ref().map_or(String::new(), |told| verdict(&told.verdict, &[]));
    let overview = judged
        + &alerts(&warnings)
        + &html::paragraphs(&worst)
        + "<h3>The model</h3>\n"
        + &html::definitions(&models)
        + "<h3>The evaluation</h3>\n"
        + &html::definitions(&list)
        + &notes(&[groups_in_words(evaluated), rest].concat());
    let objective = objective_in_words(training, false);
    let groups = &evaluated.intervals.groups;
    let (column, heavy) = (evaluated.cluster.as_deref(), &evaluated.heavy_clusters);
    let unit = clusters(&evaluated.settings, groups, column, heavy);
    let mut sections = vec![
        Section::new("overview", "What came out", overview),
        risks(data, Some(caps(&evaluated.settings, groups)), unit),
        table(),
    ];
    sections.extend(detail::part(data));
    sections.extend([
        Section::new(
            "certificate",
            "How well the model was trained",
            html::paragraphs(&model.certificate.as_ref().map_or_else(
                || vec!["None: it was trained without a pass that makes one.".to_owned()],
                |certificate| words::certificate(certificate, &objective),
            )),
        ),
        configuration(&model.job, data, evaluated.settings.delta, String::new())?,
    ]);
    Ok(sections)
}

/// What it comes to, before anything else; the tiles are of a model beside others in training.
fn verdict(verdict: &Verdict, tiles: &[Tile]) -> String {
    let word = verdict.word.words();
    let lines = words::verdict(verdict);
    let effect = html::prose(&lines[0]);
    let effect = effect.strip_prefix(word).unwrap_or(&effect);
    let tile = |tile: &Tile| {
        format!(
            "<div><dt>{}</dt><dd><strong>{}</strong> {}</dd></div>\n",
            html::escape(tile.question),
            html::escape(&tile.answer),
            html::escape(&tile.note)
        )
    };
    let tiles = match tiles.iter().map(tile).collect::<String>() {
        none if none.is_empty() => none,
        list => format!("<dl class=\"tiles\">\n{list}</dl>\n"),
    };
    format!(
        "<div class=\"verdict\" role=\"note\" aria-label=\"Verdict\" data-word=\"{word}\">\n\
         <p><strong>{word}</strong>{effect}</p>\n{tiles}{}</div>\n",
        html::paragraphs(&lines[1..]),
    )
}

/// What a reader must know first.
fn alerts(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let items: String = warnings.iter().map(|w| format!("<li>{}</li>\n", html::prose(w))).collect();
    format!(
        "<div class=\"alert\" role=\"note\" aria-label=\"Warnings\"><strong>Warning</strong>\n<ul>\n{items}</ul></div>\n"
    )
}

/// What was decided for the user.
fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let items: String = notes.iter().map(|n| format!("<li>{}</li>\n", html::prose(n))).collect();
    format!("<h3>Notes</h3>\n<ul class=\"notes\">\n{items}</ul>\n")
}

fn files(tables: &[PathBuf]) -> String {
    let names: Vec<String> = tables.iter().map(|t| format!("`{}`", t.display())).collect();
    names.join(", ")
}

/// Worst group and means, side by side.
fn glance(data: &Data, totals: &[Total]) -> String {
    let scale = Scale::of(totals.iter().flat_map(|t| t.risks).flatten());
    let mut header = vec![String::new()];
    header.extend(data.models.iter().map(|m| m.name.clone()));
    let mut lines = Vec::new();
    for total in totals {
        let cells = total.risks.map(|r| r.map_or(NONE.into(), |r| scale.show(r)));
        let mut line = vec![match total.is_extreme() {
            true => largest_in_words(data.unit, false),
            false => format!("{}, {}", data.unit, total.name),
        }];
        line.extend(cells);
        lines.push(line);
    }
    for total in totals.iter().filter(|t| t.accuracies[2].is_some()) {
        let mut line = vec![match total.is_extreme() {
            true => "least accuracy".into(),
            false => format!("accuracy, {}", total.name),
        }];
        line.extend(total.accuracies.map(|a| a.map_or(NONE.into(), percent)));
        lines.push(line);
    }
    html::table(&format!("At a glance, on the {}", data.part), &header, &lines)
}

/// The chart of risks.
fn risks(data: &Data, caps: Option<String>, unit: Option<String>) -> Section {
    let mut texts = vec![format!(
        "Each line is a group, each mark the {} of a model on the {}.",
        data.unit, data.part
    )];
    texts.extend(caps.and_then(|caps| words::intervals(data, &caps)));
    texts.extend(unit.as_deref().map(words::sentence));
    let title = if data.models.len() > 1 { "The groups, side by side" } else { "The groups" };
    Section::new("groups", title, html::paragraphs(&texts) + &html::chart("risk-chart"))
}

/// The chart of differences to ERM.
fn gains(data: &Data) -> Section {
    let gains = match words::gains(data) {
        Some(text) => vec![
            text,
            format!(
                "Each mark is the {0} of {1} minus that of ERM on the same rows; bars are intervals \
                 for all groups at once.",
                data.unit, data.models[2].name
            ),
        ],
        None => vec![format!(
            "Each mark is the {} of {} minus that of ERM on the {}.",
            data.unit, data.models[2].name, data.part
        )],
    };
    let title = "Who gains and who loses against ERM";
    Section::new("gains", title, html::paragraphs(&gains) + &html::chart("gains-chart"))
}

/// The table of all groups.
fn table() -> Section {
    Section::new("table", "All groups in numbers", html::chart("group-table"))
}

/// How training went.
fn course(fitted: &Fitted, data: &Data) -> Section {
    let lines: Vec<String> = solving(fitted).lines().map(str::to_owned).collect();
    let items: String = lines.iter().map(|l| format!("<li>{}</li>\n", html::prose(l))).collect();
    let mut body = format!("<ul>\n{items}</ul>\n");
    if matches!(fitted.solved, Solved::Exact { .. }) {
        // It goes straight to the end: there is no curve to look at.
        body += "<h3>Weights of the groups</h3>\n<p>A group's weight says how much it counts in the \
                 optimum; all weights add up to 1. A group of weight 0 did not hold the model back.</p>\n";
        body += &html::chart("weight-bars");
    } else if data.curve.is_some() {
        body += "<p>Risks are those of the model so far on training rows; a group's weight says how \
                 much it counts, and all weights add up to 1.</p>\n";
        body += "<h3>Risks of the groups</h3>\n";
        body += &html::chart("risk-curve");
        body += "<h3>Weights of the groups</h3>\n";
        body += &html::chart("weight-curve");
    } else {
        body += &format!(
            "<p>There are too many groups ({}) to keep a curve of each.</p>\n",
            counted(data.names.len() as u64, "group")
        );
    }
    Section::new("course", "How training went", body)
}

/// All that is needed to do it again, and what the words mean.
pub(super) fn configuration(job: &Job, data: &Data, delta: f64, run: String) -> Result<Section> {
    let text = recipe::of(job)?;
    let command =
        if data.models.is_empty() { "gdro select job.toml --path" } else { "gdro fit job.toml" };
    let body = format!(
        "{run}<p>The run with every choice settled. Saved as <code>job.toml</code> in the folder where it was \
         started, <code>{command}</code> does it again.</p>\n\
         <div class=\"copy\"><button type=\"button\" id=\"copy\" data-from=\"job\">Copy</button>\
         <span id=\"copied\" role=\"status\"></span></div>\n\
         <pre id=\"job\" tabindex=\"0\" role=\"region\" aria-label=\"Job file\">{}</pre>\n{}",
        html::escape_lines(&text),
        html::details("Words of this page", &html::definitions(&words::glossary(data, delta)))
    );
    Ok(Section::new("configuration", "The run, and how to do it again", body))
}
