//! Ordinary training, for comparison.

use gdro::exact::{self, Goal, Options, Problem};
use gdro::game::Game;
use gdro::loss::Loss;

use super::Setting;
use crate::job::Baseline;

impl Setting {
    /// Ordinary training to its optimum, under the domain and ridge of the robust model, from a
    /// model that may be near, if there is one.
    pub fn ordinary(&self, which: Baseline, start: Option<Vec<f64>>) -> gdro::Result<Vec<f64>> {
        let pooled;
        let data = match which {
            Baseline::Erm => {
                pooled = self.data.pooled()?;
                &pooled
            }
            Baseline::Balanced => &self.data,
        };
        let m = data.groups();
        let game = Game::gdro(m).with_ridge(self.game.ridge);
        let problem = Problem {
            game: &game,
            domain: &self.domain,
            features: data.features(),
            outputs: self.loss.outputs(),
            goal: Goal::Fixed(vec![1.0 / m as f64; m]),
        };
        // With kinks every digit costs as much as the one before.
        let tolerance = if self.loss.has_kinks() { 1e-6 } else { 1e-8 };
        let options = Options { tolerance, start, ..Options::default() };
        Ok(exact::minimize(data, &self.loss, &problem, &options)?.w)
    }
}
