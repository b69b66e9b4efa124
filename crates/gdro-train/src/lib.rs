//! gdro as an application: what the program and the Python package share.
//!
//! | module | what it holds |
//! |---|---|
//! | [`options`] | every option once: name, kind, range, default, help, who uses it; named values and where each came from |
//! | [`job`] | a resolved job: what is trained, on which table, how |
//! | [`solve`] | a setting and a solver: the exact path and the rounds "until certified" |
//! | [`fit`] | from a job to a trained model and everything that is said about it |
//! | [`stream`] | the same for a table that need not fit in memory |
//! | [`select`] | choosing what bounds the weights on validation rows; the trade-off |
//! | [`verdict`] | whether a model does better than ordinary training on held-out rows |
//! | [`intervals`], [`cap`] | what held-out rows say, and what losses count as at most |
//! | [`classes`] | two classes on held-out rows: counts, rates and curves of a group |
//! | [`evaluate`], [`certify`], [`predict`] | a saved model on a table |
//! | [`model`], [`baseline`] | `model.json`, and what a model is judged against |
//! | [`numbers`] | numbers as tables and sentences show them |
//! | [`scales`] | features whose scale does not suit a stochastic solver |
//! | [`progress`] | what a run says while it works, and how it learns that it should stop |
//! | [`checkpoint`] | runs that go on where they were cut off |
//! | [`failure`], [`files`] | reasons to stop; files written whole or not at all |
//!
//! Nothing here prints or listens to signals: a front end gives a [`progress::Progress`], and shows a
//! [`failure::Failure`].

pub mod baseline;
pub mod cap;
pub mod certify;
pub mod checkpoint;
pub mod classes;
pub mod clusters;
pub mod constant;
pub mod evaluate;
pub mod evaluation;
pub mod facts;
pub mod failure;
pub mod files;
pub mod fit;
mod group_numbers;
pub mod intervals;
pub mod job;
pub mod model;
pub mod numbers;
pub mod options;
pub mod predict;
pub mod prepared;
pub mod progress;
pub mod scales;
pub mod scores;
pub mod select;
pub mod solve;
pub mod stream;
pub mod trace;
pub mod verdict;

pub use failure::{Failure, Result};
