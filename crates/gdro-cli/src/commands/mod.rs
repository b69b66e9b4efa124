//! The commands, one file each.

mod args;
pub mod certify;
pub mod evaluate;
pub mod fit;
pub mod inspect;
pub mod predict;
pub mod reproduce;
pub mod select;
pub mod show;
