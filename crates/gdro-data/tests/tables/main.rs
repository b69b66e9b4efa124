//! From tables to grouped samples.

#[path = "../common/mod.rs"]
mod common;

mod adult;
mod blocks;
mod cases;
mod clusters;
mod columnar;
mod features;
mod folds;
mod groups;
mod inspect;
mod malformed;
mod speed;
mod splits;
mod svmlight;
