//! A look at tables that were made to be odd.

use crate::common::{message, options, table};
use gdro_data::{Inspection, Kind, Role, Task, inspect};

fn look(content: &str, json: &str, task: Option<Task>) -> Inspection {
    let wanted = options(json);
    inspect(&table(content, &wanted).unwrap(), &wanted, task).unwrap()
}

/// Lines of a table of 60 rows, each made from its number.
fn rows(header: &str, row: impl Fn(usize) -> String) -> String {
    (0..60).fold(format!("{header}\n"), |text, i| text + &row(i) + "\n")
}

fn warned(found: &Inspection, text: &str) -> bool {
    found.warnings.iter().any(|w| w.contains(text))
}

/// Two labels that no other column of these tables follows.
fn label(i: usize) -> usize {
    i * i % 13 % 2
}

#[test]
fn columns_are_described() {
    let found = look("n,t,i,y\n1,b,1,0\n,a,2,1\n3,b,3,0\n3,,4,1\n", r#"{"ignore":["i"]}"#, None);
    assert_eq!(found.rows, 4);
    let [n, t, i, _] = &found.columns[..] else { panic!("four columns") };
    assert_eq!((n.role, n.kind, n.missing, n.distinct), (Role::Feature, Kind::Number, 1, 2));
    assert_eq!((n.range, n.top.len()), (Some([1.0, 3.0]), 0));
    // By hand: mean 7/3, variance (16 + 4 + 4)/27.
    assert!((n.mean.unwrap() - 7.0 / 3.0).abs() < 1e-15);
    assert!((n.deviation.unwrap() - (24.0f64 / 27.0).sqrt()).abs() < 1e-15);
    let top: Vec<(&str, usize)> = t.top.iter().map(|l| (l.text.as_str(), l.rows)).collect();
    assert_eq!((t.kind, t.missing, t.distinct, top), (Kind::Text, 1, 2, vec![("b", 2), ("a", 1)]));
    assert_eq!((i.role, i.kind), (Role::Ignored, Kind::Ignored));
    let json = serde_json::to_string(&found).unwrap();
    assert!(json.contains(r#""role":"feature","kind":"number","missing":1,"distinct":2,"mean":2"#));
}

#[test]
fn every_role_is_told() {
    let json = r#"{"target":"y","groups":["g","k"],"weight":"w","holdout-column":"h",
        "holdout-value":"a","ignore":["i"],"text":["k"]}"#;
    let found = look("x,g,k,w,h,i,y\n1,a,1,1,a,1,0\n2,b,2,1,b,2,1\n", json, None);
    let roles: Vec<Role> = found.columns.iter().map(|c| c.role).collect();
    let groups = [Role::GroupFeature, Role::GroupFeature];
    let others = [Role::Weight, Role::Holdout, Role::Ignored, Role::Target];
    assert_eq!(roles, [&[Role::Feature][..], &groups[..], &others[..]].concat());
}

#[test]
fn odd_columns_are_warned_of() {
    let content = rows("id,name,one,none,gap,a,b,n,twin,y", |i| {
        let (ab, gap) = (i % 7, if i % 3 == 0 { "1" } else { "" });
        let names = ["u", "v", "w", "x", "y", "z", "q"];
        let (a, b) = (names[ab], names[6 - ab]);
        format!("{},n{i},5,,{gap},{a},{b},{},{}.0,{}", i + 3, i * 7 % 5, i * 7 % 5, label(i))
    });
    let found = look(&content, r#"{"target":"y"}"#, None);
    assert!(warned(&found, "every cell is missing: `none`"), "{:?}", found.warnings);
    assert!(warned(&found, "more cells are missing than not: `gap`"));
    assert!(warned(&found, "one value only: `one`, `gap`"));
    assert!(warned(
        &found,
        "a value of its own in every row, like a number of the row: `id`, `name`"
    ));
    assert!(warned(&found, "`a` and `b` hold the same up to the names of their texts"));
    assert!(warned(&found, "`n` and `twin` hold the same"));
    assert!(!warned(&found, "predicts the target"), "{:?}", found.warnings);
    assert_eq!(found.warnings.len(), 6, "{:?}", found.warnings);
}

#[test]
fn many_texts_are_warned_of() {
    let mut content = "t,y\n".to_owned();
    (0..2400).for_each(|i| content += &format!("t{},{}\n", i / 2, label(i)));
    let found = look(&content, r#"{"target":"y"}"#, None);
    let refused =
        "`t` has 1,200 different texts: fold the rare ones with `min-count`, or `hash` it";
    assert!(warned(&found, refused), "{:?}", found.warnings);
    let found = look(&content[..content.find("t550,").unwrap()], r#"{"target":"y"}"#, None);
    assert!(warned(&found, "`t` has 550 different texts: fold"), "{:?}", found.warnings);
    let hashed = look(&content, r#"{"target":"y","hash":{"t":64}}"#, None);
    assert!(hashed.warnings.is_empty(), "{:?}", hashed.warnings);
    let mut content = "t,y\n".to_owned();
    (0..1800).for_each(|i| content += &format!("t{},{}\n", i * 2 / 3, label(i)));
    let found = look(&content, r#"{"target":"y"}"#, None);
    assert!(warned(&found, "1,200 different texts, more than the 1,000 that `fit` takes"));
}

#[test]
fn features_that_give_the_target_away() {
    // Two labels: a number that separates them, one that does not, a text that is the label.
    let content = rows("sep,code,noise,y", |i| {
        let y = label(i);
        format!("{},{},{},{y}", y * 100 + i % 50, ["no", "yes"][y], i % 7)
    });
    let found = look(&content, r#"{"target":"y"}"#, None);
    let alone = |name: &str| {
        warned(&found, &format!("feature `{name}` alone predicts the target (area under the ROC"))
    };
    assert!(alone("sep") && alone("code") && !alone("noise"), "{:?}", found.warnings);
    // A twelfth of the rows is on the wrong side: no leak.
    let content =
        rows("x,y", |i| format!("{},{}", if i % 12 == 0 { 1 } else { label(i) }, label(i)));
    assert!(look(&content, r#"{"target":"y"}"#, None).warnings.is_empty());
    // A comparison: what is compared is the target, and no feature.
    let content = rows("d,x,y", |i| format!("{},{},{}", i * 37 % 61, i * 29 % 13, label(i)));
    assert!(look(&content, r#"{"target":"d>30"}"#, None).warnings.is_empty());

    // Numbers: a monotone transform, a text whose levels have the target as their mean.
    let content = rows("log,level,noise,y", |i| {
        let y = i * 17 % 30;
        format!("{},l{y},{},{}", ((1 + y) as f64).ln(), i * 7 % 13, 10 * y + i % 2)
    });
    let found = look(&content, r#"{"target":"y"}"#, None);
    let correlated = "alone predicts the target (correlation of values or ranks";
    assert!(warned(&found, &format!("`log` {correlated}")), "{:?}", found.warnings);
    assert!(!warned(&found, "`noise` alone"));

    // Classes.
    let content = rows("k,half,noise,y", |i| {
        let y = i * 7 % 5;
        format!("{},h{},{},{}", y + 10, y / 3, i % 4, ["a", "b", "c", "d", "e"][y])
    });
    let found = look(&content, r#"{"target":"y"}"#, None);
    assert!(warned(&found, "`k` alone predicts the target (share of right classes 1.000"));
    assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
}

#[test]
fn features_that_tell_the_group() {
    let content = rows("code,city,x,state,y", |i| {
        let city = i * 13 % 8;
        let state = city % 3;
        format!("{},c{city},{},s{state},{}", 20 + state, i * 7 % 5, label(i))
    });
    for policy in ["keep", "drop"] {
        let json = format!(r#"{{"target":"y","groups":["state"],"group-features":"{policy}"}}"#);
        let found = look(&content, &json, None);
        assert!(warned(&found, "feature `code` is group column `state` under other names"));
        assert!(warned(&found, "feature `city` determines the value of group column `state`"));
        assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
    }
}

#[test]
fn options_are_checked_and_targets_are_not() {
    let content = "x,y\n1,0\n2,0\n";
    let wanted = options(r#"{"target":"y"}"#);
    // A target with one label is no reason not to look.
    assert_eq!(look(content, r#"{"target":"y"}"#, None).columns.len(), 2);
    assert_eq!(look(content, "{}", None).warnings.len(), 1);
    let read = table(content, &wanted).unwrap();
    let found = message(inspect(&read, &options(r#"{"target":"z"}"#), None));
    assert!(found.starts_with("target: no column `z`"), "{found}");
}
