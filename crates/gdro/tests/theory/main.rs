//! Theorems and statistics: steps, bounds, rates, intervals, and the table of docs/theory.md.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/games.rs"]
mod games;

mod bounds;
mod convergence;
mod coverage;
mod guarantees;
mod rates;
mod steps;
mod theory_doc;
mod verdict;
