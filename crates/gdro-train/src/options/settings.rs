//! Settings by name, from a job file or from options.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gdro::setting::SolverName;
use gdro_data::DataOptions;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::Front;
use super::table::{Kind, TABLE, Use, find};
use crate::failure::{Failure, Result};

/// Where a setting was set.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    /// On the command line, or as an argument of a function.
    Option,
    /// At the top level of the job file, in this line.
    File(usize),
    /// In the table of the chosen solver, in this line of the job file.
    SolverTable(usize),
}

#[derive(Debug)]
struct Setting {
    value: Value,
    origin: Origin,
}

/// Named values, and where each was set.
#[derive(Debug, Default)]
pub struct Settings {
    /// Who talks to the user.
    front: Front,
    /// The job file, if there is one.
    file: Option<PathBuf>,
    values: BTreeMap<String, Setting>,
    /// `[solver.NAME]` tables.
    solvers: BTreeMap<String, BTreeMap<String, Setting>>,
}

impl Settings {
    /// No settings yet, of a user who talks to this front end.
    pub fn of(front: Front) -> Self {
        Settings { front, ..Settings::default() }
    }

    /// Who talks to the user.
    pub fn front(&self) -> Front {
        self.front
    }

    /// The job file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The arguments of a Python function, by their names there. A switch that is off is not given.
    ///
    /// # Errors
    /// A name that no option has.
    pub fn of_python(arguments: Table) -> Result<Self> {
        let mut settings = Settings::of(Front::Python);
        for (name, value) in arguments {
            let Some(option) = TABLE.iter().find(|option| option.python_name() == name) else {
                return Err(Failure::input(format!("{name}: no option has this name")));
            };
            let on = match value {
                Value::Boolean(on) => Some(on),
                Value::Integer(number) => Some(number != 0),
                _ => None,
            };
            let value = match on.filter(|_| option.kind == Kind::Switch) {
                Some(on) if on == option.is_inverted => continue,
                Some(_) => Value::Boolean(true),
                None => value,
            };
            settings.set(option.key, value);
        }
        Ok(settings)
    }

    /// Reads a job file.
    ///
    /// # Errors
    /// Where it cannot be read, is not TOML, or sets what nobody knows.
    pub fn load(path: &Path) -> Result<Self> {
        let name = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::input(format!("cannot read the job file {name}: {e}")))?;
        let broken = |e: toml::de::Error| {
            let before = &text[..e.span().map_or(0, |s| s.start.min(text.len()))];
            let line = 1 + before.matches('\n').count();
            let column = 1 + before.chars().rev().take_while(|c| *c != '\n').count();
            Failure::input(format!("{name}:{line}:{column}: {}", one_line(e.message())))
        };
        let mut table: Table = text.parse().map_err(broken)?;
        let lines =
            Lines { text: &text, table: DeTable::parse(&text).map_err(broken)?.into_inner() };

