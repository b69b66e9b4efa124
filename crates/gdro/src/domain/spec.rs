//! The geometries by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{AnyMap, Cube, L1Ball, L2Ball, PNormBall, Simplex};
use crate::error::Result;

/// The set of the weights by name, with its numbers. In text:
///
/// | text | the set | map |
/// |---|---|---|
/// | `free` | all weights | [`L2Ball::unconstrained`] |
/// | `ball:B` | ‖w‖₂ ≤ B | [`L2Ball`] |
/// | `l1:B` | ‖w‖₁ ≤ B | [`L1Ball`] |
/// | `box:B`, `box:L,H` | −B ≤ w_j ≤ B, L ≤ w_j ≤ H | [`Cube`] |
/// | `simplex`, `simplex:S` | w_j ≥ 0, Σ w_j = S (1) | [`Simplex`] |
/// | `p-ball:P,B` | ‖w‖_P ≤ B, 1 < P ≤ 2 | [`PNormBall`] |
///
/// Norms and sums are over all weights of a model, those of every class with a softmax. Intercepts
/// have bounds of their own ([`super::Domain`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum DomainSpec {
    /// The whole space.
    #[default]
    Free,
    /// The Euclidean ball of a radius.
    Ball(f64),
    /// The ball of the 1-norm of a radius.
    L1(f64),
    /// The same bounds for every weight, the lower one first.
    Box(f64, f64),
    /// The simplex of weights with a sum.
    Simplex(f64),
    /// The ball of a p-norm.
    PBall {
        /// The exponent.
        p: f64,
        /// The radius.
        radius: f64,
    },
}

impl DomainSpec {
    /// The Euclidean ball of a radius, or the whole space.
    pub fn ball(radius: Option<f64>) -> Self {
        radius.map_or(DomainSpec::Free, DomainSpec::Ball)
    }

    /// Whether the set bounds the weights, so that no ridge is needed to do so.
    pub fn is_bounded(self) -> bool {
        self != DomainSpec::Free
    }

    /// Whether its distance-generating function is ½‖w‖₂², so that its norm is Euclidean.
    pub fn is_euclidean(self) -> bool {
        !matches!(self, DomainSpec::Simplex(_) | DomainSpec::PBall { .. })
    }

    /// Where the weights are, in words; `None` where they are free.
    pub fn words(self) -> Option<String> {
        Some(match self {
            DomainSpec::Free => return None,
            DomainSpec::Ball(radius) => format!("in a ball of radius {radius}"),
            DomainSpec::L1(radius) => format!("in a ball of the 1-norm of radius {radius}"),
            DomainSpec::Box(low, high) => format!("from {low} to {high}"),
            DomainSpec::Simplex(sum) => format!("of at least 0 with the sum {sum}"),
            DomainSpec::PBall { p, radius } => {
                format!("in a ball of the {p}-norm of radius {radius}")
            }
        })
    }

    /// The set with its distance-generating function.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] for numbers out of range: those of the map's constructor.
    pub fn map(self) -> Result<AnyMap> {
        Ok(match self {
            DomainSpec::Free => AnyMap::L2Ball(L2Ball::unconstrained()),
            DomainSpec::Ball(radius) => AnyMap::L2Ball(L2Ball::new(radius)?),
            DomainSpec::L1(radius) => AnyMap::L1Ball(L1Ball::new(radius)?),
            DomainSpec::Box(low, high) => AnyMap::Cube(Cube::new(low, high)?),
            DomainSpec::Simplex(sum) => AnyMap::Simplex(Simplex::new(sum)?),
            DomainSpec::PBall { p, radius } => AnyMap::PNormBall(PNormBall::new(p, radius)?),
        })
    }
}

impl fmt::Display for DomainSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DomainSpec::Free => f.write_str("free"),
            DomainSpec::Ball(radius) => write!(f, "ball:{radius}"),
            DomainSpec::L1(radius) => write!(f, "l1:{radius}"),
            DomainSpec::Box(low, high) if low == -high => write!(f, "box:{high}"),
            DomainSpec::Box(low, high) => write!(f, "box:{low},{high}"),
            DomainSpec::Simplex(1.0) => f.write_str("simplex"),
            DomainSpec::Simplex(sum) => write!(f, "simplex:{sum}"),
            DomainSpec::PBall { p, radius } => write!(f, "p-ball:{p},{radius}"),
        }
    }
}

