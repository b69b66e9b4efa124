//! What separates the cells of a text that is not told.

use std::io::{self, BufReader, Cursor, Read};

use super::opened::Text;
use super::records::Records;
use crate::error::{Error, Position, Result, Unit};
use crate::options::DataOptions;

/// Bytes of a text that are looked at.
const HEAD: usize = 1 << 16;

/// Records that are looked at.
const RECORDS: usize = 100;

/// Records before the header that are recognised as such.
const PREAMBLE: usize = 10;

/// What may separate cells.
const CANDIDATES: [char; 4] = [',', ';', '\t', '|'];

/// A text from its start, and what separates its cells.
pub(super) struct Separated {
    pub text: Text,
    pub delimiter: char,
    /// Whether the first line says what separates cells (`sep=;`, as Excel has it), and nothing else.
    pub says: bool,
}

/// How a candidate splits the first records.
struct Look {
    delimiter: char,
    /// Numbers of cells.
    cells: Vec<usize>,
    /// The lines the records start at.
    lines: Vec<u64>,
    /// Whether a record could not be split.
    is_broken: bool,
}

/// Finds what separates the cells of a text, as [`DataOptions::delimiter`] says.
pub(super) fn separated(
    mut text: Text,
    usual: Option<char>,
    options: &DataOptions,
) -> Result<Separated> {
    let mut head = Vec::new();
    let read = (&mut text.input).take(HEAD as u64).read_to_end(&mut head);
    let (said, length) = first_line(&head);
    let given = options.delimiter.or(said).or(usual);
    let delimiter = match given {
        Some(delimiter) => Ok(delimiter),
        None => {
            // The last line may be cut off.
            let whole = head.len() < HEAD || read.is_err();
            let end = if whole { None } else { head.iter().rposition(|b| *b == b'\n') };
            detect(&head[length..end.map_or(head.len(), |at| at + 1)], &text.file, options)
        }
    }?;
    let rest: Box<dyn io::BufRead + Send> = match read {
        Ok(_) => text.input,
        Err(why) => Box::new(BufReader::new(Broken(Some(why)))),
    };
    text.input = Box::new(Cursor::new(head).chain(rest));
    Ok(Separated { text, delimiter, says: said.is_some() })
}

/// What a first line says separates cells, if it does, and its length.
fn first_line(head: &[u8]) -> (Option<char>, usize) {
    let end = head.iter().position(|b| *b == b'\n').map_or(head.len(), |at| at + 1);
    let line = head[..end].strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head[..end]);
    let said = std::str::from_utf8(line).ok().and_then(|line| {
        let line = line.trim_end_matches(['\r', '\n']);
        let line = line.strip_prefix('"').and_then(|l| l.strip_suffix('"')).unwrap_or(line);
        let (word, rest) = line.split_at_checked(4)?;
        let mut rest = rest.chars();
        let one = rest.next().filter(|_| word.eq_ignore_ascii_case("sep="))?;
        rest.next().is_none().then_some(one)
    });
    (said, if said.is_some() { end } else { 0 })
}

/// What separates the cells of a text that starts with these bytes.
fn detect(head: &[u8], file: &str, options: &DataOptions) -> Result<char> {
    let looks = CANDIDATES.map(|c| Look::new(head, c, options.comment.as_deref()));
    let names = options.columns.as_ref().map(Vec::len);
    let fitting: Vec<&Look> = looks.iter().filter(|look| look.fits(0, names)).collect();
    match fitting[..] {
        [only] => return Ok(only.delimiter),
        [first, second, ..] => {
            let found = [(first.delimiter, first.cells[0]), (second.delimiter, second.cells[0])];
            return Err(Error::Delimiters { at: position(file, first.lines[0]), found });
        }
        [] => {}
    }
    for before in 1..=PREAMBLE {
        let later = looks.iter().find(|look| look.fits(before, names) && look.cells[0] == 1);
        let rows = |look: &Look| look.cells.len() > before + 1;
        if let Some(look) = later.filter(|look| names.is_none() && rows(look)) {
            let at = position(file, look.lines[0]);
            let start = start(head, look.lines[0]);
            return Err(Error::Preamble { at, before, cells: look.cells[before], start });
        }
    }
    let several: Vec<&Look> = looks.iter().filter(|look| look.cells.first() > Some(&1)).collect();
    Ok(match several[..] {
        [only] => only.delimiter,
        _ => CANDIDATES[0],
    })
}

/// What a line starts with: a sign, or a word.
fn start(head: &[u8], line: u64) -> String {
    let line = head.split(|b| *b == b'\n').nth(line as usize - 1).unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let line = line.trim_start_matches('\u{feff}');
    let first = line.chars().next().filter(|c| !c.is_alphanumeric());
    first.map_or_else(|| line.split_whitespace().next().unwrap_or_default().into(), String::from)
}

fn position(file: &str, line: u64) -> Position {
    Position { file: file.to_owned(), line, unit: Unit::Line }
}

