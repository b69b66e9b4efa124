//! The losses that have a name.

use std::fmt;
use std::str::FromStr;

use super::{Absolute, Hinge, Huber, Logistic, Loss, Quantile, SmoothedHinge, Softmax, Squared};
use crate::error::Result;

/// One of this crate's losses, chosen at run time.
///
/// [`FromStr`] and [`fmt::Display`] read and write the names: `logistic`, `hinge`,
/// `smoothed-hinge:γ` (1 when left out), `softmax`, `squared`, `absolute`, `huber:δ` (1.35 when
/// left out), `quantile:τ`. A name does not say how many classes there are: see
/// [`AnyLoss::with_classes`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnyLoss {
    /// [`Logistic`].
    Logistic(Logistic),
    /// [`Hinge`].
    Hinge(Hinge),
    /// [`SmoothedHinge`].
    SmoothedHinge(SmoothedHinge),
    /// [`Softmax`].
    Softmax(Softmax),
    /// [`Squared`].
    Squared(Squared),
    /// [`Absolute`].
    Absolute(Absolute),
    /// [`Huber`].
    Huber(Huber),
    /// [`Quantile`].
    Quantile(Quantile),
}

/// What kind of targets a loss takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// Two labels, −1 and +1.
    Labels,
    /// Classes 0, 1, …
    Classes,
    /// Numbers.
    Numbers,
}

macro_rules! each {
    ($self:ident, $loss:ident => $body:expr) => {
        match $self {
            AnyLoss::Logistic($loss) => $body,
            AnyLoss::Hinge($loss) => $body,
            AnyLoss::SmoothedHinge($loss) => $body,
            AnyLoss::Softmax($loss) => $body,
            AnyLoss::Squared($loss) => $body,
            AnyLoss::Absolute($loss) => $body,
            AnyLoss::Huber($loss) => $body,
            AnyLoss::Quantile($loss) => $body,
        }
    };
}

impl AnyLoss {
    /// All names with what they are for, for help and messages.
    pub const NAMES: &'static str = "logistic, hinge or smoothed-hinge[:G] (two labels), softmax \
         (classes), squared, absolute, huber[:D] or quantile:T (numbers)";

    /// The usual loss for a kind of target: logistic, softmax (of two classes, see
    /// [`AnyLoss::with_classes`]), squared.
    pub fn usual(targets: Targets) -> Self {
        match targets {
            Targets::Labels => AnyLoss::Logistic(Logistic),
            Targets::Classes => AnyLoss::Softmax(Softmax::TWO),
            Targets::Numbers => AnyLoss::Squared(Squared),
        }
    }

    /// The same loss for so many classes, where it has classes.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] for fewer than 2 classes.
    pub fn with_classes(self, classes: usize) -> Result<Self> {
        Ok(match self {
            AnyLoss::Softmax(_) => AnyLoss::Softmax(Softmax::new(classes)?),
            other => other,
        })
    }

    /// What kind of targets it takes.
    pub fn targets(&self) -> Targets {
        match self {
            AnyLoss::Logistic(_) | AnyLoss::Hinge(_) | AnyLoss::SmoothedHinge(_) => Targets::Labels,
            AnyLoss::Softmax(_) => Targets::Classes,
            AnyLoss::Squared(_)
            | AnyLoss::Absolute(_)
            | AnyLoss::Huber(_)
            | AnyLoss::Quantile(_) => Targets::Numbers,
        }
    }

    /// Whether its scores are log-odds, from which probabilities follow.
    pub fn is_probabilistic(&self) -> bool {
        matches!(self, AnyLoss::Logistic(_) | AnyLoss::Softmax(_))
    }

    /// The number after the colon of a name.
    fn parameter(&self) -> Option<f64> {
        match self {
            AnyLoss::SmoothedHinge(loss) => Some(loss.gamma()),
            AnyLoss::Huber(loss) => Some(loss.delta()),
            AnyLoss::Quantile(loss) => Some(loss.tau()),
            _ => None,
        }
    }
}

impl fmt::Display for AnyLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.parameter().map_or(Ok(()), |number| write!(f, ":{number}"))
    }
}

impl FromStr for AnyLoss {
    type Err = String;

    /// The loss of a name; softmax for two classes.
    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("`{text}`: expected {}", AnyLoss::NAMES);
        let (name, number) = match text.split_once(':') {
            None => (text, None),
            Some((name, number)) => {
                let number: f64 = number
                    .parse()
                    .map_err(|_| format!("`{text}`: expected a number after `{name}:`"))?;
                (name, Some(number))
            }
        };
        let refused = |e: crate::Error| e.to_string();
        match (name, number) {
            ("logistic", None) => Ok(AnyLoss::Logistic(Logistic)),
            ("hinge", None) => Ok(AnyLoss::Hinge(Hinge::default())),
            ("smoothed-hinge", gamma) => SmoothedHinge::new(gamma.unwrap_or(1.0))
                .map(AnyLoss::SmoothedHinge)
                .map_err(refused),
            ("softmax", None) => Ok(AnyLoss::Softmax(Softmax::TWO)),
            ("squared", None) => Ok(AnyLoss::Squared(Squared)),
            ("absolute", None) => Ok(AnyLoss::Absolute(Absolute::default())),
            ("huber", delta) => {
                Huber::new(delta.unwrap_or(1.35)).map(AnyLoss::Huber).map_err(refused)
            }
            ("quantile", Some(tau)) => Quantile::new(tau).map(AnyLoss::Quantile).map_err(refused),
            ("quantile", None) => {
                Err("`quantile`: expected the quantile as well, such as quantile:0.9".into())
            }
            ("logistic" | "hinge" | "softmax" | "squared" | "absolute", Some(_)) => {
                Err(format!("`{text}`: {name} takes no number"))
            }
            _ => Err(unknown()),
        }
    }
}

