//! Ticks: round numbers along an axis and how they are written.

use super::Scale;
use super::axis::Span;
use super::text::SMALL;

/// A tick with a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The value.
    pub value: f64,
    /// The value as text.
    pub label: String,
}

/// The ticks of an axis, by increasing value.
#[derive(Clone, Debug, Default)]
pub struct Ticks {
    /// With numbers; at least two on any axis that is longer than two labels.
    pub major: Vec<Tick>,
    /// Without numbers.
    pub minor: Vec<f64>,
}

/// The direction of an axis: numbers stand side by side, or one above another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The x axis.
    Across,
    /// The y axis.
    Upward,
}

/// Between two numbers, in pixels.
const GAP: f64 = 7.0;

/// As many numbers as are of use on one axis.
const MOST: usize = 8;

/// Chooses ticks for an axis of this length in pixels.
pub fn choose(span: &Span, pixels: f64, way: Way) -> Ticks {
    let fits = |ticks: &[Tick]| {
        ticks.len() >= 2 && ticks.len() <= MOST && apart(span, pixels, way, ticks, GAP)
    };
    let candidates = match span.scale {
        Scale::Linear => linear(span),
        Scale::Log => logarithmic(span).into_iter().chain(linear(span)).collect(),
    };
    let major = candidates.iter().find(|ticks| fits(ticks)).cloned();
    // An axis too short for any of them gets two numbers as far apart as can be.
    let major = major.unwrap_or_else(|| match candidates.iter().find(|ticks| ticks.len() >= 2) {
        Some(ticks) => vec![ticks[0].clone(), ticks[ticks.len() - 1].clone()],
        None => Vec::new(),
    });
    let minor = match span.scale {
        Scale::Linear => Vec::new(),
        Scale::Log => between(span, &major),
    };
    Ticks { major, minor }
}

/// Whether there is a gap between each number and the next.
fn apart(span: &Span, pixels: f64, way: Way, ticks: &[Tick], gap: f64) -> bool {
    let half = |tick: &Tick| match way {
        Way::Across => (SMALL.width(&tick.label) + gap) / 2.0,
        Way::Upward => SMALL.line() * 0.75,
    };
    let at = |tick: &Tick| span.place(tick.value).unwrap_or(0.0) * pixels;
    ticks.windows(2).all(|pair| at(&pair[1]) - at(&pair[0]) >= half(&pair[0]) + half(&pair[1]))
}

/// Multiples of 1, 2, 5 and, above ten, 2.5 times powers of ten, the densest first.
fn linear(span: &Span) -> Vec<Vec<Tick>> {
    let length = span.high - span.low;
    let first = (length / MOST as f64).log10().floor() as i32;
    let steps = (first..first + 3)
        .flat_map(|power| [(1.0, power), (2.0, power), (2.5, power), (5.0, power)]);
    // A quarter of one would need one decimal more than its neighbours.
    let short = |&(factor, power): &(f64, i32)| factor != 2.5 || power > 0;
    steps
        .filter(short)
        .map(|(factor, power)| multiples(span, factor, power))
        .filter(|ticks| ticks.len() <= MOST)
        .collect()
}

/// The multiples of factor · 10^power in the range, all with the same decimals.
fn multiples(span: &Span, factor: f64, power: i32) -> Vec<Tick> {
    let step = scaled(factor, power);
    // An end that is a multiple but for rounding is one.
    let first = (span.low / step - 1e-6).ceil();
    let last = (span.high / step + 1e-6).floor();
    if !(step > 0.0 && last - first < 100.0) {
        return Vec::new();
    }
    let values: Vec<f64> = (0..=(last - first).max(-1.0) as i64)
        .map(|i| scaled((first + i as f64) * factor, power))
        .collect();
    let largest = values.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    // Numbers of many digits share a power of ten.
    let shared = if largest >= 1e6 || (largest > 0.0 && largest < 1e-3) {
        largest.log10().floor() as i32
    } else {
        0
    };
    let decimals = (shared - power + i32::from(factor == 2.5)).max(0) as usize;
    let label = |&value: &f64| {
        let number = signed(format!("{:.decimals$}", scaled(value, -shared)));
        match () {
            () if shared == 0 => number,
            () if value == 0.0 => "0".into(),
            () => format!("{number}×{}", power_of_ten(shared)),
        }
    };
    values.iter().map(|value| Tick { value: *value + 0.0, label: label(value) }).collect()
}

/// Powers of ten, every one or every few, on two decades and more; 1, 2 and 5 or 1 and 3 times
/// these on less.
fn logarithmic(span: &Span) -> Vec<Vec<Tick>> {
    let (low, high) = (span.low.log10(), span.high.log10());
    let whole = |every: i32| {
        let first = (low - 1e-9).ceil() as i32;
        // Powers that every panel has in common, whatever its first decade.
        let first = first + (-first).rem_euclid(every);
        let powers = (first..=(high + 1e-9).floor() as i32).step_by(every as usize);
        powers.map(|power| Tick { value: scaled(1.0, power), label: power_of_ten(power) }).collect()
    };
    let few = |factors: &[u8]| {
        let decades = low.floor() as i32..=high.ceil() as i32;
        let all = decades.flat_map(|power| factors.iter().map(move |&factor| (factor, power)));
        let tick = |(factor, power)| Tick {
            value: scaled(f64::from(factor), power),
            label: short(factor, power),
        };
        let inside = |tick: &Tick| {
            tick.value >= span.low * (1.0 - 1e-9) && tick.value <= span.high * (1.0 + 1e-9)
        };
        all.map(tick).filter(inside).collect::<Vec<_>>()
    };
    if high - low >= 2.0 - 1e-9 {
        [1, 2, 3, 4, 5, 10, 20, 50, 100].map(whole).to_vec()
    } else {
        [&[1, 2, 5][..], &[1, 3], &[1]].map(few).to_vec()
    }
}

