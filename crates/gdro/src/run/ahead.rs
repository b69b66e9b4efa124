//! The random streams of a run, and the pulls that are foreseen.

use crate::error::Result;
use crate::hint::rare;
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
#[repr(align(64))]
struct Foreseen {
    /// The group that will probably be asked for.
    group: usize,
    /// What the draw then gives.
    handle: Handle,
    /// The state of the stream after it.
    after: Rng,
}

/// A place on [0, 1) at which a group will be chosen.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Choice {
    place: f64,
    /// The state of the stream after it.
    after: Rng,
}

/// The streams, with the draws of the next pulls, worked out while others were due. They are what
/// the pulls will be where their groups are right, whatever happens meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// The draws in a ring, counted since the last time that everything was forgotten.
    draws: [Foreseen; ROOM],
    /// The choices of their groups, when they are chosen.
    choices: [Choice; ROOM],
    /// How many draws have been made and used.
    made: usize,
    used: usize,
    /// How many choices have been used; [`NONE`] where there are none.
    chosen: usize,
    /// The streams after the last draw that was made.
    lead: Streams,
    /// The streams before the first of the draws and choices that were used: those are not made
    /// again before someone asks for the streams themselves.
    streams: Streams,
}

/// Not a number of choices.
const NONE: usize = usize::MAX;

/// Where in a ring.
#[inline]
fn place_of(count: usize) -> usize {
    count % ROOM
}

impl Ahead {
    /// Nothing is foreseen of these streams.
    pub fn new(streams: Streams) -> Self {
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
            streams,
        }
    }

    /// The streams as they are after all that was used.
    pub fn streams(&self) -> Streams {
        let mut now = self.clone();
        now.clear();
        now.streams
    }

    /// Forgets everything that is foreseen.
    pub fn clear(&mut self) {
        self.settle_groups();
        self.settle_data();
        self.forget();
    }

    /// The stream for the choice of groups; the choices that were foreseen do not hold any more.
    pub fn groups(&mut self) -> &mut Rng {
        self.settle_groups();
        self.chosen = NONE;
        &mut self.streams.groups
    }

    /// The stream for samples; nothing that was foreseen holds any more.
    pub fn data(&mut self) -> &mut Rng {
        self.clear();
        &mut self.streams.data
    }

    fn forget(&mut self) {
        (self.made, self.used, self.chosen) = (0, 0, 0);
    }

    fn settle_groups(&mut self) {
        if self.chosen > 0 && self.chosen != NONE {
            self.streams.groups.clone_from(&self.choices[place_of(self.chosen - 1)].after);
        }
    }

    fn settle_data(&mut self) {
        if self.used > 0 {
            self.streams.data.clone_from(&self.draws[place_of(self.used - 1)].after);
        }
    }

    /// Whether only a few draws are left.
    #[inline(always)]
    pub fn is_low(&self) -> bool {
        self.made <= self.used + LEFT
    }

    /// Foresees pulls: `group` says from which group the k-th after the next is.
    #[inline(never)]
    pub fn look(&mut self, source: &impl Source, group: impl Fn(usize) -> Option<usize>) {
        if self.made == self.used {
            self.lead.data = self.data().clone();
        }
        self.groups();
        let (first, mut rng) = (self.made, self.lead.data.clone());
        while self.made < first + BATCH
            && let Some(group) = group(self.made - self.used)
        {
            self.make(self.made, source, group, &mut rng);
            self.made += 1;
        }
        self.lead.data = rng;
        self.fetch_from(source, first);
    }

    /// Foresees choices of groups and pulls from them: `at_all` says which groups are at places.
    #[inline(never)]
    pub fn look_at(&mut self, source: &impl Source, at_all: impl Fn(&mut [f64], &mut [usize])) {
        if self.chosen != self.used || self.made == self.used {
            self.clear();
            self.lead.clone_from(&self.streams);
        }
        let (first, Streams { mut groups, mut data }) = (self.made, self.lead.clone());
        let (mut places, mut found) = ([0.0; BATCH], [0; BATCH]);
        for (k, place) in places.iter_mut().enumerate() {
            *place = unit(&mut groups);
            let choice = Choice { place: *place, after: groups.clone() };
            self.choices[place_of(first + k)] = choice;
        }
        at_all(&mut places, &mut found);
        for (k, group) in found.into_iter().enumerate() {
            self.make(first + k, source, group, &mut data);
        }
        self.made = first + BATCH;
        self.lead = Streams { groups, data };
        self.fetch_from(source, first);
    }

    /// Foresees the draw with this number.
    #[inline(always)]
    fn make(&mut self, count: usize, source: &impl Source, group: usize, rng: &mut Rng) {
        let handle = source.foresee(group, rng);
        self.draws[place_of(count)] = Foreseen { group, handle, after: rng.clone() };
    }

    /// Fetches the draws from this one on for which [`Ahead::fetch`] comes too late.
    #[inline(always)]
    fn fetch_from(&self, source: &impl Source, first: usize) {
        for count in first..self.made.min(self.used + FETCHED) {
            source.fetch(self.draws[place_of(count)].handle);
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

    /// Chooses the group at the next place of the stream: the one that was foreseen, if `is_at`
    /// says that it is the right one. As it almost always is, the processor goes on with it before
    /// it knows.
    #[inline(always)]
    pub fn choose(
        &mut self,
        at: impl Fn(f64) -> usize,
        is_at: impl Fn(usize, f64) -> bool,
    ) -> usize {
        if self.chosen >= self.made {
            rare();
            return at(unit(self.groups()));
        }
        let count = place_of(self.chosen);
        let (place, group) = (self.choices[count].place, self.draws[count].group);
        self.chosen += 1;
        if is_at(group, place) {
            return group;
        }
        rare();
        at(place)
    }

    /// Draws a sample of a group.
    ///
    /// # Errors
    /// Those of [`Source::draw`].
    #[inline(always)]
    pub fn draw(&mut self, group: usize, source: &mut impl Source) -> Result<Handle> {
        if self.used < self.made {
            let draw = &self.draws[place_of(self.used)];
            if draw.group == group {
                self.used += 1;
                return Ok(draw.handle);
            }
        }
        self.draw_anew(group, source)
    }

    /// The same where it was not foreseen.
    #[cold]
    fn draw_anew(&mut self, group: usize, source: &mut impl Source) -> Result<Handle> {
        self.settle_data();
        let drawn = source.draw(group, &mut self.streams.data);
        if self.used < self.made
            && drawn.is_ok()
            && self.streams.data == self.draws[place_of(self.used)].after
        {
            // The others rest on the same state.
            self.used += 1;
        } else {
            self.settle_groups();
            self.forget();
        }
        drawn
    }
}
