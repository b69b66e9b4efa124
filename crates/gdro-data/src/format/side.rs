//! Group labels in files of their own: one label a line, one line a row.

use std::collections::VecDeque;
use std::path::PathBuf;

use super::lines::Lines;
use super::na::Na;
use super::opened::{Text, expand};
use crate::error::{Error, Result};
use crate::labels::GROUP;
use crate::options::DataOptions;
use crate::table::raw::RawColumn;

/// Labels, one after another.
pub(super) struct Side {
    /// The files that are not opened yet.
    paths: VecDeque<PathBuf>,
    lines: Option<Lines>,
    /// The file last read.
    file: String,
    na: Na,
    labels: u64,
    line: String,
}

impl Side {
    /// The labels that the options name, if they do.
    pub fn open(options: &DataOptions) -> Result<Option<Self>> {
        if options.group_file.is_empty() {
            return Ok(None);
        }
        let mut side = Side {
            paths: expand(&options.group_file)?.into(),
            lines: None,
            file: String::new(),
            na: Na::of(options, &[GROUP.to_owned()]).remove(0),
            labels: 0,
            line: String::new(),
        };
        side.advance()?;
        Ok(Some(side))
    }

    fn advance(&mut self) -> Result<bool> {
        let Some(path) = self.paths.pop_front() else { return Ok(false) };
        let lines = Lines::new(Text::open(&path)?);
        self.file = lines.file().to_owned();
        self.lines = Some(lines);
        Ok(true)
    }

    /// Reads the next label into `line`.
    fn next(&mut self) -> Result<bool> {
        while let Some(lines) = &mut self.lines {
            if lines.read(&mut self.line)? {
                self.labels += 1;
                return Ok(true);
            }
            self.lines = None;
            self.advance()?;
        }
        Ok(false)
    }

    /// Appends the labels of the next rows.
    pub fn take(&mut self, rows: usize, column: &mut RawColumn) -> Result<()> {
        let before = self.labels;
        for _ in 0..rows {
            if !self.next()? {
                let (labels, rows) = (self.labels, before + rows as u64);
                return Err(Error::SideFile { file: self.file.clone(), labels, rows });
            }
            column.push(self.na.cell(&self.line));
        }
        Ok(())
    }

    /// Appends the labels of all rows.
    pub fn all(&mut self, rows: usize, column: &mut RawColumn) -> Result<()> {
        let before = self.labels;
        while self.next()? {
            if self.labels - before <= rows as u64 {
                column.push(self.na.cell(&self.line));
            }
        }
        if self.labels == before + rows as u64 {
            return Ok(());
        }
        let (file, labels, rows) = (self.file.clone(), self.labels, before + rows as u64);
        Err(Error::SideFile { file, labels, rows })
    }

    /// Refuses labels that are left when there are no more rows.
    pub fn finish(&mut self) -> Result<()> {
        let rows = self.labels;
        while self.next()? {}
        if self.labels == rows {
            return Ok(());
        }
        Err(Error::SideFile { file: self.file.clone(), labels: self.labels, rows })
    }
}