/// Ticks without numbers: 2 to 9 times powers of ten, or the powers themselves where not all have
/// numbers.
fn between(span: &Span, major: &[Tick]) -> Vec<f64> {
    let decades = span.high.log10() - span.low.log10();
    let factors: &[f64] = match decades {
        d if d <= 5.0 => &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
        d if d <= 30.0 => &[1.0],
        _ => &[],
    };
    let powers = span.low.log10().floor() as i32..=span.high.log10().ceil() as i32;
    let values = powers.flat_map(|power| factors.iter().map(move |&factor| scaled(factor, power)));
    let new = |v: &f64| major.iter().all(|tick| (tick.value / v - 1.0).abs() > 1e-9);
    values.filter(|v| *v >= span.low && *v <= span.high).filter(new).collect()
}

/// factor · 10^power, rounded once: 0.3 and not 0.30000000000000004.
fn scaled(factor: f64, power: i32) -> f64 {
    // Beyond 1e-300 the inverse would be infinite.
    match power {
        -300..0 => factor / 10f64.powi(-power),
        _ => factor * 10f64.powi(power),
    }
}

/// A small factor times a power of ten, in digits where these are few.
fn short(factor: u8, power: i32) -> String {
    match power {
        0..5 => format!("{factor}{}", "0".repeat(power as usize)),
        -3..0 => format!("0.{}{factor}", "0".repeat((-power - 1) as usize)),
        _ if factor == 1 => power_of_ten(power),
        _ => format!("{factor}×{}", power_of_ten(power)),
    }
}

/// 10 with its power as a superscript.
fn power_of_ten(power: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).unwrap_or(c),
    };
    format!("10{}", power.to_string().chars().map(digit).collect::<String>())
}

/// The number with a minus sign in place of a hyphen, and none for zero.
fn signed(number: String) -> String {
    match number.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.into(),
        Some(digits) => format!("−{digits}"),
        None => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64, pixels: f64) -> Vec<String> {
        let ticks = choose(&Span { scale, low, high }, pixels, Way::Across);
        ticks.major.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn plain_numbers_with_the_same_decimals() {
        let linear = |low, high| labels(Scale::Linear, low, high, 280.0);
        assert_eq!(linear(0.0, 0.5), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(linear(0.19, 0.41), ["0.20", "0.25", "0.30", "0.35", "0.40"]);
        assert_eq!(linear(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(linear(-1.0, 1.0), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(linear(0.0, 50_000.0), ["0", "10000", "20000", "30000", "40000", "50000"]);
        assert_eq!(linear(0.0, 3e6), ["0", "1×10⁶", "2×10⁶", "3×10⁶"]);
        assert_eq!(linear(1e-5, 4.2e-5), ["1×10⁻⁵", "2×10⁻⁵", "3×10⁻⁵", "4×10⁻⁵"]);
    }

    #[test]
    fn powers_of_ten_on_long_axes_and_few_digits_on_short_ones() {
        let log = |low, high| labels(Scale::Log, low, high, 200.0);
        assert_eq!(log(1.0, 2e4), ["10⁰", "10¹", "10²", "10³", "10⁴"]);
        let long = labels(Scale::Log, 3e-7, 2.0, 260.0);
        assert_eq!(long, ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
        assert_eq!(log(3e-13, 2.0), ["10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "10⁰"]);
        assert_eq!(log(0.04, 0.6), ["0.05", "0.1", "0.2", "0.5"]);
        assert_eq!(log(90.0, 1100.0), ["100", "200", "500", "1000"]);
        assert_eq!(log(0.91, 1.32), ["1.0", "1.1", "1.2", "1.3"]);
        assert_eq!(labels(Scale::Log, 1e3, 5e4, 110.0), ["1000", "10000"]);
    }

    #[test]
    fn two_numbers_at_least_that_do_not_touch_and_lie_inside() {
        for scale in [Scale::Linear, Scale::Log] {
            for decade in -9..9 {
                for start in 10..100 {
                    for ratio in [1.02, 1.3, 2.0, 4.4, 9.0, 30.0, 99.0, 1e3, 1e7] {
                        let low = f64::from(start) * 10f64.powi(decade);
                        let span = Span { scale, low, high: low * ratio };
                        for (pixels, way) in
                            [(110.0, Way::Across), (280.0, Way::Across), (125.0, Way::Upward)]
                        {
                            let Ticks { major, minor } = choose(&span, pixels, way);
                            assert!(major.len() >= 2, "{span:?} {pixels}: {major:?}");
                            assert!(major.windows(2).all(|pair| pair[0].value < pair[1].value
                                && pair[0].label != pair[1].label));
                            assert!(minor.windows(2).all(|pair| pair[0] < pair[1]));
                            let inside = |v: f64| {
                                span.place(v).is_some_and(|at| (-1e-4..1.0001).contains(&at))
                            };
                            assert!(
                                major.iter().all(|tick| inside(tick.value))
                                    && minor.iter().all(|&v| inside(v))
                            );
                            let narrow = way == Way::Across && pixels < 200.0 && ratio < 1.1;
                            assert!(
                                narrow
                                    || apart(
                                        &span,
                                        pixels,
                                        way,
                                        &major,
                                        if major.len() == 2 { 0.0 } else { GAP }
                                    ),
                                "{span:?} {pixels}: {major:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}
