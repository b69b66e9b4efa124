//! Parquet and Arrow IPC.
#![cfg(feature = "arrow")]

use std::slice::from_ref;
use std::sync::Arc;

use crate::common::{self, Folder, formats, message, options, same};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};
use gdro_data::{Kind, Reader, Split, prepare, read};

/// Numbers, whole numbers, texts, booleans and missing cells.
fn mixed(rows: usize) -> String {
    let mut text = "x,k,t,b,gap,y\n".to_owned();
    for i in 0..rows {
        let x = (i as f64 * 0.731).sin() * 1e3;
        let gap = if i % 5 == 3 { String::new() } else { format!("{:?}", i as f64 / 7.0) };
        let (t, y) = (["u", "v w", "z,z"][i % 3], ["no", "yes"][i * 7 % 11 % 2]);
        text += &format!("{x:?},{},\"{t}\",{},{gap},{y}\n", i * 31 % 17, i % 4 == 0);
    }
    text
}

#[test]
fn all_formats_give_the_same_table_whole_and_in_blocks() {
    let folder = Folder::new();
    let (text, options) =
        (mixed(60), options(r#"{"target":"y","groups":["k","t"],"missing":"drop"}"#));
    let expected = read(&[folder.file("t.csv", &text)], &options).unwrap();
    let prepared = prepare(&expected, &options, None, &Split::None, true).unwrap();
    for (ending, content) in formats::every_format(&text) {
        let file = folder.file(&format!("t.{ending}"), content);
        let table = read(from_ref(&file), &options).unwrap();
        same(&table, &expected);
        let found = prepare(&table, &options, None, &Split::None, true).unwrap();
        assert_eq!(found.encoding, prepared.encoding);
        assert_eq!(found.train.matrix(), prepared.train.matrix());
        if ending.starts_with("csv") {
            continue;
        }
        assert!(table.position(41).to_string().ends_with(": row 42"));
        for (threads, rows) in [(0, 5), (1, 5), (2, 16), (3, 100), (20, 1)] {
            let reader = Reader::open(from_ref(&file), &options, None).unwrap();
            let mut reader = reader.decode_ahead(threads);
            let mut row = 0;
            while let Some(block) = reader.next_block(rows).unwrap() {
                assert!((1..=rows).contains(&block.rows()));
                for at in 0..block.rows() {
                    for name in block.names() {
                        let (a, b) = (block.column(name).unwrap(), expected.column(name).unwrap());
                        assert_eq!(a.number(at), b.number(row), "{name}");
                        assert_eq!(a.text(at), b.text(row), "{name}");
                    }
                    assert!(
                        block.position(at).to_string().ends_with(&format!(": row {}", row + 1))
                    );
                    row += 1;
                }
            }
            assert_eq!(row, 60, "{ending} {threads}");
        }
    }
}

/// Columns as files of each format with typed columns.
fn written(columns: Vec<(&str, ArrayRef)>) -> Vec<(&'static str, Vec<u8>)> {
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    vec![
        ("t.parquet", formats::parquet(&rows)),
        ("t.arrow", formats::arrow_file(&rows)),
        ("t.arrows", formats::arrow_stream(&rows)),
    ]
}

#[test]
fn types_become_numbers_and_texts() {
    let decimals = Decimal128Array::from(vec![Some(12_345), None, Some(-1)]);
    let moments = TimestampMillisecondArray::from(vec![0, 1_359_608_400_250, -1]);
    let codes: DictionaryArray<Int8Type> = vec![Some(" a "), None, Some("b")].into_iter().collect();
    let numbers = DictionaryArray::<Int32Type>::new(
        Int32Array::from(vec![Some(1), Some(0), None]),
        Arc::new(Float64Array::from(vec![0.5, 2.0])),
    );
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("i", Arc::new(Int32Array::from(vec![Some(-7), None, Some(3)]))),
        ("u", Arc::new(UInt64Array::from(vec![u64::MAX, 0, 1]))),
        ("f", Arc::new(Float32Array::from(vec![0.5, 0.1, 1e10]))),
        ("d", Arc::new(decimals.with_precision_and_scale(9, 2).unwrap())),
        ("b", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("day", Arc::new(Date32Array::from(vec![0, 15_736, -1]))),
        ("at", Arc::new(moments.clone())),
        ("zone", Arc::new(moments.with_timezone("+01:00"))),
        ("clock", Arc::new(Time32SecondArray::from(vec![0, 3661, 86399]))),
        ("c", Arc::new(codes)),
        ("n", Arc::new(numbers)),
        ("large", Arc::new(LargeStringArray::from(vec!["1", "2.5", ""]))),
        ("view", Arc::new(StringViewArray::from(vec!["p", " q", "n/a"]))),
        ("g", Arc::new(Float64Array::from(vec![1.0, 2.5, 1.0]))),
        ("h", Arc::new(Int64Array::from(vec![1, 9_007_199_254_740_993, 1]))),
    ];
    for (name, content) in written(columns) {
        let folder = Folder::new();
        let file = [folder.file(name, content)];
        let days = options(r#"{"na":["n/a"],"date":["day","at","zone"]}"#);
        let table = read(&file, &days).unwrap();
        let numbers = |name: &str| [0, 1, 2].map(|row| table.column(name).unwrap().number(row));
        assert_eq!(numbers("day"), [0.0, 15_736.0, -1.0].map(Some));
        let at = 15_736.0 + 18_000.25 / 86_400.0;
        assert_eq!(numbers("at"), [Some(0.0), Some(at), Some(86_399.999 / 86_400.0 - 1.0)]);
        assert_eq!(numbers("zone"), numbers("at"));
        let options = options(r#"{"na":["n/a"],"groups":["g","h"],"text":["day","at","zone"]}"#);
        let table = read(&file, &options).unwrap();
        let numbers = |name: &str| [0, 1, 2].map(|row| table.column(name).unwrap().number(row));
        let texts = |name: &str| [0, 1, 2].map(|row| table.column(name).unwrap().text(row));
        assert_eq!(numbers("i"), [Some(-7.0), None, Some(3.0)]);
        assert_eq!(numbers("u"), [Some(18_446_744_073_709_551_615.0), Some(0.0), Some(1.0)]);
        assert_eq!(numbers("f"), [Some(0.5), Some(f64::from(0.1f32)), Some(1e10)]);
        assert_eq!(numbers("d"), [Some(123.45), None, Some(-0.01)]);
        assert_eq!(texts("b"), [Some("true"), None, Some("false")]);
        assert_eq!(texts("day"), ["1970-01-01", "2013-01-31", "1969-12-31"].map(Some));
        let moments = ["1970-01-01T00:00:00", "2013-01-31T05:00:00.250", "1969-12-31T23:59:59.999"];
        assert_eq!(texts("at"), moments.map(Some));
        let zoned = moments.map(|t| format!("{t}Z"));
        assert_eq!(texts("zone"), [0, 1, 2].map(|row| Some(zoned[row].as_str())));
        assert_eq!(texts("clock"), ["00:00:00", "01:01:01", "23:59:59"].map(Some));
        assert_eq!(texts("c"), [Some("a"), None, Some("b")]);
        assert_eq!(numbers("n"), [Some(2.0), Some(0.5), None]);
        assert_eq!(numbers("large"), [Some(1.0), Some(2.5), None]);
        assert_eq!(texts("view"), [Some("p"), Some("q"), None]);
        assert_eq!(texts("g"), ["1.0", "2.5", "1.0"].map(Some));
        assert_eq!(texts("h"), ["1", "9007199254740993", "1"].map(Some));
    }
}

#[test]
fn what_is_no_number_is_refused_by_row() {
    for (value, name) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let mut numbers = vec![1.5; 20];
        numbers[12] = value;
        let gaps = numbers.iter().enumerate().map(|(row, v)| (row != 3).then_some(*v));
        let all: ArrayRef = Arc::new(Float64Array::from(numbers.clone()));
        for column in [all, Arc::new(gaps.collect::<Float64Array>())] {
            for (file, content) in written(vec![("x", column.clone())]) {
                let folder = Folder::new();
                let file = folder.file(file, content);
                let found = message(read(from_ref(&file), &options("{}")));
                let expected = format!(": row 13: column `x`: found `{name}`, expected a finite");
                assert!(found.contains(&expected), "{found}");
                let mut reader = Reader::open(from_ref(&file), &options("{}"), None).unwrap();
                let found = loop {
                    match reader.next_block(5) {
                        Ok(block) => assert!(block.is_some()),
                        Err(error) => break error.to_string(),
                    }
                };
                assert!(found.contains(&expected), "{found}");
                let na = options(&format!(r#"{{"na":["{name}"]}}"#));
                let table = read(&[file], &na).unwrap();
                assert_eq!(table.column("x").unwrap().number(12), None);
                assert_eq!(table.column("x").unwrap().number(13), Some(1.5));
            }
        }
    }
}

#[test]
fn texts_are_judged_as_in_csv() {
    let cells: ArrayRef = Arc::new(StringArray::from(vec!["1", "2", "12,5", "3"]));
    for (name, content) in written(vec![("x", cells)]) {
        let folder = Folder::new();
        let file = folder.file(name, content);
        let found = message(read(from_ref(&file), &options("{}")));
        assert!(found.contains(": row 3: column `x`: found `12,5`, expected a number"), "{found}");
        let table = read(&[file], &options(r#"{"text":["x"]}"#)).unwrap();
        assert_eq!(table.column("x").unwrap().text(2), Some("12,5"));
    }
}

#[test]
fn nested_columns_are_refused_unless_ignored() {
    let list =
        ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), Some(vec![])]);
    let pair = StructArray::from(vec![(
        Arc::new(Field::new("p", DataType::Int32, false)),
        Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef,
    )]);
    let x: ArrayRef = Arc::new(Int32Array::from(vec![5, 6]));
    let columns: Vec<(&str, ArrayRef)> =
        vec![("list", Arc::new(list)), ("pair", Arc::new(pair)), ("x", x)];
    for (name, content) in written(columns) {
        let folder = Folder::new();
        let file = folder.file(name, content);
        let found = message(read(from_ref(&file), &options("{}")));
        assert!(found.contains("column `list`: found cells of the type List"), "{found}");
        let ignoring = options(r#"{"ignore":["list","pair"]}"#);
        let table = read(from_ref(&file), &ignoring).unwrap();
        assert_eq!(table.column("x").unwrap().number(1), Some(6.0));
        assert_eq!(table.column("list").unwrap().kind(), Kind::Ignored);
        let mut blocks = Reader::open(&[file], &ignoring, None).unwrap().decode_ahead(2);
        assert_eq!(
            blocks.next_block(9).unwrap().unwrap().column("x").unwrap().number(0),
            Some(5.0)
        );
    }
}

#[test]
fn several_files_are_one_table() {
    let folder = Folder::new();
    let text = mixed(20);
    let (head, lines) = text.split_once('\n').unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    let part = |rows: &[&str]| formats::typed(&format!("{head}\n{}\n", rows.join("\n"))).unwrap();
    folder.file("p-1.parquet", formats::parquet(&part(&lines[..11])));
    folder.file("p-2.arrow", formats::arrow_file(&part(&lines[11..])));
    let options = options(r#"{"groups":["t"]}"#);
    let expected = read(&[folder.file("t.csv", &text)], &options).unwrap();
    let table = read(&[folder.path().join("p-*")], &options).unwrap();
    same(&table, &expected);
    assert!(table.position(11).to_string().ends_with("p-2.arrow: row 1"));
    let found = message(read(&[folder.path().join("p-*"), folder.path().join("t.csv")], &options));
    assert!(found.contains("is delimited text") && found.contains("is Parquet"), "{found}");
    let other =
        RecordBatch::try_from_iter(vec![("a", Arc::new(StringArray::from(vec!["u"])) as ArrayRef)]);
    folder.file("q-1.parquet", formats::parquet(&other.unwrap()));
    let other = RecordBatch::try_from_iter(vec![(
        "a",
        Arc::new(Float64Array::from(vec![1.0])) as ArrayRef,
    )]);
    folder.file("q-2.parquet", formats::parquet(&other.unwrap()));
    let found = message(read(&[folder.path().join("q-*")], &common::options("{}")));
    assert!(found.contains("q-2.parquet: column `a`: numbers here and texts"), "{found}");
    let mut reader =
        Reader::open(&[folder.path().join("q-*")], &common::options("{}"), None).unwrap();
    assert_eq!(reader.next_block(9).unwrap().unwrap().column("a").unwrap().text(0), Some("u"));
    assert!(message(reader.next_block(9)).contains("q-2.parquet: column `a`: numbers here"));
    // A file whose cells are all missing goes with both.
    let blank = RecordBatch::try_from_iter_with_nullable(vec![(
        "a",
        new_null_array(&DataType::Null, 2),
        true,
    )]);
    folder.file("q-0.parquet", formats::parquet(&blank.unwrap()));
    std::fs::remove_file(folder.path().join("q-1.parquet")).unwrap();
    let table =
        read(&[folder.path().join("q-*")], &common::options(r#"{"groups":["a"]}"#)).unwrap();
    let column = table.column("a").unwrap();
    assert_eq!([0, 1, 2].map(|row| column.number(row)), [None, None, Some(1.0)]);
    assert_eq!([0, 1, 2].map(|row| column.text(row)), [None, None, Some("1.0")]);
}

#[test]
fn options_of_other_formats_are_refused() {
    let folder = Folder::new();
    let file = folder.file("t.parquet", formats::parquet(&formats::typed("x\n1\n").unwrap()));
    for (json, option) in [
        (r#"{"delimiter":";"}"#, "delimiter"),
        (r##"{"comment":"#"}"##, "comment"),
        (r#"{"columns":["x"]}"#, "columns"),
    ] {
        let found = message(read(from_ref(&file), &options(json)));
        assert!(found.starts_with(option) && found.contains("is Parquet"), "{found}");
    }
    let found = message(read(&[file], &options(r#"{"format":"csv"}"#)));
    assert!(found.contains("it is Parquet, expected delimited text"), "{found}");
    let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Int32, false)]));
    let none = formats::parquet(&RecordBatch::new_empty(schema));
    let found = message(read(&[folder.file("t.csv", none)], &options("{}")));
    assert!(found.contains("no rows"), "{found}");
}
