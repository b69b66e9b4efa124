//! Tables read block by block.

use std::slice::from_ref;

use crate::common::{Folder, message, options};
use gdro_data::{DataOptions, Kind, Reader, Split, Table, prepare, read};

/// The blocks of at most `rows` rows of files.
fn blocks(
    paths: &[std::path::PathBuf],
    options: &DataOptions,
    rows: usize,
) -> gdro_data::Result<Vec<Table>> {
    let mut reader = Reader::open(paths, options, None)?;
    let mut found = Vec::new();
    while let Some(block) = reader.next_block(rows)? {
        found.push(block);
    }
    Ok(found)
}

#[test]
fn blocks_are_the_table() {
    let folder = Folder::new();
    let rows = |from: usize, to: usize| {
        let rows = (from..to).map(|i| format!("{}.5,{}\n\n", i, ["u", "v", ""][i % 3]));
        "n,t\n".to_owned() + &rows.collect::<String>()
    };
    let files = [folder.file("a.csv", rows(0, 10)), folder.file("b.csv", rows(10, 17))];
    let options = options(r#"{"groups":["n"]}"#);
    let whole = read(&files, &options).unwrap();
    let found = blocks(&files, &options, 4).unwrap();
    assert_eq!(found.iter().map(Table::rows).collect::<Vec<_>>(), [4, 4, 2, 4, 3]);
    let mut at = 0;
    for block in &found {
        for row in 0..block.rows() {
            assert_eq!(block.position(row), whole.position(at));
            for name in ["n", "t"] {
                let (one, other) = (block.column(name).unwrap(), whole.column(name).unwrap());
                assert_eq!(one.kind(), other.kind());
                assert_eq!(one.number(row), other.number(at));
                assert_eq!(one.text(row), other.text(at));
            }
            at += 1;
        }
    }
    assert_eq!(at, whole.rows());
    let mut reader = Reader::open(&files, &options, None).unwrap();
    assert_eq!(reader.next_block(100).unwrap().unwrap().rows(), 10);
    assert_eq!(reader.names(), ["n", "t"]);
    assert_eq!(reader.read().unwrap().rows(), 7);
}

#[test]
fn the_first_cells_settle_the_kind() {
    let folder = Folder::new();
    let file = folder.file("t.csv", "a,b,c\n1,x,\n2,3,\n3,4,5\n4,5,6\nz,6,7\n");
    let mut reader = Reader::open(from_ref(&file), &options("{}"), None).unwrap();
    let kinds = |block: &Table| ["a", "b", "c"].map(|n| block.column(n).unwrap().kind());
    let block = reader.next_block(2).unwrap().unwrap();
    assert_eq!(kinds(&block), [Kind::Number, Kind::Text, Kind::Text]);
    let block = reader.next_block(2).unwrap().unwrap();
    assert_eq!(kinds(&block), [Kind::Number, Kind::Text, Kind::Number]);
    let found = message(reader.next_block(2));
    assert!(found.starts_with("t.csv:6: column `a`: found `z`, expected a number"), "{found}");
    // What the options say holds from the first block on.
    let found = blocks(&[file], &options(r#"{"text":["a"]}"#), 1).unwrap();
    assert!(found.iter().all(|b| b.column("a").unwrap().kind() == Kind::Text));
}

#[test]
fn blocks_follow_an_encoding() {
    let folder = Folder::new();
    let file = folder.file("t.csv", "x,t,y\n1,2,no\n2,3,yes\n3,z,no\n4,w,yes\n");
    let options = options(r#"{"target":"y"}"#);
    let table = read(from_ref(&file), &options).unwrap();
    let prepared = prepare(&table, &options, None, &Split::None, true).unwrap();
    let later = folder.file("later.csv", "t,new,x\n2,5,1\nz,6,2\n");
    let mut reader = Reader::open(&[later], &options, Some(&prepared.encoding)).unwrap();
    let block = reader.next_block(1).unwrap().unwrap();
    assert_eq!(block.column("t").unwrap().kind(), Kind::Text);
    assert_eq!(block.column("new").unwrap().kind(), Kind::Ignored);
    assert!(prepared.encoding.encode(&block, &[0]).is_ok());
}

#[test]
fn blocks_of_nothing_are_refused_as_tables_are() {
    let folder = Folder::new();
    let file = folder.file("t.csv", "x,y\n");
    assert_eq!(
        message(blocks(&[file], &options("{}"), 5)),
        "t.csv: no rows: found the column names only"
    );
    let two = [folder.file("a.csv", "x,y\n1,2\n"), folder.file("t.csv", "y,x\n1,2\n")];
    let mut reader = Reader::open(&two, &options("{}"), None).unwrap();
    assert!(reader.next_block(5).unwrap().is_some());
    assert!(message(reader.next_block(5)).contains("have different columns"));
}
