//! Files and options that are wrong: each gives one line that says where and what.

use std::io::Write;

use crate::common::{Folder, message, options, prepared, table};
use flate2::{Compression, write::GzEncoder};
use gdro_data::{DataOptions, Error, Split, Task, prepare, read};

fn plain() -> DataOptions {
    options(r#"{"target":"y"}"#)
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = Folder::new();
    let found = message(read(&[folder.path().join("t.csv")], &plain()));
    assert!(found.starts_with("t.csv: cannot open: No such file"), "{found}");
    let found = message(read(&[folder.path()], &plain()));
    assert!(found.contains("it is a directory, expected a file"), "{found}");
    assert!(matches!(read(&[], &plain()), Err(Error::NoFile)));
    let named = options(r#"{"columns":["a"]}"#);
    assert!(matches!(read(&[], &named), Err(Error::NoFile)));
}

#[test]
fn files_without_rows() {
    let found = message(table("", &plain()));
    assert_eq!(found, "t.csv: the file is empty: expected a line with the names of the columns");
    let found = message(table("\n \r\n\n", &plain()));
    assert!(found.contains("the file is empty"), "{found}");
    let found = message(table("x,y\n\n", &plain()));
    assert_eq!(found, "t.csv: no rows: found the column names only");
    let named = options(r#"{"target":"y","columns":["x","y"]}"#);
    assert_eq!(message(table("", &named)), "t.csv: the file is empty: expected rows");
    let commented = options(r##"{"target":"y","comment":"#"}"##);
    assert!(message(table("#x,y\n#1,2\n", &commented)).contains("the file is empty"));
}

#[test]
fn ragged_rows() {
    let found = message(table("x,y\r\n1,2\r\n\r\n1,2,3\r\n", &plain()));
    let end = "found 3 cells, expected 2, one per column: check the delimiter ',' and the quoting";
    assert_eq!(found, format!("t.csv:4: {end}"));
    let found = message(table("x,y\n1\n", &plain()));
    assert!(found.starts_with("t.csv:2: found 1 cell, expected 2"), "{found}");
}

#[test]
fn broken_text() {
    let found = message(table(b"x,y\n1,2\n\xe9,3\n", &plain()));
    let advice = "convert the file, as in `iconv -f WINDOWS-1252 -t UTF-8`";
    assert_eq!(found, format!("t.csv:3: not valid UTF-8: {advice}"));
    let found = message(table("x,y\n1,\"2\n3,4\n", &plain()));
    assert!(found.starts_with("t.csv:2: the quoted cell that starts here never ends"), "{found}");
    let found = message(table("x,y\n\"1\"2,3\n", &plain()));
    assert!(found.starts_with("t.csv:2: found '2' after a closing quote"), "{found}");
    let utf16: Vec<u8> = "\u{feff}x,y\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let found = message(table(utf16, &plain()));
    assert!(
        found.starts_with("t.csv:1: not valid UTF-8: convert the file, as in `iconv -f UTF-16")
    );
}

#[test]
fn damaged_gzip() {
    let content: String =
        (0..5000).map(|i| format!("{i},{}\n", i * 7919 % 1009)).collect::<String>();
    let whole = gzip(format!("x,y\n{content}").as_bytes());
    assert_eq!(table(&whole, &plain()).unwrap().rows(), 5000);
    for length in [2, 9, 12, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        let found = message(table(&whole[..length], &plain()));
        assert!(found.starts_with("t.csv:"), "{found}");
        assert!(found.contains("the gzip data are damaged or cut off"), "{found}");
    }
    let mut flipped = whole.clone();
    let at = flipped.len() - 6;
    flipped[at] ^= 1;
    assert!(message(table(&flipped, &plain())).contains("the gzip data are damaged or cut off"));
    let mut two = gzip(b"x,y\n1,2\n");
    two.extend(gzip(b"3,4\n"));
    assert_eq!(table(&two, &plain()).unwrap().rows(), 2);
}

#[test]
fn column_names() {
    let found = message(table("x,y, x\n1,2,3\n", &plain()));
    assert_eq!(found, "t.csv:1: column `x` occurs twice (as number 1 and 3): rename one");
    let found = message(table(",y\n1,2\n3,2\n", &plain()));
    let start =
        "t.csv:1: column number 1 has no name, and line 3 has `3` there: give it a name, or";
    assert!(found.starts_with(start), "{found}");
    let named = options(r#"{"columns":["a","b","b"]}"#);
    assert!(message(table("1,2,3\n", &named)).starts_with("columns: column `b` occurs twice"));
    for (json, start) in [
        (r#"{"target":"z"}"#, "target: no column `z`"),
        (r#"{"groups":["z"]}"#, "groups: no column `z`"),
        (r#"{"ignore":["z"]}"#, "ignore: no column `z`"),
        (r#"{"text":["z"]}"#, "text: no column `z`"),
        (r#"{"weight":"z"}"#, "weight: no column `z`"),
        (r#"{"groups":["z"],"merge":{"z":{"a":["b"]}}}"#, "groups: no column `z`"),
    ] {
        let found = message(table("age,y\n1,2\n", &options(json)));
        assert!(found.starts_with(start) && found.ends_with("the columns are age, y"), "{found}");
    }
    let found = message(table("age,y\n1,2\n", &options(r#"{"target":"Agee"}"#)));
    assert_eq!(found, "target: no column `Agee`: did you mean `age`?");
}

#[test]
fn files_that_do_not_fit_together() {
    let folder = Folder::new();
    let files = [folder.file("a.csv", "x,y\n1,2\n"), folder.file("b.csv", "y,x\n1,2\n")];
    let found = message(read(&files, &plain()));
    assert!(found.contains("b.csv and ") && found.contains("a.csv have different"), "{found}");
    assert!(found.ends_with("found `y,x`, expected `x,y`"), "{found}");
    let files = [files[0].clone(), folder.file("c.tsv", "x\ty\n3\t4\n")];
    let both = read(&files, &plain()).unwrap();
    assert_eq!(both.column("y").unwrap().number(1), Some(4.0));
    assert!(both.position(1).to_string().ends_with("c.tsv:2"));
}

#[test]
fn bad_cells_in_numeric_columns() {
    let found = message(table("x,y\n1,0\n2,1\n12;5,0\n", &plain()));
    let advice = "say `na=12;5` if it means missing, or `text=x` if the column is text";
    assert_eq!(found, format!("t.csv:4: column `x`: found `12;5`, expected a number: {advice}"));
    let found = message(table("x,y\n1,0\n2,1\n\"12,5\",0\n", &plain()));
    assert!(found.starts_with("t.csv:4: column `x`: found `12,5`, expected a number"), "{found}");
    let found = message(table("x,y\n1,0\nn/a,1\n2,0\n", &plain()));
    assert!(found.starts_with("t.csv:3: column `x`: found `n/a`, expected a number"), "{found}");
    for bad in ["NaN", "nan", "inf", "-Infinity", "1e400"] {
        let found = message(table(format!("x,y\n1,0\n{bad},1\n2,0\n"), &plain()));
        let start = format!("t.csv:3: column `x`: found `{bad}`, expected a finite number");
        assert!(found.starts_with(&start), "{found}");
    }
    let na = options(r#"{"target":"y","na":["n/a","NaN"],"missing":"drop"}"#);
    let found = prepared("x,y\n1,0\nn/a,1\n2,1\nNaN,0\n,0\n", &na, None).unwrap();
    assert_eq!(found.train_rows, [0, 2]);
    assert!(
        found.notes.contains(&"3 of 5 rows left out because cells are missing: `x` in 3".into())
    );
    let text = options(r#"{"target":"y","text":["x"]}"#);
    let found = prepared("x,y\n1,0\nn/a,1\n2,1\n", &text, None).unwrap();
    assert_eq!(found.encoding.feature_names(), ["x=1", "x=2", "x=n/a", "(constant)"]);
}

#[test]
fn missing_cells() {
    let found = message(prepared("x,y\n1,0\n,1\n", &plain(), None));
    let advice = "fill it, leave such rows out with `missing=drop`, or keep them with \
                  `missing=mean` or `own-category`";
    assert_eq!(found, format!("t.csv:3: column `x`: the cell is missing: {advice}"));
    let found = message(prepared("x,y\n1,\n2,1\n", &plain(), None));
    assert!(found.starts_with("t.csv:2: column `y`: the cell is missing"), "{found}");
    let found = message(prepared("x,a,y\n1,,0\n2,,1\n", &plain(), None));
    assert_eq!(found, "column `a`: every cell is missing: leave it out with `ignore=a`");
    let drop = options(r#"{"target":"y","missing":"drop"}"#);
    let found = message(prepared("x,a,y\n1,,0\n,2,1\n", &drop, None));
    let why = "2 of 2 rows left out because cells are missing: `a` in 1, `x` in 1";
    assert_eq!(found, format!("no row is left: {why}"));
}

#[test]
fn weights() {
    let weighted = options(r#"{"target":"y","weight":"w"}"#);
    let found = message(prepared("x,w,y\n1,1,0\n2,-1,1\n", &weighted, None));
    let expected = "found the weight -1, expected a number of at least 0";
    assert_eq!(found, format!("t.csv:3: column `w`: {expected}"));
    let found = message(prepared("x,w,y\n1,a,0\n2,b,1\n", &weighted, None));
    assert!(found.starts_with("t.csv:2: column `w`: found `a`, expected a number"), "{found}");
    let found = message(prepared("x,w,y\n1,inf,0\n2,1,1\n", &weighted, None));
    assert!(found.starts_with("t.csv:2: column `w`: found `inf`"), "{found}");
    let found = message(prepared("x,w,y\n1,,0\n2,1,1\n", &weighted, None));
    assert!(found.starts_with("t.csv:2: column `w`: the cell is missing"), "{found}");
    let found = prepared("x,w,y\n1,2,0\n2,1,1\n3,0,1\n", &weighted, None).unwrap();
    assert_eq!(found.encoding.feature_names(), ["x", "(constant)"]);
    assert_eq!((found.train.rows(), found.train.total_weight(0)), (2, 3.0));
    assert!(found.notes.contains(&"1 row of weight 0 left out".into()));
    let found = message(prepared("x,w,y\n1,0,0\n2,0,1\n", &weighted, None));
    assert_eq!(found, "no row is left: 2 rows of weight 0 left out");
}

#[test]
fn targets_that_do_not_suit() {
    let found = message(prepared("x,y\n1,1\n", &plain(), None));
    assert_eq!(found, "target `y`: every row has the value `1`: there is nothing to learn");
    let found = message(prepared("x,y\n1,a\n2,a.\n", &plain(), None));
    assert!(found.starts_with("target `y`: every row has the value `a`"), "{found}");
    let binary = Some(Task::Binary);
    let found = message(prepared("x,y\n1,a\n2,b\n3,c\n", &plain(), binary));
    let labels = "found 3 labels (`a`, `b`, `c`), a binary loss takes two";
    assert_eq!(found, format!("target `y`: {labels}: use the softmax loss"));
    let found = message(prepared("x,y\n1,10\n2,9\n3,-1\n", &plain(), binary));
    let labels = "found 3 labels (`-1`, `9`, `10`), a binary loss takes two";
    assert_eq!(found, format!("target `y`: {labels}: use the softmax or squared loss"));
    let found = message(prepared("x,y\n1,a\n2,b\n", &plain(), Some(Task::Regression)));
    let labels = "found texts (`a`, `b`), regression takes numbers";
    assert_eq!(found, format!("target `y`: {labels}: use the logistic loss"));
    let positive = options(r#"{"target":"y","positive":"c"}"#);
    let found = message(prepared("x,y\n1,a\n2,b\n", &positive, None));
    let labels = "no row of target `y` has the label `c`: its labels are `a`, `b`";
    assert_eq!(found, format!("positive: {labels}"));
    let found = message(prepared("x,y\n1,a\n2,b\n3,c\n", &positive, None));
    assert!(found.starts_with("positive: target `y` is not binary (`a`, `b`, `c`)"), "{found}");
    let found = message(prepared("x,y\n1,2\n", &options("{}"), None));
    assert_eq!(found, "target: none given: name the column to predict, one of x, y");
}

#[test]
fn comparisons_that_do_not_suit() {
    let rows = "delay,city,w,x\n1,A,1,1\n2,B,1,2\n";
    let found = |json: &str, task| message(prepared(rows, &options(json), task));
    let of = |target: &str| found(&format!(r#"{{"target":"{target}"}}"#), None);
    assert_eq!(of("delya>1"), "target: no column `delya`: the columns are delay, city, w, x");
    assert_eq!(of("delays>1"), "target: no column `delays`: did you mean `delay`?");
    let texts =
        "target: `city>1`, where `city` holds texts (`A`, `B`): expected a column of numbers";
    assert_eq!(of("city > 1"), texts);
    let number = "expected a finite number after `>`, found `NaN`";
    assert_eq!(of("delay>NaN"), format!("target: `delay>NaN`: {number}"));
    let one = "expected one comparison of a column with a number, as in `delay>30`";
    assert_eq!(of("0<delay<2"), format!("target: `0<delay<2`: {one}"));
    let one = "every row has the value `delay<=9`: there is nothing to learn";
    assert_eq!(of("delay>9"), format!("target `delay`: {one}"));
    for task in [Task::Multiclass, Task::Regression] {
        let loss = "loss: the target `delay>1` is true or false: expected the logistic loss";
        assert_eq!(found(r#"{"target":"delay>1"}"#, Some(task)), loss);
    }
    let compared = |more: &str| found(&format!(r#"{{"target":"delay>1",{more}}}"#), None);
    let labels =
        "no row of target `delay` has the label `yes`: its labels are `delay>1`, `delay<=1`";
    assert_eq!(compared(r#""positive":"yes""#), format!("positive: {labels}"));
    assert!(compared(r#""positive":"delay>2""#).contains("has the label `delay>2`: its labels"));
    assert_eq!(compared(r#""ignore":["delay"]"#), "ignore: `delay`: expected not the target");
    let weight = "weight: `delay`: expected a column that is not the target or a group";
    assert_eq!(compared(r#""weight":"delay""#), weight);
    let text = "text: `delay`: expected not the target, whose numbers are compared";
    assert_eq!(compared(r#""text":["delay"]"#), text);
}

#[test]
fn features_that_do_not_suit() {
    let found =
        message(prepared("g,y\na,0\nb,1\n", &options(r#"{"target":"y","ignore":["g"]}"#), None));
    assert!(found.starts_with("no feature: "), "{found}");
    let many: String = (0..1500).map(|i| format!("n{i},{}\n", i % 2)).collect();
    let found = message(prepared(format!("x,y\n{many}"), &plain(), None));
    let expected = "1,500 different texts in 1,500 rows, expected at most 1000";
    assert!(found.starts_with(&format!("column `x`: {expected}: leave it out with `ignore=x`")));
    let found = message(prepared("x,y\n1.5e308,0\n1.6e308,1\n-1e308,1\n", &plain(), None));
    assert!(found.starts_with("column `x`: its numbers are too large"), "{found}");
}

#[test]
fn a_table_read_with_other_options() {
    let ignored = options(r#"{"target":"y","ignore":["x"]}"#);
    let read = table("x,z,y\n1,2,0\n2,3,1\n", &ignored).unwrap();
    let found = message(prepare(&read, &plain(), None, &Split::None, true));
    assert!(found.starts_with("column `x` was read as ignored, expected a feature"), "{found}");
    let grouped = options(r#"{"target":"y","groups":["z"]}"#);
    let read = table("x,z,y\n1,2,0\n2,3,1\n", &plain()).unwrap();
    let found = message(prepare(&read, &grouped, None, &Split::None, true));
    assert!(found.starts_with("column `z` was read as numbers, expected group labels"), "{found}");
}

/// Any bytes give a table or an error, and never a panic.
#[test]
fn random_bytes() {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize
    };
    let pieces: [&[u8]; 14] = [
        b"a", b"1", b",", b",", b"\"", b"\n", b"\r\n", b" ", b"\t", b"NaN", b"\xff", b"-1", b"|",
        b"",
    ];
    let folder = Folder::new();
    let all = options(
        r#"{"target":"y","groups":["g"],"comment":"|","missing":"drop","missing-group":"own"}"#,
    );
    let mut fine = 0;
    for _ in 0..3000 {
        let mut content = b"x,g,y\n".to_vec();
        for _ in 0..next() % 40 {
            content.extend_from_slice(pieces[next() % pieces.len()]);
        }
        content.extend(b"\n1,a,0\n2,,1\n");
        let path = folder.file("t.csv", &content);
        match read(&[path], &all) {
            Ok(table) => {
                for task in [None, Some(Task::Binary), Some(Task::Multiclass)] {
                    let split = Split::Share { share: 0.3, seed: 1 };
                    fine += usize::from(prepare(&table, &all, task, &split, true).is_ok());
                }
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
    assert!(fine > 100, "{fine}");
}
