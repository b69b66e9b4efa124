//! The folder of a run: whose it is, who writes to it, and which files belong together there.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::files;
use crate::job::Job;
use crate::manifest::{self, Entry, Manifest};
use crate::solve::Ended;

/// The file that a run holds locked while it is at work.
const LOCK: &str = ".gdro.lock";

/// The files of a model, and those of a trade-off; either set may lie beside the other.
const SETS: [&[&str]; 2] = [
    &["model.json", "summary.json", "trace.jsonl", "schema.json", "selection.json"],
    &["path.json"],
];

/// Files of other programs that a message names at most.
const NAMED: usize = 3;

/// Whether a folder holds a run, by its manifest or, for older versions, by its model or trade-off.
fn is_a_run(folder: &Path) -> bool {
    let keys = |name: &str, keys: [&str; 2]| {
        let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        keys.iter().all(|key| value.get(key).is_some())
    };
    matches!(Manifest::load(folder), Ok(Some(_)))
        || keys("model.json", ["format", "gdro"])
        || keys("path.json", ["points", "test_groups"])
}

/// Whether a folder holds what a run ended with, of the set of files that begins with this one: all of
/// it, and nothing that was interrupted.
fn holds_ended(folder: &Path, set: &[&str]) -> bool {
    let is_whole = match Manifest::load(folder) {
        Ok(Some(manifest)) => manifest.is_whole(folder),
        Ok(None) => is_a_run(folder),
        Err(_) => false,
    };
    let outcomes = ["summary.json", "selection.json", "path.json"];
    is_whole
        && folder.join(set[0]).is_file()
        && !set
            .iter()
            .filter(|name| outcomes.contains(name))
            .any(|name| tells_of_interrupt(&folder.join(name)))
}

/// Whether a summary, a selection or a trade-off is of a run that was interrupted.
pub(crate) fn tells_of_interrupt(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    value["ended"] == Ended::Interrupted.to_string() || value["interrupted"] == true
}

/// A folder that a run has for itself until this is dropped; what was made for it and is still empty
/// goes then.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    made: Vec<PathBuf>,
    lock: Option<File>,
}

impl RunFolder {
    /// Takes the folder of a job, if it has one, before any work is done.
    ///
    /// # Errors
    /// A folder that holds files, none of which are of a run, unless the job insists; one in which
    /// files cannot be written or would replace something else than a file, or an input of the job;
    /// one that another run is writing to.
    pub fn take(job: &Job) -> Result<Option<Self>> {
        let Some(folder) = job.out.as_deref() else { return Ok(None) };
        let (place, inputs) = (job.place("out"), job.inputs());
        let existing = files::existing(folder);
        if existing.metadata().is_ok_and(|there| !there.is_dir()) {
            let found = existing.display();
            return Err(job.refusal("out", format!("expected a folder, and {found} is none")));
        }
        files::check_folder(folder)?;
        for name in SETS.concat().into_iter().chain([manifest::NAME, LOCK]) {
            let file = folder.join(name);
            files::check_kind(&file)?;
            // A schema that was read is written as it was.
            if name != "schema.json" {
                files::check_input(&file, &inputs, &place)?;
            }
        }
        if !job.force {
            check_owner(job, folder)?;
        }
        let made = files::make_folder(folder).map_err(|e| Failure::write(folder, &e))?;
        let mut taken = RunFolder { folder: folder.to_owned(), made, lock: None };
        taken.lock = lock(&folder.join(LOCK)).map_err(|why| match why {
            Locked::Other(process) => job.refusal(
                "out",
                format!(
                    "another run of gdro{process} is writing to {}: wait for it, or give another \
                     folder",
                    folder.display()
                ),
            ),
            Locked::Failed(error) => Failure::write(folder, &error),
        })?;
        if taken.lock.is_some() {
            remove_unfinished(folder);
        }
        Ok(Some(taken))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // Before it is unlocked: whoever waits for it sees that it has gone.
        if self.lock.is_some() {
            let _ = fs::remove_file(self.folder.join(LOCK));
        }
        files::remove_empty(&self.made);
    }
}

/// Refuses a folder with files of somebody else.
fn check_owner(job: &Job, folder: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into()));
    // What a run that was killed leaves behind.
    let mut names: Vec<String> = names.filter(|name: &String| !is_left_behind(name)).collect();
    if names.is_empty() || is_a_run(folder) {
        return Ok(());
    }
    names.sort();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let why = format!(
        "{} is no run of gdro, it holds {}{more}: give a new folder, or {} to write into this one",
        folder.display(),
        names.join(", "),
        job.place("force")
    );
    Err(job.refusal("out", why))
}

