//! Options that say how it is minimised.

use clap::Args;
use toml::Value;

use super::{ThreadsArg, number};
use crate::failure::{Failure, Result};
use crate::job::Settings;

/// How it is minimised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Solver")]
pub struct SolverArgs {
    /// exact; or rounds of the paper's smd-m, smd-m-single, online-1, smd-r, smpa-m, hybrid,
    /// atkro-m, atkro-k, atkro-1; of what it compares itself with, smd-1, smd-r-weighted,
    /// smd-reuse, smd-clip, exp3p, tinf, afl, mero; or beyond it, flexible, eliminate, adaptive; or
    /// auto: exact where it fits [default: auto]
    #[arg(long)]
    solver: Option<String>,
    /// Stop when the certified gap to the optimum is at most this
    #[arg(long, value_name = "GAP", allow_hyphen_values = true, value_parser = number)]
    tol: Option<Value>,
    /// Steps that fall with time and need no number of rounds (smd-m, online-1, atkro-m)
    #[arg(long)]
    anytime: bool,
    /// Number of rounds, such as 2e5; with --tol those of the first run, and each further one takes
    /// 4 times as many [default: by solver and budget]
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = number)]
    rounds: Option<Value>,
    /// Multiplier on the theorem's step of the weights [default: by short pilot runs]
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = number)]
    step_w: Option<Value>,
    /// Multiplier on the theorem's step of the group weights [default: by short pilot
    /// runs]
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = number)]
    step_q: Option<Value>,
    /// uniform, weighted, suffix (second half) or last [default: the theorem's; suffix with steps
    /// by pilot runs]
    #[arg(long)]
    average: Option<String>,
    /// Range of the losses for steps and bandit players [default: what the domain implies; with
    /// steps by pilot runs, what 999 of 1000 losses of the balanced model stay below]
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = number)]
    loss_range: Option<Value>,
    /// Of hybrid: groups with at least N samples are drawn in batches, for N/2 rounds [default: by
    /// the budgets]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number)]
    nbar: Option<Value>,
    /// Of flexible: how many groups to ask in a round; a list is gone through in turn [default: 1]
    #[arg(long, value_name = "R,…")]
    queries: Option<String>,
    /// Of eliminate: samples of every group to keep for telling which groups can dominate [default:
    /// rounds per group]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number)]
    kept: Option<Value>,
    /// Of atkro-k: draw the k groups by dep-round (the paper's, work for every group) or systematic
    /// (work for every group drawn) [default: dep-round below 64 groups, else systematic]
    #[arg(long, value_name = "NAME")]
    subsets: Option<String>,
    /// Visit each row at most once: all rows, or as many of each group as FILE (CSV: group,budget)
    /// says
    #[arg(long, value_name = "all|FILE")]
    budget: Option<String>,
    /// Seed of the split and of all draws [default: 0]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number)]
    seed: Option<Value>,
    #[command(flatten)]
    pub threads: ThreadsArg,
}

impl SolverArgs {
    /// Adds the options that were given.
    pub fn give(&self, settings: &mut Settings) -> Result<()> {
        settings.set_some("solver", self.solver.clone());
        settings.set_some("tol", self.tol.clone());
        settings.set_some("rounds", self.rounds.clone());
        settings.set_some("step-w", self.step_w.clone());
        settings.set_some("step-q", self.step_q.clone());
        settings.set_some("average", self.average.clone());
        settings.set_some("loss-range", self.loss_range.clone());
        settings.set_some("budget", self.budget.clone());
        settings.set_some("nbar", self.nbar.clone());
        settings.set_some("queries", self.queries.as_deref().map(numbers).transpose()?);
        settings.set_some("kept", self.kept.clone());
        settings.set_some("subsets", self.subsets.clone());
        settings.set_some("seed", self.seed.clone());
        settings.set_some("queries", self.queries.as_deref().map(numbers).transpose()?);
        settings.set_some("anytime", self.anytime.then_some(true));
        Ok(())
    }
}

/// A list of whole numbers, separated by commas.
fn numbers(text: &str) -> Result<Value> {
    let whole = |entry: &str| entry.trim().parse().map(Value::Integer);
    let list: std::result::Result<_, _> = text.split(',').map(whole).collect();
    list.map(Value::Array).map_err(|_| {
        Failure::input(format!("--queries {text}: expected a number of groups, or a list of them"))
    })
}
