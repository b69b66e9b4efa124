//! Bad tables: exit code 2, one line with file, line and column where they exist, and no output.

use std::io::Write as _;
use std::process::Command;

use crate::common::{self, Folder};

/// The message for a table with the given options besides `--target y`.
fn said(table: impl AsRef<[u8]>, options: &str) -> String {
    let folder = Folder::with(table);
    let options =
        if options.contains("--target") { options.into() } else { format!("--target y {options}") };
    let found = folder.refused(&format!("fit t.csv --out out {options}"));
    assert_eq!(folder.list(), ["t.csv"]);
    found
}

#[test]
fn each_kind_of_bad_table_has_its_message() {
    for (table, options, expected) in [
        ("", "", "t.csv: the file is empty"),
        ("x,y\n", "", "t.csv: no rows"),
        ("x,y\n1,0\n", "", "target `y`: every row has the value `0`"),
        ("x,y\n1,0\n2\n", "", "t.csv:3: found 1 cell, expected 2"),
        ("x,y\n1,0,3\n", "", "t.csv:2: found 3 cells, expected 2"),
        ("x,y\n\"1,0\n2,1\n", "", "t.csv:2: the quoted cell that starts here never ends"),
        ("x,x,y\n1,0,3\n", "", "t.csv:1: column `x` occurs twice (as number 1 and 2)"),
        ("x,,y\n1,0,3\n", "", "t.csv:1: column number 2 has no name"),
        (
            "x,y\n1,0\n2,1\n12;5,1\n",
            "",
            "t.csv:4: column `x`: found `12;5`, expected a number: say `--na '12;5'`",
        ),
        ("x,y\n1,0\n2,1\nn/a,1\n", "", "t.csv:4: column `x`: found `n/a`, expected a number"),
        ("x,y\n1,0\nNaN,1\n", "", "t.csv:3: column `x`: found `NaN`, expected a finite number"),
        ("x,y\n1,0\ninf,1\n", "", "t.csv:3: column `x`: found `inf`, expected a finite number"),
        ("x,y\n1,0\n1e999,1\n", "", "t.csv:3: column `x`: found `1e999`, expected a finite"),
        ("x,y\n1,0\n,1\n", "", "t.csv:3: column `x`: the cell is missing"),
        ("x,y\n1,0\n2,\n", "", "t.csv:3: column `y`: the cell is missing"),
        ("x,y\n,0\n,1\n", "", "column `x`: every cell is missing"),
        (
            "x,g,y\n1,a,0\n2,,1\n",
            "--groups g",
            "t.csv:3: column `g`: the group label is missing: fill it, or say `--missing-group own|drop`",
        ),
        ("x,g,y\n1,a,1\n2,b,1\n", "--groups g", "target `y`: every row has the value `1`"),
        (
            "x,y\n1,a\n2,b\n3,c\n",
            "--loss logistic",
            "target `y`: found 3 labels (`a`, `b`, `c`), a binary loss takes two: use the softmax loss",
        ),
        ("x,y\n1,0\n2,1\n", "--target q", "--target: no column `q`"),
        ("y\n1\n0\n", "", "no feature: every column is"),
        ("x,y\n1,0\n2,1\n", "--ignore x", "no feature: every column is"),
        ("x,y\n1,0\n2,1\n", "--groups q", "--groups: no column `q`"),
        ("x,y\n1,0\n2,1\n", "--weight q", "--weight: no column `q`"),
        ("x,w,y\n1,-1,0\n2,1,1\n", "--weight w", "t.csv:2: column `w`: found the weight -1"),
        ("x,y\n1,2\n2,1e200\n3,4\n", "", "a loss in group `all` is inf"),
    ] {
        let found = said(table, options);
        assert!(found.starts_with(expected), "{table:?}: {found}");
    }
    let found = said(b"x,y\n1,0\n\xff,1\n", "");
    assert!(found.starts_with("t.csv:3: not valid UTF-8"), "{found}");
    let found = said(b"\x00\x01\x02\x03binary\x00", "");
    assert!(found.contains(r"the columns are \u{0}\u{1}"), "{found}");
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::people();
    std::fs::create_dir(folder.path().join("d.csv")).unwrap();
    let found = folder.refused("fit none.csv --target y --out out");
    assert!(found.starts_with("none.csv: cannot open: "), "{found}");
    let found = folder.refused("fit d.csv --target y --out out");
    assert!(found.starts_with("d.csv: cannot open: it is a directory"), "{found}");
    folder.file("other.csv", "a,b\n1,2\n");
    let found = folder.refused("fit t.csv other.csv --target y --out out");
    assert!(found.starts_with("other.csv and t.csv have different columns"), "{found}");
}

