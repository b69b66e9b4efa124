//! A resolved job as a job file that gives the same model.

use gdro_train::options::TABLE;
use serde::Serialize;
use serde_json::Value as Json;
use toml::{Table, Value};

use gdro_train::job::Job;
use gdro_train::{Failure, Result};

/// What a reader looks for first.
const FIRST: [&str; 6] = ["tables", "target", "positive", "groups", "objective", "seed"];

/// The text of a job file with every setting that is set.
pub fn of(job: &Job) -> Result<String> {
    let refuse = |e: &dyn std::fmt::Display| {
        Failure::Machine(format!("cannot write the configuration: {e}"))
    };
    let mut table = Table::new();
    let tables = job.tables.iter().map(|t| Value::from(t.to_string_lossy().into_owned()));
    table.insert("tables".into(), Value::Array(tables.collect()));
    let options = [settings(&job.data), settings(&job.training)];
    for options in options {
        for (name, value) in options.map_err(|e| refuse(&e))? {
            if let Some(value) = setting(value) {
                table.insert(name, value);
            }
        }
    }
    if let Some(streaming) = &job.streaming {
        table.insert("stream".into(), Value::Boolean(true));
        if let Some(rows) = streaming.buffer {
            table.insert("buffer".into(), Value::Integer(rows as i64));
        }
    }
    // What a job file may not hold beside what it holds.
    for name in unused(job) {
        table.remove(name);
    }
    // The file whose rows are visited once, by its name alone.
    if let Some(Value::Table(budget)) = table.get("budget")
        && let Some(file) = budget.get("file").cloned()
    {
        table.insert("budget".into(), file);
    }
    if let Some(name) = table.remove("solver") {
        let mut solver = Table::from_iter([("name".to_owned(), name)]);
        if let Some(algorithm) = job.training.solver.algorithm() {
            let of_solver = TABLE.iter().filter(|option| option.is_of_solver());
            let own = of_solver
                .filter_map(|option| Some((option.key.to_owned(), table.remove(option.key)?)));
            let own: Table = own.collect();
            if !own.is_empty() {
                solver.insert(algorithm.name().to_owned(), Value::Table(own));
            }
        }
        table.insert("solver".into(), Value::Table(solver));
    }
    let mut text = format!("# gdro {}\n", env!("CARGO_PKG_VERSION"));
    // What is learnt comes first.
    for name in FIRST {
        if let Some(value) = table.remove(name) {
            let line = Table::from_iter([(name.to_owned(), value)]);
            text += &toml::to_string(&line).map_err(|e| refuse(&e))?;
        }
    }
    text += &toml::to_string(&table).map_err(|e| refuse(&e))?;
    Ok(text)
}

/// Settings that are settled, or have a default, and would be refused as useless.
fn unused(job: &Job) -> Vec<&'static str> {
    let (data, training) = (&job.data, &job.training);
    let mut names = Vec::new();
    if data.groups.is_empty() {
        names.extend(["group-features", "missing-group", "min-group"]);
    }
    if data.min_group.is_none() || data.groups.is_empty() {
        names.push("small-groups");
    }
    if data.holdout_column.is_some() || training.holdout_file.is_some() {
        names.push("holdout");
    }
    if training.solver.algorithm().is_some_and(|a| a.spec().adaptive) {
        names.extend(["step-w", "step-q", "loss-range"]);
    }
    names
}

/// Settings by name.
fn settings(options: &impl Serialize) -> serde_json::Result<Vec<(String, Json)>> {
    let object = serde_json::to_value(options)?;
    Ok(object.as_object().map(|o| o.clone().into_iter().collect()).unwrap_or_default())
}

/// A setting as a job file has it; `None` where it is not set, off or empty.
fn setting(value: Json) -> Option<Value> {
    Some(match value {
        Json::Null | Json::Bool(false) => return None,
        Json::Bool(true) => Value::Boolean(true),
        Json::Number(n) => n.as_i64().map(Value::Integer).or(n.as_f64().map(Value::Float))?,
        Json::String(text) => Value::String(text),
        Json::Array(list) => {
            let list: Vec<Value> = list.into_iter().filter_map(setting).collect();
            if list.is_empty() {
                return None;
            }
            Value::Array(list)
        }
        Json::Object(object) => {
            let entries = object.into_iter();
            let table: Table = entries.filter_map(|(k, v)| Some((k, setting(v)?))).collect();
            if table.is_empty() {
                return None;
            }
            Value::Table(table)
        }
    })
}
