//! Whole calls on small experiments, and the experiments of the repository.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gdro_paper::{Order, Progress, Settings, Written, experiments, reproduce, tune};
use tempfile::TempDir;

const SETTINGS: &str = r#"
seeds = 3
looks-per-decade = 4
decades = 2.0
delta = 0.05
[tuned]
average = "suffix"
first-seed = 11
share = 0.1
finalists = 2
seeds = 2
widenings = 0
step-w = [1, 3]
step-q = [1]
[quick]
seeds = 2
rounds = 0.5
"#;

const EXPERIMENT: &str = r#"
order = 1
title = "A small one"
about = "For tests."
problem = "small"
columns = 2
[[runs]]
id = "smd-m"
label = "SMD(m)"
algorithm = "smd-m"
rounds = 400
[[runs]]
id = "online-1"
label = "Online(1)"
algorithm = "online-1"
rounds = 2000
[[runs]]
id = "online-1-a"
label = "Online(1)ₐ"
algorithm = "online-1"
anytime = true
rounds = 2000
[[panels]]
title = "Per sample"
y = "objective"
x = "samples"
[[panels]]
title = "Gap"
y = "gap"
x = "samples"
[[claims]]
text = "Gaps lie below their bounds"
beyond = true
test = { kind = "below-bound" }
[[claims]]
text = "SMD(m) comes first"
test = { kind = "order", runs = ["smd-m", "online-1"], x = "samples" }
reason = { theory = "It does not.", tuned = "It does not." }
"#;

const PROBLEM: &str = r#"
kind = "synthetic"
features = 6
radius = 0.5
groups = [{ count = 4, from = 0.8, to = 0.95 }]
ball = 2
"#;

/// Of both steps for all runs, the larger one of w.
const TUNING: &str = "\
experiment,run,rounds,step_w,step_q,first_gap,gap,best
small,smd-m,400,1,1,0.2,0.02,0
small,smd-m,400,3,1,0.1,0.01,1
small,online-1,2000,3,1,0.1,0.01,1
small,online-1-a,2000,3,1,0.1,0.01,1
";

/// A folder with one experiment.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("problems")).unwrap();
    fs::write(folder.path().join("settings.toml"), SETTINGS).unwrap();
    fs::write(folder.path().join("small.toml"), EXPERIMENT).unwrap();
    fs::write(folder.path().join("problems/small.toml"), PROBLEM).unwrap();
    fs::write(folder.path().join("tuning.csv"), TUNING).unwrap();
    folder
}

/// Counts, and stops after so many reports of work.
struct Watch<'a> {
    stop: &'a AtomicBool,
    after: usize,
    reports: AtomicUsize,
    stages: Mutex<Vec<String>>,
}

impl<'a> Watch<'a> {
    fn new(stop: &'a AtomicBool, after: usize) -> Self {
        Watch { stop, after, reports: AtomicUsize::new(0), stages: Mutex::new(Vec::new()) }
    }
}

impl Progress for Watch<'_> {
    fn start(&self, units: u64) {
        assert!(units > 0);
    }

    fn more(&self, _: u64) {}

    fn stage(&self, what: &str) {
        self.stages.lock().unwrap().push(what.to_owned());
    }

    fn done(&self, _: u64) {
        if self.reports.fetch_add(1, Ordering::Relaxed) == self.after {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn skip(&self, _: u64) {}
}

type Work = fn(&Order<'_>, &AtomicBool, &dyn Progress) -> gdro_paper::Result<Written>;

fn work(work: Work, folder: &Path, out: &Path, threads: usize, stop_after: usize) -> Written {
    let stop = AtomicBool::new(false);
    let watch = Watch::new(&stop, stop_after);
    let order = Order { folder, names: &[], out, quick: false, seeds: None };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| work(&order, &stop, &watch)).unwrap()
}

fn call(folder: &Path, out: &Path, threads: usize, stop_after: usize) -> Written {
    work(reproduce, folder, out, threads, stop_after)
}

/// The files but for the cache, and the line of the report that says how long it took.
fn contents(written: &Written) -> Vec<(String, Vec<u8>)> {
    let read = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = fs::read(path).unwrap();
        if name != "report.md" {
            return (name, bytes);
        }
        let text = String::from_utf8(bytes).unwrap();
        let lines = text.lines().filter(|l| !l.contains("came from the cache"));
        (name, lines.collect::<Vec<_>>().join("\n").into_bytes())
    };
    written.files.iter().map(read).collect()
}

