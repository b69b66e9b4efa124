//! The two jobs on the Adult census table.

use crate::common::{Folder, number};
use serde_json::Value;

fn examples() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples").to_owned()
}

fn summary(job: &str, arguments: &str) -> Value {
    Folder::new().summary(&format!("{}/{job} --quiet --out out {arguments}", examples()))
}

fn sizes(summary: &Value, field: &str) -> Vec<u64> {
    summary["groups"].as_array().unwrap().iter().map(|g| g[field].as_u64().unwrap()).collect()
}

#[test]
fn race_and_sex() {
    for solver in ["smd-m", "online-1"] {
        let summary = summary("adult.toml", &format!("--holdout 0 --solver {solver}"));
        assert_eq!(sizes(&summary, "n"), [27020, 11883, 2144, 2084, 1363, 728]);
        let found = number(&summary["max_risk"]);
        assert!(found <= 0.4024, "{solver}: {found}");
    }
}

#[test]
fn occupations() {
    for solver in ["smd-m", "online-1"] {
        let summary = summary("adult-occupation.toml", &format!("--holdout 0 --solver {solver}"));
        let risk = |model: &Value| number(&model["max_risk"]);
        assert!(risk(&summary) <= 0.447, "{solver}: {}", risk(&summary));
        assert!((risk(&summary["erm"]) - 0.4713).abs() < 5e-4, "{}", risk(&summary["erm"]));
        assert!((risk(&summary["balanced"]) - 0.4595).abs() < 5e-4);
        assert_eq!(summary["groups"].as_array().unwrap().len(), 14);
    }
}

#[test]
fn budgets_are_never_exceeded() {
    let budgets = [26656, 11519, 1780, 1720, 999, 364];
    for solver in ["smd-r", "smpa-m", "hybrid --nbar 1720"] {
        let options = format!("--holdout 364 --budget all --solver {solver}");
        let summary = summary("adult.toml", &options);
        assert_eq!(sizes(&summary, "n_train"), budgets);
        assert_eq!(sizes(&summary, "n_test"), [364; 6]);
        let samples = sizes(&summary, "samples");
        assert!(samples.iter().zip(budgets).all(|(used, n)| *used <= n), "{solver}: {samples:?}");
        assert!(samples.iter().zip(budgets).all(|(used, n)| 2 * used > n), "{solver}: {samples:?}");
    }
}

/// Players that find their own steps, without any option: within 0.003 of the exact optimum.
#[test]
fn adaptive_players_need_no_option() {
    for seed in [1, 2, 3] {
        let options = format!("--holdout 0 --solver adaptive --seed {seed}");
        let summary = summary("adult-occupation.toml", &options);
        let (risk, objective) =
            (number(&summary["max_risk"]), number(&summary["certificate"]["upper"]));
        assert!(risk - 0.43996 < 0.003 && objective - 0.441140473 < 0.003, "{risk} {objective}");
    }
}