        let mut settings = Settings { file: Some(path.to_owned()), ..Settings::default() };
        if let Some(Value::Table(solver)) = table.get_mut("solver") {
            let solvers = std::mem::take(solver);
            table.remove("solver");
            settings.take_solvers(solvers, &lines, path)?;
        }
        for (key, mut value) in table {
            let line = lines.of(&[&key]);
            if key != TABLES && find(&key).is_none() {
                let hint = closest(&key);
                return Err(Failure::input(format!(
                    "{name}:{line}: unknown setting `{key}`{hint}"
                )));
            }
            if is_input(&key) {
                rebase(&mut value, path);
            }
            settings.values.insert(key, Setting { value, origin: Origin::File(line) });
        }
        Ok(settings)
    }

    /// Takes over the table `[solver]`: a name, and a table for each solver.
    fn take_solvers(&mut self, solvers: Table, lines: &Lines<'_>, path: &Path) -> Result<()> {
        let name = path.display();
        for (solver, value) in solvers {
            let line = lines.of(&["solver", &solver]);
            if solver == "name" {
                let origin = Origin::File(line);
                self.values.insert("solver".into(), Setting { value, origin });
                continue;
            }
            solver
                .parse::<SolverName>()
                .map_err(|e| Failure::input(format!("{name}:{line}: [solver]: {e}")))?;
            let Value::Table(table) = value else {
                return Err(Failure::input(format!(
                    "{name}:{line}: solver.{solver} = {value}: expected a table of {}",
                    of_solvers().join(", ")
                )));
            };
            let mut own = BTreeMap::new();
            for (key, mut value) in table {
                let line = lines.of(&["solver", &solver, &key]);
                if !of_solvers().contains(&&*key) {
                    return Err(Failure::input(format!(
                        "{name}:{line}: `{key}` in [solver.{solver}]: expected one of {}",
                        of_solvers().join(", ")
                    )));
                }
                if is_input(&key) {
                    rebase(&mut value, path);
                }
                own.insert(key, Setting { value, origin: Origin::SolverTable(line) });
            }
            self.solvers.insert(solver, own);
        }
        Ok(())
    }

    /// Sets an option.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        let setting = Setting { value: value.into(), origin: Origin::Option };
        self.values.insert(key.into(), setting);
    }

    /// Sets an option to what was typed, in as many parts as it was repeated.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn set_typed(&mut self, key: &str, texts: &[String]) -> Result<()> {
        let kind = find(key).map_or(Kind::Text, |option| option.kind);
        let place = self.front.name(key);
        let value = kind.parse(texts).map_err(|why| Failure::input(format!("{place} {why}")))?;
        self.set(key, value);
        Ok(())
    }

    /// Lets options win over what a job file says, and the table of `solver` over its top level.
    pub fn overlay(&mut self, options: Settings, solver: &str) {
        self.values.extend(self.solvers.remove(solver).unwrap_or_default());
        self.values.extend(options.values);
    }

    /// The text of a setting, if it is one.
    pub fn peek(&self, key: &str) -> Option<&str> {
        self.values.get(key)?.value.as_str()
    }

    /// Whether a setting was given where it is an error when nothing uses it: as an option or at
    /// the top level of the job file, but not in the table of a solver.
    pub(crate) fn insists(&self, key: &str) -> bool {
        let origin = self.values.get(key).map(|s| s.origin);
        matches!(origin, Some(Origin::Option | Origin::File(_)))
    }

    /// Forgets a setting.
    pub(crate) fn forget(&mut self, key: &str) {
        self.values.remove(key);
    }

    /// Gives a setting another value, where it was set if it was.
    pub(crate) fn replace(&mut self, key: &str, value: Value) {
        let origin = self.values.get(key).map_or(Origin::Option, |s| s.origin);
        self.values.insert(key.into(), Setting { value, origin });
    }

    /// Whether a setting is a list.
    pub(crate) fn is_list(&self, key: &str) -> bool {
        self.values.get(key).is_some_and(|s| s.value.is_array())
    }

    /// A refusal that speaks of a setting.
    pub(crate) fn refusal(&self, key: &str, message: &str) -> Failure {
        Failure::input(format!("{}: {message}", self.place(key)))
    }

    /// Refuses a setting.
    pub(crate) fn refuse(&self, key: &str, message: &str) -> Result<()> {
        Err(self.refusal(key, message))
    }

    /// Whether a setting was given at all.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Whether a setting was given as an option.
    pub(crate) fn is_option(&self, key: &str) -> bool {
        self.values.get(key).is_some_and(|s| s.origin == Origin::Option)
    }

    /// How to speak of a setting: `FILE:LINE: key`, `--key`, or `key=value` in Python.
    pub(crate) fn place(&self, key: &str) -> String {
        match (self.values.get(key).map(|s| s.origin), &self.file) {
            (Some(Origin::File(line) | Origin::SolverTable(line)), Some(file)) => {
                format!("{}:{line}: {key}", file.display())
            }
            (Some(_), _) if self.front == Front::Python => self.argument(key),
            _ => self.front.name(key),
        }
    }

    /// An argument of Python as it was written: `step_w=0.5`. Long values are left out.
    fn argument(&self, key: &str) -> String {
        let name = self.front.name(key);
        match self.values.get(key).and_then(|s| in_python(&s.value)) {
            Some(value) if find(key).is_none_or(|option| !option.is_inverted) => {
                format!("{name}={}", one_line(&value))
            }
            Some(_) => format!("{name}=False"),
            None => name,
        }
    }

    /// The places of all settings that were given.
    pub(crate) fn places(&self) -> BTreeMap<String, String> {
        self.values.keys().map(|key| (key.clone(), self.place(key))).collect()
    }

    /// A value that is not what it must be.
    pub(crate) fn bad(&self, key: &str, expected: &str) -> Failure {
        let place = self.place(key);
        Failure::input(match self.values.get(key).map(|s| (&s.value, s.origin)) {
            None => format!("{place}: expected {expected}"),
            Some((_, Origin::Option)) if self.front == Front::Python => {
                format!("{place}: expected {expected}")
            }
            Some((Value::String(text), Origin::Option)) => {
                format!("{place} {}: expected {expected}", one_line(text))
            }
            Some((value, Origin::Option)) => format!("{place} {value}: expected {expected}"),
            Some((value, _)) => {
                format!("{place} = {}: expected {expected}", one_line(&value.to_string()))
            }
        })
    }

    /// A finite number in the range of the option.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>> {
        let range = match find(key).map(|option| option.kind) {
            Some(Kind::Number(range) | Kind::Bound(range)) => Some(range),
            _ => None,
        };
        let number = match self.values.get(key).map(|s| &s.value) {
            None => return Ok(None),
            Some(Value::Float(v)) => *v,
            Some(Value::Integer(v)) => *v as f64,
            Some(_) => return Err(self.bad(key, "a number")),
        };
        match range {
            _ if !number.is_finite() => Err(self.bad(key, "a finite number")),
            Some(range) if !range.holds(number) => Err(self.bad(key, range.expected)),
            _ => Ok(Some(number)),
        }
    }

    /// A whole number in the range of the option, also one written as `2e5`.
    pub(crate) fn count(&self, key: &str) -> Result<Option<u64>> {
        let (least, most) = match find(key).map(|option| option.kind) {
            Some(Kind::Count(least, most)) => (least, most),
            _ => (0, u64::MAX),
        };
        let found = match self.values.get(key).map(|s| &s.value) {
            None => return Ok(None),
            Some(Value::Integer(v)) => u64::try_from(*v).ok(),
            // Below 2^63 the conversion is exact.
            Some(Value::Float(v)) if v.fract() == 0.0 && (0.0..9.2e18).contains(v) => {
                Some(*v as u64)
            }
            Some(_) => None,
        };
        match found.filter(|v| (least..=most).contains(v)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.bad(key, &format!("a whole number from {least} to {most}"))),
        }
    }

    /// A switch: off unless it is given.
    pub(crate) fn flag(&self, key: &str) -> Result<bool> {
        match self.values.get(key).map(|s| &s.value) {
            None => Ok(false),
            Some(Value::Boolean(v)) => Ok(*v),
            Some(_) => Err(self.bad(key, "true or false")),
        }
    }

    /// A text.
    pub(crate) fn text(&self, key: &str) -> Result<Option<String>> {
        match self.values.get(key).map(|s| &s.value) {
            None => Ok(None),
            Some(Value::String(v)) => Ok(Some(v.clone())),
            Some(_) => Err(self.bad(key, "a text")),
        }
    }

    /// A value of a type that knows its own texts.
    pub(crate) fn named<T: std::str::FromStr<Err = String>>(&self, key: &str) -> Result<Option<T>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let place = self.place(key);
        text.parse()
            .map(Some)
            .map_err(|why: String| Failure::input(format!("{place}: {}", one_line(&why))))
    }

    /// A value of a type that serde knows, in the words of the option.
    pub(crate) fn word<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        match find(key).map(|option| option.kind) {
            Some(Kind::Named(expected)) => self.decoded(key, expected),
            _ => self.decoded(key, "another value"),
        }
    }

    /// A value of a type that serde knows.
    pub(crate) fn decoded<T: DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<Option<T>> {
        let Some(setting) = self.values.get(key) else { return Ok(None) };
        setting.value.clone().try_into().map(Some).map_err(|_| self.bad(key, expected))
    }

    /// The settings that concern the table: those that are not about training.
    pub(crate) fn data(&self) -> Result<DataOptions> {
        let mut all = Table::new();
        for (key, setting) in &self.values {
            if find(key).is_none_or(|option| option.used_by != Use::Data) {
                continue;
            }
            // One by one first, so that a message can name the setting.
            let single = Table::from_iter([(key.clone(), setting.value.clone())]);
            if let Err(error) = Value::Table(single).try_into::<DataOptions>() {
                let (place, why) = (self.place(key), one_line(error.message()));
                return Err(Failure::input(format!("{place}: {why}")));
            }
            all.insert(key.clone(), setting.value.clone());
        }
        Value::Table(all).try_into().map_err(|e| Failure::input(one_line(e.message())))
    }
}

