//! Training by the program: solvers, losses, groups, selection, streams, public sets.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../gdro-data/tests/common/sets.rs"]
mod data;

mod adult;
mod bounds;
mod clusters;
mod constant;
mod groups;
mod held_out;
mod holdout;
mod losses;
mod nycflights;
mod path;
mod players;
mod repeated;
mod select;
mod sets;
mod solvers;
mod steps;
mod stream;
mod units;
mod verdict;
mod weighted;
