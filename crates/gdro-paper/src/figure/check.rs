//! What a figure has to be before it is drawn.

use std::collections::BTreeMap;

use super::axis::{LARGEST_POWER, apart};
use super::style::SHAPES;
use super::{Axis, Figure, Panel, STYLES, Scale, legend, text};

/// Why a figure cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A figure has 1 to 4 columns.
    #[error("{found} columns of panels; expected 1 to 4")]
    Columns {
        /// The number of columns.
        found: usize,
    },
    /// A figure has 1 to 12 panels.
    #[error("{found} panels; expected 1 to 12")]
    Panels {
        /// The number of panels.
        found: usize,
    },
    /// NaN and infinities have no place, and numbers beyond 1e300 no axis.
    #[error("panel {panel}, {what}: {value}; expected a finite number of at most 1e300")]
    Value {
        /// The letter of the panel.
        panel: String,
        /// Which number of the panel.
        what: String,
        /// The number.
        value: f64,
    },
    /// A band holds its line.
    #[error(
        "panel {panel}, {what}: a band from {low} to {high} around {value}; expected low ≤ value ≤ high"
    )]
    Band {
        /// The letter of the panel.
        panel: String,
        /// Which band of the panel.
        what: String,
        /// Its lower end.
        low: f64,
        /// The line.
        value: f64,
        /// Its upper end.
        high: f64,
    },
    /// The points of a curve come by increasing x.
    #[error("panel {panel}, {what}: x = {x} after {before}; expected points by increasing x")]
    Order {
        /// The letter of the panel.
        panel: String,
        /// Which point of the panel.
        what: String,
        /// Its x.
        x: f64,
        /// The x of the point before.
        before: f64,
    },
    /// A range goes up, and a logarithmic one holds positive numbers.
    #[error(
        "panel {panel}, {axis} axis: a range from {low} to {high}; expected two {expected}, the smaller one first and more than rounding apart"
    )]
    Range {
        /// The letter of the panel.
        panel: String,
        /// x or y.
        axis: char,
        /// Its start.
        low: f64,
        /// Its end.
        high: f64,
        /// Which numbers it takes.
        expected: &'static str,
    },
    /// A style is a number below [`STYLES`].
    #[error("panel {panel}, `{name}`: style {style}; expected one below {STYLES}")]
    Style {
        /// The letter of the panel.
        panel: String,
        /// The curve or dot.
        name: String,
        /// Its style.
        style: usize,
    },
    /// One name, one style: the legend is the same for all panels.
    #[error(
        "style {style} is that of `{one}` and of `{other}`; expected one style for each name and one name for each style"
    )]
    Shared {
        /// The style, or one of two that a name has.
        style: usize,
        /// A name.
        one: String,
        /// Another, or the same name, which has another style as well.
        other: String,
    },
    /// A text holds only what can be drawn.
    #[error("`{text}` holds {character:?}; expected characters of DejaVu Sans but for $")]
    Character {
        /// The text.
        text: String,
        /// The first character that cannot be drawn.
        character: char,
    },
    /// An SVG could not be turned into pixels.
    #[error("the picture cannot be drawn: {message}")]
    Picture {
        /// Why.
        message: String,
    },
}

/// The letter of the `i`th panel in brackets.
pub fn letter(i: usize) -> String {
    format!("({})", char::from(b'a' + (i % 26) as u8))
}

/// Refuses a figure that cannot be drawn, with the first thing that is wrong.
pub fn figure(figure: &Figure) -> Result<(), Error> {
    if !(1..=4).contains(&figure.columns) {
        return Err(Error::Columns { found: figure.columns });
    }
    if !(1..=12).contains(&figure.panels.len()) {
        return Err(Error::Panels { found: figure.panels.len() });
    }
    legible(&figure.title)?;
    for (i, panel) in figure.panels.iter().enumerate() {
        self::panel(panel, &letter(i))?;
    }
    let all = || figure.panels.iter().flat_map(|p| &p.curves);
    let curves = |bound| all().filter(move |c| c.bound == bound);
    one_name(curves(false).map(|c| (c.style, c.name.as_str(), c.style)))?;
    one_name(curves(true).map(|c| (c.style, c.name.as_str(), c.style)))?;
    let names = legend::dots(figure);
    let shape = |name: &str| names.iter().position(|dot| *dot == name).map(|i| i % SHAPES);
    let dots = figure.panels.iter().flat_map(|p| &p.dots);
    one_name(dots.map(|d| ((d.style, shape(&d.name)), d.name.as_str(), d.style)))?;
    // Of curves the legend shows the dashes, so that a name has one style only.
    let mut styles: BTreeMap<&str, usize> = BTreeMap::new();
    for curve in curves(false).filter(|c| !c.name.is_empty()) {
        if *styles.entry(&curve.name).or_insert(curve.style) != curve.style {
            let name = curve.name.clone();
            return Err(Error::Shared { style: curve.style, one: name.clone(), other: name });
        }
    }
    Ok(())
}

