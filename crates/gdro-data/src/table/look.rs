//! What texts that are no numbers look like.

use super::date;
use super::numerals::Numerals;

/// What more than half of the texts of a column look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// Numbers with other signs than those that were asked for.
    Numerals {
        /// The decimal sign, where it is another.
        decimal: Option<char>,
        /// What stands between thousands, where something does that was not asked for.
        thousands: Option<char>,
    },
    /// Numbers such as `1,234`, whose comma may be either.
    DecimalOrThousands,
    /// Numbers with a percent sign.
    Percent,
    /// Numbers with the sign of a currency.
    Currency,
    /// Numbers with a unit.
    Unit(String),
    /// Dates.
    Date,
    /// Times of the day.
    Time,
}

/// Different texts from which on times, and numbers with a unit, are no categories.
const MANY: usize = 20;

/// The texts that usually mean a missing cell, in any case.
const MARKS: [&str; 24] = [
    "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "nat", "missing", "unknown", "?",
    "-", "--", "---", ".", "*", "#nv", "#null!", "#div/0!", "#value!", "k.a.", "n.d.", "s.o.",
];

/// Units that follow a number without a blank.
const UNITS: [&str; 12] = ["mm", "cm", "km", "mg", "kg", "ml", "ms", "min", "kW", "Hz", "°C", "°F"];

/// Codes of currencies; their signs come from Unicode.
const CURRENCIES: [&str; 12] =
    ["EUR", "USD", "GBP", "CHF", "JPY", "CNY", "SEK", "NOK", "DKK", "PLN", "kr", "zł"];

/// Whether a text usually means a missing cell.
pub(super) fn is_mark(text: &str) -> bool {
    MARKS.iter().any(|mark| mark.eq_ignore_ascii_case(text))
}

/// Whether a text is a number with leading zeros, as codes have: `00501`.
pub(super) fn is_code(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && is_whole(text)
}

