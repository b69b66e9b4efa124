//! Signals that ask the program to stop.
#![cfg(unix)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{self, Folder, number};

/// A run that would take days, once its rounds have begun.
fn endless(folder: &Folder) -> Child {
    let mut command = folder.command(
        "fit t.csv --target y --groups g --solver smd-m --rounds 1e12 --step-w 1e6 --step-q 1e6 --out out",
    );
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    child
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").arg(name).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    for name in ["-INT", "-TERM", "-HUP"] {
        interrupted_by(name);
    }
}

fn interrupted_by(name: &str) {
    let folder = Folder::people();
    let child = endless(&folder);
    let start = Instant::now();
    signal(&child, name);
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(output.status.code(), Some(3), "{}", common::stderr(&output));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("interrupted after "), "{shown}");
    assert!(shown.contains("of 1,000,000,000,000 rounds"), "{shown}");

    let summary = folder.json("out/summary.json");
    assert_eq!(summary["ended"], "interrupted");
    let rounds = number(&summary["rounds"]);
    assert!((1.0..1e12).contains(&rounds));
    assert_eq!(folder.json("out/model.json")["format"], 2);
    // The curve ends where the model does.
    let trace = folder.read("out/trace.jsonl");
    let last: serde_json::Value = serde_json::from_str(trace.lines().last().unwrap()).unwrap();
    assert_eq!(number(&last["round"]), rounds);
    assert_eq!(last["max_risk"], summary["max_risk"]);
    let files: Vec<_> = folder.list().into_iter().filter(|f| f.starts_with("out/")).collect();
    let checkpoint = "out/checkpoint.safetensors";
    assert_eq!(files, [checkpoint, "out/model.json", "out/summary.json", "out/trace.jsonl"]);
}

/// What nohup starts has no terminal to lose.
#[test]
fn a_run_that_ignores_hangups_goes_on() {
    let folder = Folder::people();
    let mut command = Command::new("nohup");
    let fit = "fit t.csv --target y --groups g --solver smd-m --rounds 1e12 --step-w 1 --step-q 1";
    command.arg(env!("CARGO_BIN_EXE_gdro")).args(fit.split(' ')).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_second_time_ends_the_program_at_once() {
    let folder = Folder::people();
    let child = endless(&folder);
    // Stopped as a whole, so that both signals have come when it goes on.
    for name in ["-STOP", "-INT"] {
        signal(&child, name);
    }
    signal(&child, "-CONT");
    std::thread::sleep(Duration::from_millis(1));
    let _ = Command::new("kill").arg("-INT").arg(child.id().to_string()).status();
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(3 | 130)), "{:?}", output.status);
    assert!(folder.list().iter().all(|name| !name.ends_with(".tmp")), "{:?}", folder.list());
}

/// A search whose models take a while each.
fn search(folder: &Folder, rounds: &str) -> Child {
    let mut command = folder.command(&format!(
        "select t.csv --target y --groups g --group-features drop --solver smd-m --rounds {rounds} --step-w 1 --step-q 1 \
         --objectives max --l2 1,0.1 --folds 40 --out out"
    ));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Whatever rows judge, the largest risk is least where nothing is predicted: two groups want slopes of
/// opposite signs, and the small one has a larger risk under ERM.
fn opposite() -> Folder {
    let row = |i: usize| {
        let x = if i.is_multiple_of(2) { 3.0 } else { -3.0 } + 0.001 * (i % 7) as f64;
        let (y, group) = if i.is_multiple_of(3) { (-x, "b") } else { (x, "a") };
        format!("{x},{group},{y}\n")
    };
    Folder::with("x,g,y\n".to_owned() + &(0..120).map(row).collect::<String>())
}

#[test]
fn an_interrupted_search_chooses_by_the_folds_that_are_complete() {
    let folder = opposite();
    let child = search(&folder, "6e5");
    // Long enough for some folds and too short for all of them, which take a hundred runs.
    std::thread::sleep(Duration::from_millis(1500));
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", common::stderr(&output));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("interrupted: chosen "), "{shown}");
    let selection = folder.json("out/selection.json");
    assert_eq!(selection["interrupted"], true);
    let folds = number(&selection["folds"]);
    assert!((1.0..40.0).contains(&folds), "{folds}");
    assert_eq!(number(&selection["folds_planned"]), 40.0);
    // The chosen model itself is complete.
    assert_eq!(number(&folder.json("out/summary.json")["rounds"]), 6e5);
}

#[test]
fn a_search_without_a_complete_value_leaves_its_checkpoint() {
    let folder = Folder::people();
    let child = search(&folder, "1e12");
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = common::stderr(&output);
    assert!(said.contains("nothing was chosen"), "{said}");
    assert_eq!(folder.list(), ["out", "out/checkpoint.safetensors", "t.csv"]);
}

#[test]
fn a_killed_run_leaves_nothing() {
    let folder = Folder::people();
    let child = endless(&folder);
    signal(&child, "-KILL");
    child.wait_with_output().unwrap();
    assert_eq!(folder.list(), ["t.csv"]);
}
