//! Lines, areas and text on the page, in pixels of 1/96 inch from the upper left corner.

use std::fmt::Write;

use kuva::backend::svg::SvgBackend;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

use super::text::{FAMILIES, Font};

/// Colour of text, frames and levels.
pub const INK: &str = "#222222";

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    /// An RGB colour.
    pub colour: &'static str,
    /// In pixels.
    pub width: f64,
    /// Dashes and gaps in pixels.
    pub dashes: Option<&'static str>,
}

/// Which part of a text is at the given place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// A page under construction.
pub struct Canvas {
    scene: Scene,
    frames: usize,
}

impl Canvas {
    /// A white page.
    pub fn new(width: f64, height: f64) -> Self {
        let mut scene = Scene::new(width, height);
        scene.font_family = Some(FAMILIES.into());
        scene.text_color = Some(INK.into());
        Self { scene, frames: 0 }
    }

    /// The page as SVG.
    pub fn finish(self) -> String {
        let text = SvgBackend::new().with_pretty(true).render_scene(&self.scene);
        // The writer leaves out what a page that shows the figure in another size needs.
        let (width, height) = (self.scene.width, self.scene.height);
        text.replacen("<svg ", &format!("<svg viewBox=\"0 0 {width} {height}\" "), 1)
    }

    /// Draws what belongs together, as a group of this class.
    pub fn group(&mut self, class: &str, draw: impl FnOnce(&mut Self)) {
        let extra_attrs = Some(format!("class=\"{class}\" stroke-linejoin=\"round\""));
        self.scene.add(Primitive::GroupStart { transform: None, title: None, extra_attrs });
        draw(self);
        self.scene.add(Primitive::GroupEnd);
    }

    /// Draws only what lies inside of a frame.
    pub fn inside(&mut self, frame: Frame, draw: impl FnOnce(&mut Self)) {
        let Frame { left, top, width, height } = frame;
        self.frames += 1;
        let id = format!("frame{}", self.frames);
        // The writer only refers to the frame: it has to be among the definitions.
        let sides =
            format!("x=\"{left:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"");
        self.scene.defs.push(format!("<clipPath id=\"{id}\"><rect {sides}/></clipPath>"));
        self.scene.add(Primitive::ClipStart { x: left, y: top, width, height, id });
        draw(self);
        self.scene.add(Primitive::ClipEnd);
    }

    /// A line through all points.
    pub fn line(&mut self, points: &[(f64, f64)], pen: Pen) {
        let path = PathData {
            d: path(points),
            fill: None,
            stroke: pen.colour.into(),
            stroke_width: pen.width,
            opacity: None,
            stroke_dasharray: pen.dashes.map(String::from),
        };
        self.scene.add(Primitive::Path(Box::new(path)));
    }

    /// The area inside a polygon.
    pub fn area(&mut self, corners: &[(f64, f64)], colour: &str, opacity: f64) {
        let path = PathData {
            d: path(corners) + "Z",
            fill: Some(colour.into()),
            stroke: "none".into(),
            stroke_width: 0.0,
            opacity: Some(opacity),
            stroke_dasharray: None,
        };
        self.scene.add(Primitive::Path(Box::new(path)));
    }

    /// A polygon, or a circle if it has no corners, with a white rim.
    pub fn shape(&mut self, (x, y): (f64, f64), radius: f64, corners: &[(f64, f64)], colour: &str) {
        if corners.is_empty() {
            self.scene.add(Primitive::Circle {
                cx: x,
                cy: y,
                r: radius,
                fill: colour.into(),
                fill_opacity: None,
                stroke: Some("#ffffff".into()),
                stroke_width: Some(0.8),
            });
            return;
        }
        let corners: Vec<_> =
            corners.iter().map(|(a, b)| (x + a * radius, y + b * radius)).collect();
        let path = PathData {
            d: path(&corners) + "Z",
            fill: Some(colour.into()),
            stroke: "#ffffff".into(),
            stroke_width: 0.8,
            opacity: None,
            stroke_dasharray: None,
        };
        self.scene.add(Primitive::Path(Box::new(path)));
    }

    /// A line of text on its baseline.
    pub fn text(&mut self, text: &str, at: (f64, f64), font: Font, anchor: Anchor) {
        self.write(text, at, font, anchor, None);
    }

    /// A line of text from bottom to top, its middle at the given place.
    pub fn upward(&mut self, text: &str, at: (f64, f64), font: Font) {
        self.write(text, at, font, Anchor::Middle, Some(-90.0));
    }

    fn write(
        &mut self,
        text: &str,
        (x, y): (f64, f64),
        font: Font,
        anchor: Anchor,
        rotate: Option<f64>,
    ) {
        let anchor = match anchor {
            Anchor::Start => TextAnchor::Start,
            Anchor::Middle => TextAnchor::Middle,
            Anchor::End => TextAnchor::End,
        };
        let (size, bold) = (font.size, font.bold);
        self.scene.add(Primitive::Text {
            x,
            y,
            content: text.into(),
            size,
            anchor,
            rotate,
            bold,
            color: None,
        });
    }
}

/// Points as the data of a path, in hundredths of a pixel.
fn path(points: &[(f64, f64)]) -> String {
    let mut data = String::with_capacity(points.len() * 14);
    for (i, (x, y)) in points.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(data, "{}{x:.2} {y:.2}", if i == 0 { 'M' } else { 'L' });
    }
    data
}
