//! The target: its task, its labels and their numbers.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::features::most_levels;
use crate::labels::{normal, number_label};
use crate::options::{Comparison, DataOptions, Task};
use crate::stray::{self, FEW};
use crate::table::{Column, Table};
use crate::words::{list, shown};

/// Different labels that are looked for one by one.
const FIRST: usize = 4;

/// What a model predicts.
///
/// Labels are compared without blanks around them; a text loses one full stop at its end, and a
/// number is written in one way, so that `1`, `1.0` and `+1` are the same label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "kebab-case")]
pub enum Target {
    /// One of two labels.
    Binary {
        /// The column.
        column: String,
        /// The label that is −1.
        negative: String,
        /// The label that is +1.
        positive: String,
        /// What is true of the numbers of the positive label, when labels are made of numbers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comparison: Option<Comparison>,
    },
    /// One of several classes.
    Multiclass {
        /// The column.
        column: String,
        /// The labels of classes 0, 1, …: sorted, as numbers if they are numbers.
        classes: Vec<String>,
    },
    /// A number.
    Regression {
        /// The column.
        column: String,
    },
}

impl Target {
    /// Refuses a target, as it was read from a file, that no training gives.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> std::result::Result<(), String> {
        let fits = match self {
            Target::Binary { negative, positive, comparison, .. } => {
                negative != positive && comparison.is_none_or(|c| c.number.is_finite())
            }
            Target::Multiclass { classes, .. } => {
                classes.len() > 1 && classes.iter().collect::<HashSet<_>>().len() == classes.len()
            }
            Target::Regression { .. } => true,
        };
        let column = shown(self.column());
        if fits {
            Ok(())
        } else {
            Err(format!("labels of the target `{column}` that are not distinct"))
        }
    }

    /// The same of a column of another name.
    pub fn in_column(mut self, name: &str) -> Self {
        let (Target::Binary { column, .. }
        | Target::Multiclass { column, .. }
        | Target::Regression { column }) = &mut self;
        name.clone_into(column);
        self
    }

    /// Finds the task and the labels in the given rows, in which the target is not missing.
    /// Returns what a user should know, too.
    pub(crate) fn fit(
        table: &Table,
        rows: &[u32],
        options: &DataOptions,
        comparison: Option<Comparison>,
        task: Option<Task>,
    ) -> Result<(Self, Option<String>)> {
        let name = options.target.as_deref().unwrap_or_default();
        let cells = table.find("target", name)?;
        let column = name.to_owned();
        if let Some(comparison) = comparison {
            let positive = options.positive.as_deref();
            let target = Self::compared(column, cells, rows, comparison, positive, task)?;
            return Ok((target, None));
        }
        let numeric = cells.numbers.is_some();
        if numeric && task.is_none() {
            stray::check(&column, &stray::seen(table, cells, rows))?;
        }
        let limit = match task {
            Some(Task::Multiclass) => most_levels(rows.len()),
            _ => FEW,
        };
        let labels = if numeric { numbers(cells, rows, limit) } else { texts(cells, rows) };
        // `None` means more numbers than the limit.
        if let Some([label]) = labels.as_deref() {
            return Err(Error::OneClass { column, label: label.clone() });
        }
        let chosen = task.is_none();
        let task = task.unwrap_or(match labels.as_ref().map(Vec::len) {
            Some(2) => Task::Binary,
            _ if numeric => Task::Regression,
            _ => Task::Multiclass,
        });
        let all = || {
            labels.clone().unwrap_or_else(|| numbers(cells, rows, usize::MAX).unwrap_or_default())
        };
        let listed = |labels: &[String]| list(labels.iter().map(String::as_str));
        if task != Task::Binary && options.positive.is_some() {
            return Err(Error::PositiveNotBinary { column, labels: listed(&all()) });
        }
        match task {
            Task::Regression if numeric => {
                let few = labels.map(|l| l.len()).filter(|_| chosen);
                let note = few.map(|count| {
                    format!(
                        "target `{column}`: {count} different numbers, taken as a number; if they \
                         are classes, say `--loss softmax`"
                    )
                });
                Ok((Target::Regression { column }, note))
            }
            Task::Regression => {
                let labels = all();
                let advice =
                    if labels.len() == 2 { "the logistic loss" } else { "the softmax loss" };
                Err(Error::NotNumeric { column, labels: listed(&labels), advice })
            }
            Task::Multiclass => {
                let classes = all();
                let (rows, limit) = (rows.len(), most_levels(rows.len()));
                if classes.len() > limit {
                    let advice = if numeric { "the squared loss" } else { "another target" };
                    return Err(Error::TooManyClasses {
                        column,
                        classes: classes.len(),
                        rows,
                        limit,
                        advice,
                    });
                }
                Ok((Target::Multiclass { column, classes }, None))
            }
            Task::Binary => {
                let labels = all();
                let [first, last] = &labels[..] else {
                    let (count, labels) = (labels.len(), listed(&labels));
                    let advice = if numeric { "softmax or squared loss" } else { "softmax loss" };
                    return Err(Error::NotBinary { column, count, labels, advice });
                };
                let positive = match &options.positive {
                    Some(wanted) => {
                        let wanted = normal(wanted);
                        if wanted != *first && wanted != *last {
                            let labels = listed(&labels);
                            return Err(Error::Positive { column, found: wanted, labels });
                        }
                        wanted
                    }
                    None => affirmative(first, last).clone(),
                };
                let negative = if positive == *first { last } else { first }.clone();
                let note = options.positive.is_none().then(|| {
                    format!(
                        "target `{column}`: `{}` is the positive label, `{}` the negative one \
                         (set by `positive`)",
                        shown(&positive),
                        shown(&negative)
                    )
                });
                Ok((Target::Binary { column, negative, positive, comparison: None }, note))
            }
        }
    }

    /// The target that a comparison of a column is.
    fn compared(
        column: String,
        cells: &Column,
        rows: &[u32],
        comparison: Comparison,
        positive: Option<&str>,
        task: Option<Task>,
    ) -> Result<Self> {
        let label = comparison.label(&column);
        if task.is_some_and(|task| task != Task::Binary) {
            let (found, expected) =
                (format!("the target `{label}` is true or false"), "the logistic loss".into());
            return Err(Error::Option { option: "loss", found, expected });
        }
        if cells.numbers.is_none() {
            let labels = texts(cells, rows).unwrap_or_default();
            let texts = list(labels.iter().map(String::as_str));
            let found = format!("`{label}`, where `{column}` holds texts ({texts})");
            let expected = "a column of numbers".into();
            return Err(Error::Option { option: "target", found, expected });
        }
        let held = |row: &u32| cells.number(*row as usize).is_some_and(|v| comparison.holds(v));
        let other = comparison.negated();
        let trues = rows.iter().filter(|row| held(row)).count();
        if trues == 0 || trues == rows.len() {
            let label = if trues == 0 { other.label(&column) } else { label };
            return Err(Error::OneClass { column, label });
        }
        let is_meant = |text: &str, comparison| {
            let names = std::slice::from_ref(&column);
            matches!(Comparison::parse(text, names), Ok(Some(c)) if c == (&column, comparison))
        };
        let comparison = match positive {
            Some(text) if is_meant(text, other) => other,
            Some(text) if !is_meant(text, comparison) => {
                let labels = list([label.as_str(), &other.label(&column)].into_iter());
                return Err(Error::Positive { column, found: normal(text), labels });
            }
            _ => comparison,
        };
        let (positive, negative) = (comparison.label(&column), comparison.negated().label(&column));
        Ok(Target::Binary { column, negative, positive, comparison: Some(comparison) })
    }

    /// Name of the target column.
    pub fn column(&self) -> &str {
        match self {
            Target::Binary { column, .. }
            | Target::Multiclass { column, .. }
            | Target::Regression { column } => column,
        }
    }

    /// What is learnt.
    pub fn task(&self) -> Task {
        match self {
            Target::Binary { .. } => Task::Binary,
            Target::Multiclass { .. } => Task::Multiclass,
            Target::Regression { .. } => Task::Regression,
        }
    }

    /// The labels and the numbers that stand for them; none in regression.
    pub(crate) fn labels(&self) -> Vec<(&str, f64)> {
        match self {
            Target::Binary { negative, positive, .. } => vec![(negative, -1.0), (positive, 1.0)],
            Target::Multiclass { classes, .. } => {
                classes.iter().map(String::as_str).zip((0..).map(f64::from)).collect()
            }
            Target::Regression { .. } => Vec::new(),
        }
    }

    /// The targets of the given rows of any table: −1 and +1, class indices, or numbers.
    ///
    /// # Errors
    /// For a table without the column, a missing target, a label that the model does not know and,
    /// in regression and for a comparison, a column of texts.
    ///
    /// # Panics
    /// When a row is not below [`Table::rows`].
    pub fn encode(&self, table: &Table, rows: &[u32]) -> Result<Vec<f64>> {
        let cells = table.find("target", self.column())?;
        let column = || self.column().to_owned();
        let missing = |row| Error::MissingLabel { at: table.position(row), column: column() };
        let known = match self {
            Target::Regression { .. } | Target::Binary { comparison: Some(_), .. } => {
                if cells.numbers.is_none() {
                    let (found, expected) = (cells.kind().words(), "numbers");
                    return Err(Error::Kind { column: column(), found, expected });
                }
                let number = |row: &u32| {
                    let v = cells.number(*row as usize).ok_or_else(|| missing(*row as usize))?;
                    Ok(match self {
                        Target::Binary { comparison: Some(c), .. } if c.holds(v) => 1.0,
                        Target::Binary { .. } => -1.0,
                        _ => v,
                    })
                };
                return rows.iter().map(number).collect();
            }
            _ => self.labels(),
        };
        let known: HashMap<&str, f64> = known.into_iter().collect();
        // Labels repeat: each different cell is looked up once.
        let mut seen: HashMap<u64, f64> = HashMap::new();
        // The first few are found faster without a hash.
        let mut first: Vec<(u64, f64)> = Vec::new();
        let mut targets = Vec::with_capacity(rows.len());
        for row in rows.iter().map(|r| *r as usize) {
            let key = match (cells.number(row), &cells.texts) {
                (Some(v), _) => v.to_bits(),
                (None, Some(texts)) => texts.code(row).ok_or_else(|| missing(row))? as u64,
                (None, None) => return Err(missing(row)),
            };
            let known_first = first.iter().find(|(k, _)| *k == key).map(|(_, y)| y);
            if let Some(y) = known_first.or_else(|| seen.get(&key)) {
                targets.push(*y);
                continue;
            }
            let found = label(cells, row).unwrap_or_default();
            let y = *known.get(found.as_str()).ok_or_else(|| {
                let labels = list(self.labels().into_iter().map(|(label, _)| label));
                Error::UnknownLabel { at: table.position(row), column: column(), found, labels }
            })?;
            if first.len() < FIRST {
                first.push((key, y));
            } else {
                seen.insert(key, y);
            }
            targets.push(y);
        }
        Ok(targets)
    }
}

