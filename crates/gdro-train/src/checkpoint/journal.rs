//! The journal of a run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::decode::decode;
use super::encode::encode;
use super::file::{self, Content};
use super::inputs::{self, Input};
use super::record::Record;
use crate::failure::{Failure, Result};
use crate::files;
use crate::options::Front;

/// The file of a checkpoint in the folder of its run.
pub const NAME: &str = "checkpoint.safetensors";

/// The time to the first checkpoint, at most: a run that is killed early goes on, too.
const FIRST: Duration = Duration::from_secs(5);

/// Time between checkpoints where nothing else is asked for.
const USUAL: Duration = Duration::from_secs(60);

/// Unless an interval is given, writing takes at most this share of the time.
const SHARE: f64 = 0.005;

/// What a run has done so far: the results of its finished stages, and where the one that is under way
/// stands, each by its name. Kept in a file from time to time, so that the run can go on when it was cut
/// off. [`Checkpoint::default`] keeps nothing.
///
/// Copies are the same journal, perhaps for a part of the work ([`Checkpoint::within`]).
#[derive(Clone, Default)]
pub struct Checkpoint {
    shared: Option<Arc<Shared>>,
    /// What names of stages start with.
    place: String,
}

struct Shared {
    path: PathBuf,
    record: Record,
    front: Front,
    journal: Mutex<Journal>,
}

struct Journal {
    stages: BTreeMap<String, Vec<u8>>,
    inputs: Vec<Input>,
    /// When the file is due.
    due: Instant,
    is_frozen: bool,
    /// When it was last written.
    written: Option<SystemTime>,
    /// Why it could not be.
    problem: Option<String>,
}

impl Checkpoint {
    /// The journal of a run that writes into this folder; nothing is kept of a run whose inputs can be
    /// read only once. With `resume` it goes on from the checkpoint in the folder, if there is one.
    ///
    /// # Errors
    /// With `resume`, for a checkpoint that is damaged, of another job, or of other inputs.
    pub fn open(folder: &Path, record: Record, front: Front, resume: bool) -> Result<Self> {
        let path = folder.join(NAME);
        let Some(inputs) = inputs::of_job(&record.job) else {
            return match resume {
                true => Err(Failure::input(
                    "--resume: the table can be read only once, so that no checkpoint is kept of it",
                )),
                false => Ok(Checkpoint::default()),
            };
        };
        Self::start(path, record, inputs, front, resume)
    }

    /// The journal in a file of its own, of a run on rows in memory ([`Record::rows`]). It goes on from
    /// the file, where it is there.
    ///
    /// # Errors
    /// For a checkpoint that is damaged, of another job, or of other rows.
    pub fn open_file(path: &Path, record: Record, front: Front) -> Result<Self> {
        Self::start(path.to_owned(), record, Vec::new(), front, true)
    }

    fn start(
        path: PathBuf,
        record: Record,
        mut inputs: Vec<Input>,
        front: Front,
        resume: bool,
    ) -> Result<Self> {
        let mut stages = BTreeMap::new();
        if resume {
            remove_leftovers(&path);
            if path.exists() {
                let before = file::read(&path)?;
                check(&path, &before, &record, &mut inputs, front)?;
                stages = before.stages;
            }
        }
        let journal = Journal {
            stages,
            inputs,
            due: Instant::now() + FIRST.min(every(&record)),
            is_frozen: record.every == Some(0.0),
            written: None,
            problem: None,
        };
        let shared = Shared { path, record, front, journal: Mutex::new(journal) };
        Ok(Checkpoint { shared: Some(Arc::new(shared)), place: String::new() })
    }

    /// The run of the checkpoint in a folder.
    ///
    /// # Errors
    /// Where there is none, or it is damaged.
    pub fn record(folder: &Path) -> Result<Record> {
        let path = folder.join(NAME);
        if !path.exists() {
            let (folder, finished) = (folder.display(), folder.join("model.json").is_file());
            let why = match finished {
                true => ": the run was finished: to train anew, run gdro fit again, with --force",
                false => ": run gdro fit again, with the table, its options and --out",
            };
            return Err(Failure::input(format!("{folder}: no {NAME} to go on from{why}")));
        }
        Ok(file::read(&path)?.record)
    }

    /// The file of an earlier run that this one does not go on with and will replace.
    pub fn replaces(&self) -> Option<PathBuf> {
        let (shared, journal) = self.lock()?;
        let is_new = journal.stages.is_empty() && journal.written.is_none();
        (is_new && shared.path.exists()).then(|| shared.path.clone())
    }