#[test]
fn a_gzip_file_that_is_cut_off_is_refused() {
    let folder = Folder::people();
    folder.file("long.csv", common::people(5000));
    let packed = Command::new("gzip").arg("-c").arg(folder.path().join("long.csv")).output();
    let Ok(packed) = packed else { return };
    folder.file("whole.csv.gz", &packed.stdout);
    folder.prints("fit whole.csv.gz --target y --groups g --solver smd-m --rounds 10 --quiet");
    folder.file("cut.csv.gz", &packed.stdout[..packed.stdout.len() / 2]);
    let found = folder.refused("fit cut.csv.gz --target y --out out");
    assert!(found.starts_with("cut.csv.gz:"), "{found}");
    assert!(found.contains("the gzip data are damaged or cut off"), "{found}");
}

#[test]
fn a_run_that_diverges_says_so_and_leaves_nothing() {
    let folder = Folder::with("x,y\n1,2.5\n2,100\n3,4\n1,2\n2,3.5\n3,8\n");
    let found = folder
        .refused("fit t.csv --target y --solver smd-m --step-w 1e300 --rounds 5000 --out out");
    assert!(found.contains("loss in group `all`") && found.contains("--step-w"), "{found}");
}

#[test]
fn a_folder_that_cannot_be_written_is_said_before_a_table_is_read() {
    let folder = Folder::people();
    folder.file("taken", "a file\n");
    for out in ["taken", "taken/deeper"] {
        let found = folder.refused(&format!("fit none.csv --target y --out {out}"));
        assert_eq!(found, "--out: expected a folder, and taken is none");
    }
    assert_eq!(folder.read("taken"), "a file\n");
    let found = folder.fails("fit none.csv --target y --out /proc/gdro", 1);
    assert!(found.starts_with("cannot write /proc/gdro"), "{found}");
}

#[test]
fn lists_that_are_given_twice_say_how_to_write_one() {
    let folder = Folder::people();
    for option in ["na", "ignore"] {
        let found = folder.refused(&format!("fit t.csv --target y --{option} x --{option} z"));
        let expected =
            "cannot be used multiple times: give it once, with its values separated by commas";
        assert!(found.contains(&format!("'--{option} ")) && found.ends_with(expected), "{found}");
    }
    let found = folder.refused("fit t.csv --target y --target x");
    assert!(found.ends_with("cannot be used multiple times"), "{found}");
}

#[test]
fn random_bytes_never_panic() {
    let mut state = 7u64;
    for round in 0..40 {
        let mut bytes = Vec::new();
        for _ in 0..200 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let few = b"0123456789,,,,\n\n\n\"\".eaby ";
            bytes.push(if round % 2 == 0 {
                (state >> 56) as u8
            } else {
                few[(state >> 40) as usize % few.len()]
            });
        }
        let mut table = b"x,y\n".to_vec();
        table.write_all(&bytes).unwrap();
        let folder = Folder::with(table);
        let output = folder.run("fit t.csv --target y --solver smd-m --rounds 20 --quiet");
        assert!(matches!(output.status.code(), Some(0 | 2)), "{}", common::stderr(&output));
    }
}
