//! Runs that are killed go on to the bits of runs that are not.
#![cfg(unix)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gdro::algorithm::Algorithm;
use rand::rngs::Xoshiro256PlusPlus as Rng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;

use crate::common::{self, Folder, people};

const FILE: &str = "out/checkpoint.safetensors";

/// Arguments of runs of a second or so.
const ROUNDS: &str = "fit t.csv --target y --groups g --rounds 3e6 --step-w 1 --step-q 1";

/// The same in passes over a table.
const STREAM: &str = "fit t.csv --target y --groups g --stream --objective max --l2 1e-3";

/// A command by its name, without what all have: its arguments, and the rows of its table.
type Run = (&'static str, String, usize);

/// Commands of the gate.
fn runs() -> Vec<Run> {
    let select = "select t.csv --target y --groups g --solver smd-m --rounds 1e5 --step-w 1 \
                  --step-q 1 --objectives max --l2 1,0.1,0.01 --folds 4";
    vec![
        ("smd-m", format!("{ROUNDS} --solver smd-m"), 400),
        ("online-1", format!("{ROUNDS} --solver online-1 --average suffix"), 400),
        (
            "until it is certified",
            "fit t.csv --target y --groups g --step-w 1 --step-q 1 --solver smd-m --tol 1e-7 --rounds 3e4"
                .into(),
            400,
        ),
        (
            "pilots",
            "fit t.csv --target y --groups g --rounds 1e6 --solver smpa-m --objective max".into(),
            400,
        ),
        ("select", select.into(), 400),
        ("stream", format!("{STREAM} --buffer 4096"), 150_000),
        ("stream with a sample", format!("{STREAM} --buffer 1024"), 150_000),
    ]
}

/// More of them: every solver that plays for long, exact ones, trade-offs, other streams.
fn more_runs() -> Vec<Run> {
    let mut runs = runs();
    for algorithm in Algorithm::ALL {
        let spec = algorithm.spec();
        if spec.budgets.is_none() && !spec.delta && !spec.owns("queries") {
            let own = format!("{ROUNDS} --solver {algorithm} --rounds 1e6");
            let own = own.replacen("--rounds 3e6 ", "", 1);
            let own = if spec.adaptive { own.replace("--step-w 1 --step-q 1", "") } else { own };
            let top = match algorithm.name() {
                "atkro-k" => " --objective top-k:2",
                "mero" => " --objective regret",
                name if name.starts_with("atkro") => " --objective top-k:1.5",
                _ => "",
            };
            runs.push((spec.name, own + top, 400));
        }
    }
    let exact = "fit t.csv --target y --groups g --solver exact";
    runs.extend([
        ("exact", format!("{exact} --objective max"), 150_000),
        ("fit as it is", "fit t.csv --target y --groups g".into(), 3000),
        ("select, exact", "select t.csv --target y --groups g --folds 3".into(), 3000),
        ("path", "select t.csv --target y --groups g --path=20".into(), 30_000),
        ("stream of smd-r", format!("{STREAM} --buffer 4096 --solver smd-r"), 150_000),
        ("stream of smpa-m", format!("{STREAM} --buffer 2048 --solver smpa-m"), 150_000),
        ("stream in one pass", format!("{STREAM} --buffer 4096 --one-pass --robust-only"), 150_000),
        ("stream of numbers", "fit t.csv --target z --groups g --stream --l2 1e-3".into(), 150_000),
    ]);
    runs
}

fn start(folder: &Folder, arguments: &str) -> Child {
    let mut command = folder.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What a finished run has written, without what was measured by a clock.
fn results(folder: &Folder) -> Vec<(String, String)> {
    let files = folder.list().into_iter().filter(|name| name.starts_with("out/"));
    let without_clock = |name: String| {
        let text = folder.read(&name);
        let lines: Vec<&str> =
            if name.ends_with(".jsonl") { text.lines().collect() } else { vec![&text] };
        // The list of the files has the checksum of those with times in them.
        let own: &[&str] = match name.ends_with("manifest.json") {
            true => &["bytes", "crc32", "id"],
            false => &["seconds", "rows_per_second"],
        };
        let parse = |line: &str| {
            let mut value: Value = serde_json::from_str(line).unwrap();
            forget(&mut value, own);
            value.to_string()
        };
        (name, lines.into_iter().map(parse).collect::<Vec<String>>().join("\n"))
    };
    files.map(without_clock).collect()
}

fn forget(value: &mut Value, keys: &[&str]) {
    match value {
        Value::Object(entries) => {
            entries.retain(|key, _| !keys.contains(&key.as_str()));
            entries.values_mut().for_each(|value| forget(value, keys));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| forget(value, keys)),
        _ => {}
    }
}

/// How many of so many kills came after a checkpoint; each run ends as the one that nothing stopped.
fn kills((name, own, rows): &Run, kills: usize, seed: u64) -> usize {
    let arguments = &format!("{own} --out out --checkpoint-every 0.1 --quiet");
    let table = people(*rows);
    let whole = Folder::with(&table);
    let began = Instant::now();
    whole.prints(arguments);
    let length = began.elapsed().as_secs_f64();
    let expected = results(&whole);
    let mut rng = Rng::seed_from_u64(seed);
    let (mut after, mut done) = (0, 0);
    while done < kills {
        let folder = Folder::with(&table);
        let mut resume = String::new();
        // Killed or asked to stop once or twice, and then left alone.
        for _ in 0..rng.random_range(1..=2) {
            let mut child = start(&folder, &format!("{arguments}{resume}"));
            std::thread::sleep(Duration::from_secs_f64(length * rng.random_range(0.1..0.9)));
            if rng.random_range(0..4) == 0 {
                signal(&child, "-TERM");
            } else {
                child.kill().unwrap();
            }
            child.wait().unwrap();
            done += 1;
            after += usize::from(folder.path().join(FILE).exists());
            resume = " --resume".into();
        }
        if folder.path().join(FILE).exists() && rng.random() {
            folder.prints("resume out --quiet");
        } else {
            folder.prints(&format!("{arguments} --resume"));
        }
        assert_eq!(results(&folder), expected, "{name}");
    }
    after
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    // It may have ended by itself.
    let _ = Command::new("kill").args([name, &id]).stderr(Stdio::null()).status().unwrap();
}

#[test]
fn a_killed_run_goes_on_to_the_same_bits() {
    let count = |(seed, run): (u64, &Run)| (run.0, kills(run, 3, seed));
    let counts: Vec<_> = (0..).zip(&runs()).map(count).collect();
    let after: usize = counts.iter().map(|(_, after)| after).sum();
    assert!(after >= 12, "kills after a checkpoint, of 3 or 4 each: {counts:?}");
}

/// Killed in each of its passes, at a row of its own.
#[test]
fn a_stream_goes_on_in_each_pass() {
    let table = people(200_000);
    let arguments = &format!("{STREAM} --buffer 1024 --out out --checkpoint-every 0.01 --quiet");
    let whole = Folder::with(&table);
    whole.prints(arguments);
    let expected = results(&whole);
    for pass in ["count/so far", "sample/so far", "training pass", "last pass"] {
        let folder = Folder::with(&table);
        let mut child = start(&folder, arguments);
        let path = folder.path().join(FILE);
        let is_in = || {
            let bytes = std::fs::read(&path).unwrap_or_default();
            bytes.windows(pass.len()).any(|part| part == pass.as_bytes())
        };
        while !is_in() {
            assert!(child.try_wait().unwrap().is_none(), "{pass} was not seen");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        folder.prints("resume out --quiet");
        assert_eq!(results(&folder), expected, "{pass}");
    }
}

/// Asked to stop while it certifies, which most of this run is: the certificate is owed.
#[test]
fn a_certificate_that_was_given_up_is_made_by_the_run_that_goes_on() {
    let table = people(4000);
    let arguments = "fit t.csv --target y --groups g --step-w 1 --step-q 1 --solver smd-m --tol 1e-9 \
                     --rounds 100 --out out --checkpoint-every 0.05 --quiet";
    let whole = Folder::with(&table);
    let began = Instant::now();
    whole.prints(arguments);
    let length = began.elapsed().as_secs_f64();
    let expected = results(&whole);
    let mut stopped = 0;
    for share in [0.3, 0.45, 0.6, 0.75, 0.9, 0.96] {
        let folder = Folder::with(&table);
        let mut child = start(&folder, arguments);
        std::thread::sleep(Duration::from_secs_f64(share * length));
        signal(&child, "-TERM");
        if child.wait().unwrap().code() == Some(3) && folder.path().join(FILE).exists() {
            stopped += 1;
            folder.prints("resume out --quiet");
            assert_eq!(results(&folder), expected, "{share}");
        }
    }
    assert!(stopped >= 3, "{stopped}");
}

/// A thousand kills: about a quarter of an hour.
#[test]
#[ignore = "takes a quarter of an hour"]
fn a_thousand_kills() {
    let runs = more_runs();
    let each = 1000_usize.div_ceil(runs.len());
    let mut counts = Vec::new();
    for (seed, run) in (100..).zip(&runs) {
        counts.push((run.0, kills(run, each, seed)));
        eprintln!(
            "{}: {} of {each} kills came after a checkpoint",
            run.0,
            counts[counts.len() - 1].1
        );
    }
    let after: usize = counts.iter().map(|(_, after)| after).sum();
    assert!(after * 10 >= each * runs.len() * 8, "{counts:?}");
}

/// The first checkpoint does not wait for a minute.
#[test]
fn a_run_that_is_killed_early_goes_on() {
    let folder = Folder::with(people(400));
    let endless = "fit t.csv --target y --groups g --solver smd-m --step-w 1 --step-q 1 --rounds 1e12 \
                   --out out";
    let mut child = start(&folder, endless);
    let began = Instant::now();
    while !folder.path().join(FILE).exists() {
        assert!(began.elapsed() < Duration::from_secs(30), "no checkpoint");
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let child = start(&folder, "resume out");
    std::thread::sleep(Duration::from_secs(1));
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", common::stderr(&output));
    let said = common::stderr(&output);
    assert!(said.contains("goes on"), "{said}");
}

/// The bits of the model do not depend on whether checkpoints are written.
#[test]
fn checkpoints_change_nothing() {
    let [with, without] = ["--checkpoint-every 0.05", "--checkpoint-every 0"].map(|every| {
        let folder = Folder::with(people(400));
        let common = "--solver smd-m --rounds 1e6 --step-w 1 --step-q 1 --out out --quiet";
        folder.prints(&format!("fit t.csv --target y --groups g {common} {every}"));
        results(&folder)
    });
    assert_eq!(with, without);
}

/// A folder with the checkpoint of a run that was interrupted.
fn interrupted(own: &str) -> Folder {
    let folder = Folder::with(people(400));
    let child = start(&folder, &format!("{ROUNDS} --out out {own}"));
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", common::stderr(&output));
    let said = common::stderr(&output);
    assert!(said.contains("note: gdro resume out goes on from here"), "{said}");
    folder
}

#[test]
fn an_interrupted_run_goes_on() {
    let whole = Folder::with(people(400));
    whole.prints(&format!("{ROUNDS} --solver smd-m --out out"));
    let folder = interrupted("--solver smd-m");
    // What there was by then can be used meanwhile.
    assert_eq!(folder.json("out/summary.json")["ended"], "interrupted");
    let said = common::stderr(&folder.run("predict out t.csv"));
    assert!(said.contains("note: this model is of a run that was interrupted"), "{said}");
    folder.prints("resume out");
    assert_eq!(common::stderr(&folder.run("predict out t.csv")), "");
    assert_eq!(results(&folder), results(&whole));
    let said = folder.refused("resume out");
    assert!(
        said.contains("no checkpoint.safetensors to go on from: the run was finished"),
        "{said}"
    );
}

/// Hours of work are not begun anew by mistake.
#[test]
fn what_has_not_ended_is_not_replaced() {
    let folder = interrupted("--solver smd-m");
    let before = std::fs::read(folder.path().join(FILE)).unwrap();
    let own = format!("{ROUNDS} --solver smd-m --out out");
    let said = folder.refused(&own);
    assert!(said.contains("--resume goes on with it, --force begins anew"), "{said}");
    assert_eq!(std::fs::read(folder.path().join(FILE)).unwrap(), before);
    folder.prints(&format!("{own} --force"));
    assert!(!folder.path().join(FILE).exists());
    assert_eq!(folder.json("out/summary.json")["ended"], "finished");
}

#[test]
fn a_run_goes_on_from_any_folder() {
    let folder = interrupted("--solver smd-m --report page.html");
    let elsewhere = Folder::new();
    let out = folder.path().join("out");
    elsewhere.prints(&format!("resume {}", out.display()));
    assert_eq!(elsewhere.list(), [""; 0]);
    assert!(folder.read("page.html").contains("</html>"));
    assert_eq!(folder.json("out/summary.json")["ended"], "finished");
}

#[test]
fn what_has_changed_is_named() {
    let folder = interrupted("--solver smd-m --seed 4");
    let own = format!("{ROUNDS} --solver smd-m --out out --resume");
    let said = folder.refused(&format!("{own} --seed 5"));
    assert!(said.contains("of another run: --seed was 4 and is 5"), "{said}");
    let said = folder.refused(&format!("{own} --seed 4 --l2 0.5"));
    assert!(said.contains("--l2 was ") && said.contains("and is 0.5"), "{said}");
    let said = folder.refused(&own.replace("fit", "select"));
    assert!(said.contains("was "), "{said}");

    // The same content with another time is the same table.
    let table = folder.read("t.csv");
    folder.file("t.csv", &table);
    let touched = folder.run(&format!("{own} --seed 4 --checkpoint-every 0 --quiet"));
    assert_eq!(touched.status.code(), Some(0), "{}", common::stderr(&touched));

    let folder = interrupted("--solver smd-m");
    let own = format!("{ROUNDS} --solver smd-m --out out --resume");
    let changed = table.replacen(",a,yes", ",b,yes", 1);
    assert_eq!(changed.len(), table.len());
    folder.file("t.csv", &changed);
    for command in [&own[..], "resume out"] {
        let said = folder.refused(command);
        assert!(said.contains("t.csv has changed: its content is another one"), "{said}");
    }
    folder.file("t.csv", table + "1,1,a,yes\n");
    let said = folder.refused(&own);
    assert!(said.contains("t.csv has changed: it has ") && said.contains(" bytes"), "{said}");
}

#[test]
fn damaged_checkpoints_are_refused() {
    let folder = interrupted("--solver smd-m");
    let whole = std::fs::read(folder.path().join(FILE)).unwrap();
    let mut rng = Rng::seed_from_u64(1);
    for _ in 0..40 {
        let mut bytes = whole.clone();
        match rng.random_range(0..3) {
            0 => bytes.truncate(rng.random_range(0..whole.len())),
            1 => {
                let at = rng.random_range(0..whole.len());
                bytes[at] ^= 1 << rng.random_range(0..8u32);
            }
            _ => bytes.extend([0; 9]),
        }
        // A blank more or less in the header changes nothing.
        if bytes == whole {
            continue;
        }
        folder.file(FILE, &bytes);
        let output = folder.run("resume out --quiet");
        let said = common::stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("checkpoint") && !said.contains("panicked"), "{said}");
    }
    folder.file(FILE, "no checkpoint");
    let said = folder.refused("resume out");
    assert!(said.contains("out/checkpoint.safetensors: not a checkpoint of gdro"), "{said}");
}

#[test]
fn options_of_checkpoints_that_do_nothing_are_refused() {
    let folder = Folder::people();
    let fit = "fit t.csv --target y --groups g";
    let said = folder.refused(&format!("{fit} --checkpoint-every 5"));
    assert!(
        said.contains("--checkpoint-every: a checkpoint is written beside the model"),
        "{said}"
    );
    let said = folder.refused(&format!("{fit} --resume"));
    assert!(said.contains("--resume: there is no folder to go on in"), "{said}");
    let said = folder.refused(&format!("{fit} --out out --checkpoint-every -1"));
    assert!(said.contains("expected a number of seconds of at least 0"), "{said}");
    let said = folder.refused("resume nowhere");
    assert!(said.contains("nowhere: no checkpoint.safetensors to go on from"), "{said}");
    assert!(
        said.ends_with(": run gdro fit again, with the table, its options and --out"),
        "{said}"
    );
}

/// Where there is no checkpoint yet, a run begins at its beginning: the same command for each start.
#[test]
fn a_run_without_a_checkpoint_begins() {
    let folder = Folder::people();
    folder.prints("fit t.csv --target y --groups g --out out --resume");
    assert!(!folder.path().join(FILE).exists());
    assert!(folder.path().join("out/model.json").exists());
}
