//! What a user says about groups: columns, bins, families.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Error, Result};
use crate::words::shown;

/// An entry of [`crate::DataOptions::groups`].
///
/// Either all entries are families or none is; without families all entries are one. A row is in
/// one group of each family: the combination of its labels in the family's columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum GroupEntry {
    /// The name of a column, whose values are labels; a numeric column and where it is cut
    /// (`age:25,40,60`); or the target, when it is a comparison. A column of exactly this name
    /// comes first. After cuts, an entry that is a number is one more cut, so that a list may be
    /// split at its commas.
    Text(String),
    /// A numeric column and where it is cut, one entry: column → cuts.
    Bins(BTreeMap<String, Vec<f64>>),
    /// The columns of a family.
    Family(Vec<GroupEntry>),
}

impl From<&str> for GroupEntry {
    fn from(text: &str) -> Self {
        GroupEntry::Text(text.to_owned())
    }
}

impl From<String> for GroupEntry {
    fn from(text: String) -> Self {
        GroupEntry::Text(text)
    }
}

/// As it was written, in one way: `race`, `age:25,40`, `race,sex`.
impl fmt::Display for GroupEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GroupEntry::Text(text) => f.write_str(text),
            GroupEntry::Bins(bins) => {
                let bins = bins.iter().map(|(column, cuts)| spelled(column, cuts));
                f.write_str(&bins.collect::<Vec<_>>().join(","))
            }
            GroupEntry::Family(entries) => {
                let entries: Vec<String> = entries.iter().map(GroupEntry::to_string).collect();
                f.write_str(&entries.join(","))
            }
        }
    }
}

/// A column and its cuts: `age:25,40`.
pub(crate) fn spelled(column: &str, cuts: &[f64]) -> String {
    let cuts: Vec<String> = cuts.iter().map(f64::to_string).collect();
    format!("{column}:{}", cuts.join(","))
}

impl GroupEntry {
    /// The columns of an entry with the cuts of each, if it is cut.
    pub(crate) fn columns(&self) -> Vec<(&str, Option<&[f64]>)> {
        match self {
            GroupEntry::Text(name) => vec![(name, None)],
            GroupEntry::Bins(bins) => {
                bins.iter().map(|(name, cuts)| (name.as_str(), Some(&cuts[..]))).collect()
            }
            GroupEntry::Family(entries) => entries.iter().flat_map(GroupEntry::columns).collect(),
        }
    }
}

/// An error about an entry.
fn refuse<T>(found: impl fmt::Display, expected: &str) -> Result<T> {
    let found = format!("`{}`", shown(&found.to_string()));
    Err(Error::Option { option: "groups", found, expected: expected.to_owned() })
}

/// The entries of each family.
pub(crate) fn families(entries: &[GroupEntry]) -> Result<Vec<&[GroupEntry]>> {
    let is_family = |e: &GroupEntry| matches!(e, GroupEntry::Family(_));
    if !entries.iter().any(is_family) {
        return Ok(if entries.is_empty() { Vec::new() } else { vec![entries] });
    }
    let mut families = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            GroupEntry::Family(inner) if inner.is_empty() => {
                return refuse("[]", "at least one column in each family");
            }
            GroupEntry::Family(inner) => match inner.iter().find(|e| is_family(e)) {
                Some(deep) => return refuse(deep, "lists of columns, not of lists"),
                None => families.push(&inner[..]),
            },
            other => return refuse(other, "a list of columns, as the other entries are"),
        }
    }
    Ok(families)
}

/// The families for a table with these columns: each is a [`GroupEntry::Family`] of names that are
/// meant as they stand and of bins. `comparison` writes a text that means the target's comparison
/// in one way. Whether the columns exist is not asked here.
pub(crate) fn settle(
    entries: &[GroupEntry],
    names: &[String],
    comparison: impl Fn(&str) -> Option<String>,
) -> Result<Vec<GroupEntry>> {
    let mut settled: Vec<Vec<GroupEntry>> = Vec::new();
    for family in families(entries)? {
        let family = settle_family(family, names, &comparison)?;
        let same = |other: &&Vec<GroupEntry>| {
            other.len() == family.len() && other.iter().all(|e| family.contains(e))
        };
        if settled.iter().any(|other| same(&other)) {
            let found = GroupEntry::Family(family);
            return refuse(found, "each family once, and it is there twice");
        }
        settled.push(family);
    }
    Ok(settled.into_iter().map(GroupEntry::Family).collect())
}

