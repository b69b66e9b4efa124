//! Instructions per round, counted by callgrind, beside those on record.
//!
//! `cargo bench -p gdro --bench instructions` compares with `benches/instructions.txt` and fails
//! where a round needs over 5 % more than there; with `-- --write` it writes that file anew.
//! Counts do not depend on load, but somewhat on compiler, C library and processor.

mod adult;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use adult::Run;

/// Rounds of a count: enough for the largest of one-off costs to cancel in the difference of two.
const ROUNDS: u64 = 20_000;

/// By how much a count may exceed the one on record.
const TOLERANCE: f64 = 0.05;

/// Where the counts are on record.
fn record() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.txt")
}

/// Instructions of a run of so many rounds, by this program under callgrind.
fn count(name: &str, rounds: u64) -> Result<f64, String> {
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .args(["play", name, &rounds.to_string()])
        .output()
        .map_err(|e| format!("valgrind: {e}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find_map(|line| line.split_once("Collected :")).map(|(_, n)| n.trim());
    let number = line.and_then(|n| n.parse().ok());
    number.ok_or_else(|| format!("no count in what valgrind says:\n{text}"))
}

/// Instructions per round of every run, as lines of name and number.
fn counts() -> Result<String, String> {
    let mut lines = String::new();
    for run in Run::ALL {
        let (short, long) = (count(run.name, ROUNDS)?, count(run.name, 2 * ROUNDS)?);
        let _ = writeln!(lines, "{} {:.0}", run.name, (long - short) / ROUNDS as f64);
    }
    Ok(lines)
}

/// Compares counts with those on record; whether none is too large.
fn compare(found: &str, recorded: &str) -> bool {
    let parse = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        Some((name.to_owned(), count.parse::<f64>().ok()?))
    };
    let recorded: Vec<_> = recorded.lines().filter_map(parse).collect();
    let mut good = true;
    for (name, count) in found.lines().filter_map(parse) {
        match recorded.iter().find(|(other, _)| *other == name) {
            None => {
                println!("{name:24} {count:8} instructions per round, none on record");
                good = false;
            }
            Some((_, before)) => {
                let change = count / before - 1.0;
                let verdict = if change > TOLERANCE { "  too many" } else { "" };
                println!("{name:24} {count:8} {before:8} {:+.1} %{verdict}", 100.0 * change);
                good &= change <= TOLERANCE;
            }
        }
    }
    good
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, name, rounds] = &arguments[..]
        && command == "play"
    {
        let run = Run::ALL.iter().find(|run| run.name == name).expect("a name of a run");
        let rounds = rounds.parse().expect("a number of rounds");
        run.solver(&adult::rows(1)).advance(rounds).expect("finite losses");
        return ExitCode::SUCCESS;
    }
    if let Err(error) = Command::new("valgrind").arg("--version").output() {
        println!("instructions are not counted: valgrind: {error}");
        return ExitCode::SUCCESS;
    }
    match counts() {
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
        Ok(found) if arguments.iter().any(|a| a == "--write") => {
            print!("{found}");
            std::fs::write(record(), found).expect("a place for the counts");
            ExitCode::SUCCESS
        }
        Ok(found) => {
            let recorded = std::fs::read_to_string(record()).unwrap_or_default();
            if compare(&found, &recorded) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}
