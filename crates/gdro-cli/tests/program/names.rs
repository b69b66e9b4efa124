//! Names of a table are data: nothing of them garbles a terminal, deceives who reads, or is run.

use crate::common::{Folder, stderr};

/// Characters without a shape of their own, each in the name of a group, a column or a label.
const HIDDEN: [char; 9] = [
    '\u{1b}',
    '\u{7f}',
    '\u{9b}',
    '\u{200b}',
    '\u{200f}',
    '\u{202e}',
    '\u{2066}',
    '\u{feff}',
    '\u{e0041}',
];

/// A table with them.
fn deceptive() -> Folder {
    let label = |row: usize| if row.is_multiple_of(3) { "n\u{202e}o" } else { "yes\u{200b}" };
    let mut table = "x\u{2066},kind\u{200f},group,y\n".to_owned();
    for row in 0..180 {
        let kind = ["plain\u{feff}", "wide"][row % 2];
        let group = format!("a{}b", HIDDEN[row % HIDDEN.len()]);
        table += &format!("{},{kind},{group},{}\n", row * 37 % 23, label(row));
    }
    Folder::with(table)
}

#[test]
fn what_has_no_shape_is_shown_escaped() {
    let folder = deceptive();
    let fit = "fit t.csv --target y --groups group --solver exact --objective max --all-groups";
    let mut shown = Vec::new();
    for command in [
        &format!("{fit} --out run --report page.html"),
        "inspect t.csv --target y --groups group --all",
        "select t.csv --target y --groups group --folds 2 --l2 0.1,1 --objectives max --report s.html",
        "show run --all",
        "evaluate run t.csv --all-groups --report later.html",
        "predict run t.csv",
        "fit t.csv --target y --ignore none\u{202e} --groups group",
    ] {
        let output = folder.run(command);
        let text = String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output);
        shown.push((command.to_owned(), text));
    }
    for page in ["page.html", "s.html", "later.html"] {
        shown.push((page.to_owned(), folder.read(page)));
    }
    for (what, text) in &shown {
        if let Some(found) = text.chars().find(|c| HIDDEN.contains(c)) {
            panic!("{what}: {:?}", text.split('\n').find(|line| line.contains(found)));
        }
    }
    let fitted = &shown[0].1;
    for escape in [r"a\u{1b}b", r"a\u{200b}b", r"a\u{202e}b", r"a\u{e0041}b"] {
        assert!(fitted.contains(escape), "{escape}: {fitted}");
    }
    assert!(shown[5].1.contains(r"n\u{202e}o,"), "{}", shown[5].1);
    assert!(shown.last().unwrap().1.contains(r"a\\u{202e}b"));
}

#[test]
fn cells_are_no_formulas_where_that_is_asked_for() {
    let mut table = "x,y\n".to_owned();
    for row in 0..60 {
        let label = ["=1+1", "-1", "@SUM(A1)", "+x", "plain"][row % 5];
        table += &format!("{},{label}\n", row % 5 * 10 + row % 3);
    }
    let folder = Folder::with(table);
    folder.prints(
        "fit t.csv --target y --holdout 0 --solver exact --objective max --quiet --out run",
    );
    let labels = |options: &str| {
        let text = folder.prints(&format!("predict run t.csv {options}"));
        let label = |line: &str| line.split(',').next().unwrap().to_owned();
        text.lines().skip(1).map(label).collect::<std::collections::BTreeSet<_>>()
    };
    let as_they_are = ["+x", "-1", "=1+1", "@SUM(A1)", "plain"];
    assert!(labels("").iter().eq(as_they_are));
    // A number is no formula.
    assert!(labels("--spreadsheet-safe").iter().eq(["'+x", "'=1+1", "'@SUM(A1)", "-1", "plain"]));
    let numbers = "x,y\n1,-3.5\n2,-7\n3,-11\n4,-14\n5,-18.5\n";
    folder.file("n.csv", numbers);
    folder
        .prints("fit n.csv --target y --holdout 0 --solver exact --objective max -q --out numbers");
    let predict = "predict numbers n.csv";
    assert_eq!(folder.prints(predict), folder.prints(&format!("{predict} --spreadsheet-safe")));
}
