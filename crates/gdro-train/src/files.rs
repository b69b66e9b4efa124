//! Writing files whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Result};

/// Whether there may be temporary files.
static WRITING: AtomicBool = AtomicBool::new(false);

/// Whether files are being written at the moment.
pub fn are_being_written() -> bool {
    WRITING.load(Ordering::Relaxed)
}

/// Refuses a folder in which files cannot be written, before any work is done. Nothing is left
/// there.
pub fn check_folder(folder: &Path) -> Result<()> {
    let refuse = |e: &io::Error| Failure::write(folder, e);
    let existing = folder.ancestors().find(|f| f.symlink_metadata().is_ok());
    let existing = existing.filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !fs::metadata(existing).map_err(|e| refuse(&e))?.is_dir() {
        let file = format!("{} is not a folder", existing.display());
        return Err(refuse(&io::Error::new(io::ErrorKind::NotADirectory, file)));
    }
    tempfile::Builder::new().prefix(".gdro.").tempfile_in(existing).map_err(|e| refuse(&e))?;
    Ok(())
}

/// The files of a run.
const OF_A_RUN: [&str; 6] =
    ["model.json", "summary.json", "trace.jsonl", "schema.json", "selection.json", "path.json"];

/// Refuses a folder in which the files of a run cannot be written, before any work is done.
pub fn check_run(folder: &Path) -> Result<()> {
    check_folder(folder)?;
    OF_A_RUN.iter().try_for_each(|name| check_kind(&folder.join(name)))
}

/// Refuses a place where a file cannot be written, or where it would replace something else than a
/// file, before any work is done. The file that appears there replaces what is there now, so that a
/// device or a pipe would be lost, and a link would no longer lead where it does.
pub fn check_file(path: &Path) -> Result<()> {
    check_kind(path)?;
    check_folder(folder_of(path))
}

/// Refuses a path at which there is something else than a file.
fn check_kind(path: &Path) -> Result<()> {
    if let Ok(there) = path.symlink_metadata()
        && !there.is_file()
    {
        let kind = there.file_type();
        let found = match () {
            () if kind.is_dir() => "a folder",
            () if kind.is_symlink() => "a symbolic link: name the file that it leads to",
            () => "a device, pipe or socket",
        };
        return Err(Failure::input(format!(
            "{}: expected the name of a file, found {found}",
            path.display()
        )));
    }
    Ok(())
}

/// Refuses a file that is an input of the same command, under whatever name, and what [`check_file`]
/// refuses. Inputs may be patterns. `place` says who asks for the file.
pub fn check_output(path: &Path, inputs: &[PathBuf], place: &str) -> Result<()> {
    let canonical = path.canonicalize().ok();
    let is_it = |input: &PathBuf| canonical.is_some() && input.canonicalize().ok() == canonical;
    // What is wrong with a pattern is said when it is read.
    let inputs = gdro_data::expand(inputs).unwrap_or_default();
    if inputs.iter().any(is_it) {
        return Err(Failure::input(format!(
            "{place}: {} is an input and would be overwritten: name another file",
            path.display()
        )));
    }
    check_file(path)
}

/// The first of some files that is one of the others, under whatever name; either may be patterns, and
/// `-` is what the standard input reads.
pub fn shared(files: &[PathBuf], others: &[PathBuf]) -> Option<PathBuf> {
    let expand = |files: &[PathBuf]| gdro_data::expand(files).unwrap_or_default();
    let others: Vec<_> = expand(others).iter().filter_map(|other| identity(other)).collect();
    expand(files).into_iter().find(|file| identity(file).is_some_and(|id| others.contains(&id)))
}

/// What tells a file from all others.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let path = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
    path.metadata().ok().map(|there| (there.dev(), there.ino()))
}

/// What tells a file from all others.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// The folder a file is in.
fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes files, whose folders are made when they are missing: each appears under its name when all
/// are complete, and nothing is left behind when one cannot be written. A file that is replaced
/// leaves its permissions, and its owner where the system allows it, to the new one.
pub fn write_all<T: AsRef<[u8]>>(files: &[(PathBuf, T)]) -> Result<()> {
    WRITING.store(true, Ordering::Relaxed);
    let folders = files.iter().map(|(path, _)| folder_of(path));
    let missing = |f: &Path| !f.as_os_str().is_empty() && !f.exists();
    let made = folders.flat_map(|folder| folder.ancestors().take_while(|f| missing(f)));
    let made: Vec<PathBuf> = made.map(Path::to_owned).collect();
    let write = || {
        let mut complete = Vec::with_capacity(files.len());
        for (path, content) in files {
            check_file(path)?;
            let file = temporary(path, content.as_ref()).map_err(|e| Failure::write(path, &e))?;
            complete.push(file);
        }
        for (file, (path, _)) in complete.into_iter().zip(files) {
            file.persist(path).map_err(|e| Failure::write(path, &e.error))?;
        }
        Ok(())
    };
    let done = write();
    if done.is_err() {
        for folder in &made {
            let _ = fs::remove_dir(folder);
        }
    }
    WRITING.store(false, Ordering::Relaxed);
    done
}

/// A complete file beside `path`, under a name that nobody can guess; it goes when it is dropped.
fn temporary(path: &Path, content: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let folder = folder_of(path);
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(content)?;
    if let Ok(replaced) = path.metadata() {
        file.as_file().set_permissions(replaced.permissions())?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt as _, fchown};
            let own = file.as_file().metadata()?;
            if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
                // Only a privileged user may give files away.
                let _ = fchown(file.as_file(), Some(replaced.uid()), Some(replaced.gid()));
            }
        }
    }
    file.as_file().sync_all()?;
    Ok(file)
}

/// Writes one file: it appears under its name when it is complete.
///
/// # Errors
/// For what [`check_file`] refuses, and what cannot be written.
pub fn write_one(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    if path.file_name().is_none() {
        return Err(Failure::input(format!("{}: expected the name of a file", path.display())));
    }
    write_all(&[(path.to_owned(), content)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a/b");
        check_folder(&out).unwrap();
        assert!(!folder.path().join("a").exists());
        let files =
            |folder: &Path, second: &str| [(folder.join("x"), "1"), (folder.join(second), "2")];
        write_all(&files(&out, "y")).unwrap();
        assert_eq!(fs::read_to_string(out.join("y")).unwrap(), "2");
        assert_eq!(fs::read_dir(&out).unwrap().count(), 2);

        let other = folder.path().join("c/d");
        let far = out.join("x/such");
        assert!(write_all(&files(&other, far.to_str().unwrap())).is_err());
        assert!(!folder.path().join("c").exists());
        assert!(check_file(&out).is_err() && check_file(&out.join("z")).is_ok());
        assert!(check_folder(&out.join("x/deeper")).is_err());
    }
}
