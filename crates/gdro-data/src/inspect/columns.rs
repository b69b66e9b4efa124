//! What one column holds.

use std::collections::HashSet;

use serde::Serialize;

use crate::schema::Role;
use crate::table::{Column, Kind};
use crate::words::list;

/// Most levels that a profile lists.
const LISTED: usize = 10;

/// What a column holds. Numbers that do not apply are absent.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ColumnProfile {
    /// Name of the column.
    pub name: String,
    /// What it is used for.
    pub role: Role,
    /// What its cells are.
    pub kind: Kind,
    /// Number of rows in which the cell is missing.
    pub missing: usize,
    /// Number of different values, missing cells aside.
    pub distinct: usize,
    /// Mean of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Population standard deviation of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// The smallest and the largest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// The texts that most rows have, ten at most; ties by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<LevelCount>,
}

/// A text and the number of its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelCount {
    /// The text.
    pub text: String,
    /// Number of rows.
    pub rows: usize,
}

impl ColumnProfile {
    pub(super) fn new(name: &str, role: Role, cells: &Column, rows: usize) -> Self {
        let missing = (0..rows).filter(|row| cells.is_missing(*row)).count();
        let mut profile = ColumnProfile {
            name: name.to_owned(),
            role,
            kind: cells.kind(),
            missing,
            distinct: 0,
            mean: None,
            deviation: None,
            range: None,
            top: Vec::new(),
        };
        match (&cells.numbers, &cells.texts) {
            (Some(numbers), _) => profile.count_numbers(numbers),
            (None, Some(texts)) => {
                let mut counts = vec![0; texts.levels.len()];
                (0..rows).filter_map(|row| texts.code(row)).for_each(|code| counts[code] += 1);
                let named = texts.levels.iter().zip(counts).filter(|(_, rows)| *rows > 0);
                let mut named: Vec<(&String, usize)> = named.collect();
                profile.distinct = named.len();
                named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
                let top = named.into_iter().take(LISTED);
                profile.top =
                    top.map(|(text, rows)| LevelCount { text: text.clone(), rows }).collect();
            }
            (None, None) => {}
        }
        profile
    }

    fn count_numbers(&mut self, numbers: &[f64]) {
        let present: Vec<f64> = numbers.iter().copied().filter(|v| !v.is_nan()).collect();
        self.distinct = present.iter().map(|v| (v + 0.0).to_bits()).collect::<HashSet<_>>().len();
        if present.is_empty() {
            return;
        }
        let fold = |f: fn(f64, f64) -> f64| present.iter().copied().fold(present[0], f);
        self.range = Some([fold(f64::min), fold(f64::max)]);
        if let Some((mean, deviation)) = crate::features::moments(&present, None) {
            (self.mean, self.deviation) = (Some(mean), Some(deviation));
        }
    }
}

/// Fewer rows than this say nothing about what is odd.
const FEW_ROWS: usize = 20;

/// Whether a column is a name or a number of its row: different texts everywhere, or whole numbers
/// without a gap.
pub(crate) fn is_like_an_id(cells: &Column, rows: usize) -> bool {
    match (&cells.numbers, &cells.texts) {
        _ if rows < FEW_ROWS => false,
        (Some(numbers), _) => {
            let fold = |f: fn(f64, f64) -> f64| numbers.iter().copied().fold(f64::NAN, f);
            let (low, high) = (fold(f64::min), fold(f64::max));
            let place =
                |v: &f64| Some(v - low).filter(|at| at.fract() == 0.0).map(|at| at as usize);
            high - low == (rows - 1) as f64 && are_different(numbers.iter().map(place), rows)
        }
        (None, Some(texts)) => {
            are_different((0..rows).map(|row| texts.code(row)), texts.levels.len())
        }
        (None, None) => false,
    }
}

/// Whether places below `limit` are all known and none comes twice.
fn are_different(mut places: impl Iterator<Item = Option<usize>>, limit: usize) -> bool {
    let mut seen = vec![false; limit];
    places.all(|place| place.is_some_and(|place| !std::mem::replace(&mut seen[place], true)))
}

/// What to say of such columns of these names.
pub(crate) fn like_ids<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| {
        format!(
            "a value of its own in every row, like a number of the row: {}: leave out with `ignore`",
            list(names.into_iter())
        )
    })
}
