//! What `gdro select` is to do, and how `gdro fit` comes to its model: settings that no model is made by.

use gdro::setting::{Objective, SolverName};
use gdro_data::Validation;
use serde::{Deserialize, Serialize};
use toml::Value;

use super::criterion::Criterion;

use crate::failure::Result;
use crate::options::{Settings, TABLE, Use};

/// Folds unless something else is asked for.
const FOLDS: usize = 5;

/// Most values that are tried.
const MOST_VALUES: usize = 1000;

/// The penalties that are tried unless others are given: from 1e-6 to 10, two in a decade.
const GRID: (f64, f64, usize) = (1e-6, 10.0, 15);

/// Training rows that a group needs to decide, unless something else is asked for.
const JUDGE_ROWS: u64 = 20;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// Choose a member of a family of models.
    Search(Search),
    /// Draw the trade-off, at about so many k.
    Path(usize),
}

/// How `gdro fit` comes to its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fitting {
    /// It is the one that the settings name.
    Named,
    /// It is chosen, as the settings ask.
    Chosen(Search),
    /// Neither an objective nor what bounds the weights is named: it is chosen where the table is small
    /// enough for that, unless something else in the settings is against it.
    Open(std::result::Result<Search, Against>),
}

/// Why no model is chosen where none is named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// What is against it.
    pub why: String,
    /// How to choose all the same, where there is a way.
    pub instead: Option<String>,
}

/// A family of models: what is minimised, within which bounds; and how to choose a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Search {
    /// What is minimised, besides ERM; the usual family when absent.
    pub objectives: Option<Vec<Objective>>,
    /// What bounds the weights.
    pub knob: Hyperparameter,
    /// Its values, the strongest first: large penalties, small balls.
    pub values: Vec<f64>,
    /// On which rows members are judged.
    pub validation: Validation,
    /// By what they are judged.
    pub criterion: Criterion,
    /// Training rows that a group needs to decide.
    pub judge_rows: usize,
    /// What a user should see.
    pub notes: Vec<String>,
}

/// What bounds the weights of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hyperparameter {
    /// The ridge.
    L2,
    /// The radius of the ball.
    Ball,
}

impl Hyperparameter {
    /// The name of its setting.
    pub fn key(self) -> &'static str {
        match self {
            Hyperparameter::L2 => "l2",
            Hyperparameter::Ball => "ball",
        }
    }

    /// What it is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Hyperparameter::L2 => "penalty",
            Hyperparameter::Ball => "ball",
        }
    }
}

/// Settings of a choice alone.
fn keys() -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(|option| option.used_by == Use::Select).map(|option| option.key)
}

/// Refuses the settings that only a choice uses.
pub(super) fn refuse(settings: &Settings) -> Result<()> {
    match keys().find(|key| settings.has(key)) {
        Some(key) => {
            let select = settings.front().name("select");
            settings.refuse(key, &format!("only a choice uses it: add {select}, or leave it out"))
        }
        None => Ok(()),
    }
}

/// Takes out what `gdro select` is to do; what is left is a job of one model.
pub(super) fn take(settings: &mut Settings) -> Result<Choice> {
    Ok(match settings.count("path")? {
        Some(points) => {
            check_path(settings)?;
            keys().for_each(|key| settings.forget(key));
            Choice::Path(points as usize)
        }
        None => Choice::Search(take_search(settings)?),
    })
}

/// What names a model.
const NAMING: [&str; 4] = ["objective", "l2", "ball", "domain"];

/// Takes out how `gdro fit` comes to its model.
pub(super) fn take_fitting(settings: &mut Settings) -> Result<Fitting> {
    if settings.flag("select")? {
        if settings.flag("stream")? {
            settings.refuse("select", "a stream trains in one pass: leave one of the two out")?;
        }
        if settings.has("path") {
            settings.refuse("path", "only `gdro select` draws a trade-off: leave it out here")?;
        }
        return take_search(settings).map(Fitting::Chosen);
    }
    if NAMING.into_iter().any(|key| settings.has(key)) {
        return Ok(Fitting::Named);
    }
    Ok(Fitting::Open(match against(settings)? {
        Some(against) => Err(against),
        None => Ok(search(&mut Settings::of(settings.front()))?),
    }))
}

