//! Where samples come from: the distributions P_1, …, P_m.

mod closure;
mod coins;
mod once_each;
mod slots;
mod stream;
mod synthetic;
mod with_replacement;

pub use closure::Closure;
pub use coins::Coins;
pub use once_each::OnceEach;
pub use stream::{Batch, Stream, oldest_batch};
pub use synthetic::Synthetic;
pub use with_replacement::WithReplacement;

use crate::dataset::Sample;
use crate::error::{Error, Result};
use crate::sampling::Rng;

/// A sample that was drawn in the current round; meaningless after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub usize);

/// How large the features x of a sample are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// A number that no feature exceeds in absolute value.
    pub largest: f64,
    /// ‖x‖₂².
    pub norm_squared: f64,
}

/// m distributions over samples.
pub trait Source {
    /// Number of groups m.
    fn groups(&self) -> usize;

    /// Number of features d of every sample.
    fn features(&self) -> usize;

    /// How many values a row stores on average, where rows are sparse and that is known: what the
    /// choice between dense and lazy points goes by ([`crate::storage::Storage`]).
    fn stored(&self) -> Option<f64> {
        None
    }

    /// Says that at most `draws` samples will be drawn per round, so that none needs memory.
    fn reserve(&mut self, _draws: usize) {}

    /// Starts a round: the handles of the last one are gone.
    fn begin_round(&mut self) {}

    /// Draws a sample z ~ P_i.
    ///
    /// # Errors
    /// [`Error::BudgetExhausted`] when the group has no sample left, and whatever a user's source
    /// finds wrong, as [`Error::User`].
    fn draw(&mut self, group: usize, rng: &mut Rng) -> Result<Handle>;

    /// Lookahead: the handle that [`Source::draw`] gives for a group when the next number of the
    /// stream (64 bits) is `number`. For sources of which a draw takes just this one number, never
    /// fails, and depends on nothing else, so that it is the same in any later round. `None`, the
    /// default, where that is not so: then nothing is known of a draw before it is due, which costs
    /// time and nothing else. May prefetch what [`Source::prefetch`] reads.
    fn handle(&self, _group: usize, _number: u64) -> Option<Handle> {
        None
    }

    /// Prefetches the sample behind a handle that will be drawn soon. Nothing by default.
    fn prefetch(&self, _handle: Handle) {}

    /// How large the features behind a handle of this round are; a source that knows says it
    /// without a look at them.
    fn size(&self, handle: Handle) -> Size {
        let x = self.get(handle).x;
        Size { largest: x.largest(), norm_squared: x.norm_squared() }
    }

    /// The sample behind a handle of this round.
    fn get(&self, handle: Handle) -> Sample<'_>;

    /// How many samples group i has left; `None` when it never runs dry.
    fn remaining(&self, _group: usize) -> Option<u64> {
        None
    }

    /// What the source must remember to go on from a checkpoint, as numbers.
    fn save(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Takes over what [`Source::save`] gave.
    ///
    /// # Errors
    /// [`Error::State`] when the numbers are not those of such a source.
    fn restore(&mut self, saved: &[u64]) -> Result<()> {
        match saved {
            [] => Ok(()),
            _ => Err(Error::State("a source without memory was given one".into())),
        }
    }
}
