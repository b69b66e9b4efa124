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

/// A text in which whatever has no shape of its own is escaped: control characters, those that turn
/// the direction of writing, and those of no width, by which names that look alike may differ.
///
/// ```
/// assert_eq!(gdro_data::escaped("na\u{200b}me\u{202e}\u{7}"), r"na\u{200b}me\u{202e}\u{7}");
/// ```
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut before, mut chars) = (' ', text.chars().peekable());
    while let Some(c) = chars.next() {
        let joins = c == '\u{200d}' && [Some(&before), chars.peek()].into_iter().all(is_picture);
        if has_no_shape(c) && !joins {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
        before = c;
    }
    out
}

/// Whether a character is one that a joiner makes one picture of with another, or says how it looks.
fn is_picture(c: Option<&char>) -> bool {
    c.is_some_and(|c| matches!(c, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}'))
}

/// Control characters, the ends of lines and paragraphs, and Unicode's Default_Ignorable_Code_Point but
/// for variation selectors, which say how the character before them looks.
fn has_no_shape(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// A text on one line: what has no shape is [`escaped`], the end of a long one cut off.
pub fn shown(text: &str) -> String {
    const LENGTH: usize = 60;
    let mut line = escaped(&text.chars().take(LENGTH).collect::<String>());
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
    fn what_has_no_shape_is_escaped() {
        for c in ['\u{7f}', '\u{85}', '\u{9b}', '\u{200e}', '\u{2067}', '\u{feff}', '\u{e0041}'] {
            assert_eq!(escaped(&format!("a{c}b")), format!("a\\u{{{:x}}}b", c as u32));
        }
        assert_eq!(escaped("a\u{200d}b👩\u{200d}"), r"a\u{200d}b👩\u{200d}");
        // Accents, emoji with their variations, and letters of every script are shown.
        let woman_at_work = "👩\u{200d}🔬";
        for name in ["e\u{301}", "❤\u{fe0f}", woman_at_work, "عربي", "한국", "\u{a0}", "a=b`<&"]
        {
            assert_eq!(escaped(name), name);
        }
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
