//! Tables as people export them: each is read right, or refused with what to do.

use std::path::Path;

use serde_json::Value;

use crate::common::{Folder, number, stderr};

/// A folder with one of the tables.
fn with(name: &str) -> Folder {
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exports");
    let folder = Folder::new();
    folder.file(name, std::fs::read(tables.join(name)).unwrap());
    folder
}

/// The model that is trained on a table, and what is said meanwhile.
fn trained(folder: &Folder, arguments: &str) -> (Value, String) {
    let run = "--holdout 0 --solver smd-m --rounds 20 --step-w 1 --step-q 1 --out out";
    let output = folder.run(&format!("fit {arguments} {run}"));
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {said}");
    (folder.json("out/model.json"), said)
}

/// The features of a table that is read.
fn features(name: &str, options: &str) -> Vec<String> {
    let (model, _) = trained(&with(name), &format!("{name} {options}"));
    texts(&model["features"])
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|f| f.as_str().unwrap().to_owned()).collect()
}

/// Mean and deviation of a numeric feature.
fn moments(model: &Value, name: &str) -> (f64, f64) {
    let columns = model["encoding"]["columns"].as_array().unwrap();
    let column = columns.iter().find(|c| c["name"] == name).unwrap();
    assert_eq!(column["kind"], "number", "{name}");
    (number(&column["mean"]), number(&column["deviation"]))
}

fn refused(name: &str, options: &str) -> String {
    with(name).refused(&format!("fit {name} {options}"))
}

#[test]
fn what_is_clear_is_read() {
    for (name, options, expected) in [
        (
            "excel-german.csv",
            "--target krank --decimal ,",
            &["Temperatur", "Größe", "Standort=Nord", "Standort=Süd"][..],
        ),
        (
            "excel-french.csv",
            "--target malade --decimal , --thousands space",
            &["salaire", "âge", "site=Nord", "site=Süd"],
        ),
        (
            "excel-swiss.csv",
            "--target krank --thousands apostrophe",
            &["Lohn", "Alter", "Ort=Nord", "Ort=Süd"],
        ),
        ("pandas-index.csv", "--target ill", &["temp", "age", "site=Nord", "site=Süd"]),
        (
            "r-write-csv.csv",
            "--target ill --na NA --missing mean",
            &["temp", "age", "site=Nord", "site=Süd"],
        ),
        ("r-write-csv2.csv", "--target ill --decimal ,", &["temp", "age", "site=Nord", "site=Süd"]),
        (
            "spss-labels.csv",
            "--target ill --date visit --na #NULL! --missing mean",
            &[
                "visit",
                "trust=agree",
                "trust=disagree",
                "trust=neither",
                "trust=strongly agree",
                "income",
            ],
        ),
        (
            "survey-weights.csv",
            "--target vote --weight weight --na -9 --missing mean",
            &["age", "income", "region=east", "region=north", "region=south"],
        ),
        (
            "sensor-dump.txt",
            "--target fault --comment # --date time",
            &["time", "volts", "state=idle", "state=run"],
        ),
        ("tabs.txt", "--target ill", &["temp", "age", "site=Nord, centre", "site=Süd, centre"]),
        ("tabs.txt", "--target ill --delimiter tab --ignore site", &["temp", "age"]),
        ("pipes.txt", "--target ill", &["temp", "age", "site=Nord", "site=Süd"]),
        (
            "quoted-thousands.csv",
            "--target ill --thousands ,",
            &["income", "age", "site=Nord", "site=Süd"],
        ),
        ("iso-dates.csv", "--target ill --date seen", &["seen", "age"]),
        ("us-dates.csv", "--target ill --date seen", &["seen", "age"]),
        ("either-dates.csv", "--target ill --date seen=dmy", &["seen", "age"]),
        (
            "zip-codes.csv",
            "--target ill",
            &["zip=00501", "zip=02134", "zip=10001", "zip=94105", "age"],
        ),
        ("zip-codes.csv", "--target ill --number zip", &["zip", "age"]),
        ("trailing-columns.csv", "--target ill", &["temp", "age"]),
        (
            "booleans.csv",
            "--target malade",
            &[
                "fume=non",
                "fume=oui",
                "alleine=ja",
                "alleine=nein",
                "casado=no",
                "casado=sí",
                "smokes=F",
                "smokes=T",
            ],
        ),
        ("missing-codes.csv", "--target ill --na -999 --missing mean", &["temp", "age"]),
        ("excel-errors.csv", "--target ill --na #DIV/0!,#N/A --missing mean", &["ratio", "age"]),
    ] {
        assert_eq!(features(name, options), expected, "{name} {options}");
    }
}

