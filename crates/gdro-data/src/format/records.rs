//! Delimited text as records of cells, with the line each record starts at.
//!
//! Lines are split here rather than by a CSV library because the messages need exact line numbers
//! under CRLF, blank lines and comment lines, and because comments start with a text.

use super::lines::{LIMIT, Lines};
use super::opened::Text;
use crate::error::{Error, Position, Result};

/// The records of one file.
pub(crate) struct Records {
    lines: Lines,
    delimiter: char,
    comment: Option<String>,
    /// Line at which the current record starts.
    start: u64,
    /// The line last read, without its end.
    current: String,
    /// The text that `cells` point into.
    text: String,
    cells: Vec<(usize, usize)>,
}

impl Records {
    /// Starts to read a text.
    pub(crate) fn new(text: Text, delimiter: char, comment: Option<&str>) -> Self {
        Records {
            lines: Lines::new(text),
            delimiter,
            comment: comment.map(str::to_owned),
            start: 0,
            current: String::new(),
            text: String::new(),
            cells: Vec::new(),
        }
    }

    /// The file, as the caller named it.
    pub(crate) fn file(&self) -> &str {
        self.lines.file()
    }

    /// What separates cells.
    pub(crate) fn delimiter(&self) -> char {
        self.delimiter
    }

    /// Where the current record starts.
    pub(crate) fn position(&self) -> Position {
        self.lines.at(self.start)
    }

    /// The line at which the current record starts.
    pub(crate) fn line(&self) -> u64 {
        self.start
    }