fn label(cells: &Column, row: usize) -> Option<String> {
    cells.number(row).map(number_label).or_else(|| cells.text(row).map(normal))
}

/// The different numbers in increasing order, or `None` when there are more than `limit`.
fn numbers(cells: &Column, rows: &[u32], limit: usize) -> Option<Vec<String>> {
    let mut seen = HashSet::new();
    for row in rows {
        seen.extend(cells.number(*row as usize).map(|v| (v + 0.0).to_bits()));
        if seen.len() > limit {
            return None;
        }
    }
    let mut found: Vec<f64> = seen.into_iter().map(f64::from_bits).collect();
    found.sort_by(f64::total_cmp);
    Some(found.into_iter().map(number_label).collect())
}

/// The different labels of a text column, sorted; as numbers if all are numbers.
fn texts(cells: &Column, rows: &[u32]) -> Option<Vec<String>> {
    let texts = cells.texts.as_ref()?;
    let codes: HashSet<usize> = rows.iter().filter_map(|r| texts.code(*r as usize)).collect();
    let found: BTreeSet<String> = codes.into_iter().map(|c| normal(&texts.levels[c])).collect();
    let mut found: Vec<String> = found.into_iter().collect();
    let numbers: Option<Vec<f64>> = found.iter().map(|l| l.parse::<f64>().ok()).collect();
    if let Some(mut numbers) = numbers.filter(|n| n.iter().all(|v| v.is_finite())) {
        numbers.sort_by(f64::total_cmp);
        found = numbers.into_iter().map(number_label).collect();
    }
    Some(found)
}