/// Whether a text is digits alone.
pub(super) fn is_whole(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// What the texts of a column look like, of which so many cells have each and `present` have any
/// that is no mark: `None` unless more than half of them do, and more than are numbers as they are.
pub(super) fn look(
    levels: &[String],
    counts: &[usize],
    present: usize,
    numerals: Numerals,
) -> Option<Look> {
    let cells = |holds: &dyn Fn(&str) -> bool| -> usize {
        levels.iter().zip(counts).filter(|(text, _)| holds(text)).map(|(_, n)| n).sum()
    };
    let number = |numerals: Numerals, text: &str| numerals.parse(text).is_some_and(f64::is_finite);
    let plain = cells(&|text| number(numerals, text));
    let most = |count: usize| 2 * count > present;
    let others = others(numerals);
    // The fewest changes that read most cells.
    let found = others.iter().map(|other| (cells(&|text| number(*other, text)), *other));
    let found: Vec<(usize, Numerals)> = found.collect();
    let best = found.iter().map(|(count, _)| *count).max().unwrap_or(0);
    if best > plain && most(best) {
        let changes = |other: &Numerals| {
            u8::from(other.decimal != numerals.decimal)
                + u8::from(other.thousands != numerals.thousands)
        };
        let mut best: Vec<Numerals> =
            found.iter().filter(|(count, _)| *count == best).map(|(_, other)| *other).collect();
        let fewest = best.iter().map(changes).min();
        best.retain(|other| Some(changes(other)) == fewest);
        return match best[..] {
            [one] => Some(Look::Numerals {
                decimal: Some(one.decimal).filter(|c| *c != numerals.decimal),
                thousands: one.thousands.filter(|_| one.thousands != numerals.thousands),
            }),
            _ => Some(Look::DecimalOrThousands),
        };
    }
    let any = |text: &str| number(numerals, text) || others.iter().any(|o| number(*o, text));
    let percents = cells(&|text| percent(text).is_some_and(any));
    if percents > 0 && most(percents + plain) {
        return Some(Look::Percent);
    }
    let currencies = cells(&|text| currency(text).is_some_and(any));
    if currencies > 0 && most(currencies + plain) {
        return Some(Look::Currency);
    }
    if most(cells(&is_date)) {
        return Some(Look::Date);
    }
    if levels.len() < MANY {
        return None;
    }
    if most(cells(&|text| date::time_of_day(text).is_some())) {
        return Some(Look::Time);
    }
    let unit = levels.iter().find_map(|text| split_unit(text).map(|(_, unit)| unit))?;
    let same = |text: &str| split_unit(text).is_some_and(|(v, own)| own == unit && any(v));
    most(cells(&same)).then(|| Look::Unit(unit.to_owned()))
}

/// The other ways to write numbers that are tried: what was asked for stays.
fn others(numerals: Numerals) -> Vec<Numerals> {
    const WAYS: [(char, Option<char>); 7] = [
        (',', None),
        ('.', Some(',')),
        (',', Some('.')),
        ('.', Some(' ')),
        (',', Some(' ')),
        ('.', Some('\'')),
        (',', Some('\'')),
    ];
    let asked = |(decimal, thousands): &(char, Option<char>)| {
        (numerals.decimal == '.' || numerals.decimal == *decimal)
            && (numerals.thousands.is_none() || numerals.thousands == *thousands)
    };
    let ways = WAYS.into_iter().filter(asked);
    let ways = ways.map(|(decimal, thousands)| Numerals { decimal, thousands });
    ways.filter(|way| *way != numerals).collect()
}

/// A percentage without its sign.
fn percent(text: &str) -> Option<&str> {
    text.strip_suffix(['%', '‰']).map(str::trim_end)
}

/// An amount without its currency.
fn currency(text: &str) -> Option<&str> {
    let sign = |c: char| {
        matches!(c, '$' | '¢' | '£' | '¤' | '¥' | '฿') || ('\u{20a0}'..='\u{20c0}').contains(&c)
    };
    let unsigned = text.trim_start_matches(['-', '+']);
    let bare = unsigned.trim_matches(sign);
    if bare.len() < unsigned.len() {
        return Some(bare.trim());
    }
    let code = |code: &&str| text.strip_suffix(*code).or(text.strip_prefix(*code));
    CURRENCIES.iter().find_map(code).map(str::trim)
}

/// A number and the unit after it: letters after a blank, or a unit that is well known. Codes such as
/// `12a` have none.
fn split_unit(text: &str) -> Option<(&str, &str)> {
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let unit = text[end..].trim_start();
    let letters = |c: char| c.is_alphabetic() || matches!(c, '°' | '/' | '²' | '³' | 'µ');
    let apart = unit.len() < text.len() - end || UNITS.contains(&unit);
    let fits = apart && !unit.is_empty() && unit.chars().all(letters);
    fits.then(|| (text[..end].trim_end(), unit))
}

/// Whether a text is a date. One whose year has two digits is, too, although it is not read.
fn is_date(text: &str) -> bool {
    if is_whole(text) {
        return false;
    }
    let short = |text: &str| {
        let sign = text.chars().find(|c| matches!(c, '/' | '.'))?;
        let parts: Vec<&str> = text.split(sign).collect();
        let two = |part: &&str| matches!(part.len(), 1 | 2) && is_whole(part);
        let [a, b, c] = &parts[..] else { return None };
        let numbers = [a, b].map(|part| part.parse::<u8>().unwrap_or(0));
        let fits = numbers.iter().all(|n| (1..=31).contains(n)) && numbers.iter().any(|n| *n <= 12);
        (two(a) && two(b) && c.len() == 2 && two(c) && fits).then_some(())
    };
    date::parse(text).is_some() || short(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str], numerals: Numerals) -> Option<Look> {
        let levels: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        look(&levels, &vec![1; levels.len()], levels.len(), numerals)
    }

    #[test]
    fn columns_look_like_what_most_of_their_texts_do() {
        let plain = |texts: &[&str]| of(texts, Numerals::default());
        let numerals = |decimal, thousands| Some(Look::Numerals { decimal, thousands });
        assert_eq!(plain(&["41,4", "40", "39,95"]), numerals(Some(','), None));
        assert_eq!(plain(&["0,125", "1,234"]), numerals(Some(','), None));
        assert_eq!(plain(&["2,345.67", "120.5"]), numerals(None, Some(',')));
        assert_eq!(plain(&["1,234,567", "1,234"]), numerals(None, Some(',')));
        assert_eq!(plain(&["1.234,5", "7,25"]), numerals(Some(','), Some('.')));
        assert_eq!(plain(&["1 234", "12"]), numerals(None, Some(' ')));
        assert_eq!(plain(&["1\u{202f}234,5", "12"]), numerals(Some(','), Some(' ')));
        assert_eq!(plain(&["1'234.50"]), numerals(None, Some('\'')));
        assert_eq!(plain(&["1,234", "5,678"]), Some(Look::DecimalOrThousands));
        assert_eq!(plain(&["5 %", "7,5 %"]), Some(Look::Percent));
        assert_eq!(plain(&["€5", "-€1,234.50", "7"]), Some(Look::Currency));
        assert_eq!(plain(&["5 EUR", "CHF 7", "$3"]), Some(Look::Currency));
        assert_eq!(plain(&["2024-01-31", "2024-02-01"]), Some(Look::Date));
        assert_eq!(plain(&["31.01.24", "1.2.24"]), Some(Look::Date));
        let numbers = |text: &dyn Fn(usize) -> String| (0..24).map(text).collect::<Vec<_>>();
        let many = |text: &dyn Fn(usize) -> String| {
            plain(&numbers(text).iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert_eq!(many(&|i| format!("{i} kg")), Some(Look::Unit("kg".into())));
        assert_eq!(many(&|i| format!("{i}kg")), Some(Look::Unit("kg".into())));
        assert_eq!(many(&|i| format!("{i}a")), None);
        assert_eq!(many(&|i| format!("{i}:30")), Some(Look::Time));
        // What was asked for stays.
        let comma = Numerals { decimal: ',', thousands: None };
        assert_eq!(of(&["1.234", "5.678,9"], comma), numerals(None, Some('.')));
        assert_eq!(of(&["1.5", "2.5"], comma), None);
    }

    #[test]
    fn categories_look_like_nothing() {
        for texts in [
            &["a", "b", "7"][..],
            &["<=50K", ">50K"],
            &["A91", "A92"],
            &["36 months", "60 months"],
            &["18-24", "25-34"],
            &["08:00", "09:00"],
            &["1.2.3", "1.2.4"],
            &["10.0.0.1", "10.0.0.2"],
            &["EUR", "USD", "kr"],
            &["yes", "no", "5 %"],
            &["12;5"],
        ] {
            assert_eq!(of(texts, Numerals::default()), None, "{texts:?}");
        }
    }

    #[test]
    fn codes_and_marks() {
        let codes = ["00501", "0", "10", "0.5", "-01", "00", "0a"].map(is_code);
        assert_eq!(codes, [true, false, false, false, false, true, false]);
        let marks = ["NA", "n/a", "NaN", "NULL", "?", "#N/A", "no", "0", ""].map(is_mark);
        assert_eq!(marks, [true, true, true, true, true, true, false, false, false]);
    }
}
