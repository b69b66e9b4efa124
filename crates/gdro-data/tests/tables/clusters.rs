//! Clusters of rows and frequencies of rows.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{message, options, sets, table};
use gdro_data::{
    Clusters, Folds, Prepared, Split, Validation, inspect, prepare, read, repeated_units,
};

/// 12 patients of 3 to 8 rows; those of the first nine are of group a or b by the visit, those of
/// the next two of group b alone, and patient 11 has group c to himself, with rows in b, too.
fn visits() -> String {
    let mut text = "x,who,g,y\n".to_owned();
    for who in 0..12 {
        for visit in 0..3 + who % 6 {
            let group = match who {
                0..9 => ["a", "b"][visit % 2],
                11 => ["c", "c", "b"][visit % 3],
                _ => "b",
            };
            text +=
                &format!("{},{},{group},{}\n", who * 7 % 5 + visit, 100 + who, (who + visit) % 2);
        }
    }
    text
}

const BY_PATIENT: &str = r#"{"target":"y","groups":["g"],"cluster":"who"}"#;

fn prepared(split: &Split, json: &str) -> Prepared {
    let wanted = options(json);
    prepare(&table(visits(), &wanted).unwrap(), &wanted, None, split, false).unwrap()
}

/// The clusters of the training rows and of those held out.
fn clusters(found: &Prepared) -> (&Clusters, &Clusters) {
    (found.train_clusters.as_ref().unwrap(), found.test_clusters.as_ref().unwrap())
}

/// The clusters with rows in a part, by what their cells say.
fn names(clusters: &Clusters) -> BTreeSet<&str> {
    clusters.codes().iter().map(|code| clusters.name(*code)).collect()
}

#[test]
fn clusters_are_held_out_as_a_whole() {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    let draws = 600;
    let wanted = options(BY_PATIENT);
    let table = table(visits(), &wanted).unwrap();
    for seed in 0..draws {
        let split = Split::Share { share: 0.3, seed };
        let found = prepare(&table, &wanted, None, &split, false).unwrap();
        let (train, test) = clusters(&found);
        // The group of one patient has rows on both sides, and this patient alone.
        let both: Vec<&str> = names(train).intersection(&names(test)).copied().collect();
        assert_eq!(both, ["111"]);
        let held_out = found.test.as_ref().unwrap();
        assert_eq!(
            (train.codes().len(), test.codes().len()),
            (found.train.rows(), held_out.rows())
        );
        for group in found.groups.iter().filter(|g| g.name != "c") {
            let rows = group.test.map_or(&[][..], |i| held_out.members(i));
            assert!(rows.iter().all(|row| test.name(test.codes()[*row as usize]) != "111"));
        }
        assert!(found.groups.iter().all(|g| g.train_rows > 0));
        assert_eq!(
            found.groups.iter().map(|g| g.clusters).collect::<Vec<_>>(),
            [Some(12), Some(9), Some(1)]
        );
        let held = names(test).len();
        assert!((4..=5).contains(&held), "{held}");
        names(test).iter().for_each(|name| *counts.entry((*name).into()).or_default() += 1.0);
        // The column is no feature.
        assert_eq!(found.encoding.feature_names(), ["x", "g=a", "g=b", "g=c"]);
    }
    // Each of the 11 others has the same chance: 0.3 of 600 draws, with a deviation of 11.2, of which
    // six are exceeded with probability 2e-9.
    assert_eq!(counts.remove("111"), Some(draws as f64));
    assert!(counts.values().all(|n| (n - 180.0).abs() <= 68.0) && counts.len() == 11, "{counts:?}");
}

#[test]
fn notes_say_what_stays_together_and_who_is_known() {
    let found = prepared(&Split::PerGroup { rows: 2, seed: 1 }, BY_PATIENT);
    let note = |text: &str| assert!(found.notes.iter().any(|n| n == text), "{:?}", found.notes);
    note("66 rows in 12 clusters of `who`, whose rows stay together");
    note(
        "1 of 3 groups has rows of one `who` only, some of which are held out one by one: they say \
         nothing of a new `who`: `c`",
    );
    // Two clusters of each of the others, or more through the other group.
    for group in &found.groups[..2] {
        let test = found.test.as_ref().unwrap();
        let codes = found.test_clusters.as_ref().unwrap();
        let of_group = test.members(group.test.unwrap()).iter().map(|r| codes.codes()[*r as usize]);
        assert!(of_group.collect::<BTreeSet<u32>>().len() >= 2);
    }
    assert_eq!(found.groups[2].test_rows, 2);
    let by_file = prepared(
        &Split::Column,
        r#"{"target":"y","groups":["g"],"cluster":"who","holdout-column":"x","holdout-value":["3"]}"#,
    );
    let known =
        "held-out rows of a `who` that has training rows, too: they say nothing of a new `who`";
    assert!(by_file.notes.iter().any(|n| n.contains(known)), "{:?}", by_file.notes);
}

