//! Printing, and files that no signal must leave half-written.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use gdro_train::job::Job;
use gdro_train::{Failure, Result, files, run_folder};

use crate::signals;

/// Prints to standard output.
pub fn text(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::BrokenPipe),
        Err(error) => Err(Failure::Machine(format!("cannot print: {error}"))),
    }
}

/// Says something on standard error, beside the output.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "note: {}", gdro_report::plain(text));
}

/// Writes the files of a job as [`run_folder::write`] does.
pub fn run<T: AsRef<[u8]>>(job: &Job, written: &[(PathBuf, T)], is_cut: bool) -> Result<()> {
    signals::hold();
    run_folder::write(job.out.as_deref(), written, is_cut)
}

/// Writes a file as [`files::write_one`] does.
pub fn file(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    signals::hold();
    files::write_one(path, content)
}
