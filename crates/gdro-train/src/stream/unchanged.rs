//! The files of a table, which must stay as they are from one pass to the next.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::failure::{Failure, Result};
use crate::job::Job;

/// Files as they were before the first pass: those that one can go back in.
pub struct Unchanged(Vec<(PathBuf, Stamp)>);

/// What tells that a file was written to: its size and when it was.
type Stamp = (u64, Option<SystemTime>);

/// That of a file; `None` for what is no file, such as a pipe.
fn stamp(file: &Path) -> Option<Stamp> {
    let there = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((there.len(), there.modified().ok()))
}

impl Unchanged {
    /// The files of a job as they are now.
    pub fn of(job: &Job) -> Self {
        let files = [job.files(&job.tables), job.data.group_file.clone()].concat();
        // What is wrong with a pattern is said when it is read.
        let files = files
            .iter()
            .flat_map(|file| gdro_data::expand(std::slice::from_ref(file)).unwrap_or_default());
        Unchanged(files.filter_map(|file| stamp(&file).map(|stamp| (file, stamp))).collect())
    }

    /// Refuses files that are no longer what they were.
    ///
    /// # Errors
    /// For the first one that was written to.
    pub fn check(&self) -> Result<()> {
        let Some((file, was)) = self.0.iter().find(|(file, was)| stamp(file) != Some(*was)) else {
            return Ok(());
        };
        let is = stamp(file).map_or("it is gone".to_owned(), |is| match is.0 == was.0 {
            true => "its time is another".to_owned(),
            false => format!("it has {} bytes, and had {}", is.0, was.0),
        });
        Err(Failure::input(format!(
            "{}: the file has changed while it was read, which takes several passes: {is}: run again \
             when it is complete",
            file.display()
        )))
    }
}
