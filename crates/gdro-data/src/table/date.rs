//! Dates as days.

use serde::{Deserialize, Serialize};

/// Which of two numbers before a year is the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DateOrder {
    /// The first: `31/01/2024`.
    #[serde(rename = "dmy")]
    DayFirst,
    /// The second: `01/31/2024`.
    #[serde(rename = "mdy")]
    MonthFirst,
}

impl DateOrder {
    /// The order of a name: `dmy` or `mdy`.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        match name {
            "dmy" => Some(DateOrder::DayFirst),
            "mdy" => Some(DateOrder::MonthFirst),
            _ => None,
        }
    }
}

/// The dates that are read, in words.
pub(crate) const FORMATS: &str = "2024-01-31, 2024/01/31, 20240131, 31.01.2024, 31/01/2024, 01/31/2024 or 31 Jan 2024, with or \
     without a time such as 13:45:30";

/// Days since 1970-01-01, with the time of the day as a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Days {
    /// The only meaning.
    Known(f64),
    /// As day, month, year and as month, day, year, where there is such a day.
    Order(Option<f64>, Option<f64>),
}

impl Days {
    /// The days under an order; where there is one meaning, that.
    pub(crate) fn under(self, order: Option<DateOrder>) -> Option<f64> {
        match (self, order) {
            (Days::Known(days), _) => Some(days),
            (Days::Order(days, _), Some(DateOrder::DayFirst)) => days,
            (Days::Order(_, days), Some(DateOrder::MonthFirst)) => days,
            (Days::Order(..), None) => None,
        }
    }
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The date that a text is, with or without a time; a time with a zone is taken to UTC.
pub(crate) fn parse(text: &str) -> Option<Days> {
    let (date, time) = split_time(text);
    let fraction = match time {
        Some(time) => time_of_day(time)?,
        None => 0.0,
    };
    let add = |days: f64| days + fraction;
    Some(match day(date)? {
        Days::Known(days) => Days::Known(add(days)),
        Days::Order(a, b) => Days::Order(a.map(add), b.map(add)),
    })
}

/// A date and what follows it, which has a colon: a blank may stand inside of a date, too.
fn split_time(text: &str) -> (&str, Option<&str>) {
    let Some(colon) = text.find(':') else { return (text, None) };
    match text[..colon].rfind(['T', ' ']) {
        Some(at) => (text[..at].trim_end(), Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// `HH:MM[:SS[.fff]][Z|±HH[:MM]]` as a fraction of the day.
pub(crate) fn time_of_day(text: &str) -> Option<f64> {
    let (clock, zone) = match text.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, 0.0),
        None => match text.rfind(['+', '-']) {
            Some(at) => {
                let sign = if text[at..].starts_with('+') { 1.0 } else { -1.0 };
                let (hours, minutes) = text[at + 1..].split_at_checked(2)?;
                let minutes = minutes.strip_prefix(':').unwrap_or(minutes);
                let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2, 59)? };
                let minutes = 60 * digits(hours, 2, 23)? + minutes;
                (&text[..at], sign * f64::from(minutes) / 1440.0)
            }
            None => (text, 0.0),
        },
    };
    let mut parts = clock.trim_end().split(':');
    let (hours, minutes) = (parts.next()?, parts.next()?);
    if hours.is_empty() || hours.len() > 2 {
        return None;
    }
    let (hours, minutes) = (digits(hours, hours.len(), 23)?, digits(minutes, 2, 59)?);
    let seconds = match parts.next() {
        Some(seconds) => {
            let (whole, rest) = seconds.split_at_checked(2)?;
            let fine = rest.is_empty()
                || rest[1..].bytes().all(|b| b.is_ascii_digit())
                    && (rest.starts_with('.') || rest.starts_with(','));
            let rest =
                if rest.is_empty() { 0.0 } else { format!("0.{}", &rest[1..]).parse().ok()? };
            f64::from(digits(whole, 2, 60).filter(|_| fine)?) + rest
        }
        None => 0.0,
    };
    let seconds = f64::from(60 * (60 * hours + minutes)) + seconds;
    parts.next().is_none().then_some(seconds / 86_400.0 - zone)
}

/// A whole number of so many digits.
fn digits(text: &str, length: usize, most: u32) -> Option<u32> {
    let fits = text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|v| fits && *v <= most)
}

fn day(text: &str) -> Option<Days> {
    if text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit()) {
        return known(number(&text[..4], 4)?, number(&text[4..6], 2)?, number(&text[6..], 2)?);
    }
    if let Some(days) = with_month_name(text) {
        return Some(days);
    }
    let sign = text.chars().find(|c| matches!(c, '-' | '/' | '.'))?;
    let parts: Vec<&str> = text.split(sign).collect();
    let [a, b, c] = parts[..] else { return None };
    if let Some(year) = number(a, 4) {
        return known(year, short(b)?, short(c)?);
    }
    let (first, second, year) = (short(a)?, short(b)?, number(c, 4)?);
    let (day_first, month_first) = (days(year, second, first), days(year, first, second));
    match (sign, day_first, month_first) {
        (_, None, None) => None,
        // With points the day comes first wherever they are used.
        ('.', days, _) => days.map(Days::Known),
        (_, Some(a), Some(b)) if a == b => Some(Days::Known(a)),
        (_, day_first, month_first) => Some(Days::Order(day_first, month_first)),
    }
}

