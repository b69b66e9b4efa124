//! The program at work on small tables.
#![allow(dead_code, reason = "each test binary uses some of these")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder with files, in which the program runs.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    /// A folder with the table `t.csv`.
    pub fn with(table: impl AsRef<[u8]>) -> Self {
        let folder = Folder::new();
        folder.file("t.csv", table);
        folder
    }

    /// A folder with [`people`] as `t.csv`.
    pub fn people() -> Self {
        Folder::with(people(60))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Puts another content into a file of a run, which then is none of it: its list goes.
    pub fn edit(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.file(name, content);
        let _ = std::fs::remove_file(path.with_file_name("manifest.json"));
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Names of everything in the folder and below, sorted.
    pub fn list(&self) -> Vec<String> {
        let (mut found, mut open) = (Vec::new(), vec![self.path().to_owned()]);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.push(path.strip_prefix(self.path()).unwrap().display().to_string());
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }

    /// `gdro`, or the program that `GDRO_PROGRAM` names, with arguments that are separated by blanks, in this folder.
    pub fn command(&self, arguments: &str) -> Command {
        let built = env!("CARGO_BIN_EXE_gdro");
        let mut command = Command::new(std::env::var_os("GDRO_PROGRAM").unwrap_or(built.into()));
        command.args(arguments.split_whitespace()).current_dir(self.path());
        command.env_remove("COLUMNS");
        command
    }

    pub fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must work, and gives what it printed.
    pub fn prints(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The summary that `gdro fit ARGUMENTS --json` prints.
    pub fn summary(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.prints(&format!("fit {arguments} --json"))).unwrap()
    }

    /// Runs a command that must be refused as bad input, and gives the message.
    pub fn refused(&self, arguments: &str) -> String {
        self.fails(arguments, 2)
    }

    /// Runs a command that must fail with this code and one line, and leave nothing.
    pub fn fails(&self, arguments: &str, code: i32) -> String {
        let before = self.list();
        let output = self.run(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
        assert!(output.stdout.is_empty(), "{arguments}");
        // What was decided about a table may be shown before the error.
        let last = said.lines().last().unwrap_or_default().to_owned();
        assert!(last.starts_with("error: "), "{arguments}: {said}");
        assert_eq!(said.matches("error: ").count(), 1, "{arguments}: {said}");
        assert!(!said.contains("panicked"), "{arguments}: {said}");
        assert_eq!(self.list(), before, "{arguments}");
        last["error: ".len()..].to_owned()
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A table with two numbers, two groups of which `b` is smaller, and two labels.
pub fn people(rows: usize) -> String {
    let mut text = "x,z,g,y\n".to_owned();
    for i in 0..rows {
        let (x, z) = ((i * 37 % 23) as f64 - 11.0, (i * 29 % 17) as f64);
        let b = i % 3 == 2;
        let up = if b { z > 8.0 } else { x > 0.0 } != (i % 7 == 0);
        text +=
            &format!("{x},{z},{},{}\n", if b { "b" } else { "a" }, if up { "yes" } else { "no" });
    }
    text
}

/// Arguments of a short run on [`people`].
pub const FIT: &str = "fit t.csv --target y --groups g --solver smd-m --rounds 300";

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Names of the fields of an object.
pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}
