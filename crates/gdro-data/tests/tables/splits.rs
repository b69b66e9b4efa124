//! Rows that are held out by a column or a file.

use crate::common::{Folder, message, options, table};
use gdro_data::{DataOptions, Prepared, Result, Split, prepare, read};

const ROWS: &str = "x,year,g,y\n1,2013,a,0\n2,2013,a,1\n3,2014,b,0\n4,2014,a,1\n5,2015,b,1\n";

fn by_column(json: &str) -> Result<Prepared> {
    let wanted: DataOptions = options(json);
    prepare(&table(ROWS, &wanted)?, &wanted, None, &Split::Column, true)
}

fn by_file(train: &str, test: &str, json: &str) -> Result<Prepared> {
    let (folder, wanted) = (Folder::new(), options(json));
    let files = [folder.file("a.csv", train), folder.file("t.csv", test)];
    prepare(&read(&files, &wanted)?, &wanted, None, &Split::LastFile, true)
}

fn sizes(prepared: &Prepared) -> Vec<(&str, usize, usize)> {
    prepared.groups.iter().map(|g| (g.name.as_str(), g.train_rows, g.test_rows)).collect()
}

#[test]
fn rows_are_held_out_by_a_column() {
    let found = by_column(
        r#"{"target":"y","groups":["g"],"holdout-column":"year","holdout-value":"2014"}"#,
    );
    let found = found.unwrap();
    assert_eq!((found.train_rows, found.test_rows), (vec![0, 1, 4], vec![3, 2]));
    // The column is no feature, and the held-out rows teach no mean.
    assert_eq!(found.encoding.feature_names(), ["x", "g=a", "g=b", "(constant)"]);
    let gdro_data::FeatureColumn::Number { mean, .. } = &found.encoding.columns()[0] else {
        panic!("x is a number");
    };
    assert_eq!(*mean, 8.0 / 3.0);
    let two =
        by_column(r#"{"target":"y","holdout-column":"year","holdout-value":["2014","2015"]}"#);
    assert_eq!(two.unwrap().test_rows, [2, 3, 4]);
    // A group column can tell rows apart: its group is evaluated though no row trains it.
    let found = by_column(
        r#"{"target":"y","groups":["year"],"holdout-column":"year","holdout-value":"2014"}"#,
    );
    let found = found.unwrap();
    assert_eq!(sizes(&found), [("2013", 2, 0), ("2014", 0, 2), ("2015", 1, 0)]);
    assert_eq!(found.groups.iter().map(|g| g.train).collect::<Vec<_>>(), [Some(0), None, Some(1)]);
    let note = "1 of 3 groups has rows that are held out only: `2014`";
    assert!(found.notes.iter().any(|n| n == note), "{:?}", found.notes);
}

#[test]
fn columns_that_tell_nothing_are_refused() {
    for (json, start) in [
        (
            r#"{"target":"y","holdout-column":"year"}"#,
            "holdout-column: `year` alone: expected hold",
        ),
        (r#"{"target":"y","holdout-value":"a"}"#, "holdout-value: no column is named: expected"),
        (
            r#"{"target":"y","holdout-column":"q","holdout-value":"a"}"#,
            "holdout-column: no column `q`",
        ),
        (
            r#"{"target":"y","holdout-column":"y","holdout-value":"1"}"#,
            "holdout-column: `y`: expected a column that is not the target",
        ),
        (
            r#"{"target":"y","holdout-column":"g","holdout-value":"a","ignore":["g"]}"#,
            "ignore: `g`: expected not the holdout-column",
        ),
        (
            r#"{"target":"y","holdout-column":"g","holdout-value":"c"}"#,
            "holdout-value: no row has `c` in `g`: expected texts of the column, such as `a`, `b`",
        ),
        (
            r#"{"target":"y","holdout-column":"g","holdout-value":["a","b"]}"#,
            "holdout-value: every row is held out: expected rows to train on",
        ),
        (r#"{"target":"y"}"#, "holdout-column: none: expected the column"),
        // What is left for training has one label.
        (
            r#"{"target":"y","holdout-column":"year","holdout-value":["2013","2014"]}"#,
            "target `y`: every row has the value `1`",
        ),
    ] {
        let found = message(by_column(json));
        assert!(found.starts_with(start), "{json}: {found}");
    }
    let wanted = options(r#"{"target":"y","holdout-column":"g","holdout-value":"a"}"#);
    let read = table(ROWS, &wanted).unwrap();
    let found = message(prepare(&read, &wanted, None, &Split::None, true));
    assert!(found.starts_with("holdout-column: `g`: expected no other split"), "{found}");
    let gaps = table("x,h,y\n1,a,0\n2,,1\n3,b,1\n4,b,0\n", &options("{}")).unwrap();
    let by = |json: &str| prepare(&gaps, &options(json), None, &Split::Column, true);
    let found = message(by(r#"{"target":"y","holdout-column":"h","holdout-value":"a"}"#));
    assert!(found.starts_with("t.csv:3: column `h`: the cell is missing"), "{found}");
    let dropped =
        by(r#"{"target":"y","holdout-column":"h","holdout-value":"a","missing":{"h":"drop"}}"#);
    assert_eq!(dropped.unwrap().train_rows, [2, 3]);
}

#[test]
fn rows_of_another_file() {
    let train = "x,t,g,y\n1,u,a,no\n2,v,a,yes\n3,u,b,no\n";
    let json = r#"{"target":"y","groups":["g"],"group-features":"drop"}"#;
    let found = by_file(train, "x,t,g,y\n9,w,c,yes\n8,u,a,no\n", json).unwrap();
    assert_eq!(sizes(&found), [("a", 2, 1), ("b", 1, 0), ("c", 0, 1)]);
    assert_eq!(found.encoding.feature_names(), ["x", "t=u", "t=v", "(constant)"]);
    let note = "feature `t`: 1 held-out row with a text that training does not know";
    assert!(found.notes.iter().any(|n| n == note), "{:?}", found.notes);
    assert_eq!(found.test.unwrap().targets(), [-1.0, 1.0]);
    // A label that training does not know is none of the model.
    let found = message(by_file(train, "x,t,g,y\n9,w,c,maybe\n", json));
    assert_eq!(found, "t.csv:2: target `y`: found `maybe`, expected one of `no`, `yes`");
    let found = message(by_file(train, "x,g,t,y\n9,w,c,yes\n", json));
    assert!(found.contains("have different columns"), "{found}");
    let found = message(by_file(train, "x,t,g,y\n,w,c,yes\n", json));
    assert!(found.starts_with("t.csv:2: column `x`: the cell is missing"), "{found}");
    let dropped = json.replace("\"target\"", "\"missing\":\"drop\",\"target\"");
    let found = message(by_file(train, "x,t,g,y\n,w,c,yes\n", &dropped));
    assert!(found.starts_with("holdout-file: no row of it is left"), "{found}");
}