#[test]
fn patients_as_groups_are_held_out_row_by_row() {
    let json = r#"{"target":"y","groups":["who"],"group-features":"drop","cluster":"who"}"#;
    let found = prepared(&Split::Share { share: 0.4, seed: 3 }, json);
    let plain = prepared(
        &Split::Share { share: 0.4, seed: 3 },
        r#"{"target":"y","groups":["who"],"group-features":"drop"}"#,
    );
    assert_eq!(found.test_rows, plain.test_rows);
    assert!(
        found.notes.iter().any(|n| n.starts_with("12 of 12 groups have rows of one `who` only"))
    );
}

#[test]
fn folds_keep_clusters_whole() {
    let wanted = options(BY_PATIENT);
    let table = table(visits(), &wanted).unwrap();
    let whole = prepare(&table, &wanted, None, &Split::None, false).unwrap();
    for validation in [Validation::Folds(4), Validation::Share(0.3)] {
        for seed in 0..20 {
            let folds = Folds::new(&table, &whole, &wanted, validation, seed).unwrap();
            let mut times: BTreeMap<String, usize> = BTreeMap::new();
            for fold in 0..folds.count() {
                let part = folds.part(fold).unwrap();
                let (train, test) = clusters(&part);
                assert_eq!(test.codes().len(), part.test_rows.len());
                assert!(names(train).intersection(&names(test)).all(|name| *name == "111"));
                assert!(part.groups.iter().all(|g| g.train_rows > 0));
                names(test).iter().for_each(|name| *times.entry((*name).into()).or_default() += 1);
            }
            times.remove("111");
            assert!(times.values().all(|n| *n == 1));
            if validation == Validation::Folds(4) {
                assert_eq!(times.len(), 11, "each patient is for validation once");
            }
        }
    }
}

