//! Settings by name, from a file or from options.

use std::path::{Path, PathBuf};

use gdro::algorithm::Algorithm;
use gdro_data::DataOptions;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::training::{Budget, Objective, Training};
use super::{Job, beside};
use crate::failure::{Failure, Result};

/// Settings of training, in the order of the help.
const TRAINING: [&str; 16] = [
    "objective",
    "solver",
    "anytime",
    "loss",
    "loss-range",
    "ball",
    "l2",
    "penalize-intercept",
    "rounds",
    "step-w",
    "step-q",
    "average",
    "budget",
    "holdout",
    "seed",
    "out",
];

/// Settings that a `[solver.NAME]` table may hold.
const SOLVER: [&str; 7] =
    ["anytime", "loss-range", "rounds", "step-w", "step-q", "average", "budget"];

/// Named values, and where they come from.
#[derive(Debug, Default)]
pub struct Settings {
    values: Table,
    /// The job file and its text, to point at lines.
    file: Option<(PathBuf, String)>,
    /// `[solver.NAME]` tables.
    solvers: Table,
}

impl Settings {
    /// Reads a job file.
    pub fn load(path: &Path) -> Result<Self> {
        let name = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::input(format!("cannot read the job file {name}: {e}")))?;
        let mut values: Table = text.parse().map_err(|e: toml::de::Error| {
            let line = e.span().map_or(1, |s| 1 + text[..s.start].matches('\n').count());
            let column = e.span().map_or(1, |s| {
                let before = &text[..s.start];
                1 + before.len() - before.rfind('\n').map_or(0, |at| at + 1)
            });
            Failure::input(format!("{name}:{line}:{column}: {}", e.message().replace('\n', " ")))
        })?;
        let mut settings = Settings { file: Some((path.to_owned(), text)), ..Settings::default() };
        if let Some(Value::Table(table)) = values.get_mut("solver") {
            let mut solvers = std::mem::take(table);
            match solvers.remove("name") {
                Some(chosen) => values.insert("solver".into(), chosen),
                None => values.remove("solver"),
            };
            settings.solvers = solvers;
        }
        let known = known();
        for key in values.keys() {
            if !known.contains(key) {
                let at = settings.place(key);
                return Err(Failure::input(format!(
                    "{at}unknown setting `{key}`{}",
                    closest(key, &known)
                )));
            }
        }
        for (solver, table) in &settings.solvers {
            let at = settings.place(solver);
            solver.parse::<Algorithm>().map_err(|e| Failure::input(format!("{at}{e}")))?;
            let Value::Table(table) = table else {
                return Err(Failure::input(format!(
                    "{at}solver.{solver}: expected a table of {}",
                    SOLVER.join(", ")
                )));
            };
            if let Some(key) = table.keys().find(|key| !SOLVER.contains(&key.as_str())) {
                let at = settings.place(key);
                return Err(Failure::input(format!(
                    "{at}`{key}` in [solver.{solver}]: expected one of {}",
                    SOLVER.join(", ")
                )));
            }
        }
        // Paths in a job file are relative to it.
        for key in ["tables", "budget"] {
            if let Some(value) = values.get_mut(key) {
                rebase(value, path);
            }
        }
        for (_, table) in &mut settings.solvers {
            if let Some(value) = table.get_mut("budget") {
                rebase(value, path);
            }
        }
        settings.values = values;
        Ok(settings)
    }

    /// Sets a value.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.values.insert(key.into(), value.into());
    }

    /// Sets a value when there is one.
    pub fn set_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Sets the files of the table.
    pub fn set_tables(&mut self, tables: Vec<PathBuf>) {
        let paths = tables.iter().map(|p| Value::String(p.to_string_lossy().into_owned()));
        self.set("tables", Value::Array(paths.collect()));
    }

    /// The solver that is named, if any.
    pub fn solver(&self) -> Option<&str> {
        self.values.get("solver").and_then(Value::as_str)
    }

    /// Takes over the `[solver.NAME]` table of the chosen solver: `over`, or the file's own choice.
    pub fn select_solver(&mut self, over: Option<&str>) -> Result<()> {
        let chosen = over.or(self.solver()).map(str::to_owned);
        if let Some(Value::Table(table)) = chosen.and_then(|name| self.solvers.remove(&name)) {
            self.values.extend(table);
        }
        Ok(())
    }

    /// Lets other settings win.
    pub fn overlay(&mut self, other: Settings) {
        self.values.extend(other.values);
    }

    /// `FILE:LINE: ` of a key, empty for options.
    fn place(&self, key: &str) -> String {
        let Some((path, text)) = &self.file else { return String::new() };
        let names = |line: &str| {
            let line = line.trim_start().trim_start_matches('[').trim_start_matches("solver.");
            let rest = line.strip_prefix(key).or_else(|| {
                line.strip_prefix('"').and_then(|l| l.strip_prefix(key)?.strip_prefix('"'))
            });
            rest.is_some_and(|r| r.trim_start().starts_with(['=', ']', '.']))
        };
        match text.lines().position(names) {
            Some(line) => format!("{}:{}: ", path.display(), line + 1),
            None => format!("{}: ", path.display()),
        }
    }

    fn bad(&self, key: &str, value: &Value, expected: &str) -> Failure {
        Failure::input(format!("{}{key} = {value}: expected {expected}", self.place(key)))
    }

    fn number(&mut self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.values.remove(key) else { return Ok(None) };
        let number = match value {
            Value::Float(v) => v,
            Value::Integer(v) => v as f64,
            other => return Err(self.bad(key, &other, "a number")),
        };
        if number.is_finite() {
            Ok(Some(number))
        } else {
            Err(self.bad(key, &Value::Float(number), "a finite number"))
        }
    }

    fn count(&mut self, key: &str, least: u64) -> Result<Option<u64>> {
        let Some(value) = self.values.get(key).cloned() else { return Ok(None) };
        let number = self.number(key)?.unwrap_or(f64::NAN);
        if number.fract() != 0.0 || number < least as f64 || number > 9e15 {
            let expected = format!("a whole number of at least {least}");
            return Err(self.bad(key, &value, &expected));
        }
        Ok(Some(number as u64))
    }

    fn flag(&mut self, key: &str) -> Result<bool> {
        match self.values.remove(key) {
            None => Ok(false),
            Some(Value::Boolean(v)) => Ok(v),
            Some(other) => Err(self.bad(key, &other, "true or false")),
        }
    }

    fn text(&mut self, key: &str) -> Result<Option<String>> {
        match self.values.remove(key) {
            None => Ok(None),
            Some(Value::String(v)) => Ok(Some(v)),
            Some(other) => Err(self.bad(key, &other, "a text")),
        }
    }

    /// A value of a type that knows its own texts.
    fn named<T: std::str::FromStr<Err = String>>(&mut self, key: &str) -> Result<Option<T>> {
        let at = self.place(key);
        match self.text(key)? {
            None => Ok(None),
            Some(text) => match text.parse() {
                Ok(value) => Ok(Some(value)),
                Err(why) => Err(Failure::input(format!("{at}{key}: {why}"))),
            },
        }
    }

    /// A value of a type that serde knows.
    fn decoded<T: DeserializeOwned>(&mut self, key: &str, expected: &str) -> Result<Option<T>> {
        let Some(value) = self.values.remove(key) else { return Ok(None) };
        match value.clone().try_into() {
            Ok(decoded) => Ok(Some(decoded)),
            Err(_) => Err(self.bad(key, &value, expected)),
        }
    }

    /// Checks everything and fills in what is left open.
    pub fn into_job(mut self) -> Result<Job> {
        let tables: Vec<PathBuf> = self.decoded("tables", "a list of files")?.unwrap_or_default();
        if tables.is_empty() {
            return Err(Failure::input(
                "no table: expected a file of rows, or a job file that names one",
            ));
        }
        let objective = self.named("objective")?.unwrap_or(Objective::Max);
        let default = match objective {
            Objective::TopK(_) => Algorithm::AtkroM,
            _ => Algorithm::SmdM,
        };
        let ball = self.number("ball")?;
        let training = Training {
            objective,
            solver: self.named("solver")?.unwrap_or(default),
            anytime: self.flag("anytime")?,
            loss: self.text("loss")?,
            loss_range: self.number("loss-range")?,
            ball,
            l2: self.number("l2")?.unwrap_or(if ball.is_some() { 0.0 } else { 1e-4 }),
            penalize_intercept: self.flag("penalize-intercept")?,
            rounds: self.count("rounds", 1)?,
            step_w: self.number("step-w")?.unwrap_or(1.0),
            step_q: self.number("step-q")?.unwrap_or(1.0),
            average: self.decoded("average", "uniform, weighted, suffix or last")?,
            budget: self.text("budget")?.map(|text| match text.as_str() {
                "all" => Budget::All,
                file => Budget::File(file.into()),
            }),
            holdout: self.number("holdout")?.unwrap_or(0.2),
            seed: self.count("seed", 0)?.unwrap_or(0),
        };
        let out = self.text("out")?.map(PathBuf::from);
        let data = self.data()?;
        let job = Job { tables, data, training, out };
        job.training.check()?;
        Ok(job)
    }

    /// What is left concerns the table.
    fn data(&mut self) -> Result<DataOptions> {
        let values = std::mem::take(&mut self.values);
        // One by one first, so that a message can name the setting.
        for (key, value) in &values {
            let single = Table::from_iter([(key.clone(), value.clone())]);
            if let Err(error) = Value::Table(single).try_into::<DataOptions>() {
                let why = error.message().trim().replace('\n', " ");
                return Err(Failure::input(format!("{}{key} = {value}: {why}", self.place(key))));
            }
        }
        Value::Table(values)
            .try_into()
            .map_err(|e: toml::de::Error| Failure::input(e.message().trim().replace('\n', " ")))
    }
}

