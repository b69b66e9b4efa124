//! Writing files whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Result};
use crate::manifest::{self, folder_of};

/// Whether there may be temporary files.
static WRITING: AtomicBool = AtomicBool::new(false);

/// Whether files are being written at the moment.
pub fn are_being_written() -> bool {
    WRITING.load(Ordering::Relaxed)
}

/// Refuses a folder in which files cannot be written, before any work is done. Nothing is left
/// there, even by a process that is killed: the file that tries it has no name, where the system has such
/// files.
pub fn check_folder(folder: &Path) -> Result<()> {
    let refuse = |e: &io::Error| Failure::write(folder, e);
    let existing = existing(folder);
    if !fs::metadata(existing).map_err(|e| refuse(&e))?.is_dir() {
        let file = format!("{} is not a folder", existing.display());
        return Err(refuse(&io::Error::new(io::ErrorKind::NotADirectory, file)));
    }
    tempfile::tempfile_in(existing).map_err(|e| refuse(&e))?;
    Ok(())
}

/// The folder, or the nearest one above it that is there.
pub(crate) fn existing(folder: &Path) -> &Path {
    let existing = folder.ancestors().find(|f| f.symlink_metadata().is_ok());
    existing.filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses a place where a file cannot be written, or where it would replace something else than a
/// file, before any work is done. The file that appears there replaces what is there now, so that a
/// device or a pipe would be lost, and a link would no longer lead where it does. The files of a run
/// belong together, so that none of them is replaced alone.
pub fn check_file(path: &Path) -> Result<()> {
    check_kind(path)?;
    if manifest::lists(path) {
        let why = "it belongs to a run of gdro: name another file";
        return Err(Failure::input(format!("{}: {why}", path.display())));
    }
    check_folder(folder_of(path))
}

/// Refuses a path at which there is something else than a file.
pub(crate) fn check_kind(path: &Path) -> Result<()> {
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

/// Refuses a file that is an input, and what [`check_file`] refuses. `place` says who asks for the
/// file.
///
/// # Errors
/// What is refused.
pub fn check_output(path: &Path, inputs: &[PathBuf], place: &str) -> Result<()> {
    check_input(path, inputs, place)?;
    check_file(path)
}

/// Refuses a file that is an input, under whatever name. Inputs may be patterns.
pub(crate) fn check_input(path: &Path, inputs: &[PathBuf], place: &str) -> Result<()> {
    let canonical = path.canonicalize().ok();
    let is_it = |input: PathBuf| match input == Path::new("-") {
        true => identity(&input) == identity(path),
        false => input.canonicalize().ok() == canonical,
    };
    if canonical.is_some() && expanded(inputs).any(is_it) {
        return Err(Failure::input(format!(
            "{place}: {} is an input and would be overwritten: name another file",
            path.display()
        )));
    }
    Ok(())
}

/// The first of some files that is one of the others, under whatever name; either may be patterns, and
/// `-` is what the standard input reads.
pub fn shared(files: &[PathBuf], others: &[PathBuf]) -> Option<PathBuf> {
    let others: Vec<_> = expanded(others).filter_map(|other| identity(&other)).collect();
    expanded(files).find(|file| identity(file).is_some_and(|id| others.contains(&id)))
}

/// The files that paths and patterns stand for. What is wrong with a pattern is said when it is read.
fn expanded(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    paths.iter().flat_map(|path| gdro_data::expand(std::slice::from_ref(path)).unwrap_or_default())
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

/// Whether an open file is the one at a path.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let id = |there: fs::Metadata| (there.dev(), there.ino());
        let (open, there) = (file.metadata().map(id), path.symlink_metadata().map(id));
        open.is_ok_and(|open| there.is_ok_and(|there| open == there))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.is_file()
    }
}

/// Makes a folder and those it is in, and gives those that were missing, the innermost first.
pub(crate) fn make_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let missing = |f: &&Path| !f.as_os_str().is_empty() && !f.exists();
    let made: Vec<PathBuf> = folder.ancestors().take_while(missing).map(Path::to_owned).collect();
    if let Err(error) = fs::create_dir_all(folder) {
        remove_empty(&made);
        return Err(error);
    }
    Ok(made)
}

/// Removes those of some folders that are empty.
pub(crate) fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
}

/// Writes files, whose folders are made when they are missing: each appears under its name when all
/// are complete, and nothing is left behind when one cannot be written. A file that is replaced
/// leaves its permissions, and its owner where the system allows it, to the new one.
///
/// # Errors
/// For what [`check_file`] refuses, and what cannot be written.
pub fn write_all<T: AsRef<[u8]>>(files: &[(PathBuf, T)]) -> Result<()> {
    files.iter().try_for_each(|(path, _)| check_file(path))?;
    replace_all(files)
}

/// Writes files as [`write_all`] does, those of a run too, in this order.
pub(crate) fn replace_all<T: AsRef<[u8]>>(files: &[(PathBuf, T)]) -> Result<()> {
    WRITING.store(true, Ordering::Relaxed);
    let mut made = Vec::new();
    let mut write = || {
        let mut complete = Vec::with_capacity(files.len());
        for (path, content) in files {
            check_kind(path)?;
            let refuse = |e: io::Error| Failure::write(path, &e);
            made.splice(0..0, make_folder(folder_of(path)).map_err(refuse)?);
            complete.push(temporary(path, content.as_ref()).map_err(refuse)?);
        }
        for (file, (path, _)) in complete.into_iter().zip(files) {
            file.persist(path).map_err(|e| Failure::write(path, &e.error))?;
        }
        Ok(())
    };
    let done = write();
    if done.is_err() {
        remove_empty(&made);
    }
    WRITING.store(false, Ordering::Relaxed);
    done
}

/// A complete file beside `path`, under a name that nobody can guess; it goes when it is dropped.
fn temporary(path: &Path, content: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let folder = folder_of(path);
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
