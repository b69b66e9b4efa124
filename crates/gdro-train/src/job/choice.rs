//! What `gdro select` is to do: settings that no other command has.

use std::fmt;
use std::str::FromStr;

use gdro_data::Validation;
use serde::{Serialize, Serializer};
use toml::Value;

use crate::failure::Result;
use crate::options::{Settings, TABLE, Use};

/// Folds unless something else is asked for.
const FOLDS: usize = 5;

/// Most values that are tried.
const MOST_VALUES: usize = 1000;

/// The penalties that are tried unless others are given: from 1e-6 to 10, two in a decade.
const GRID: (f64, f64, usize) = (1e-6, 10.0, 15);

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Choose what bounds the weights.
    Search(Search),
    /// Draw the trade-off, at about so many k.
    Path(usize),
}

/// What bounds the weights, which values to try, and how to choose one.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// What is chosen.
    pub knob: Hyperparameter,
    /// The values, the strongest first: large penalties, small balls.
    pub values: Vec<f64>,
    /// On which rows.
    pub validation: Validation,
    /// By which rule.
    pub rule: SelectionRule,
    /// What a user should see.
    pub notes: Vec<String>,
}

/// What bounds the weights of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

/// How one of the values is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionRule {
    /// The strongest value whose criterion is within one standard error of the best.
    OneSe,
    /// The best.
    Best,
}

impl fmt::Display for SelectionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SelectionRule::OneSe => "one-se",
            SelectionRule::Best => "best",
        })
    }
}

impl FromStr for SelectionRule {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "one-se" => Ok(SelectionRule::OneSe),
            "best" => Ok(SelectionRule::Best),
            _ => Err(format!("`{text}`: expected one-se or best")),
        }
    }
}

impl Serialize for SelectionRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Settings of `gdro select` alone.
fn keys() -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(|option| option.used_by == Use::Select).map(|option| option.key)
}

/// Refuses the settings that only `gdro select` uses.
pub(super) fn refuse(settings: &Settings) -> Result<()> {
    match keys().find(|key| settings.has(key)) {
        Some(key) => settings.refuse(key, "only `gdro select` uses it: leave it out here"),
        None => Ok(()),
    }
}

/// Takes out what `gdro select` is to do; what is left is a job of one model.
pub(super) fn take(settings: &mut Settings) -> Result<Choice> {
    if let Some(text) = settings.peek("budget").filter(|text| *text != "all") {
        let why =
            format!("{text} is for all training rows, and validation takes some of them: use all");
        settings.refuse("budget", &why)?;
    }
    let choice = match settings.count("path")? {
        Some(points) => {
            check_path(settings)?;
            Choice::Path(points as usize)
        }
        None => Choice::Search(search(settings)?),
    };
    keys().for_each(|key| settings.forget(key));
    Ok(choice)
}

/// Refuses what a trade-off does not use.
fn check_path(settings: &Settings) -> Result<()> {
    for key in keys().filter(|key| *key != "path" && settings.has(key)) {
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
    let rule = settings.named("rule")?.unwrap_or(SelectionRule::OneSe);
    let (knob, mut values, from) = values(settings)?;
    let key = knob.key();
    let mut notes = Vec::new();
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
    Ok(Search { knob, values, validation, rule, notes })
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
