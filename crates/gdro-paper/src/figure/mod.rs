//! Figures: panels of curves with bands, as SVG and PNG.
