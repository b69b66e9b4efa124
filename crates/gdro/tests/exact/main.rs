//! Exact optima and certificates, losses and sets of models, and the example programs.

#[path = "../common/mod.rs"]
mod common;

mod certificates;
mod examples;
mod geometries;
mod geometry;
mod kept;
mod losses;
mod reference;
mod tilted;
mod wide;