/// The lines of the keys of a job file.
struct Lines<'a> {
    text: &'a str,
    table: DeTable<'a>,
}

impl Lines<'_> {
    /// The line, from 1, of a key in nested tables.
    fn of(&self, path: &[&str]) -> usize {
        let (mut table, mut start) = (Some(&self.table), 0);
        for key in path {
            let Some((name, value)) =
                table.and_then(|t| t.iter().find(|(k, _)| k.get_ref() == key))
            else {
                break;
            };
            start = name.span().start;
            table = match value.get_ref() {
                DeValue::Table(inner) => Some(inner),
                _ => None,
            };
        }
        1 + self.text[..start].matches('\n').count()
    }
}

/// The setting that names the files of the table, which are no option.
pub const TABLES: &str = "tables";

/// What a table `[solver.NAME]` may hold.
fn of_solvers() -> Vec<&'static str> {
    let of = |used_by| TABLE.iter().filter(move |option| option.used_by == used_by);
    of(Use::Rounds).chain(of(Use::Solver)).map(|option| option.key).collect()
}

/// Whether a setting names files that are read: those of a job file lie beside it.
fn is_input(key: &str) -> bool {
    const OUTPUTS: [&str; 2] = ["out", "report"];
    let is_path = find(key).is_some_and(|option| option.kind == Kind::Path);
    key == TABLES || key == "group-file" || is_path && !OUTPUTS.contains(&key)
}

