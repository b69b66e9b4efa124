//! Intervals of repeated measurements: coverage through what the program runs, and what is said.

use std::fmt::Write as _;

use crate::common::{Folder, number};
use gdro::interval::Estimate;
use gdro::sampling::{Rng, below, unit};
use gdro_train::evaluate::{Caps, evaluate};
use gdro_train::model::Model;
use rand::SeedableRng as _;
use serde_json::Value;

/// How often the label of a patient is that of x.
const AGREES: f64 = 0.8;

/// A population of patients, whose rows are all alike.
#[derive(Clone, Copy)]
enum Population {
    /// 50 rows each.
    Equal,
    /// 1 to 100 rows; those with more than 60 have labels of a coin.
    Informative,
}

impl Population {
    /// A number of rows, and how often the label is that of x.
    fn draw(self, rng: &mut Rng) -> (usize, f64) {
        match self {
            Population::Equal => (50, AGREES),
            Population::Informative => {
                let rows = 1 + below(rng, 100);
                (rows, if rows > 60 { 0.5 } else { AGREES })
            }
        }
    }

    /// A table of two groups of so many patients each.
    fn table(self, rng: &mut Rng, patients: usize) -> String {
        let mut text = "x,patient,g,y\n".to_owned();
        for (at, g) in ["a", "b"].into_iter().enumerate() {
            for patient in 0..patients {
                let x = unit(rng) < 0.5;
                let (rows, agrees) = self.draw(rng);
                let y = (unit(rng) < agrees) == x;
                for _ in 0..rows {
                    let (x, y) = (u8::from(x), u8::from(y));
                    let _ = writeln!(text, "v{x},p{},{g},{y}", 1000 * at + patient);
                }
            }
        }
        text
    }

    /// The share of the rows, each patient's counted as at most `cap`, whose label is that of x.
    fn agreement(self, cap: f64) -> f64 {
        match self {
            Population::Equal => AGREES,
            Population::Informative => {
                let (mut sum, mut total) = (0.0, 0.0);
                for rows in 1..=100 {
                    let weight = f64::from(rows).min(cap);
                    sum += weight * if rows > 60 { 0.5 } else { AGREES };
                    total += weight;
                }
                sum / total
            }
        }
    }

    /// Risk, accuracy and true and false positive rate of a model that gives the positive label these
    /// probabilities where x is 0 and 1. Labels are as often 0 as 1.
    fn truth(self, model: &Model, probability: [f64; 2]) -> [f64; 4] {
        let agreement = self.agreement(model.cluster_cap.unwrap());
        let (mut risk, mut right) = (0.0, [0.0; 2]);
        for (x, p) in probability.into_iter().enumerate() {
            for y in [0, 1] {
                let mass = 0.5 * if x == y { agreement } else { 1.0 - agreement };
                risk += mass * (-(if y == 1 { p } else { 1.0 - p }).ln()).min(model.cap);
                right[y] += if (p >= 0.5) == (y == 1) { mass } else { 0.0 };
            }
        }
        [risk, right[0] + right[1], 2.0 * right[1], 1.0 - 2.0 * right[0]]
    }
}

const FIT: &str = "fit train.csv --target y --groups g --group-features drop --cluster patient \
                   --out run --quiet --objective max --solver exact";

/// A model trained on 200 patients of each group.
fn trained(population: Population, seed: u64) -> (Folder, Rng) {
    let mut rng = Rng::seed_from_u64(seed);
    let folder = Folder::new();
    folder.file("train.csv", population.table(&mut rng, 200));
    folder.prints(&format!("{FIT} --holdout 0"));
    (folder, rng)
}

/// Counts the tables of 24 patients in each group, of so many, in which an interval of any group
/// misses the truth, for each column.
fn misses(population: Population, tables: usize, seed: u64) -> [usize; 4] {
    let (folder, mut rng) = trained(population, seed);
    folder.file("cells.csv", "x,patient,g,y\nv0,p,a,0\nv1,p,a,0\n");
    let predicted = folder.prints("predict run cells.csv");
    let of_line = |line: &str| line.split(',').nth(1).unwrap().parse::<f64>().unwrap();
    let p: Vec<f64> = predicted.lines().skip(1).map(of_line).collect();
    let model = Model::load(&folder.path().join("run")).unwrap();
    let truth = population.truth(&model, [p[0], p[1]]);
    let mut missed = [0; 4];
    for _ in 0..tables {
        let table = folder.file("later.csv", population.table(&mut rng, 24));
        let found = evaluate(&model, &[table], &model.job.data, 0.05, Caps::default()).unwrap();
        let groups = &found.intervals.groups;
        assert!(groups.iter().all(|g| g.metrics.get("auc").is_none()));
        let column = |at: usize| -> Vec<Estimate> {
            let of = |g: &gdro::interval::GroupEstimates| match at {
                0 => g.clipped_risk,
                1 => g.accuracy.unwrap(),
                2 => g.metrics.get("true_positive_rate").unwrap(),
                _ => g.metrics.get("false_positive_rate").unwrap(),
            };
            groups.iter().map(of).collect()
        };
        for (at, missed) in missed.iter_mut().enumerate() {
            *missed += usize::from(column(at).iter().any(|e| !e.interval.contains(truth[at])));
        }
    }
    println!("misses of {tables}: {missed:?}, truth {truth:.4?}");
    missed
}

/// 24 patients of 50 equal rows each, in each of two groups: rows that were taken as independent would
/// miss in more than nine tables of ten. Nominal 5 misses of 100; 16 or more have p < 1e-4.
#[test]
fn patients_are_the_unit() {
    for (population, seed) in [(Population::Equal, 1), (Population::Informative, 2)] {
        let missed = misses(population, 100, seed);
        assert!(missed.iter().all(|n| *n <= 15), "{missed:?}");
    }
}