#[test]
fn the_same_bytes_on_one_thread_and_two_and_from_the_cache() {
    let (folder, out) = (folder(), tempfile::tempdir().unwrap());
    let [one, two] = [1, 2].map(|n| out.path().join(n.to_string()));
    let first = call(folder.path(), &one, 1, usize::MAX);
    let second = call(folder.path(), &two, 2, usize::MAX);
    // 3 runs: 2 rules with 3 seeds each.
    assert_eq!((first.played, first.cached), (3 * 2 * 3, 0));
    let names: Vec<String> = contents(&first).into_iter().map(|(name, _)| name).collect();
    let expected = [
        "small-theory.svg",
        "small-theory.png",
        "small-tuned.svg",
        "small-tuned.png",
        "small.csv",
        "tuning.csv",
        "report.md",
    ];
    assert_eq!(names, expected);
    assert_eq!(contents(&first), contents(&second));
    let again = call(folder.path(), &one, 2, usize::MAX);
    assert_eq!((again.played, again.cached), (0, 18));
    assert_eq!(contents(&first), contents(&again));
}

#[test]
fn what_was_stopped_goes_on_and_ends_as_if_it_had_not_been() {
    let (folder, out) = (folder(), tempfile::tempdir().unwrap());
    let [whole, parts] = ["whole", "parts"].map(|n| out.path().join(n));
    let expected = contents(&call(folder.path(), &whole, 1, usize::MAX));
    let stopped = call(folder.path(), &parts, 1, 20);
    assert_eq!(stopped.left, ["small"]);
    assert!(stopped.files.is_empty() && stopped.played > 0, "{stopped:?}");
    let rest = call(folder.path(), &parts, 1, usize::MAX);
    assert_eq!(rest.cached, stopped.played);
    assert_eq!(rest.played + rest.cached, 18);
    assert_eq!(contents(&rest), expected);
}

#[test]
fn the_cache_knows_what_a_result_depends_on() {
    let (folder, out) = (folder(), tempfile::tempdir().unwrap());
    call(folder.path(), out.path(), 1, usize::MAX);
    let problem = PROBLEM.replace("ball = 2", "ball = 3");
    fs::write(folder.path().join("problems/small.toml"), problem).unwrap();
    let other = call(folder.path(), out.path(), 1, usize::MAX);
    assert_eq!((other.played, other.cached), (18, 0));
    // Other tuned steps of one run play its tuned runs alone.
    let steps = TUNING.replace("small,smd-m,400,3,", "small,smd-m,400,30,");
    fs::write(folder.path().join("tuning.csv"), steps).unwrap();
    let more = call(folder.path(), out.path(), 1, usize::MAX);
    assert_eq!((more.played, more.cached), (3, 15));
}

/// Tuning that is stopped goes on, and ends as if it had not been; a grid that grows, too, knows what it
/// has played.
#[test]
fn tuning_goes_on_to_the_same_table() {
    let (folder, out) = (folder(), tempfile::tempdir().unwrap());
    let table = || fs::read_to_string(folder.path().join("tuning.csv")).unwrap();
    let [whole, parts] = ["whole", "parts"].map(|n| out.path().join(n));
    let first = work(tune, folder.path(), &whole, 1, usize::MAX);
    // 3 runs: 2 cells with one seed, both of them with two more.
    assert_eq!((first.played, first.cached), (3 * (2 + 2 * 2), 0));
    let expected = table();
    assert!(expected != TUNING && expected.lines().count() == 1 + 3 * 2, "{expected}");
    fs::write(folder.path().join("tuning.csv"), TUNING).unwrap();
    let stopped = work(tune, folder.path(), &parts, 1, 10);
    assert_eq!((&stopped.left[..], table()), (&["small".to_owned()][..], TUNING.to_owned()));
    let rest = work(tune, folder.path(), &parts, 2, usize::MAX);
    assert_eq!((rest.cached, rest.played + rest.cached), (stopped.played, 18));
    assert_eq!(table(), expected);

    // What a grid that may not grow finds at its edge is not the best there is.
    let gap = |text: &str| {
        let best = text.lines().find(|l| l.starts_with("small,smd-m,") && l.ends_with(",1"));
        best.unwrap().split(',').nth(6).unwrap().parse::<f64>().unwrap()
    };
    let settings = SETTINGS.replace("widenings = 0", "widenings = 2");
    fs::write(folder.path().join("settings.toml"), settings).unwrap();
    work(tune, folder.path(), &whole, 1, usize::MAX);
    assert!(table().lines().count() > expected.lines().count(), "{}", table());
    assert!(gap(&table()) <= gap(&expected), "{} {expected}", table());
}

