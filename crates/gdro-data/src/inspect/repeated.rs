//! Columns that look like the id of units with several rows each.

use std::collections::HashMap;

use crate::error::Result;
use crate::options::DataOptions;
use crate::schema::Role;
use crate::table::{Column, Kind, Table};
use crate::words::{count, list, number};

/// Words for units that may have several rows.
const UNITS: [&str; 14] = [
    "patient",
    "subject",
    "person",
    "participant",
    "respondent",
    "user",
    "customer",
    "client",
    "household",
    "pupil",
    "student",
    "employee",
    "player",
    "pid",
];

/// Words that may stand beside them in the name of an id.
const BESIDE: [&str; 11] =
    ["id", "ids", "no", "nr", "number", "num", "code", "key", "index", "of", "the"];

/// A column that is named like an id has as many values at least.
const FEWEST_NAMED: usize = 5;

/// Fewer values than these are categories rather than units, whatever rows with the same one share.
const FEWEST: usize = 10;

/// A column is nearly the same within the values of another one that explains so much of it.
const SAME: f64 = 0.95;

/// Most columns that a column is compared with.
const COMPARED: usize = 32;

/// What to say of features that look like the id of units (patients, households, machines) with
/// several rows each; nothing when a cluster column is named. The options are as given.
///
/// Looked at are features of texts or whole numbers whose values have two rows each on average or
/// more. Such a column is named when its name says so (`patient`, `subject#`, `user_id`, …) and it
/// has five values at least; or when its rows do: it has ten values at least, and of the other
/// columns (32 of them where there are more, spread evenly; those that are the same as it up to the
/// names of their texts aside) at least half, and two, are nearly the same in all rows with the same
/// value: the value explains 95 % of the variance of a number, or of the Gini index of texts, with
/// both corrected for the number of values.
///
/// # Errors
/// When options contradict each other.
pub fn repeated_units(table: &Table, options: &DataOptions) -> Result<Option<String>> {
    let (options, _) = options.filled(table.sparse.is_some()).settle(table.names())?;
    if options.cluster.is_some() {
        return Ok(None);
    }
    let (names, columns) = (table.names(), &table.columns);
    let read: Vec<usize> =
        (0..names.len()).filter(|at| columns[*at].kind() != Kind::Ignored).collect();
    let (mut named, mut alike) = (Vec::new(), Vec::new());
    for at in read.iter().copied() {
        let name = &names[at];
        if Role::of(&options, name) != Role::Feature {
            continue;
        }
        let is_named = is_unit(name);
        let fewest = if is_named { FEWEST_NAMED } else { FEWEST };
        match Values::of(&columns[at], fewest) {
            Some(values) if is_named => named.push((name.as_str(), values.count)),
            Some(values) if values.tell_rows(columns, &read, at) => {
                alike.push((name.as_str(), values.count));
            }
            _ => {}
        }
    }
    // What a unit has alone, such as its date of birth, looks like an id, too: names decide.
    let found = if named.is_empty() { alike } else { named };
    Ok(found.first().map(|(_, values)| {
        format!(
            "{}: {} values in {}, like the id of units with several rows each: if the rows of one \
             depend on each other, name it as `cluster`, or rows of a unit are on both sides of the \
             split and intervals are too narrow",
            list(found.iter().map(|(name, _)| *name)),
            number(values),
            count(table.rows(), "row"),
        )
    }))
}

/// Whether a name is that of the id of a unit: `patient`, `user_id`, `customerNo`, but not
/// `patient_age`.
fn is_unit(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        // Words are apart by other characters, and at capitals.
        if !c.is_alphabetic() || c.is_uppercase() && before.is_lowercase() {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            words.last_mut().expect("there is a word").extend(c.to_lowercase());
        }
        before = c;
    }
    let mut rest =
        words.iter().map(String::as_str).filter(|w| !w.is_empty() && !BESIDE.contains(w));
    rest.next().is_some_and(|word| UNITS.contains(&word)) && rest.next().is_none()
}

/// The values of a column that repeat.
struct Values {
    /// Of each row, the number of its value; `None` where the cell is missing.
    codes: Vec<Option<usize>>,
    count: usize,
}

