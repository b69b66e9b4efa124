//! Going on where a run was cut off.

use clap::Args;

/// Going on where a run was cut off.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct ResumeArg {
    /// Go on from the checkpoint in the folder of --out, where there is one, to the bits of a run that
    /// was never stopped; refused when the job or an input file has changed
    #[arg(long)]
    pub resume: bool,
}