/// Whether a file is of a run that has not ended well: its lock, a checkpoint, or one in the making.
fn is_left_behind(name: &str) -> bool {
    let in_the_making = name.starts_with('.') && name.ends_with(".tmp");
    // What tries whether a folder can be written, where there are no files without a name.
    let is_trial = name.starts_with(".tmp");
    name == LOCK || name.starts_with("checkpoint.") || in_the_making || is_trial
}

/// Removes what runs that were killed were about to put into its place.
fn remove_unfinished(folder: &Path) {
    let names = SETS.concat().into_iter().chain([manifest::NAME, "checkpoint"]);
    let starts: Vec<String> = names.map(|name| format!(".{name}.")).collect();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".tmp") && starts.iter().any(|start| name.starts_with(start)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Why a lock was not got.
enum Locked {
    /// Another process has it: its number, in words.
    Other(String),
    /// The system would not make it.
    Failed(io::Error),
}

/// Locks a file, which is made when it is missing. `None` where the file system knows no locks. The
/// lock of a process that has died is no lock.
fn lock(path: &Path) -> std::result::Result<Option<File>, Locked> {
    let mut options = File::options();
    options.read(true).write(true);
    loop {
        let made = options.clone().create_new(true).open(path);
        let mut file = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match options.open(path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    opened => opened.map_err(Locked::Failed)?,
                }
            }
            made => made.map_err(Locked::Failed)?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut process = String::new();
                let _ = file.take(20).read_to_string(&mut process);
                let process = process.trim();
                let known = !process.is_empty() && process.bytes().all(|b| b.is_ascii_digit());
                let process = known.then(|| format!(" (process {process})"));
                return Err(Locked::Other(process.unwrap_or_default()));
            }
            Err(TryLockError::Error(_)) => return Ok(None),
        }
        // Its last holder may have removed it meanwhile.
        if !files::is_at(&file, path) {
            continue;
        }
        let _ = file.set_len(0).and_then(|()| file.rewind());
        let _ = write!(file, "{}", std::process::id());
        return Ok(Some(file));
    }
}

/// Writes the files of a run as [`files::write_all`] does: those in `folder` with the list that binds
/// them, and what the last run left there and this one has not goes. Other files may lie anywhere.
///
/// # Errors
/// What cannot be written; what was cut short, where it would replace what a run ended with: then
/// nothing is written.
pub fn write<T: AsRef<[u8]>>(
    folder: Option<&Path>,
    written: &[(PathBuf, T)],
    is_cut: bool,
) -> Result<()> {
    let Some(folder) = folder else { return files::write_all(written) };
    let name = |path: &Path| Some(path.strip_prefix(folder).ok()?.to_str()?.to_owned());
    let mut listed = BTreeMap::new();
    for (path, content) in written {
        if let Some(name) = name(path).filter(|name| SETS.concat().contains(&name.as_str())) {
            let entry = Entry::of(content.as_ref()).map_err(|e| Failure::write(path, &e))?;
            listed.insert(name, entry);
        }
    }
    let sets = SETS.iter().filter(|set| set.iter().any(|name| listed.contains_key(*name)));
    if is_cut && sets.clone().any(|set| holds_ended(folder, set)) {
        let folder = folder.display();
        return Err(Failure::Machine(format!(
            "interrupted: {folder} keeps what it holds, of a run that had ended"
        )));
    }
    let mine: Vec<&str> = sets.copied().flatten().copied().collect();
    let earlier = Manifest::load(folder).ok().flatten();
    let is_old = earlier.is_none() && is_a_run(folder);
    let earlier = earlier.map(|manifest| manifest.files).unwrap_or_default();
    let is_stale =
        |name: &&str| (is_old || earlier.contains_key(*name)) && !listed.contains_key(*name);
    let stale: Vec<&str> = mine.iter().copied().filter(is_stale).collect();
    listed.extend(earlier.into_iter().filter(|(name, _)| !mine.contains(&name.as_str())));
    let mut manifest = serde_json::to_string_pretty(&Manifest::new(listed))
        .map_err(|e| Failure::Machine(format!("cannot write {}: {e}", manifest::NAME)))?;
    manifest.push('\n');
    // First in its place: whatever happens before the others are in theirs, they do not pass for one
    // run.
    let manifest = (folder.join(manifest::NAME), manifest.as_bytes());
    let others = written.iter().map(|(path, content)| (path.clone(), content.as_ref()));
    files::replace_all(&std::iter::once(manifest).chain(others).collect::<Vec<_>>())?;
    for name in stale {
        let _ = fs::remove_file(folder.join(name));
    }
    Ok(())
}
