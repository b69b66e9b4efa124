//! Missing cells, rare and hashed texts, and rows that are held out, through the program.

use crate::common::{Folder, number, stderr};
use serde_json::json;

/// 40 rows with missing numbers and texts, a rare text, a text for many rows.
fn gaps() -> String {
    let mut text = "x,t,id,part,g,y\n".to_owned();
    for i in 0..40 {
        let x = if i % 5 == 0 { String::new() } else { (i * 7 % 11).to_string() };
        let t = ["a", "b", "", "a", "b"][i % 5];
        let t = if i == 7 { "odd" } else { t };
        let (part, g) = (["old", "old", "old", "new"][i / 10], ["m", "n"][i % 2]);
        text += &format!("{x},{t},i{i},{part},{g},{}\n", ["no", "yes"][i * i % 7 % 2]);
    }
    text
}

const FIT: &str = "t.csv --target y --groups g --l2 0.01 --quiet";

#[test]
fn missing_cells_are_kept_as_asked() {
    let folder = Folder::with(gaps());
    let fit = |options: &str| folder.prints(&format!("fit {FIT} --holdout 0 {options} --out out"));
    let found = folder.refused(&format!("fit {FIT}"));
    assert!(found.starts_with("t.csv:2: column `x`: the cell is missing"), "{found}");
    assert!(found.contains("`--missing mean` or `own-category`"), "{found}");
    let features = || folder.json("out/model.json")["features"].clone();
    fit("--ignore id,part --missing own-category");
    let own = ["x", "x=(missing)", "t=(missing)", "t=a", "t=b", "t=odd", "g=m", "g=n"];
    assert_eq!(features(), json!(own));
    fit("--ignore id,part --missing mean --missing t=drop");
    assert_eq!(features(), json!(["x", "t=a", "t=b", "t=odd", "g=m", "g=n"]));
    let schema = &folder.json("out/summary.json")["schema"];
    assert_eq!(schema[0]["column"], "x");
    assert_eq!((&schema[0]["role"], &schema[0]["kind"]), (&json!("feature"), &json!("number")));
    assert_eq!((&schema[0]["missing"], &schema[1]["levels"]), (&json!("zero"), &json!(3)));
    assert_eq!(
        (&schema[2]["role"], &schema[4]["role"]),
        (&json!("ignored"), &json!("group-feature"))
    );
    // The job file says the same in a table.
    let mean = folder.json("out/model.json");
    folder.file(
        "job.toml",
        "tables = ['t.csv']\ntarget = 'y'\ngroups = ['g']\nl2 = 0.01\nholdout = 0\nout = 'job'\n\
         ignore = ['id', 'part']\nmissing = {default = 'mean', t = 'drop'}\n",
    );
    folder.prints("fit job.toml --quiet");
    assert_eq!(folder.json("job/model.json")["weights"], mean["weights"]);
    // The model fills what later tables miss, and needs nothing else.
    folder.file("later.csv", "x,t,g\n,a,m\n3,,n\n4,new,m\n");
    let predicted = folder.prints("predict job/ later.csv");
    assert_eq!(predicted.lines().filter(|line| line.contains("0.")).count(), 2, "{predicted}");
    fit("--ignore id,part --missing own-category");
    let output = folder.run("predict out/ later.csv");
    assert_eq!(stderr(&output), "note: column `t`: rows with a text that training never saw: 1\n");
    folder.file("job.toml", "missing = 'mean'\ntarget = 'y'\n");
    let found = folder.refused("fit t.csv job.toml --missing t=mean");
    assert!(found.starts_with("--missing: `t=mean`: expected own-category or drop"), "{found}");
    let found = folder.refused("fit t.csv job.toml --missing median");
    assert!(found.starts_with("--missing: `median`: expected error, drop, mean"), "{found}");
}

