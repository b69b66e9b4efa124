//! Models that earlier versions wrote: they are read for ever. `tests/models` has the first model of each
//! format, and one with everything that was added to it since, both of examples/german_credit.toml.

use std::path::Path;

use serde_json::Value;

use crate::common::{Folder, number};

const MODELS: [&str; 2] = ["format-2-first.json", "format-2-baseline.json"];

/// The probability that a row is bad, by hand from what the file says.
fn by_hand(model: &Value, names: &[&str], row: &[&str]) -> f64 {
    let weights = model["weights"].as_array().unwrap();
    let mut score = number(&model["intercepts"][0]);
    let mut at = 0;
    for column in model["encoding"]["columns"].as_array().unwrap() {
        let place = names.iter().position(|name| *name == column["name"]).unwrap();
        let Some(levels) = column["levels"].as_array() else {
            let value: f64 = row[place].parse().unwrap();
            let scaled = (value - number(&column["mean"])) / number(&column["deviation"]);
            score += number(&weights[at]) * scaled;
            at += 1;
            continue;
        };
        let level = levels.iter().position(|level| *level == row[place]);
        score += level.map_or(0.0, |level| number(&weights[at + level]));
        at += levels.len();
    }
    assert_eq!(at, weights.len());
    1.0 / (1.0 + (-score).exp())
}

#[test]
fn models_of_all_ages_are_read() {
    let folder = Folder::new();
    folder.prints("example german_credit --out t.csv");
    let table = folder.read("t.csv");
    // The models were trained on the file as it came, without a header.
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/german_credit/german.data.gz");
    let data = data.display();
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    for name in MODELS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name);
        folder.file("model.json", std::fs::read(path).unwrap());
        let model = folder.json("model.json");
        assert_eq!(model["format"], 2);
        assert!(folder.prints("show model.json").contains("linear model for `credit`"), "{name}");
        let predicted = folder.prints(&format!("predict model.json {data}"));
        for (line, row) in predicted.lines().skip(1).zip(rows.clone()) {
            let found: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
            let expected = by_hand(&model, &names, &row);
            assert!((found - expected).abs() < 1e-12, "{name}: {line}, by hand {expected}");
        }
        assert_eq!(predicted.lines().count(), 1001);
        let evaluated = folder.prints(&format!("evaluate model.json {data} --json"));
        assert!(evaluated.contains("male / age>25"), "{name}");
        folder.prints("export model.json --out m.onnx");
    }
}
