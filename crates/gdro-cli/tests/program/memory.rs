//! Memory is estimated before it is taken: an error with what is wanted, what there is and what helps.
#![cfg(unix)]

use std::process::{Command, Output};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, NullArray, RecordBatch};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;

use crate::common::{FIT, Folder, stderr};
use crate::tables;

/// Runs the program in so many kilobytes of addresses.
fn within(folder: &Folder, kilobytes: u64, arguments: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_gdro");
    let script = format!("ulimit -v {kilobytes}; exec '{program}' {arguments} --threads 2");
    Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap()
}

/// Checks that a command is refused for want of memory, with `--memory` and without in an address
/// space that is small; gives the message of the former.
fn too_much(folder: &Folder, arguments: &str, memory: &str) -> String {
    let said = folder.refused(&format!("{arguments} --memory {memory}"));
    assert!(said.contains(" of memory, of which there are "), "{said}");
    assert!(said.contains("or allow more with --memory"), "{said}");
    let output = within(folder, 1_000_000, arguments);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--memory"), "{}", stderr(&output));
    said
}

#[test]
fn files_that_unfold() {
    let folder = Folder::new();
    // 20 million rows: 6 bytes each as text.
    let part = tables::gzip("1,2,0\n2,1,1\n".repeat(1 << 16).as_bytes());
    folder.file("t.csv.gz", [tables::gzip(b"x,z,y\n"), part.repeat(160)].concat());
    let fit = "fit t.csv.gz --target y --quiet --out out";
    let said = too_much(&folder, fit, "150MB");
    assert!(said.starts_with("t.csv.gz: the first "), "{said}");
    assert!(
        said.contains("read it block by block with --stream, leave columns out with"),
        "{said}"
    );
    assert!(said.contains("of which there are 150 MB"), "{said}");

    let rows = 1 << 20;
    let ones = || Arc::new(Int32Array::from(vec![1; rows])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("x", ones()), ("z", ones()), ("y", ones())]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    (0..32).for_each(|_| writer.write(&batch).unwrap());
    let parquet = writer.into_inner().unwrap();
    assert!(parquet.len() < 1 << 20, "{}", parquet.len());
    folder.file("t.parquet", parquet);
    let said = too_much(&folder, "fit t.parquet --target y --quiet --out out", "100MB");
    assert!(said.starts_with("t.parquet: its 33,554,432 rows would take"), "{said}");
}

/// A column of nothing needs no bytes in the file, however long it says that it is.
#[test]
fn an_arrow_file_that_claims_a_trillion_rows() {
    let folder = Folder::new();
    for (rows, expected) in
        [(1usize << 40, "more than 4294967295"), (1 << 31, "its 2,147,483,648 rows would")]
    {
        let nothing = || Arc::new(NullArray::new(rows)) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("x", nothing()), ("y", nothing())]).unwrap();
        let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        file.write(&batch).unwrap();
        let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        stream.write(&batch).unwrap();
        for content in [file.into_inner().unwrap(), stream.into_inner().unwrap()] {
            assert!(content.len() < 1000);
            folder.file("t.arrow", content);
            for options in ["", "--stream"] {
                let output = within(
                    &folder,
                    2_000_000,
                    &format!("fit t.arrow --target y --memory 1GB {options} --out out"),
                );
                let said = stderr(&output);
                assert_eq!(output.status.code(), Some(2), "{rows} {options}: {said}");
                let last = said.lines().last().unwrap();
                assert!(last.starts_with("error: t.arrow"), "{said}");
                assert!(last.contains(expected), "{said}");
            }
        }
    }
}

/// A stream takes as much as its buffer asks for, however long the table.
#[test]
fn buffers_of_streams() {
    let folder = Folder::people();
    let fit = "fit t.csv --target y --groups g --stream --quiet --out out";
    let said = folder.refused(&format!("{fit} --memory 200MB"));
    let expected = "a stream with a buffer of 65,536 rows would take about 241 MB of memory, of which there \
                    are 200 MB: shuffle fewer rows at a time with --buffer, or allow more with --memory";
    assert_eq!(said, expected);
    // What was said helps.
    folder.prints(&format!("{fit} --memory 80MB --buffer 1024"));
    let output = within(&folder, 200_000, fit);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let output = within(&folder, 800_000, fit);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// The rows are few: it is a gradient for each group that takes the memory.
#[test]
fn groups_by_the_thousand() {
    let mut table = "x,g,y\n".to_owned();
    for row in 0..30_000 {
        table += &format!("{},g{},{}\n", row * 37 % 23, row / 2, row % 7 % 2);
    }
    let folder = Folder::with(table);
    let fit = "fit t.csv --target y --groups g --quiet --out out";
    let said = too_much(&folder, &format!("{fit} --solver smd-m --rounds 10"), "3GB");
    let expected = "15,000 groups and 15,002 weights, with a gradient each, would take about 5.4 GB of \
                    memory, of which there are 3.0 GB: leave group columns out of the features with \
                    --group-features drop, put small groups together with --min-group and \
                    --small-groups merge, or allow more with --memory";
    assert_eq!(said, expected);
    // What was said helps.
    folder.prints(&format!(
        "{fit} --group-features drop --solver smd-m --rounds 10 --memory 3GB --step-w 1 --step-q 1"
    ));
}

#[test]
fn encoded_rows_models_and_sizes() {
    let folder = Folder::people();
    folder.prints(&format!("{FIT} --out run --quiet"));
    let said = folder.refused("predict run t.csv --memory 5kB");
    assert!(said.starts_with("the model run/model.json would take about "), "{said}");
    for command in ["evaluate run t.csv", "certify run t.csv"] {
        assert!(folder.refused(&format!("{command} --memory 5kB")).contains("the model"));
        folder.prints(&format!("{command} --memory 500MB"));
    }
    for size in ["lots", "0", "-1GB", "4apples"] {
        let said = folder.refused(&format!("{FIT} --memory={size}"));
        assert!(said.contains("expected a size such as 4GB"), "{said}");
        assert!(
            folder.refused(&format!("predict run t.csv --memory={size}")).contains("size such as")
        );
    }
    folder.file("job.toml", "tables = ['t.csv']\ntarget = 'y'\nmemory = '1kB'\n");
    let said = folder.refused("fit job.toml --holdout 0");
    assert!(said.contains("of which there are 1.0 kB") && said.contains("--memory"), "{said}");
    assert!(folder.refused("inspect t.csv --target y --memory 1kB").contains("1.0 kB"));
    folder.prints("inspect t.csv --target y --memory 1GiB");
}
