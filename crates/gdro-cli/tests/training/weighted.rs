//! Intervals of rows with weights: coverage through what the program runs, the bound on weights, and
//! what is said of it.

use std::fmt::Write as _;

use crate::common::{Folder, number};
use gdro::interval::GroupEstimates;
use gdro::sampling::{Rng, unit};
use gdro_train::evaluate::{Caps, evaluate};
use gdro_train::model::Model;
use rand::SeedableRng as _;
use serde_json::Value;

/// A population of rows: heavy ones have labels of a coin, light ones nearly always that of x.
#[derive(Clone, Copy)]
enum Population {
    /// 1 % of the rows weigh 100 and are heavy, the others weigh 1.
    RareHeavy,
    /// Weights exp(z) of a normal z; z > 1 is heavy.
    Lognormal,
}

/// How often the label of a light row is that of x.
const LIGHT: f64 = 0.98;

impl Population {
    /// A weight, and whether it is heavy.
    fn draw(self, rng: &mut Rng) -> (f64, bool) {
        match self {
            Population::RareHeavy if unit(rng) < 0.01 => (100.0, true),
            Population::RareHeavy => (1.0, false),
            Population::Lognormal => {
                // Box and Muller.
                let radius = (-2.0 * (1.0 - unit(rng)).ln()).sqrt();
                let z = radius * (2.0 * std::f64::consts::PI * unit(rng)).cos();
                (z.exp(), z > 1.0)
            }
        }
    }

    /// E min(w, B) of heavy and of light rows, each times their share.
    fn mass(self, cap: f64) -> [f64; 2] {
        match self {
            Population::RareHeavy => [0.01 * cap.min(100.0), 0.99 * cap.min(1.0)],
            Population::Lognormal => {
                let h = 1e-4;
                let mut mass = [0.0; 2];
                for i in -90_000..90_000 {
                    let z = (f64::from(i) + 0.5) * h;
                    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
                    mass[usize::from(z <= 1.0)] += h * density * z.exp().min(cap);
                }
                mass
            }
        }
    }

    /// A table of two groups with `rows` rows each.
    fn table(self, rng: &mut Rng, rows: usize) -> String {
        let mut text = "x,w,g,y\n".to_owned();
        for g in ["a", "b"] {
            for _ in 0..rows {
                let x = unit(rng) < 0.5;
                let (weight, heavy) = self.draw(rng);
                let y = (unit(rng) < if heavy { 0.5 } else { LIGHT }) == x;
                let _ = writeln!(text, "v{},{weight},{g},{}", u8::from(x), u8::from(y));
            }
        }
        text
    }

    /// Risk, accuracy, true and false positive rate and AUC of a model that gives the positive label these
    /// probabilities where x is 0 and 1.
    fn truth(self, model: &Model, probability: [f64; 2]) -> [f64; 5] {
        let [heavy, light] = self.mass(model.weight_cap.unwrap());
        let (mut risk, mut total) = (0.0, 0.0);
        // By label: the mass of right predictions, and all.
        let (mut right, mut all) = ([0.0; 2], [0.0; 2]);
        // By label and x.
        let mut masses = [[0.0; 2]; 2];
        for (x, p) in probability.into_iter().enumerate() {
            for y in [0, 1] {
                let agree = if x == y { LIGHT } else { 1.0 - LIGHT };
                let mass = 0.5 * (0.5 * heavy + agree * light);
                let loss = -(if y == 1 { p } else { 1.0 - p }).ln();
                risk += mass * loss.min(model.cap);
                total += mass;
                all[y] += mass;
                masses[y][x] = mass;
                right[y] += if (p >= 0.5) == (y == 1) { mass } else { 0.0 };
            }
        }
        let accuracy = (right[0] + right[1]) / total;
        // The score is larger where x is 1.
        let [[a, b], [c, d]] = masses;
        let auc = (d * a + 0.5 * (c * a + d * b)) / (all[0] * all[1]);
        [risk / total, accuracy, right[1] / all[1], 1.0 - right[0] / all[0], auc]
    }
}

const FIT: &str = "fit train.csv --target y --groups g --group-features drop --weight w --out run \
                   --quiet --objective max --solver exact";

/// A model trained on 2,000 rows of each group.
fn trained(population: Population, seed: u64) -> (Folder, Rng) {
    let mut rng = Rng::seed_from_u64(seed);
    let folder = Folder::new();
    folder.file("train.csv", population.table(&mut rng, 2000));
    folder.prints(&format!("{FIT} --holdout 0"));
    (folder, rng)
}

/// Counts the tables, of 1,000, in which an interval of any group misses the truth, for each column.
fn misses(population: Population, rows: usize, seed: u64) -> [usize; 5] {
    let (folder, mut rng) = trained(population, seed);
    folder.file("cells.csv", "x,w,g,y\nv0,1,a,0\nv1,1,a,0\n");
    let predicted = folder.prints("predict run cells.csv");
    let of_line = |line: &str| line.split(',').nth(1).unwrap().parse::<f64>().unwrap();
    let p: Vec<f64> = predicted.lines().skip(1).map(of_line).collect();
    let model = Model::load(&folder.path().join("run")).unwrap();
    let truth = population.truth(&model, [p[0], p[1]]);
    let columns: [fn(&GroupEstimates) -> gdro::interval::Estimate; 5] = [
        |g| g.clipped_risk,
        |g| g.accuracy.unwrap(),
        |g| g.metrics.get("true_positive_rate").unwrap(),
        |g| g.metrics.get("false_positive_rate").unwrap(),
        |g| g.metrics.get("auc").unwrap(),
    ];
    let (mut missed, mut widths) = ([0; 5], [0.0; 5]);
    for _ in 0..1000 {
        let table = folder.file("later.csv", population.table(&mut rng, rows));
        let found = evaluate(&model, &[table], &model.job.data, 0.05, Caps::default()).unwrap();
        for (column, of) in columns.iter().enumerate() {
            let groups = found.intervals.groups.iter().map(of);
            let covers = |e: gdro::interval::Estimate| e.interval.contains(truth[column]);
            missed[column] += usize::from(!groups.clone().all(covers));
            widths[column] += groups.map(|e| e.interval.width()).sum::<f64>() / 2000.0;
        }
    }
    println!("misses of 1000: {missed:?}, mean widths {widths:.4?}, truth {truth:.4?}");
    missed
}

