//! Figures: panels of curves with bands, as SVG and PNG.
//!
//! [`svg`] draws a [`Figure`], seven inches wide (five with one column), in letters of 8 to 10 pt,
//! and [`png`] turns that text into pixels, so that both are the same picture. Colours can be told
//! apart by colour-blind readers, and each comes with a dash pattern of its own for grey print. The
//! same figure gives the same bytes on every machine: no font of the system is used.
//!
//! Crates: `kuva` (MIT) is a plotting crate that is alive, light without its features, and works in
//! fractions of a pixel with real dashes and frames. `plotters`, last released in 2024, rounds to
//! whole pixels and cuts dashes into segments. Of `kuva` the scene and the writer of SVG are used;
//! its grid takes margins panel by panel, so that columns do not line up, and its ticks of a
//! logarithmic axis cannot be chosen. `resvg` makes the pixels, with the font DejaVu Sans out of
//! `dejavu` (the font has the permissive licence of Bitstream Vera), which has all sub- and
//! superscripts.

mod axis;
mod canvas;
mod check;
mod legend;
mod page;
mod panel;
mod parts;
mod style;
mod text;
mod ticks;

use resvg::{tiny_skia, usvg};

pub use check::Error;
pub use parts::{Axis, Band, Curve, Dot, Figure, Level, Mark, Panel, Scale};
pub use style::STYLES;

/// Draws a figure as SVG. The same figure gives the same text.
///
/// # Errors
/// What is wrong with the figure and where: a number that is not finite, a band that does not hold
/// its line, points out of order, a range that is none, a character that the font lacks, two names
/// of one style.
///
/// # Examples
/// ```
/// use gdro_paper::figure::{Axis, Band, Curve, Figure, Panel, Scale, svg};
///
/// let band = |x: f64, y: f64| Band { x, low: 0.9 * y, median: y, high: 1.1 * y };
/// let points = (1..1000).map(f64::from).map(|t| band(t, 1.0 / t.sqrt())).collect();
/// let curve = Curve { name: "SMD(m)".into(), points, ..Default::default() };
/// let axis = |label: &str| Axis { label: label.into(), scale: Scale::Log, range: None };
/// let (x, y) = (axis("round t"), axis("gap"));
/// let panel = Panel { x, y, curves: vec![curve], ..Default::default() };
/// let text = svg(&Figure { title: "Gap".into(), columns: 1, panels: vec![panel] }).unwrap();
/// assert!(text.starts_with("<svg") && text.contains(">10²</text>"));
/// ```
pub fn svg(figure: &Figure) -> Result<String, Error> {
    check::figure(figure)?;
    Ok(page::draw(figure))
}

/// Pixels in the image for one unit of the drawing (1/96 inch): 192 dots per inch.
const ZOOM: f32 = 2.0;

/// The picture that an SVG shows, as the bytes of a PNG file of 192 dots per inch.
///
/// Text is drawn in DejaVu Sans, whatever font it asks for.
///
/// # Errors
/// [`Error::Picture`] if the text is no SVG, or of a size that no image can have.
pub fn png(svg: &str) -> Result<Vec<u8>, Error> {
    let failed = |message: String| Error::Picture { message };
    let options = usvg::Options {
        font_family: text::FAMILY.into(),
        fontdb: text::fonts(),
        ..Default::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| failed(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(ZOOM);
    let pixels = size.and_then(|size| tiny_skia::Pixmap::new(size.width(), size.height()));
    let mut pixels = pixels.ok_or_else(|| failed("its size is that of no image".into()))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(ZOOM, ZOOM), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(error.to_string()))
}
