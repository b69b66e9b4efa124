//! Options that say what is minimised.

use clap::Args;
use gdro::loss::AnyLoss;
use toml::Value;

use super::{number, number_or_list};
use crate::job::Settings;

/// What is minimised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Goal")]
pub struct GoalArgs {
    /// max (largest group risk), top-k:K (mean of the K largest), regret (largest excess over what
    /// a model for the group alone attains), average (rows alike), balanced (groups alike)
    /// [default: max]
    #[arg(long)]
    objective: Option<String>,
    /// Compare groups by risk minus an offset: FILE (CSV: group,offset)
    #[arg(long, value_name = "FILE")]
    offsets: Option<String>,
    /// Compare groups by risk plus C/√n, n its rows: small groups count for more (Sagawa et al.)
    #[arg(long, value_name = "C", allow_hyphen_values = true, value_parser = number)]
    adjustment: Option<Value>,
    /// Compare groups by risk times a factor: FILE (CSV: group,scale)
    #[arg(long, value_name = "FILE")]
    scales: Option<String>,
    #[arg(long, value_name = "NAME", help = loss_help())]
    loss: Option<String>,
    /// Keep the weights in a ball of radius B around 0
    #[arg(long, value_name = "B", allow_hyphen_values = true, value_parser = number_or_list)]
    ball: Option<Value>,
    /// Ridge: add (L/2)·‖weights‖² [default: 1e-4 without a ball, 0 with one]
    #[arg(long, value_name = "L", allow_hyphen_values = true, value_parser = number_or_list)]
    l2: Option<Value>,
    /// Put the intercept under ridge and ball; otherwise it is free in [−100, 100] (wider for
    /// targets that are larger)
    #[arg(long)]
    penalize_intercept: bool,
}

impl GoalArgs {
    /// Adds the options that were given.
    pub fn give(&self, settings: &mut Settings) {
        settings.set_some("objective", self.objective.clone());
        settings.set_some("offsets", self.offsets.clone());
        settings.set_some("adjustment", self.adjustment.clone());
        settings.set_some("scales", self.scales.clone());
        settings.set_some("loss", self.loss.clone());
        settings.set_some("ball", self.ball.clone());
        settings.set_some("l2", self.l2.clone());
        settings.set_some("penalize-intercept", self.penalize_intercept.then_some(true));
    }
}

/// The names of the losses are the library's.
fn loss_help() -> String {
    format!("{} [default: logistic, softmax or squared, by the kind of target]", AnyLoss::NAMES)
}
