//! Training rows split again: what each part learns, and from which rows.

use gdro_data::{DataOptions, FeatureColumn, Folds, Prepared, Split, Validation, prepare, read};

/// A table of 40 rows with a weight, two groups and a rare text.
fn table() -> String {
    let mut text = "x,city,g,w,y\n".to_owned();
    for i in 0..40 {
        let city = if i == 7 { "Z" } else { ["A", "B"][i % 2] };
        let group = ["a", "a", "b"][i % 3];
        text += &format!("{},{city},{group},{},{}\n", i * i % 23, 1 + i % 3, i * 7 % 2);
    }
    text
}

fn options() -> DataOptions {
    DataOptions {
        target: Some("y".into()),
        groups: vec!["g".into()],
        weight: Some("w".into()),
        ..DataOptions::default()
    }
}

#[test]
fn parts_learn_from_their_training_rows_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.csv");
    std::fs::write(&file, table()).unwrap();
    let table = read(&[file], &options()).unwrap();
    let split = Split::Share { share: 0.2, seed: 4 };
    let whole = prepare(&table, &options(), None, &split, false).unwrap();
    let folds = Folds::new(&table, &whole, &options(), Validation::Folds(4), 9).unwrap();
    let parts: Vec<Prepared> = (0..folds.count()).map(|i| folds.part(i).unwrap()).collect();

    let mut validated = Vec::new();
    for part in &parts {
        // The rows of the table for training are shared out; the others are nowhere.
        let mut rows = [&part.train_rows[..], &part.test_rows].concat();
        rows.sort_unstable();
        let mut all = whole.train_rows.clone();
        all.sort_unstable();
        assert_eq!(rows, all);
        assert!(whole.test_rows.iter().all(|row| !rows.contains(row)));
        validated.extend(part.test_rows.clone());

        // The encoding is that of a table which has no other rows.
        let x = |row: u32| f64::from(row * row % 23);
        let w = |row: u32| f64::from(1 + row % 3);
        let total: f64 = part.train_rows.iter().map(|r| w(*r)).sum();
        let expected = part.train_rows.iter().map(|r| w(*r) * x(*r)).sum::<f64>() / total;
        let FeatureColumn::Number { mean, .. } = &part.encoding.columns()[0] else { panic!("x") };
        assert!((mean - expected).abs() < 1e-12);
        let FeatureColumn::Text { levels, .. } = &part.encoding.columns()[1] else {
            panic!("city")
        };
        assert_eq!(levels.contains(&"Z".to_owned()), part.train_rows.contains(&7));
        assert_eq!(part.train.features(), part.encoding.dimension());

        // Groups keep their order and their rows.
        let test = part.test.as_ref().unwrap();
        for (group, before) in part.groups.iter().zip(&whole.groups) {
            assert_eq!(group.name, before.name);
            assert_eq!(
                (group.rows, group.test_rows + group.train_rows),
                (before.train_rows, before.train_rows)
            );
            for (data, at, rows) in
                [(&part.train, group.train, &part.train_rows), (test, group.test, &part.test_rows)]
            {
                for row in at.map_or(&[][..], |i| data.members(i)) {
                    let in_table = rows[*row as usize];
                    assert_eq!(["a", "a", "b"][in_table as usize % 3], group.name);
                    assert_eq!(data.weight(*row as usize), w(in_table));
                    let label = if in_table * 7 % 2 == 1 { 1.0 } else { -1.0 };
                    assert_eq!(data.sample(*row as usize).y, label);
                }
            }
        }
    }
    validated.sort_unstable();
    let mut all = whole.train_rows.clone();
    all.sort_unstable();
    assert_eq!(validated, all, "every training row is a validation row once");
}
