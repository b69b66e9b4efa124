//! What reads files of strangers, each as a function of the bytes of a file. Whatever the bytes are, it
//! returns: a panic, an abort and a hang are faults. The tests beside it and the targets of cargo-fuzz
//! (`fuzz/`) call the same functions.

#[path = "kept.rs"]
mod kept;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use gdro_data::DataOptions;
use gdro_train::evaluate::{Caps, evaluate};
use gdro_train::fit::fit;
use gdro_train::job::Job;
use gdro_train::model::Model;
use gdro_train::options::Settings;
use gdro_train::predict::predict;
use gdro_train::progress::Quiet;
use gdro_train::{Failure, certify, stream};

/// The rows that models and schemas of the corpus are about.
const TABLE: &str = include_str!("../../../../fuzz/corpus/table/people.csv");

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A table of any format.
    Table,
    /// A `model.json`.
    Model,
    /// A `schema.json` of a stream.
    Schema,
    /// A job file.
    Job,
    /// A `manifest.json` beside a model.
    Manifest,
    /// A checkpoint of a run that was stopped.
    Checkpoint,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 6] =
        [Kind::Table, Kind::Model, Kind::Schema, Kind::Job, Kind::Manifest, Kind::Checkpoint];

    /// Its folder in the corpus; checkpoints, which are of one version and one machine, are made.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Table => "table",
            Kind::Model => "model",
            Kind::Schema => "schema",
            Kind::Job => "job",
            Kind::Manifest => "manifest",
            Kind::Checkpoint => "checkpoint",
        }
    }
}

/// A folder in which files are put that a target reads.
pub struct Place {
    folder: tempfile::TempDir,
    /// Runs on its table that were stopped.
    stopped: OnceCell<Vec<kept::Stopped>>,
}

impl Place {
    /// An empty one, but for a table.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("people.csv"), TABLE).expect("a table");
        Place { folder, stopped: OnceCell::new() }
    }

    fn table(&self) -> PathBuf {
        self.folder.path().join("people.csv")
    }

    fn stopped(&self) -> &[kept::Stopped] {
        let stop = || kept::stopped(&self.table(), self.folder.path());
        self.stopped.get_or_init(|| stop().expect("checkpoints"))
    }

    /// Checkpoints of runs on its table, by name.
    pub fn checkpoints(&self) -> Vec<(String, Vec<u8>)> {
        self.stopped().iter().map(|run| (run.name.to_owned(), run.bytes.clone())).collect()
    }

    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).expect("room for a file");
        path
    }

    /// Reads a file of a kind with these bytes, and does with it what commands do. Whether they took it.
    pub fn read(&self, kind: Kind, bytes: &[u8]) -> bool {
        let done = match kind {
            Kind::Table => self.read_table(bytes),
            Kind::Model => self.use_model(&self.put("model.json", bytes)),
            Kind::Schema => self.read_schema(bytes),
            Kind::Job => self.read_job(bytes),
            Kind::Manifest => {
                self.put("run.json", b"{}");
                let read = self.put("manifest.json", bytes);
                let done = gdro_train::manifest::read(&self.folder.path().join("run.json"), "file");
                std::fs::remove_file(read).expect("a file that was written");
                done.map(|_| ())
            }
            Kind::Checkpoint => kept::resume(self.stopped(), self.folder.path(), bytes),
        };
        match done {
            Ok(()) => true,
            Err(failure) => {
                assert!(!failure.to_string().is_empty());
                false
            }
        }
    }

    /// The table as `gdro fit` takes it, with a few rounds, and as `gdro inspect` does.
    fn read_table(&self, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.put("t", bytes);
        let is_sparse = bytes.first().is_some_and(|b| b.is_ascii_digit() || b"+-".contains(b));
        let mut settings = Settings::default();
        let common = [("solver", "smd-m"), ("rounds", "3"), ("step-w", "1"), ("step-q", "1")];
        let table = match is_sparse {
            true => [("format", "svmlight"), ("holdout", "0")],
            false => [("target", "y"), ("groups", "g")],
        };
        for (key, text) in common.into_iter().chain(table) {
            settings.set_typed(key, &[text.to_owned()])?;
        }
        let (job, _) = Job::resolve(&[path], settings)?;
        let refuse = |e| job.refuse(&e);
        let table = gdro_data::read(&job.tables, &job.data).map_err(refuse)?;
        gdro_data::inspect(&table, &job.data, None).map_err(refuse)?;
        fit(&job, &mut Quiet::default()).map(|_| ())
    }

    /// A model as every command takes it.
    fn use_model(&self, path: &Path) -> Result<(), Failure> {
        let model = Model::load(path)?;
        gdro_report::model(&model, true);
        let tables = [self.table()];
        let options = DataOptions { group_file: Vec::new(), ..model.job.data.clone() };
        // What does not go with this table is refused, each time in its own way.
        predict(&model, &tables, &options, true).ok();
        let evaluated = evaluate(&model, &tables, &options, 0.05, Caps::default());
        if let Ok(evaluated) = &evaluated {
            gdro_report::evaluation(evaluated, true);
            gdro_report::page::of_evaluation(&model, &tables, evaluated)?;
        }
        if let Ok(certified) = certify::certify(&model, &tables, &options) {
            gdro_report::certified(&model, &certified);
        }
        model.onnx().ok();
        model.text().map(|_| ())
    }

    /// A schema as a stream takes it.
    fn read_schema(&self, bytes: &[u8]) -> Result<(), Failure> {
        let schema = self.put("schema.json", bytes);
        let mut settings = Settings::default();
        let schema = schema.to_string_lossy().into_owned();
        for (key, text) in [
            ("target", "y"),
            ("groups", "g"),
            ("rounds", "3"),
            ("step-w", "1"),
            ("step-q", "1"),
            ("buffer", "16"),
            ("schema", &schema),
        ] {
            settings.set_typed(key, &[text.to_owned()])?;
        }
        settings.set_typed("stream", &[])?;
        settings.set_typed("robust-only", &[])?;
        let (job, _) = Job::resolve(&[self.table()], settings)?;
        let Some(streaming) = &job.streaming else { return Ok(()) };
        stream::run(&job, streaming, &mut Quiet::default())?.tell(&job).map(|_| ())
    }

    /// A job file, up to the work.
    fn read_job(&self, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.put("job.toml", bytes);
        let chosen = Job::resolve_choice(std::slice::from_ref(&path), Settings::default());
        let fitted = Job::resolve(&[path], Settings::default());
        chosen.map(|_| ()).or(fitted.map(|_| ()))
    }
}
