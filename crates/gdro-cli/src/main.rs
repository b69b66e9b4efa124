//! The program `gdro`.
fn main() {}
