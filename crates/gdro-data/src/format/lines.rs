//! The lines of a text, numbered.

use std::io::{BufRead, Read};

use super::opened::Text;
use crate::error::{Error, Position, Result, Unit};

/// Longest line and longest record that is read.
pub(super) const LIMIT: usize = 16 << 20;

/// Reads a text line by line.
pub(super) struct Lines {
    text: Text,
    /// Number of the line last read.
    number: u64,
    bytes: Vec<u8>,
}

impl Lines {
    pub fn new(text: Text) -> Self {
        Lines { text, number: 0, bytes: Vec::new() }
    }

    /// The file, as the caller named it.
    pub fn file(&self) -> &str {
        &self.text.file
    }

    /// Number of the line last read.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn at(&self, line: u64) -> Position {
        Position { file: self.text.file.clone(), line, unit: Unit::Line }
    }

    /// Reads the next line, without its end, into `line`: false at the end of the file.
    pub fn read(&mut self, line: &mut String) -> Result<bool> {
        self.bytes.clear();
        let limit = LIMIT as u64 + 1;
        let read = (&mut self.text.input).take(limit).read_until(b'\n', &mut self.bytes);
        self.number += 1;
        let read = read.map_err(|why| {
            let (at, packed) = (self.at(self.number), self.text.packed);
            Error::Read { at, packed, why }
        })?;
        if read == 0 {
            return Ok(false);
        }
        if read > LIMIT {
            return Err(Error::TooLong { at: self.at(self.number), limit: LIMIT });
        }
        let mut found = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        found = found.strip_suffix(b"\r").unwrap_or(found);
        if self.number == 1 {
            found = found.strip_prefix(b"\xef\xbb\xbf").unwrap_or(found);
        }
        line.clear();
        match std::str::from_utf8(found) {
            Ok(found) => line.push_str(found),
            Err(_) => {
                let wide = self.number == 1 && found.contains(&0);
                let encoding = if wide { "UTF-16" } else { "WINDOWS-1252" };
                return Err(Error::Utf8 { at: self.at(self.number), encoding });
            }
        }
        Ok(true)
    }
}
