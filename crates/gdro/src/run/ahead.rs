//! Pulls that are foreseen.

use crate::error::Result;
use crate::sampling::{Rng, Streams, unit};
use crate::source::{Handle, Source};

/// How many draws there is room for: a power of two.
const ROOM: usize = 16;

/// How many draws are worked out at a time, when no more than so many are left.
const BATCH: usize = 8;
const LEFT: usize = 4;

/// How many pulls before it is due a sample is fetched, one in every round: the processor can wait
/// for a few at a time.
const FETCHED: usize = 4;

/// A draw that has been worked out before it is due.
#[derive(Clone, Debug)]
struct Foreseen {
    /// The group that will probably be asked for.
    group: usize,
    /// What the draw then gives, once it is located.
    handle: Handle,
    /// The state of the stream after it.
    after: Rng,
}

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
    /// The draws in a ring, counted since the last time that everything was forgotten.
    draws: [Foreseen; ROOM],
    /// The choices of their groups, when they are chosen.
    choices: [Choice; ROOM],
    /// How many draws have been made and used.
    made: usize,
    used: usize,
    /// How many choices have been used; not a number of draws where there are none.
    chosen: usize,
    /// The streams after the last draw that was made.
    lead: Streams,
}

/// Where in a ring.
#[inline]
fn place_of(count: usize) -> usize {
    count % ROOM
}

impl Ahead {
    /// Nothing is foreseen.
    pub fn new(streams: &Streams) -> Self {
        let lead = streams.clone();
        let draw = |_| Foreseen { group: 0, handle: Handle(0), after: lead.data.clone() };
        let choice = |_| Choice { place: 0.0, after: lead.groups.clone() };
        Ahead {
            draws: std::array::from_fn(draw),
            choices: std::array::from_fn(choice),
            made: 0,
            used: 0,
            chosen: 0,
            lead,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        (self.made, self.used, self.chosen) = (0, 0, 0);
    }

    /// Forgets the choices of groups, because their stream is used otherwise.
    pub fn clear_choices(&mut self) {
        self.chosen = usize::MAX;
    }

    /// Whether only a few draws are left.
    #[inline(always)]
    pub fn is_low(&self) -> bool {
        self.made <= self.used + LEFT
    }

    /// Foresees pulls: `group` says from which group the k-th after the next is.
    #[inline(never)]
    pub fn look(
        &mut self,
        source: &impl Source,
        streams: &Streams,
        group: impl Fn(usize) -> Option<usize>,
    ) {
        self.clear_choices();
        if self.made == self.used {
            self.lead.data.clone_from(&streams.data);
        }
        let (first, mut rng) = (self.made, self.lead.data.clone());
        while self.made < first + BATCH
            && let Some(group) = group(self.made - self.used)
        {
            self.make(source, group, &mut rng);
        }
        self.lead.data = rng;
        self.locate(source, first);
    }

    /// Foresees choices of groups and pulls from them: `at_all` says which groups are at places.
    #[inline(never)]
    pub fn look_at(
        &mut self,
        source: &impl Source,
        streams: &Streams,
        at_all: impl Fn(&mut [f64], &mut [usize]),
    ) {
        if self.chosen != self.used {
            self.clear();
        }
        if self.made == self.used {
            self.lead.clone_from(streams);
        }
        let (first, Streams { mut groups, mut data }) = (self.made, self.lead.clone());
        let (mut places, mut found) = ([0.0; BATCH], [0; BATCH]);
        for (k, place) in places.iter_mut().enumerate() {
            *place = unit(&mut groups);
            let choice = Choice { place: *place, after: groups.clone() };
            self.choices[place_of(first + k)] = choice;
        }
        at_all(&mut places, &mut found);
        for group in found {
            self.make(source, group, &mut data);
        }
        self.lead = Streams { groups, data };
        self.locate(source, first);
    }

    /// Foresees one more draw.
    #[inline(always)]
    fn make(&mut self, source: &impl Source, group: usize, rng: &mut Rng) {
        let handle = source.foresee(group, rng);
        self.draws[place_of(self.made)] = Foreseen { group, handle, after: rng.clone() };
        self.made += 1;
    }

    /// Locates the draws from this one on, when what that needs is on its way for all of them, and
    /// fetches those for which [`Ahead::fetch`] comes too late.
    #[inline(always)]
    fn locate(&mut self, source: &impl Source, first: usize) {
        for count in first..self.made {
            let draw = &mut self.draws[place_of(count)];
            draw.handle = source.locate(draw.group, draw.handle);
            if count < self.used + FETCHED {
                source.fetch(draw.handle);
            }
        }
    }

    /// Fetches a sample that is due soon.
    #[inline(always)]
    pub fn fetch(&self, source: &impl Source) {
        let next = self.used + FETCHED;
        if next < self.made {
            source.fetch(self.draws[place_of(next)].handle);
        }
    }

    /// Chooses the group that was foreseen, if there is one and `is_at` says that it is the right
    /// one. As it almost always is, the processor goes on with it before it knows.
    #[inline(always)]
    pub fn choose(&mut self, rng: &mut Rng, is_at: impl Fn(usize, f64) -> bool) -> Option<usize> {
        if self.chosen >= self.made {
            return None;
        }
        let at = place_of(self.chosen);
        let (choice, group) = (&self.choices[at], self.draws[at].group);
        self.chosen += 1;
        if !is_at(group, choice.place) {
            return None;
        }
        rng.clone_from(&choice.after);
        Some(group)
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
        if self.used >= self.made {
            self.clear();
            return source.draw(group, rng);
        }
        let draw = &self.draws[place_of(self.used)];
        self.used += 1;
        if draw.group == group {
            rng.clone_from(&draw.after);
            return Ok(draw.handle);
        }
        let handle = source.draw(group, rng)?;
        if *rng != draw.after {
            // The others rest on the state after it.
            self.clear();
        }
        Ok(handle)
    }
}
