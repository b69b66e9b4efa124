//! LIBSVM and SVMlight files, and group labels in files of their own.

use std::slice::from_ref;

use crate::common::{Folder, message, options};
use gdro_data::{
    DataOptions, Encoding, Prepared, Reader, Result, Split, Table, prepare, read, read_for,
};

/// Reads a text `t.csv` as LIBSVM.
fn svm(text: &str, json: &str) -> Result<Table> {
    let json = json.replacen('{', r#"{"format":"svmlight","#, 1).replace(",}", "}");
    read(&[Folder::new().file("t.csv", text)], &options(&json))
}

fn fit(table: &Table, options: &DataOptions) -> Prepared {
    prepare(table, options, None, &Split::None, true).unwrap()
}

/// The features of the first training rows.
fn rows(prepared: &Prepared) -> Vec<Vec<f64>> {
    let matrix = prepared.train.matrix();
    let dense = |row| {
        let mut x = vec![0.0; matrix.cols()];
        matrix.row(row).for_each(|at, value| x[at] = value);
        x
    };
    (0..matrix.rows()).map(dense).collect()
}

const TEXT: &str = "# a comment\n+1 1:0.5 3:-2 # another\r\n\r\n-1\n-1 2:3.38e-005 \n+1 5:7 \n";

#[test]
fn rows_are_taken_as_they_are() {
    let folder = Folder::new();
    let table = read(&[folder.file("t.svm", TEXT)], &options("{}")).unwrap();
    assert_eq!(table.rows(), 4);
    let lines = [0, 1, 2, 3].map(|row| table.position(row).line);
    assert_eq!(lines, [2, 4, 5, 6]);
    let found = fit(&table, &options("{}"));
    assert_eq!(found.train.targets(), [1.0, -1.0, -1.0, 1.0]);
    assert_eq!(found.encoding.feature_names(), ["1", "2", "3", "4", "5", "(constant)"]);
    let expected = [
        [0.5, 0.0, -2.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 3.38e-5, 0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 7.0, 1.0],
    ];
    assert_eq!(rows(&found), expected);
    let note = "features are numbered from 1 (set by `index-base`) and taken as they are, not \
                standardised (set by `scaling`)";
    assert!(found.notes.iter().any(|n| n == note), "{:?}", found.notes);
    let names = |text: &str, json: &str| {
        let found = fit(&svm(text, json).unwrap(), &options(json));
        found.encoding.feature_names().join(" ")
    };
    assert_eq!(names("1 0:1 2:1\n-1 1:1\n", "{}"), "0 1 2 (constant)");
    assert_eq!(names("1 0:0 2:1\n-1 1:1\n", "{}"), "0 1 2 (constant)");
    assert_eq!(names("1 2:1\n-1 1:1\n", r#"{"index-base":0}"#), "0 1 2 (constant)");
}

#[test]
fn classes_numbers_and_compressed_files() {
    let text = "2 1:1\n0 1:2\n1 2:1\n";
    let multi = Some(gdro_data::Task::Multiclass);
    let table = svm(text, "{}").unwrap();
    let found = prepare(&table, &options("{}"), multi, &Split::None, false).unwrap();
    assert_eq!(found.train.targets(), [2.0, 0.0, 1.0]);
    let found = fit(&svm("0.5 1:1\n-3 1:2\n1e-2\n", "{}").unwrap(), &options("{}"));
    assert_eq!(found.train.targets(), [0.5, -3.0, 0.01]);
    let folder = Folder::new();
    let packed = folder.file("t.libsvm.zst", zstd::encode_all(TEXT.as_bytes(), 1).unwrap());
    assert_eq!(read(&[packed], &options("{}")).unwrap().rows(), 4);
}

#[test]
fn what_cannot_be_understood_is_refused_by_line() {
    for (text, expected) in [
        ("1 1:1\nspam 1:1\n", "t.csv:2: found `spam`, expected a number, the label of the row"),
        ("1 1:1\nnan 1:1\n", "t.csv:2: found `nan`, expected a finite number"),
        ("1 1:1\n1,2 1:1\n", "t.csv:2: found `1,2`, expected a number, the label"),
        ("1 1:1\n\n1 -1:2\n", "t.csv:3: found `-1:2`, expected an index from 0 to 134217727"),
        ("1 3:1 2:1 3:1\n", "t.csv:1: found `3`, expected each index once in a row"),
        ("1 3:1 3:1\n", "t.csv:1: found `3`, expected each index once in a row"),
        ("1 4000000000:1\n", "t.csv:1: found `4000000000:1`, expected an index from 0"),
        ("1 99999999999999999999:1\n", "t.csv:1: found `99999999999999999999:1`, expected an"),
        ("1 1.5:1\n", "t.csv:1: found `1.5:1`, expected an index"),
        ("1 1:x\n", "t.csv:1: found `1:x`, expected INDEX:VALUE, two numbers"),
        ("1 1:\n", "t.csv:1: found `1:`, expected INDEX:VALUE, two numbers"),
        ("1 1\n", "t.csv:1: found `1`, expected INDEX:VALUE, two numbers"),
        ("1 1:inf\n", "t.csv:1: found `1:inf`, expected a finite number"),
        ("1 1:NaN\n", "t.csv:1: found `1:NaN`, expected a finite number"),
        ("1 1:1e999\n", "t.csv:1: found `1:1e999`, expected a finite number"),
        ("1 qid:1 1:1\n1 1:1\n", "t.csv:2: found `1`, expected qid:ID after it"),
        ("1 1:1\n1 qid:1 1:1\n", "t.csv:2: found `qid:1`, expected none"),
        ("1 qid:a 1:1\n", "t.csv:1: found `a`, expected qid:ID, a whole number"),
        ("# nothing\n\n", "t.csv: the file is empty"),
        ("", "t.csv: the file is empty"),
    ] {
        let options = if text.contains("qid") { r#"{"ignore":["qid"]}"# } else { "{}" };
        let options = if expected.contains("none") { "{}" } else { options };
        let found = message(svm(text, options));
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
    let found = message(svm("1 0:1\n", r#"{"index-base":1}"#));
    assert!(found.contains("found `0:1`, expected an index from 1"), "{found}");
    for (json, option) in [
        (r#"{"na":["x"]}"#, "na"),
        (r#"{"delimiter":" "}"#, "delimiter"),
        (r#"{"index-base":2}"#, "index-base"),
    ] {
        assert!(message(svm("1 1:1\n", json)).starts_with(option));
    }
    let found =
        message(read(&[Folder::new().file("t.csv", "x\n1\n")], &options(r#"{"index-base":1}"#)));
    assert!(found.starts_with("index-base: ") && found.contains("with LIBSVM only"), "{found}");
    // Rows without any feature have nothing to learn from.
    let table = svm("1\n-1\n", "{}").unwrap();
    let found = prepare(&table, &options("{}"), None, &Split::None, true);
    assert!(message(found).starts_with("no feature"));
}

#[test]
fn indices_can_have_roles() {
    let text = "1 1:1 2:5 67:1\n-1 1:2 2:6\n1 2:7 67:1\n-1 1:4 2:8 3:1\n";
    let grouped = options(r#"{"groups":["67"],"ignore":["2"],"group-features":"drop"}"#);
    let table = svm(text, r#"{"groups":["67"],"ignore":["2"],"group-features":"drop"}"#).unwrap();
    let found = fit(&table, &grouped);
    let groups: Vec<_> = found.groups.iter().map(|g| (g.name.as_str(), g.rows)).collect();
    assert_eq!(groups, [("0", 2), ("1", 2)]);
    assert_eq!(found.encoding.feature_names(), ["1", "3", "(constant)"]);
    let kept = options(r#"{"groups":["67"],"weight":"2"}"#);
    let table = svm(text, r#"{"groups":["67"],"weight":"2"}"#).unwrap();
    let found = fit(&table, &kept);
    assert_eq!(found.encoding.feature_names(), ["67", "1", "3", "(constant)"]);
    assert_eq!(rows(&found)[0], [0.0, 2.0, 0.0, 1.0]);
    assert_eq!(rows(&found)[2], [1.0, 1.0, 0.0, 1.0]);
    assert_eq!(found.train.total_weight(0), 14.0);
}

#[test]
fn queries_are_groups_or_nothing() {
    let text = "1 qid:7 1:1\n-1 qid:8 1:2\n1 qid:7 1:3\n";
    let json = r#"{"groups":["qid"]}"#;
    let found = fit(&svm(text, json).unwrap(), &options(json));
    assert_eq!(found.groups[0].name, "7");
    assert_eq!(found.encoding.feature_names(), ["1", "(constant)"]);
    let json = r#"{"ignore":["qid"]}"#;
    let found = fit(&svm(text, json).unwrap(), &options(json));
    assert_eq!((found.groups.len(), found.encoding.feature_names().len()), (1, 2));
    let found = message(svm(text, "{}"));
    let advice = "say `groups=qid` to make groups of them, or `ignore=qid`";
    assert!(
        found.contains("rows have the number of a query (qid), which is no feature"),
        "{found}"
    );
    assert!(found.ends_with(advice), "{found}");
}

#[test]
fn indices_come_in_any_order() {
    let sorted = svm("1 1:1 2:2 5:3\n-1 2:4\n", "{}").unwrap();
    let mixed = svm("1 5:3 1:1 2:2\n-1 2:4\n", "{}").unwrap();
    let plain = options("{}");
    assert_eq!(rows(&fit(&sorted, &plain)), rows(&fit(&mixed, &plain)));
    assert_eq!(rows(&fit(&mixed, &plain))[0], [1.0, 2.0, 0.0, 0.0, 3.0, 1.0]);
}

#[test]
fn files_of_labels_are_groups() {
    let folder = Folder::new();
    let file = folder.file("t.svm", TEXT);
    let labels = folder.file("g.txt", "a\nb b\r\na\n");
    let more = folder.file("h.txt", "b b\n");
    let with = |files: &[&std::path::PathBuf], more: &str| {
        let files: Vec<String> =
            files.iter().map(|f| format!("{:?}", f.display().to_string())).collect();
        options(&format!(r#"{{"group-file":[{}]{more}}}"#, files.join(",")))
    };
    let both = with(&[&labels, &more], "");
    let table = read(from_ref(&file), &both).unwrap();
    let found = fit(&table, &both);
    let groups: Vec<_> = found.groups.iter().map(|g| (g.name.as_str(), g.rows)).collect();
    assert_eq!(groups, [("a", 2), ("b b", 2)]);
    assert_eq!(found.encoding.dimension(), 6);
    // Block by block, too.
    let mut reader = Reader::open(from_ref(&file), &both, None).unwrap();
    let mut texts = Vec::new();
    while let Some(block) = reader.next_block(3).unwrap() {
        let group = block.column("group").unwrap();
        texts.extend((0..block.rows()).map(|row| group.text(row).unwrap().to_owned()));
    }
    assert_eq!(texts, ["a", "b b", "a", "b b"]);
    let counts = |found: String, labels: &str| {
        assert!(found.contains(&format!("found {labels}, the table has 4 rows")), "{found}");
    };
    counts(message(read(from_ref(&file), &with(&[&labels], ""))), "3 labels");
    counts(message(read(from_ref(&file), &with(&[&labels, &labels], ""))), "6 labels");
    let mut reader = Reader::open(from_ref(&file), &with(&[&labels, &labels], ""), None).unwrap();
    assert!(reader.next_block(9).is_ok());
    counts(message(reader.next_block(9)), "6 labels");
    let found = message(read(from_ref(&file), &with(&[&labels, &more], r#","groups":["1"]"#)));
    assert!(found.starts_with("group-file: "), "{found}");
    // Any format may have one.
    let table = folder.file("u.csv", "x,y\n1,0\n2,1\n3,1\n4,0\n");
    let both = with(&[&labels, &more], r#","target":"y""#);
    assert_eq!(fit(&read(&[table], &both).unwrap(), &both).groups[1].name, "b b");
    let named = folder.file("v.csv", "group,y\n1,0\n2,1\n3,1\n4,0\n");
    assert!(message(read(&[named], &both)).contains("column `group` occurs twice"));
    let gap = folder.file("gap.txt", "a\n\na\nb\n");
    let found = prepare(
        &read(&[file], &with(&[&gap], "")).unwrap(),
        &with(&[&gap], ""),
        None,
        &Split::None,
        true,
    );
    assert!(message(found).contains("t.svm:4: column `group`: the group label is missing"));
}

#[test]
fn later_tables_may_have_other_features() {
    let folder = Folder::new();
    let plain = options("{}");
    let trained = fit(&read(&[folder.file("t.svm", TEXT)], &plain).unwrap(), &plain).encoding;
    let json = serde_json::to_string(&trained).unwrap();
    assert_eq!(serde_json::from_str::<Encoding>(&json).unwrap(), trained);
    let later = folder.file("later.svm", "0 2:1 9:1\n0 0:3 1:1\n0 5:2\n");
    let table = read_for(&[later], &plain, &trained).unwrap();
    let encoded = trained.encode(&table, &[0, 1, 2]).unwrap();
    assert_eq!((encoded.beyond, encoded.unseen.len()), (2, 0));
    assert_eq!(encoded.matrix.cols(), 6);
    let found = message(read_for(&[folder.file("t.csv", "1,2\n3,4\n")], &plain, &trained));
    assert!(
        found.starts_with("t.csv is delimited text, the model was trained on LIBSVM"),
        "{found}"
    );
}

#[test]
fn the_same_rows_as_a_table_give_the_same_features() {
    let folder = Folder::new();
    let table =
        "label,1,2,3,4,5\n1,0.5,0,-2,0,0\n-1,0,0,0,0,0\n-1,0,3.38e-005,0,0,0\n1,0,0,0,0,7\n";
    let (table, text) = (folder.file("t.csv", table), folder.file("t.svm", TEXT));
    for scaling in ["none", "standard"] {
        let options = options(&format!(r#"{{"target":"label","scaling":"{scaling}"}}"#));
        let of =
            |file: &std::path::PathBuf| fit(&read(from_ref(file), &options).unwrap(), &options);
        let (one, other) = (of(&table), of(&text));
        assert_eq!(rows(&one), rows(&other), "{scaling}");
        assert_eq!(one.encoding.feature_names(), other.encoding.feature_names());
        // Later rows are encoded by the same numbers.
        let again = read_for(from_ref(&text), &options, &other.encoding).unwrap();
        assert_eq!(
            &other.encoding.encode(&again, &other.train_rows).unwrap().matrix,
            other.train.matrix()
        );
    }
    let standard = options(r#"{"scaling":"standard"}"#);
    let mut reader = Reader::open(&[text], &standard, None).unwrap();
    assert!(message(reader.next_block(2)).starts_with("scaling: "));
}

/// Group sizes of sets that are not part of the repository, as their descriptions state them.
#[test]
fn known_sets_have_their_groups() {
    let by_size = [
        ("a9a", 123, vec![19174, 8642, 1569, 1555, 1047, 574]),
        ("sentiment3", 5943, vec![1000, 1000, 1000]),
        ("youtube_spam", 4733, vec![448, 438, 370, 350, 350]),
    ];
    for (name, features, sizes) in by_size {
        let Some(folder) = crate::common::sets::folder(name) else { continue };
        let file = |end: &str| folder.join(format!("{name}.{end}.gz"));
        let options =
            DataOptions { group_file: vec![file("groups.txt")], ..DataOptions::default() };
        let found = fit(&read(&[file("svm")], &options).unwrap(), &options);
        assert_eq!(found.groups.iter().map(|g| g.rows).collect::<Vec<_>>(), sizes, "{name}");
        assert_eq!(found.encoding.dimension(), features + 1, "{name}");
        assert!(found.train.matrix().is_sparse());
    }
}
