//! Pulls that are foreseen.

use crate::error::Result;
use crate::sampling::{Rng, Streams};
use crate::source::{AHEAD, Foreseen, Handle, Source};

/// The draws of the next pulls, worked out while others were due. They are what the pulls will be
/// where their groups are right, whatever happens meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    draws: Vec<Foreseen>,
    /// How many of them are over.
    over: usize,
}

impl Ahead {
    /// Nothing is foreseen.
    pub fn new() -> Self {
        Ahead { draws: Vec::with_capacity(AHEAD), over: 0 }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.draws.clear();
    }

    /// Whether nothing more is foreseen.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.over >= self.draws.len()
    }

    /// Foresees pulls from the groups that `next` gives with a copy of the stream for groups.
    #[inline(never)]
    pub fn look(
        &mut self,
        source: &impl Source,
        streams: &Streams,
        mut next: impl FnMut(&mut Rng) -> Option<usize>,
    ) {
        let mut rng = streams.groups.clone();
        self.draws.clear();
        self.over = 0;
        while self.draws.len() < AHEAD
            && let Some(group) = next(&mut rng)
        {
            let after = streams.data.clone();
            self.draws.push(Foreseen { group, handle: Handle(0), after });
        }
        source.foresee(&streams.data, &mut self.draws);
    }

    /// The group of the next pull, if it is foreseen.
    #[inline]
    pub fn group(&self) -> Option<usize> {
        self.draws.get(self.over).map(|draw| draw.group)
    }

    /// Draws a sample of a group.
    ///
    /// # Errors
    /// Those of [`Source::draw`].
    #[inline(always)]
    pub fn draw(
        &mut self,
        group: usize,
        source: &mut impl Source,
        rng: &mut Rng,
    ) -> Result<Handle> {
        let Some(draw) = self.draws.get(self.over) else { return source.draw(group, rng) };
        if draw.group == group {
            self.over += 1;
            rng.clone_from(&draw.after);
            return Ok(draw.handle);
        }
        let handle = source.draw(group, rng)?;
        // The others rest on the state after it.
        self.over = if *rng == draw.after { self.over + 1 } else { AHEAD };
        Ok(handle)
    }
}
