//! One pass over rows that arrive in batches.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Handle, Source};
use crate::dataset::Sample;
use crate::error::{Error, Result, require};
use crate::row::Matrix;
use crate::sampling::{Rng, below};

/// Rows that arrived together, and which of them each group takes, in the order of its visits.
///
/// Visits are cheapest when the rows of a group lie next to each other in that order. A row may be
/// in several groups, and a group may have none here.
#[derive(Clone, Debug)]
pub struct Batch {
    features: Arc<Matrix>,
    targets: Arc<[f64]>,
    /// Where the members of each group start, and their end.
    starts: Vec<usize>,
    members: Vec<u32>,
}

impl Batch {
    /// A batch in which `groups[i]` lists the rows of group i in the order of their visits.
    ///
    /// # Errors
    /// [`Error::Length`] when there is not one target per row; [`Error::NotFinite`] for a target
    /// that is NaN or infinite; [`Error::Parameter`] for a row number out of range.
    pub fn new(features: Matrix, targets: Vec<f64>, groups: &[Vec<u32>]) -> Result<Self> {
        let rows = features.rows();
        if targets.len() != rows {
            return Err(Error::Length { what: "targets", found: targets.len(), expected: rows });
        }
        if let Some(row) = targets.iter().position(|y| !y.is_finite()) {
            return Err(Error::NotFinite { what: "the target", row, value: targets[row] });
        }
        if let Some(row) = groups.iter().flatten().find(|r| **r as usize >= rows) {
            return Err(Error::parameter("row of a group", row, "below the number of rows"));
        }
        Ok(Self::assemble(Arc::new(features), targets.into(), groups))
    }

    fn assemble(features: Arc<Matrix>, targets: Arc<[f64]>, groups: &[Vec<u32>]) -> Self {
        let mut starts = Vec::with_capacity(groups.len() + 1);
        let mut members = Vec::with_capacity(groups.iter().map(Vec::len).sum());
        starts.push(0);
        for list in groups {
            members.extend_from_slice(list);
            starts.push(members.len());
        }
        Batch { features, targets, starts, members }
    }

    /// The same rows as one group, visited in this order: those of ordinary training.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a row number out of range.
    pub fn pooled(&self, order: Vec<u32>) -> Result<Self> {
        if let Some(row) = order.iter().find(|r| **r as usize >= self.rows()) {
            return Err(Error::parameter("row of a group", row, "below the number of rows"));
        }
        Ok(Self::assemble(self.features.clone(), self.targets.clone(), &[order]))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.targets.len()
    }

    /// Number of groups m.
    pub fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// The features, one row per sample.
    pub fn matrix(&self) -> &Matrix {
        &self.features
    }

    /// Rows of group i in the order of their visits.
    ///
    /// # Panics
    /// When `group` is not below [`Batch::groups`].
    #[inline]
    pub fn members(&self, group: usize) -> &[u32] {
        &self.members[self.starts[group]..self.starts[group + 1]]
    }

    /// Sample r.
    ///
    /// # Panics
    /// When `row` is not below [`Batch::rows`].
    #[inline]
    pub fn sample(&self, row: usize) -> Sample<'_> {
        Sample { x: self.features.row(row), y: self.targets[row] }
    }
}

/// Rows in the order in which a feed delivers them, each visited at most once: what Algorithms 1,
/// 3 and 4 of the paper need, for data that do not fit in memory.
///
/// A group that needs its next row makes the feed deliver until there is one. The batches that
/// other groups have not used up wait meanwhile; when more than `waiting` of them do, the oldest is
/// let go, and the rows in it that were not visited count as [`Stream::passed`]. So memory does not
/// grow with the number of rows, and no row is passed over as long as every stretch of `waiting`
/// batches mixes the groups in the proportions in which the algorithm draws them.
///
/// Rows that come from P_1, …, P_m in random order are independent samples of them; in a sorted
/// file they are not.
pub struct Stream<F> {
    feed: F,
    features: usize,
    budgets: Vec<u64>,
    waiting: usize,
    /// Batches in memory, by slot, and the slots that are free.
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    /// Slots that wait for groups, the oldest first, and the number of the oldest batch.
    queue: VecDeque<usize>,
    oldest: u64,
    /// Slots let go in this round, to whose samples handles may point.
    retired: Vec<usize>,
    places: Vec<Place>,
    used: Vec<u64>,
    passed: Vec<u64>,
    ended: bool,
    kept: Option<Kept>,
}