#[test]
fn what_is_not_is_refused_with_what_to_do() {
    for (name, options, expected) in [
        (
            "excel-german.csv",
            "--target krank",
            "excel-german.csv:2: column `Temperatur`: found `37,8`, expected a number: say `--decimal ,` \
             for numbers that are written so, `--text Temperatur` if the column is text, or leave it out \
             with `--ignore Temperatur`",
        ),
        (
            "excel-french.csv",
            "--target malade",
            "expected a number: say `--decimal , --thousands space` for numbers that are written so",
        ),
        (
            "excel-swiss.csv",
            "--target krank",
            "expected a number: say `--thousands apostrophe` for numbers that are written so",
        ),
        (
            "pandas-shuffled.csv",
            "--target ill",
            "pandas-shuffled.csv:1: column number 1 has no name, and line 4 has `17` there: give it a name",
        ),
        (
            "r-write-csv.csv",
            "--target ill",
            "r-write-csv.csv:2: column `temp`: found `NA`, expected a number: say `--na 'NA'` if it \
             means missing, or `--text temp` if the column is text",
        ),
        (
            "r-row-names.csv",
            "--target ill",
            "r-row-names.csv:1: column number 1 has no name, and line 2 has `patient a` there: give it \
             a name, or write the table without it",
        ),
        (
            "spss-labels.csv",
            "--target ill --date visit",
            "column `income`: found `#NULL!`, expected a number: say `--na '#NULL!'` if it means",
        ),
        (
            "spss-labels.csv",
            "--target ill --na #NULL! --missing mean",
            "say `--date visit` for days",
        ),
        (
            "sensor-dump.txt",
            "--target fault",
            "sensor-dump.txt:1: 2 lines before the names of the columns: found 1 cell, later lines have \
             4: delete them, or say `--comment '#'`, which skips lines that start so",
        ),
        (
            "sensor-dump.txt",
            "--target fault --comment #",
            "say `--date time` for days since 1970-01-01",
        ),
        (
            "quoted-thousands.csv",
            "--target ill",
            "expected a number: say `--thousands ,` for numbers that are written so",
        ),
        (
            "either-comma.csv",
            "--target ill",
            "say `--decimal ,` if the comma is the decimal sign, `--thousands ,` if it is between \
             thousands, `--text income`",
        ),
        (
            "percent.csv",
            "--target ill",
            "found `0 %`, expected a number: write the numbers without the percent sign, `--text share` if",
        ),
        (
            "currency.csv",
            "--target ill",
            "expected a number: write the numbers without the currency, `--text price` if",
        ),
        (
            "units.csv",
            "--target ill",
            "expected a number: write the numbers without the unit, `--text height` if",
        ),
        (
            "iso-dates.csv",
            "--target ill",
            "say `--date seen` for days since 1970-01-01, `--text seen`",
        ),
        (
            "us-dates.csv",
            "--target ill",
            "say `--date seen` for days since 1970-01-01, `--text seen`",
        ),
        (
            "either-dates.csv",
            "--target ill --date seen",
            "and no cell shows whether the day or the month comes first: say `--date seen=dmy` or \
             `--date seen=mdy`",
        ),
        (
            "latin-1.csv",
            "--target krank",
            "latin-1.csv:2: not valid UTF-8: convert the file, as in `iconv -f WINDOWS-1252 -t UTF-8`",
        ),
        (
            "excel-unicode.txt",
            "--target ill",
            "excel-unicode.txt:1: not valid UTF-8: convert the file, as in `iconv -f UTF-16 -t UTF-8`",
        ),
        (
            "remark.csv",
            "--target ill",
            "remark.csv:1: column number 4 has no name, and line 6 has `checked` there",
        ),
        (
            "excel-title.csv",
            "--target ill",
            "excel-title.csv:1: 1 line before the names of the columns: found 1 cell, later lines have \
             3: delete them, or say `--comment 'Patients'`",
        ),
        (
            "duplicate-names.csv",
            "--target ill",
            "duplicate-names.csv:1: column `temp` occurs twice (as number 1 and 3): rename one",
        ),
        (
            "excel-errors.csv",
            "--target ill",
            "excel-errors.csv:4: column `ratio`: found `#DIV/0!`, expected a number: say `--na \
             '#DIV/0!,#N/A'` if these mean missing",
        ),
    ] {
        let found = refused(name, options);
        assert!(found.contains(expected), "{name} {options}: {found}");
    }
}

