//! Rows that belong together, and rows that stand for several.

use crate::common::{Folder, stderr};

/// 20 patients of 5 visits each; half of them in group a, half in b, and their age is their own.
fn visits() -> String {
    let mut text = "x,age,patient,g,y\n".to_owned();
    for i in 0..100 {
        let patient = i % 20;
        let (x, age) = (i * 37 % 23, 30 + patient * 7 % 40);
        let y = u8::from((x + patient * 5) % 23 > 11);
        text += &format!("{x},{age},{patient},{},{y}\n", ["a", "b"][patient % 2]);
    }
    text
}

#[test]
fn clusters_stay_together_and_are_no_feature() {
    let folder = Folder::with(visits());
    let found = folder.summary("t.csv --target y --groups g --cluster patient");
    let roles: Vec<&str> =
        found["schema"].as_array().unwrap().iter().map(|c| c["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["feature", "feature", "cluster", "group-feature", "target"]);
    for group in found["groups"].as_array().unwrap() {
        // Two of ten patients, five rows each.
        assert_eq!((&group["n_train"], &group["n_test"]), (&40.into(), &10.into()));
    }
    let said = stderr(&folder.run("fit t.csv --target y --groups g --cluster patient"));
    assert!(said.contains("note: 100 rows in 20 clusters of `patient`, whose rows stay"), "{said}");
    // Rows of two of three clusters of each group are held out.
    let found = folder.summary("t.csv --target y --groups g --cluster patient --holdout 3");
    assert!(found["groups"].as_array().unwrap().iter().all(|group| group["n_test"] == 15));
    folder.prints("select t.csv --target y --groups g --cluster patient --l2 0.01,1 --folds 3 -q");
    let found = folder.prints("inspect t.csv --target y --groups g --cluster patient");
    assert!(found.contains("cluster"), "{found}");
}

#[test]
fn a_column_of_repeated_units_is_pointed_out() {
    let folder = Folder::with(visits());
    let advice = "`patient`: 20 values in 100 rows, like the id of units with several rows each";
    for command in ["fit", "inspect"] {
        let output = folder.run(&format!("{command} t.csv --target y --groups g"));
        let said = stderr(&output) + &String::from_utf8_lossy(&output.stdout);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(said.matches(advice).count(), 1, "{said}");
    }
    let silent = stderr(&folder.run("fit t.csv --target y --groups g --cluster patient"));
    assert!(!silent.contains("like the id"), "{silent}");
}

#[test]
fn what_clusters_and_frequencies_cannot_do_is_refused() {
    let folder = Folder::with(visits());
    for (options, message) in [
        (
            "--cluster patient --stream",
            "--cluster: not with --stream: the rows of a cluster may lie far apart",
        ),
        ("--cluster y", "--cluster: `y`: expected a column that is not the target or the weight"),
        ("--cluster p", "--cluster: no column `p`"),
        ("--weight-kind frequency", "--weight-kind: given alone: expected the column of the"),
        ("--weight x --weight-kind count", "--weight-kind: unknown variant `count`, expected"),
    ] {
        let found = folder.refused(&format!("fit t.csv --target y --groups g {options}"));
        assert!(found.starts_with(message), "{options}: {found}");
    }
    let folder = Folder::with("x,n,y\n1,2,0\n2,0.5,1\n3,1,1\n");
    let found = folder.refused("fit t.csv --target y --weight n --weight-kind frequency");
    assert_eq!(
        found,
        "t.csv:3: column `n`: found the weight 0.5, expected a number of rows: 0, 1, 2, …: say \
         `--weight-kind importance` if it is no count"
    );
}

/// A table of counts is the table that has its rows so often: splits, models, numbers of rows,
/// intervals and later evaluations are the same, bit by bit.
#[test]
fn frequencies_are_rows() {
    let (mut counted, mut repeated) = ("x,z,n,g,y\n".to_owned(), "x,z,g,y\n".to_owned());
    for i in 0..60 {
        let (x, z, g) = (i * 7 % 11, i * 5 % 13, ["a", "b"][i % 2]);
        let (n, y) = (i * 11 % 17, u8::from(i * 13 % 19 > 9));
        counted += &format!("{x},{z},{n},{g},{y}\n");
        (0..n).for_each(|_| repeated += &format!("{x},{z},{g},{y}\n"));
    }
    let folder = Folder::with(counted);
    folder.file("r.csv", repeated);
    let count = "--weight n --weight-kind frequency";
    for solver in
        ["--solver exact --adjustment 0.5", "--solver smd-r --budget all --step-w 1 --step-q 1"]
    {
        let goal = format!("--target y --groups g --holdout 0.3 --seed 4 {solver}");
        let by_count = folder.summary(&format!("t.csv {goal} {count} --out c"));
        let by_row = folder.summary(&format!("r.csv {goal} --out r"));
        assert_eq!(by_count["groups"], by_row["groups"]);
        assert_eq!(by_count["intervals"], by_row["intervals"]);
        for (part, same) in
            [("weights", true), ("encoding", true), ("certificate", true), ("job", false)]
        {
            assert_eq!(
                folder.json("c/model.json")[part] == folder.json("r/model.json")[part],
                same,
                "{part}"
            );
        }
    }
    let evaluate = |model: &str, table: &str| {
        let text = folder.prints(&format!("evaluate {model} {table} --json"));
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        (found["intervals"].clone(), found["rows"].clone())
    };
    assert_eq!(evaluate("c", "t.csv"), evaluate("r", "r.csv"));
}
