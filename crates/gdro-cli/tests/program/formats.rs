//! Tables in every format, through the program.

use std::process::Stdio;

use crate::common::{Folder, number, people, stderr};
use crate::tables;
use serde_json::Value;

/// Numbers, whole numbers, texts, booleans and missing cells, with groups of numbers and texts.
fn mixed(rows: usize) -> String {
    let mut text = "x,k,t,b,gap,f,y\n".to_owned();
    for i in 0..rows {
        let x = (i as f64 * 0.731).sin() * 1e3;
        let gap = if i % 9 == 3 { String::new() } else { format!("{:?}", i as f64 / 7.0) };
        let t = if i % 11 == 5 { "" } else { ["u", "v w", "\"z,z\""][i % 3] };
        let y = if (x > 0.0) == (i % 5 != 0) { "yes" } else { "no" };
        let f = ["1.0", "2.5"][i % 2];
        text += &format!("{x:?},{},{t},{},{gap},{f},{y}\n", i * 31 % 4, i % 4 == 0);
    }
    text
}

/// A model without the names of its files.
fn model(folder: &Folder, out: &str) -> Value {
    let mut model = folder.json(&format!("{out}/model.json"));
    model["job"]["tables"] = Value::Null;
    model["job"]["data"]["format"] = Value::Null;
    model
}

#[test]
fn all_formats_give_bit_identical_models() {
    let (folder, text) = (Folder::new(), mixed(200));
    for options in [
        "--groups k,f --objective max",
        "--groups t --missing-group own --text k --solver smd-m --rounds 200",
    ] {
        let options = format!("--target y {options} --missing drop --quiet");
        let mut expected = None;
        for (ending, content) in tables::every_format(&text) {
            folder.file(&format!("t.{ending}"), &content);
            folder.file(&format!("later.{ending}"), content);
            for threads in [1, 2] {
                folder.prints(&format!(
                    "fit t.{ending} {options} --threads {threads} --out {ending}"
                ));
                let found = model(&folder, ending);
                let expected = expected.get_or_insert_with(|| found.clone());
                assert_eq!(&found, expected, "{ending}");
            }
            // The standard input, whose format the content tells.
            let input = std::fs::File::open(folder.path().join(format!("t.{ending}"))).unwrap();
            let mut command = folder.command(&format!("fit - {options} --out stdin"));
            let output = command.stdin(Stdio::from(input)).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            assert_eq!(Some(model(&folder, "stdin")), expected, "{ending}");
            // Later tables, too.
            let of = |command: &str| folder.prints(&format!("{command} csv t.{ending}"));
            assert_eq!(of("predict"), folder.prints("predict csv t.csv"), "{ending}");
            let later = |ending: &str| folder.prints(&format!("evaluate csv later.{ending}"));
            assert_eq!(later(ending), later("csv"), "{ending}");
            assert!(of("certify").contains("stored in the model"), "{ending}");
        }
    }
}

/// Rows of numbers as a table and as LIBSVM, with the labels of the groups.
fn numbers(rows: usize) -> (String, String, String) {
    let (mut table, mut sparse, mut groups) =
        ("a,b,c,g,y\n".to_owned(), String::new(), String::new());
    for i in 0..rows {
        let x = [(i * 37 % 23) as f64 - 11.0, if i % 3 == 0 { 0.5 } else { 0.0 }, i as f64 / 8.0];
        let y = if (x[0] > 0.0) == (i % 7 != 0) { 1 } else { -1 };
        let g = ["p", "q"][i % 4 / 3];
        table += &format!("{},{},{},{g},{y}\n", x[0], x[1], x[2]);
        let entries = x.iter().enumerate().filter(|(_, v)| **v != 0.0);
        let entries: Vec<String> = entries.map(|(at, v)| format!("{}:{v}", at + 1)).collect();
        sparse += &format!("{y} {}\n", entries.join(" "));
        groups += &format!("{g}\n");
    }
    (table, sparse, groups)
}

