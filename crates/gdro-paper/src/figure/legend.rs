//! The legend: one line for each name, for all panels.

use super::canvas::{Anchor, Canvas, INK, Pen};
use super::text::SMALL;
use super::{Curve, Figure, Panel, style};

/// What the sample beside a name shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A line of this style.
    Curve { style: usize, band: bool },
    /// A bound in the colour of this style, `None` if bounds of several styles have the name.
    Bound { style: Option<usize> },
    /// A dot of the shape of this number, in the colour of this style if there is one only.
    Dot { number: usize, style: Option<usize> },
    /// The level of this number.
    Level { number: usize, band: bool },
    /// The mark of this number.
    Mark { number: usize },
}

/// The names of a figure, each with what it is: curves first, then bounds, dots, levels and marks.
pub fn keys(figure: &Figure) -> Vec<(&str, Key)> {
    let panels = || figure.panels.iter();
    let mut keys: Vec<(&str, Key)> = Vec::new();
    for curve in panels().flat_map(|p| &p.curves).filter(|c| !c.bound) {
        // A band in one panel is enough for one in the legend.
        let banded =
            |p: &Panel| p.curves.iter().any(|c| c.name == curve.name && !c.bound && c.banded());
        let key = Key::Curve { style: curve.style, band: panels().any(banded) };
        add(&mut keys, &curve.name, key);
    }
    let bounds = || panels().flat_map(|p| &p.curves).filter(|c| c.bound);
    for Curve { name, .. } in bounds() {
        let style = only(bounds().filter(|c| c.name == *name).map(|c| c.style));
        add(&mut keys, name, Key::Bound { style });
    }
    let all = || panels().flat_map(|p| &p.dots);
    for (number, name) in dots(figure).into_iter().enumerate() {
        let style = only(all().filter(|d| d.name == name).map(|d| d.style));
        add(&mut keys, name, Key::Dot { number, style });
    }
    for (number, name) in levels(figure).into_iter().enumerate() {
        let banded = |p: &Panel| p.levels.iter().any(|l| l.name == name && l.low < l.high);
        add(&mut keys, name, Key::Level { number, band: panels().any(banded) });
    }
    for (number, name) in marks(figure).into_iter().enumerate() {
        add(&mut keys, name, Key::Mark { number });
    }
    keys
}

fn add<'a>(keys: &mut Vec<(&'a str, Key)>, name: &'a str, key: Key) {
    if !name.is_empty() && !keys.contains(&(name, key)) {
        keys.push((name, key));
    }
}

/// The style that all have.
fn only(mut styles: impl Iterator<Item = usize>) -> Option<usize> {
    let first = styles.next()?;
    styles.all(|style| style == first).then_some(first)
}

/// The names of all dots, each once: its place is the number of its shape.
pub fn dots(figure: &Figure) -> Vec<&str> {
    distinct(figure.panels.iter().flat_map(|p| &p.dots).map(|d| d.name.as_str()))
}

/// The names of all levels, each once: its place is the number of its dashes.
pub fn levels(figure: &Figure) -> Vec<&str> {
    distinct(figure.panels.iter().flat_map(|p| &p.levels).map(|l| l.name.as_str()))
}

/// The names of all marks, each once.
pub fn marks(figure: &Figure) -> Vec<&str> {
    distinct(figure.panels.iter().flat_map(|p| &p.marks).map(|m| m.name.as_str()))
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    names.fold(Vec::new(), |mut all, name| {
        if !all.contains(&name) {
            all.push(name);
        }
        all
    })
}

/// Between a sample and its name.
const SPACE: f64 = 5.0;
/// Between a name and the next sample.
const GAP: f64 = 18.0;

impl Key {
    /// Length of the sample: of lines, long enough to show any dashes twice.
    fn length(self) -> f64 {
        match self {
            Self::Curve { .. } | Self::Bound { .. } | Self::Level { .. } => 30.0,
            Self::Dot { .. } | Self::Mark { .. } => 12.0,
        }
    }
}

/// A name, in lines, and what it is.
struct Entry {
    lines: Vec<String>,
    key: Key,
}

/// The longest sample and the longest name of a column.
struct Column {
    sample: f64,
    name: f64,
}

impl Column {
    fn width(&self) -> f64 {
        self.sample + SPACE + self.name
    }
}

/// A legend in rows and columns.
pub struct Legend {
    entries: Vec<Entry>,
    columns: Vec<Column>,
    opacity: f64,
}

