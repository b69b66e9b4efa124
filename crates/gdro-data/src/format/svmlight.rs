//! LIBSVM and SVMlight: `LABEL [qid:ID] INDEX:VALUE … [# comment]`.

use std::collections::{BTreeSet, HashMap};

use super::batch::{Batch, Limit, Source};
use super::lines::Lines;
use super::opened::Text;
use crate::error::{Error, Result, Unit};
use crate::features::Encoding;
use crate::labels::{LABEL, QUERY};
use crate::options::DataOptions;
use crate::table::kind::{Forced, Wanted};
use crate::table::sparse::{MOST_INDEX, Sparse, index_of};

/// A text of sparse rows.
pub(super) struct Svmlight {
    lines: Lines,
    names: Vec<String>,
    /// Indices with a role of their own, which are columns, with their places.
    columns: HashMap<u32, usize>,
    has_query: bool,
    /// Smallest index.
    base: u32,
    /// The current row, without its comment.
    line: String,
    /// Whether it was read but not yet taken.
    waiting: bool,
    /// The indices of the current row.
    seen: Vec<u32>,
}

impl Svmlight {
    /// Opens a text. Columns are the label, the query if the first row has one, and indices that
    /// the options or the model name; all other features are in the sparse block.
    pub fn open(text: Text, options: &DataOptions, encoding: Option<&Encoding>) -> Result<Self> {
        let base = options.index_base.unwrap_or(0);
        let mut source = Svmlight {
            lines: Lines::new(text),
            names: vec![LABEL.to_owned()],
            columns: HashMap::new(),
            has_query: false,
            base,
            line: String::new(),
            waiting: false,
            seen: Vec::new(),
        };
        if !source.advance()? {
            let file = source.file().to_owned();
            return Err(Error::EmptyFile { file, expected: "rows LABEL INDEX:VALUE …" });
        }
        source.waiting = true;
        source.has_query =
            source.line.split_whitespace().nth(1).is_some_and(|t| t.starts_with("qid:"));
        source.names.extend(source.has_query.then(|| QUERY.to_owned()));
        let named = |(_, name): &(&str, &str)| *name == QUERY;
        if source.has_query && encoding.is_none() && !options.named_columns(None).iter().any(named)
        {
            return Err(Error::QueryColumn { file: source.file().to_owned() });
        }
        let named = options.named_columns(None);
        let named = named.iter().map(|(_, name)| *name);
        let known = encoding.iter().flat_map(|e| e.columns()).map(|column| column.name());
        let indices: BTreeSet<u32> =
            named.chain(known).filter_map(index_of).filter(|index| *index >= base).collect();
        for index in indices {
            source.columns.insert(index, source.names.len());
            source.names.push(index.to_string());
        }
        Ok(source)
    }

    /// Goes to the next row: false at the end. Blank lines and comments are skipped.
    fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.waiting) {
            return Ok(true);
        }
        while self.lines.read(&mut self.line)? {
            if let Some(comment) = self.line.find('#') {
                self.line.truncate(comment);
            }
            if !self.line.trim().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the current row apart: its label and query into `cells`, which have a place for each
    /// column, with the values of indices that are columns; all others into the block, by increasing
    /// index.
    fn take(&mut self, cells: &mut [String], block: &mut Sparse) -> Result<()> {
        let bad = |text: &str, expected: String| {
            let at = self.lines.at(self.lines.number());
            Error::Entry { at, text: text.to_owned(), expected }
        };
        let finite = |text: &str, whole: &str| match text.parse::<f64>() {
            Ok(v) if v.is_finite() => Ok(v),
            Ok(_) => Err(bad(whole, "a finite number".into())),
            Err(_) if text == whole => Err(bad(whole, "a number, the label of the row".into())),
            Err(_) => Err(bad(whole, "INDEX:VALUE, two numbers".into())),
        };
        for cell in cells.iter_mut() {
            cell.clear();
            cell.push('0');
        }
        let mut tokens = self.line.split_whitespace();
        let label = tokens.next().unwrap_or_default();
        finite(label, label)?;
        label.clone_into(&mut cells[0]);
        let mut tokens = tokens.peekable();
        let query = tokens.next_if(|token| token.starts_with("qid:"));
        match (self.has_query, query.and_then(|q| q.strip_prefix("qid:"))) {
            (true, Some(query)) if query.parse::<u64>().is_ok() => query.clone_into(&mut cells[1]),
            (false, None) => {}
            (true, Some(query)) => {
                return Err(bad(query, "qid:ID, a whole number".into()));
            }
            (true, None) => return Err(bad(label, "qid:ID after it, as in the first row".into())),
            (false, Some(query)) => {
                return Err(bad(&format!("qid:{query}"), "none, as in the first row".into()));
            }
        }
        let start = block.values.len();
        let mut before: Option<u32> = None;
        let mut is_sorted = true;
        self.seen.clear();
        for token in tokens {
            let (index, value) = token
                .split_once(':')
                .ok_or_else(|| bad(token, "INDEX:VALUE, two numbers".into()))?;
            let expected = || format!("an index from {} to {MOST_INDEX}", self.base);
            let index: u32 = match index.parse() {
                Ok(index) if (self.base..=MOST_INDEX).contains(&index) => index,
                _ => return Err(bad(token, expected())),
            };
            is_sorted &= before.is_none_or(|before| before < index);
            before = Some(index);
            self.seen.push(index);
            let number = finite(value, token)?;
            block.has_zero |= index == 0;
            match self.columns.get(&index) {
                Some(at) => value.clone_into(&mut cells[*at]),
                None if number == 0.0 => {}
                None => block.push(index, number),
            }
        }
        if !is_sorted {
            self.seen.sort_unstable();
            if let Some(twice) = self.seen.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(bad(&twice[0].to_string(), "each index once in a row".into()));
            }
            block.sort_from(start);
        }
        block.end_row();
        Ok(())
    }
}

impl Source for Svmlight {
    fn file(&self) -> &str {
        self.lines.file()
    }

    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn unit(&self) -> Unit {
        Unit::Line
    }

    fn next(&mut self, wanted: &[Wanted], limit: Limit, batch: &mut Batch) -> Result<bool> {
        let mut cells = vec![String::new(); self.names.len()];
        let mut block = batch.sparse.take().unwrap_or_default();
        let (mut rows, mut bytes) = (0, 0);
        while rows < limit.rows && bytes < limit.bytes && self.advance()? {
            bytes += self.line.len();
            self.take(&mut cells, &mut block)?;
            batch.number(self.lines.file(), self.lines.number())?;
            for ((cell, column), wanted) in cells.iter().zip(&mut batch.columns).zip(wanted) {
                if wanted.kind != Some(Forced::Ignored) {
                    column.push(cell);
                }
            }
            rows += 1;
        }
        batch.sparse = Some(block);
        Ok(rows > 0)
    }
}
