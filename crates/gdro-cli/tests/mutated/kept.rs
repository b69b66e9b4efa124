//! Checkpoints of short runs that were stopped on their way, and what goes on from them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::Crc;
use gdro::exact::{Options, minimize_kept};
use gdro_train::checkpoint::{Checkpoint, NAME, Record, Work};
use gdro_train::fit::{fit, load};
use gdro_train::job::{Fitting, Job};
use gdro_train::options::{Front, Settings};
use gdro_train::prepared::setting_of;
use gdro_train::progress::{Event, Progress, Quiet};
use gdro_train::solve::solved;
use gdro_train::{Failure, stream};
use serde::{Deserialize, Serialize};

/// A run that was stopped.
pub struct Stopped {
    /// What solves it.
    pub name: &'static str,
    /// Its checkpoint.
    pub bytes: Vec<u8>,
    job: Job,
}

/// A run with this checkpoint that is stopped when so much has been played.
struct Short {
    stop: Arc<AtomicBool>,
    left: Cell<u64>,
    checkpoint: Checkpoint,
}

impl Short {
    fn new(checkpoint: Checkpoint, plays: u64) -> Self {
        Short { stop: Arc::default(), left: Cell::new(plays), checkpoint }
    }
}

impl Progress for Short {
    fn tell(&self, event: Event<'_>) {
        if let Event::Played(_) = event {
            self.left.set(self.left.get().saturating_sub(1));
            self.stop.store(self.left.get() == 0, Ordering::Relaxed);
        }
    }

    fn interrupts(&mut self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    fn gives_up(&self) -> Option<Arc<AtomicBool>> {
        None
    }

    fn checkpoint(&self) -> Checkpoint {
        self.checkpoint.clone()
    }
}

/// Jobs on a table.
fn jobs(table: &Path) -> Result<Vec<(&'static str, Job)>, Failure> {
    let rounds = [("solver", "smd-m"), ("rounds", "30000"), ("step-w", "1"), ("step-q", "1")];
    let suffix = [("solver", "online-1"), ("rounds", "30000"), ("average", "suffix")];
    let steps = [("step-w", "1"), ("step-q", "1")];
    let exact = [("solver", "exact"), ("objective", "max")];
    let stream = [("stream", ""), ("robust-only", ""), ("buffer", "16"), ("rounds", "3000")];
    [
        ("smd-m", rounds.to_vec()),
        ("online-1", [&suffix[..], &steps].concat()),
        ("exact", exact.to_vec()),
        ("exact of l1", [&exact[..], &[("domain", "l1:1")]].concat()),
        ("stream", [&stream[..], &steps].concat()),
    ]
    .into_iter()
    .map(|(name, own)| {
        let mut settings = Settings::of(Front::Program);
        for (key, text) in [("target", "y"), ("groups", "g")].into_iter().chain(own) {
            let texts = if text.is_empty() { vec![] } else { vec![text.to_owned()] };
            settings.set_typed(key, &texts)?;
        }
        Ok((name, Job::resolve(&[table.to_owned()], settings)?.0))
    })
    .collect()
}

fn record(job: &Job, every: f64) -> Record {
    Record { every: Some(every), ..Record::new(job, Work::Fit(Fitting::Named)) }
}

fn run(job: &Job, progress: &mut dyn Progress) -> Result<(), Failure> {
    match &job.streaming {
        Some(streaming) => stream::run(job, streaming, progress)?.tell(job).map(|_| ()),
        None => fit(job, progress).map(|_| ()),
    }
}

/// Runs on a table that were stopped, with a folder for them.
///
/// # Errors
/// None that are expected.
pub fn stopped(table: &Path, folder: &Path) -> Result<Vec<Stopped>, Failure> {
    let stop = |(name, job): (&'static str, Job)| {
        let checkpoint = Checkpoint::open(folder, record(&job, 1e-9), Front::Program, false)?;
        if name.starts_with("exact") {
            let (_, prepared) = load(&job, &mut Quiet::default())?;
            let setting = setting_of(&job, &prepared)?;
            let stage = solved(&checkpoint, "reference solver", |keeper| {
                let (data, loss) = (&setting.data, &setting.loss);
                let options = Options { iterations: 5, ..Options::default() };
                minimize_kept(data, loss, &setting.problem(), &options, keeper)
                    .map_err(|e| Failure::library(e, &[]))?;
                Err::<(), _>(Failure::Interrupted)
            });
            assert!(matches!(stage, Err(Failure::Interrupted)), "{name}");
        } else {
            run(&job, &mut Short::new(checkpoint.clone(), 3))?;
        }
        checkpoint.freeze();
        let path = folder.join(NAME);
        let bytes = std::fs::read(&path).map_err(|e| Failure::write(&path, &e))?;
        checkpoint.remove();
        Ok(Stopped { name, bytes, job })
    };
    jobs(table)?.into_iter().map(stop).collect()
}

/// Goes on from the checkpoint with these bytes, whichever of the runs it is of.
///
/// # Errors
/// Where it is of none of them, and what it is wrong with it.
pub fn resume(all: &[Stopped], folder: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let path = folder.join(NAME);
    std::fs::write(&path, sealed(bytes).as_deref().unwrap_or(bytes))
        .map_err(|e| Failure::write(&path, &e))?;
    let mut refused = Failure::input("no run");
    for Stopped { job, .. } in all {
        match Checkpoint::open(folder, record(job, 0.0), Front::Program, true) {
            // Whoever makes a checkpoint may make it long.
            Ok(checkpoint) => return run(job, &mut Short::new(checkpoint, 1000)),
            Err(why) => refused = why,
        }
    }
    Err(refused)
}

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(rename = "__metadata__")]
    metadata: BTreeMap<String, String>,
    #[serde(flatten)]
    tensors: BTreeMap<String, Tensor>,
}

#[derive(Serialize, Deserialize)]
struct Tensor {
    dtype: String,
    shape: [usize; 1],
    data_offsets: [usize; 2],
}

/// The file with the checksum that it should have, without which nothing else of it is looked at; `None`
/// for what is no safetensors file.
fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (text, data) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let mut header: Header = serde_json::from_slice(text).ok()?;
    header.metadata.remove("crc32");
    let mut crc = Crc::new();
    crc.update(serde_json::to_string(&header.metadata).ok()?.as_bytes());
    crc.update(serde_json::to_string(&header.tensors).ok()?.as_bytes());
    crc.update(data);
    header.metadata.insert("crc32".into(), format!("{:08x}", crc.sum()));
    let text = serde_json::to_string(&header).ok()?;
    Some([&(text.len() as u64).to_le_bytes(), text.as_bytes(), data].concat())
}