fn settle_family(
    entries: &[GroupEntry],
    names: &[String],
    comparison: &impl Fn(&str) -> Option<String>,
) -> Result<Vec<GroupEntry>> {
    let mut settled: Vec<(String, Option<Vec<f64>>)> = Vec::new();
    // Whether a number is one more cut of the last column.
    let mut open = false;
    for entry in entries {
        let before = std::mem::take(&mut open);
        match entry {
            GroupEntry::Text(text) if names.contains(text) => settled.push((text.clone(), None)),
            GroupEntry::Text(text) => {
                if let Some(label) = comparison(text) {
                    settled.push((label, None));
                } else if let Some((column, cuts)) = parse_bins(text, names)? {
                    settled.push((column.to_owned(), Some(cuts)));
                    open = true;
                } else if let (true, Ok(cut), Some((_, Some(cuts)))) =
                    (before, text.trim().parse::<f64>(), settled.last_mut())
                {
                    cuts.push(cut);
                    open = true;
                } else {
                    settled.push((text.clone(), None));
                }
            }
            GroupEntry::Bins(bins) => match bins.iter().next() {
                Some((column, cuts)) if bins.len() == 1 => {
                    settled.push((column.clone(), Some(cuts.clone())));
                }
                _ => return refuse(entry, "one column and its cuts in each table"),
            },
            GroupEntry::Family(_) => return refuse(entry, "a column"),
        }
    }
    for (at, (column, cuts)) in settled.iter().enumerate() {
        if settled[..at].iter().any(|(other, _)| other == column) {
            let (found, expected) = (format!("`{column}` twice"), "each column once".to_owned());
            return Err(Error::Option { option: "groups", found, expected });
        }
        if let Some(cuts) = cuts {
            check_cuts(column, cuts)?;
        }
    }
    let entry = |(column, cuts): (String, Option<Vec<f64>>)| match cuts {
        Some(cuts) => GroupEntry::Bins([(column, cuts)].into()),
        None => GroupEntry::Text(column),
    };
    Ok(settled.into_iter().map(entry).collect())
}

/// A column and its cuts, if a text is that: `age:25,40`.
fn parse_bins<'a>(text: &'a str, names: &[String]) -> Result<Option<(&'a str, Vec<f64>)>> {
    let Some((column, rest)) = text.rsplit_once(':') else { return Ok(None) };
    let column = column.trim();
    let cuts: Result<Vec<f64>, _> = rest.split(',').map(|cut| cut.trim().parse()).collect();
    match cuts {
        Ok(cuts) => Ok(Some((column, cuts))),
        Err(_) if names.iter().any(|n| n == column) => {
            refuse(text, &format!("numbers after `{column}:`, as in {column}:25,40"))
        }
        Err(_) => Ok(None),
    }
}

fn check_cuts(column: &str, cuts: &[f64]) -> Result<()> {
    if cuts.is_empty() {
        return refuse(spelled(column, cuts), "at least one number at which the column is cut");
    }
    if cuts.iter().any(|cut| !cut.is_finite()) {
        return refuse(spelled(column, cuts), "finite numbers");
    }
    // Strictly: a bin between two equal cuts would be empty.
    if !cuts.is_sorted_by(|a, b| a < b) {
        return refuse(spelled(column, cuts), "cuts in increasing order, each once");
    }
    Ok(())
}

impl<'de> Deserialize<'de> for GroupEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

