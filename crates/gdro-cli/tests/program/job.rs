//! Jobs: options, job files, and what does not go together.

use crate::common::{self, FIT, Folder};
use serde_json::Value;

/// A run on the table, but for its solver.
const PLAIN: &str = "fit t.csv --target y --groups g";

/// The job that a run saves with its model.
fn job(folder: &Folder, arguments: &str) -> Value {
    folder.prints(&format!("{arguments} --quiet --out out"));
    folder.json("out/model.json")["job"].clone()
}

#[test]
fn an_option_and_a_job_file_give_the_same_job() {
    let folder = Folder::people();
    folder.file(
        "job.toml",
        r#"
tables = ["t.csv"]
target = "y"
positive = "no"
groups = ["g"]
group-features = "drop"
missing = "drop"
missing-group = "own"
na = ["?", "12,5"]
ignore = ["z"]
objective = "max"
loss = "logistic"
ball = 3
l2 = 0.01
penalize-intercept = true
holdout = 5
seed = 9007199254740993
[merge.g]
B = ["b"]
[solver]
name = "online-1"
[solver.online-1]
anytime = true
loss-range = 4
rounds = 3e2
step-w = 2
step-q = 0.5
average = "last"
budget = "all"
"#,
    );
    let file = job(&folder, "fit job.toml");
    let options = folder
        .command(
            "fit t.csv --target y --positive no --groups g --group-features drop --missing drop \
             --missing-group own --ignore z --objective max --loss logistic --ball 3 --l2 0.01 \
             --penalize-intercept --holdout 5 --seed 9007199254740993 --merge g:B=b \
             --solver online-1 --anytime --loss-range 4 --rounds 300 --step-w 2 --step-q 5e-1 \
             --average last --budget all --quiet --out out --na",
        )
        .arg("?,\"12,5\"")
        .output()
        .unwrap();
    assert!(options.status.success(), "{}", common::stderr(&options));
    let mut options = folder.json("out/model.json")["job"].clone();
    // A file in a job file is relative to it.
    assert_eq!(file["tables"], serde_json::json!(["t.csv"]));
    options["tables"] = file["tables"].clone();
    assert_eq!(options, file);
    assert_eq!(file["training"]["seed"], 9_007_199_254_740_993_u64);
    assert_eq!(file["data"]["na"], serde_json::json!(["?", "12,5"]));
}

#[test]
fn options_win_over_solver_tables_and_those_over_the_top_level() {
    let folder = Folder::people();
    let text = "tables = ['t.csv']\ntarget = 'y'\ngroups = ['g']\nrounds = 10\nstep-w = 3\n\
                solver = 'smd-m'\n";
    folder.file("plain.toml", text);
    assert_eq!(job(&folder, "fit plain.toml")["training"]["rounds"], 10);
    let text = text.replace("solver = 'smd-m'\n", "[solver]\nname = 'smd-m'\n")
        + "[solver.smd-m]\nrounds = 20\n[solver.online-1]\nrounds = 30\n[solver.atkro-m]\nrounds = 40\n";
    folder.file("job.toml", &text);
    let of =
        |arguments: &str| job(&folder, &format!("fit job.toml {arguments}"))["training"].clone();
    let training = of("");
    assert_eq!((&training["rounds"], &training["step_w"]), (&20.into(), &Value::Null));
    assert_eq!(training["step-w"], 3.0);
    assert_eq!(of("--solver online-1")["rounds"], 30);
    assert_eq!(of("--solver smd-1")["rounds"], 10);
    assert_eq!(of("--solver online-1 --rounds 7")["rounds"], 7);
    let top = of("--objective top-k:1.5 --solver atkro-m");
    assert_eq!((&top["rounds"], &top["solver"]), (&40.into(), &"atkro-m".into()));
}

#[test]
fn tables_and_budgets_are_relative_to_the_job_file() {
    let folder = Folder::new();
    folder.file("deep/data/t.csv", common::people(60));
    folder.file("deep/budget.csv", "group,budget\nb,5\na,10\n");
    folder.file(
        "deep/job.toml",
        "tables = ['data/t.csv']\ntarget = 'y'\ngroups = ['g']\nbudget = 'budget.csv'\n\
         solver = 'smd-m'\n",
    );
    let job = job(&folder, "fit deep/job.toml");
    assert_eq!(job["tables"][0], "deep/data/t.csv");
    assert_eq!(job["training"]["budget"]["file"], "deep/budget.csv");
    // A table on the command line replaces those of the file.
    folder.file("other.csv", common::people(30));
    assert_eq!(
        folder.summary("other.csv deep/job.toml --quiet --budget all")["groups"][0]["n"],
        20
    );
}

