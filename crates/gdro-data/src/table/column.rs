//! A column in memory.

use serde::{Deserialize, Serialize};

use super::date::DateOrder;

/// Code of a missing text.
pub(crate) const MISSING: u32 = u32::MAX;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Finite numbers.
    Number,
    /// Texts.
    Text,
    /// Nothing: the column is ignored and was not stored.
    Ignored,
}

impl Kind {
    /// The kind in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Kind::Number => "numbers",
            Kind::Text => "text",
            Kind::Ignored => "ignored",
        }
    }
}

/// The cells of a column. A numeric group column holds its texts too, as group labels.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The numbers; NaN stands for a missing cell.
    pub(crate) numbers: Option<Vec<f64>>,
    pub(crate) texts: Option<Texts>,
    /// Cells of a text column that look like numbers.
    pub(crate) look_numeric: usize,
    /// Whether a text column would be one of numbers but for leading zeros.
    pub(crate) padded: bool,
    /// The order of day and month, where the numbers are dates in which it matters.
    pub(crate) date: Option<DateOrder>,
    /// Whether it is known that no cell is missing.
    pub(crate) complete: bool,
}

/// Texts as codes into a dictionary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    pub(crate) codes: Vec<u32>,
    /// The dictionary, in the order of first appearance.
    pub(crate) levels: Vec<String>,
}

impl Texts {
    /// Codes texts; an empty text is a missing cell.
    pub(crate) fn new<'a>(cells: impl Iterator<Item = &'a str>) -> Self {
        let mut known: std::collections::HashMap<&str, u32> = std::collections::HashMap::new();
        let mut levels = Vec::new();
        let codes = cells
            .map(|cell| match cell {
                "" => MISSING,
                cell => *known.entry(cell).or_insert_with(|| {
                    levels.push(cell.to_owned());
                    levels.len() as u32 - 1
                }),
            })
            .collect();
        Texts { codes, levels }
    }

    /// Number of cells of each text.
    pub(crate) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.levels.len()];
        self.codes.iter().filter(|c| **c != MISSING).for_each(|c| counts[*c as usize] += 1);
        counts
    }

    /// The code of a row.
    pub(crate) fn code(&self, row: usize) -> Option<usize> {
        self.codes.get(row).filter(|c| **c != MISSING).map(|c| *c as usize)
    }
}

impl Column {
    /// What the column holds.
    pub fn kind(&self) -> Kind {
        match (&self.numbers, &self.texts) {
            (Some(_), _) => Kind::Number,
            (None, Some(_)) => Kind::Text,
            (None, None) => Kind::Ignored,
        }
    }

    /// The number in a row: `None` when it is missing, out of range or not stored.
    pub fn number(&self, row: usize) -> Option<f64> {
        self.numbers.as_ref()?.get(row).copied().filter(|v| !v.is_nan())
    }

    /// The text in a row: `None` when it is missing, out of range or not stored.
    pub fn text(&self, row: usize) -> Option<&str> {
        let texts = self.texts.as_ref()?;
        texts.code(row).map(|code| texts.levels[code].as_str())
    }

    /// Whether any cell is missing.
    pub(crate) fn misses_any(&self) -> bool {
        match (&self.numbers, &self.texts) {
            _ if self.complete => false,
            // A sum of flags has no early exit and goes several numbers at a time.
            (Some(numbers), _) => numbers.iter().map(|v| u64::from(v.is_nan())).sum::<u64>() > 0,
            (None, Some(texts)) => {
                texts.codes.iter().map(|c| u32::from(*c == MISSING)).sum::<u32>() > 0
            }
            (None, None) => false,
        }
    }

    /// Whether the cell of a row is missing.
    pub fn is_missing(&self, row: usize) -> bool {
        match (&self.numbers, &self.texts) {
            (Some(_), _) => self.number(row).is_none(),
            (None, Some(texts)) => texts.code(row).is_none(),
            (None, None) => false,
        }
    }
}