#[test]
fn cells_of_clusters_may_miss_as_weights_may() {
    let content = "x,who,y\n1,7,0\n2,,1\n3,7,1\n4,8,0\n";
    let by = |json: &str| {
        let wanted = options(json);
        prepare(&table(content, &wanted)?, &wanted, None, &Split::None, false)
    };
    let found = message(by(r#"{"target":"y","cluster":"who"}"#));
    assert!(found.starts_with("t.csv:3: column `who`: the cell is missing"), "{found}");
    let dropped = by(r#"{"target":"y","cluster":"who","missing":{"who":"drop"}}"#).unwrap();
    assert_eq!(dropped.train_clusters.unwrap().codes().len(), 3);
    let unknown = message(by(r#"{"target":"y","cluster":"patient"}"#));
    assert!(unknown.starts_with("cluster: no column `patient`"), "{unknown}");
}

/// A table with counts is the table that has its rows so often, bit by bit.
#[test]
fn frequencies_are_rows() {
    let (mut counted, mut repeated) = ("x,t,n,g,y\n".to_owned(), "x,t,g,y\n".to_owned());
    for i in 0..40 {
        let (x, t, g, y) = (i * 7 % 11, ["u", "v", "w"][i % 3], ["a", "b"][i % 2], i * 5 % 7 % 2);
        counted += &format!("{x},{t},{},{g},{y}\n", i % 4);
        (0..i % 4).for_each(|_| repeated += &format!("{x},{t},{g},{y}\n"));
    }
    let options_of =
        |more: &str| options(&format!(r#"{{"target":"y","groups":["g"],"min-count":9{more}}}"#));
    let (by_count, plain) =
        (options_of(r#","weight":"n","weight-kind":"frequency""#), options_of(""));
    for split in
        [Split::None, Split::Share { share: 0.25, seed: 2 }, Split::PerGroup { rows: 5, seed: 1 }]
    {
        let read = table(&counted, &by_count).unwrap();
        let found = prepare(&read, &by_count, None, &split, true).unwrap();
        let other =
            prepare(&table(&repeated, &plain).unwrap(), &plain, None, &split, true).unwrap();
        assert!(!found.train.is_weighted());
        assert_eq!(found.train.rows() + found.test_rows.len(), 60);
        assert_eq!(found.train.matrix(), other.train.matrix());
        assert_eq!(found.train.targets(), other.train.targets());
        assert_eq!(found.groups, other.groups);
        assert_eq!(found.encoding, other.encoding);
        assert_eq!(
            found.test.map(|t| t.targets().to_vec()),
            other.test.map(|t| t.targets().to_vec())
        );
        let note = "rows count as often as `n` says: 30 of the table are 60";
        assert!(found.notes.iter().any(|n| n == note), "{:?}", found.notes);
    }
}

#[test]
fn frequencies_are_whole_numbers() {
    let wanted = options(r#"{"target":"y","weight":"n","weight-kind":"frequency"}"#);
    let by = |content: &str| prepare(&table(content, &wanted)?, &wanted, None, &Split::None, false);
    let found = message(by("x,n,y\n1,2,0\n2,1.5,1\n"));
    assert_eq!(
        found,
        "t.csv:3: column `n`: found the weight 1.5, expected a number of rows: 0, 1, 2, …: say \
         `weight-kind=importance` if it is no count"
    );
    let found = message(by("x,n,y\n1,20000000,0\n2,1,1\n"));
    assert!(found.starts_with("weight-kind: frequency, but the weights add up to 20000001 rows: expected counts of at most 20,000,000 rows"), "{found}");
}

/// What is said of the rows of a table of `units` units of `each` rows.
fn said(
    units: usize,
    each: usize,
    header: &str,
    row: impl Fn(usize, usize) -> String,
    json: &str,
) -> Option<String> {
    let mut content = format!("{header}\n");
    for unit in 0..units {
        (0..each).for_each(|visit| content += &(row(unit, visit) + "\n"));
    }
    let wanted = options(json);
    let table = table(content, &wanted).unwrap();
    let found = repeated_units(&table, &wanted).unwrap();
    let warnings = inspect(&table, &wanted, None).unwrap().warnings;
    assert_eq!(warnings.iter().find(|w| w.contains("name it as `cluster`")), found.as_ref());
    found
}

#[test]
fn ids_of_repeated_units_are_pointed_out() {
    // Equal rows of 24 units, whatever the column is called.
    let equal = |unit: usize, _: usize| {
        format!("{}.5,p{unit},{},{}", unit * 31 % 47, unit * 5 % 7, unit % 2)
    };
    let found = said(24, 50, "x,p,z,y", equal, r#"{"target":"y"}"#).unwrap();
    assert!(found.starts_with("`p`: 24 values in 1,200 rows, like the id of units"), "{found}");
    // Rows that differ, of units with a name.
    let visits = |unit: usize, visit: usize| {
        format!("{},{},{}", (unit * 7 + visit * 13) % 29, unit, visit % 2)
    };
    for name in ["patient", "subject#", "customerId"] {
        let found = said(8, 20, &format!("x,{name},y"), visits, r#"{"target":"y"}"#).unwrap();
        assert!(found.starts_with(&format!("`{name}`: 8 values in 160 rows")), "{found}");
    }
    assert_eq!(said(8, 20, "x,code,y", visits, r#"{"target":"y"}"#), None);
    assert_eq!(said(8, 20, "x,patient,y", visits, r#"{"target":"y","cluster":"patient"}"#), None);
    assert_eq!(said(8, 20, "x,patient,y", visits, r#"{"target":"y","groups":["patient"]}"#), None);
    assert_eq!(said(160, 1, "x,patient,y", visits, r#"{"target":"y"}"#), None);
    // A category that other columns follow from: 12 months, their number and their quarter.
    let months = |month: usize, day: usize| {
        format!(
            "{},m{month},{month},{},{},{}",
            (month * 7 + day * 13) % 29,
            month / 3,
            day * 11 % 17,
            day % 2
        )
    };
    assert_eq!(said(12, 30, "x,month,number,quarter,z,y", months, r#"{"target":"y"}"#), None);
}

/// Adult has no header.
const ADULT: &str = r#""columns":["age","workclass","fnlwgt","education","education-num",
    "marital-status","occupation","relationship","race","sex","capital-gain","capital-loss",
    "hours-per-week","native-country","income"]"#;

#[test]
fn public_sets_have_no_ids_of_repeated_units_but_those_of_patients() {
    for (set, file, json, found) in [
        ("adult", "adult.data.gz", ADULT, None),
        ("bank_marketing", "bank-full.csv.gz", "", None),
        ("heart_disease", "heart.csv.gz", "", None),
        ("nycflights13", "flights.csv.gz", "", None),
        ("wine_quality", "wine.csv.gz", "", None),
        ("covtype20k", "covtype20k.csv.gz", "", None),
        ("communities_crime", "communities.csv.gz", "", None),
        (
            "parkinsons_tele",
            "parkinsons_updrs.csv.gz",
            "",
            Some("`subject#`: 42 values in 5,875 rows"),
        ),
    ] {
        let Some(folder) = sets::folder(set) else { return };
        let wanted = options(&format!("{{{json}}}"));
        let table = read(&[folder.join(file)], &wanted).unwrap();
        let said = repeated_units(&table, &wanted).unwrap();
        match (found, &said) {
            (None, None) => {}
            (Some(start), Some(said)) => assert!(said.starts_with(start), "{set}: {said}"),
            _ => panic!("{set}: {said:?}"),
        }
    }
}