#[test]
fn a_mean_is_the_cell_that_it_stands_for() {
    // Cells replaced by the mean of the others by hand, and the deviation that they leave: the
    // same model as with the mean computed by the program and the column divided by hand.
    let folder = Folder::new();
    let cell = |i: usize| if i % 4 == 1 { None } else { Some((i * 5 % 7) as f64) };
    let (present, n) = ((0..24).filter_map(cell), 18.0);
    let mean = present.clone().sum::<f64>() / n;
    let deviation = (present.map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    // A column of deviation 1 over all rows: the filled cells shrink it, by √(18/24).
    let (mut gaps, mut filled) = ("x,g,y\n".to_owned(), "x,g,y\n".to_owned());
    for i in 0..24 {
        let rest = format!("{},{}", ["a", "b"][i % 2], i * i % 5 % 2);
        gaps += &format!("{},{rest}\n", cell(i).map_or(String::new(), |v| v.to_string()));
        filled += &format!("{},{rest}\n", cell(i).map_or(0.0, |v| (v - mean) / deviation));
    }
    folder.file("gaps.csv", gaps);
    folder.file("filled.csv", filled);
    let fit = "--target y --groups g --group-features drop --holdout 0 --quiet --l2 1e-9 --ball 50";
    let (a, b) = (
        folder.summary(&format!("gaps.csv {fit} --missing mean --out a")),
        folder.summary(&format!("filled.csv {fit} --out b")),
    );
    assert!((number(&a["max_risk"]) - number(&b["max_risk"])).abs() < 1e-7);
    let w = |of: &str| number(&folder.json(&format!("{of}/model.json"))["weights"][0]);
    assert!((w("a") - w("b") / (18.0f64 / 24.0).sqrt()).abs() < 1e-4, "{} {}", w("a"), w("b"));
}

#[test]
fn case_15_rare_texts_are_known_and_new_ones_are_not() {
    let folder = Folder::with(gaps());
    let fit = format!("fit {FIT} --ignore id,part --missing own-category --holdout 0 --out out");
    folder.prints(&format!("{fit} --min-count 3"));
    let model = folder.json("out/model.json");
    assert_eq!(model["features"][3], "t=(rare)");
    folder.file("later.csv", "x,t,g\n1,odd,m\n1,new,m\n");
    let output = folder.run("predict out/ later.csv");
    assert!(stderr(&output).contains("column `t`: rows with a text that training never saw: 1"));
    let lines: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_ne!(lines[1], lines[2]);
    for (options, start) in [
        ("--min-count 1", "--min-count: 1: expected a number of rows of at least 2"),
        ("--min-count 2 --ignore id,part,t,g", "--min-count: no feature is text"),
        ("--min-count 2.5", "--min-count: invalid "),
        ("--hash q", "--hash: no column `q`"),
        ("--hash t=0", "--hash: 0 buckets for `t`: expected 2 to"),
        ("--hash x=4 --text x", "--text: `x`: expected a column in one of text and hash"),
    ] {
        let fit = fit.replace(
            "--ignore id,part",
            if options.contains("ignore") { "" } else { "--ignore id,part" },
        );
        let found = folder.refused(&format!("{fit} {options}"));
        assert!(found.starts_with(start), "{options}: {found}");
    }
}

#[test]
fn hashed_texts_need_no_list_of_levels() {
    let folder = Folder::with(gaps());
    let fit = format!("fit {FIT} --ignore part --missing own-category --out out");
    folder.prints(&format!("{fit} --hash id=16 --hash t"));
    let model = folder.json("out/model.json");
    let features = model["features"].as_array().unwrap();
    // x and its indicator, t in 1,024 buckets and one of missing cells, id in 16, g.
    assert_eq!(features.len(), 2 + 1025 + 16 + 2);
    folder.file("later.csv", "x,t,id,g\n1,new,another,m\n");
    let output = folder.run("predict out/ later.csv");
    assert_eq!(stderr(&output), "");
    folder.prints("certify out/ t.csv");
}

#[test]
fn rows_are_held_out_by_column_or_file() {
    let folder = Folder::with(gaps());
    let fit = format!("{FIT} --ignore id --missing mean");
    let by_column = format!("{fit} --holdout-column part --holdout-value new");
    let by_column = folder.summary(&format!("{by_column} --out column"));
    let table = gaps();
    let (header, rows) = table.split_once('\n').unwrap();
    let part = |new: bool| {
        let rows = rows.lines().filter(|row| row.contains(",new,") == new);
        rows.fold(format!("{header}\n"), |text, row| text + row + "\n")
    };
    folder.file("old.csv", part(false));
    folder.file("later/new.csv", part(true));
    let by_file =
        format!("{fit},part --holdout-file later/new.csv --out file").replace("mean,part", "mean");
    let by_file = by_file.replace("t.csv", "old.csv").replace("--ignore id", "--ignore id,part");
    let by_file = folder.summary(&by_file);
    assert_eq!(by_column["groups"], by_file["groups"]);
    assert_eq!(by_column["groups"][0]["n_test"], 5);
    assert!(!by_file["groups"][0]["test_risk_interval"].is_null());
    // The model is that of the old rows alone, whose own split holds nothing out.
    folder.prints(
        &format!("fit {fit} --holdout 0 --out alone")
            .replace("t.csv", "old.csv")
            .replace("--ignore id", "--ignore id,part"),
    );
    let weights = |of: &str| folder.json(&format!("{of}/model.json"))["weights"].clone();
    assert_eq!(weights("file"), weights("alone"));
    assert_eq!(weights("file"), weights("column"));
    // A model says by itself which rows it was trained on.
    folder.prints("certify column t.csv");
    folder.prints("certify file old.csv");
    folder.file(
        "later/job.toml",
        "tables = ['../old.csv']\nholdout-file = 'new.csv'\ntarget = 'y'\ngroups = ['g']\n\
         missing = 'mean'\nignore = ['id', 'part']\nl2 = 0.01\n",
    );
    assert_eq!(folder.summary("later/job.toml --quiet")["groups"], by_file["groups"]);
    for (options, start) in [
        ("--holdout-file later/new.csv --holdout 0.2", "--holdout: holdout-file says which rows"),
        ("--holdout-column part --holdout-value new --holdout 5", "--holdout: holdout-column says"),
        (
            "--holdout-column part --holdout-value new --holdout-file later/new.csv",
            "--holdout-column: holdout-file says which rows are held out",
        ),
        ("--holdout-column part", "--holdout-column: `part` alone: expected holdout-value"),
        ("--holdout-value new", "--holdout-value: no column is named"),
        ("--holdout-column part --holdout-value newer", "--holdout-value: no row has `newer`"),
        ("--holdout-file none.csv", "--holdout-file none.csv: expected one file that exists"),
        ("--holdout-file later/*.csv", "--holdout-file later/*.csv: expected one file that"),
    ] {
        let found = folder.refused(&format!("fit {fit} {options} --out no"));
        assert!(found.starts_with(start), "{options}: {found}");
    }
}

#[test]
fn case_10_groups_and_labels_of_the_other_file() {
    let folder = Folder::people();
    folder.file("new.csv", "x,z,g,y\n1,2,a,yes\n3,4,c,no\n5,6,c,yes\n");
    let fit = "fit t.csv --target y --groups g --group-features drop --holdout-file new.csv";
    let summary = folder.summary(&format!("{} --quiet --out out", &fit[4..]));
    let group = |name: &str| {
        let groups = summary["groups"].as_array().unwrap();
        groups.iter().find(|g| g["name"] == name).unwrap().clone()
    };
    assert_eq!((&group("c")["n_train"], &group("c")["n_test"]), (&json!(0), &json!(2)));
    assert!(group("c")["train_risk"].is_null() && group("c")["weight"].is_null());
    assert!(number(&group("c")["test_accuracy"]) >= 0.0);
    assert!(group("b")["test_accuracy"].is_null());
    let output = folder.run(&format!("{fit} --train"));
    assert!(stderr(&output).contains("1 of 3 groups has rows that are held out only: `c`"));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.lines().any(|l| l.starts_with("c ") && l.contains('–')), "{shown}");
    folder.prints("certify out t.csv");
    folder.prints("show out");
    folder.file("new.csv", "x,z,g,y\n1,2,a,maybe\n");
    let found = folder.refused(&format!("{fit} --out no"));
    assert_eq!(found, "new.csv:2: target `y`: found `maybe`, expected one of `no`, `yes`");
}

