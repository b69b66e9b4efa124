//! The program `gdro-paper` as a user calls it.

use std::path::Path;
use std::process::{Command, Output};

const SETTINGS: &str = r#"
seeds = 2
looks-per-decade = 3
decades = 2.0
delta = 0.05
quick = { seeds = 1, rounds = 0.5 }
[tuned]
average = "suffix"
first-seed = 11
share = 0.1
finalists = 1
seeds = 2
widenings = 1
step-w = [1]
step-q = [1, 3, 10]
"#;

/// Tuned steps of an experiment with one run.
fn tuned(experiment: &str, rounds: u64) -> String {
    format!("{experiment},smd-m,{rounds},1,3,0.1,0.01,1\n")
}

const EXPERIMENT: &str = r#"
order = 1
title = "Coins"
about = "For tests."
problem = "coins"
columns = 1
runs = [{ id = "smd-m", label = "SMD(m)", algorithm = "smd-m", rounds = 1000 }]
panels = [{ title = "Per round", y = "objective", x = "rounds" }]
"#;

const TUNING: &str = "experiment,run,rounds,step_w,step_q,first_gap,gap,best\n";

/// A folder in which the program runs.
struct Folder(tempfile::TempDir);

impl Folder {
    /// A folder with the experiment `coins` in `paper/`.
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(folder.path().join("paper/problems")).unwrap();
        folder.file("paper/settings.toml", SETTINGS);
        folder.file("paper/coins.toml", EXPERIMENT);
        folder.file("paper/problems/coins.toml", "kind = \"example-1\"\n");
        folder.file("paper/tuning.csv", &format!("{TUNING}{}", tuned("coins", 1000)));
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str, content: &str) {
        std::fs::write(self.path().join(name), content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// `gdro-paper` with arguments that are separated by blanks, in this folder.
    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gdro-paper"));
        command.args(arguments.split_whitespace()).current_dir(self.path());
        command
    }

    /// Runs a command that must work, and gives what it printed.
    fn prints(&self, arguments: &str) -> String {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that must fail with this code and one line, before any figure.
    fn fails(&self, arguments: &str, code: i32) -> String {
        let output = self.command(arguments).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
        assert!(output.stdout.is_empty(), "{arguments}");
        assert!(!self.path().join("figures").exists(), "{arguments}");
        let line = said.strip_prefix("error: ").and_then(|said| said.strip_suffix('\n'));
        let line = line.unwrap_or_else(|| panic!("{arguments}: {said}"));
        assert!(!line.contains('\n'), "{arguments}: {said}");
        line.to_owned()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn figures_data_and_report_are_written_and_named() {
    let folder = Folder::new();
    let shown = folder.prints("");
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
    // 2 rules with 2 seeds; the second call plays none.
    assert!(folder.read("figures/report.md").contains("4 runs were played"));
    assert_eq!(folder.prints("coins --quiet"), "");
    assert!(folder.read("figures/report.md").contains("0 runs were played"));
    assert!(folder.read("figures/report.md").contains("4 came from the cache"));
}

#[test]
fn steps_are_tuned_by_the_gap_into_a_table() {
    let folder = Folder::new();
    std::fs::remove_file(folder.path().join("paper/tuning.csv")).unwrap();
    assert_eq!(folder.prints("--tune coins"), "wrote paper/tuning.csv\n");
    let table = folder.read("paper/tuning.csv");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|l| l.split(',').collect()).collect();
    assert!(rows.len() >= 3 && rows.iter().filter(|row| row[7] == "1").count() == 1, "{table}");
    let gap = |row: &Vec<&str>| row[6].parse::<f64>().unwrap_or(f64::INFINITY);
    let best = rows.iter().find(|row| row[7] == "1").unwrap();
    assert!(rows.iter().all(|row| gap(row) >= gap(best)) && gap(best) > 0.0, "{table}");
    // The same table from the runs that are kept; and from another cache.
    folder.prints("--tune --quiet");
    assert_eq!(folder.read("paper/tuning.csv"), table);
    folder.prints("--tune --quiet --out other --threads 1");
    assert_eq!(folder.read("paper/tuning.csv"), table);
    folder.prints("");
    assert_eq!(folder.read("figures/tuning.csv"), table);
    // Where there are none they are found before, and the same.
    std::fs::rename(folder.path().join("paper/tuning.csv"), folder.path().join("kept")).unwrap();
    folder.prints("--out untuned");
    assert_eq!(folder.read("untuned/tuning.csv"), table);
    assert!(folder.read("untuned/coins.csv") == folder.read("figures/coins.csv"));
    std::fs::rename(folder.path().join("kept"), folder.path().join("paper/tuning.csv")).unwrap();
    let report = folder.read("figures/report.md");
    assert!(report.contains("smallest duality gap of the game that it plays"), "{report}");
    for option in ["--quick", "--seeds 3"] {
        let output = folder.command(&format!("--tune {option}")).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("tuning has no small version, and seeds of its own"));
    }
    folder.file("paper/coins.toml", &EXPERIMENT.replace("rounds = 1000", "rounds = 2000"));
    let output = folder.command("").output().unwrap();
    let said = stderr(&output);
    assert!(said.contains("steps for 1000 rounds, and not for the 2000 of coins, smd-m"), "{said}");
    // The small version has the steps of the whole one.
    folder.prints("--quick --out quick");
}

#[test]
fn what_is_asked_for_wrongly_is_refused() {
    let folder = Folder::new();
    for (arguments, expected) in [
        ("coin", "unknown experiment `coin`: expected all, or some of coins"),
        ("--seeds 0", "--seeds"),
        ("--threads 0", "--threads 0: expected"),
        ("--from nowhere", "--from nowhere: expected a folder of experiments"),
        ("--from paper/problems", "settings.toml"),
    ] {
        let said = folder.fails(arguments, 2);
        assert!(said.contains(expected), "{arguments}: {said}");
    }
    // Control characters of a name do not reach the terminal.
    assert!(folder.fails("coin\u{1b}[2J", 2).contains("`coin\\u{1b}[2J`"));
    folder.file("paper/coins.toml", &EXPERIMENT.replace("rounds = 1000", "rounds = 0"));
    assert!(folder.fails("", 2).contains("run `smd-m`: rounds: expected at least 1"));
}

#[test]
fn a_folder_that_cannot_be_made_is_refused_before_any_run() {
    let folder = Folder::new();
    folder.file("taken", "");
    let said = folder.fails("--out taken/figures", 1);
    assert!(said.starts_with("cannot write taken/figures/cache: "), "{said}");
}

#[test]
#[cfg(unix)]
fn an_interrupted_call_goes_on_later() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let folder = Folder::new();
    // A second experiment that would take hours.
    let endless = EXPERIMENT.replace("order = 1", "order = 2").replace("1000", "1000000000000");
    folder.file("paper/endless.toml", &endless);
    let steps = [tuned("coins", 1000), tuned("endless", 1_000_000_000_000)].concat();
    folder.file("paper/tuning.csv", &format!("{TUNING}{steps}"));
    let mut command = folder.command("");
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
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("interrupted; not complete: endless; 4 runs are kept"), "{said}");
    assert!(folder.read("figures/report.md").contains("**Not complete**, and left out: endless."));
    let files = std::fs::read_dir(folder.path().join("figures")).unwrap();
    let names: Vec<_> = files.map(|f| f.unwrap().file_name()).collect();
    assert!(names.iter().all(|f| !f.to_string_lossy().ends_with(".tmp")), "{names:?}");
    folder.prints("coins");
    assert!(folder.read("figures/report.md").contains("0 runs were played"));
}
