//! Ordinary training, for comparison.

use gdro::exact::{self, Goal, Options, Problem};
use gdro::game::Game;
use gdro::loss::Loss;

use super::Setting;
use crate::job::Baseline;

/// Trains the comparison to its optimum, under the same domain and ridge as the robust model.
pub fn train(setting: &Setting, which: Baseline) -> gdro::Result<Vec<f64>> {
    let pooled;
    let data = match which {
        Baseline::Erm => {
            pooled = setting.data.pooled()?;
            &pooled
        }
        Baseline::Balanced => &setting.data,
    };
    let m = data.groups();
    let game = Game::gdro(m).with_ridge(setting.game.ridge);
    let problem = Problem {
        game: &game,
        domain: &setting.domain,
        features: data.features(),
        outputs: setting.loss.outputs(),
        goal: Goal::Fixed(vec![1.0 / m as f64; m]),
    };
    // With kinks every digit costs as much as the one before.
    let tolerance = if setting.loss.has_kinks() { 1e-6 } else { 1e-8 };
    let options = Options { tolerance, ..Options::default() };
    Ok(exact::minimize(data, &setting.loss, &problem, &options)?.w)
}
