//! Arguments of estimators and solvers as a job.

use gdro_train::job::{Job, Search};
use gdro_train::options::{Settings, TABLE};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyTuple};
use toml::{Table, Value};

use crate::error::{failed, refuse};

/// The job that arguments describe; those that are `None` are not given.
///
/// # Errors
/// `ValueError` for what is out of range, contradicts something else, or is used by nobody.
pub fn job_of(arguments: &Bound<'_, PyDict>) -> PyResult<Job> {
    let given = table_of(arguments)?;
    let job = || Job::of_rows(Settings::of_python(given)?);
    job().map_err(failed)
}

/// The job that arguments describe, and how to choose its model.
///
/// # Errors
/// Those of [`job_of`].
pub fn choice_of(arguments: &Bound<'_, PyDict>) -> PyResult<(Job, Search)> {
    let given = table_of(arguments)?;
    let choice = || Job::of_rows_choice(Settings::of_python(given)?);
    choice().map_err(failed)
}

/// The arguments that are given.
fn table_of(arguments: &Bound<'_, PyDict>) -> PyResult<Table> {
    let mut given = Table::new();
    for (name, argument) in arguments {
        let name: String = name.extract()?;
        if !argument.is_none() {
            let found = value(&argument).map_err(|why| refuse(format!("{name}={why}")))?;
            given.insert(name, found);
        }
    }
    Ok(given)
}

/// A Python object as a setting, or what it is.
fn value(object: &Bound<'_, PyAny>) -> Result<Value, String> {
    if let Ok(on) = object.extract::<bool>() {
        return Ok(Value::Boolean(on));
    }
    if let Ok(text) = object.extract::<String>() {
        return Ok(Value::String(text));
    }
    if let Ok(whole) = object.extract::<i64>() {
        return Ok(Value::Integer(whole));
    }
    if let Ok(number) = object.extract::<f64>() {
        return Ok(Value::Float(number));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let entries = object.try_iter().map_err(|e| e.to_string())?;
        let entries = entries.map(|entry| value(&entry.map_err(|e| e.to_string())?));
        return entries.collect::<Result<_, _>>().map(Value::Array);
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        let items = mapping.items().map_err(|e| e.to_string())?;
        let entries = items.iter().map(|item| {
            let (key, entry): (String, Bound<'_, PyAny>) =
                item.extract().map_err(|e: PyErr| e.to_string())?;
            Ok((key, value(&entry)?))
        });
        return entries.collect::<Result<_, String>>().map(Value::Table);
    }
    let shown = object.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    Err(format!("{shown}: expected a number, a text, or a list or mapping of these"))
}

/// Refuses arguments as `fit` does, or as `select` does where there is a choice.
#[pyfunction]
#[pyo3(signature = (arguments: "Arguments", is_choice: "bool" = false))]
pub fn check(arguments: &Bound<'_, PyDict>, is_choice: bool) -> PyResult<()> {
    if is_choice { choice_of(arguments).map(drop) } else { job_of(arguments).map(drop) }
}

/// Every option: its name in Python, its name on the command line, and its heading in the help.
#[pyfunction]
pub fn options() -> Vec<(String, &'static str, &'static str)> {
    TABLE.iter().map(|o| (o.python_name(), o.key, o.heading.title())).collect()
}
