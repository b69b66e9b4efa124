//! What means a missing cell.

use crate::options::DataOptions;

/// The texts that mean a missing cell, besides the empty one.
#[derive(Clone, Debug, Default)]
pub(super) struct Na {
    texts: Vec<String>,
    /// Those that are numbers, for files that know numbers.
    #[cfg(feature = "arrow")]
    numbers: Vec<f64>,
}

impl Na {
    pub fn new(options: &DataOptions) -> Self {
        let texts: Vec<String> = options.na.iter().map(|t| t.trim().to_owned()).collect();
        Na {
            #[cfg(feature = "arrow")]
            numbers: texts.iter().filter_map(|t| t.parse().ok()).collect(),
            texts,
        }
    }

    /// A cell without blanks around it; the empty text when it is missing.
    pub fn cell<'a>(&self, text: &'a str) -> &'a str {
        let text = text.trim();
        if self.texts.iter().any(|t| t == text) { "" } else { text }
    }

    /// Whether a number means that the cell is missing.
    #[cfg(feature = "arrow")]
    pub fn is_missing(&self, number: f64) -> bool {
        self.numbers.iter().any(|n| *n == number || n.is_nan() && number.is_nan())
    }

    /// Whether no number does.
    #[cfg(feature = "arrow")]
    pub fn has_no_number(&self) -> bool {
        self.numbers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers() {
        let na = ["n/a", "-999", " NaN"].map(str::to_owned).to_vec();
        let na = Na::new(&DataOptions { na, ..DataOptions::default() });
        assert_eq!(
            [" a ", "n/a", " -999", "-999.0", ""].map(|t| na.cell(t)),
            ["a", "", "", "-999.0", ""]
        );
        #[cfg(feature = "arrow")]
        assert_eq!([-999.0, f64::NAN, 1.0].map(|v| na.is_missing(v)), [true, true, false]);
    }
}
