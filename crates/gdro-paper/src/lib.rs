//! The experiments of Zhang, Bai, Zhao, Yang and Zhou, "Stochastic Approximation Approaches to Group
//! Distributionally Robust Optimization and Beyond", with exact values beside every figure. The program
//! `gdro-paper` runs them.
//!
//! A folder holds what is to be done: [`Settings`] (`settings.toml`), problems (`problems/*.toml`)
//! and one [`Experiment`] per figure (`*.toml`). [`reproduce`] plays all runs of the experiments that
//! are asked for, under two step rules and over many seeds, keeps every finished run in a cache,
//! and returns figures, data and a report that judges the paper's claims. [`tune`] finds the steps of
//! the second rule before, and writes them beside the experiments (`tuning.csv`).

mod bands;
mod cache;
mod claims;
mod csv;
mod digits;
mod draw;
mod error;
mod experiment;
pub mod figure;
mod outcome;
mod problem;
mod quantity;
mod report;
mod reproduce;
mod run;
mod settings;
mod tune;

pub use error::{Error, Result};
pub use experiment::{Experiment, experiments};
pub use problem::Description;
pub use reproduce::{Order, Progress, Written, reproduce, tune};
pub use settings::Settings;