impl Legend {
    /// As many columns as the width has room for, filled evenly.
    pub fn new(figure: &Figure, width: f64) -> Self {
        let entry = |(name, key): (&str, Key)| Entry {
            lines: SMALL.wrap(name, width - key.length() - SPACE),
            key,
        };
        let entries: Vec<Entry> = keys(figure).into_iter().map(entry).collect();
        let columns = |n: usize| -> Vec<Column> {
            (0..n).map(|first| Self::column(entries.iter().skip(first).step_by(n))).collect()
        };
        let fits = |n: &usize| total(&columns(*n)) <= width;
        let most = (1..=entries.len()).rev().find(fits).unwrap_or(entries.len().min(1));
        let rows = entries.len().div_ceil(most.max(1)).max(1);
        // Fewer columns for as many rows, where these still fit.
        let even = (entries.len().div_ceil(rows)..=most).find(fits).unwrap_or(most);
        Self { columns: columns(even), opacity: opacity(figure), entries }
    }

    fn column<'a>(entries: impl Iterator<Item = &'a Entry>) -> Column {
        entries.fold(Column { sample: 0.0, name: 0.0 }, |column, entry| Column {
            sample: column.sample.max(entry.key.length()),
            name: entry.lines.iter().map(|line| SMALL.width(line)).fold(column.name, f64::max),
        })
    }

    /// Height of all rows.
    pub fn height(&self) -> f64 {
        self.rows().map(Self::tall).sum()
    }

    fn rows(&self) -> impl Iterator<Item = &[Entry]> {
        self.entries.chunks(self.columns.len().max(1))
    }

    fn tall(row: &[Entry]) -> f64 {
        let lines = row.iter().map(|entry| entry.lines.len()).max().unwrap_or(0);
        2.0 + SMALL.line() * lines as f64
    }

    /// Draws it in the middle of the page.
    pub fn draw(&self, canvas: &mut Canvas, middle: f64, top: f64) {
        let left = middle - total(&self.columns) / 2.0;
        let mut top = top;
        canvas.group("legend", |canvas| {
            for row in self.rows() {
                let mut x = left;
                for (entry, column) in row.iter().zip(&self.columns) {
                    let y = top + 1.0 + SMALL.line() / 2.0;
                    let start = x + (column.sample - entry.key.length()) / 2.0;
                    sample(canvas, entry.key, (start, y), self.opacity);
                    for (i, line) in entry.lines.iter().enumerate() {
                        let at = (x + column.sample + SPACE, y + 4.0 + SMALL.line() * i as f64);
                        canvas.text(line, at, SMALL, Anchor::Start);
                    }
                    x += column.width() + GAP;
                }
                top += Self::tall(row);
            }
        });
    }
}

fn total(columns: &[Column]) -> f64 {
    columns.iter().map(Column::width).sum::<f64>() + GAP * columns.len().saturating_sub(1) as f64
}

/// The pen of a curve.
pub fn curve(style: usize) -> Pen {
    Pen { colour: style::colour(style), width: 1.6, dashes: style::dashes(style) }
}

/// The colour of things of one style, or of several.
fn colour(style: Option<usize>) -> &'static str {
    style.map_or(GREY, style::colour)
}

/// The pen of a bound.
pub fn bound(style: Option<usize>) -> Pen {
    Pen { colour: colour(style), width: 1.4, dashes: Some(style::BOUND) }
}

/// The pen of a level.
pub fn level(number: usize) -> Pen {
    Pen { colour: INK, width: 1.1, dashes: Some(style::level(number)) }
}

/// The pen of a mark.
pub fn mark(number: usize) -> Pen {
    Pen { colour: GREY, width: 1.1, dashes: Some(style::level(number)) }
}

/// Colour of marks, and in the legend of what has several colours.
const GREY: &str = "#777777";

/// Opacity of bands: less where many lie on each other.
pub fn opacity(figure: &Figure) -> f64 {
    let banded = |panel: &Panel| panel.curves.iter().filter(|c| !c.bound && c.banded()).count();
    if figure.panels.iter().map(banded).max() > Some(5) { 0.1 } else { 0.2 }
}

/// Radius of a dot.
pub const DOT: f64 = 4.0;

fn sample(canvas: &mut Canvas, key: Key, (x, y): (f64, f64), opacity: f64) {
    let length = key.length();
    let line = [(x, y), (x + length, y)];
    let box_ =
        |half: f64| [(x, y - half), (x + length, y - half), (x + length, y + half), (x, y + half)];
    match key {
        Key::Curve { style, band } => {
            if band {
                canvas.area(&box_(4.5), style::colour(style), opacity);
            }
            canvas.line(&line, curve(style));
        }
        Key::Bound { style } => canvas.line(&line, bound(style)),
        Key::Dot { number, style } => {
            canvas.shape((x + length / 2.0, y), DOT, style::shape(number), colour(style))
        }
        Key::Level { number, band } => {
            if band {
                canvas.area(&box_(2.5), INK, opacity);
            }
            canvas.line(&line, level(number));
        }
        Key::Mark { number } => {
            let x = x + length / 2.0;
            canvas.line(&[(x, y - 6.0), (x, y + 6.0)], mark(number));
        }
    }
}