/// Things that look the same have the same name; things without a name can look like any other.
fn one_name<'a, L: Ord>(things: impl Iterator<Item = (L, &'a str, usize)>) -> Result<(), Error> {
    let mut names: BTreeMap<L, &str> = BTreeMap::new();
    for (look, name, style) in things.filter(|(_, name, _)| !name.is_empty()) {
        let one = *names.entry(look).or_insert(name);
        if one != name {
            return Err(Error::Shared { style, one: one.into(), other: name.into() });
        }
    }
    Ok(())
}

fn panel(panel: &Panel, letter: &str) -> Result<(), Error> {
    let finite =
        |what: &dyn Fn() -> String, values: &[f64]| match values.iter().find(|v| !drawable(**v)) {
            Some(&value) => Err(Error::Value { panel: letter.into(), what: what(), value }),
            None => Ok(()),
        };
    let band = |what: &dyn Fn() -> String, low, value, high| {
        finite(what, &[low, value, high])?;
        let holds = low <= value && value <= high;
        holds.then_some(()).ok_or_else(|| Error::Band {
            panel: letter.into(),
            what: what(),
            low,
            value,
            high,
        })
    };
    let styled = |name: &str, style: usize| {
        let known = style < STYLES;
        known.then_some(()).ok_or_else(|| Error::Style {
            panel: letter.into(),
            name: name.into(),
            style,
        })
    };
    let curves = panel.curves.iter().map(|c| &c.name);
    let names = curves
        .chain(panel.levels.iter().map(|l| &l.name))
        .chain(panel.marks.iter().map(|m| &m.name));
    let names = names.chain(panel.dots.iter().map(|d| &d.name));
    for text in [&panel.title, &panel.x.label, &panel.y.label].into_iter().chain(names) {
        legible(text)?;
    }
    range(&panel.x, 'x', letter)?;
    range(&panel.y, 'y', letter)?;
    for curve in &panel.curves {
        styled(&curve.name, curve.style)?;
        for (i, point) in curve.points.iter().enumerate() {
            let what = || format!("point {} of curve `{}`", i + 1, curve.name);
            finite(&what, &[point.x])?;
            band(&what, point.low, point.median, point.high)?;
            let before = if i == 0 { point.x } else { curve.points[i - 1].x };
            if before > point.x {
                return Err(Error::Order {
                    panel: letter.into(),
                    what: what(),
                    x: point.x,
                    before,
                });
            }
        }
    }
    for level in &panel.levels {
        band(&|| format!("level `{}`", level.name), level.low, level.value, level.high)?;
    }
    for mark in &panel.marks {
        finite(&|| format!("mark `{}`", mark.name), &[mark.x])?;
    }
    for dot in &panel.dots {
        styled(&dot.name, dot.style)?;
        finite(&|| format!("dot `{}`", dot.name), &[dot.x, dot.y])?;
    }
    Ok(())
}

fn drawable(value: f64) -> bool {
    value.abs() <= 10f64.powf(LARGEST_POWER)
}

fn range(axis: &Axis, name: char, letter: &str) -> Result<(), Error> {
    let Some((low, high)) = axis.range else { return Ok(()) };
    let (least, expected) = match axis.scale {
        Scale::Linear => (f64::NEG_INFINITY, "finite numbers"),
        Scale::Log => (0.0, "positive finite numbers"),
    };
    if low > least && apart(low, high) && drawable(low) && drawable(high) {
        return Ok(());
    }
    Err(Error::Range { panel: letter.into(), axis: name, low, high, expected })
}

fn legible(text: &str) -> Result<(), Error> {
    let lacks = |character| Error::Character { text: text.into(), character };
    text::missing(text).map_or(Ok(()), |character| Err(lacks(character)))
}
