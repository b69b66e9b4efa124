//! Writing files whole or not at all, and printing.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// A file that appears under its name only when it is complete.
pub struct Pending {
    path: PathBuf,
    temporary: PathBuf,
    writer: BufWriter<File>,
}

impl Pending {
    /// Starts the file `name` in a folder, which is made when it is missing.
    pub fn create(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(name);
        let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
        fs::create_dir_all(folder).map_err(|e| Failure::write(folder, &e))?;
        let file = File::create(&temporary).map_err(|e| Failure::write(&path, &e))?;
        Ok(Pending { path, temporary, writer: BufWriter::new(file) })
    }

    /// Appends a line.
    pub fn line(&mut self, text: &str) -> Result<()> {
        writeln!(self.writer, "{text}").map_err(|e| Failure::write(&self.path, &e))
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<()> {
        let done = self
            .writer
            .flush()
            .and_then(|()| self.writer.get_ref().sync_all())
            .and_then(|()| fs::rename(&self.temporary, &self.path));
        done.map_err(|e| Failure::write(&self.path, &e))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // After `finish` there is nothing under this name any more.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Prints to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::BrokenPipe),
        Err(error) => Err(Failure::Machine(format!("cannot print: {error}"))),
    }
}
