//! The files that a run reads.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use flate2::Crc;
use gdro::row::Row;
use gdro::run::Start;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::prepared::TrainRows;

/// What tells a file from what it was or will be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The file, as the job names it.
    pub file: PathBuf,
    /// Bytes.
    size: u64,
    /// When it was last written: seconds and nanoseconds since 1970, where the system knows.
    modified: Option<(u64, u32)>,
    /// CRC-32 of its content; of a run that has not yet written a checkpoint, absent.
    checksum: Option<u32>,
}

/// The files that a job reads, where all can be read again: `None` for one that reads the standard
/// input or a pipe, and where a file cannot be found, which is said when it is read.
pub fn of_job(job: &Job) -> Option<Vec<Input>> {
    let files = gdro_data::expand(&job.read_files()).ok()?;
    files.into_iter().map(Input::of).collect()
}

/// CRC-32 of rows in memory: features, targets, weights, groups, clusters.
pub fn of_rows(rows: &TrainRows) -> u32 {
    let TrainRows { data, names, families, clusters } = rows;
    let mut crc = Crc::new();
    let mut bytes = Vec::new();
    for row in 0..data.rows() {
        bytes.clear();
        let sample = data.sample(row);
        let values = match sample.x {
            Row::Dense(values) => values,
            Row::Sparse { indices, values } => {
                bytes.extend((indices.len() as u64).to_le_bytes());
                bytes.extend(indices.iter().flat_map(|j| j.to_le_bytes()));
                values
            }
        };
        let more = [sample.y, data.weight(row)];
        bytes.extend(values.iter().chain(&more).flat_map(|v| v.to_le_bytes()));
        crc.update(&bytes);
    }
    for group in 0..data.groups() {
        let rows = data.members(group);
        crc.update(&(rows.len() as u64).to_le_bytes());
        rows.iter().for_each(|row| crc.update(&row.to_le_bytes()));
    }
    names.iter().for_each(|name| crc.update(name.as_bytes()));
    families.iter().for_each(|family| crc.update(&(*family as u64).to_le_bytes()));
    clusters.iter().flatten().for_each(|cluster| crc.update(&cluster.to_le_bytes()));
    crc.sum()
}

/// CRC-32 of where training starts.
pub fn of_start(start: &Start) -> u32 {
    let mut crc = Crc::new();
    let numbers = start.model.iter().chain(start.weights.iter().flatten());
    numbers.for_each(|v| crc.update(&v.to_le_bytes()));
    crc.sum()
}

impl Input {
    /// A file as it is now; `None` where it is no ordinary file.
    fn of(file: PathBuf) -> Option<Self> {
        let found = file.metadata().ok().filter(Metadata::is_file)?;
        Some(Input { size: found.len(), modified: modified(&found), file, checksum: None })
    }

    /// Computes the checksum, if it has not been.
    ///
    /// # Errors
    /// In words, for a file that has changed since the run began or cannot be read.
    pub fn seal(&mut self) -> Result<(), String> {
        if self.checksum.is_some() {
            return Ok(());
        }
        let name = self.file.display();
        let checksum = checksum(&self.file).map_err(|e| format!("cannot read {name}: {e}"))?;
        let now = Input::of(self.file.clone());
        if now.is_none_or(|now| (now.size, now.modified) != (self.size, self.modified)) {
            return Err(format!("{name} has changed since the run began"));
        }
        self.checksum = Some(checksum);
        Ok(())
    }

    /// Takes over the checksum that a checkpoint has of the same file, if its content is the same. The
    /// content is looked at where time or size say that it may have changed.
    ///
    /// # Errors
    /// In words, for a file that has changed.
    pub fn compare(&mut self, before: &Input) -> Result<(), String> {
        let name = self.file.display();
        if self.size != before.size {
            return Err(format!(
                "{name} has changed: it has {} bytes, and had {}",
                self.size, before.size
            ));
        }
        self.checksum = before.checksum;
        if self.modified.is_none() || self.modified != before.modified {
            let found = checksum(&self.file).map_err(|e| format!("cannot read {name}: {e}"))?;
            if Some(found) != before.checksum {
                return Err(format!("{name} has changed: its content is another one"));
            }
        }
        Ok(())
    }
}

fn modified(found: &Metadata) -> Option<(u64, u32)> {
    let since = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((since.as_secs(), since.subsec_nanos()))
}

/// CRC-32 of a file's content.
fn checksum(file: &Path) -> io::Result<u32> {
    gdro_data::crc32(File::open(file)?).map(|(checksum, _)| checksum)
}
