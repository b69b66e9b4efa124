//! Numbers as tables and sentences show them.

use serde::Serialize;

/// What does not exist.
pub const NONE: &str = "–";

/// How the numbers of a column are written: all alike, so that they can be compared at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// With so many decimals.
    Decimals(usize),
    /// With a digit, so many decimals and a power of ten, where decimals alone would not show the
    /// largest number or would be lost behind it.
    Scientific(usize),
}

impl Scale {
    /// The scale that shows the largest of some numbers with four digits or a few more.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let largest = values.into_iter().map(f64::abs).fold(0.0, f64::max);
        match largest {
            0.0 => Scale::Decimals(4),
            v if !(1e-5..1e7).contains(&v) => Scale::Scientific(3),
            v => Scale::Decimals((4 - (v.log10().floor() as i32 + 1).min(4)).max(0) as usize),
        }
    }

    /// The scale that shows two digits of a difference as small as `gap` between numbers as large
    /// as `value`, and at least four but at most twelve digits of these.
    pub fn precise(gap: f64, value: f64) -> Self {
        // Decimals to the second digit of the gap, and to the fourth and the twelfth of the value.
        let place = |v: f64| if v > 0.0 { v.log10().floor() as i32 } else { -1 };
        let (first, wanted) = (place(value.abs()), 1 - place(gap));
        let wanted = if gap > 0.0 { wanted } else { i32::MAX };
        let decimals = wanted.clamp(3 - first, 11 - first);
        match first {
            -5..7 => Scale::Decimals(decimals.max(0) as usize),
            _ => Scale::Scientific((decimals + first).max(0) as usize),
        }
    }

    /// Two ends of an interval.
    pub fn ends(self, low: f64, high: f64) -> String {
        format!("{} to {}", self.show(low), self.show(high))
    }

    /// A number.
    pub fn show(self, value: f64) -> String {
        let size = value.abs();
        let text = match self {
            Scale::Decimals(decimals) => format!("{size:.decimals$}"),
            Scale::Scientific(_) if value == 0.0 => "0".into(),
            Scale::Scientific(decimals) => format!("{size:.decimals$e}"),
        };
        let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
        if value < 0.0 && !is_zero { format!("−{text}") } else { text }
    }

    /// The change from `before` to `after`, with its sign; `=` when it does not show.
    pub fn change(self, before: f64, after: f64) -> String {
        let size = self.show((after - before).abs());
        if size == self.show(0.0) {
            return "=".into();
        }
        format!("{}{size}", if after > before { '+' } else { '−' })
    }

    /// A weight: one that is too small to show is not 0.
    pub fn weight(self, value: f64) -> String {
        let text = self.show(value);
        if value > 0.0 && text == self.show(0.0) {
            let last = text.len() - 1;
            return format!("<{}1", &text[..last]);
        }
        text
    }
}

/// A setting such as a penalty, with up to four digits: `1e-4`, `3.162e-4`, `0.5`, `20`.
pub fn setting(value: f64) -> String {
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if value == 0.0 || (1e-2..1e5).contains(&value.abs()) {
        let decimals = (3 - value.abs().max(1e-2).log10().floor() as i32).max(0) as usize;
        return trim(&format!("{value:.decimals$}"));
    }
    let text = format!("{value:.3e}");
    match text.split_once('e') {
        Some((digits, power)) => format!("{}e{power}", trim(digits)),
        None => text,
    }
}

/// A single risk.
pub fn risk(value: f64) -> String {
    Scale::of([value]).show(value)
}

/// A probability in per cent, without decimals that say nothing.
pub fn level(value: f64) -> String {
    // Ten digits are exact enough for a person and hide the rounding of 1 − delta.
    format!("{} %", (1e12 * value).round() / 1e10)
}

/// A share in per cent with one decimal. A share below 1 is not shown as 100 %, nor one above 0 as
/// 0 %.
pub fn percent(value: f64) -> String {
    let shown = if value < 1.0 { value.min(0.999) } else { value };
    let shown = if value > 0.0 { shown.max(0.001) } else { shown };
    format!("{:.1} %", 100.0 * shown)
}

/// A count with its thousands apart.
pub fn count(value: u64) -> String {
    gdro_data::number(value)
}

/// A number of things: `1 row`, `2,000 rows`.
pub fn counted(value: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(value), if value == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_scale() {
        let scale = Scale::of([0.4113, 0.0003]);
        assert_eq!(scale.show(0.0003), "0.0003");
        assert_eq!(scale.change(0.5, 0.4999), "−0.0001");
        assert_eq!(scale.change(0.5, 0.50001), "=");
        assert_eq!(scale.change(0.25, 0.5), "+0.2500");
        assert_eq!(scale.weight(1e-9), "<0.0001");
        assert_eq!(scale.weight(0.0), "0.0000");
    }

    #[test]
    fn the_scale_follows_the_largest_number() {
        let show = |value| Scale::of([value]).show(value);
        assert_eq!(show(0.0), "0.0000");
        assert_eq!(show(1.5), "1.500");
        assert_eq!(show(47.25), "47.25");
        assert_eq!(show(31415.9), "31416");
        assert_eq!(show(0.000_314_15), "0.0003142");
        assert_eq!(show(3e-9), "3.000e-9");
        assert_eq!(show(2.5e40), "2.500e40");
    }

    #[test]
    fn a_gap_is_shown_in_the_numbers_it_lies_between() {
        let show = |value, gap| Scale::precise(gap, value).show(value);
        assert_eq!(show(0.400_495_7, 3e-4), "0.40050");
        assert_eq!(show(0.400_495_7, 0.2), "0.4005");
        assert_eq!(show(12_266_623_160.869, 1.8e6), "1.22666e10");
        assert_eq!(show(1.075_6e-8, 6.3e-14), "1.0756000e-8");
        assert_eq!(show(0.5, 0.0), "0.500000000000");
        assert_eq!(show(0.0, 0.0), "0.000000000000");
        assert_eq!(Scale::Decimals(2).show(-0.001), "0.00");
    }

    #[test]
    fn settings_are_short() {
        let shown = [1e-6, 10f64.powf(-3.5), 0.01, 0.5, 1.0, 20.0, 12345.6, 1e6, 0.0].map(setting);
        assert_eq!(shown, ["1e-6", "3.162e-4", "0.01", "0.5", "1", "20", "12346", "1e6", "0"]);
    }

    #[test]
    fn shares_and_counts() {
        assert_eq!(percent(0.8271), "82.7 %");
        assert_eq!((percent(1.0), percent(0.9999)), ("100.0 %".into(), "99.9 %".into()));
        assert_eq!((percent(0.0), percent(0.0001)), ("0.0 %".into(), "0.1 %".into()));
        assert_eq!((level(1.0 - 0.05), level(0.999)), ("95 %".into(), "99.9 %".into()));
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(2000, "row"), "2,000 rows");
    }
}
