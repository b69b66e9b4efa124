//! Signals that ask the program to stop.
#![cfg(unix)]

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gdro_train::fit::fit;
use gdro_train::job::Job;
use gdro_train::options::{Front, Settings};
use gdro_train::progress::{Event, Progress};
use gdro_train::{Failure, stream};

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
    let expected =
        ["checkpoint.safetensors", "manifest.json", "model.json", "summary.json", "trace.jsonl"];
    assert_eq!(files, expected.map(|name| format!("out/{name}")));
}

/// A model of a run that had ended stays until the next one has: whatever that one is interrupted in.
#[test]
fn an_interrupted_run_replaces_nothing_that_had_ended() {
    let folder = Folder::people();
    folder.prints("fit t.csv --target y --groups g --solver exact --out out");
    let before = folder.read("out/model.json");
    let child = endless(&folder);
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    let said = common::stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("out keeps what it holds, of a run that had ended"), "{said}");
    assert!(said.contains("gdro resume out goes on"), "{said}");
    assert!(output.stdout.is_empty());
    assert_eq!(folder.read("out/model.json"), before);
    assert_eq!(common::stderr(&folder.run("predict out t.csv --strict")), "");
}

/// The same of a stream, in the pass that certifies: it has a model by then, and no certificate.
#[test]
fn a_stream_that_is_cut_off_in_its_last_pass_has_not_ended() {
    let folder = Folder::with(common::people(200_000));
    let arguments = "fit t.csv --target y --groups g --stream --objective max --l2 1e-3 --out out \
                     --checkpoint-every 0.01";
    let stopped = || {
        let mut command = folder.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let checkpoint = folder.path().join("out/checkpoint.safetensors");
        let is_certifying = || {
            let bytes = std::fs::read(&checkpoint).unwrap_or_default();
            bytes.windows(9).any(|part| part == b"last pass")
        };
        while !is_certifying() {
            assert!(child.try_wait().unwrap().is_none(), "the last pass was not seen");
            std::thread::sleep(Duration::from_millis(2));
        }
        signal(&child, "-TERM");
        child.wait_with_output().unwrap()
    };
    let output = stopped();
    assert_eq!(output.status.code(), Some(3), "{}", common::stderr(&output));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("certificate: none, since the run was interrupted"), "{shown}");
    assert_eq!(folder.json("out/summary.json")["ended"], "interrupted");
    let said = common::stderr(&folder.run("predict out t.csv"));
    assert!(said.contains("note: this model is of a run that was interrupted"), "{said}");

    folder.prints("resume out --quiet");
    let summary = folder.json("out/summary.json");
    assert_eq!(summary["ended"], "finished");
    assert!(summary["certificate"]["gap"].is_number());
    let before = folder.read("out/model.json");
    let output = stopped();
    assert_eq!(output.status.code(), Some(130), "{}", common::stderr(&output));
    assert_eq!(folder.read("out/model.json"), before);
    assert_eq!(folder.json("out/summary.json"), summary);
}

/// A run that is interrupted as soon as it prepares its rounds.
#[derive(Default)]
struct Early {
    stop: Arc<AtomicBool>,
}

impl Progress for Early {
    fn tell(&self, event: Event<'_>) {
        if let Event::Stage("preparing the game" | "first rows") = event {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn interrupts(&mut self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    fn gives_up(&self) -> Option<Arc<AtomicBool>> {
        None
    }
}

/// Before the first round there is no model, and none to be written.
#[test]
fn nothing_is_left_before_the_first_round() {
    let folder = Folder::people();
    for own in ["", "stream"] {
        let mut settings = Settings::of(Front::Program);
        let rounds = [("target", "y"), ("groups", "g"), ("solver", "smd-m"), ("step-w", "1")];
        for (key, text) in rounds.into_iter().chain([("step-q", "1")]) {
            settings.set_typed(key, &[text.to_owned()]).unwrap();
        }
        if !own.is_empty() {
            settings.set_typed(own, &[]).unwrap();
        }
        let job = Job::resolve(&[folder.path().join("t.csv")], settings).unwrap().0;
        let mut early = Early::default();
        let failure = match &job.streaming {
            Some(streaming) => stream::run(&job, streaming, &mut early).err(),
            None => fit(&job, &mut early).err(),
        };
        assert!(matches!(failure, Some(Failure::Interrupted)), "{own}: {failure:?}");
    }
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
fn a_killed_run_leaves_nothing_but_its_folder() {
    let folder = Folder::people();
    let child = endless(&folder);
    signal(&child, "-KILL");
    child.wait_with_output().unwrap();
    assert_eq!(folder.list(), ["out", "out/.gdro.lock", "t.csv"]);
    // The lock of a process that has died holds nobody up.
    folder.prints(&format!("{} --out out --quiet", common::FIT));
    assert!(!folder.list().contains(&"out/.gdro.lock".into()));
}
