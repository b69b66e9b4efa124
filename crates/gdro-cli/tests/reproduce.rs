//! `gdro reproduce` as a user calls it.

mod common;

use common::Folder;

const SETTINGS: &str = r#"
seeds = 2
looks-per-decade = 3
decades = 2.0
delta = 0.05
tuned = { average = "suffix", first-seed = 11, seeds = 1, step-w = [1], step-q = [1, 3] }
quick = { seeds = 1, tuning-seeds = 1, rounds = 0.5, every = 2 }
"#;

const EXPERIMENT: &str = r#"
order = 1
title = "Coins"
about = "For tests."
problem = "coins"
columns = 1
runs = [{ id = "smd-m", label = "SMD(m)", algorithm = "smd-m", rounds = 1000 }]
panels = [{ title = "Per round", y = "objective", x = "rounds" }]
"#;

/// A folder with the experiment `coins` in `paper/`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("paper/settings.toml", SETTINGS);
    folder.file("paper/coins.toml", EXPERIMENT);
    folder.file("paper/problems/coins.toml", "kind = \"example-1\"\n");
    folder
}

#[test]
fn figures_data_and_report_are_written_and_named() {
    let folder = folder();
    let shown = folder.prints("reproduce");
    let names: Vec<&str> = shown.lines().map(|l| l.strip_prefix("wrote ").unwrap()).collect();
    let expected = [
        "figures/coins-theory.svg",
        "figures/coins-theory.png",
        "figures/coins-tuned.svg",
        "figures/coins-tuned.png",
        "figures/coins.csv",
        "figures/tuning.csv",
        "figures/report.md",
    ];
    assert_eq!(names, expected);
    assert!(folder.read("figures/coins-theory.svg").contains("SMD(m)"));
    // 2 cells, and 2 rules with 2 seeds; of these the second call plays none.
    assert!(folder.read("figures/report.md").contains("6 runs were played"));
    assert_eq!(folder.prints("reproduce coins --quiet"), "");
    assert!(folder.read("figures/report.md").contains("0 runs were played"));
    assert!(folder.read("figures/report.md").contains("6 came from the cache"));
}

#[test]
fn what_is_asked_for_wrongly_is_refused() {
    let folder = folder();
    for (arguments, expected) in [
        ("reproduce coin", "unknown experiment `coin`: expected all, or some of coins"),
        ("reproduce --seeds 0", "--seeds"),
        ("reproduce --threads 0", "--threads 0: expected"),
        ("reproduce --from nowhere", "--from nowhere: expected a folder of experiments"),
        ("reproduce --from paper/problems", "settings.toml"),
    ] {
        let said = folder.refused(arguments);
        assert!(said.contains(expected), "{arguments}: {said}");
    }
    folder.file("paper/coins.toml", EXPERIMENT.replace("rounds = 1000", "rounds = 0"));
    assert!(folder.refused("reproduce").contains("run `smd-m`: rounds: expected at least 1"));
}

#[test]
#[cfg(unix)]
fn an_interrupted_call_goes_on_later() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = folder();
    // A second experiment that would take hours.
    let endless = EXPERIMENT.replace("order = 1", "order = 2").replace("1000", "1000000000000");
    folder.file("paper/endless.toml", endless);
    let mut command = folder.command("reproduce");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !folder.path().join("figures/coins.csv").exists() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    let stop = Instant::now();
    let status = Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
    let output = child.wait_with_output().unwrap();
    assert!(stop.elapsed() < Duration::from_secs(10), "{:?}", stop.elapsed());
    let said = common::stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("interrupted; not complete: endless; 6 runs are kept"), "{said}");
    assert!(folder.read("figures/report.md").contains("**Not complete**, and left out: endless."));
    assert!(folder.list().iter().all(|f| !f.ends_with(".tmp")));
    folder.prints("reproduce coins");
    assert!(folder.read("figures/report.md").contains("0 runs were played"));
}
