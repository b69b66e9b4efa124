//! What means a missing cell.

use crate::error::{Result, unknown_column};
use crate::options::DataOptions;

/// The texts that mean a missing cell of a column, besides the empty one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Na {
    texts: Vec<String>,
    /// Numbers that were given for this column alone: other spellings of them mean the same.
    own: Vec<f64>,
    /// All that are numbers, for tables that know numbers.
    numbers: Vec<f64>,
}

impl Na {
    /// What [`DataOptions::na`] says of each of these columns.
    pub fn of(options: &DataOptions, names: &[String]) -> Vec<Self> {
        let mut all = vec![Na::default(); names.len()];
        for entry in &options.na {
            match split(entry, names) {
                Some((at, text)) => all[at].add(text, true),
                None => all.iter_mut().for_each(|na| na.add(entry, false)),
            }
        }
        all
    }

    fn add(&mut self, text: &str, own: bool) {
        let text = text.trim();
        self.texts.push(text.to_owned());
        let number = text.parse::<f64>().ok();
        self.own.extend(number.filter(|_| own));
        self.numbers.extend(number);
    }

    /// A cell without blanks around it; the empty text when it is missing.
    pub fn cell<'a>(&self, text: &'a str) -> &'a str {
        let text = text.trim();
        let is_own = || text.parse().is_ok_and(|number: f64| self.own.contains(&number));
        let missing = self.texts.iter().any(|t| t == text) || !self.own.is_empty() && is_own();
        if missing { "" } else { text }
    }

    /// Whether a number means that the cell is missing.
    pub fn is_missing(&self, number: f64) -> bool {
        self.numbers.iter().any(|n| *n == number || n.is_nan() && number.is_nan())
    }

    /// Whether no number does.
    #[cfg(feature = "arrow")]
    pub fn has_no_number(&self) -> bool {
        self.numbers.is_empty()
    }
}

/// The column that an entry `COLUMN=TEXT` speaks of, and its text; the longest name that fits.
fn split<'a>(entry: &'a str, names: &[String]) -> Option<(usize, &'a str)> {
    let text = |name: &str| entry.strip_prefix(name)?.strip_prefix('=');
    let fits = names.iter().enumerate().filter_map(|(at, name)| Some((at, text(name)?)));
    fits.min_by_key(|(_, text)| text.len())
}

/// Refuses an entry of [`DataOptions::na`] for a column that is none of these.
///
/// # Errors
/// [`Error::UnknownColumn`](crate::Error::UnknownColumn).
pub(super) fn check_na(options: &DataOptions, names: &[String]) -> Result<()> {
    let unknown = options.na.iter().find_map(|entry| {
        let (column, _) = entry.split_once('=')?;
        (!column.is_empty() && split(entry, names).is_none()).then_some(column)
    });
    unknown.map_or(Ok(()), |column| Err(unknown_column("na", column, names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(na: &[&str], names: &[&str]) -> Vec<Na> {
        let owned = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        let options = DataOptions { na: owned(na), ..DataOptions::default() };
        Na::of(&options, &owned(names))
    }

    #[test]
    fn texts_and_numbers() {
        let na = &columns(&["n/a", "-999", " NaN"], &["x"])[0];
        assert_eq!(
            [" a ", "n/a", " -999", "-999.0", ""].map(|t| na.cell(t)),
            ["a", "", "", "-999.0", ""]
        );
        assert_eq!([-999.0, f64::NAN, 1.0].map(|v| na.is_missing(v)), [true, true, false]);
    }

    #[test]
    fn a_column_may_have_its_own() {
        let na = columns(&["?", "a=0", "a=b=x", "=1"], &["a", "a=b", "c"]);
        assert_eq!(["?", "0", "0.0", "x", "=1"].map(|t| na[0].cell(t)), ["", "", "", "x", ""]);
        assert_eq!(["?", "0", "0.0", "x", "=1"].map(|t| na[1].cell(t)), ["", "0", "0.0", "", ""]);
        assert_eq!(["?", "0", "b=x"].map(|t| na[2].cell(t)), ["", "0", "b=x"]);
        assert_eq!([0, 2].map(|at| na[at].is_missing(0.0)), [true, false]);
    }
}
