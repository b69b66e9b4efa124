//! One panel: grid, curves, levels, marks, dots, frame and numbers.

use super::axis::Span;
use super::canvas::{Anchor, Canvas, Frame, INK, Pen};
use super::text::SMALL;
use super::ticks::Ticks;
use super::{Curve, Panel, legend, style};

/// A panel and its place.
pub struct Placed<'a> {
    pub panel: &'a Panel,
    pub frame: Frame,
    pub x: Span,
    pub y: Span,
    pub across: Ticks,
    pub upward: Ticks,
}

/// The names of a figure: their places choose dashes and shapes.
pub struct Names<'a> {
    pub dots: Vec<&'a str>,
    pub levels: Vec<&'a str>,
    pub marks: Vec<&'a str>,
}

fn number(names: &[&str], name: &str) -> usize {
    names.iter().position(|other| *other == name).unwrap_or(0)
}

/// Length of a tick with a number.
pub const TICK: f64 = 4.0;
/// Between a tick and its number.
pub const SPACE: f64 = 3.0;
/// From a frame to below the numbers of its x axis, low enough for the lowest number of the y axis.
pub const UNDER: f64 = 21.0;

/// Places further off the frame than this are drawn here: nobody sees them, and numbers stay of a
/// size that all viewers can handle.
const FAR: f64 = 20_000.0;

