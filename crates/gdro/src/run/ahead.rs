//! Pulls that are foreseen.

use crate::error::Result;
use crate::sampling::{Rng, Streams, unit};
use crate::source::{AHEAD, Foreseen, Handle, Source};

/// A place on [0, 1) at which a group will be chosen.
#[derive(Clone, Debug)]
struct Choice {
    place: f64,
    /// The state of the stream after it.
    after: Rng,
}

/// The draws of the next pulls, worked out while others were due. They are what the pulls will be
/// where their groups are right, whatever happens meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// Room for [`AHEAD`] draws.
    draws: Vec<Foreseen>,
    /// Which of them is the next, and how many there are.
    next: usize,
    end: usize,
    /// The choices of their groups, and which is the next; as many when groups are chosen.
    choices: Vec<Choice>,
    next_choice: usize,
    end_choice: usize,
}

impl Ahead {
    /// Nothing is foreseen. The stream only fills the room.
    pub fn new(rng: &Rng) -> Self {
        let draw = Foreseen { group: 0, handle: Handle(0), after: rng.clone() };
        let choice = Choice { place: 0.0, after: rng.clone() };
        Ahead {
            draws: vec![draw; AHEAD],
            next: 0,
            end: 0,
            choices: vec![choice; AHEAD],
            next_choice: 0,
            end_choice: 0,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        (self.next, self.end) = (0, 0);
        self.clear_choices();
    }

    /// Forgets the choices of groups, because their stream is used otherwise.
    pub fn clear_choices(&mut self) {
        (self.next_choice, self.end_choice) = (0, 0);
    }

    /// Whether nothing more is foreseen.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.next >= self.end
    }

    /// Foresees pulls from these groups.
    #[inline(never)]
    pub fn look(
        &mut self,
        source: &impl Source,
        rng: &Rng,
        mut group: impl FnMut() -> Option<usize>,
    ) {
        self.clear();
        for draw in &mut self.draws {
            let Some(group) = group() else { break };
            draw.group = group;
            self.end += 1;
        }
        source.foresee(rng, &mut self.draws[..self.end]);
    }

    /// Foresees choices of groups and pulls from them.
    #[inline(never)]
    pub fn look_at(&mut self, source: &impl Source, streams: &Streams, at: impl Fn(f64) -> usize) {
        let mut rng = streams.groups.clone();
        for (draw, choice) in self.draws.iter_mut().zip(&mut self.choices) {
            choice.place = unit(&mut rng);
            choice.after.clone_from(&rng);
            draw.group = at(choice.place);
        }
        (self.next, self.end) = (0, AHEAD);
        (self.next_choice, self.end_choice) = (0, AHEAD);
        source.foresee(&streams.data, &mut self.draws);
    }

    /// Chooses the group that was foreseen, if there is one and `is_at` says that it is the right
    /// one. As it almost always is, the processor goes on with it before it knows.
    #[inline(always)]
    pub fn choose(
        &mut self,
        rng: &mut Rng,
        is_at: impl Fn(usize, f64) -> bool,
    ) -> Option<usize> {
        if self.next_choice >= self.end_choice {
            return None;
        }
        let (choice, draw) = (&self.choices[self.next_choice], &self.draws[self.next_choice]);
        self.next_choice += 1;
        is_at(draw.group, choice.place).then(|| {
            rng.clone_from(&choice.after);
            draw.group
        })
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
        if self.is_over() {
            return source.draw(group, rng);
        }
        let draw = &self.draws[self.next];
        self.next += 1;
        if draw.group == group {
            rng.clone_from(&draw.after);
            return Ok(draw.handle);
        }
        let handle = source.draw(group, rng)?;
        if *rng != draw.after {
            // The others rest on the state after it.
            self.end = 0;
        }
        Ok(handle)
    }
}