    /// Number of cells of the current record.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The cells of the current record, without blanks around them.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(|(from, to)| &self.text[*from..*to])
    }

    /// Skips a line, whatever it holds.
    pub(crate) fn skip_line(&mut self) -> Result<bool> {
        self.lines.read(&mut self.current)
    }

    /// Goes to the next record: false at the end of the file. Blank lines and comments are skipped.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        loop {
            if !self.lines.read(&mut self.current)? {
                return Ok(false);
            }
            let comment = self.comment.as_deref().is_some_and(|c| self.current.starts_with(c));
            if comment || self.current.chars().all(|c| c.is_whitespace() && c != self.delimiter) {
                continue;
            }
            self.start = self.lines.number();
            self.cells.clear();
            if self.current.contains('"') {
                self.split_quoted()?;
            } else {
                std::mem::swap(&mut self.current, &mut self.text);
                let start = self.text.as_ptr() as usize;
                let cells = self.text.split(self.delimiter).map(|cell| {
                    let cell = cell.trim();
                    let from = cell.as_ptr() as usize - start;
                    (from, from + cell.len())
                });
                self.cells.extend(cells);
            }
            return Ok(true);
        }
    }

    /// Splits a record in which quotes occur; it may go on over several lines. A cell is quoted
    /// when its first character that is not a blank is a quote; two quotes stand for one.
    fn split_quoted(&mut self) -> Result<()> {
        self.text.clear();
        let delimiter = self.delimiter;
        let blank = |c: char| c.is_whitespace() && c != delimiter;
        let mut at = 0;
        loop {
            let from = self.text.len();
            let rest = self.current[at..].trim_start_matches(blank);
            at = self.current.len() - rest.len();
            if rest.starts_with('"') {
                at = self.take_quoted(at + 1)?;
                let rest = self.current[at..].trim_start_matches(blank);
                at = self.current.len() - rest.len();
                if let Some(found) = rest.chars().next().filter(|c| *c != delimiter) {
                    return Err(Error::AfterQuote {
                        at: self.lines.at(self.lines.number()),
                        found,
                        delimiter,
                    });
                }
            } else {
                let cell = rest.split(delimiter).next().unwrap_or("");
                self.text.push_str(cell);
                at += cell.len();
            }
            let cell = &self.text[from..];
            let from = from + cell.len() - cell.trim_start().len();
            self.cells.push((from, from + cell.trim().len()));
            match self.current[at..].chars().next() {
                Some(c) => at += c.len_utf8(),
                None => return Ok(()),
            }
        }
    }

    /// Appends a quoted cell that starts at `at` of the current line to the text, and returns the
    /// place after its closing quote.
    fn take_quoted(&mut self, mut at: usize) -> Result<usize> {
        let first = self.lines.number();
        loop {
            match self.current[at..].find('"') {
                Some(length) => {
                    self.text.push_str(&self.current[at..at + length]);
                    at += length + 1;
                    if !self.current[at..].starts_with('"') {
                        return Ok(at);
                    }
                    self.text.push('"');
                    at += 1;
                }
                None => {
                    self.text.push_str(&self.current[at..]);
                    self.text.push('\n');
                    if self.text.len() > LIMIT {
                        return Err(Error::TooLong { at: self.lines.at(first), limit: LIMIT });
                    }
                    if !self.lines.read(&mut self.current)? {
                        return Err(Error::OpenQuote { at: self.lines.at(first) });
                    }
                    at = 0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    type Found = Result<Vec<(u64, Vec<String>)>>;

    fn records(content: &[u8], delimiter: char, comment: Option<&str>) -> Found {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let mut records = Records::new(Text::open(file.path())?, delimiter, comment);
        let mut found = Vec::new();
        while records.advance()? {
            let cells: Vec<String> = records.cells().map(str::to_owned).collect();
            assert_eq!(cells.len(), records.len());
            found.push((records.position().line, cells));
        }
        Ok(found)
    }

    #[test]
    fn lines_are_counted_over_blanks_comments_and_line_ends() {
        let content = b"\xef\xbb\xbf|head\r\na, b\r\n\r\n  \r\n\" x,\r\ny\" ,2\r\n,\r\n|end\r\n1,2";
        let found = records(content, ',', Some("|")).unwrap();
        let lines: Vec<u64> = found.iter().map(|r| r.0).collect();
        assert_eq!(lines, [2, 5, 7, 9]);
        assert_eq!(found[0].1, ["a", "b"]);
        assert_eq!(found[1].1, ["x,\ny", "2"]);
        assert_eq!(found[2].1, ["", ""]);
        assert_eq!(found[3].1, ["1", "2"]);
    }

    #[test]
    fn quotes() {
        let found = records(b"\"a\"\"b\", \"c,d\" ,5\" pipe,\"\",\n", ',', None).unwrap();
        assert_eq!(found, [(1, ["a\"b", "c,d", "5\" pipe", "", ""].map(str::to_owned).to_vec())]);
        let message = records(b"a\n\"b\" c\n", ',', None).unwrap_err().to_string();
        assert!(message.contains(":2: found 'c' after a closing quote"), "{message}");
        let message = records(b"a\n1\n\"b\nc\n", ',', None).unwrap_err().to_string();
        assert!(message.contains(":3: the quoted cell that starts here never ends"), "{message}");
    }

    #[test]
    fn other_delimiters() {
        let found = records("a\tb c\t\n\t\t\n".as_bytes(), '\t', None).unwrap();
        assert_eq!(found[0].1, ["a", "b c", ""]);
        assert_eq!(found[1].1, ["", "", ""]);
        let found = records("a→\"b→c\"→d".as_bytes(), '→', None).unwrap();
        assert_eq!(found[0].1, ["a", "b→c", "d"]);
    }

    #[test]
    fn bytes_that_are_not_text() {
        let message = records(b"a\nb\xff\n", ',', None).unwrap_err().to_string();
        assert!(message.contains(":2: not valid UTF-8"), "{message}");
        let message = records(b"a\n\"\n\xff\"\n", ',', None).unwrap_err().to_string();
        assert!(message.contains(":3: not valid UTF-8"), "{message}");
    }

    #[test]
    fn long_lines_and_cells_are_refused() {
        let line = vec![b'a'; LIMIT + 2];
        assert!(matches!(records(&line, ',', None), Err(Error::TooLong { .. })));
        let cell = b"\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n".to_vec();
        let many: Vec<u8> = cell.iter().copied().chain(cell[1..].repeat(LIMIT / 60)).collect();
        assert!(matches!(records(&many, ',', None), Err(Error::TooLong { .. })));
    }
}
