//! What training says of a table by itself.

use std::process::Output;

use crate::common::{Folder, people, stderr};

/// What is said while a short run trains on `t.csv`.
fn said(folder: &Folder, options: &str) -> String {
    let run = match options.contains("--stream") {
        true => "fit t.csv --target y --holdout 0 --one-pass --step-w 1 --step-q 1",
        false => {
            "fit t.csv --target y --objective max --solver smd-m --rounds 20 --step-w 1 --step-q 1"
        }
    };
    let output: Output = folder.run(&format!("{run} {options}"));
    assert_eq!(output.status.code(), Some(0), "{options}: {}", stderr(&output));
    stderr(&output)
}

/// [`people`] with one more column, made of the number of the row.
fn with(name: &str, cell: impl Fn(usize) -> String) -> Folder {
    let table = people(120);
    let mut lines = table.lines();
    let mut text = format!("{name},{}\n", lines.next().unwrap());
    for (at, line) in lines.enumerate() {
        text += &format!("{},{line}\n", cell(at));
    }
    Folder::with(text)
}

#[test]
fn nothing_is_said_of_an_ordinary_table() {
    let folder = Folder::with(people(120));
    let said = said(&folder, "--groups g");
    let notes: Vec<&str> = said.lines().filter(|line| line.starts_with("note: ")).collect();
    let choices = ["target `y`", "group columns are features"];
    assert!(notes.iter().all(|n| choices.iter().any(|c| n.contains(c))), "{notes:?}");
}

#[test]
fn numbers_as_groups_are_to_be_cut() {
    let folder = with("age", |i| format!("{:.1}", 18.0 + (i * 37 % 120) as f64 / 2.0));
    for stream in ["", " --stream"] {
        let found = said(&folder, &format!("--groups age{stream}"));
        let expected = "note: group column `age` holds 120 different numbers, each a group of its own: \
                        cut it into bins, as in `age:33,48,63` of `groups`";
        assert!(found.contains(expected), "{stream}: {found}");
    }
    let cut = said(&folder, "--groups age:33,48,63");
    assert!(!cut.contains("each a group of its own"), "{cut}");
    let found = said(&with("id", |i| format!("p{i}")), "--groups id --group-features drop");
    assert!(found.contains("note: 120 groups of 120 rows: hardly more than a row each"), "{found}");
}

#[test]
fn groups_that_lose_their_rows_are_named() {
    // All rows of `v` miss the cell, and 38 of 40 of `u`; of `w` a few.
    let cell = |i: usize| match i % 3 {
        0 if i > 5 => ",u".to_owned(),
        0 => format!("{i},u"),
        1 => ",v".to_owned(),
        _ if i < 12 => ",w".to_owned(),
        _ => format!("{i},w"),
    };
    let folder = with("x2,site", cell);
    for stream in ["", " --stream"] {
        let found = said(&folder, &format!("--groups site --missing drop{stream}"));
        let expected = "note: leaving rows out because cells are missing takes nine tenths or more of 2 \
                        groups: `u (38 of 40)`, `v (40 of 40)`; `missing` can keep such rows";
        assert!(found.contains(expected), "{stream}: {found}");
    }
    let kept = said(&folder, "--groups site --missing mean");
    assert!(!kept.contains("nine tenths"), "{kept}");
}

#[test]
fn features_that_give_the_target_away_are_named() {
    let labels: Vec<bool> = people(120).lines().skip(1).map(|l| l.ends_with("yes")).collect();
    let folder = with("later", |i| (usize::from(labels[i]) * 50 + i % 40).to_string());
    let found = said(&folder, "--groups g");
    let expected =
        "note: feature `later` alone predicts the target (area under the ROC curve 1.000";
    assert!(found.contains(expected), "{found}");
    // `inspect` says it once.
    let shown = folder.prints("inspect t.csv --target y --groups g");
    assert_eq!(shown.matches("alone predicts").count(), 1, "{shown}");
    // `fit` says it again at the end, and in the page.
    let fit = "fit t.csv --target y --groups g --objective max --solver exact --report p.html";
    let shown = folder.prints(fit);
    let at = shown.find("warning: feature `later` alone predicts the target");
    assert!(at.is_some_and(|at| shown.find("Rows held out").unwrap() < at), "{shown}");
    let page = folder.read("p.html");
    let alerts = page.split("<h3>The models</h3>").next().unwrap();
    assert!(alerts.contains("alone predicts the target"));
}