impl From<DomainSpec> for String {
    fn from(spec: DomainSpec) -> Self {
        spec.to_string()
    }
}

impl TryFrom<String> for DomainSpec {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for DomainSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, numbers): (_, Option<Vec<f64>>) = match text.split_once(':') {
            Some((name, numbers)) => (name, numbers.split(',').map(|v| v.parse().ok()).collect()),
            None => (text, Some(Vec::new())),
        };
        let spec = match (name, numbers.as_deref()) {
            ("free", Some([])) => Some(DomainSpec::Free),
            ("ball", Some([radius])) => Some(DomainSpec::Ball(*radius)),
            ("l1", Some([radius])) => Some(DomainSpec::L1(*radius)),
            ("box", Some([bound])) => Some(DomainSpec::Box(-bound, *bound)),
            ("box", Some([low, high])) => Some(DomainSpec::Box(*low, *high)),
            ("simplex", Some([])) => Some(DomainSpec::Simplex(1.0)),
            ("simplex", Some([sum])) => Some(DomainSpec::Simplex(*sum)),
            ("p-ball", Some([p, radius])) => Some(DomainSpec::PBall { p: *p, radius: *radius }),
            _ => None,
        };
        let expected = match name {
            "ball" => "a radius B above 0 after ball:",
            "l1" => "a radius B above 0 after l1:",
            "box" => "a bound B above 0, or bounds L,H with L < H, after box:",
            "simplex" => "simplex, or a sum S above 0 after simplex:",
            "p-ball" => "P,B with 1 < P ≤ 2 and a radius B above 0 after p-ball:",
            _ => "free, ball:B, l1:B, box:B, box:L,H, simplex, simplex:S or p-ball:P,B",
        };
        spec.filter(|spec| spec.map().is_ok()).ok_or(format!("`{text}`: expected {expected}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::MirrorMap as _;

    #[test]
    fn names_go_through_text_and_back() {
        for text in [
            "free",
            "ball:0.5",
            "l1:2",
            "box:1",
            "box:-0.5,2",
            "box:1,3",
            "simplex",
            "simplex:2.5",
            "p-ball:1.5,0.1",
        ] {
            let spec: DomainSpec = text.parse().unwrap();
            assert_eq!(spec.to_string(), text);
            assert_eq!(spec.is_bounded(), text != "free");
            assert_eq!(spec.words().is_some(), spec.is_bounded());
            let map = spec.map().unwrap();
            assert_eq!(spec.is_euclidean(), map.euclidean().is_some(), "{text}");
        }
        let same = |a: &str, b: &str| assert_eq!(a.parse::<DomainSpec>(), b.parse());
        same("box:-2,2", "box:2");
        same("simplex:1", "simplex");
        same("l1:1e-3", "l1:0.001");
        assert_eq!(DomainSpec::ball(Some(3.0)), DomainSpec::Ball(3.0));
        assert_eq!(DomainSpec::ball(None), DomainSpec::default());
    }

    #[test]
    fn what_is_no_set_is_refused_by_name() {
        let refused = |text: &str, part: &str| {
            let error = text.parse::<DomainSpec>().unwrap_err();
            assert!(error.starts_with(&format!("`{text}`: expected ")), "{error}");
            assert!(error.contains(part), "{error}");
        };
        for text in ["", "l2:1", "Ball:1", "free:", "free:1", "1", ":1"] {
            refused(text, "free, ball:B, l1:B,");
        }
        for text in ["ball", "ball:", "ball:0", "ball:-1", "ball:nan", "ball:inf", "ball:1,2"] {
            refused(text, "a radius B above 0 after ball:");
        }
        refused("l1:0", "a radius B above 0 after l1:");
        for text in ["box", "box:0", "box:-1", "box:2,1", "box:1,1", "box:0,inf", "box:1,2,3"] {
            refused(text, "L < H");
        }
        refused("simplex:0", "a sum S above 0");
        refused("simplex:", "a sum S above 0");
        for text in ["p-ball:1.5", "p-ball:1,2", "p-ball:3,1", "p-ball:1.5,0"] {
            refused(text, "1 < P ≤ 2");
        }
        assert!(DomainSpec::Ball(-1.0).map().is_err());
    }
}
