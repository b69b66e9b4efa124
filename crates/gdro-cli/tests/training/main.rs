//! Training by the program: solvers, losses, groups, selection, streams, public sets.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../gdro-data/tests/common/sets.rs"]
mod data;

mod adult;
mod bounds;
mod groups;
mod losses;
mod nycflights;
mod path;
mod players;
mod select;
mod sets;
mod solvers;
mod stream;
mod units;