#[test]
fn faults_of_a_job_file_have_a_line() {
    let folder = Folder::people();
    let base = "tables = ['t.csv']\ntarget = 'y'\ngroups = ['g']\n";
    let said = |text: &str| {
        folder.file("job.toml", format!("{base}{text}"));
        let solver = if text.contains("solver") { "" } else { "--solver smd-m" };
        folder.refused(&format!("fit job.toml --out out {solver}"))
    };
    for (text, expected) in [
        ("roundz = 5", "job.toml:4: unknown setting `roundz`: expected one of tables,"),
        ("step_w = 5", "job.toml:4: unknown setting `step_w`: did you mean `step-w`?"),
        ("rounds = 'many'", "job.toml:4: rounds = \"many\": expected a whole number"),
        ("rounds = 2.5", "job.toml:4: rounds = 2.5: expected a whole number"),
        ("seed = -1", "job.toml:4: seed = -1: expected a whole number"),
        ("ball = 0", "job.toml:4: ball = 0: expected a radius above 0"),
        ("ball = nan", "job.toml:4: ball = nan: expected a finite number"),
        ("l2 = -1", "job.toml:4: l2 = -1: expected a number of at least 0"),
        ("anytime = 1", "job.toml:4: anytime = 1: expected true or false"),
        ("objective = 'worst'", "job.toml:4: objective: `worst`: expected max"),
        ("objective = 'top-k:0.5'", "job.toml:4: objective: `top-k:0.5`: expected a number K"),
        ("average = 'mean'", "job.toml:4: average = \"mean\": expected uniform"),
        ("loss = 'median'", "job.toml:4: loss: `median`: expected logistic"),
        ("missing = 'median'", "job.toml:4: missing: `median`: expected error, drop, mean or own"),
        ("missing = {x = 'zero'}", "job.toml:4: missing: x = `zero`: expected error, drop, mean"),
        ("missing = {q = 'drop'}", "job.toml:4: missing: no column `q`"),
        ("hash = {q = 64}", "job.toml:4: hash: no column `q`"),
        ("min-count = 1", "job.toml:4: min-count: 1: expected a number of rows of at least 2"),
        ("min-count = -3", "job.toml:4: min-count: invalid value"),
        ("ignore = 'z'", "job.toml:4: ignore: invalid type"),
        ("ignore = ['q']", "job.toml:4: ignore: no column `q`"),
        ("positive = 'maybe'", "job.toml:4: positive: no row of target `y` has the label `maybe`"),
        ("solver = 'sgd'", "job.toml:4: solver: unknown solver `sgd`: expected one of "),
        ("\n[solver]\nname = 3", "job.toml:6: solver = 3: expected a text"),
        ("[solver]\nsgd = {}", "job.toml:5: [solver]: unknown solver `sgd`"),
        ("[solver]\nsmd-m = 5", "job.toml:5: solver.smd-m = 5: expected a table"),
        ("[solver.smd-m]\nl2 = 5", "job.toml:5: `l2` in [solver.smd-m]: expected one of anytime"),
        (
            "[solver]\nname = 'smd-m'\n[solver.smd-1]\nrounds = 3\n[solver.smd-m]\nrounds = 0",
            "job.toml:9: rounds = 0:",
        ),
        (
            "solver.name = 'smd-m'\n[solver.smd-m]\nstep-w = 0",
            "job.toml:6: step-w = 0: expected a multiplier above 0",
        ),
        (
            "[merge.q]\nB = ['b']",
            "job.toml:4: merge: `q`: expected a column that groups are made of",
        ),
        ("rounds = ", "job.toml:4:10: "),
        ("target = 'z'", "job.toml:4:1: duplicate key"),
    ] {
        let found = said(text);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
    // What an option says is not blamed on the file.
    folder.file("job.toml", format!("{base}rounds = 5\n"));
    let found = folder.refused("fit job.toml --rounds 0 --solver smd-m");
    assert!(found.starts_with("--rounds 0: expected a whole number from 1"), "{found}");
}

#[test]
fn what_is_no_job_is_refused() {
    let folder = Folder::people();
    folder.file("a.toml", "target = 'y'\n");
    folder.file("b.toml", "target = 'y'\n");
    folder.file("bytes.toml", b"target = '\xff'\n");
    for (arguments, expected) in [
        ("fit a.toml b.toml", "two job files, a.toml and b.toml: expected one"),
        ("fit a.toml", "no table: expected a file of rows"),
        ("fit none.toml", "cannot read the job file none.toml: "),
        ("fit bytes.toml", "cannot read the job file bytes.toml: "),
        ("fit", "the following required arguments were not provided: <TABLE|JOB.toml>..."),
        ("fit t.csv --frobnicate", "unexpected argument '--frobnicate' found"),
        ("fit t.csv --rounds many", "invalid value 'many' for '--rounds <T>': expected a number"),
        ("fit t.csv --target y --solver sgd", "--solver: unknown solver `sgd`"),
        ("fit t.csv --target q", "--target: no column `q`: the columns are x, z, g, y"),
        ("fit t.csv", "--target: none given: name the column to predict, one of x, z, g, y"),
        ("fit t.csv --target y --merge g", "--merge g: expected COLUMN:NEW=OLD|OLD"),
        ("fit t.csv --target y --delimiter ab", "--delimiter: \"ab\": expected one character"),
        ("fit t.csv --target y --threads 0", "--threads 0: expected a number from 1 to 1024"),
        ("fit t.csv --target y --json --all-groups", "--all-groups: no table is shown"),
    ] {
        let found = folder.refused(arguments);
        assert!(found.starts_with(expected), "{arguments}: {found}");
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    let folder = Folder::people();
    for value in ["0", "2.5", "-1", "1e30", "NaN", "inf", "-inf"] {
        let found = folder
            .refused(&format!("{FIT} --rounds {value} --out out").replace("--rounds 300", ""));
        assert!(
            found.starts_with("--rounds ") && found.contains("a whole number from 1"),
            "{found}"
        );
    }
    let cases = [
        ("--holdout", "1.5 -0.1 2.5 -3", "a share from 0 to below 1"),
        ("--holdout", "NaN inf", "a finite number"),
        ("--ball", "0 -1", "a radius above 0"),
        ("--l2", "-1 -1e-9", "a number of at least 0"),
        ("--l2", "0", "a positive penalty, or a ball"),
        ("--step-w", "0 -2", "a multiplier above 0"),
        ("--step-q", "0 -2", "a multiplier above 0"),
        ("--loss-range", "0 -2", "a number above 0"),
        ("--loss-range", "nan inf", "a finite number"),
        ("--seed", "-1 0.5 1e300", "a whole number from 0"),
    ];
    for (option, values, expected) in cases {
        for value in values.split(' ') {
            let found = folder.refused(&format!("{FIT} {option} {value} --out out"));
            assert!(found.starts_with(&format!("{option} ")), "{found}");
            assert!(found.contains(expected), "{option} {value}: {found}");
        }
    }
    folder.prints(&format!("{FIT} --holdout 364 --quiet"));
    folder.prints(&format!("{FIT} --l2 0 --ball 2 --quiet"));
}

#[test]
fn options_that_contradict_each_other_or_that_nothing_uses_are_refused() {
    let folder = Folder::people();
    for (options, expected) in [
        ("--anytime --solver smd-1", "--anytime: smd-1 has no anytime form"),
        ("--anytime --solver smd-r", "--anytime: smd-r has no anytime form"),
        ("--anytime --solver smpa-m", "--anytime: smpa-m has no anytime form"),
        ("--anytime --solver atkro-k --objective top-k:2", "--anytime: atkro-k has no anytime"),
        ("--step-q 1 --objective average", "--step-q: the group weights do not move"),
        ("--step-q 9 --objective balanced", "--step-q: the group weights do not move"),
        ("--loss-range 9 --objective average --solver online-1", "--loss-range: online-1 uses it"),
        (
            "--objective top-k:2 --solver smd-m",
            "--solver: smd-m does not minimise top-k:2: use atkro",
        ),
        (
            "--objective tilted:0.1 --solver smd-m",
            "--solver: smd-m does not minimise tilted:0.1: use exact, or top-k:K with atkro-m",
        ),
        ("--objective tilted:0", "--objective: `tilted:0`: expected a number TAU above 0"),
        ("--objective max --solver atkro-m", "--solver: atkro-m minimises top-k:K, not max"),
        ("--solver atkro-1", "--solver: atkro-1 minimises top-k:K, not max"),
        ("--objective average --solver smd-r", "--solver: smd-r plays a weighted form of max"),
        ("--objective balanced --solver smpa-m", "--solver: smpa-m plays a weighted form of max"),
        ("--objective top-k:9 --solver atkro-m", "--objective: top-k:9 of only 2 groups"),
        ("--weight z --budget all", "--budget: rows that are visited once cannot be weighted"),
        ("--merge z:A=1", "--merge: `z`: expected a column that groups are made of"),
        ("--delta 0.1 --holdout 0", "--delta: intervals need rows that are held out"),
        ("--ignore y", "--ignore: `y`: expected not the target"),
        ("--loss squared", "target `y`: found texts (`no`, `yes`), regression takes numbers"),
    ] {
        let solver = if options.contains("solver") { "" } else { "--solver smd-m" };
        let found = folder.refused(&format!("{PLAIN} {solver} {options} --out out"));
        assert!(found.starts_with(expected), "{options}: {found}");
    }
    let found = folder.refused(&format!("{PLAIN} --objective top-k:1.5 --solver atkro-k"));
    assert!(found.contains("atkro-m") && found.contains("atkro-1"), "{found}");
    for option in ["--missing-group own", "--group-features drop"] {
        let found = folder.refused(&format!("fit t.csv --target y {option}"));
        assert!(found.contains("there are no group columns"), "{found}");
    }
    // In the table of the solver a step for the group weights waits for an objective that moves
    // them.
    folder.file("job.toml", "tables = ['t.csv']\ntarget = 'y'\ngroups = ['g']\n[solver]\nname = 'smd-m'\n[solver.smd-m]\nstep-q = 9\nrounds = 50\n");
    let job = job(&folder, "fit job.toml --objective average");
    assert_eq!(job["training"]["step-q"], 1.0);
}

#[test]
fn every_solver_runs_and_refuses_nothing_that_it_uses() {
    let folder = Folder::people();
    for options in [
        "--solver smd-m --anytime --average weighted --step-q 2 --loss-range 3 --rounds 30",
        "--solver smd-1 --average suffix --rounds 30",
        "--solver online-1 --anytime --loss-range 2 --rounds 30",
        "--solver smd-r --budget all --rounds 20",
        "--solver smpa-m --budget all --rounds 5",
        "--objective top-k:1.5 --solver atkro-m --anytime --rounds 30",
        "--objective top-k:2 --solver atkro-k --rounds 30",
        "--objective top-k:1.5 --solver atkro-1 --anytime --average last --rounds 30",
        "--objective average --solver smd-m --rounds 30",
        "--objective balanced --solver online-1 --rounds 30",
        "--solver smd-m --ball 2 --penalize-intercept --l2 0.1 --rounds 30",
        "--solver smd-m --weight z --rounds 30",
        "--solver smd-m --threads 1 --rounds 30",
    ] {
        folder.prints(&format!("{PLAIN} --quiet {options}"));
    }
}

#[test]
fn faults_of_a_budget_file_are_named() {
    let folder = Folder::people();
    let said = |text: &str| {
        folder.file("b.csv", text);
        folder.refused(&format!("{FIT} --holdout 0 --budget b.csv --out out"))
    };
    for (text, expected) in [
        (
            "group,budget\na,5\nc,5\n",
            "b.csv:3: column `group`: `c` has no training rows: expected one of `a`, `b`",
        ),
        (
            "group,budget\na,41\nb,5\n",
            "b.csv:2: column `budget`: found `41` for group `a`, expected a whole number from 1 to its training rows",
        ),
        ("group,budget\na,0\nb,5\n", "b.csv:2: column `budget`: found `0`"),
        ("group,budget\na,2.5\nb,5\n", "b.csv:2: column `budget`: found `2.5`"),
        ("group,budget\na,5\nb,some\n", "b.csv:3: column `budget`: found `some`"),
        ("group,budget\na,5\nb,\n", "b.csv:3: column `budget`: found ``"),
        ("group,budget\na,5\n", "b.csv: no budget for group `b`"),
        ("group,budget\na,5\nb,5\na,5\n", "b.csv:4: group `a` has a budget already"),
        ("name,budget\na,5\n", "b.csv: expected the columns group and budget"),
        ("group,budget\n", "b.csv: no rows"),
        ("", "b.csv: the file is empty"),
        ("group,budget\na,5,6\n", "b.csv:2: found 3 cells, expected 2"),
    ] {
        let found = said(text);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
    let found = folder.refused(&format!("{FIT} --budget none.csv"));
    assert!(found.starts_with("none.csv: cannot open"), "{found}");
    folder.file("b.csv", "budget,group\n7,b\n1e1,a\n");
    let summary = folder
        .summary("t.csv --target y --groups g --holdout 0 --budget b.csv --quiet --solver smd-r");
    let samples = |i: usize| common::number(&summary["groups"][i]["samples"]);
    assert!(samples(0) <= 10.0 && samples(1) <= 7.0, "{summary}");
    let found = folder.refused(
        "fit t.csv --target y --groups g --holdout 0 --budget b.csv --solver smpa-m --rounds 4",
    );
    assert!(found.starts_with("--rounds: smpa-m needs two rows"), "{found}");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = Folder::people();
    let name = std::ffi::OsStr::from_bytes(b"t\xff.csv");
    std::fs::copy(folder.path().join("t.csv"), folder.path().join(name)).unwrap();
    let output = folder.command("fit --target y").arg(name).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(common::stderr(&output).contains("not valid UTF-8"));
}
