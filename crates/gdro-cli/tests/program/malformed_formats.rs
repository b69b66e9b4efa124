//! Malformed files of every format: exit code 2, one line that says where, no panic, little memory.

use std::io::Write as _;
use std::process::{Command, Output};
use std::sync::Arc;

use crate::common::{Folder, people, stderr};
use crate::tables;
use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

/// Kilobytes of address space that the program may take.
const MEMORY: usize = 3_000_000;

/// Runs `gdro fit FILE` in little memory.
fn run(folder: &Folder, file: &str, options: &str) -> Output {
    let target = if file.contains(".svm") { "" } else { "--target y" };
    let program = env!("CARGO_BIN_EXE_gdro");
    let script = format!(
        "ulimit -v {MEMORY}; exec {program} fit {file} {target} {options} --threads 2 --solver smd-m \
         --rounds 20 --out out --quiet"
    );
    Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap()
}

/// Checks that a file is refused by one line with its name, or (for damage that may hit nothing
/// but numbers) that it is read.
fn check(folder: &Folder, file: &str, options: &str, may_be_read: bool) -> bool {
    let before = folder.list();
    let output = run(folder, file, options);
    let said = stderr(&output);
    match output.status.code() {
        Some(0) if may_be_read => {
            std::fs::remove_dir_all(folder.path().join("out")).unwrap();
            return false;
        }
        code => assert_eq!(code, Some(2), "{file}: {said}"),
    }
    assert!(said.starts_with("error: ") && said.trim_end().lines().count() == 1, "{file}: {said}");
    assert!(!said.contains("panicked"), "{file}: {said}");
    assert_eq!(folder.list(), before, "{file}");
    true
}

/// One that must be refused, with a part of the message.
fn refused(name: &str, content: impl AsRef<[u8]>, expected: &str) {
    let folder = Folder::new();
    folder.file(name, content);
    let said = stderr(&run(&folder, name, ""));
    assert!(said.contains(expected), "{name}: {said}");
    assert!(check(&folder, name, "", false));
}

