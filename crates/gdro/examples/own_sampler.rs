//! A user's own sampler: sensors whose readings are correlated in time.
//!
//! Each of three sensors measures 1.0, 2.0 or 4.0 plus a noise that remembers its last value (an
//! autoregressive sequence), and one number is to stand for all of them: min_w max_i E(w − y_i)².
//! The sampler is a closure with its own memory; no data set exists anywhere.

use gdro::Result;
use gdro::algorithm::{Constants, smd_m_anytime};
use gdro::domain::{Cube, Domain};
use gdro::game::Game;
use gdro::group_weights::Plain;
use gdro::iterate::Dense;
use gdro::loss::Squared;
use gdro::run::{Saddle, Solver};
use gdro::sampling::{Rng, unit};
use gdro::source::Closure;

/// What the sensors measure.
pub const MEANS: [f64; 3] = [1.0, 2.0, 4.0];

/// Variance of the noise of each sensor.
pub const VARIANCES: [f64; 3] = [0.12, 0.03, 0.03];

/// Plays `rounds` rounds, and returns the number and the group weights.
pub fn fit(rounds: u64) -> Result<(f64, Vec<f64>)> {
    // e ← ρe + innovation keeps the variance v when the innovation has the variance v(1 − ρ²).
    const MEMORY: f64 = 0.6;
    let mut noise = [0.0; 3];
    let source = Closure::new(3, 1, move |sensor, rng: &mut Rng, x: &mut [f64]| {
        // Uniform on [−a, a] has the variance a²/3.
        let width = (3.0 * VARIANCES[sensor] * (1.0 - MEMORY * MEMORY)).sqrt();
        noise[sensor] = MEMORY * noise[sensor] + width * (2.0 * unit(rng) - 1.0);
        x[0] = 1.0;
        Ok(MEANS[sensor] + noise[sensor])
    });
    // W = [0, 5]: D² = 12.5; losses up to 25, slopes up to 10.
    let domain = Domain::new(Cube::new(0.0, 5.0)?);
    let constants = Constants { payoffs: (0.0, 25.0), ..Constants::paper(12.5, 10.0, 3) };
    let recipe = smd_m_anytime(&constants).scaled(1.0, 3.0);
    let point = Dense::new(domain, 1, 1);
    let weights = Plain::new(3, 1.0)?;
    let mut solver = Saddle::new(Game::gdro(3), Squared, source, point, weights, recipe, 1)?;
    solver.advance(rounds)?;
    Ok((solver.model()[0], solver.weights()))
}

fn main() -> Result<()> {
    let (w, q) = fit(200_000)?;
    println!("w = {w:.4}");
    for (sensor, q) in q.iter().enumerate() {
        let risk = (w - MEANS[sensor]).powi(2) + VARIANCES[sensor];
        println!("sensor {sensor}: weight {q:.3}, exact risk {risk:.4}");
    }
    Ok(())
}