impl Placed<'_> {
    /// Draws all but titles and labels.
    pub fn draw(&self, canvas: &mut Canvas, names: &Names, opacity: f64) {
        self.grid(canvas);
        canvas.inside(self.frame, |canvas| {
            self.bands(canvas, opacity);
            self.marks(canvas, &names.marks);
            for curve in &self.panel.curves {
                self.curve(canvas, curve);
            }
            self.levels(canvas, &names.levels);
        });
        for dot in &self.panel.dots {
            let shape = style::shape(number(&names.dots, &dot.name));
            if let Some(at) = self.at(dot.x, dot.y) {
                let draw = |canvas: &mut Canvas| {
                    canvas.shape(at, legend::DOT, shape, style::colour(dot.style))
                };
                canvas.group("dot", draw);
            }
        }
        self.axes(canvas);
        let nothing = self.panel.curves.iter().all(|c| c.points.is_empty())
            && self.panel.levels.is_empty()
            && self.panel.marks.is_empty()
            && self.panel.dots.is_empty();
        if nothing {
            let Frame { left, top, width, height } = self.frame;
            canvas.text("no data", (left + width / 2.0, top + height / 2.0), SMALL, Anchor::Middle);
        }
    }

    fn across(&self, x: f64) -> Option<f64> {
        let place = self.x.place(x)?;
        Some((self.frame.left + place * self.frame.width).clamp(-FAR, FAR))
    }

    fn upward(&self, y: f64) -> Option<f64> {
        let place = self.y.place(y)?;
        Some((self.frame.top + (1.0 - place) * self.frame.height).clamp(-FAR, FAR))
    }

    fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.across(x)?, self.upward(y)?))
    }

    fn bottom(&self) -> f64 {
        self.frame.top + self.frame.height
    }

    fn right(&self) -> f64 {
        self.frame.left + self.frame.width
    }

    fn grid(&self, canvas: &mut Canvas) {
        let pen = Pen { colour: "#e4e4e4", width: 0.7, dashes: None };
        canvas.group("grid", |canvas| {
            for x in self.across.major.iter().filter_map(|tick| self.across(tick.value)) {
                canvas.line(&[(x, self.frame.top), (x, self.bottom())], pen);
            }
            for y in self.upward.major.iter().filter_map(|tick| self.upward(tick.value)) {
                canvas.line(&[(self.frame.left, y), (self.right(), y)], pen);
            }
        });
    }

    /// The bands of all levels and curves lie below all lines.
    fn bands(&self, canvas: &mut Canvas, opacity: f64) {
        for level in self.panel.levels.iter().filter(|level| level.low < level.high) {
            let low = self.upward(level.low).unwrap_or(self.bottom());
            if let Some(high) = self.upward(level.high) {
                let (left, right) = (self.frame.left, self.right());
                canvas.area(
                    &[(left, low), (right, low), (right, high), (left, high)],
                    INK,
                    opacity,
                );
            }
        }
        for curve in self.panel.curves.iter().filter(|curve| !curve.bound && curve.banded()) {
            for run in self.runs(curve) {
                let corners =
                    run.iter().map(|p| (p.x, p.low)).chain(run.iter().rev().map(|p| (p.x, p.high)));
                let corners: Vec<_> = corners.collect();
                let draw = |canvas: &mut Canvas| {
                    canvas.area(&corners, style::colour(curve.style), opacity)
                };
                canvas.group("band", draw);
            }
        }
    }

    fn marks(&self, canvas: &mut Canvas, names: &[&str]) {
        for mark in &self.panel.marks {
            let number = number(names, &mark.name);
            if let Some(x) = self.across(mark.x) {
                let ends = [(x, self.frame.top), (x, self.bottom())];
                canvas.group("mark", |canvas| canvas.line(&ends, legend::mark(number)));
            }
        }
    }

    fn levels(&self, canvas: &mut Canvas, names: &[&str]) {
        for level in &self.panel.levels {
            let number = number(names, &level.name);
            if let Some(y) = self.upward(level.value) {
                let ends = [(self.frame.left, y), (self.right(), y)];
                canvas.group("level", |canvas| canvas.line(&ends, legend::level(number)));
            }
        }
    }

    fn curve(&self, canvas: &mut Canvas, curve: &Curve) {
        let pen =
            if curve.bound { legend::bound(Some(curve.style)) } else { legend::curve(curve.style) };
        canvas.group("curve", |canvas| {
            for run in self.runs(curve) {
                let points: Vec<_> = run.iter().map(|p| (p.x, p.median)).collect();
                match points[..] {
                    // A line of one point would not be seen.
                    [point] => canvas.shape(point, 2.6, &[], pen.colour),
                    _ => canvas.line(&points, pen),
                }
            }
        });
    }

    /// The points of a curve in pixels, in runs without a gap.
    fn runs(&self, curve: &Curve) -> Vec<Vec<super::Band>> {
        let mut runs = vec![Vec::new()];
        for point in &curve.points {
            let place = || {
                let x = self.across(point.x)?;
                let median = self.upward(point.median)?;
                let low = self.upward(point.low).unwrap_or(self.bottom());
                Some(super::Band { x, low, median, high: self.upward(point.high)? })
            };
            match place() {
                Some(place) => runs.last_mut().expect("there is one").push(place),
                None => runs.push(Vec::new()),
            }
        }
        runs.retain(|run| !run.is_empty());
        runs
    }

    fn axes(&self, canvas: &mut Canvas) {
        let Frame { left, top, .. } = self.frame;
        let (right, bottom) = (self.right(), self.bottom());
        let pen = Pen { colour: INK, width: 0.8, dashes: None };
        canvas
            .line(&[(left, top), (left, bottom), (right, bottom), (right, top), (left, top)], pen);
        let all = |ticks: &Ticks| -> Vec<(f64, f64)> {
            let major = ticks.major.iter().map(|tick| (tick.value, TICK));
            major.chain(ticks.minor.iter().map(|&value| (value, TICK / 2.0))).collect()
        };
        for (value, length) in all(&self.across) {
            if let Some(x) = self.across(value) {
                canvas.line(&[(x, bottom), (x, bottom + length)], pen);
            }
        }
        for (value, length) in all(&self.upward) {
            if let Some(y) = self.upward(value) {
                canvas.line(&[(left - length, y), (left, y)], pen);
            }
        }
        canvas.group("numbers", |canvas| {
            for tick in &self.across.major {
                if let Some(x) = self.across(tick.value) {
                    let y = bottom + UNDER - 4.0;
                    canvas.text(&tick.label, (x, y), SMALL, Anchor::Middle);
                }
            }
            for tick in &self.upward.major {
                if let Some(y) = self.upward(tick.value) {
                    canvas.text(&tick.label, (left - TICK - SPACE, y + 4.0), SMALL, Anchor::End);
                }
            }
        });
    }
}