/// What is against choosing where nothing is named.
fn against(settings: &Settings) -> Result<Option<Against>> {
    if settings.flag("stream")? {
        return Ok(Some(Against {
            why: "a stream trains in one pass".into(),
            instead: Some("gdro select chooses where the table fits in memory".into()),
        }));
    }
    let of_rounds = |name: &SolverName| name.algorithm().is_some();
    let why = match settings.named::<SolverName>("solver")?.filter(of_rounds) {
        Some(solver) => Some(format!("{solver} does not minimise what lies between ERM and max")),
        None => ["offsets", "adjustment", "scales"]
            .into_iter()
            .find(|key| settings.has(key))
            .map(|key| format!("{} is not for all models of the family", settings.place(key))),
    };
    let instead = || Some(format!("{} chooses all the same", settings.front().name("select")));
    Ok(why.map(|why| Against { why, instead: instead() }))
}

/// Takes out how to choose.
pub(super) fn take_search(settings: &mut Settings) -> Result<Search> {
    if let Some(text) = settings.peek("budget").filter(|text| *text != "all") {
        let why =
            format!("{text} is for all training rows, and validation takes some of them: use all");
        settings.refuse("budget", &why)?;
    }
    let search = search(settings)?;
    keys().for_each(|key| settings.forget(key));
    Ok(search)
}

/// Refuses what a trade-off does not use.
fn check_path(settings: &Settings) -> Result<()> {
    for key in keys().filter(|key| !["path", "select"].contains(key) && settings.has(key)) {
        settings
            .refuse(key, "path draws a trade-off and chooses nothing: leave one of the two out")?;
    }
    if settings.peek("objective").is_some_and(|name| name != "max") {
        settings.refuse("objective", "path goes from max to balanced by top-k: leave it out")?;
    }
    for key in
        ["delta", "weight-cap", "cluster-cap"].into_iter().filter(|key| settings.insists(key))
    {
        settings.refuse(key, "path computes no intervals: leave it out")?;
    }
    if let Some(solver) = settings.peek("solver").filter(|name| !["auto", "exact"].contains(name)) {
        let why = format!("{solver}: path is computed by the reference solver: use exact");
        settings.refuse("solver", &why)?;
    }
    Ok(())
}

fn search(settings: &mut Settings) -> Result<Search> {
    let validation = match (settings.count("folds")?, settings.number("validation")?) {
        (Some(_), Some(_)) => {
            let why = "folds give every row to validation once: leave one of the two out";
            return Err(settings.refusal("validation", why));
        }
        (Some(folds), None) => Validation::Folds(folds as usize),
        (None, Some(share)) => Validation::Share(share),
        (None, None) => Validation::Folds(FOLDS),
    };
    let mut notes = Vec::new();
    let objectives = objectives(settings, &mut notes)?;
    let criterion = settings.named("criterion")?.unwrap_or(Criterion::Risk);
    let judge_rows = settings.count("judge-rows")?.unwrap_or(JUDGE_ROWS) as usize;
    let (knob, mut values, from) = values(settings)?;
    let key = knob.key();
    if from != key && settings.has(key) {
        // One job may serve fit and select.
        if settings.is_option(key) {
            let expected = format!("several values to choose from, as in --{key} 1,2,5");
            return Err(settings.bad(key, &expected));
        }
        notes.push(format!("{} is replaced by what is chosen", settings.place(key)));
    }
    let may_be_zero = knob == Hyperparameter::L2 && settings.domain()?.is_bounded();
    if values.iter().any(|v| !v.is_finite() || *v < 0.0 || *v == 0.0 && !may_be_zero) {
        let expected = if may_be_zero { "numbers of at least 0" } else { "numbers above 0" };
        return Err(settings.bad(from, expected));
    }
    values.sort_by(f64::total_cmp);
    if values.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(settings.bad(from, "different values"));
    }
    if !(2..=MOST_VALUES).contains(&values.len()) {
        let expected = format!("from 2 to {MOST_VALUES} values to choose from");
        return Err(settings.bad(from, &expected));
    }
    if knob == Hyperparameter::L2 {
        values.reverse();
    }
    // The first stands for all where one model is described.
    settings.replace(key, Value::Float(values[0]));
    Ok(Search { objectives, knob, values, validation, criterion, judge_rows, notes })
}

