//! Formats that hold columns with types: Parquet and Arrow IPC.

mod columns;
mod convert;
mod guard;
mod input;
mod ipc;
mod parquet;

pub(super) use ipc::Arrow;
pub(super) use parquet::Parquet;
