//! Texts to codes, one after another.

use std::collections::HashMap;

use super::{MISSING, Texts};

/// Codes texts in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coder {
    texts: Texts,
    known: HashMap<String, u32>,
}

impl Coder {
    /// The code of a text; the empty text is a missing cell.
    pub(crate) fn code(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return MISSING;
        }
        if let Some(code) = self.known.get(text) {
            return *code;
        }
        let code = self.texts.levels.len() as u32;
        self.texts.levels.push(text.to_owned());
        self.known.insert(text.to_owned(), code);
        code
    }

    /// Appends a cell with a code that [`Coder::code`] gave.
    pub(crate) fn push(&mut self, code: u32) {
        self.texts.codes.push(code);
    }

    /// Appends cells that have no text.
    pub(crate) fn push_missing(&mut self, cells: usize) {
        self.texts.codes.resize(self.texts.codes.len() + cells, MISSING);
    }

    /// Appends cells that were coded elsewhere.
    pub(crate) fn append(&mut self, other: &Texts) {
        let new: Vec<u32> = other.levels.iter().map(|level| self.code(level)).collect();
        let code = |old: &u32| if *old == MISSING { MISSING } else { new[*old as usize] };
        self.texts.codes.extend(other.codes.iter().map(code));
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.texts.codes.len()
    }

    /// Bytes that it takes, about: each text is held twice.
    pub(crate) fn bytes(&self) -> usize {
        let levels = self.texts.levels.iter();
        let texts: usize = levels.map(|level| 2 * (size_of::<String>() + level.len())).sum();
        texts + size_of::<u32>() * self.texts.codes.capacity()
    }

    /// Whether no cell has a text.
    pub(crate) fn is_blank(&self) -> bool {
        self.texts.levels.is_empty()
    }

    pub(crate) fn texts(&self) -> &Texts {
        &self.texts
    }

    pub(crate) fn into_texts(self) -> Texts {
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_one_column() {
        let code = |cells: &[&str]| {
            let mut coder = Coder::default();
            cells.iter().for_each(|cell| {
                let code = coder.code(cell);
                coder.push(code);
            });
            coder
        };
        let mut all = code(&["b", "", "a", "b"]);
        all.append(code(&["c", "", "a"]).texts());
        all.push_missing(1);
        let expected = Texts::new(["b", "", "a", "b", "c", "", "a", ""].into_iter());
        assert_eq!((all.len(), all.is_blank()), (8, false));
        let found = all.into_texts();
        assert_eq!((found.codes, found.levels), (expected.codes, expected.levels));
    }
}