impl Loss for AnyLoss {
    fn name(&self) -> &'static str {
        each!(self, loss => loss.name())
    }

    #[inline]
    fn outputs(&self) -> usize {
        each!(self, loss => loss.outputs())
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        each!(self, loss => loss.value(scores, y))
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        each!(self, loss => loss.slope(scores, y, slope))
    }

    /// The usual loss does not go through a call and memory.
    #[inline(always)]
    fn slope_at(&self, score: f64, y: f64) -> Result<(f64, f64)> {
        #[inline(never)]
        fn others(loss: &AnyLoss, score: f64, y: f64) -> Result<(f64, f64)> {
            each!(loss, loss => loss.slope_at(score, y))
        }
        match self {
            AnyLoss::Logistic(loss) => loss.slope_at(score, y),
            other => others(other, score, y),
        }
    }

    #[inline]
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        each!(self, loss => loss.hessian(scores, y, hessian))
    }

    fn curvatures(&self, scores: &[f64], y: f64, scratch: &mut [f64], diagonal: &mut [f64]) {
        each!(self, loss => loss.curvatures(scores, y, scratch, diagonal))
    }

    fn hessian_times(
        &self,
        scores: &[f64],
        y: f64,
        v: &[f64],
        scratch: &mut [f64],
        out: &mut [f64],
    ) {
        each!(self, loss => loss.hessian_times(scores, y, v, scratch, out))
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        each!(self, loss => loss.conjugate(u, y))
    }

    fn infimum(&self) -> f64 {
        each!(self, loss => loss.infimum())
    }

    fn smoothed(&self, mu: f64) -> Option<Self> {
        match self {
            AnyLoss::Hinge(loss) => loss.smoothed(mu).map(AnyLoss::Hinge),
            AnyLoss::Absolute(loss) => loss.smoothed(mu).map(AnyLoss::Absolute),
            AnyLoss::Quantile(loss) => loss.smoothed(mu).map(AnyLoss::Quantile),
            _ => None,
        }
    }

    fn in_unit(&self, unit: f64) -> Option<(Self, f64)> {
        match self {
            AnyLoss::Squared(loss) => loss.in_unit(unit).map(|(l, f)| (AnyLoss::Squared(l), f)),
            AnyLoss::Absolute(loss) => loss.in_unit(unit).map(|(l, f)| (AnyLoss::Absolute(l), f)),
            AnyLoss::Huber(loss) => loss.in_unit(unit).map(|(l, f)| (AnyLoss::Huber(l), f)),
            AnyLoss::Quantile(loss) => loss.in_unit(unit).map(|(l, f)| (AnyLoss::Quantile(l), f)),
            _ => None,
        }
    }

    fn accepts(&self, y: f64) -> bool {
        each!(self, loss => loss.accepts(y))
    }

    fn expects(&self) -> String {
        each!(self, loss => loss.expects())
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        each!(self, loss => loss.range(bound, target))
    }

    fn lipschitz(&self, bound: f64, target: f64) -> f64 {
        each!(self, loss => loss.lipschitz(bound, target))
    }

    fn curvature(&self) -> f64 {
        each!(self, loss => loss.curvature())
    }

    fn self_concordance(&self) -> Option<f64> {
        each!(self, loss => loss.self_concordance())
    }

    fn correct(&self, scores: &[f64], y: f64) -> Option<bool> {
        each!(self, loss => loss.correct(scores, y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ℓ(y₀ + us, y₀ + uy) = f ℓ'(s, y).
    #[test]
    fn units_change_nothing() {
        for name in ["squared", "absolute", "huber:2", "quantile:0.9"] {
            let loss: AnyLoss = name.parse().unwrap();
            for unit in [0.25, 8.0] {
                let (own, f) = loss.in_unit(unit).unwrap();
                for (s, y) in [(0.5, 1.25), (-3.0, 2.0), (7.0, 6.5)] {
                    let given = loss.value(&[3.0 + unit * s], 3.0 + unit * y).unwrap();
                    assert_eq!(given, f * own.value(&[s], y).unwrap(), "{name} {unit}");
                }
            }
        }
        assert_eq!("hinge".parse::<AnyLoss>().unwrap().in_unit(2.0), None);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for (text, name) in [
            ("logistic", "logistic"),
            ("hinge", "hinge"),
            ("smoothed-hinge", "smoothed-hinge:1"),
            ("smoothed-hinge:0.5", "smoothed-hinge:0.5"),
            ("softmax", "softmax"),
            ("squared", "squared"),
            ("absolute", "absolute"),
            ("huber", "huber:1.35"),
            ("huber:2", "huber:2"),
            ("quantile:0.9", "quantile:0.9"),
        ] {
            let loss: AnyLoss = text.parse().unwrap();
            assert_eq!(loss.to_string(), name);
            assert_eq!(name.parse::<AnyLoss>().unwrap(), loss);
            assert!(AnyLoss::NAMES.contains(loss.name()), "{name}");
        }
        for (text, part) in [
            ("quantile", "quantile:0.9"),
            ("quantile:1.5", "between 0 and 1"),
            ("huber:-1", "above 0"),
            ("huber:", "expected a number after `huber:`"),
            ("huber:nan", "above 0"),
            ("smoothed-hinge:0", "above 0"),
            ("hinge:2", "takes no number"),
            ("median", "absolute, huber[:D]"),
        ] {
            let error = text.parse::<AnyLoss>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
