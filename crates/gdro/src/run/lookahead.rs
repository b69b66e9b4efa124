//! Lookahead: the next draws of a run, worked out before they are due.

use rand::Rng as _;

use crate::error::Result;
use crate::estimator::Estimator;
use crate::group_weights::GroupWeights;
use crate::hint::cold_path;
use crate::sampling::{Rng, Streams, unit};
use crate::source::{Handle, Source};

/// How many pulls before it is due a sample is prefetched, one per pull: the processor can wait for
/// a few at a time.
const DISTANCE: usize = 4;

/// How many draws at least are added to the draw buffer at a time.
const BATCH: usize = 8;

/// Rounds of more pulls than this are looked ahead at in part.
const LONGEST: usize = 1024;

/// The random streams of a run and the draw buffer.
///
/// The streams themselves never run ahead: copies of them do. Whether a guess is right decides what
/// a pull costs and nothing else, and a checkpoint needs to know nothing of the buffer.
#[derive(Clone, Debug)]
pub(super) struct Lookahead {
    streams: Streams,
    /// The streams as they will be after the draws of the buffer.
    lead: Streams,
    /// The draw buffer: from which groups the next pulls will probably be, and what they then get.
    groups: Vec<usize>,
    handles: Vec<Handle>,
    /// How many draws of the buffer are used.
    next: usize,
    /// The pulls of a round, up to [`LONGEST`].
    pulls: usize,
    /// Whether rounds are longer.
    is_long: bool,
    /// Whether the buffer ends within a round.
    is_cut: bool,
    /// Whether estimator and source tell anything of the next draws.
    is_useful: bool,
}

impl Lookahead {
    /// An empty buffer, for rounds of at most so many pulls.
    pub fn new(streams: Streams, pulls: usize) -> Self {
        let is_long = pulls > LONGEST;
        let pulls = pulls.clamp(1, LONGEST);
        let room = 2 * pulls + DISTANCE + BATCH;
        Lookahead {
            lead: streams.clone(),
            streams,
            groups: Vec::with_capacity(room),
            handles: Vec::with_capacity(room),
            next: 0,
            pulls,
            is_long,
            is_cut: false,
            is_useful: true,
        }
    }

    /// The streams after all that was drawn.
    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    /// Goes on with these streams.
    pub fn restart(&mut self, streams: &Streams) {
        self.streams.clone_from(streams);
        self.clear();
        self.is_useful = true;
    }

    /// The stream for choices of groups.
    pub fn groups(&mut self) -> &mut Rng {
        &mut self.streams.groups
    }

    fn clear(&mut self) {
        self.groups.clear();
        self.handles.clear();
        self.next = 0;
    }

    /// Draws a group i ~ q.
    #[inline(always)]
    pub fn choose(&mut self, q: &impl GroupWeights) -> usize {
        let u = unit(&mut self.streams.groups);
        // The processor goes on with the guess, which almost always is right, before it knows.
        match self.groups.get(self.next) {
            Some(group) if q.contains(*group, u) => *group,
            _ => {
                cold_path();
                q.quantile(u)
            }
        }
    }

    /// Fills the draw buffer for the groups of the next pulls.
    pub fn expect(&mut self, groups: &[usize], source: &impl Source) {
        self.clear();
        let mut data = self.streams.data.clone();
        self.groups.extend_from_slice(&groups[..groups.len().min(LONGEST)]);
        self.look_up(&mut data, source);
    }

    /// Draws a sample of a group.
    ///
    /// # Errors
    /// Those of [`Source::draw`].
    #[inline(always)]
    pub fn draw(&mut self, group: usize, source: &mut impl Source) -> Result<Handle> {
        let next = self.next;
        if next < self.handles.len() && self.groups[next] == group {
            let number = self.streams.data.next_u64();
            let handle = self.handles[next];
            debug_assert_eq!(source.handle(group, number), Some(handle));
            if let Some(later) = self.handles.get(next + DISTANCE) {
                source.prefetch(*later);
            }
            self.next = next + 1;
            return Ok(handle);
        }
        self.draw_anew(group, source)
    }

    /// The same on the cold path: a draw that is not in the buffer.
    ///
    /// # Errors
    /// Those of [`Source::draw`].
    #[cold]
    pub fn draw_anew(&mut self, group: usize, source: &mut impl Source) -> Result<Handle> {
        self.clear();
        source.draw(group, &mut self.streams.data)
    }

    /// Between rounds: fills the draw buffer where little is left.
    #[inline(always)]
    pub fn refill<E, Q, S>(&mut self, estimator: &E, q: &Q, source: &S)
    where
        E: Estimator,
        Q: GroupWeights,
        S: Source,
    {
        // A round of draws, and those to prefetch meanwhile.
        if self.is_useful && self.handles.len() < self.next + self.pulls + DISTANCE {
            self.fill(estimator, q, source);
        }
    }

    #[inline(never)]
    fn fill<E, Q, S>(&mut self, estimator: &E, q: &Q, source: &S)
    where
        E: Estimator,
        Q: GroupWeights,
        S: Source,
    {
        if self.next == self.handles.len() {
            self.lead.clone_from(&self.streams);
            self.is_cut = false;
        }
        if self.is_cut {
            return;
        }
        self.groups.drain(..self.next);
        self.handles.drain(..self.next);
        self.next = 0;
        let Streams { mut groups, mut data } = self.lead.clone();
        let first = self.groups.len();
        self.groups.resize(first + BATCH.next_multiple_of(self.pulls), 0);
        if !estimator.lookahead(q, &mut groups, &mut self.groups[first..]) {
            self.groups.truncate(first);
        }
        self.look_up(&mut data, source);
        self.lead = Streams { groups, data };
        self.is_useful = !self.handles.is_empty();
    }

    /// Adds the handles of the groups at the end of the buffer.
    #[inline(always)]
    fn look_up(&mut self, data: &mut Rng, source: &impl Source) {
        let first = self.handles.len();
        for group in &self.groups[first..] {
            match source.handle(*group, data.next_u64()) {
                Some(handle) => self.handles.push(handle),
                None => break,
            }
        }
        self.is_cut = self.is_long || self.handles.len() < self.groups.len();
        self.groups.truncate(self.handles.len());
        // Those for which a pull comes too late.
        for handle in self.handles.iter().take(DISTANCE).skip(first) {
            source.prefetch(*handle);
        }
    }
}