fn words(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

#[test]
fn delimited_texts() {
    let pack = |name: &str, text: &[u8]| match name {
        "t.csv.gz" => tables::gzip(text),
        "t.csv.zst" => tables::zstd(text),
        _ => text.to_vec(),
    };
    let line = "x".repeat(17 << 20);
    for name in ["t.csv", "t.csv.gz", "t.csv.zst"] {
        for (text, expected) in [
            (&b""[..], "the file is empty"),
            (b"x,y\n", "no rows"),
            (b"x,y\n1,0\n2\n", ":3: found 1 cell, expected 2"),
            (b"x,y\n1,0\n2,1,3\n", ":3: found 3 cells"),
            (b"x,y\n1,0\n\"2,1\n", ":3: the quoted cell that starts here never ends"),
            (b"x,y\n\"1\"z,0\n", ":2: found 'z' after a closing quote"),
            (b"x,y\n1,0\n\xff,1\n", ":3: not valid UTF-8"),
            (b"x,y\n1,0\nNaN,1\n", ":3: column `x`: found `NaN`"),
            (b"x,y\n1,0\ninf,1\n", ":3: column `x`: found `inf`"),
            (b"x,y\n1,0\n-1e999,1\n", ":3: column `x`: found `-1e999`"),
            (b"x,y\n1,0\n2,1\n12;5,1\n", ":4: column `x`: found `12;5`"),
            (b"x,x,y\n1,2,0\n", ":1: column `x` occurs twice"),
            (b"x,,y\n1,2,0\n", ":1: column number 2 has no name"),
            (b"x,z\n1,2\n", "target: no column `y`"),
            (b"x,y\n1,0\n,1\n", ":3: column `x`: the cell is missing"),
            (b"x,y\n,0\n,1\n", "column `x`: every cell is missing"),
            (b"\xff\xfex\0,\0y\0\n\0", ":1: not valid UTF-8"),
            (line.as_bytes(), ":1: a line or quoted cell of more than"),
        ] {
            refused(name, pack(name, text), expected);
        }
    }
}

#[test]
fn a_line_of_a_gigabyte() {
    let folder = Folder::new();
    std::fs::File::create(folder.path().join("t.csv")).unwrap().set_len(1 << 30).unwrap();
    let part = vec![0u8; 64 << 20];
    let zeros = |part: Vec<u8>| std::iter::repeat_n(part, 16).flatten().collect::<Vec<u8>>();
    folder.file("t.csv.gz", zeros(tables::gzip(&part)));
    folder.file("t.csv.zst", zeros(tables::zstd(&part)));
    folder.file("t.svm.gz", zeros(tables::gzip(&part)));
    for name in ["t.csv", "t.csv.gz", "t.csv.zst", "t.svm.gz"] {
        assert!(check(&folder, name, "", false));
        let said = stderr(&run(&folder, name, ""));
        assert!(said.contains(&format!("{name}:1: a line")), "{said}");
    }
}

#[test]
fn sparse_texts() {
    for (text, expected) in [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("1 1:1\nx 1:1\n", ":2: found `x`"),
        ("1 1:1\n-1 -3:1\n", ":2: found `-3:1`"),
        ("1 2:1 1:1 2:3\n", ":1: found `2`, expected each index once"),
        ("1 2:1 2:1\n", ":1: found `2`, expected each index once"),
        ("1 4000000000:1\n", ":1: found `4000000000:1`"),
        ("1 18446744073709551616:1\n", ":1: found `18446744073709551616:1`"),
        ("1 1:\n", ":1: found `1:`"),
        ("1 :1\n", ":1: found `:1`"),
        ("1 1\n", ":1: found `1`"),
        ("1 1:1:1\n", ":1: found `1:1:1`"),
        ("1 1:nan\n", ":1: found `1:nan`"),
        ("1 1:inf\n", ":1: found `1:inf`"),
        ("1 1:1e400\n", ":1: found `1:1e400`"),
        ("nan 1:1\n", ":1: found `nan`"),
        ("1,2 1:1\n", ":1: found `1,2`"),
        ("1 qid:1 1:1\n1 1:1\n", ": rows have the number of a query (qid)"),
        ("1 1:1\n1 qid:1 1:1\n", ":2: found `qid:1`"),
        ("1 1:1\n1 1:2\n", "every row has the value `1`"),
        ("1\n-1\n", "no feature"),
    ] {
        refused("t.svm", text, expected);
    }
    refused("t.svm", b"1 1:1\n\xff 1:1\n", ":2: not valid UTF-8");
    let folder = Folder::new();
    folder.file("t.svm", "1 1:1\n-1 1:2\n1 2:1\n");
    for (labels, expected) in [
        ("a\nb\n", "found 2 labels, the table has 3 rows"),
        ("a\nb\nc\nd\n", "found 4 labels, the table has 3 rows"),
        ("", "found 0 labels, the table has 3 rows"),
        ("a\n\nb\n", "t.svm:2: column `group`: the group label is missing"),
    ] {
        folder.file("g.txt", labels);
        let said = stderr(&run(&folder, "t.svm", "--group-file g.txt"));
        assert!(said.contains(expected), "{said}");
        assert!(check(&folder, "t.svm", "--group-file g.txt", false));
    }
}

#[test]
fn files_that_are_cut_off() {
    for (ending, content) in tables::every_format(&people(60)) {
        if ending == "csv" {
            continue;
        }
        let folder = Folder::new();
        for part in 0..25 {
            // A single byte is a text like any other.
            let length = 8 + (content.len() - 9) * part / 24;
            let name = format!("t.{ending}");
            folder.file(&name, &content[..length]);
            // A stream may end after any message, and compressed lines after any line.
            let said = stderr(&run(&folder, &name, ""));
            assert!(said.contains(&name), "{said}");
            check(&folder, &name, "", ending == "arrows");
        }
    }
}

#[test]
fn files_of_another_kind() {
    let text = people(20);
    refused("t.parquet", &text, "t.parquet: it is something else");
    refused("t.arrow", &text, "t.arrow: it is something else");
    refused("t.parquet", tables::gzip(text.as_bytes()), "t.parquet: it is compressed by gzip");
    refused("t.parquet", "", "t.parquet");
    refused("t.arrow", "", "t.arrow");
    for content in
        ["PAR1", "PAR1PAR1", "PAR1\u{0}\u{0}\u{0}\u{7f}PAR1", "ARROW1", "ARROW1\0\0ARROW1"]
    {
        refused("t.bin", content, "t.bin: cannot read the");
    }
    refused("t.bin", [0xff; 40], "t.bin: cannot read the Arrow data");
    let rows = tables::typed(&text).unwrap();
    let mut parquet = tables::parquet(&rows);
    let end = parquet.len();
    parquet[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    refused("t.parquet", &parquet, "t.parquet: cannot read the Parquet data");
    let mut arrow = tables::arrow_file(&rows);
    let end = arrow.len();
    arrow[end - 10..end - 6].copy_from_slice(&i32::MAX.to_le_bytes());
    refused("t.arrow", &arrow, "t.arrow: cannot read the Arrow data");
    let mut stream = tables::arrow_stream(&rows);
    stream[4..8].copy_from_slice(&i32::MAX.to_le_bytes());
    refused("t.arrows", &stream, "t.arrows: cannot read the Arrow data");
}

#[test]
fn columns_that_cannot_be_used() {
    let y: ArrayRef = Arc::new(Int32Array::from(vec![0, 1, 0]));
    let numbers = |v: f64| Arc::new(Float64Array::from(vec![1.0, 2.0, v])) as ArrayRef;
    let every = |rows: &RecordBatch| {
        tables::of_rows(rows).map(|(ending, content)| (format!("t.{ending}"), content))
    };
    for (value, name) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let rows =
            RecordBatch::try_from_iter(vec![("x", numbers(value)), ("y", y.clone())]).unwrap();
        for (file, content) in every(&rows) {
            refused(&file, content, &format!("{file}: row 3: column `x`: found `{name}`"));
        }
    }
    let field = |name: &str, kind| Field::new(name, kind, false);
    let fields = |second: &str| {
        let number = DataType::Float64;
        Schema::new(vec![
            field("x", number.clone()),
            field(second, number),
            field("y", DataType::Int32),
        ])
    };
    for (second, expected) in
        [("x", "column `x` occurs twice"), (" ", "column number 2 has no name")]
    {
        let columns = vec![numbers(3.0), numbers(4.0), y.clone()];
        let rows = RecordBatch::try_new(Arc::new(fields(second)), columns).unwrap();
        for (file, content) in every(&rows) {
            refused(&file, content, expected);
        }
    }
    let empty = RecordBatch::new_empty(Arc::new(fields("z")));
    for (file, content) in every(&empty) {
        refused(&file, content, "no rows");
    }
}

/// Flipped bits may hit nothing but numbers; whatever they hit, the program neither panics nor
/// takes much memory.
#[test]
fn flipped_bits() {
    let (mut seed, mut refusals, mut all) = (11, 0, 0);
    for (ending, content) in tables::every_format(&people(60)) {
        if ending == "csv" {
            continue;
        }
        let folder = Folder::new();
        let name = format!("t.{ending}");
        for round in 0..60 {
            let mut bytes = content.clone();
            // Half of them in the last part, where a footer is.
            let from = if round % 2 == 0 { 0 } else { bytes.len() * 3 / 4 };
            let at = from + words(&mut seed) as usize % (bytes.len() - from);
            bytes[at] ^= 1 << (words(&mut seed) % 8);
            std::fs::File::create(folder.path().join(&name)).unwrap().write_all(&bytes).unwrap();
            refusals += usize::from(check(&folder, &name, "", true));
            all += 1;
        }
    }
    eprintln!("{refusals} of {all} refused");
    assert!(refusals > all / 2);
}
