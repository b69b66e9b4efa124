//! Tables to grouped samples.