/// 60 rows of a group have no heavy one in more than half of the cases, and a bound from them would
/// say that there are none: nominal 50 misses, where more than 71 have a probability below 1e-3.
#[test]
fn rare_heavy_rows_are_reckoned_with() {
    let missed = misses(Population::RareHeavy, 60, 1);
    assert!(missed.iter().all(|n| *n <= 71), "{missed:?}");
}

#[test]
fn lognormal_weights_are_covered() {
    for (rows, seed) in [(60, 2), (400, 3)] {
        let missed = misses(Population::Lognormal, rows, seed);
        assert!(missed.iter().all(|n| *n <= 71), "{rows} rows: {missed:?}");
    }
}

fn evaluated(folder: &Folder, arguments: &str) -> Value {
    serde_json::from_str(&folder.prints(&format!("evaluate run {arguments} --json"))).unwrap()
}

/// `fit` and `evaluate` say the same of the same rows, by the bound of the training rows.
#[test]
fn the_bound_is_that_of_the_training_rows() {
    let (folder, mut rng) = trained(Population::RareHeavy, 4);
    let light: String = (0..40).map(|i| format!("v{},1,a,{0}\n", i % 2)).collect();
    folder.file("later.csv", format!("x,w,g,y\n{light}v0,250,b,1\nv1,3,b,1\n"));
    folder.prints(&format!("{FIT} --holdout-file later.csv"));
    assert_eq!(number(&folder.json("run/model.json")["weight-cap"]), 100.0);
    let summary = folder.json("run/summary.json");
    let level = &summary["intervals"];
    assert_eq!(number(&level["weight_cap"]), 100.0);
    assert!((number(&level["weights_capped"]) - 1.0 / 42.0).abs() < 1e-12);
    let found = evaluated(&folder, "later.csv");
    assert_eq!(number(&found["settings"]["weight_cap"]), 100.0);
    let group = &found["intervals"]["groups"][0];
    // 40 rows of weight 1, all right, say little where rows may weigh 100.
    let low = |found: &Value| number(&found["accuracy"]["interval"]["low"]);
    assert!(low(group) < 0.5, "{group}");
    let named = |name: &str| {
        let mut groups = summary["groups"].as_array().unwrap().iter();
        groups.find(|g| g["name"] == name).unwrap().clone()
    };
    assert_eq!(number(&named("a")["test_accuracy_interval"][0]), low(group));
    assert_eq!(number(&found["intervals"]["groups"][1]["capped_weights"]), 1.0);
    let text = folder.prints("evaluate run later.csv");
    let said = "weights as at most 100, which cuts 1 row (2.4 %)";
    assert!(text.replace("\n  ", " ").contains(said), "{text}");
    // The same bound by hand, and a smaller one.
    let by_hand = evaluated(&folder, "later.csv --weight-cap 100");
    assert_eq!(by_hand["intervals"], found["intervals"]);
    let smaller = evaluated(&folder, "later.csv --weight-cap 1");
    assert!(low(&smaller["intervals"]["groups"][0]) > 0.8, "{smaller}");
    folder.file("train.csv", Population::RareHeavy.table(&mut rng, 500));
    folder.prints(&format!("{FIT} --holdout 0.3 --weight-cap 7 --report page.html"));
    assert_eq!(number(&folder.json("run/model.json")["weight-cap"]), 7.0);
    assert_eq!(number(&folder.json("run/summary.json")["intervals"]["weight_cap"]), 7.0);
    assert!(folder.read("page.html").contains("weights as at most 7, which cuts"));
}

#[test]
fn a_bound_that_is_not_known_is_asked_for() {
    let (folder, _) = trained(Population::RareHeavy, 5);
    let mut model = folder.json("run/model.json");
    model.as_object_mut().unwrap().remove("weight-cap");
    folder.file("old/model.json", model.to_string());
    folder.file("later.csv", "x,w,g,y\nv0,1,a,0\nv1,2,b,1\n");
    let refused = folder.refused("evaluate old later.csv");
    assert!(refused.contains("does not know the largest weight"), "{refused}");
    assert!(refused.contains("--weight-cap B"), "{refused}");
    folder.prints("evaluate old later.csv --weight-cap 100");
    folder.file("plain.csv", "x,g,y\nv0,a,0\nv1,b,1\n");
    folder.prints("evaluate old plain.csv");
    assert!(
        folder
            .refused("evaluate run plain.csv --weight-cap 3")
            .contains("--weight-cap 3: rows have no"),
    );
    for bad in ["0", "-1", "inf"] {
        let refused = folder.refused(&format!("evaluate run later.csv --weight-cap={bad}"));
        assert!(refused.contains("expected a number above 0"), "{refused}");
    }
    let unweighted = FIT.replace(" --weight w", " --weight-cap 3 --ignore w --holdout 0.2");
    assert!(folder.refused(&unweighted).contains("--weight-cap: rows have no weights"));
    assert!(folder.refused(&format!("{FIT} --weight-cap 3 --stream")).contains("--stream"));
}
