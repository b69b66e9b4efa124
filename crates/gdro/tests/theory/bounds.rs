//! The bounds of the theorems against a table of an independent script, and what they must obey.

use gdro::algorithm::{Algorithm, Constants};
use gdro::bound::{self, Holds};
use serde_json::Value;

type Bound = fn(&Constants, u64, Holds) -> gdro::Result<f64>;

const ALL: [(&str, Bound); 13] = [
    ("smd_m", bound::smd_m),
    ("atkro_m", bound::atkro_m),
    ("smd_m_anytime", bound::smd_m_anytime),
    ("atkro_m_anytime", bound::atkro_m_anytime),
    ("model_regret", bound::model_regret),
    ("bandit_regret", bound::bandit_regret),
    ("online_1", bound::online_1),
    ("model_regret_anytime", bound::model_regret_anytime),
    ("bandit_regret_anytime", bound::bandit_regret_anytime),
    ("online_1_anytime", bound::online_1_anytime),
    ("semi_bandit_regret", bound::semi_bandit_regret),
    ("atkro_k", bound::atkro_k),
    ("atkro_1", bound::atkro_1),
];

/// The bounds on a gap, which fall with the number of rounds.
const GAPS: [(Algorithm, bool); 8] = [
    (Algorithm::SmdM, false),
    (Algorithm::SmdM, true),
    (Algorithm::Online1, false),
    (Algorithm::Online1, true),
    (Algorithm::AtkroM, false),
    (Algorithm::AtkroM, true),
    (Algorithm::AtkroK, false),
    (Algorithm::Atkro1, true),
];

/// `oracles/bounds.py` types the statements with 50 digits.
#[test]
fn bounds_equal_the_statements() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../oracles/bounds.json")).unwrap();
    let mut seen = std::collections::BTreeMap::new();
    for row in &rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        let c = Constants {
            smoothness: number("L"),
            k: number("k"),
            payoffs: (number("low"), number("high")),
            kappa: number("kappa"),
            c: number("c"),
            ..Constants::paper(number("D2"), number("G"), number("m") as usize)
        };
        let holds = row["delta"].as_f64().map_or(Holds::OnAverage, Holds::With);
        let budgets: Vec<u64> = serde_json::from_value(row["budgets"].clone()).unwrap();
        let name = row["bound"].as_str().unwrap();
        let found = match name {
            "smd_r" => bound::smd_r(&c, &budgets, number("delta")).unwrap(),
            "smpa_m" => bound::smpa_m(&c, &budgets, number("delta")).unwrap(),
            _ => {
                let bound = ALL.iter().find(|b| b.0 == name).unwrap().1;
                vec![bound(&c, number("T") as u64, holds).unwrap()]
            }
        };
        let expected: Vec<f64> = serde_json::from_value(row["values"].clone()).unwrap();
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() <= 1e-12 * b, "{name} {row}: {a}");
        }
        *seen.entry((name, row["delta"].is_null())).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 2 * ALL.len() + 2);
    assert!(seen.values().all(|n| *n >= 3), "{seen:?}");
}

fn constants(m: usize, k: f64) -> Constants {
    Constants { k, smoothness: 1.0, ..Constants::paper(0.5, 2.0, m) }
}

#[test]
fn gap_bounds_fall_with_rounds_and_with_delta() {
    let c = constants(16, 5.0);
    for (algorithm, anytime) in GAPS {
        let at = |t, holds| algorithm.gap(anytime, &c, t, holds).unwrap();
        for t in (0..60).map(|j| 1 << j) {
            for holds in [Holds::OnAverage, Holds::With(0.9), Holds::With(1e-9)] {
                assert!(at(2 * t, holds) < at(t, holds), "{algorithm} {anytime} {t} {holds:?}");
            }
            assert!(at(t, Holds::With(0.01)) > at(t, Holds::With(0.1)));
        }
        // Consecutive numbers of rounds, where a logarithm could make it rise.
        for t in 1..200 {
            assert!(at(t + 1, Holds::OnAverage) < at(t, Holds::OnAverage), "{algorithm} {t}");
        }
    }
}

/// The bound of a game multiplied by a constant is multiplied by it.
#[test]
fn bounds_scale_with_the_game() {
    let c = constants(16, 5.0);
    let by = 12.5;
    let scaled = Constants {
        lipschitz: by * c.lipschitz,
        smoothness: by * c.smoothness,
        payoffs: (-3.0, by - 3.0),
        ..c
    };
    for (name, bound) in ALL {
        for holds in [Holds::OnAverage, Holds::With(0.05)] {
            let (a, b) = (bound(&c, 300, holds).unwrap(), bound(&scaled, 300, holds).unwrap());
            assert!((by * a - b).abs() <= 1e-12 * b, "{name}");
        }
    }
}

