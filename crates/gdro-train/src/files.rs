//! Writing files whole or not at all.

use std::fs::{self, File};
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
    let probe = existing.join(format!(".gdro.{}.tmp", std::process::id()));
    File::create(&probe).and_then(|_| fs::remove_file(&probe)).map_err(|e| refuse(&e))
}

/// Refuses a place where a file cannot be written, before any work is done.
pub fn check_file(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Failure::input(format!(
            "{}: expected the name of a file, found a folder",
            path.display()
        )));
    }
    check_folder(folder_of(path))
}

/// The folder a file is in.
fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes files, whose folders are made when they are missing: each appears under its name when all
/// are complete, and nothing is left behind when one cannot be written.
pub fn write_all<T: AsRef<[u8]>>(files: &[(PathBuf, T)]) -> Result<()> {
    WRITING.store(true, Ordering::Relaxed);
    let folders = files.iter().map(|(path, _)| folder_of(path));
    let missing = |f: &Path| !f.as_os_str().is_empty() && !f.exists();
    let made = folders.flat_map(|folder| folder.ancestors().take_while(|f| missing(f)));
    let made: Vec<PathBuf> = made.map(Path::to_owned).collect();
    let temporary = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        folder_of(path).join(format!(".{name}.{}.tmp", std::process::id()))
    };
    let write = || {
        for (path, content) in files {
            let write = || {
                fs::create_dir_all(folder_of(path))?;
                let mut file = File::create(temporary(path))?;
                file.write_all(content.as_ref())?;
                file.sync_all()
            };
            write().map_err(|e| Failure::write(path, &e))?;
        }
        for (path, _) in files {
            fs::rename(temporary(path), path).map_err(|e| Failure::write(path, &e))?;
        }
        Ok(())
    };
    let done = write();
    if done.is_err() {
        for (path, _) in files {
            let _ = fs::remove_file(temporary(path));
        }
        for folder in &made {
            let _ = fs::remove_dir(folder);
        }
    }
    WRITING.store(false, Ordering::Relaxed);
    done
}

/// Writes one file: it appears under its name when it is complete.
pub fn write_one(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    if path.file_name().is_none() {
        return Err(Failure::input(format!("{}: expected the name of a file", path.display())));
    }
    check_file(path)?;
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
