//! Options of tables that are larger than memory.

use clap::Args;
use toml::Value;

use super::number;
use crate::job::Settings;

/// How a table is streamed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tables larger than memory")]
pub struct StreamArgs {
    /// Train in one pass over the table, with smd-r (the default), smd-m, smpa-m or hybrid, after a
    /// pass that counts and before one that certifies. The rows should be in random order: the
    /// order of the file is shuffled within the buffer only
    #[arg(long)]
    stream: bool,
    /// Of a stream: what an earlier run wrote as schema.json; spares the pass that counts
    #[arg(long, value_name = "FILE")]
    schema: Option<String>,
    /// Of a stream: rows that are shuffled at a time [default: 65536, fewer in wide tables]
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true, value_parser = number)]
    buffer: Option<Value>,
    /// Of a stream: no pass after training: no certificate, no evaluation
    #[arg(long)]
    one_pass: bool,
    /// Of a stream: train the robust model only, without ERM and balanced ERM beside it
    #[arg(long)]
    robust_only: bool,
}

impl StreamArgs {
    /// Adds the options that were given.
    pub fn give(&self, settings: &mut Settings) {
        settings.set_some("stream", self.stream.then_some(true));
        settings.set_some("schema", self.schema.clone());
        settings.set_some("buffer", self.buffer.clone());
        settings.set_some("one-pass", self.one_pass.then_some(true));
        settings.set_some("robust-only", self.robust_only.then_some(true));
    }
}
