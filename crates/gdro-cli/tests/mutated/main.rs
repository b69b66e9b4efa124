//! Files of strangers: whatever is in them, reading them is a matter of an answer or of an error.
//!
//! A case is a file of the committed corpus (`fuzz/corpus`) with a few changes, by a random number that
//! a failure names: `GDRO_CASE=table:17` runs it alone.

mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mutate::{Random, mutated};
use targets::{Kind, Place};

/// No case may take longer.
const LONGEST: Duration = Duration::from_secs(20);

/// The files of a kind, by name.
fn corpus(kind: Kind, place: &Place) -> Vec<(String, Vec<u8>)> {
    if kind == Kind::Checkpoint {
        return place.checkpoints();
    }
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let entries = std::fs::read_dir(fuzz.join("corpus").join(kind.name())).expect("the corpus");
    let file = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read(path).expect("a file"))
    };
    let mut files: Vec<_> = entries.map(file).collect();
    files.sort();
    files
}

/// The bytes of a case.
fn case(files: &[(String, Vec<u8>)], number: u64) -> Vec<u8> {
    let mut random = Random(number);
    let (good, other) = (random.below(files.len()), random.below(files.len()));
    mutated(&files[good].1, &files[other].1, &mut random)
}

/// Runs cases, and gives how many were refused and the longest time; the first that panics ends it.
fn run(kind: Kind, numbers: std::ops::Range<u64>) -> (u64, Duration) {
    let place = Place::new();
    let files = corpus(kind, &place);
    let (mut refused, mut longest) = (0, Duration::ZERO);
    let current = std::sync::Arc::new(AtomicU64::new(numbers.start));
    let watched = current.clone();
    // A case that hangs must not hang the test.
    std::thread::spawn(move || {
        let mut last = (watched.load(Ordering::Relaxed), Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = watched.load(Ordering::Relaxed);
            if now == u64::MAX {
                return;
            }
            if now != last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > LONGEST {
                eprintln!("GDRO_CASE={}:{now} takes more than {LONGEST:?}", kind.name());
                std::process::exit(101);
            }
        }
    });
    for number in numbers {
        current.store(number, Ordering::Relaxed);
        let bytes = case(&files, number);
        let start = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| place.read(kind, &bytes)));
        longest = longest.max(start.elapsed());
        match read {
            Ok(taken) => refused += u64::from(!taken),
            Err(_) => {
                let file = std::env::temp_dir().join(format!("gdro-{}-{number}", kind.name()));
                std::fs::write(&file, &bytes).expect("room for a file");
                panic!("GDRO_CASE={}:{number} panics; it is in {}", kind.name(), file.display());
            }
        }
    }
    current.store(u64::MAX, Ordering::Relaxed);
    (refused, longest)
}

/// What was found once, and what all others are made of.
#[test]
fn files_of_the_corpus() {
    for kind in Kind::ALL {
        let place = Place::new();
        for (name, bytes) in corpus(kind, &place) {
            let taken = place.read(kind, &bytes);
            assert_eq!(taken, !name.starts_with("bad-"), "{}/{name}", kind.name());
        }
    }
}

/// So many cases of a kind in every run of the tests.
fn some(kind: Kind, cases: u64) {
    if let Ok(case) = std::env::var("GDRO_CASE") {
        let (name, number) = case.split_once(':').expect("KIND:NUMBER");
        if name == kind.name() {
            let number = number.parse().expect("a number");
            run(kind, number..number + 1);
        }
        return;
    }
    let (refused, longest) = run(kind, 0..cases);
    eprintln!("{}: {refused} of {cases} refused, the longest took {longest:?}", kind.name());
    // Otherwise the changes are none.
    assert!(refused > cases / 10, "{refused} of {cases}");
}

#[test]
fn tables() {
    some(Kind::Table, 1500);
}

#[test]
fn models() {
    some(Kind::Model, 1500);
}

#[test]
fn schemas() {
    some(Kind::Schema, 500);
}

#[test]
fn jobs() {
    some(Kind::Job, 3000);
}

#[test]
fn manifests() {
    some(Kind::Manifest, 1000);
}

#[test]
fn checkpoints() {
    some(Kind::Checkpoint, 500);
}

/// A stream that stood 2⁶⁰ portions behind the first one.
#[test]
fn a_checkpoint_behind_the_end_of_its_table() {
    assert_eq!(run(Kind::Checkpoint, 1_004_073..1_004_074).0, 1);
}

/// 100,000 cases in 2 GB of addresses, in a process of their own, which an abort or a signal ends.
#[cfg(unix)]
#[test]
#[ignore = "takes a quarter of an hour"]
fn a_hundred_thousand_files_in_little_memory() {
    const INSIDE: &str = "GDRO_MUTATED";
    if std::env::var_os(INSIDE).is_some() {
        for (kind, cases) in [
            (Kind::Table, 40_000),
            (Kind::Model, 30_000),
            (Kind::Schema, 10_000),
            (Kind::Job, 10_000),
            (Kind::Manifest, 5_000),
            (Kind::Checkpoint, 5_000),
        ] {
            let (refused, longest) = run(kind, 1_000_000..1_000_000 + cases);
            eprintln!("{}: {refused} of {cases} refused, the longest {longest:?}", kind.name());
        }
        return;
    }
    let own = std::env::current_exe().expect("the test");
    let name = "a_hundred_thousand_files_in_little_memory";
    let script =
        format!("ulimit -v 2000000; exec '{}' --ignored --exact {name} --nocapture", own.display());
    let status = std::process::Command::new("sh")
        .args(["-c", &script])
        .env(INSIDE, "1")
        .env("RAYON_NUM_THREADS", "2")
        .status()
        .expect("a shell");
    assert!(status.success(), "{status}");
}