/// Rows in memory that are drawn again and again, and the groups that draw from them.
struct Kept {
    batch: Arc<Batch>,
    groups: Vec<bool>,
}

struct Slot {
    batch: Arc<Batch>,
    /// Groups that have rows left here.
    open: usize,
}

/// Where a group stands.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Number of the batch, counted from the first one.
    batch: u64,
    /// The next member there.
    at: usize,
}

/// Numbers that a stream remembers of itself, and of each group.
const OWN: usize = 3;
const EACH: usize = 5;

/// The number of the oldest batch that waited, counted from the first one, by what [`Source::save`] gave
/// of a [`Stream`]: with which batch its feed has to begin when it is restored.
pub fn oldest_batch(saved: &[u64]) -> Option<u64> {
    saved.first().copied()
}

/// A handle holds the slot above and the row below.
const ROW_BITS: u32 = 32;

/// The slot of rows that are kept.
const KEPT: usize = u32::MAX as usize;

impl<F> Stream<F>
where
    F: FnMut() -> Result<Option<Arc<Batch>>>,
{
    /// A source whose `feed` delivers the next batch, or `None` at the end. `budgets` says how many
    /// rows each group has in all; a group ends earlier when the feed does. At most `waiting`
    /// batches wait.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no group, no feature, a budget of 0, or no batch that may wait.
    pub fn new(features: usize, budgets: Vec<u64>, waiting: usize, feed: F) -> Result<Self> {
        let m = budgets.len();
        require(m >= 1, "number of groups", m, "at least 1")?;
        require(features >= 1, "features", features, "at least 1")?;
        require(waiting >= 1, "waiting", waiting, "at least 1")?;
        require(budgets.iter().all(|n| *n >= 1), "budget", 0, "at least 1")?;
        Ok(Stream {
            feed,
            features,
            budgets,
            waiting,
            slots: Vec::new(),
            free: Vec::new(),
            queue: VecDeque::new(),
            oldest: 0,
            retired: Vec::new(),
            places: vec![Place::default(); m],
            used: vec![0; m],
            passed: vec![0; m],
            ended: false,
            kept: None,
        })
    }

    /// Lets these groups draw, with replacement, from the rows that `batch` has of them instead of
    /// from the feed: groups that are small enough to be kept in memory do not run dry. Their rows
    /// are samples of their empirical distributions.
    ///
    /// # Errors
    /// [`Error::Length`] for other numbers of groups or features, [`Error::Parameter`] for a group
    /// of which the batch has no row.
    pub fn keeping(mut self, batch: Arc<Batch>, groups: &[bool]) -> Result<Self> {
        let (m, d) = (self.budgets.len(), self.features);
        let other = [groups.len(), batch.groups()].into_iter().find(|found| *found != m);
        if let Some(found) = other {
            return Err(Error::Length { what: "groups of a batch", found, expected: m });
        }
        if batch.matrix().cols() != d {
            let found = batch.matrix().cols();
            return Err(Error::Length { what: "features of a batch", found, expected: d });
        }
        let empty = (0..m).find(|group| groups[*group] && batch.members(*group).is_empty());
        require(empty.is_none(), "rows that are kept", 0, "at least 1 of each of these groups")?;
        self.kept = Some(Kept { batch, groups: groups.to_vec() });
        Ok(self)
    }

    /// Whether a group draws from rows that are kept.
    #[inline]
    fn keeps(&self, group: usize) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.groups[group])
    }

    /// Rows of each group that were let go without a visit.
    pub fn passed(&self) -> &[u64] {
        &self.passed
    }

    /// Lets the oldest batch go.
    fn let_go(&mut self) {
        let Some(slot) = self.queue.pop_front() else { return };
        if let Some(held) = &self.slots[slot] {
            for (group, place) in self.places.iter_mut().enumerate() {
                if place.batch == self.oldest {
                    if !self.kept.as_ref().is_some_and(|kept| kept.groups[group]) {
                        self.passed[group] += (held.batch.members(group).len() - place.at) as u64;
                    }
                    *place = Place { batch: self.oldest + 1, at: 0 };
                }
            }
        }
        self.oldest += 1;
        self.retired.push(slot);
    }

    /// Takes the next batch from the feed: false at its end.
    fn deliver(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let Some(batch) = (self.feed)()? else {
            self.ended = true;
            return Ok(false);
        };
        let (m, d) = (self.budgets.len(), self.features);
        if batch.groups() != m {
            let found = batch.groups();
            return Err(Error::Length { what: "groups of a batch", found, expected: m });
        }
        if batch.matrix().cols() != d {
            let found = batch.matrix().cols();
            return Err(Error::Length { what: "features of a batch", found, expected: d });
        }
        if self.queue.len() == self.waiting {
            self.let_go();
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        // Every group has yet to come by that draws from it, those without rows included.
        let open = (0..m).filter(|group| !self.keeps(*group)).count();
        self.slots[slot] = Some(Slot { batch, open });
        self.queue.push_back(slot);
        Ok(true)
    }

    /// The row that a group visits next.
    #[inline]
    fn next(&mut self, group: usize) -> Result<Option<(usize, u32)>> {
        loop {
            let place = &mut self.places[group];
            let Some(&slot) = self.queue.get((place.batch - self.oldest) as usize) else {
                if self.deliver()? {
                    continue;
                }
                return Ok(None);
            };
            if let Some(held) = &mut self.slots[slot] {
                if let Some(row) = held.batch.members(group).get(place.at) {
                    place.at += 1;
                    return Ok(Some((slot, *row)));
                }
                held.open -= 1;
            }
            *place = Place { batch: place.batch + 1, at: 0 };
            while self
                .queue
                .front()
                .is_some_and(|s| self.slots[*s].as_ref().is_none_or(|held| held.open == 0))
            {
                self.let_go();
            }
        }
    }
}