#[test]
fn the_same_rows_as_libsvm_have_the_same_objective() {
    let (table, sparse, groups) = numbers(120);
    let folder = Folder::with(table);
    folder.file("t.svm", sparse);
    folder.file("g.txt.gz", tables::gzip(groups.as_bytes()));
    for scaling in ["none", "standard"] {
        let options = format!("--scaling {scaling} --l2 1e-3 --holdout 0 --solver exact");
        let one =
            folder.summary(&format!("t.csv --target y --groups g --group-features drop {options}"));
        let other = folder.summary(&format!("t.svm --group-file g.txt.gz {options}"));
        let risk = |s: &Value| number(&s["max_risk"]);
        assert!((risk(&one) - risk(&other)).abs() <= 1e-10, "{scaling}");
        let upper = |s: &Value| number(&s["certificate"]["upper"]);
        assert!((upper(&one) - upper(&other)).abs() <= 1e-10);
    }
}

#[test]
fn models_of_sparse_features_are_used_on_later_files() {
    let (_, sparse, groups) = numbers(120);
    let folder = Folder::new();
    folder.file("t.svm", sparse);
    folder.file("g.txt", groups);
    let output = folder.run("fit t.svm --group-file g.txt --out run --solver exact");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("taken as they are, not standardised"), "{said}");
    assert!(folder.prints("certify run t.svm --group-file g.txt").contains("stored in the model"));
    folder.prints("evaluate run t.svm --group-file g.txt");
    assert_eq!(folder.prints("predict run t.svm").lines().count(), 121);
    let found = folder.refused("evaluate run t.svm");
    assert!(found.starts_with("--group-file: the groups of the model come"), "{found}");
    folder.file("later", "0 1:3 9:1\n0\n");
    let found = folder.refused("predict run later");
    assert!(
        found.starts_with("later is delimited text, the model was trained on LIBSVM"),
        "{found}"
    );
    let output = folder.run("predict run later --format svmlight");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3);
    let said = stderr(&output);
    assert!(said.contains("rows with features that training never saw: 1"), "{said}");
    let found = folder.refused("predict run later --format excel");
    assert!(found.starts_with("--format excel: expected csv, tsv"), "{found}");
    let found = folder.refused("fit t.svm --group-file g.txt --group-features drop");
    assert!(found.starts_with("--group-features: labels of a group file"), "{found}");
    folder.file("short.txt", "p\nq\n");
    let found = folder.refused("fit t.svm --group-file short.txt");
    assert!(found.starts_with("short.txt: found 2 labels, the table has 120 rows"), "{found}");
}

#[test]
fn files_and_jobs_are_found_by_patterns() {
    let folder = Folder::new();
    let text = people(60);
    let (head, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (at, part) in rows.chunks(20).enumerate() {
        folder.file(&format!("parts/p{at}.csv"), format!("{head}\n{}\n", part.join("\n")));
    }
    folder.file("parts/t.csv", &text);
    let options = "target = 'y'\ngroups = ['g']\nsolver = 'exact'\n";
    folder.file("parts/job.toml", format!("tables = ['p*.csv']\n{options}"));
    folder.file("parts/one.toml", format!("tables = ['t.csv']\n{options}"));
    let risk = |job: &str| number(&folder.summary(job)["max_risk"]);
    assert_eq!(risk("parts/job.toml"), risk("parts/one.toml"));
    folder.file("parts/stdin.toml", format!("tables = ['-']\n{options}"));
    let input = std::fs::File::open(folder.path().join("parts/t.csv")).unwrap();
    let mut command = folder.command("fit parts/stdin.toml --quiet");
    assert!(command.stdin(Stdio::from(input)).status().unwrap().success());
    let found = folder.refused("fit parts/q*.csv --target y");
    assert!(found.starts_with("parts/q*.csv: no file matches it"), "{found}");
}
