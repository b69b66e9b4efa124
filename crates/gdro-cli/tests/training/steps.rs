//! Steps that nobody gives: how far from the optimum they leave a model.

use serde_json::Value;

use crate::common::{Folder, number};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Samples of a run.
const SAMPLES: u64 = 400_000;

/// The arguments of a table: one of the repository, or `folder` and file of one that is not.
fn arguments(name: &str, rest: &str) -> Option<String> {
    match name.split_once('/') {
        None => Some(format!("{REPOSITORY}/examples/{name}.toml {rest}")),
        Some((folder, file)) => {
            Some(format!("{} {rest}", crate::data::folder(folder)?.join(file).display()))
        }
    }
}

/// The objective after [`SAMPLES`] samples minus what no model can go below.
fn excess(work: &Folder, table: &str, solver: &str, seed: u64, lower: (f64, u64)) -> f64 {
    let every = ["smd-m", "adaptive"].contains(&solver);
    let rounds = if every { SAMPLES / lower.1 } else { SAMPLES };
    let run =
        work.summary(&format!("{table} --solver {solver} --rounds {rounds} --seed {seed} --quiet"));
    number(&run["certificate"]["upper"]) - lower.0
}

/// The lower bound of the exact solver and the number of groups.
fn optimum(work: &Folder, table: &str, seed: u64) -> (f64, u64) {
    let exact: Value = work.summary(&format!("{table} --solver exact --seed {seed} --quiet"));
    (number(&exact["certificate"]["lower"]), exact["groups"].as_array().unwrap().len() as u64)
}

/// The mean excess of five seeds.
fn mean(table: &str, solver: &str) -> f64 {
    let work = Folder::new();
    let of = |seed| excess(&work, table, solver, seed, optimum(&work, table, seed));
    (1..=5).map(of).sum::<f64>() / 5.0
}

/// On the table of the repository with the most demanding groups. Pilot runs that are judged by
/// their last objective end at 0.0033 to 0.0042 with smd-m and at 0.015 to 0.022 with online-1.
#[test]
fn german_credit() {
    let table = arguments("german_credit", "--l2 1e-4").unwrap();
    for (solver, most) in [("smd-m", 0.003), ("online-1", 0.018)] {
        let found = mean(&table, solver);
        assert!(found <= most, "{solver}: {found}");
    }
}

/// Tables that are not part of the repository, with the steps that the players find: 0.0007, 0.0037 and
/// 0.0016, of which that of bank is too much. Pilot runs end at 0.0014 (heart) and 0.0069 (bank).
#[test]
#[ignore = "reads 330,000 rows eleven times"]
fn other_tables() {
    for (name, rest) in [
        (
            "heart_disease/heart.csv.gz",
            "--target disease --groups site --ignore num --missing mean",
        ),
        ("bank_marketing/bank-full.csv.gz", "--target y --groups job --missing own-category"),
        ("nycflights13/flights.csv.gz", "--target arr_delay>15 --groups carrier --ignore tailnum"),
    ] {
        let Some(table) = arguments(name, &format!("{rest} --l2 1e-4")) else { return };
        let found = mean(&table, "smd-m");
        assert!(found <= 0.003, "{name}: {found}");
    }
}
