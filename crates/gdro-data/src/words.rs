//! Numbers and texts in messages.

use std::fmt::Display;

/// A number of things: `1 row`, `2,000 rows`.
pub fn count(count: usize, thing: &str) -> String {
    format!("{} {thing}{}", number(count), if count == 1 { "" } else { "s" })
}

/// A whole number with its thousands apart: `12,345`.
pub fn number(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A text on one line: control characters escaped, the end of a long one cut off.
pub fn shown(text: &str) -> String {
    const LENGTH: usize = 60;
    let mut line = String::new();
    for c in text.chars().take(LENGTH) {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    if text.chars().nth(LENGTH).is_some() {
        line.push('…');
    }
    line
}

/// Up to eight texts, quoted, and how many there are.
pub(crate) fn list<'a>(texts: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let count = texts.len();
    let shown = texts.take(SHOWN).map(|t| format!("`{}`", shown(t))).collect::<Vec<_>>().join(", ");
    if count > SHOWN { format!("{shown}, … {count} in all") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shown_on_one_line() {
        assert_eq!(shown("12,5"), "12,5");
        assert_eq!(shown("a\nb\0"), "a\\nb\\u{0}");
        assert_eq!(shown(&"é".repeat(61)), "é".repeat(60) + "…");
    }

    #[test]
    fn long_lists_are_cut() {
        let texts: Vec<String> = (0..12).map(|i| i.to_string()).collect();
        let found = list(texts.iter().map(String::as_str));
        assert_eq!(found, "`0`, `1`, `2`, `3`, `4`, `5`, `6`, `7`, … 12 in all");
        assert_eq!(list(["a"].into_iter()), "`a`");
    }

    #[test]
    fn counts_are_in_words() {
        assert_eq!(count(1, "row"), "1 row");
        assert_eq!(count(0, "row"), "0 rows");
        assert_eq!(count(1234567, "cell"), "1,234,567 cells");
    }
}