/// A hint at a known name that differs by little.
fn closest(key: &str) -> String {
    let known: Vec<&str> =
        std::iter::once(TABLES).chain(TABLE.iter().map(|option| option.key)).collect();
    let plain = |text: &str| text.replace(['-', '_'], "").to_lowercase();
    let alike = known.iter().find(|k| {
        let (a, b) = (plain(k), plain(key));
        !b.is_empty() && (a == b || a.starts_with(&b) || b.starts_with(&a))
    });
    match alike {
        Some(name) => format!(": did you mean `{name}`?"),
        None => format!(": expected one of {}", known.join(", ")),
    }
}

/// A value as Python writes it; none of a table, whose entries have names of their own.
fn in_python(value: &Value) -> Option<String> {
    Some(match value {
        Value::Boolean(true) => "True".into(),
        Value::Boolean(false) => "False".into(),
        Value::String(text) => format!("'{text}'"),
        Value::Table(_) => return None,
        other => other.to_string(),
    })
}

/// Makes the paths in a value relative to the folder of the job file.
fn rebase(value: &mut Value, file: &Path) {
    match value {
        // Words that are no files: every row, and the standard input.
        Value::String(path) if path != "all" && path != "-" => {
            let folder = file.parent().unwrap_or(Path::new(""));
            *path = folder.join(&*path).to_string_lossy().into_owned();
        }
        Value::Array(paths) => paths.iter_mut().for_each(|path| rebase(path, file)),
        _ => {}
    }
}

/// A message on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