impl Look {
    fn new(head: &[u8], delimiter: char, comment: Option<&str>) -> Self {
        let input = Box::new(Cursor::new(head.to_vec()));
        let mut records =
            Records::new(Text { input, file: String::new(), packed: None }, delimiter, comment);
        let mut look = Look { delimiter, cells: Vec::new(), lines: Vec::new(), is_broken: false };
        while look.cells.len() < RECORDS {
            match records.advance() {
                Ok(true) => {
                    look.cells.push(records.len());
                    look.lines.push(records.line());
                }
                // A quoted cell may go on after what is looked at.
                Ok(false) | Err(Error::OpenQuote { .. }) => break,
                Err(_) => {
                    look.is_broken = true;
                    break;
                }
            }
        }
        look
    }

    /// Whether all records after so many have the same number of cells: that of the names, where
    /// these are known.
    fn fits(&self, before: usize, names: Option<usize>) -> bool {
        let Some((first, rest)) = self.cells.get(before..).and_then(<[usize]>::split_first) else {
            return false;
        };
        !self.is_broken
            && *first > 1
            && names.is_none_or(|names| names == *first)
            && rest.iter().all(|cells| cells == first)
    }
}

/// A reader that fails with what it holds.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(head: &str, json: &str) -> Result<char, String> {
        let options: DataOptions = serde_json::from_str(json).unwrap();
        let input = Box::new(Cursor::new(head.as_bytes().to_vec()));
        let text = Text { input, file: "t".into(), packed: None };
        let mut separated = separated(text, None, &options).map_err(|e| e.to_string())?;
        let mut again = String::new();
        separated.text.input.read_to_string(&mut again).unwrap();
        assert_eq!(again, head);
        Ok(separated.delimiter)
    }

    #[test]
    fn the_first_records_tell() {
        for (head, expected) in [
            ("a,b\n1,2\n", ','),
            ("a;b\n1,5;2,5\n", ';'),
            ("a\tb\n1,5\t2;5\n", '\t'),
            ("a|b\n1|2", '|'),
            ("\u{feff}a;b\r\n1;2\r\n", ';'),
            // Quoted cells are whole, and may span lines.
            ("\"a;x\",\"b;y\"\n\"1;\n2\",3\n", ','),
            ("\"\";\"x\"\n\"1\";\"2,5\"\n", ';'),
            // A comma in some names only.
            ("height, cm;weight\n180;75\n", ';'),
            // One column, none at all, and no text.
            ("a\n1\n", ','),
            ("", ','),
            // Rows that are ragged: the first record tells.
            ("a;b;c\n1;2\n1;2;3\n", ';'),
            ("a,b,c\n1;2\n1,2,3\n", ','),
            // What Excel says.
            ("sep=;\na,b\n1,2\n", ';'),
            ("\u{feff}SEP=\t\r\na\tb\n", '\t'),
            ("\"sep=|\"\na|b\n", '|'),
        ] {
            assert_eq!(found(head, "{}"), Ok(expected), "{head:?}");
        }
        assert_eq!(found("sep=;\na;b\n", r#"{"delimiter":","}"#), Ok(','));
        // Without a header the names of the columns count.
        assert_eq!(found("1,2;5,3\n", r#"{"columns":["a","b"]}"#), Ok(';'));
        assert_eq!(found("1,2;5,3\n", r#"{"columns":["a","b","c"]}"#), Ok(','));
        // Only complete lines are looked at.
        let long = "a;b\n".to_owned() + &"1;2,3\n".repeat(20_000);
        assert_eq!(found(&long, "{}"), Ok(';'));
    }

    #[test]
    fn what_does_not_tell_is_refused() {
        let message = found("height, cm;weight, kg\n180,5;75,5\n", "{}").unwrap_err();
        let expected = "t:1: cells could be separated by ',' (3 a line) or by ';' (2)";
        assert!(message.starts_with(expected), "{message}");
        let message = found("# a sensor, 2024\n#\nx;y\n1;2\n1;3\n", "{}").unwrap_err();
        assert_eq!(
            message,
            "t:1: 2 lines before the names of the columns: found 1 cell, later lines have 2"
        );
        let message = found("Report\n\nx,y\n1,2\n", "{}").unwrap_err();
        assert!(message.starts_with("t:1: 1 line before the names"), "{message}");
    }

    #[test]
    fn a_text_that_breaks_off_says_where_it_does() {
        struct Half(bool);
        impl Read for Half {
            fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other("gone"));
                }
                bytes[..8].copy_from_slice(b"a;b\n1;2\n");
                Ok(8)
            }
        }
        let text =
            Text { input: Box::new(BufReader::new(Half(false))), file: "t".into(), packed: None };
        let separated = separated(text, None, &DataOptions::default()).unwrap();
        let mut records = Records::new(separated.text, separated.delimiter, None);
        assert!(records.advance().unwrap() && records.advance().unwrap());
        let message = records.advance().unwrap_err().to_string();
        assert!(message.starts_with("t:3: cannot read on: gone"), "{message}");
    }
}