/// `31 Jan 2024`, `31-JAN-2024`, `31jan2024`, `January 31, 2024`.
fn with_month_name(text: &str) -> Option<Days> {
    let start = text.find(|c: char| c.is_ascii_alphabetic())?;
    let end =
        text[start..].find(|c: char| !c.is_ascii_alphabetic()).map_or(text.len(), |n| start + n);
    let name = text[start..end].to_ascii_lowercase();
    let month = 1 + MONTHS.iter().position(|m| name.get(..3) == Some(m))? as u32;
    if name.len() > 3 && !FULL[month as usize - 1].eq_ignore_ascii_case(&name) {
        return None;
    }
    let between = |c: char| matches!(c, ' ' | '-' | ',' | '.' | '/');
    let (before, after) = (text[..start].trim_matches(between), text[end..].trim_matches(between));
    if before.is_empty() {
        let (day, year) = after.split_once(between)?;
        return known(number(year.trim_matches(between), 4)?, month, short(day)?);
    }
    known(number(after, 4)?, month, short(before)?)
}

const FULL: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A number of exactly so many digits.
fn number(text: &str, length: usize) -> Option<u32> {
    digits(text, length, u32::MAX)
}

/// A number of one or two digits.
fn short(text: &str) -> Option<u32> {
    number(text, 1).or_else(|| number(text, 2))
}

fn known(year: u32, month: u32, day: u32) -> Option<Days> {
    days(year, month, day).map(Days::Known)
}

/// Days from 1970-01-01 to a day of the Gregorian calendar (Hinnant's days_from_civil); `None` when
/// there is no such day.
fn days(year: u32, month: u32, day: u32) -> Option<f64> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let most = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=most).contains(&day) || year == 0 {
        return None;
    }
    // Years start in March, so that the day that leap years add is their last.
    let year = i64::from(year) - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * i64::from((month + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    let of_era = 365 * of_era + of_era / 4 - of_era / 100 + of_year;
    Some((era * 146_097 + of_era - 719_468) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // Counted day by day, with the lengths of months as a table.
        let mut expected = 0.0;
        for year in 1970..2105u32 {
            let leap = u32::from(year % 4 == 0 && year != 2100);
            let lengths = [31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in (1..).zip(lengths) {
                for day in 1..=length {
                    let text = format!("{year}-{month:02}-{day:02}");
                    assert_eq!(parse(&text), Some(Days::Known(expected)), "{text}");
                    expected += 1.0;
                }
                assert_eq!(days(year, month, length + 1), None);
            }
        }
        assert_eq!(days(1969, 12, 31), Some(-1.0));
        assert_eq!(days(1900, 2, 29), None);
        assert_eq!(days(1900, 3, 1), days(1900, 2, 28).map(|d| d + 1.0));
        assert_eq!(days(2000, 1, 1), Some(10_957.0));
    }

    #[test]
    fn dates_have_many_forms() {
        let known = Some(Days::Known(10_957.0));
        for text in [
            "2000-01-01",
            "2000/01/01",
            "2000-1-1",
            "20000101",
            "01.01.2000",
            "1.1.2000",
            "01/01/2000",
            "1 Jan 2000",
            "01-JAN-2000",
            "01JAN2000",
            "January 1, 2000",
            "Jan 1 2000",
            "2000-01-01T00:00:00Z",
            "2000-01-01 00:00",
            "1 January 2000 0:00",
            "2000-01-01T05:30:00+05:30",
            "1999-12-31T19:00-05",
        ] {
            assert_eq!(parse(text), known, "{text}");
        }
        assert_eq!(parse("2000-01-01 12:00:00"), Some(Days::Known(10_957.5)));
        assert_eq!(parse("2000-01-01T00:00:43.2"), Some(Days::Known(10_957.000_5)));
        let order = parse("02/01/2000").unwrap();
        assert_eq!(order, Days::Order(Some(10_958.0), Some(10_988.0)));
        assert_eq!(order.under(Some(DateOrder::MonthFirst)), Some(10_988.0));
        assert_eq!(parse("31/01/2000"), Some(Days::Order(Some(10_987.0), None)));
        for text in [
            "",
            "2000",
            "2000-13-01",
            "2000-02-30",
            "1.2.3",
            "12:30",
            "1/2/00",
            "01-02",
            "Janua 1, 2000",
            "2000-01-01x",
            "2000-01-01 25:00",
            "32.01.2000",
            "2000-01-01-01",
            "1.5",
            "2000-01-01 1:2",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
