//! What to do with missing cells, by column.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The key of the policy of all other columns, where policies are a table.
const DEFAULT: &str = "default";

/// What to do with a missing cell of a feature, the target or the weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Refuse the table, naming the first such cell.
    #[default]
    Error,
    /// Leave the row out. This includes a group column that is a feature too, unless
    /// [`crate::MissingGroup::Own`] gives its missing labels a group.
    Drop,
    /// Keep the row. A number becomes the weighted mean of the training cells that are not missing,
    /// which is 0 after standardising. A text becomes the level `(missing)`.
    Mean,
    /// Keep the row. As [`Missing::Mean`], and a number has one more feature, `COLUMN=(missing)`:
    /// 1 where the cell is missing, else 0.
    OwnCategory,
}

/// What to do with missing cells: a policy for all columns, and others for some.
///
/// Serialised as the policy alone (`"drop"`), or as a table: `{default = "drop", ca = "mean"}`. A
/// column of the name `default` has the policy of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingCells {
    /// The policy of columns that have none of their own.
    pub default: Missing,
    /// Policies of single columns.
    pub columns: BTreeMap<String, Missing>,
}

impl MissingCells {
    /// The policy of a column.
    pub fn of(&self, column: &str) -> Missing {
        self.columns.get(column).copied().unwrap_or(self.default)
    }
}

impl From<Missing> for MissingCells {
    fn from(default: Missing) -> Self {
        MissingCells { default, columns: BTreeMap::new() }
    }
}

impl Missing {
    /// The name of the policy.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Missing::Error => "error",
            Missing::Drop => "drop",
            Missing::Mean => "mean",
            Missing::OwnCategory => "own-category",
        }
    }

    /// Whether rows with such a cell are kept.
    pub(crate) fn keeps(self) -> bool {
        matches!(self, Missing::Mean | Missing::OwnCategory)
    }

    fn parse(text: &str) -> Option<Self> {
        let all = [Missing::Error, Missing::Drop, Missing::Mean, Missing::OwnCategory];
        all.into_iter().find(|policy| policy.name() == text)
    }
}

impl Serialize for MissingCells {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.columns.is_empty() {
            return self.default.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(1 + self.columns.len()))?;
        map.serialize_entry(DEFAULT, &self.default)?;
        for (column, policy) in self.columns.iter().filter(|(column, _)| *column != DEFAULT) {
            map.serialize_entry(column, policy)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for MissingCells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Policies)
    }
}

struct Policies;

impl<'de> Visitor<'de> for Policies {
    type Value = MissingCells;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("error, drop, mean or own-category, or a table of columns with one of them")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<MissingCells, E> {
        let policy = Missing::parse(text).ok_or_else(|| {
            E::custom(format!("`{text}`: expected error, drop, mean or own-category"))
        })?;
        Ok(policy.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MissingCells, A::Error> {
        let mut cells = MissingCells::default();
        while let Some((column, text)) = map.next_entry::<String, String>()? {
            let policy = Missing::parse(&text).ok_or_else(|| {
                let expected = "expected error, drop, mean or own-category";
                A::Error::custom(format!("{column} = `{text}`: {expected}"))
            })?;
            if column == DEFAULT {
                cells.default = policy;
            } else {
                cells.columns.insert(column, policy);
            }
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_policy_or_a_table() {
        for (json, of_a, of_b) in [
            (r#""drop""#, Missing::Drop, Missing::Drop),
            (r#"{"a":"mean","default":"drop"}"#, Missing::Mean, Missing::Drop),
            (r#"{"b":"own-category"}"#, Missing::Error, Missing::OwnCategory),
        ] {
            let cells: MissingCells = serde_json::from_str(json).unwrap();
            assert_eq!((cells.of("a"), cells.of("b")), (of_a, of_b), "{json}");
            let again = serde_json::to_string(&cells).unwrap();
            assert_eq!(serde_json::from_str::<MissingCells>(&again).unwrap(), cells);
        }
        let message = |json| serde_json::from_str::<MissingCells>(json).unwrap_err().to_string();
        assert!(message(r#""median""#).starts_with("`median`: expected error, drop, mean"));
        assert!(message(r#"{"a":"zero"}"#).starts_with("a = `zero`: expected error, drop"));
        assert!(message("3").contains("expected error, drop, mean or own-category, or a table"));
    }
}
