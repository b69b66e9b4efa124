//! The page: the title, the legend, and the panels in a grid.

use super::axis::{across, upward};
use super::canvas::{Anchor, Canvas, Frame};
use super::legend::{self, Legend};
use super::panel::{self, Names, Placed, SPACE, TICK};
use super::text::{LABEL, LETTER, SMALL, TITLE};
use super::ticks::{self, Ticks, Way};
use super::{Figure, Panel};

/// Around everything.
const EDGE: f64 = 8.0;
/// Right of each panel: room for half of its last number.
const RIGHT: f64 = 12.0;
/// How far a label may reach beyond both ends of its axis.
const BEYOND: f64 = 16.0;
/// Between rows of panels.
const ROW: f64 = 10.0;
/// Between the title of a panel and its frame.
const UNDER: f64 = 5.0;

/// Width of the page, and height of a panel, by number of columns.
fn sizes(columns: usize) -> (f64, f64) {
    match columns {
        1 => (480.0, 280.0),
        2 => (672.0, 190.0),
        3 => (672.0, 150.0),
        _ => (672.0, 125.0),
    }
}

/// Draws a figure that was checked.
pub fn draw(figure: &Figure) -> String {
    let (page, tall) = sizes(figure.columns);
    let grid = Grid::new(figure, page, tall);
    let legend = Legend::new(figure, page - 2.0 * EDGE);
    let title = TITLE.wrap(&figure.title, page - 2.0 * EDGE);

    let mut top = EDGE + TITLE.line() * title.len() as f64;
    let under_title = top + if title.is_empty() { 0.0 } else { 3.0 };
    top = under_title + legend.height() + if legend.height() > 0.0 { 6.0 } else { 0.0 };
    let height = top
        + grid.rows.iter().map(Row::height).sum::<f64>()
        + ROW * (grid.rows.len() - 1) as f64
        + EDGE;

    let mut canvas = Canvas::new(page, height.ceil());
    for (i, line) in title.iter().enumerate() {
        let baseline = EDGE + TITLE.line() * i as f64 + 11.0;
        canvas.text(line, (page / 2.0, baseline), TITLE, Anchor::Middle);
    }
    legend.draw(&mut canvas, page / 2.0, under_title);
    grid.draw(&mut canvas, top);
    canvas.finish()
}

/// A row of panels: lines of its tallest title and x label, and the height of a frame.
struct Row {
    title: usize,
    label: usize,
    frame: f64,
}

impl Row {
    /// From the top of the row to the frames.
    fn above(&self) -> f64 {
        if self.title == 0 { UNDER } else { LABEL.line() * self.title as f64 + UNDER }
    }

    fn height(&self) -> f64 {
        self.above() + self.frame + panel::UNDER + LABEL.line() * self.label as f64
    }
}

/// A panel, its ticks, and its texts in lines.
struct Place<'a> {
    panel: &'a Panel,
    letter: Option<String>,
    title: Vec<String>,
    x_label: Vec<String>,
    y_label: Vec<String>,
    upward: Ticks,
}

impl Place<'_> {
    /// Left of the frame: the label, the numbers and the ticks.
    fn margin(&self) -> f64 {
        let numbers =
            self.upward.major.iter().map(|tick| SMALL.width(&tick.label)).fold(0.0, f64::max);
        let label = LABEL.line() * self.y_label.len() as f64;
        numbers + TICK + SPACE + if label > 0.0 { label + 2.0 } else { 4.0 }
    }
}

/// Everything but the legend and the title.
struct Grid<'a> {
    figure: &'a Figure,
    cells: Vec<Place<'a>>,
    rows: Vec<Row>,
    /// Left of the frames of each column.
    margins: Vec<f64>,
    /// Width of each frame.
    width: f64,
}