/// The label of two sorted ones that is positive when nobody says which.
fn affirmative<'a>(first: &'a String, last: &'a String) -> &'a String {
    const WORDS: [(&[&str], &[&str]); 7] = [
        (&["yes", "true", "y", "t"], &["no", "false", "n", "f"]),
        (&["ja", "wahr", "j", "w"], &["nein", "falsch", "n", "f"]),
        (&["oui", "vrai", "o", "v"], &["non", "faux", "n", "f"]),
        (&["sí", "si", "verdadero", "s", "v"], &["no", "falso", "n", "f"]),
        (&["sim", "verdadeiro", "s", "v"], &["não", "nao", "falso", "n", "f"]),
        (&["sì", "si", "vero", "s", "v"], &["no", "falso", "n", "f"]),
        (&["ja", "waar", "j", "w"], &["nee", "onwaar", "n", "o"]),
    ];
    let is = |label: &str, words: &[&str]| words.contains(&label.to_lowercase().as_str());
    let turned = WORDS.iter().any(|(yes, no)| is(first, yes) && is(last, no));
    if turned { first } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_positive_label() {
        let positive = |a: &str, b: &str| affirmative(&a.to_owned(), &b.to_owned()).clone();
        assert_eq!(positive("YES", "no"), "YES");
        assert_eq!(positive("False", "true"), "true");
        assert_eq!(positive("Y", "n"), "Y");
        assert_eq!(positive("Yes", "maybe"), "maybe");
        assert_eq!(positive("bad", "good"), "good");
        assert_eq!(positive("ja", "nein"), "ja");
        assert_eq!(positive("Faux", "Vrai"), "Vrai");
        assert_eq!(positive("ja", "non"), "non");
    }

    #[test]
    fn serialised_form() {
        let target = Target::Multiclass { column: "y".into(), classes: vec!["a".into()] };
        let json = serde_json::to_string(&target).unwrap();
        assert_eq!(json, r#"{"task":"multiclass","column":"y","classes":["a"]}"#);
        assert_eq!(serde_json::from_str::<Target>(&json).unwrap(), target);
        assert_eq!(target.labels(), [("a", 0.0)]);
    }
}
