//! Colours, dash patterns and shapes.

/// Number of styles: each has its own pair of colour and dash pattern.
pub const STYLES: usize = 64;

/// Okabe and Ito's colours for colour-blind readers, of which yellow, too light for a line, and
/// black, the colour of levels, gave way to wine and olive of Tol's.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#999933"];

/// Lengths of dashes and gaps in pixels; the first is a full line.
const DASHES: [&str; 8] =
    ["", "7 2", "6 2 1.5 2", "3 1.6", "9 2 3 2", "1.3 1.5", "6 2 1.3 1.6 1.3 2", "11 3"];

/// Dashes of levels and of marks, by order of appearance; none is that of a curve of the first
/// styles.
const LEVELS: [&str; 3] = ["5 3", "2 2", "8 2 2 2"];

/// The dots of a bound.
pub const BOUND: &str = "1 2.2";

/// The colour of a style.
pub fn colour(style: usize) -> &'static str {
    COLOURS[style % COLOURS.len()]
}

/// The dashes of a style, `None` for a full line.
pub fn dashes(style: usize) -> Option<&'static str> {
    // The colours come again with other dashes: three is odd, so that eight turns give eight
    // patterns.
    let dash = DASHES[(style + 3 * (style / COLOURS.len())) % DASHES.len()];
    (!dash.is_empty()).then_some(dash)
}

/// The dashes of the `i`th level or mark.
pub fn level(i: usize) -> &'static str {
    LEVELS[i % LEVELS.len()]
}

/// Number of shapes.
pub const SHAPES: usize = 4;

/// The shape of dots of the `i`th name: corners about the origin for a radius of 1; a circle has
/// none.
pub fn shape(i: usize) -> &'static [(f64, f64)] {
    const SQUARE: [(f64, f64); 4] = [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)];
    const TRIANGLE: [(f64, f64); 3] = [(0.0, -1.2), (1.1, 0.75), (-1.1, 0.75)];
    const DIAMOND: [(f64, f64); 4] = [(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)];
    match i % SHAPES {
        0 => &[],
        1 => &SQUARE,
        2 => &TRIANGLE,
        _ => &DIAMOND,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_styles_look_the_same() {
        let looks: BTreeSet<_> = (0..STYLES).map(|style| (colour(style), dashes(style))).collect();
        assert_eq!(looks.len(), STYLES);
        let first: BTreeSet<_> = (0..8).map(dashes).collect();
        assert_eq!(first.len(), 8, "eight curves can be told apart without colours");
    }
}
