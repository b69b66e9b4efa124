//! The paper's experiments: figures, whole calls, the program.

#[path = "../samples/mod.rs"]
mod samples;

mod figures;
mod program;
mod reproduce;
