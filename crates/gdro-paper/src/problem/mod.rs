//! Problems: what is drawn from, and what is known about it exactly.

mod coins;
mod description;
mod synthetic;
mod table;

pub use description::Description;
pub(crate) use description::Problem;

use gdro::algorithm::Constants;
use gdro::config::Config;
use gdro::game::Game;
use gdro::run::Solver;
use serde::{Deserialize, Serialize};

/// One draw of a problem, decided by a seed.
pub(crate) trait Instance: Send + Sync {
    /// The constants of the theorems for the game with this k.
    fn constants(&self, k: f64) -> Constants;

    /// How the constants come about, and which of the paper's assumptions (labels `ass:1` to `ass:5`) the
    /// problem breaks, in Markdown.
    fn assumptions(&self) -> String;

    /// A solver for the game with this k.
    fn solver(&self, config: &Config, k: f64) -> gdro::Result<Box<dyn Solver + '_>>;

    /// The risks of all groups at a model: exact, or on the rows that are held out for it.
    fn risks(&self, w: &[f64]) -> gdro::Result<Vec<f64>>;

    /// The duality gap of a model and group weights in a game, from above where it is not known
    /// exactly: of the rows that are trained on where the distributions are unknown.
    fn gap(&self, game: &Game, w: &[f64], q: &[f64]) -> gdro::Result<f64>;

    /// The optimum of the game with this k.
    fn optimum(&self, k: f64) -> gdro::Result<Optimum>;
}

/// The optimum of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Optimum {
    /// The objective there.
    pub value: f64,
    /// The risks there, as [`Instance::risks`] has them.
    pub risks: Vec<f64>,
    /// The objective at the model that minimises the mean of all risks.
    pub of_mean: f64,
    /// How far from the optimum the value may be.
    pub error: f64,
}
