//! Small tables for tests.
#![allow(dead_code, reason = "each test binary uses some of these")]

use std::path::PathBuf;

use gdro_data::{DataOptions, Prepared, Result, Split, Table, Task, prepare, read};

/// A folder with files.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

/// Options from JSON.
pub fn options(json: &str) -> DataOptions {
    serde_json::from_str(json).unwrap()
}

/// Reads one file `t.csv`.
pub fn table(content: impl AsRef<[u8]>, options: &DataOptions) -> Result<Table> {
    read(&[Folder::new().file("t.csv", content)], options)
}

/// Reads and prepares one file with a constant and without a split.
pub fn prepared(
    content: impl AsRef<[u8]>,
    options: &DataOptions,
    task: Option<Task>,
) -> Result<Prepared> {
    prepare(&table(content, options)?, options, task, &Split::None, true)
}

/// The message of an error without the folder of the file; one line.
pub fn message<T>(result: Result<T>) -> String {
    let message = match result {
        Ok(_) => panic!("expected an error"),
        Err(error) => error.to_string(),
    };
    assert!(!message.contains('\n'), "{message}");
    match (message.find("/"), message.find("t.csv")) {
        (Some(from), Some(to)) if from < to => message[..from].to_owned() + &message[to..],
        _ => message,
    }
}