#[test]
fn numbers_that_may_mean_missing_are_named() {
    let folder = with("chol", |i| if i % 6 == 0 { 0 } else { 150 + i * 37 % 101 }.to_string());
    let expected = "`chol` holds 0 in 20 rows, and at least 150 in the other 100: if it means missing, \
                    give `na` the entry `chol=0`";
    let found = said(&folder, "--groups g");
    assert_eq!(found.matches(expected).count(), 1, "{found}");
    let shown = folder.prints("inspect t.csv --target y --groups g");
    assert_eq!(shown.matches("`chol` holds 0").count(), 1, "{shown}");
    assert!(!said(&folder, "--groups g --na chol=0 --missing mean").contains("`chol` holds"));
}

#[test]
fn names_of_rows_are_pointed_out() {
    let folder = with("name", |i| format!("n{}", i / 3 * 2 + i % 3 / 2));
    for stream in ["", " --stream"] {
        let found = said(&folder, &format!("--groups g{stream}"));
        assert!(found.contains("note: more different texts than half of the rows"), "{found}");
        assert!(found.contains("like names of the rows: `name`"), "{found}");
    }
    let folded = said(&folder, "--groups g --min-count 3");
    assert!(!folded.contains("names of the rows"), "{folded}");
    let expected = "a value of its own in every row, like a number of the row: `id`: leave out";
    assert!(said(&with("id", |i| (i * 7 % 120 + 4).to_string()), "--groups g").contains(expected));
    let twice = with("id", |i| (if i == 50 { 4 } else { i + 4 }).to_string());
    assert!(!said(&twice, "--groups g").contains("number of the row"));
}

#[test]
fn scales_that_do_not_suit_rounds_are_said() {
    let folder = with("wide,thin", |i| format!("{},{}e-6", i * 1_000_000, i % 5));
    let found = said(&folder, "--groups g --scaling none");
    let expected = "note: features are far from 1, in root mean square: `wide` (7e7), `thin` (2e-6): one \
                    step for all weights suits none of them: standardise the features, or use the \
                    solver exact";
    assert!(found.contains(expected), "{found}");
    assert!(!said(&folder, "--groups g").contains("far from 1"));
    let exact = folder.run("fit t.csv --target y --groups g --scaling none --solver exact");
    assert!(!stderr(&exact).contains("far from 1"), "{}", stderr(&exact));
}

/// A job says where its table comes from, if it is not there.
#[test]
fn a_table_that_is_not_there_is_looked_for() {
    let folder = Folder::new();
    let job = "# Flights.\n# Get flights.csv from a package.\ntables = ['data/flights.csv']\ntarget = 'y'\n";
    folder.file("job.toml", job);
    let found = folder.refused("fit job.toml");
    let end = ": the comment at the start of job.toml says where to get it";
    assert!(found.contains("cannot open: No such file") && found.ends_with(end), "{found}");
    let found = folder.refused("inspect job.toml");
    assert!(found.ends_with(end), "{found}");
    folder.file("plain.toml", "tables = ['flights.csv']\ntarget = 'y'\n# flights.csv\n");
    assert!(!folder.refused("fit plain.toml").contains("where to get it"));
}

#[test]
fn every_command_can_be_quiet() {
    let folder = Folder::people();
    let output = folder.run("fit t.csv --target y --groups g --out out -q");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let output = folder.run("evaluate out t.csv -q --report page.html");
    assert_eq!(
        (output.status.code(), &output.stdout[..], &output.stderr[..]),
        (Some(0), &b""[..], &b""[..])
    );
    assert!(folder.read("page.html").contains("</html>"));
    let json = folder.prints("evaluate out t.csv --quiet --json");
    assert_eq!(json, folder.prints("evaluate out t.csv --json"));
    folder.file("new.csv", ",x,z,g\n0,1,2,c\n");
    let noted = folder.run("predict out new.csv");
    let quiet = folder.run("predict out new.csv -q");
    assert_eq!(noted.stdout, quiet.stdout);
    assert!(!noted.stderr.is_empty() && quiet.stderr.is_empty());
}