#[test]
fn later_rows_without_a_target() {
    let folder = Folder::people();
    folder.file("later.csv", "x,z,g,y\n1,2,a,yes\n3,4,b,\n5,6,a,no\n");
    let fit = "fit t.csv --target y --groups g --quiet --out out";
    folder.prints(fit);
    let found = folder.refused("evaluate out later.csv");
    assert!(found.starts_with("later.csv:3: column `y`: the cell is missing, so that"), "{found}");
    folder.prints(&format!("{fit} --missing mean --missing y=drop"));
    let shown = folder.prints("evaluate out later.csv");
    assert!(shown.contains("rows that miss the target and are left out: 1"), "{shown}");
}

#[test]
fn classes_that_some_groups_lack() {
    // Group a has the classes u and v, group b has v and w.
    let mut table = "x,z,g,y\n".to_owned();
    for i in 0..60 {
        let b = i % 2;
        let class = b + usize::from(i * i % 13 % 4 > 1);
        table +=
            &format!("{},{},{},{}\n", i % 7, i * 5 % 11, ["a", "b"][b], ["u", "v", "w"][class]);
    }
    let folder = Folder::with(table);
    let summary = folder.summary("t.csv --target y --groups g --quiet --out out");
    for group in 0..2 {
        assert!(number(&summary["groups"][group]["train_risk"]).is_finite());
        assert!(number(&summary["groups"][group]["test_accuracy"]) <= 1.0);
    }
    assert!(number(&summary["certificate"]["gap"]) < 1e-6);
    folder.file("one.csv", "x,z,g,y\n1,2,a,u\n2,3,a,u\n3,4,b,w\n");
    folder.prints("evaluate out one.csv");
}