/// What is minimised besides ERM, where that is said: one objective as an option, or a list. What is
/// left is a job with the first of a list that is no ordinary training, if there is one.
fn objectives(settings: &mut Settings, notes: &mut Vec<String>) -> Result<Option<Vec<Objective>>> {
    if let Some(one) = settings.named::<Objective>("objective")? {
        if settings.is_option("objective") {
            if settings.has("objectives") {
                let why = "objective names the one model beside ERM: leave one of the two out";
                settings.refuse("objectives", why)?;
            }
            return Ok(Some(vec![one]));
        }
        // One job may serve fit and select.
        notes.push(format!("{} is replaced by what is chosen", settings.place("objective")));
        settings.forget("objective");
    }
    let expected = "a list of objectives";
    let Some(texts) = settings.decoded::<Vec<String>>("objectives", expected)? else {
        return Ok(None);
    };
    let solver = settings.named::<SolverName>("solver")?.and_then(SolverName::algorithm);
    let mut list = Vec::with_capacity(texts.len());
    for text in &texts {
        let refuse = |why: String| settings.refusal("objectives", &why);
        let objective: Objective = text.parse().map_err(refuse)?;
        if let Some(solver) = solver.filter(|_| !objective.fixes_weights()) {
            objective.check_solver(solver).map_err(refuse)?;
        }
        if list.contains(&objective) {
            return Err(refuse(format!("{objective} stands there twice")));
        }
        list.push(objective);
    }
    let Some(first) = list.iter().find(|o| !o.fixes_weights()).or(list.first()) else {
        return Err(settings.bad("objectives", expected));
    };
    settings.replace("objective", Value::String(first.to_string()));
    Ok(Some(list))
}

/// What is chosen, the values as they were given, and the setting that gave them.
fn values(settings: &Settings) -> Result<(Hyperparameter, Vec<f64>, &'static str)> {
    let lists = [Hyperparameter::L2, Hyperparameter::Ball]
        .into_iter()
        .filter(|knob| settings.is_list(knob.key()));
    let lists: Vec<Hyperparameter> = lists.collect();
    if let [_, second] = lists[..] {
        settings.refuse(
            second.key(),
            "l2 or ball is chosen, not both at once: give one of them a single number",
        )?;
    }
    match (lists.first(), settings.text("grid")?) {
        (Some(knob), Some(_)) => {
            let why = format!("the values come from {}: leave one of the two out", knob.key());
            Err(settings.refusal("grid", &why))
        }
        (Some(knob), None) => {
            let values = settings.decoded::<Vec<f64>>(knob.key(), "numbers")?;
            Ok((*knob, values.unwrap_or_default(), knob.key()))
        }
        (None, Some(text)) => {
            let (knob, values) = grid(&text).ok_or_else(|| {
                settings.bad(
                    "grid",
                    "LOW:HIGH:N or ball:LOW:HIGH:N, as in 1e-6:10:15, with 0 < LOW < HIGH",
                )
            })?;
            Ok((knob, values, "grid"))
        }
        (None, None) => Ok((Hyperparameter::L2, spaced(GRID), "grid")),
    }
}

/// `[l2:|ball:]LOW:HIGH:N`.
fn grid(text: &str) -> Option<(Hyperparameter, Vec<f64>)> {
    let (knob, range) = match text.split_once(':')? {
        ("ball", range) => (Hyperparameter::Ball, range),
        ("l2", range) => (Hyperparameter::L2, range),
        _ => (Hyperparameter::L2, text),
    };
    let parts: Vec<&str> = range.split(':').map(str::trim).collect();
    let [low, high, count] = parts[..] else { return None };
    let (low, high): (f64, f64) = (low.parse().ok()?, high.parse().ok()?);
    let count: usize = count.parse().ok()?;
    let holds = low > 0.0 && low < high && high.is_finite() && (2..=MOST_VALUES).contains(&count);
    holds.then(|| (knob, spaced((low, high, count))))
}

/// Values from low to high whose logarithms are evenly spaced, with both ends. Rounded to twelve
/// digits, so that powers of ten are what they look like.
fn spaced((low, high, count): (f64, f64, usize)) -> Vec<f64> {
    let (a, b) = (low.log10(), high.log10());
    let at = |i: usize| a + (b - a) * i as f64 / (count - 1) as f64;
    let value = |i: usize| match i {
        0 => low,
        i if i + 1 == count => high,
        i => format!("{:.11e}", 10f64.powf(at(i))).parse().unwrap_or(low),
    };
    (0..count).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_spaced_by_logarithms() {
        let (knob, values) = grid("1e-6:10:15").unwrap();
        assert_eq!((knob, values.len()), (Hyperparameter::L2, 15));
        assert_eq!((values[0], values[2], values[14]), (1e-6, 1e-5, 10.0));
        assert!((values[1] / 1e-6 - 10f64.sqrt()).abs() < 1e-9);
        assert_eq!(values, spaced(GRID));
        assert_eq!(grid("ball:1:4:3"), Some((Hyperparameter::Ball, vec![1.0, 2.0, 4.0])));
        for bad in
            ["", "1:2", "0:1:3", "2:1:3", "1:2:1", "1:inf:3", "x:1:2:3", "1:2:3:4", "1:2:9e9"]
        {
            assert_eq!(grid(bad), None, "{bad}");
        }
    }
}