impl<F> Source for Stream<F>
where
    F: FnMut() -> Result<Option<Arc<Batch>>>,
{
    fn groups(&self) -> usize {
        self.budgets.len()
    }

    fn features(&self) -> usize {
        self.features
    }

    fn begin_round(&mut self) {
        while let Some(slot) = self.retired.pop() {
            self.slots[slot] = None;
            self.free.push(slot);
        }
    }

    #[inline]
    fn draw(&mut self, group: usize, rng: &mut Rng) -> Result<Handle> {
        let used = self.used[group];
        if let Some(kept) = self.kept.as_ref().filter(|kept| kept.groups[group]) {
            let rows = kept.batch.members(group);
            self.used[group] = used + 1;
            return Ok(Handle(KEPT << ROW_BITS | rows[below(rng, rows.len())] as usize));
        }
        if used < self.budgets[group]
            && let Some((slot, row)) = self.next(group)?
        {
            self.used[group] = used + 1;
            return Ok(Handle(slot << ROW_BITS | row as usize));
        }
        // The feed has ended: nothing is left.
        self.budgets[group] = used;
        Err(Error::BudgetExhausted { group, budget: used })
    }

    #[inline]
    fn get(&self, handle: Handle) -> Sample<'_> {
        let (slot, row) = (handle.0 >> ROW_BITS, handle.0 & ((1 << ROW_BITS) - 1));
        if let Some(kept) = self.kept.as_ref().filter(|_| slot == KEPT) {
            return kept.batch.sample(row);
        }
        match &self.slots[slot] {
            Some(held) => held.batch.sample(row),
            // Only a handle of an earlier round comes here, which the trait calls meaningless.
            None => Sample { x: crate::row::Row::Dense(&[]), y: 0.0 },
        }
    }

    fn remaining(&self, group: usize) -> Option<u64> {
        (!self.keeps(group)).then(|| self.budgets[group] - self.used[group])
    }

    fn save(&self) -> Vec<u64> {
        let mut saved = Vec::with_capacity(OWN + EACH * self.budgets.len());
        saved.extend([self.oldest, self.queue.len() as u64, u64::from(self.ended)]);
        for (group, place) in self.places.iter().enumerate() {
            let (budget, used, passed) =
                (self.budgets[group], self.used[group], self.passed[group]);
            saved.extend([budget, used, passed, place.batch, place.at as u64]);
        }
        saved
    }

    /// The batches that waited are taken from the feed again, which has to begin with the oldest of
    /// them ([`oldest_batch`]).
    fn restore(&mut self, saved: &[u64]) -> Result<()> {
        let other = || Error::State("the memory of another stream".into());
        let (&[oldest, waiting, ended], groups) = saved.split_first_chunk().ok_or_else(other)?;
        let last = oldest.checked_add(waiting).ok_or_else(other)?;
        if groups.len() != EACH * self.places.len() || waiting > self.waiting as u64 || ended > 1 {
            return Err(other());
        }
        for (group, numbers) in groups.chunks_exact(EACH).enumerate() {
            let &[budget, used, passed, batch, at] = numbers else { return Err(other()) };
            if used > budget && !self.keeps(group) || !(oldest..=last).contains(&batch) {
                return Err(other());
            }
            (self.budgets[group], self.used[group], self.passed[group]) = (budget, used, passed);
            self.places[group] = Place { batch, at: at as usize };
        }
        (self.slots, self.free, self.queue) = (Vec::new(), Vec::new(), VecDeque::new());
        self.retired.clear();
        (self.oldest, self.ended) = (oldest, false);
        for number in oldest..last {
            if !self.deliver()? {
                return Err(other());
            }
            // Some groups have gone by.
            let waits = |group: &usize| !self.keeps(*group) && self.places[*group].batch <= number;
            let open = (0..self.places.len()).filter(waits).count();
            let slot = self.queue.back().and_then(|slot| self.slots[*slot].as_mut());
            slot.ok_or_else(other)?.open = open;
        }
        self.ended = ended == 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    /// Batches of rows (group, number), the number being feature and target.
    fn feed(batches: Vec<Vec<(usize, u32)>>) -> impl FnMut() -> Result<Option<Arc<Batch>>> {
        let mut batches = batches.into_iter();
        move || {
            let Some(rows) = batches.next() else { return Ok(None) };
            let numbers: Vec<f64> = rows.iter().map(|r| f64::from(r.1)).collect();
            let of = |group| (0..).zip(&rows).filter(move |(_, r)| r.0 == group);
            let groups: Vec<Vec<u32>> = (0..2).map(|g| of(g).map(|(at, _)| at).collect()).collect();
            let features = Matrix::dense(1, numbers.clone())?;
            Batch::new(features, numbers, &groups).map(|b| Some(Arc::new(b)))
        }
    }

    fn visit<F>(stream: &mut Stream<F>, groups: &[usize]) -> Vec<f64>
    where
        F: FnMut() -> Result<Option<Arc<Batch>>>,
    {
        let mut rng = Rng::seed_from_u64(0);
        stream.begin_round();
        let handles: Vec<Handle> =
            groups.iter().map(|g| stream.draw(*g, &mut rng).unwrap()).collect();
        handles.into_iter().map(|h| stream.get(h).y).collect()
    }

    #[test]
    fn every_row_is_visited_once_in_its_groups_order() {
        let batches = vec![vec![(0, 1), (1, 2), (0, 3)], vec![], vec![(1, 4), (0, 5)]];
        let mut stream = Stream::new(1, vec![3, 2], 3, feed(batches)).unwrap();
        assert_eq!(visit(&mut stream, &[1, 1, 0]), [2.0, 4.0, 1.0]);
        assert_eq!(visit(&mut stream, &[0]), [3.0]);
        assert_eq!(visit(&mut stream, &[0]), [5.0]);
        assert_eq!((stream.remaining(0), stream.remaining(1)), (Some(0), Some(0)));
        assert_eq!(stream.passed(), [0, 0]);
        let end = stream.draw(0, &mut Rng::seed_from_u64(0)).unwrap_err();
        assert!(matches!(end, Error::BudgetExhausted { group: 0, budget: 3 }));
    }

    #[test]
    fn what_waits_too_long_is_let_go_and_counted() {
        // Group 1 comes last: its first row makes the others wait.
        let batches: Vec<_> = (0..5).map(|b| vec![(usize::from(b == 4), b), (0, 10 + b)]).collect();
        let mut stream = Stream::new(1, vec![9, 1], 2, feed(batches)).unwrap();
        assert_eq!(visit(&mut stream, &[0, 1]), [0.0, 4.0]);
        assert_eq!(stream.passed(), [5, 0]);
        assert_eq!(visit(&mut stream, &[0, 0, 0]), [3.0, 13.0, 14.0]);
        assert_eq!(stream.passed(), [5, 0]);
    }

    /// 3 rows of group 1 in 6,000 draws, each of them in a third: χ² with 2 degrees of freedom is
    /// above 27.7 with probability 1e-6.
    #[test]
    fn rows_that_are_kept_are_drawn_again() {
        let mut kept = feed(vec![vec![(1, 7), (1, 8), (1, 9)]]);
        let batches: Vec<_> = (0..6000).map(|b| vec![(0, b)]).collect();
        let stream = Stream::new(1, vec![6000, 1], 2, feed(batches)).unwrap();
        let mut stream = stream.keeping(kept().unwrap().unwrap(), &[false, true]).unwrap();
        let mut rng = Rng::seed_from_u64(1);
        let mut counts = [0.0; 3];
        for round in 0..6000 {
            stream.begin_round();
            let drawn = [0, 1].map(|group| stream.draw(group, &mut rng).unwrap());
            assert_eq!(stream.get(drawn[0]).y, f64::from(round));
            counts[stream.get(drawn[1]).y as usize - 7] += 1.0;
        }
        let chi: f64 = counts.iter().map(|n: &f64| (n - 2000.0).powi(2) / 2000.0).sum();
        assert!(chi < 27.7, "{counts:?}");
        assert_eq!((stream.remaining(0), stream.remaining(1)), (Some(0), None));
        assert!(stream.passed() == [0, 0] && stream.slots.len() <= 3);
        let mut kept = feed(vec![vec![(1, 7)]]);
        let stream = Stream::new(1, vec![1, 1], 2, feed(vec![])).unwrap();
        assert!(stream.keeping(kept().unwrap().unwrap(), &[true, true]).is_err());
    }

    #[test]
    fn a_stream_goes_on_from_any_place() {
        // Group 1 is rare, and batches wait for it; group 0 is let go by at times.
        let batches = |from: usize| -> Vec<Vec<(usize, u32)>> {
            let rows = |b: u32| (0..4).map(move |r| (usize::from((b + r) % 7 == 0), 10 * b + r));
            (from as u32..60).map(|b| rows(b).collect()).collect()
        };
        let visits = |round: usize| if round.is_multiple_of(2) { vec![0, 1] } else { vec![0] };
        let new = |from| Stream::new(1, vec![200, 40], 3, feed(batches(from))).unwrap();
        let mut whole = new(0);
        let (mut places, mut seen) = (Vec::new(), Vec::new());
        for round in 0..40 {
            places.push(whole.save());
            seen.push(visit(&mut whole, &visits(round)));
        }
        assert!(whole.passed()[0] > 0, "something is let go");
        for (round, place) in places.iter().enumerate() {
            let mut other = new(oldest_batch(place).unwrap() as usize);
            other.restore(place).unwrap();
            assert_eq!(&other.save(), place);
            for later in round..40 {
                assert_eq!(visit(&mut other, &visits(later)), seen[later], "from {round}");
            }
            assert_eq!(other.save(), whole.save());
        }
        let saved = whole.save();
        for bad in [&saved[..3], &saved[1..], &[]] {
            assert!(matches!(new(0).restore(bad), Err(Error::State(_))));
        }
        let mut far = saved.clone();
        far[3 + 3] = u64::MAX;
        assert!(matches!(new(0).restore(&far), Err(Error::State(_))));
    }

    #[test]
    fn a_feed_that_ends_early_ends_the_budgets() {
        let mut stream = Stream::new(1, vec![7, 7], 2, feed(vec![vec![(0, 1)]])).unwrap();
        assert_eq!(visit(&mut stream, &[0]), [1.0]);
        let mut rng = Rng::seed_from_u64(0);
        assert!(matches!(
            stream.draw(1, &mut rng),
            Err(Error::BudgetExhausted { group: 1, budget: 0 })
        ));
        assert_eq!(stream.remaining(1), Some(0));
    }

    #[test]
    fn memory_is_that_of_the_batches_that_wait() {
        let batches: Vec<_> = (0..1000).map(|b| vec![(0, b), (1, b)]).collect();
        let mut stream = Stream::new(1, vec![1000, 1000], 4, feed(batches)).unwrap();
        for b in 0..1000 {
            assert_eq!(visit(&mut stream, &[0, 1]), [f64::from(b); 2]);
        }
        assert!(stream.slots.len() <= 5, "{}", stream.slots.len());
    }

    #[test]
    fn batches_that_do_not_fit_are_refused() {
        let matrix = || Matrix::dense(1, vec![1.0]).unwrap();
        assert!(Batch::new(matrix(), vec![], &[vec![0]]).is_err());
        assert!(Batch::new(matrix(), vec![f64::NAN], &[vec![0]]).is_err());
        assert!(Batch::new(matrix(), vec![1.0], &[vec![1]]).is_err());
        let mut rng = Rng::seed_from_u64(0);
        let one = || Ok(Some(Arc::new(Batch::new(matrix(), vec![1.0], &[vec![0]])?)));
        let mut stream = Stream::new(1, vec![1, 1], 1, one).unwrap();
        assert!(matches!(stream.draw(0, &mut rng), Err(Error::Length { .. })));
        let mut stream = Stream::new(2, vec![1], 1, one).unwrap();
        assert!(matches!(stream.draw(0, &mut rng), Err(Error::Length { .. })));
    }
}
