//! What a figure is made of.

/// A figure: panels in a grid, row by row, and one legend for all of them, above the panels.
///
/// Things of the same name are the same thing, with one entry in the legend: curves of one name
/// have one style; bounds and dots of one name may have several, and the legend shows them in grey.
/// An empty name leaves the legend out. With more than one panel each gets a letter, (a), (b), and
/// so on. A label that all panels of a row (y) or column (x) share is written once.
///
/// Text is written as it is, in Unicode (P₁, η, 10⁻²); it may hold all that DejaVu Sans has but
/// `$`, which the writer would take for mathematics. Text that is too long for its place is
/// wrapped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Above everything; may be empty.
    pub title: String,
    /// Panels in a row: 1 to 4.
    pub columns: usize,
    /// 1 to 12 panels.
    pub panels: Vec<Panel>,
}

/// A pair of axes and what is drawn between them. Nothing at all gives an empty frame that says so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Above the panel; may be empty.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// Lines with bands, the first at the bottom.
    pub curves: Vec<Curve>,
    /// Horizontal lines, over the curves.
    pub levels: Vec<Level>,
    /// Vertical lines.
    pub marks: Vec<Mark>,
    /// Single points, on top.
    pub dots: Vec<Dot>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Beside the axis; may be empty.
    pub label: String,
    /// How values become lengths.
    pub scale: Scale,
    /// The least and the greatest value shown, or `None` for those of the data with a margin.
    ///
    /// Where the first tenth of the curves' points would make the y axis more than four times as
    /// long as the others need, `None` leaves them outside of the frame. A given range is widened
    /// to show every level, mark and dot: these cannot be lost.
    pub range: Option<(f64, f64)>,
}

/// How values become lengths along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences have equal lengths.
    #[default]
    Linear,
    /// Equal ratios have equal lengths. Points at zero or below have no place: they are left out,
    /// and the line has a gap there. A band whose lower end alone is not positive goes down to the
    /// frame.
    Log,
}

/// A line and a translucent band around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// For the legend.
    pub name: String,
    /// Colour and dash pattern, below [`STYLES`](super::STYLES); two names cannot share one, unless one is a
    /// bound.
    pub style: usize,
    /// A thin dotted line in the colour of `style`: a bound on the curve of that style.
    pub bound: bool,
    /// By increasing x.
    pub points: Vec<Band>,
}

impl Curve {
    /// Whether there is a band to draw.
    pub(super) fn banded(&self) -> bool {
        self.points.iter().any(|point| point.low < point.high)
    }
}

/// A point of a [`Curve`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Band {
    /// Place on the x axis.
    pub x: f64,
    /// The lower end of the band, at most `median`.
    pub low: f64,
    /// The line.
    pub median: f64,
    /// The upper end of the band, at least `median`; where all points have `low == high`, no band
    /// is drawn.
    pub high: f64,
}

/// A dashed horizontal line over the whole panel, such as an exact optimum, with a thin band.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// For the legend; each name has its own dashes.
    pub name: String,
    /// The line.
    pub value: f64,
    /// The lower end of the band, at most `value`.
    pub low: f64,
    /// The upper end of the band, at least `value`.
    pub high: f64,
}

/// A dashed vertical line over the whole panel, such as a preset number of rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// For the legend.
    pub name: String,
    /// Place on the x axis.
    pub x: f64,
}

/// A single point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dot {
    /// For the legend; each of the first four names has its own shape.
    pub name: String,
    /// Colour, below [`STYLES`](super::STYLES): that of the curve of this style.
    pub style: usize,
    /// Place on the x axis.
    pub x: f64,
    /// Place on the y axis.
    pub y: f64,
}