#[test]
fn numbers_are_those_that_were_written() {
    let of = |name: &str, options: &str, column: &str| {
        moments(&trained(&with(name), &format!("{name} {options}")).0, column)
    };
    // The same table, once with points and once with commas.
    let german = of("r-write-csv2.csv", "--target ill --decimal ,", "temp");
    assert_eq!(german, of("pandas-index.csv", "--target ill", "temp"));
    let french = of("excel-french.csv", "--target malade --decimal , --thousands space", "salaire");
    assert_eq!(french, of("excel-swiss.csv", "--target krank --thousands apostrophe", "Lohn"));
    assert_eq!(french, of("quoted-thousands.csv", "--target ill --thousands ,", "income"));
    // Days: 2023-01-01 is day 19,358; the months come twice, the days are 1 to 24.
    let (mean, _) = of("iso-dates.csv", "--target ill --date seen", "seen");
    let starts = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334].iter().sum::<i32>();
    let expected = 19_358.0 + f64::from(starts) / 12.0 + 11.5;
    assert!((mean - expected).abs() < 1e-9, "{mean} {expected}");
    assert_eq!(of("us-dates.csv", "--target ill --date seen", "seen").0, mean);
}

#[test]
fn later_tables_are_read_as_in_training() {
    let folder = with("us-dates.csv");
    trained(&folder, "us-dates.csv --target ill --date seen");
    // One row alone does not show which number is the month.
    folder.file("one.csv", "seen,age\n03/04/2023,30\n");
    folder.file("two.csv", "seen,age\n2023-03-04,30\n");
    let one = folder.prints("predict out one.csv");
    assert_eq!(one, folder.prints("predict out two.csv"));

    let folder = with("excel-german.csv");
    trained(&folder, "excel-german.csv --target krank --decimal ,");
    folder.file("one.csv", "Standort;Temperatur;Größe\nNord;38,5;170\n");
    folder.file("two.txt", "Standort\tTemperatur\tGröße\nNord\t38,5\t170\n");
    let one = folder.prints("predict out one.csv");
    assert_eq!(one, folder.prints("predict out two.txt"));
    folder.file("point.csv", "Standort;Temperatur;Größe\nNord;38.5;170\n");
    let found = folder.refused("predict out point.csv");
    assert!(found.starts_with("point.csv:2: column `Temperatur`: found `38.5`"), "{found}");

    let folder = with("pandas-index.csv");
    trained(&folder, "pandas-index.csv --target ill");
    let shown = folder.prints("evaluate out pandas-index.csv --json");
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert!(texts(&shown["notes"]).iter().any(|n| n.contains("numbers the rows")), "{shown}");
}

#[test]
fn choices_are_said() {
    for (name, options, expected) in [
        (
            "pandas-index.csv",
            "--target ill",
            "the first column has no name and numbers the rows: it is skipped",
        ),
        (
            "trailing-columns.csv",
            "--target ill",
            "2 columns without a name and without any cell: skipped",
        ),
        (
            "zip-codes.csv",
            "--target ill",
            "column `zip` is taken as text: it holds numbers with leading zeros",
        ),
        ("booleans.csv", "--target malade", "target `malade`: `vrai` is the positive label"),
        (
            "excel-german.csv",
            "--target krank --decimal ,",
            "target `krank`: `ja` is the positive label",
        ),
        (
            "missing-codes.csv",
            "--target ill",
            "column `temp` holds -999 in 4 rows and no other number below 0: if it means missing",
        ),
        ("names.csv", "--target ill", "more different texts than half of the rows"),
        (
            "fine-groups.csv",
            "--target ill --groups years",
            "group column `years` holds 24 different numbers, each a group of its own: cut it into bins",
        ),
    ] {
        let (_, notes) = trained(&with(name), &format!("{name} {options}"));
        assert!(notes.contains(&format!("note: {expected}")), "{name}: {notes}");
    }
}
