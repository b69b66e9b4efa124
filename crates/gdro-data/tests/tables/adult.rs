//! The Adult census table: sizes of groups, dimensions, splits.

use std::path::PathBuf;

use gdro_data::{DataOptions, Grouping, Kind, Missing, Prepared, Split, Table, prepare, read};

const COLUMNS: [&str; 15] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
];

fn options(groups: &[&str]) -> DataOptions {
    let others = ["Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"];
    let mut options = DataOptions {
        columns: Some(COLUMNS.map(str::to_owned).to_vec()),
        comment: Some("|".into()),
        target: Some("income".into()),
        groups: groups.iter().map(|g| (*g).into()).collect(),
        na: vec!["?".into()],
        missing: Missing::Drop.into(),
        ..DataOptions::default()
    };
    if groups.contains(&"race") {
        let merged = [("Other".to_owned(), others.map(str::to_owned).to_vec())];
        options.merge.insert("race".into(), merged.into());
    }
    options
}

fn table(options: &DataOptions) -> Table {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/adult"));
    read(&[folder.join("adult.data.gz"), folder.join("adult.test.gz")], options).unwrap()
}

fn by_race_and_sex(split: &Split, constant: bool) -> Prepared {
    let options = options(&["race", "sex"]);
    prepare(&table(&options), &options, None, split, constant).unwrap()
}

#[test]
fn race_and_sex() {
    let prepared = by_race_and_sex(&Split::None, false);
    let groups: Vec<(&str, usize)> =
        prepared.groups.iter().map(|g| (g.name.as_str(), g.rows)).collect();
    assert_eq!(
        groups,
        [
            ("White / Male", 27020),
            ("White / Female", 11883),
            ("Black / Male", 2144),
            ("Black / Female", 2084),
            ("Other / Male", 1363),
            ("Other / Female", 728),
        ]
    );
    let positives: Vec<usize> = prepared.groups.iter().flat_map(|g| g.positives).collect();
    assert_eq!(positives, [8752, 1455, 408, 126, 379, 88]);
    assert_eq!(prepared.train.rows(), 45222);
    assert_eq!(prepared.train.features(), 104);
    assert!(prepared.train.matrix().is_sparse());
    assert!(prepared.test.is_none());
    assert_eq!(prepared.train.counts(), [27020, 11883, 2144, 2084, 1363, 728]);
    assert!(prepared.notes.iter().any(|n| n.starts_with("3,620 of 48,842 rows left out")));
    assert!(prepared.notes.iter().any(|n| n.contains("`>50K` is the positive label")));
}

#[test]
fn features_are_standardised_and_one_hot() {
    let prepared = by_race_and_sex(&Split::None, true);
    let names = prepared.encoding.feature_names();
    assert_eq!(names.len(), 105);
    assert_eq!(prepared.encoding.dimension(), 105);
    assert_eq!((names[0].as_str(), names[104].as_str()), ("age", "(constant)"));
    assert!(names.contains(&"education=HS-grad".to_owned()));
    let (mut sum, mut squares) = (vec![0.0; 105], vec![0.0; 105]);
    let rows = prepared.train.rows();
    for row in 0..rows {
        prepared.train.sample(row).x.for_each(|j, v| {
            sum[j] += v;
            squares[j] += v * v;
        });
    }
    let n = rows as f64;
    for number in ["age", "fnlwgt", "education-num", "capital-gain", "hours-per-week"] {
        let j = names.iter().position(|name| name == number).unwrap();
        assert!((sum[j] / n).abs() < 1e-9 && (squares[j] / n - 1.0).abs() < 1e-9);
    }
    assert_eq!(sum[104], n);
    let ones: f64 = (0..105).filter(|j| names[*j].contains('=')).map(|j| sum[j]).sum();
    assert_eq!(ones, 8.0 * n);
}

#[test]
fn occupations() {
    let options = options(&["occupation"]);
    let prepared = prepare(&table(&options), &options, None, &Split::None, false).unwrap();
    let sizes: Vec<usize> = prepared.groups.iter().map(|g| g.rows).collect();
    assert_eq!((sizes.len(), sizes[0], sizes[13]), (14, 6020, 14));
    assert_eq!(sizes.iter().sum::<usize>(), 45222);
    assert!(sizes.is_sorted_by(|a, b| a >= b));
    assert_eq!(prepared.train.features(), 104);
}

#[test]
fn the_papers_budgets() {
    let split = Split::PerGroup { rows: 364, seed: 1 };
    let prepared = by_race_and_sex(&split, true);
    assert_eq!(prepared.train.counts(), [26656, 11519, 1780, 1720, 999, 364]);
    assert_eq!(prepared.test.unwrap().counts(), [364; 6]);
}

#[test]
fn shares_are_stratified_and_repeatable() {
    let split = Split::Share { share: 0.2, seed: 7 };
    let prepared = by_race_and_sex(&split, true);
    let test = prepared.test.as_ref().unwrap();
    for (i, group) in prepared.groups.iter().enumerate() {
        assert_eq!(group.test_rows, (0.2 * group.rows as f64).round() as usize);
        let held = test.members(i).iter().filter(|r| test.targets()[**r as usize] > 0.0).count();
        let expected = 0.2 * group.positives.unwrap() as f64;
        assert!((held as f64 - expected).abs() < 1.5, "{}: {held}, {expected}", group.name);
    }
    // Group by group, and inside a group in the order of the table.
    for (data, rows) in [(&prepared.train, &prepared.train_rows), (test, &prepared.test_rows)] {
        let members: Vec<u32> = (0..6).flat_map(|i| data.members(i)).copied().collect();
        assert!(members.into_iter().eq(0..data.rows() as u32));
        let of = |i| data.members(i).iter().map(|r| rows[*r as usize]);
        assert!((0..6).all(|i| of(i).is_sorted()));
    }
    let again = by_race_and_sex(&split, true);
    assert_eq!(again.test_rows, prepared.test_rows);
    assert_eq!(again.train.matrix(), prepared.train.matrix());
    assert_eq!(again.train.targets(), prepared.train.targets());
    assert_eq!(again.encoding, prepared.encoding);
    assert_eq!(again.notes, prepared.notes);
    let other = by_race_and_sex(&Split::Share { share: 0.2, seed: 8 }, true);
    assert_ne!(other.test_rows, prepared.test_rows);
}

#[test]
fn the_grouping_finds_the_same_groups_again() {
    let options = options(&["race", "sex"]);
    let table = table(&options);
    let prepared = prepare(&table, &options, None, &Split::None, false).unwrap();
    let json = serde_json::to_string(&prepared.grouping).unwrap();
    let grouping: Grouping = serde_json::from_str(&json).unwrap();
    let found = grouping.assign(&table, &prepared.train_rows).unwrap();
    assert!(found.unseen.is_empty());
    for (i, count) in [27020, 11883, 2144, 2084, 1363, 728].into_iter().enumerate() {
        assert_eq!(found.families[0].iter().filter(|g| **g == Some(i as u32)).count(), count);
    }
    assert_eq!(table.column("age").unwrap().kind(), Kind::Number);
    assert_eq!(table.position(32561).line, 2);
    assert!(table.position(32561).file.ends_with("adult.test.gz"));
}