impl Training {
    /// Refuses settings that contradict each other or that the chosen solver does not use.
    fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Failure::Input(message));
        let solver = self.solver;
        let bounds = [
            ("ball", self.ball.unwrap_or(1.0), "a radius above 0"),
            ("step-w", self.step_w, "a multiplier above 0"),
            ("step-q", self.step_q, "a multiplier above 0"),
            ("loss-range", self.loss_range.unwrap_or(1.0), "a number above 0"),
        ];
        for (name, value, expected) in bounds {
            if value <= 0.0 {
                return refuse(format!("{name} = {value}: expected {expected}"));
            }
        }
        if self.l2 < 0.0 {
            return refuse(format!("l2 = {}: expected a number of at least 0", self.l2));
        }
        if self.l2 == 0.0 && self.ball.is_none() {
            return refuse(
                "l2 = 0 without a ball: nothing would bound the model; give --ball B or a positive --l2"
                    .into(),
            );
        }
        let whole = self.holdout >= 1.0 && self.holdout.fract() == 0.0;
        if !(whole || (0.0..1.0).contains(&self.holdout)) {
            return refuse(format!(
                "holdout = {}: expected a share from 0 to below 1, or a whole number of rows per group",
                self.holdout
            ));
        }
        match self.objective {
            Objective::TopK(_) if !solver.plays_top_k() => {
                return refuse(format!(
                    "{solver} does not minimise {}: use atkro-m, atkro-k or atkro-1",
                    self.objective
                ));
            }
            Objective::TopK(k) if solver == Algorithm::AtkroK && k.fract() != 0.0 => {
                return refuse(format!(
                    "atkro-k draws k groups and needs a whole k, found {k}: use atkro-m or atkro-1"
                ));
            }
            Objective::Max | Objective::Average | Objective::Balanced if solver.plays_top_k() => {
                return refuse(format!(
                    "{solver} minimises top-k:K, not {}: use smd-m, smd-1 or online-1",
                    self.objective
                ));
            }
            Objective::Average | Objective::Balanced if solver.uses_budgets() => {
                return refuse(format!(
                    "{solver} plays a weighted form of max, not {}: use smd-m, smd-1 or online-1",
                    self.objective
                ));
            }
            _ => {}
        }
        if self.anytime && !solver.has_anytime_form() {
            return refuse(format!(
                "anytime: {solver} has no anytime form; smd-m, online-1, atkro-m and atkro-1 have one"
            ));
        }
        if self.step_q != 1.0 && matches!(self.objective, Objective::Average | Objective::Balanced)
        {
            return refuse(format!(
                "step-q = {}: the group weights do not move under objective {}",
                self.step_q, self.objective
            ));
        }
        Ok(())
    }
}

/// Names of all settings.
fn known() -> Vec<String> {
    let data = serde_json::to_value(DataOptions::default()).unwrap_or_default();
    let data = data.as_object().map(|o| o.keys().cloned().collect::<Vec<_>>());
    let training = TRAINING.iter().map(|k| (*k).to_owned());
    std::iter::once("tables".to_owned()).chain(training).chain(data.unwrap_or_default()).collect()
}

/// A hint at a known name that differs by little.
fn closest(key: &str, known: &[String]) -> String {
    let plain = |text: &str| text.replace(['-', '_'], "").to_lowercase();
    let alike = known.iter().find(|k| {
        let (a, b) = (plain(k), plain(key));
        a == b || a.starts_with(&b) || b.starts_with(&a)
    });
    match alike {
        Some(name) => format!(": did you mean `{name}`?"),
        None => format!(": expected one of {}", known.join(", ")),
    }
}

/// Makes the paths in a value relative to the folder of the job file.
fn rebase(value: &mut Value, file: &Path) {
    match value {
        Value::String(path) if path != "all" => {
            *path = beside(file, Path::new(path)).to_string_lossy().into_owned();
        }
        Value::Array(paths) => paths.iter_mut().for_each(|path| rebase(path, file)),
        _ => {}
    }
}
