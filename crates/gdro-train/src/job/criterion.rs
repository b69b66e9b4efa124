//! What models are chosen by, on rows that they were not trained on.

use std::fmt;
use std::str::FromStr;

use gdro::game::top_k_mean;
use serde::{Deserialize, Serialize};

/// What of the groups' means on validation rows is to be small. In text `risk`, `accuracy` or
/// `top-k:K`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Criterion {
    /// The largest risk of a group.
    Risk,
    /// The largest share of errors in a group: one minus the least accuracy.
    Accuracy,
    /// The mean of the k largest group risks, real k; of all, where there are fewer groups.
    TopK(f64),
}

impl Criterion {
    /// Whether rows count by whether the prediction is wrong, not by their loss.
    pub fn counts_errors(self) -> bool {
        self == Criterion::Accuracy
    }

    /// The criterion of the means of some groups, at least one.
    pub fn of(self, means: &[f64]) -> f64 {
        match self {
            Criterion::Risk | Criterion::Accuracy => {
                means.iter().copied().fold(f64::NEG_INFINITY, f64::max)
            }
            Criterion::TopK(k) => top_k_mean(means, k.min(means.len() as f64)),
        }
    }

    /// What it is, in words.
    pub fn words(self) -> String {
        match self {
            Criterion::Risk => "the largest group risk".into(),
            Criterion::Accuracy => "the largest share of errors in a group".into(),
            Criterion::TopK(k) => format!("the mean of the {k} largest group risks"),
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Risk => f.write_str("risk"),
            Criterion::Accuracy => f.write_str("accuracy"),
            Criterion::TopK(k) => write!(f, "top-k:{k}"),
        }
    }
}

impl FromStr for Criterion {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "risk" => Ok(Criterion::Risk),
            "accuracy" => Ok(Criterion::Accuracy),
            _ => {
                let k = text.strip_prefix("top-k:").and_then(|k| k.parse::<f64>().ok());
                k.filter(|k| *k >= 1.0 && k.is_finite()).map(Criterion::TopK).ok_or(format!(
                    "`{text}`: expected risk, accuracy or top-k:K with K of at least 1"
                ))
            }
        }
    }
}

impl From<Criterion> for String {
    fn from(criterion: Criterion) -> Self {
        criterion.to_string()
    }
}

impl TryFrom<String> for Criterion {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_means_of_groups() {
        let means = [0.25, 1.0, 0.5];
        assert_eq!(Criterion::Risk.of(&means), 1.0);
        assert_eq!(Criterion::TopK(2.0).of(&means), 0.75);
        assert_eq!(Criterion::TopK(1.5).of(&means), (1.0 + 0.25) / 1.5);
        assert_eq!(Criterion::TopK(9.0).of(&means), 1.75 / 3.0);
        for text in ["risk", "accuracy", "top-k:1.5"] {
            assert_eq!(text.parse::<Criterion>().unwrap().to_string(), text);
        }
        for bad in ["", "top-k", "top-k:0", "top-k:inf", "loss"] {
            assert!(bad.parse::<Criterion>().is_err(), "{bad}");
        }
    }
}
