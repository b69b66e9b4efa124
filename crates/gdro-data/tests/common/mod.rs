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

#[cfg(feature = "arrow")]
pub mod formats;
pub mod sets;

/// Reads one file `t.csv`. The same rows in every other format must give the same.
pub fn table(content: impl AsRef<[u8]>, options: &DataOptions) -> Result<Table> {
    let found = read(&[Folder::new().file("t.csv", &content)], options);
    #[cfg(feature = "arrow")]
    in_other_formats(content.as_ref(), options, &found);
    found
}

#[cfg(feature = "arrow")]
fn in_other_formats(content: &[u8], options: &DataOptions, expected: &Result<Table>) {
    let delimited =
        options.delimiter.is_some() || options.comment.is_some() || options.columns.is_some();
    let text = std::str::from_utf8(content).ok().filter(|_| !delimited);
    let Some(rows) = text.and_then(formats::typed) else { return };
    // What is wrong with a text as such is wrong with no other format.
    if expected.as_ref().is_err_and(|e| !e.to_string().contains("column `")) {
        return;
    }
    for (ending, content) in formats::of_rows(&rows) {
        let found = read(&[Folder::new().file(&format!("t.{ending}"), content)], options);
        match (expected, &found) {
            (Ok(one), Ok(other)) => same(one, other),
            (Err(one), Err(other)) => {
                // The position is of another kind.
                let (one, other) = (one.to_string(), other.to_string());
                let tail = |text: &str| text.find("column `").map(|at| text[at..].to_owned());
                assert_eq!(tail(&one), tail(&other), "{ending}");
            }
            _ => panic!("{ending}: {expected:?} {found:?}"),
        }
    }
}

/// Checks that tables hold the same.
pub fn same(one: &Table, other: &Table) {
    assert_eq!((one.names(), one.rows()), (other.names(), other.rows()));
    for name in one.names() {
        let (a, b) = (one.column(name).unwrap(), other.column(name).unwrap());
        assert_eq!(a.kind(), b.kind(), "{name}");
        for row in 0..one.rows() {
            assert_eq!(a.number(row).map(f64::to_bits), b.number(row).map(f64::to_bits), "{name}");
            assert_eq!(a.text(row), b.text(row), "{name} {row}");
        }
    }
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
        Err(error) => error.text(ToString::to_string),
    };
    assert!(!message.contains('\n'), "{message}");
    match (message.find("/"), message.find("t.csv")) {
        (Some(from), Some(to)) if from < to => message[..from].to_owned() + &message[to..],
        _ => message,
    }
}
