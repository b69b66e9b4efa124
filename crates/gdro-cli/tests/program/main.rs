//! The program: options, jobs, files, messages, signals.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../gdro-data/tests/common/sets.rs"]
mod data;
#[path = "../../../gdro-data/tests/common/formats.rs"]
mod tables;

mod ages;
mod browser;
mod cases;
mod checkpoint;
mod example;
mod export;
mod exports;
mod formats;
mod inspect;
mod interrupt;
mod job;
mod malformed;
mod malformed_formats;
mod outputs;
mod page;
mod remarks;
mod saved;
mod schema;
