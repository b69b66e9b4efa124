//! Families of groups, bins, small groups, labels that are the target's.

use crate::common::{message, options, prepared, table};
use gdro_data::{Grouping, Prepared, Split, prepare};

fn names(prepared: &Prepared) -> Vec<(&str, usize)> {
    prepared.groups.iter().map(|g| (g.name.as_str(), g.rows)).collect()
}

fn has(prepared: &Prepared, note: &str) -> bool {
    prepared.notes.iter().any(|n| n.contains(note))
}

/// The rows of the table that are in a training group.
fn rows_of(prepared: &Prepared, group: usize) -> Vec<u32> {
    let members = prepared.train.members(prepared.groups[group].train.unwrap());
    members.iter().map(|row| prepared.train_rows[*row as usize]).collect()
}

/// 12 rows: ages 20 to 75 in steps of 5; race a in 8 rows, b in 2, c in 2.
fn people() -> String {
    let mut text = "age,sex,race,y\n".to_owned();
    for i in 0..12 {
        let (sex, race) = (["f", "m"][i % 2], ["a", "a", "b", "a", "c"][i % 5]);
        text += &format!("{},{sex},{race},{}\n", 20 + 5 * i, u8::from(i % 3 == 0));
    }
    text
}

#[test]
fn families_are_a_union_in_which_a_row_is_in_one_group_of_each() {
    let both = options(r#"{"target":"y","groups":[["sex"],["race"]]}"#);
    let found = prepared(people(), &both, None).unwrap();
    assert_eq!(
        names(&found),
        [("sex=f", 6), ("sex=m", 6), ("race=a", 8), ("race=b", 2), ("race=c", 2)]
    );
    assert_eq!(found.groups.iter().map(|g| g.family).collect::<Vec<_>>(), [0, 0, 1, 1, 1]);
    let families: Vec<String> = found.grouping.families().iter().map(|f| f.name()).collect();
    assert_eq!(families, ["sex", "race"]);
    // Group by group of the first family, each row once.
    assert_eq!(found.train_rows, [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]);
    assert_eq!((found.train.rows(), found.train.groups()), (12, 5));
    assert_eq!(rows_of(&found, 1), [1, 3, 5, 7, 9, 11]);
    assert_eq!(rows_of(&found, 3), [2, 7]);
    assert!(has(&found, "2 families of groups: a row is in one group of each"));
    // One family of two columns is what it was.
    let one = options(r#"{"target":"y","groups":[["sex","race"]]}"#);
    let found = prepared(people(), &one, None).unwrap();
    let flat =
        prepared(people(), &options(r#"{"target":"y","groups":["sex","race"]}"#), None).unwrap();
    assert_eq!(found.groups, flat.groups);
    assert_eq!(found.groups[0].name, "f / a");
    assert!(!has(&found, "families"));
}

#[test]
fn names_of_families_do_not_collide() {
    let rows = "x,a,b,y\n1,p,p,0\n2,p,q,1\n3,q,p,1\n4,q,q,0\n";
    let found = |groups: &str| {
        prepared(rows, &options(&format!(r#"{{"target":"y","groups":{groups}}}"#)), None)
    };
    let both = found(r#"[["a"],["b"],["a","b"]]"#).unwrap();
    assert_eq!(
        names(&both).iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["a=p", "a=q", "b=p", "b=q", "a=p / b=p", "a=p / b=q", "a=q / b=p", "a=q / b=q"]
    );
    // The same bin of the same column twice cannot be distinguished.
    let twice = message(found(r#"[["x:2"],["x:2,3"]]"#));
    assert!(twice.contains("two combinations of values are both named `x<=2`"), "{twice}");
}

#[test]
fn numbers_are_cut_into_bins() {
    let cut = options(r#"{"target":"y","groups":["sex","age:25,40,60"]}"#);
    let found = prepared(people(), &cut, None).unwrap();
    assert_eq!(
        names(&found),
        [
            ("f / 25<age<=40", 2),
            ("f / 40<age<=60", 2),
            ("m / 40<age<=60", 2),
            ("m / age>60", 2),
            ("f / age<=25", 1),
            ("f / age>60", 1),
            ("m / 25<age<=40", 1),
            ("m / age<=25", 1),
        ]
    );
    let alone = options(r#"{"target":"y","groups":[{"age":[25,40,60]}]}"#);
    let found = prepared(people(), &alone, None).unwrap();
    assert_eq!(
        names(&found),
        [("40<age<=60", 4), ("25<age<=40", 3), ("age>60", 3), ("age<=25", 2)]
    );
    // 25 is in its bin, and the column stays a feature with its numbers.
    assert_eq!(rows_of(&found, 3), [0, 1]);
    assert_eq!(found.encoding.feature_names()[0], "age");
    assert!(has(&found, "group columns are features too: `age`"));
    let dropped = options(r#"{"target":"y","groups":["age:25"],"group-features":"drop"}"#);
    let found = prepared(people(), &dropped, None).unwrap();
    assert_eq!(found.encoding.columns()[0].name(), "sex");
    assert_eq!(names(&found), [("age>25", 10), ("age<=25", 2)]);
}

/// Case 8 and 17 for bins and families.
#[test]
fn missing_labels_of_bins_and_families() {
    let rows = "x,age,sex,y\n1,20,f,0\n2,30,m,1\n3,,f,1\n4,40,,0\n5,,,1\n6,50,m,0\n";
    let with = |groups: &str, policy: &str| {
        let json = format!(
            r#"{{"target":"y","groups":{groups},"group-features":"drop","missing-group":"{policy}",
                "ignore":["sex"]}}"#
        );
        prepared(rows, &options(&json), None)
    };
    let bins = r#"["age:25"]"#;
    let found = message(with(bins, "error"));
    assert!(found.starts_with("t.csv:4: column `age`: the group label is missing"), "{found}");
    let own = with(bins, "own").unwrap();
    assert_eq!(names(&own), [("age>25", 3), ("(missing)", 2), ("age<=25", 1)]);
    let dropped = with(bins, "drop").unwrap();
    assert_eq!(names(&dropped), [("age>25", 3), ("age<=25", 1)]);
    assert!(has(&dropped, "2 of 6 rows left out because cells are missing: `age` in 2"));

    let families = r#"[["age:25"],["sex"]]"#;
    let found = message(with(families, "error"));
    assert!(found.starts_with("t.csv:4: column `age`: the group label is missing"), "{found}");
    let own = with(families, "own").unwrap();
    assert_eq!(
        names(&own),
        [
            ("age>25", 3),
            ("age=(missing)", 2),
            ("age<=25", 1),
            ("sex=(missing)", 2),
            ("sex=f", 2),
            ("sex=m", 2)
        ]
    );
    // A row without one label keeps its other group; one without both is left out.
    let dropped = with(families, "drop").unwrap();
    assert_eq!(names(&dropped), [("age>25", 3), ("age<=25", 1), ("sex=f", 2), ("sex=m", 2)]);
    assert_eq!(dropped.train_rows, [1, 3, 5, 0, 2]);
    assert!(has(&dropped, "1 of 6 rows left out, in no group"), "{:?}", dropped.notes);
    assert!(has(&dropped, "2 rows in no group of the family `age:25`"), "{:?}", dropped.notes);
    // A feature that is missing cannot be used, whatever the groups.
    let kept = format!(r#"{{"target":"y","groups":{families},"missing-group":"drop"}}"#);
    let kept = prepared(rows, &options(&kept), None).unwrap();
    assert_eq!(kept.train_rows.len(), 3);

    let text = "x,age,y\n1,20,0\n2,old,1\n3,30,1\n";
    let cut = options(r#"{"target":"y","groups":["age:25"]}"#);
    let found = message(prepared(text, &cut, None));
    assert!(found.starts_with("t.csv:3: column `age`: found `old`, expected a number"), "{found}");
    let found = message(prepared("x,y\n1,0\n2,1\n", &cut, None));
    assert_eq!(found, "groups: no column `age`: the columns are x, y");
}

#[test]
fn small_groups_by_policy() {
    let with = |groups: &str, more: &str| {
        prepared(people(), &options(&format!(r#"{{"target":"y","groups":{groups}{more}}}"#)), None)
    };
    let race = r#"["race"]"#;
    assert_eq!(names(&with(race, r#","min-group":2"#).unwrap()).len(), 3);
    let found = message(with(race, r#","min-group":3"#));
    assert_eq!(
        found,
        "min-group: fewer than 3 rows: `b (2 rows)`, `c (2 rows)`: expected as many in each group: \
         name a smaller number, or say `small-groups=merge|drop`"
    );
    let merged = with(race, r#","min-group":3,"small-groups":"merge""#).unwrap();
    assert_eq!(names(&merged), [("a", 8), ("(small)", 4)]);
    assert_eq!(rows_of(&merged, 1), [2, 4, 7, 9]);
    let said =
        "2 groups of fewer than 3 rows are merged into `(small)`: `b (2 rows)`, `c (2 rows)`";
    assert!(has(&merged, said), "{:?}", merged.notes);
    let still = with(race, r#","min-group":5,"small-groups":"merge""#).unwrap();
    assert!(has(&still, "merged into `(small)`, which has 4 rows still"), "{:?}", still.notes);
    let dropped = with(race, r#","min-group":3,"small-groups":"drop""#).unwrap();
    assert_eq!(names(&dropped), [("a", 8)]);
    assert_eq!((dropped.train.rows(), dropped.groups[0].rows), (8, 8));
    assert!(has(&dropped, "4 of 12 rows left out, in no group"), "{:?}", dropped.notes);
    assert!(has(&dropped, "2 groups of fewer than 3 rows are left out, 1 stays"));
    let found = message(with(race, r#","min-group":9,"small-groups":"drop""#));
    assert_eq!(found, "no row is left: 12 rows left out, in no group");

    // With another family no row is lost.
    let both = r#"[["sex"],["race"]]"#;
    let merged = with(both, r#","min-group":3,"small-groups":"merge""#).unwrap();
    assert_eq!(names(&merged)[2..], [("race=a", 8), ("race=(small)", 4)]);
    let dropped = with(both, r#","min-group":3,"small-groups":"drop""#).unwrap();
    assert_eq!(names(&dropped), [("sex=f", 6), ("sex=m", 6), ("race=a", 8)]);
    assert_eq!(dropped.train.rows(), 12);

    // A later table is mapped alike: what was small, what is new, what is known.
    let later = table("race,sex\nb,f\nnew,f\na,m\nc,x\n", &options(r#"{"groups":["race","sex"]}"#));
    let (later, rows) = (later.unwrap(), [0, 1, 2, 3]);
    let saved = |found: &Prepared| -> Grouping {
        serde_json::from_str(&serde_json::to_string(&found.grouping).unwrap()).unwrap()
    };
    let assigned = saved(&merged).assign(&later, &rows).unwrap();
    assert_eq!(assigned.families[0], [Some(0), Some(0), Some(1), Some(4)]);
    assert_eq!(assigned.families[1], [Some(3), Some(5), Some(2), Some(3)]);
    assert_eq!(assigned.unseen, ["sex=x", "race=new"]);
    let assigned = saved(&dropped).assign(&later, &rows).unwrap();
    assert_eq!(assigned.families[1], [None, Some(4), Some(2), None]);
    assert_eq!(assigned.members(), [vec![0, 1], vec![2], vec![2], vec![3], vec![1]]);
    let one = saved(&with(race, r#","min-group":3,"small-groups":"drop""#).unwrap());
    let assigned = one.assign(&later, &rows).unwrap();
    assert_eq!([0, 1, 2, 3].map(|r| assigned.is_grouped(r)), [false, true, true, false]);
}

#[test]
fn a_value_that_is_called_as_the_merged_group_is_refused() {
    let rows = "x,g,y\n1,(small),0\n2,(small),1\n3,b,1\n";
    let json = r#"{"target":"y","groups":["g"],"min-group":2,"small-groups":"merge"}"#;
    let found = message(prepared(rows, &options(json), None));
    assert!(found.contains("both named `(small)`"), "{found}");
}

#[test]
fn merged_values_with_families_and_beside_bins() {
    let json = r#"{"target":"y","groups":[["race"],["race","age:40"],["sex"]],
        "merge":{"race":{"other":["b","c"]}},"min-group":3,"small-groups":"merge"}"#;
    let found = prepared(people(), &options(json), None).unwrap();
    assert_eq!(
        names(&found),
        [
            ("race=a", 8),
            ("race=other", 4),
            ("race=a / age>40", 5),
            ("race,age:40=(small)", 4),
            ("race=a / age<=40", 3),
            ("sex=f", 6),
            ("sex=m", 6)
        ]
    );
    assert!(has(&found, "merged into `race,age:40=(small)`: "), "{:?}", found.notes);
}

/// Label × attribute: the target is a group column, and no feature.
#[test]
fn the_target_as_a_group_column() {
    let json = r#"{"target":"y","groups":["y","sex"]}"#;
    let found = prepared(people(), &options(json), None).unwrap();
    assert_eq!(names(&found), [("0 / f", 4), ("0 / m", 4), ("1 / f", 2), ("1 / m", 2)]);
    assert!(found.encoding.columns().iter().all(|c| c.name() != "y"));
    // A text label is the label of the target, however it is written.
    let rows = "x,g,y\n1,a,no\n2,a,yes.\n3,b,yes\n4,b,no \n";
    let found = prepared(rows, &options(r#"{"target":"y","groups":[["y"],["g"]]}"#), None).unwrap();
    assert_eq!(names(&found), [("y=no", 2), ("y=yes", 2), ("g=a", 2), ("g=b", 2)]);

    let json = r#"{"target":"age > 40","groups":["sex","age>40"]}"#;
    let found = prepared(people(), &options(json), None).unwrap();
    let expected = [("m / age>40", 4), ("f / age<=40", 3), ("f / age>40", 3), ("m / age<=40", 2)];
    assert_eq!(names(&found), expected);
    assert!(found.encoding.columns().iter().all(|c| c.name() != "age"));
    assert_eq!(found.groups[0].positives, Some(4));
    assert_eq!(found.groups[1].positives, Some(0));
    // Whichever label is positive, a group is called by what is true of it.
    let json = r#"{"target":"age>40","positive":"age<=40","groups":[["age>40"],["sex"]]}"#;
    let found = prepared(people(), &options(json), None).unwrap();
    assert_eq!(names(&found)[..2], [("age>40", 7), ("age<=40", 5)]);
    // Bins of the target's numbers and the numbers themselves are other groups, and no features.
    for (groups, first) in [("age:30,60", ("30<age<=60", 6)), ("age", ("20", 1))] {
        let json = format!(r#"{{"target":"age>40","groups":["{groups}"]}}"#);
        let found = prepared(people(), &options(&json), None).unwrap();
        assert_eq!(names(&found)[0], first);
        assert!(found.encoding.columns().iter().all(|c| c.name() != "age"));
    }
    let json = r#"{"target":"age>40","groups":["age>30"]}"#;
    let found = message(prepared(people(), &options(json), None));
    assert!(found.starts_with("groups: no column `age>30`"), "{found}");
}

#[test]
fn columns_with_colons_and_commas() {
    let rows = "\"age:25\",\"b,c\",age,y\np,q,20,0\nr,q,30,1\np,s,40,1\n";
    let json = r#"{"target":"y","groups":["age:25","b,c"]}"#;
    let found = prepared(rows, &options(json), None).unwrap();
    assert_eq!(names(&found), [("p / q", 1), ("p / s", 1), ("r / q", 1)]);
    let json = r#"{"target":"y","groups":["age:25,30"]}"#;
    let found = prepared(rows, &options(json), None).unwrap();
    assert_eq!(names(&found).len(), 3);
    assert_eq!(found.groups[0].name, "25<age<=30");
}

/// Cases 9 and 10 for families: what is held out, and groups in one part only.
#[test]
fn families_and_held_out_rows() {
    let mut rows = "x,a,b,y\n".to_owned();
    for i in 0..200 {
        let b = if i == 7 { "single".to_owned() } else { format!("b{}", i % 7) };
        rows += &format!("{i},a{},{b},{}\n", i % 3, i / 2 % 2);
    }
    let both = options(r#"{"target":"y","groups":[["a"],["b"]]}"#);
    let table = table(rows, &both).unwrap();
    let split = Split::Share { share: 0.2, seed: 5 };
    let found = prepare(&table, &both, None, &split, false).unwrap();
    let test = found.test.as_ref().unwrap();
    assert_eq!(found.train.rows() + test.rows(), 200);
    assert!(test.rows().abs_diff(40) <= 1);
    for group in &found.groups[3..10] {
        assert!(group.test_rows.abs_diff(group.rows / 5) <= 2, "{group:?}");
    }
    assert!(found.groups[..3].iter().all(|g| g.test_rows.abs_diff(g.rows / 5) <= 5));
    let single = found.groups.last().unwrap();
    assert_eq!((&single.name[..], single.test, single.train_rows), ("b=single", None, 1));
    // Each row of a part is in one group of each family.
    for (data, rows) in [(&found.train, &found.train_rows), (test, &found.test_rows)] {
        let mut times = vec![0; rows.len()];
        (0..data.groups()).flat_map(|g| data.members(g)).for_each(|r| times[*r as usize] += 1);
        assert!(times.iter().all(|n| *n == 2));
    }
    assert_eq!(prepare(&table, &both, None, &split, false).unwrap().test_rows, found.test_rows);
}