impl<'a> Grid<'a> {
    fn new(figure: &'a Figure, page: f64, tall: f64) -> Self {
        let columns = figure.columns.min(figure.panels.len());
        let cell = |(i, panel): (usize, &'a Panel)| {
            let row = &figure.panels
                [i - i % columns..(i - i % columns + columns).min(figure.panels.len())];
            let repeated = i % columns > 0 && row.iter().all(|p| p.y.label == panel.y.label);
            let y_label =
                if repeated { Vec::new() } else { LABEL.wrap(&panel.y.label, tall + 20.0) };
            let upward = ticks::choose(&upward(panel), tall, Way::Upward);
            let letter = (figure.panels.len() > 1).then(|| super::check::letter(i));
            Place { panel, letter, title: Vec::new(), x_label: Vec::new(), y_label, upward }
        };
        let mut cells: Vec<Place> = figure.panels.iter().enumerate().map(cell).collect();

        let margin = |column: usize| {
            cells.iter().skip(column).step_by(columns).map(Place::margin).fold(0.0, f64::max)
        };
        let margins: Vec<f64> = (0..columns).map(margin).collect();
        let frames =
            |right| (page - 2.0 * EDGE - margins.iter().sum::<f64>() - right) / columns as f64;
        let right = RIGHT * (columns - 1) as f64;
        let width = frames(right + RIGHT);
        // Nothing is right of the last column to share its margin with.
        let last = |panel| {
            let span = across(panel);
            let ticks = ticks::choose(&span, width, Way::Across);
            let end = |tick: &ticks::Tick| {
                SMALL.width(&tick.label) / 2.0
                    - width * (1.0 - span.place(tick.value).unwrap_or(0.0))
            };
            ticks.major.last().map_or(0.0, end)
        };
        let longest =
            figure.panels.iter().skip(columns - 1).step_by(columns).map(last).fold(RIGHT, f64::max);
        let width = frames(right + longest);

        for (i, cell) in cells.iter_mut().enumerate() {
            let column = || figure.panels.iter().skip(i % columns).step_by(columns);
            let repeated = i + columns < figure.panels.len()
                && column().all(|p| p.x.label == cell.panel.x.label);
            if !repeated {
                cell.x_label = LABEL.wrap(&cell.panel.x.label, width + 2.0 * BEYOND);
            }
            let letter = cell.letter.as_deref().map_or(0.0, |letter| LETTER.width(letter) + SPACE);
            cell.title = LABEL.wrap(&cell.panel.title, width + RIGHT - letter);
        }
        let row = |cells: &[Place]| Row {
            title: cells
                .iter()
                .map(|c| c.title.len().max(usize::from(c.letter.is_some())))
                .max()
                .unwrap_or(0),
            label: cells.iter().map(|c| c.x_label.len()).max().unwrap_or(0),
            frame: tall,
        };
        let rows = cells.chunks(columns).map(row).collect();
        Self { figure, cells, rows, margins, width }
    }

    fn draw(self, canvas: &mut Canvas, mut top: f64) {
        let names = Names {
            dots: legend::dots(self.figure),
            levels: legend::levels(self.figure),
            marks: legend::marks(self.figure),
        };
        let opacity = legend::opacity(self.figure);
        let mut cells = self.cells.into_iter();
        for row in &self.rows {
            let mut left = EDGE;
            for (margin, cell) in self.margins.iter().zip(&mut cells) {
                let frame = Frame {
                    left: left + margin,
                    top: top + row.above(),
                    width: self.width,
                    height: row.frame,
                };
                canvas.group("panel", |canvas| {
                    labels(canvas, &cell, frame, top, left);
                    let (x, y) = (across(cell.panel), upward(cell.panel));
                    let across = ticks::choose(&x, self.width, Way::Across);
                    let placed =
                        Placed { panel: cell.panel, frame, x, y, across, upward: cell.upward };
                    placed.draw(canvas, &names, opacity);
                });
                left += margin + self.width + RIGHT;
            }
            top += row.height() + ROW;
        }
    }
}

/// The letter, the title and the labels of a panel.
fn labels(canvas: &mut Canvas, cell: &Place, frame: Frame, top: f64, left: f64) {
    let mut start = frame.left;
    let baseline = |line: usize| top + LABEL.line() * line as f64 + 11.0;
    if let Some(letter) = &cell.letter {
        canvas.text(letter, (start, baseline(0)), LETTER, Anchor::Start);
        start += LETTER.width(letter) + SPACE;
    }
    for (i, line) in cell.title.iter().enumerate() {
        canvas.text(line, (start, baseline(i)), LABEL, Anchor::Start);
    }
    let middle = frame.left + frame.width / 2.0;
    let under = frame.top + frame.height + panel::UNDER;
    for (i, line) in cell.x_label.iter().enumerate() {
        canvas.text(line, (middle, under + LABEL.line() * i as f64 + 11.0), LABEL, Anchor::Middle);
    }
    let middle = frame.top + frame.height / 2.0;
    for (i, line) in cell.y_label.iter().enumerate() {
        canvas.upward(line, (left + LABEL.line() * i as f64 + 11.0, middle), LABEL);
    }
}
