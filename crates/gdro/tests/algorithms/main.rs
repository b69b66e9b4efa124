//! The algorithms: reference values, edge cases, unbiasedness, budgets, storage, resuming.

#[path = "../common/mod.rs"]
mod common;

mod ahead;
mod averages;
mod budgets;
mod cases;
mod golden;
mod resume;
mod storage;
mod unbiased;
