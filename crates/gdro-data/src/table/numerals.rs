//! How numbers are written.

/// The decimal sign, and what stands between thousands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Numerals {
    pub(crate) decimal: char,
    pub(crate) thousands: Option<char>,
}

impl Default for Numerals {
    fn default() -> Self {
        Numerals { decimal: '.', thousands: None }
    }
}

impl Numerals {
    /// The number that a text is: infinite where it is too large, NaN where it says so.
    pub(crate) fn parse(self, text: &str) -> Option<f64> {
        if self == Numerals::default() {
            return text.parse().ok();
        }
        let end = text.find(['e', 'E']).unwrap_or(text.len());
        let (digits, exponent) = text.split_at(end);
        let (whole, fraction) = match digits.split_once(self.decimal) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (digits, None),
        };
        // A point that is no decimal sign may stand between thousands alone.
        if self.decimal != '.'
            && (fraction.unwrap_or_default().contains('.') || exponent.contains('.'))
        {
            return None;
        }
        let mut plain = self.without_thousands(whole)?;
        if let Some(fraction) = fraction {
            plain.push('.');
            plain += fraction;
        }
        plain += exponent;
        plain.parse().ok()
    }

    /// The digits before the decimal sign: groups of three where they are apart.
    fn without_thousands(self, whole: &str) -> Option<String> {
        let number = whole.trim_start_matches(['+', '-', '\u{2212}']);
        let sign = &whole[..whole.len() - number.len()];
        let groups: Vec<&str> = number.split(|c| self.is_between(c)).collect();
        let fits = |(at, group): (usize, &&str)| {
            let length = if at == 0 { (1..=3).contains(&group.len()) } else { group.len() == 3 };
            length && group.bytes().all(|b| b.is_ascii_digit())
        };
        if groups.len() > 1 && !groups.iter().enumerate().all(fits) {
            return None;
        }
        if self.decimal != '.' && groups.len() == 1 && number.contains('.') {
            return None;
        }
        Some(sign.replace('\u{2212}', "-") + &groups.concat())
    }

    /// Whether a character stands between thousands; blanks and apostrophes have several forms.
    fn is_between(self, c: char) -> bool {
        match self.thousands {
            Some(' ') => matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}'),
            Some('\'') => matches!(c, '\'' | '\u{2019}'),
            other => other == Some(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_their_signs() {
        let parse = |decimal, thousands, text: &str| Numerals { decimal, thousands }.parse(text);
        for (text, expected) in [
            ("41,4", Some(41.4)),
            ("-,5", Some(-0.5)),
            ("7", Some(7.0)),
            ("1,5E-3", Some(0.0015)),
            ("1.5", None),
            ("1,2,3", None),
        ] {
            assert_eq!(parse(',', None, text), expected, "{text}");
        }
        for (text, expected) in [
            ("2,345.67", Some(2345.67)),
            ("-1,234,567", Some(-1_234_567.0)),
            ("12", Some(12.0)),
            ("1234.5", Some(1234.5)),
            ("12,34", None),
            ("1234,567", None),
            (",234", None),
            ("1,234,56", None),
        ] {
            assert_eq!(parse('.', Some(','), text), expected, "{text}");
        }
        assert_eq!(parse(',', Some('.'), "1.234,5"), Some(1234.5));
        assert_eq!(parse(',', Some('.'), "1,234.5"), None);
        assert_eq!(parse(',', Some(' '), "1\u{202f}234\u{a0}567,5"), Some(1_234_567.5));
        assert_eq!(parse('.', Some('\''), "1\u{2019}234.5"), Some(1234.5));
        assert_eq!(parse(',', None, "NaN").map(f64::is_nan), Some(true));
    }
}