    /// The journal of a part of the work.
    #[must_use]
    pub fn within(&self, part: &str) -> Self {
        Checkpoint { shared: self.shared.clone(), place: self.name(part) + "/" }
    }

    fn name(&self, stage: &str) -> String {
        format!("{}{stage}", self.place)
    }

    fn lock(&self) -> Option<(&Shared, MutexGuard<'_, Journal>)> {
        let shared = self.shared.as_deref()?;
        Some((shared, shared.journal.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Whether anything is kept.
    pub fn is_kept(&self) -> bool {
        self.lock().is_some_and(|(_, journal)| !journal.is_frozen)
    }

    /// Whether a file is due: for stages that take long, time to [`put`](Checkpoint::put) where they
    /// stand.
    pub fn is_due(&self) -> bool {
        self.lock().is_some_and(|(_, journal)| journal.is_due())
    }

    /// What is kept of a stage.
    ///
    /// # Errors
    /// When it is no such thing.
    pub fn get<T: DeserializeOwned>(&self, stage: &str) -> Result<Option<T>> {
        let Some((shared, journal)) = self.lock() else { return Ok(None) };
        let name = self.name(stage);
        let Some(bytes) = journal.stages.get(&name) else { return Ok(None) };
        decode(bytes).map(Some).map_err(|e| {
            let path = shared.path.display();
            Failure::input(format!("{path}: the checkpoint is damaged: stage {name}: {e}"))
        })
    }

    /// Keeps what a stage has come to, in the place of what is kept of it and of its parts, and writes the
    /// file when it is due. What cannot be written does not stop the run ([`Checkpoint::problem`]).
    pub fn put<T: Serialize + ?Sized>(&self, stage: &str, value: &T) {
        let Some((shared, mut journal)) = self.lock() else { return };
        if journal.is_frozen {
            return;
        }
        let name = self.name(stage);
        match encode(value) {
            Ok(bytes) => {
                let parts = format!("{name}/");
                journal.stages.retain(|stage, _| !stage.starts_with(&parts));
                journal.stages.insert(name, bytes);
            }
            Err(e) => journal.problem = Some(format!("stage {name}: {e}")),
        }
        if journal.is_due() {
            journal.write(shared);
        }
    }

    /// The result of a stage: the one that is kept, or else what `compute` gives, which is kept from now
    /// on.
    ///
    /// # Errors
    /// Those of `compute`, and when what is kept is no such thing.
    pub fn stage<T: Serialize + DeserializeOwned>(
        &self,
        stage: &str,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(kept) = self.get(stage)? {
            return Ok(kept);
        }
        let found = compute()?;
        self.put(stage, &found);
        Ok(found)
    }

    /// Writes the file and keeps nothing from now on: what follows is not what the whole run would do.
    pub fn freeze(&self) {
        if let Some((shared, mut journal)) = self.lock()
            && !journal.is_frozen
        {
            journal.write(shared);
            journal.is_frozen = true;
        }
    }

    /// Removes the file: the run has ended.
    pub fn remove(&self) {
        if let Some((shared, mut journal)) = self.lock() {
            journal.is_frozen = true;
            let _ = fs::remove_file(&shared.path);
            remove_leftovers(&shared.path);
        }
    }

    /// When the file was last written by this run.
    pub fn written(&self) -> Option<SystemTime> {
        self.lock()?.1.written
    }

    /// Takes out why the file could not be written.
    pub fn problem(&self) -> Option<String> {
        self.lock()?.1.problem.take()
    }

    /// How the run goes on later, in words; nothing where no file was written.
    pub fn advice(&self) -> Option<String> {
        let (shared, journal) = self.lock()?;
        journal.written?;
        let folder = shared.path.parent()?.display();
        (shared.front == Front::Program).then(|| format!("gdro resume {folder} goes on from here"))
    }
}

impl Journal {
    fn is_due(&self) -> bool {
        !self.is_frozen && Instant::now() >= self.due
    }

    fn write(&mut self, shared: &Shared) {
        let began = Instant::now();
        let written = self.inputs.iter_mut().try_for_each(Input::seal).and_then(|()| {
            let bytes = file::write(&shared.record, &self.inputs, &self.stages)?;
            files::write_one(&shared.path, bytes).map_err(|e| e.text(shared.front))
        });
        match written {
            Ok(()) => self.written = Some(SystemTime::now()),
            Err(problem) => self.problem = Some(problem),
        }
        let wait = match shared.record.every {
            Some(_) => every(&shared.record),
            None => USUAL.max(began.elapsed().div_f64(SHARE)),
        };
        self.due = Instant::now() + wait;
    }
}

/// The time between checkpoints of a run, at most a year.
fn every(record: &Record) -> Duration {
    record.every.map_or(USUAL, |seconds| Duration::from_secs_f64(seconds.min(3.2e7)))
}

/// Refuses a checkpoint that another run has left.
fn check(
    path: &Path,
    before: &Content,
    record: &Record,
    inputs: &mut [Input],
    front: Front,
) -> Result<()> {
    let differences = before.record.differences(record, front);
    if !differences.is_empty() {
        return Err(Failure::input(format!(
            "{}: the checkpoint is of another run: {}",
            path.display(),
            differences.join("; ")
        )));
    }
    if inputs.len() != before.inputs.len() {
        let (now, then) = (inputs.len(), before.inputs.len());
        return Err(Failure::input(format!(
            "{}: the run had {then} input files, and has {now}",
            path.display()
        )));
    }
    for (now, before) in inputs.iter_mut().zip(&before.inputs) {
        if now.file != before.file {
            let (now, then) = (now.file.display(), before.file.display());
            return Err(Failure::input(format!(
                "{}: the run read {then}, and reads {now}",
                path.display()
            )));
        }
        now.compare(before).map_err(|why| {
            Failure::input(format!("{why}: the checkpoint {} is of no use", path.display()))
        })?;
    }
    Ok(())
}

/// Removes temporary files that a killed run has left of its checkpoints.
fn remove_leftovers(path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(".tmp") {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Work;
    use super::*;
    use crate::job::{Fitting, Job};
    use crate::options::Settings;

    fn journal(path: &Path, every: f64) -> Result<Checkpoint> {
        let mut settings = Settings::of(Front::Program);
        settings.set("loss", "logistic");
        let job = Job::of_rows(settings)?;
        let record = Record { every: Some(every), ..Record::new(&job, Work::Fit(Fitting::Named)) };
        Checkpoint::open_file(path, record, Front::Program)
    }

    #[test]
    fn stages_are_kept_with_their_parts_until_they_are_done() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let first = journal(&path, 1e-9).unwrap();
        assert!(first.is_kept() && first.written().is_none());
        let part = first.within("b");
        part.put("inner", &f64::NAN);
        assert_eq!(part.stage("other", || Ok(vec![1_u64])).unwrap(), [1]);
        assert_eq!(part.stage("other", || Ok(vec![2_u64])).unwrap(), [1]);
        assert!(first.written().is_some() && first.problem().is_none());

        let second = journal(&path, 1e-9).unwrap();
        assert!(second.within("b").get::<f64>("inner").unwrap().unwrap().is_nan());
        assert!(second.within("b").get::<Vec<u64>>("inner").is_err(), "another type");
        second.put("b", &"done");
        assert_eq!(second.within("b").get::<f64>("inner").unwrap(), None);
        assert_eq!(second.get::<String>("b").unwrap().as_deref(), Some("done"));
        second.freeze();
        second.put("c", &1_u8);
        assert_eq!(second.get::<u8>("c").unwrap(), None);
        second.remove();
        assert!(!path.exists());
        // Nothing is kept, and nothing fails.
        let none = Checkpoint::default();
        none.put("a", &1_u8);
        assert_eq!(none.stage("a", || Ok(2_u8)).unwrap(), 2);
        assert!(!none.is_due() && !none.is_kept() && none.advice().is_none());
    }

    /// The state of a solver with a model of a million numbers, a few numbers for each, beside a plain write
    /// of as many bytes.
    #[test]
    #[ignore = "a measurement"]
    fn a_large_model_is_written_in_no_time() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(&folder.path().join("kept"), 1e-9).unwrap();
        let state = vec![vec![0.1_f64; 1_000_000]; 4];
        let least = |work: &dyn Fn()| {
            let measure = |_| {
                let began = Instant::now();
                work();
                began.elapsed().as_secs_f64()
            };
            (0..5).map(measure).fold(f64::INFINITY, f64::min)
        };
        let kept = least(&|| journal.put("rounds", &state));
        let plain = state.concat().iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let written = least(&|| {
            let mut file = std::fs::File::create(folder.path().join("plain")).unwrap();
            std::io::Write::write_all(&mut file, &plain).unwrap();
            file.sync_all().unwrap();
        });
        eprintln!("{kept:.3} s, a plain write {written:.3} s");
        assert!(kept < 20.0 * written, "{kept} s against {written} s");
    }
}