/// Tells the three forms apart; derived code would not say what it expects.
struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = GroupEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a column, a table of a column and its cuts, or a list of these")
    }

    fn visit_str<E>(self, text: &str) -> Result<GroupEntry, E> {
        Ok(GroupEntry::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GroupEntry, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(GroupEntry::Bins)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<GroupEntry, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(GroupEntry::Family)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(json: &str) -> Result<Vec<String>> {
        let names = ["sex", "age", "a:5", "b,c", "x:y"].map(str::to_owned);
        let entries: Vec<GroupEntry> = serde_json::from_str(json).unwrap();
        let comparison = |text: &str| (text.replace(' ', "") == "d>3").then(|| "d>3".to_owned());
        let found = settle(&entries, &names, comparison)?;
        Ok(found.iter().map(GroupEntry::to_string).collect())
    }

    #[test]
    fn entries_mean_columns_bins_and_families() {
        let is = |json: &str, expected: &[&str]| {
            assert_eq!(settled(json).unwrap(), expected, "{json}");
        };
        is(r#"[]"#, &[]);
        is(r#"["sex","age"]"#, &["sex,age"]);
        is(r#"[["sex"],["age"],["sex","age"]]"#, &["sex", "age", "sex,age"]);
        // Bins as a text, as a text that was split at its commas, as a table.
        is(r#"["age:-1.5,25"]"#, &["age:-1.5,25"]);
        is(r#"["age: 25","41","6e1","sex"]"#, &["age:25,41,60,sex"]);
        is(r#"[{"age":[25,41]},"sex"]"#, &["age:25,41,sex"]);
        is(r#"["x:y:3"]"#, &["x:y:3"]);
        // A column of exactly this name comes first, and what is none is left to be looked for.
        is(r#"["a:5"]"#, &["a:5"]);
        is(r#"["age:25","40"]"#, &["age:25,40"]);
        is(r#"["b,c"]"#, &["b,c"]);
        is(r#"["sex","25"]"#, &["sex,25"]);
        is(r#"["d > 3","sex"]"#, &["d>3,sex"]);
    }

    #[test]
    fn an_exact_name_is_no_cut() {
        let names = ["age", "40"].map(str::to_owned);
        let entries = ["age:25".into(), "40".into()];
        let found = settle(&entries, &names, |_| None).unwrap();
        let expected = [GroupEntry::Bins([("age".into(), vec![25.0])].into()), "40".into()];
        assert_eq!(found, [GroupEntry::Family(expected.to_vec())]);
    }

    #[test]
    fn what_makes_no_groups_is_refused() {
        for (json, found, expected) in [
            (r#"["age:40,25"]"#, "`age:40,25`", "cuts in increasing order, each once"),
            (r#"["age:25,25"]"#, "`age:25,25`", "cuts in increasing order, each once"),
            (r#"["age:25,NaN"]"#, "`age:25,NaN`", "finite numbers"),
            (r#"["age:inf"]"#, "`age:inf`", "finite numbers"),
            (r#"["age:old"]"#, "`age:old`", "numbers after `age:`, as in age:25,40"),
            (r#"["age:"]"#, "`age:`", "numbers after `age:`, as in age:25,40"),
            (r#"[{"age":[]}]"#, "`age:`", "at least one number at which the column is cut"),
            (
                r#"[{"age":[1],"sex":[2]}]"#,
                "`age:1,sex:2`",
                "one column and its cuts in each table",
            ),
            (r#"["sex",["age"]]"#, "`sex`", "a list of columns, as the other entries are"),
            (r#"[["sex"],[]]"#, "`[]`", "at least one column in each family"),
            (r#"[["sex",["age"]]]"#, "`age`", "lists of columns, not of lists"),
            (r#"["sex","sex"]"#, "`sex` twice", "each column once"),
            (r#"["age","age:25"]"#, "`age` twice", "each column once"),
            (
                r#"[["sex","age"],["age","sex"]]"#,
                "`age,sex`",
                "each family once, and it is there twice",
            ),
        ] {
            let message = settled(json).unwrap_err().to_string();
            assert_eq!(message, format!("groups: {found}: expected {expected}"), "{json}");
        }
        let wrong = serde_json::from_str::<Vec<GroupEntry>>("[3]").unwrap_err().to_string();
        assert!(wrong.contains("expected a column, a table of a column and its cuts"), "{wrong}");
    }

    #[test]
    fn forms_survive_being_saved() {
        let json = r#"[["sex",{"age":[25.0,40.0]}],["age:3,4"]]"#;
        let entries: Vec<GroupEntry> = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&entries).unwrap(), json);
    }
}