#[test]
fn the_quick_version_is_smaller_and_the_report_says_so() {
    let (folder, out) = (folder(), tempfile::tempdir().unwrap());
    let stop = AtomicBool::new(false);
    let order =
        Order { folder: folder.path(), names: &[], out: out.path(), quick: true, seeds: Some(1) };
    let written = reproduce(&order, &stop, &Watch::new(&stop, usize::MAX)).unwrap();
    // One seed under two rules.
    assert_eq!(written.played, 3 * 2);
    let report = fs::read_to_string(out.path().join("report.md")).unwrap();
    assert!(report.contains("the small version"), "{report}");
    let csv = fs::read_to_string(out.path().join("small.csv")).unwrap();
    assert!(csv.lines().any(|l| l.starts_with("theory,smd-m,smd-m,1,200,800,")), "{csv}");
}

#[test]
fn mistakes_are_named_with_their_place() {
    let refuse = |file: &str, from: &str, to: &str| {
        let folder = folder();
        let path = folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(&path, text.replace(from, to)).unwrap();
        let stop = AtomicBool::new(false);
        let out = folder.path().join("out");
        let order =
            Order { folder: folder.path(), names: &[], out: &out, quick: false, seeds: None };
        let error = reproduce(&order, &stop, &Watch::new(&stop, usize::MAX)).unwrap_err();
        assert!(!out.exists(), "nothing is written");
        error.to_string()
    };
    let cases = [
        ("settings.toml", "first-seed = 11", "first-seed = 2", "settings.toml: first-seed"),
        ("settings.toml", "step-w = [1, 3]", "step-w = [nan]", "step-w, step-q"),
        ("settings.toml", "share = 0.1", "share = 2", "share: expected 0 < share <= 1"),
        (
            "tuning.csv",
            "small,online-1,2000,",
            "small,online-1,20,",
            "steps for 20 rounds, and not",
        ),
        ("settings.toml", "seeds = 3", "seeds = -3", "settings.toml: line 2: "),
        ("small.toml", "algorithm = \"smd-m\"", "algorithm = \"smd\"", "unknown solver `smd`"),
        ("small.toml", "y = \"gap\"", "y = \"gap\"\ngroup = 2", "needs a group"),
        ("small.toml", "runs = [\"smd-m\", ", "runs = [\"smd-n\", ", "there is no run `smd-n`"),
        ("small.toml", "problem = \"small\"", "problem = \"large\"", "problems/large.toml"),
        ("small.toml", "rounds = 400", "", "small, smd-m"),
        ("problems/small.toml", "ball = 2", "ball = inf", "problems/small.toml: "),
        ("problems/small.toml", "from = 0.8", "from = 1.8", "probability of a true label"),
        ("problems/small.toml", "radius", "radios", "radios"),
    ];
    for (file, from, to, expected) in cases {
        let said = refuse(file, from, to);
        assert!(said.contains(expected), "{from} → {to}: {said}");
        assert!(!said.contains('\n'), "one line: {said}");
    }
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let folder = folder();
    let error = experiments(folder.path(), &["smal".into()]).unwrap_err().to_string();
    assert!(error.contains("`smal`") && error.contains("small"), "{error}");
    assert_eq!(experiments(folder.path(), &["all".into()]).unwrap().len(), 1);
}

/// The experiments of the repository.
#[test]
fn the_papers_experiments_are_complete() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../paper");
    Settings::read(&folder).unwrap();
    let all = experiments(&folder, &[]).unwrap();
    let names: Vec<&str> = all.iter().map(|e| e.name.as_str()).collect();
    let expected = [
        "example-1",
        "balanced-synthetic",
        "balanced-adult",
        "imbalanced-synthetic",
        "imbalanced-adult",
        "heterogeneous",
        "anytime-adult",
        "anytime-heterogeneous",
        "gaps-example-1",
        "gaps-adult",
        "few-dominate",
    ];
    assert_eq!(names, expected);
    // Every figure of the paper's experiments, and that of Example 1.
    let labels: Vec<&String> = all.iter().flat_map(|e| &e.labels).collect();
    for label in [
        "fig:Example",
        "fig:balance_synth_risk",
        "fig:balance_adult_risk",
        "fig:balance_synth_sample",
        "fig:balance_adult_sample",
        "fig:imbalance_synth",
        "fig:imbalance_adult",
        "fig:heter",
        "fig:heter_distributions",
        "fig:balance_adult_anytime_risk",
        "fig:ATkRO_anytime_risk",
    ] {
        assert!(labels.iter().any(|l| *l == label), "{label}");
    }
}
