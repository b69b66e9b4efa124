//! Running an algorithm: the solver, how far it goes, and who watches.

mod drive;
mod follow;
mod kept;
mod lookahead;
mod round;
mod saddle;
mod state;

pub use drive::{Cadence, Observer, Outcome, drive};
pub use follow::{Followed, Follower, Look, Place, follow, follow_on};
pub use kept::Kept;
pub use saddle::Saddle;
pub use state::{Start, State};

use crate::average::Average;
use crate::error::Result;
use crate::schedule::Steps;

/// A solver at work, whatever it is made of.
///
/// A model is the array described in [`crate::iterate`]; group weights are m numbers.
pub trait Solver {
    /// Plays `rounds` more rounds.
    ///
    /// # Errors
    /// Those of the source and the loss. The solver stands where it stood after the last whole
    /// round, except that samples drawn in the broken one are counted and gone, and that with
    /// mirror-prox the last iterate may be the lead of the broken round.
    fn advance(&mut self, rounds: u64) -> Result<()>;

    /// Rounds played.
    fn rounds(&self) -> u64;

    /// The steps of the next round.
    fn steps(&self) -> Steps;

    /// The average that the answer is.
    fn average(&self) -> Average;

    /// Samples drawn from each group.
    fn samples(&self) -> &[u64];

    /// How many losses lay outside of the range of the bandit player, and were clipped
    /// for it (for it alone).
    fn clipped(&self) -> u64;

    /// Number of numbers in a model.
    fn model_len(&self) -> usize;

    /// Writes the averaged model, the answer.
    fn write_model(&self, w: &mut [f64]);

    /// Writes the averaged group weights.
    fn write_weights(&self, q: &mut [f64]);

    /// Writes the last iterates, model and group weights.
    fn write_last(&self, w: &mut [f64], q: &mut [f64]);

    /// Begins anew from what is there: the model as the first iterate, and the player of q where it stood,
    /// if what is given of it is that of such a player; uniform weights otherwise. Rounds, averages and
    /// draws begin as they ever do.
    ///
    /// # Errors
    /// [`crate::Error::Length`] for a model of another length. A solver that has played is an
    /// [`crate::Error::State`].
    fn start_at(&mut self, start: &Start) -> Result<()>;

    /// Everything needed to go on later, bit for bit.
    fn save(&self) -> State;

    /// Takes over a saved state.
    ///
    /// # Errors
    /// [`crate::Error::State`] when it is not that of such a solver.
    fn restore(&mut self, state: &State) -> Result<()>;

    /// The averaged model as a new array.
    fn model(&self) -> Vec<f64> {
        let mut w = vec![0.0; self.model_len()];
        self.write_model(&mut w);
        w
    }

    /// The averaged group weights as a new array.
    fn weights(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.samples().len()];
        self.write_weights(&mut q);
        q
    }
}
