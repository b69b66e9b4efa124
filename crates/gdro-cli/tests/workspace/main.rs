//! How the crates of the workspace are built: no circles of files, and dependencies as they are drawn.

mod architecture;
mod structure;