#[test]
fn sample_complexity_is_the_smallest_number_of_rounds() {
    let c = constants(16, 5.0);
    for (algorithm, per_round) in [
        (Algorithm::SmdM, 16),
        (Algorithm::Online1, 1),
        (Algorithm::AtkroM, 16),
        (Algorithm::AtkroK, 5),
        (Algorithm::Atkro1, 1),
    ] {
        for holds in [Holds::OnAverage, Holds::With(0.05)] {
            for epsilon in [1e3, 0.3, 1e-4] {
                let (rounds, samples) = algorithm.samples(&c, epsilon, holds).unwrap();
                assert_eq!(samples, per_round * rounds);
                let at = |t| algorithm.gap(false, &c, t, holds).unwrap();
                assert!(at(rounds) <= epsilon, "{algorithm} {epsilon}");
                assert!(rounds == 1 || at(rounds - 1) > epsilon, "{algorithm} {epsilon}");
            }
        }
    }
    // O(m ln m/ε²): half the gap takes four times the samples, but for lower orders.
    let samples =
        |epsilon| Algorithm::Online1.samples(&c, epsilon, Holds::OnAverage).unwrap().1 as f64;
    assert!((samples(1e-4) / samples(2e-4) - 4.0).abs() < 0.01);
}

/// Where q cannot move its regret is exactly 0, and what is left is the model's part.
#[test]
fn a_player_that_cannot_move_has_no_regret() {
    for holds in [Holds::OnAverage, Holds::With(0.05)] {
        for (m, k) in [(1, 1.0), (7, 7.0)] {
            let c = constants(m, k);
            for t in [1, 50] {
                let semi = bound::semi_bandit_regret(&c, t, holds).unwrap();
                assert_eq!(semi, 0.0);
                assert_eq!(bound::bandit_regret_anytime(&c, t, holds).unwrap(), 0.0);
                let part = match holds {
                    Holds::OnAverage => Holds::OnAverage,
                    Holds::With(delta) => Holds::With(delta / 2.0),
                };
                let model = bound::model_regret(&c, t, part).unwrap() / t as f64;
                assert_eq!(bound::atkro_k(&c, t, holds).unwrap(), model);
                // ln(m/k) = 0: only D²G² is left.
                let front = match holds {
                    Holds::OnAverage => 2.0,
                    Holds::With(delta) => 8.0 + 2.0 * f64::ln(2.0 / delta),
                };
                let alone = front * (10.0 * 2.0 / t as f64).sqrt();
                let found = bound::atkro_m(&c, t, holds).unwrap();
                assert!((found - alone).abs() < 1e-12 * alone);
            }
        }
        let one = constants(1, 1.0);
        assert_eq!(bound::bandit_regret(&one, 50, holds).unwrap(), 0.0);
        assert!(ALL.iter().all(|(_, b)| b(&one, 1, holds).unwrap().is_finite()));
    }
}

/// Algorithms 1 and 2 know no cap; Algorithm 6 draws k groups, a whole number.
#[test]
fn the_cap_matters_to_those_who_have_one() {
    let at = |algorithm: Algorithm, anytime, k| {
        algorithm.gap(anytime, &constants(7, k), 1000, Holds::With(0.1))
    };
    for (algorithm, anytime) in [
        (Algorithm::SmdM, false),
        (Algorithm::SmdM, true),
        (Algorithm::Online1, false),
        (Algorithm::Online1, true),
    ] {
        for k in [2.5, 7.0] {
            let (free, capped) = (at(algorithm, anytime, 1.0), at(algorithm, anytime, k));
            assert_eq!(free.unwrap(), capped.unwrap(), "{algorithm} {anytime} {k}");
        }
    }
    let message = at(Algorithm::AtkroK, false, 2.5).unwrap_err().to_string();
    assert!(message.contains("k = 2.5: expected an integer"), "{message}");
}

#[test]
fn what_is_out_of_range_is_refused_by_name() {
    let c = constants(16, 5.0);
    let says = |result: gdro::Result<f64>, what: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(what), "{message}");
    };
    for (_, b) in ALL {
        says(b(&c, 0, Holds::OnAverage), "rounds");
        for delta in [0.0, 1.0, -1.0, f64::NAN] {
            says(b(&c, 5, Holds::With(delta)), "delta");
        }
        says(b(&Constants { lipschitz: f64::NAN, ..c }, 5, Holds::OnAverage), "G = NaN");
        says(b(&Constants { width: f64::INFINITY, ..c }, 5, Holds::OnAverage), "D² = inf");
        says(b(&Constants { payoffs: (1.0, 1.0), ..c }, 5, Holds::OnAverage), "range");
    }
    says(Algorithm::Smd1.gap(false, &c, 5, Holds::OnAverage), "smd-1");
    let none = Algorithm::SmdM.samples(&c, 0.0, Holds::OnAverage);
    assert!(none.unwrap_err().to_string().contains("epsilon"));
    let far = Algorithm::SmdM.samples(&c, 1e-12, Holds::OnAverage);
    assert!(far.unwrap_err().to_string().contains("2⁶²"));
    assert!(bound::smd_r(&c, &[5, 0], 0.1).is_err() && bound::smpa_m(&c, &[5, 1], 0.1).is_err());
    let rough = Constants { smoothness: f64::INFINITY, ..c };
    assert!(bound::smpa_m(&rough, &[5, 4], 0.1).is_err());
}
