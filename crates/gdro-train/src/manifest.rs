//! The list of the files of a run: `manifest.json`.
//!
//! It holds their sizes and checksums. Whatever reads one of them checks all that are there, so that
//! a model of one run is never taken with the summary of another.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use gdro_data::{Purpose, check_memory};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::{Failure, Result};

/// The name of the list.
pub const NAME: &str = "manifest.json";

/// Version of its format.
const FORMAT: u32 = 1;

/// What a text takes in memory with what is made of it, in times its size.
const PARSED: f64 = 4.0;

/// How often and how long a reader waits for a run that is putting its files into place.
const WAITS: (u32, Duration) = (5, Duration::from_millis(20));

/// What binds the files of a run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this format.
    format: u32,
    /// Version of gdro that wrote it.
    gdro: String,
    /// What tells the files of this run from those of others: made of their checksums.
    id: String,
    /// The files, by name.
    pub files: BTreeMap<String, Entry>,
}

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its size.
    bytes: u64,
    /// Its CRC-32, in hexadecimal.
    crc32: String,
}

impl Entry {
    /// That of a content.
    ///
    /// # Errors
    /// Those of reading.
    pub fn of(content: impl io::Read) -> io::Result<Self> {
        let (crc, bytes) = gdro_data::crc32(content)?;
        Ok(Entry { bytes, crc32: format!("{crc:08x}") })
    }
}

impl Manifest {
    /// A list of files.
    pub fn new(files: BTreeMap<String, Entry>) -> Self {
        let list: String = files.iter().map(|(name, e)| format!("{name} {}\n", e.crc32)).collect();
        let (id, _) = gdro_data::crc32(list.as_bytes()).unwrap_or_default();
        let gdro = env!("CARGO_PKG_VERSION").into();
        Manifest { format: FORMAT, gdro, id: format!("{id:08x}"), files }
    }

    /// That of a folder. `None` where there is none, as in runs of older versions, and where the file
    /// of that name is of another program.
    ///
    /// # Errors
    /// A list that is damaged, or of a later version.
    pub fn load(folder: &Path) -> Result<Option<Self>> {
        let file = folder.join(NAME);
        let Ok(text) = fs::read_to_string(&file) else { return Ok(None) };
        let broken = |why: &dyn std::fmt::Display| {
            let name = file.display();
            Failure::input(format!("{name}: not the list of the files of a run of gdro: {why}"))
        };
        let value: Value = serde_json::from_str(&text).map_err(|e| broken(&e))?;
        if value.get("gdro").is_none() {
            return Ok(None);
        }
        let manifest: Manifest = serde_json::from_value(value).map_err(|e| broken(&e))?;
        if manifest.format != FORMAT {
            let (found, why) = (manifest.format, format!("this program reads version {FORMAT}"));
            return Err(broken(&format!("version {found}: {why}")));
        }
        let is_name = |name: &String| Path::new(name).file_name().is_some_and(|n| n == &**name);
        match manifest.files.keys().find(|name| !is_name(name)) {
            Some(name) => Err(broken(&format!("{name} is not the name of a file"))),
            None => Ok(Some(manifest)),
        }
    }

    /// Whether all files of the list are there, as it says.
    pub(crate) fn is_whole(&self, folder: &Path) -> bool {
        self.files.keys().all(|name| folder.join(name).is_file()) && self.other(folder).is_none()
    }

    /// The first file that is there and is another one than the list says.
    fn other(&self, folder: &Path) -> Option<&str> {
        let differs = |(name, entry): &(&String, &Entry)| {
            let file = folder.join(name);
            // A pipe would be waited for.
            if !file.is_file() {
                return file.symlink_metadata().is_ok();
            }
            File::open(file).is_ok_and(|file| Entry::of(file).ok().as_ref() != Some(*entry))
        };
        self.files.iter().find(differs).map(|(name, _)| name.as_str())
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Reads a file that may be one of a run, and if it is, checks it and all others of the run that are
/// there. `what` says what it is.
///
/// # Errors
/// A file that cannot be read, or takes more memory than there is; files that are not of the same run, or were changed after it.
pub fn read(file: &Path, what: &str) -> Result<String> {
    let (folder, name) = (folder_of(file), file.file_name().unwrap_or_default());
    let size = file.metadata().map_or(0, |there| there.len());
    check_memory(PARSED * size as f64, Purpose::File, || format!("the {what} {}", file.display()))?;
    let mut waits = 0;
    loop {
        let text = fs::read_to_string(file).map_err(|e| {
            Failure::input(format!("cannot read the {what} {}: {e}", file.display()))
        })?;
        let manifest = Manifest::load(folder)?;
        let listed = manifest.and_then(|m| Some((m.files.get(name.to_str()?)?.clone(), m)));
        let Some((entry, manifest)) = listed else { return Ok(text) };
        let is_it = Entry::of(text.as_bytes()).ok() == Some(entry);
        let other = if is_it { manifest.other(folder) } else { name.to_str() };
        let Some(other) = other else { return Ok(text) };
        if waits == WAITS.0 {
            return Err(Failure::input(format!(
                "{}: not the {other} that {NAME} lists: files of several runs are mixed, or one \
                 was changed later: train again, or copy the {what} to a folder of its own to use it \
                 as it is",
                folder.join(other).display()
            )));
        }
        // A run may be putting its files into place.
        waits += 1;
        std::thread::sleep(WAITS.1);
    }
}

/// Whether a path is that of a file of a run.
pub fn lists(file: &Path) -> bool {
    let manifest = Manifest::load(folder_of(file)).ok().flatten();
    let name = file.file_name().and_then(|name| name.to_str());
    manifest.zip(name).is_some_and(|(m, name)| name == NAME || m.files.contains_key(name))
}