/// Nominal 50 misses, where more than 71 have a probability below 1e-3.
#[test]
#[ignore = "takes long: .ci/full runs it"]
fn patients_are_the_unit_in_a_thousand_tables() {
    for (population, seed) in [(Population::Equal, 3), (Population::Informative, 4)] {
        let missed = misses(population, 1000, seed);
        assert!(missed.iter().all(|n| *n <= 71), "{missed:?}");
    }
}

fn evaluated(folder: &Folder, arguments: &str) -> Value {
    serde_json::from_str(&folder.prints(&format!("evaluate run {arguments} --json"))).unwrap()
}

/// `fit` and `evaluate` say the same of the same rows, by the bound of the training rows, and name the
/// clusters that are heavier.
#[test]
fn the_bound_is_that_of_the_training_clusters() {
    let (folder, mut rng) = trained(Population::Equal, 5);
    let mut later = Population::Equal.table(&mut rng, 30);
    (0..90).for_each(|_| later += "v1,whale,a,0\n");
    folder.file("later.csv", &later);
    folder.prints(&format!("{FIT} --holdout-file later.csv --report page.html"));
    let (model, summary) = (folder.json("run/model.json"), folder.json("run/summary.json"));
    assert_eq!(number(&model["cluster-cap"]), 50.0);
    let level = &summary["intervals"];
    assert_eq!(number(&level["cluster_cap"]), 50.0);
    let [heavy] = &level["heavy_clusters"].as_array().unwrap()[..] else { panic!("{level}") };
    assert_eq!((&heavy["cluster"], &heavy["group"]), (&"whale".into(), &"a".into()));
    assert!((number(&heavy["share"]) - 90.0 / 1590.0).abs() < 1e-12);
    let found = evaluated(&folder, "later.csv");
    assert_eq!(found["heavy_clusters"], level["heavy_clusters"]);
    for (group, of_fit) in found["intervals"]["groups"]
        .as_array()
        .unwrap()
        .iter()
        .zip(summary["groups"].as_array().unwrap())
    {
        let clusters = &group["clipped_risk"]["clusters"];
        assert_eq!((clusters, &group["rows"]), (&of_fit["n_test_clusters"], &of_fit["n_test"]));
        let ends = &group["accuracy"]["interval"];
        assert_eq!(
            of_fit["test_accuracy_interval"],
            serde_json::json!([ends["low"], ends["high"]])
        );
        assert_eq!(of_fit["test_auc"]["interval"], Value::Null);
    }
    let said = "the unit of intervals is a cluster, the rows of a `patient` in a group, which counts \
                as at most 50 rows; heavier is `whale` (5.7 % of group `a`); the AUC of clusters has \
                no interval";
    let page = folder.read("page.html");
    let joined = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        folder.prints("evaluate run later.csv"),
        folder.prints(
            "fit train.csv --target y --groups g --cluster patient --holdout-file later.csv",
        ),
        page.replace("The unit", "the unit")
            .replace("<code dir=\"auto\">", "`")
            .replace("</code>", "`"),
    ] {
        let text = joined(text);
        assert!(text.contains(said), "{}", &text[..text.len().min(3000)]);
    }
    // A bound by hand.
    let wider = evaluated(&folder, "later.csv --cluster-cap 90");
    assert_eq!(wider["heavy_clusters"], Value::Null);
    assert_eq!(evaluated(&folder, "later.csv --cluster-cap 50")["intervals"], found["intervals"]);
    folder.prints(&format!("{FIT} --cluster-cap 40"));
    assert_eq!(number(&folder.json("run/model.json")["cluster-cap"]), 40.0);
}

#[test]
fn tables_without_clusters_are_warned_of_and_caps_without_use_refused() {
    let (folder, _) = trained(Population::Equal, 6);
    folder.file("plain.csv", "x,g,y\nv0,a,0\nv1,b,1\n");
    let said = folder.prints("evaluate run plain.csv");
    assert!(said.contains("warning: the table has no column `patient`"), "{said}");
    let refused = folder.refused("evaluate run plain.csv --cluster-cap 3");
    assert!(refused.contains("--cluster-cap 3: rows have no clusters"), "{refused}");
    let refused = folder.refused("fit train.csv --target y --groups g --cluster-cap 3");
    assert!(refused.contains("--cluster-cap: there are no clusters"), "{refused}");
    let refused = folder.refused("evaluate run train.csv --cluster-cap=0");
    assert!(refused.contains("expected a number above 0"), "{refused}");
}

/// Groups of one patient are judged by rows, of this patient.
#[test]
fn patients_as_groups_are_judged_by_their_rows() {
    let mut rng = Rng::seed_from_u64(7);
    let mut text = "x,patient,y\n".to_owned();
    for row in 0..400 {
        let x = below(&mut rng, 10);
        let _ = writeln!(text, "{x},p{},{}", row % 2, u8::from(x > 4));
    }
    let folder = Folder::with(text);
    let arguments = "t.csv --target y --groups patient --group-features drop --seed 3";
    let by_rows = folder.summary(arguments);
    let by_patient = folder.summary(&format!("{arguments} --cluster patient --out run"));
    for (a, b) in
        by_rows["groups"].as_array().unwrap().iter().zip(by_patient["groups"].as_array().unwrap())
    {
        assert_eq!(a["test_accuracy_interval"], b["test_accuracy_interval"]);
        assert_ne!(b["test_accuracy_interval"], "not estimable");
    }
    assert_eq!(folder.json("run/model.json")["one-cluster"], serde_json::json!(["p0", "p1"]));
    let found = evaluated(&folder, "t.csv");
    assert_eq!(found["intervals"]["groups"][0]["clipped_risk"]["clusters"], Value::Null);
}
