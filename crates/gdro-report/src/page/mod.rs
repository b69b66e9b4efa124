//! The page for a browser: one file with everything in it, and nothing from a network.
//!
//! Texts are written here, charts and tables are drawn in the browser by `script/*.js` from the
//! numbers of `data::Data`, which stand in the page as JSON. What comes from the user's table
//! reaches the page only through `html::escape` and `html::json`.

mod choice;
mod classes;
mod coefficients;
mod curve;
mod data;
mod detail;
mod html;
mod ladder;
mod recipe;
mod sections;
mod words;

use std::path::PathBuf;

use data::Data;
use ladder::Ladder;

use super::summary::Summary;
use gdro_train::evaluate::Evaluated;
use gdro_train::files;
use gdro_train::fit::Fitted;
use gdro_train::job::Job;
use gdro_train::model::Model;
use gdro_train::select::{Path, Selected};
use gdro_train::{Failure, Result};

/// The frame, in which `{{name}}` stands for what is filled in.
const FRAME: &str = include_str!("frame.html");

/// The style.
const STYLE: &str = include_str!("style.css");

/// The script, in the order of its parts.
const SCRIPT: [&str; 9] = [
    include_str!("script/numbers.js"),
    include_str!("script/marks.js"),
    include_str!("script/save.js"),
    include_str!("script/rows.js"),
    include_str!("script/table.js"),
    include_str!("script/ladder.js"),
    include_str!("script/detail.js"),
    include_str!("script/curves.js"),
    include_str!("script/main.js"),
];

/// Refuses a place for the page before any work is done: another ending than `.html`, an input of
/// the run, a folder, or where nothing can be written.
pub fn check(page: &std::path::Path, inputs: &[PathBuf], place: &str) -> Result<()> {
    let is_page = page.extension().is_some_and(|e| e.eq_ignore_ascii_case("html"));
    let shown = page.display();
    if !is_page {
        return Err(Failure::input(format!("{place}: {shown}: expected a file named *.html")));
    }
    files::check_output(page, inputs, place)
}

/// The page of a training run.
pub fn of_fit(job: &Job, fitted: &Fitted, summary: &Summary) -> Result<String> {
    let data = Data::of_fit(job, fitted);
    let sections = sections::of_fit(job, fitted, summary, &data)?;
    fill(&words::title(&fitted.model.job), &sections, &data)
}

/// The page of a choice and of the models that follow from it.
pub fn of_selection(selected: &Selected, summary: &Summary) -> Result<String> {
    let Selected { selection, job, fitted } = selected;
    let mut data = Data::of_fit(job, fitted);
    data.selection = Some(Ladder::of_selection(selection));
    let mut sections = sections::of_fit(job, fitted, summary, &data)?;
    sections.insert(1, choice::selection(selection));
    fill(&(words::title(job) + ": selection"), &sections, &data)
}

/// The page of a trade-off.
pub fn of_path(job: &Job, path: &Path) -> Result<String> {
    let data = Data::of_path(path);
    let sections = choice::of_path(job, path, &data)?;
    fill(&(words::title(job) + ": trade-off"), &sections, &data)
}

/// The page of a model on another table.
pub fn of_evaluation(model: &Model, tables: &[PathBuf], evaluated: &Evaluated) -> Result<String> {
    let data = Data::of_evaluation(model, evaluated);
    let title = words::title(&model.job) + ": evaluation";
    fill(&title, &sections::of_evaluation(model, tables, evaluated, &data)?, &data)
}

/// Fills the frame. The parts are put in at once: none is searched for names of others.
fn fill(title: &str, sections: &[html::Section], data: &Data) -> Result<String> {
    let json = serde_json::to_string(data)
        .map_err(|e| Failure::Machine(format!("cannot write the page: {e}")))?;
    let links = sections.iter().map(html::Section::link).collect::<String>();
    let body = sections.iter().map(html::Section::text).collect::<String>();
    let script = SCRIPT.concat();
    let mut out = String::new();
    for (at, part) in FRAME.split("{{").enumerate() {
        if at == 0 {
            out += part;
            continue;
        }
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        match name {
            "title" => out += &html::escape(title),
            "style" => out += STYLE,
            "links" => out += &links,
            "body" => out += &body,
            "data" => out += &html::json(&json),
            "script" => out += &script,
            "version" => out += env!("CARGO_PKG_VERSION"),
            other => unreachable!("the frame has no part {other}"),
        }
        out += rest;
    }
    Ok(out)
}
