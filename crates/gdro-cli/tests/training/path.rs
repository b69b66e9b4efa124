//! `gdro select --path`: the trade-off between the worst group and the mean over groups.

use crate::common::{Folder, number};
use serde_json::Value;

/// Five groups with slopes of their own.
fn table() -> String {
    let mut text = "x,z,g,y\n".to_owned();
    for i in 0..300 {
        let (x, z) = ((i * 37 % 101) as f64 / 20.0 - 2.5, (i * 61 % 89) as f64 / 20.0 - 2.2);
        let group = i % 5;
        let noise = ((i * 83 % 97) as f64 / 40.0 - 1.2) * if group == 0 { 2.0 } else { 1.0 };
        let y = x * (1.0 - 0.5 * group as f64) + 0.3 * group as f64 * z + noise;
        text += &format!("{x},{z},{},{y}\n", ["a", "b", "c", "d", "e"][group]);
    }
    text
}

fn path(folder: &Folder, arguments: &str) -> Value {
    let arguments = format!("select t.csv --target y --groups g --path {arguments} --json --quiet");
    serde_json::from_str(&folder.prints(&arguments)).unwrap()
}

/// The mean of the k largest.
fn top(risks: &Value, k: usize) -> f64 {
    let mut risks: Vec<f64> = risks.as_array().unwrap().iter().map(number).collect();
    risks.sort_by(|a, b| b.total_cmp(a));
    risks[..k].iter().sum::<f64>() / k as f64
}

#[test]
fn every_k_is_an_optimum() {
    let folder = Folder::with(table());
    for bounds in ["--l2 0.1", "--ball 1.5", "--ball 0.4 --l2 0.01"] {
        let found = path(&folder, bounds);
        let points = found["points"].as_array().unwrap();
        let ks: Vec<u64> = points.iter().map(|p| p["k"].as_u64().unwrap()).collect();
        assert_eq!(ks, [1, 2, 3, 4, 5]);
        let others = [&found["erm"], &found["balanced"]];
        let all: Vec<&Value> = points.iter().chain(others).collect();
        // No model of the path, nor ordinary training, is better than the optimum for a k.
        for (k, best) in (1..).zip(points) {
            let value = |model: &Value| top(&model["train"]["groups"], k) + number(&model["ridge"]);
            let (objective, lower) = (number(&best["objective"]), number(&best["lower"]));
            assert!((objective - value(best)).abs() < 1e-9 * objective);
            assert!(lower <= objective && objective - lower < 1e-7 * objective, "{best}");
            for model in &all {
                assert!(value(model) >= objective * (1.0 - 1e-8), "{bounds} k = {k}: {model}");
            }
        }
        // The optimum falls with k: the mean of more of the largest is smaller.
        let objectives: Vec<f64> = points.iter().map(|p| number(&p["objective"])).collect();
        assert!(objectives.windows(2).all(|pair| pair[0] > pair[1]), "{objectives:?}");
        if bounds == "--ball 1.5" {
            // Without a penalty these are the risks themselves.
            let max = |model: &Value| number(&model["train"]["max"]);
            let mean = |model: &Value| number(&model["train"]["mean_groups"]);
            assert!(all.iter().all(|m| max(m) >= max(&points[0]) - 1e-8));
            assert!(all.iter().all(|m| mean(m) >= mean(&points[4]) - 1e-8));
            let rows = |model: &Value| number(&model["train"]["mean_rows"]);
            assert!(all.iter().all(|m| rows(m) >= rows(&found["erm"]) - 1e-8));
            let (first, last) = (max(&points[0]), max(&points[4]));
            assert!(last > 1.05 * first, "there is a trade-off: {first} {last}");
        }
        // At k = m the objective is that of balanced ERM.
        let (a, b) = (&points[4]["train"]["groups"], &found["balanced"]["train"]["groups"]);
        assert!((top(a, 5) - top(b, 5)).abs() < 1e-6);
    }
}

#[test]
fn fit_finds_the_same_optima() {
    let folder = Folder::with(table());
    let found = path(&folder, "--l2 0.1");
    for k in [1, 3] {
        let fitted = folder.summary(&format!(
            "t.csv --target y --groups g --l2 0.1 --objective top-k:{k} --quiet"
        ));
        let point = &found["points"][k - 1];
        let (a, b) = (number(&fitted["topk_risk"]), top(&point["train"]["groups"], k));
        assert!((a - b).abs() < 1e-5 * b, "{a} {b}");
        let (a, b) = (number(&fitted["test_max_risk"]), number(&point["test"]["max"]));
        assert!((a - b).abs() < 1e-4 * b, "{a} {b}");
    }
}

#[test]
fn files_tables_and_many_groups() {
    let folder = Folder::with(table());
    let text = folder.prints("select t.csv --target y --groups g --path --out out");
    assert!(text.contains("k = 5") && text.contains("balanced ERM"), "{text}");
    assert!(text.contains("wrote path.json to out"), "{text}");
    assert_eq!(folder.list(), ["out", "out/manifest.json", "out/path.json", "t.csv"]);
    assert_eq!(folder.json("out/path.json"), path(&folder, ""));
    // Fewer points than groups: about so many, both ends among them.
    let few: Value = serde_json::from_str(
        &folder.prints("select t.csv --target y --groups g --path=3 --json --quiet"),
    )
    .unwrap();
    let ks: Vec<&Value> = few["points"].as_array().unwrap().iter().map(|p| &p["k"]).collect();
    assert_eq!(ks, [1, 2, 5]);
    let without = path(&folder, "--holdout 0");
    assert_eq!(without["points"][0]["test"], Value::Null);
    assert_eq!(without["test_groups"], serde_json::json!([]));
    let refused = folder.refused("select t.csv --target y --path");
    assert!(refused.starts_with("--path: one group only has no trade-off"), "{refused}");
    folder.file("job.toml", "tables = ['t.csv']\ntarget = 'y'\ngroups = ['g']\npath = 3\n");
    let job = folder.prints("select job.toml --json --quiet");
    assert_eq!(serde_json::from_str::<Value>(&job).unwrap(), few);
}