impl Values {
    /// Those of texts and whole numbers with two rows each on average or more, if there are so many.
    fn of(cells: &Column, fewest: usize) -> Option<Self> {
        let texts = || cells.texts.as_ref().map_or(0, |texts| texts.codes.len());
        let rows = cells.numbers.as_ref().map_or_else(texts, Vec::len);
        let key: Box<dyn Fn(usize) -> Option<u64>> = match (&cells.numbers, &cells.texts) {
            (Some(numbers), _) => {
                let present = || numbers.iter().copied().filter(|v| !v.is_nan());
                if present().any(|v| v.fract() != 0.0) {
                    return None;
                }
                let low = present().fold(f64::INFINITY, f64::min);
                let high = present().fold(f64::NEG_INFINITY, f64::max);
                if high - low < (fewest - 1) as f64 || (high - low).is_nan() || high - low >= 1e15 {
                    return None;
                }
                Box::new(move |row| {
                    Some(numbers[row] - low).filter(|v| !v.is_nan()).map(|v| v as u64)
                })
            }
            (None, texts) => {
                let texts = texts.as_ref()?;
                Box::new(|row| texts.code(row).map(|code| code as u64))
            }
        };
        let mut known: HashMap<u64, u32> = HashMap::new();
        let (mut codes, mut present) = (Vec::with_capacity(rows), 0);
        for row in 0..rows {
            let code = key(row).map(|key| {
                let next = known.len() as u32;
                *known.entry(key).or_insert(next) as usize
            });
            present += usize::from(code.is_some());
            codes.push(code);
            // More values than half of the rows.
            if 2 * known.len() > rows {
                return None;
            }
        }
        let count = known.len();
        (count >= fewest && 2 * count <= present).then_some(Values { codes, count })
    }

    /// Whether rows with the same value are nearly the same in half of the other columns.
    fn tell_rows(&self, columns: &[Column], looked_at: &[usize], own: usize) -> bool {
        let others: Vec<usize> = looked_at.iter().copied().filter(|at| *at != own).collect();
        let step = others.len().div_ceil(COMPARED).max(1);
        let (mut same, mut all) = (0, 0);
        let compared = others.iter().step_by(step);
        let mut left = compared.len();
        for at in compared {
            left -= 1;
            if let Some(share) = self.explains(&columns[*at]) {
                all += 1;
                same += usize::from(share >= SAME);
            }
            if 2 * (same + left) < all + left {
                return false;
            }
        }
        same >= 2 && 2 * same >= all
    }

    /// The share of the variance of numbers, or of the Gini index of texts, that the values explain,
    /// corrected for their number; `None` for a column that does not vary, or says the same by other
    /// names.
    fn explains(&self, cells: &Column) -> Option<f64> {
        let inside = |row: usize| self.codes[row].filter(|_| !cells.is_missing(row));
        let rows: Vec<(usize, usize)> =
            (0..self.codes.len()).filter_map(|row| Some((row, inside(row)?))).collect();
        let n = rows.len() as f64;
        let (within, total) = match (&cells.numbers, &cells.texts) {
            (Some(numbers), _) => {
                let mean = rows.iter().map(|(row, _)| numbers[*row] / n).sum::<f64>();
                let mut sums = vec![(0.0, 0.0); self.count];
                let mut total = 0.0;
                for (row, code) in &rows {
                    let x = numbers[*row] - mean;
                    sums[*code] = (sums[*code].0 + x, sums[*code].1 + 1.0);
                    total += x * x;
                }
                let between = sums.iter().filter(|s| s.1 > 0.0).map(|(sum, n)| sum * sum / n);
                ((total - between.sum::<f64>()).max(0.0), total)
            }
            (None, Some(texts)) => {
                let (mut pairs, mut levels) = (HashMap::new(), HashMap::new());
                let mut sizes = vec![0.0; self.count];
                for (row, code) in &rows {
                    let level = texts.codes[*row];
                    *pairs.entry((*code, level)).or_insert(0.0) += 1.0;
                    *levels.entry(level).or_insert(0.0) += 1.0;
                    sizes[*code] += 1.0;
                }
                let used = sizes.iter().filter(|n| **n > 0.0).count();
                if pairs.len() == levels.len() && used == levels.len() {
                    return None;
                }
                let squares: f64 = levels.values().map(|n: &f64| n * n).sum();
                let inner: f64 =
                    pairs.iter().map(|((code, _), n): (_, &f64)| n * n / sizes[*code]).sum();
                (n - inner, n - squares / n)
            }
            (None, None) => return None,
        };
        let spare = n - self.count as f64;
        let usable = total > 0.0 && total.is_finite() && spare > 0.0;
        usable.then(|| 1.0 - within / spare / (total / (n - 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names() {
        for name in ["patient", "subject#", "USER_ID", "customerNo", "pid", "id of the person"] {
            assert!(is_unit(name), "{name}");
        }
        for name in
            ["impatient", "id", "region_id", "patient_age", "user type", "userId2b", "x1", ""]
        {
            assert!(!is_unit(name), "{name}");
        }
    }
}