/// The solver of a stream is the one that the help names.
#[test]
fn the_help_of_streams_names_their_solver() {
    let folder = Folder::people();
    let help = folder.prints("fit --help-all");
    let help: Vec<&str> = help.split_whitespace().collect();
    let help = help.join(" ");
    let shown = folder.prints("fit t.csv --target y --groups g --stream");
    let solver = shown
        .lines()
        .find_map(|line| line.split_once(": ").filter(|(_, rest)| rest.contains(" rounds, ")));
    let (solver, _) = solver.unwrap_or_else(|| panic!("{shown}"));
    assert!(help.contains(&format!("({solver} unless --solver names another)")), "{help}");
    assert!(
        help.contains(&format!("auto: exact where it fits, and {solver} with --stream")),
        "{help}"
    );
}

/// Work per column does not grow with the number of columns: eight times the columns take well under
/// the 64 times of quadratic work.
#[test]
fn work_is_linear_in_the_columns() {
    let table = |columns: usize| {
        let names: Vec<String> = (0..columns).map(|c| format!("f{c}")).collect();
        let mut text = names.join(",") + ",y\n";
        for row in 0..8 {
            (0..columns).for_each(|c| text += &format!("{},", (row * 7 + c * 13) % 11));
            text += &format!("{}\n", row % 2);
        }
        Folder::with(text)
    };
    let seconds = |columns: usize| {
        let folder = table(columns);
        let run = || {
            let started = std::time::Instant::now();
            folder.prints("inspect t.csv --target y --json");
            started.elapsed().as_secs_f64()
        };
        run().min(run())
    };
    let (few, many) = (seconds(4_000), seconds(32_000));
    assert!(many < 24.0 * few.max(0.05), "{few} s for 4,000 columns, {many} s for 32,000");
}

#[test]
fn a_few_strays_among_two_labels_are_refused() {
    // `strays` of 120 rows hold a third number.
    let with = |strays: usize| {
        let table = people(120).replace(",yes\n", ",1\n").replace(",no\n", ",0\n");
        let line = |(at, line): (usize, &str)| match at {
            60.. if at < 60 + strays => format!("{}2\n", &line[..line.len() - 1]),
            _ => format!("{line}\n"),
        };
        Folder::with(table.lines().enumerate().map(line).collect::<String>())
    };
    for stream in ["", " --stream"] {
        let folder = with(1);
        let output = folder.run(&format!("fit t.csv --target y --groups g{stream} --out run"));
        let found = stderr(&output);
        let expected = "t.csv:61: target `y`: found `2` in 1 row, expected `0` or `1`, which the \
                        other 119 rows hold: mend these rows; if the target is a number, say \
                        `--loss squared`, if it has more classes, `--loss softmax`";
        assert!(found.contains(expected), "{stream}: {found}");
        assert_eq!(output.status.code(), Some(2));
        assert!(!folder.path().join("run").exists());
        said(&folder, &format!("--loss squared{stream}"));
        // More of them are numbers, of which a note speaks.
        let many = said(&with(7), stream);
        assert!(many.contains("3 different numbers, taken as a number"), "{many}");
    }
}

#[test]
fn a_number_that_means_missing_is_pointed_out_and_taken_so() {
    let table = |gap: &str| {
        with("chol", |i| match i % 5 {
            0 => gap.to_owned(),
            _ => format!("{}.0", 150 + i * 37 % 101),
        })
    };
    let folder = table("0.0");
    let found = folder.prints("inspect t.csv --target y --groups g");
    let expected = "`chol` holds 0 in 24 rows, and at least 150 in the other 96: if it means \
                    missing, give `na` the entry `chol=0`";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&found).contains(expected), "{found}");
    let run = "t.csv --target y --groups g --objective max --missing mean";
    let of = |folder: &Folder, options: &str| {
        folder.summary(&format!("{run} {options}"))["max_risk"].as_f64().unwrap()
    };
    // `x` has zeros that are numbers.
    let right = of(&table(""), "");
    assert_eq!(of(&folder, "--na chol=0"), right);
    assert_ne!(of(&folder, ""), right);
    let output = folder.run(&format!("fit {run} --na chl=0"));
    assert_eq!(output.status.code(), Some(2));
    let found = stderr(&output);
    assert!(found.contains("--na: no column `chl`: did you mean `chol`?"), "{found}");
}
