//! A target that is a comparison: `arr_delay>30`.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::words::shown;

/// A comparison of the number in a cell with a fixed one: true or false.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Comparison {
    /// How the cell compares when the comparison is true.
    pub operator: Operator,
    /// What it is compared with: finite.
    pub number: f64,
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operator {
    /// The first is larger.
    #[serde(rename = ">")]
    Above,
    /// The first is larger, or they are equal.
    #[serde(rename = ">=")]
    AtLeast,
    /// The first is smaller.
    #[serde(rename = "<")]
    Below,
    /// The first is smaller, or they are equal.
    #[serde(rename = "<=")]
    AtMost,
}

impl Operator {
    fn symbol(self) -> &'static str {
        match self {
            Operator::Above => ">",
            Operator::AtLeast => ">=",
            Operator::Below => "<",
            Operator::AtMost => "<=",
        }
    }
}

impl Comparison {
    /// The column and the comparison that a target stands for, `None` when it has no operator. The
    /// last one counts: only a column of `names` may hold others.
    pub(crate) fn parse<'a>(target: &'a str, names: &[String]) -> Result<Option<(&'a str, Self)>> {
        let sign = |c| matches!(c, '<' | '>');
        let Some((at, found)) = target.char_indices().rev().find(|(_, c)| sign(*c)) else {
            return Ok(None);
        };
        let (column, rest) = (target[..at].trim(), &target[at + 1..]);
        let (operator, text) = match (found, rest.strip_prefix('=')) {
            ('>', None) => (Operator::Above, rest),
            ('>', Some(rest)) => (Operator::AtLeast, rest),
            (_, None) => (Operator::Below, rest),
            (_, Some(rest)) => (Operator::AtMost, rest),
        };
        let refuse = |expected: String| {
            let found = format!("`{}`", shown(target));
            Err(Error::Option { option: "target", found, expected })
        };
        if column.is_empty() || column.contains(sign) && !names.iter().any(|n| n == column) {
            return refuse("one comparison of a column with a number, as in `delay>30`".into());
        }
        let text = text.trim();
        match text.parse::<f64>().ok().filter(|v| v.is_finite()) {
            Some(number) => Ok(Some((column, Comparison { operator, number }))),
            None => {
                let (symbol, text) = (operator.symbol(), shown(text));
                refuse(format!("a finite number after `{symbol}`, found `{text}`"))
            }
        }
    }

    /// Whether the comparison is true of a number.
    pub fn holds(&self, v: f64) -> bool {
        match self.operator {
            Operator::Above => v > self.number,
            Operator::AtLeast => v >= self.number,
            Operator::Below => v < self.number,
            Operator::AtMost => v <= self.number,
        }
    }

    /// The comparison that is true of the other numbers.
    pub(crate) fn negated(self) -> Self {
        let operator = match self.operator {
            Operator::Above => Operator::AtMost,
            Operator::AtLeast => Operator::Below,
            Operator::Below => Operator::AtLeast,
            Operator::AtMost => Operator::Above,
        };
        Comparison { operator, ..self }
    }

    /// The label of the rows of which it is true: `arr_delay>30`.
    pub(crate) fn label(&self, column: &str) -> String {
        // Adding 0 turns −0 into 0.
        format!("{column}{}{}", self.operator.symbol(), self.number + 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(target: &str) -> Result<Option<String>> {
        let names = ["a", "a>3", "b c"].map(str::to_owned);
        let found = Comparison::parse(target, &names)?;
        Ok(found.map(|(column, comparison)| comparison.label(column)))
    }

    #[test]
    fn labels_are_written_in_one_way() {
        for (target, label) in [
            ("a>30", "a>30"),
            (" a >= +3e1 ", "a>=30"),
            ("b c<-0.0", "b c<0"),
            ("a<= -1.50", "a<=-1.5"),
            ("a>3<2", "a>3<2"),
            ("unknown>1", "unknown>1"),
        ] {
            assert_eq!(parse(target).unwrap().unwrap(), label, "{target}");
        }
        assert_eq!(parse("a=3").unwrap(), None);
    }

    #[test]
    fn what_is_no_comparison_is_refused() {
        let message = |target| parse(target).unwrap_err().to_string();
        let one = "expected one comparison of a column with a number, as in `delay>30`";
        for target in ["0<a<3", "a<3<2", "a<>3", "a>>3", ">3", " <= 1"] {
            assert_eq!(message(target), format!("target: `{target}`: {one}"));
        }
        for (target, symbol, found) in [
            ("a>x", ">", "x"),
            ("a >= ", ">=", ""),
            ("a<NaN", "<", "NaN"),
            ("a<=-inf", "<=", "-inf"),
            ("a>1e999", ">", "1e999"),
            ("3<a", "<", "a"),
        ] {
            let expected = format!("expected a finite number after `{symbol}`, found `{found}`");
            assert_eq!(message(target), format!("target: `{target}`: {expected}"));
        }
    }

    #[test]
    fn exactly_one_of_a_comparison_and_its_negation_holds() {
        for (operator, held) in [
            (Operator::Above, [false, false, true]),
            (Operator::AtLeast, [false, true, true]),
            (Operator::Below, [true, false, false]),
            (Operator::AtMost, [true, true, false]),
        ] {
            let comparison = Comparison { operator, number: 2.0 };
            let other = comparison.negated();
            assert_eq!([1.0, 2.0, 3.0].map(|v| comparison.holds(v)), held);
            assert_eq!([1.0, 2.0, 3.0].map(|v| other.holds(v)), held.map(|h| !h));
            assert_eq!(other.negated(), comparison);
        }
    }
}
