//! The font of all figures: widths of texts, and where to break them.

use std::sync::{Arc, LazyLock};

use resvg::usvg::fontdb;
use ttf_parser::Face;

/// The name of the embedded font.
pub const FAMILY: &str = "DejaVu Sans";

/// What an SVG asks for: fonts of the same widths come first, for viewers that lack the first.
pub const FAMILIES: &str = "DejaVu Sans, Bitstream Vera Sans, Verdana, sans-serif";

/// Size in pixels of 1/96 inch, and weight.
#[derive(Clone, Copy, Debug)]
pub struct Font {
    /// Height of an em.
    pub size: u32,
    /// Bold rather than regular.
    pub bold: bool,
}

/// The title of a figure.
pub const TITLE: Font = Font { size: 13, bold: true };
/// The letter of a panel.
pub const LETTER: Font = Font { size: 12, bold: true };
/// Titles of panels and labels of axes.
pub const LABEL: Font = Font { size: 12, bold: false };
/// Numbers at ticks, and names in the legend.
pub const SMALL: Font = Font { size: 11, bold: false };

impl Font {
    /// From one line of text to the next.
    pub fn line(self) -> f64 {
        f64::from(self.size) * 1.25
    }

    /// The length of a line of text.
    pub fn width(self, text: &str) -> f64 {
        let face = if self.bold { &*BOLD } else { &*REGULAR };
        let advance =
            |c| face.glyph_index(c).and_then(|glyph| face.glyph_hor_advance(glyph)).unwrap_or(0);
        let units: f64 = text.chars().map(|c| f64::from(advance(c))).sum();
        units * f64::from(self.size) / f64::from(face.units_per_em())
    }

    /// The text in lines of at most this width: broken at spaces, inside a word only if that alone
    /// is too wide.
    pub fn wrap(self, text: &str, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            if let Some(last) = lines.last_mut() {
                let longer = format!("{last} {word}");
                if self.width(&longer) <= width {
                    *last = longer;
                    continue;
                }
            }
            let mut piece = String::new();
            for c in word.chars() {
                piece.push(c);
                if self.width(&piece) > width && piece.chars().nth(1).is_some() {
                    piece.pop();
                    lines.push(std::mem::replace(&mut piece, c.to_string()));
                }
            }
            lines.push(piece);
        }
        lines
    }
}

/// A character of the text that cannot be drawn: one that the font lacks, or one that the writer of
/// SVG takes for the start of mathematics.
pub fn missing(text: &str) -> Option<char> {
    let drawn =
        |c: char| c != '$' && REGULAR.glyph_index(c).is_some() && BOLD.glyph_index(c).is_some();
    text.chars().find(|&c| !drawn(c))
}

/// The embedded font in both weights, for drawing.
pub fn fonts() -> Arc<fontdb::Database> {
    static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.load_font_data(dejavu::sans::bold().to_vec());
        Arc::new(fonts)
    });
    FONTS.clone()
}

static REGULAR: LazyLock<Face<'static>> = LazyLock::new(|| face(dejavu::sans::regular()));
static BOLD: LazyLock<Face<'static>> = LazyLock::new(|| face(dejavu::sans::bold()));

fn face(bytes: &'static [u8]) -> Face<'static> {
    Face::parse(bytes, 0).expect("the font is part of the program")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // Digits of DejaVu Sans are 1303 of 2048 units wide, those of the bold face 1425.
        assert!((SMALL.width("2024") - 4.0 * 11.0 * 1303.0 / 2048.0).abs() < 1e-12);
        assert!((TITLE.width("7") - 13.0 * 1425.0 / 2048.0).abs() < 1e-12);
    }

    #[test]
    fn long_text_is_broken_at_spaces_and_long_words_anywhere() {
        assert_eq!(LABEL.wrap("one two", 1e3), ["one two"]);
        assert_eq!(LABEL.wrap("one two", LABEL.width("one tw")), ["one", "two"]);
        assert_eq!(LABEL.wrap("abcd", LABEL.width("ab")), ["ab", "cd"]);
        assert_eq!(LABEL.wrap("ab", 0.0), ["a", "b"]);
        assert!(LABEL.wrap(" ", 10.0).is_empty());
    }

    #[test]
    fn subscripts_are_there_and_other_scripts_are_not() {
        assert_eq!(
            missing(
                "AT₃RO(m), SMPAₘ, SMDᵣ, AT₁RO(1)ₐ, Lₘₐₓ, xₖ, P₁₂, η, ε, 10⁻⁹, n̄, 1 − δ, ≤, ‖w‖₂, Σ"
            ),
            None
        );
        assert_eq!(missing("P\u{4e2d}"), Some('\u{4e2d}'));
        assert_eq!(missing("two\nlines"), Some('\n'));
        assert_eq!(missing("5 $"), Some('$'));
    }
}
