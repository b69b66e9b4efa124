//! What the groups of a tree remember besides their leaf: logarithm and share of the average.

use crate::math::quick_exp_of_sum;

/// Logarithms and steps beyond this are cut off, as in [`super::super::Plain`].
const LOG_LIMIT: f64 = 1e300;

/// One group. Its logarithm is the sum of two numbers: after any number of steps it is as exact as
/// one number can be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// ln q_i up to a common constant, and what that number cannot hold.
    log: f64,
    rest: f64,
    /// Σ ω_s q_i over the rounds that are settled.
    sum: f64,
    /// The clock up to which they are.
    seen: f64,
}

impl Group {
    /// Adds to the logarithm.
    #[inline]
    pub fn add(&mut self, by: f64) {
        let sum = self.log + by;
        // Not for NaN, which no logarithm is.
        if sum.abs() <= LOG_LIMIT {
            // The exact error of the sum (Knuth), then of the sum with what was left before.
            let other = sum - self.log;
            self.rest += (self.log - (sum - other)) + (by - other);
            self.log = sum;
        } else {
            self.cut_off(sum);
        }
    }

    /// Replaces the logarithm by one that is beyond the limit.
    #[cold]
    fn cut_off(&mut self, log: f64) {
        self.place(log.clamp(-LOG_LIMIT, LOG_LIMIT));
    }

    /// Replaces the logarithm.
    #[inline]
    pub fn place(&mut self, log: f64) {
        (self.log, self.rest) = (log, 0.0);
    }

    /// The logarithm.
    #[inline]
    pub fn log(&self) -> f64 {
        self.log
    }

    /// Takes over the logarithm of another.
    pub fn copy_log(&mut self, other: &Self) {
        (self.log, self.rest) = (other.log, other.rest);
    }

    /// e to the logarithm; ∞ where that overflows.
    #[inline(always)]
    pub fn mass(&self) -> f64 {
        quick_exp_of_sum(self.log, self.rest)
    }

    /// The four numbers.
    pub fn save(&self) -> [f64; 4] {
        [self.log, self.rest, self.sum, self.seen]
    }

    /// Takes them over.
    pub fn restore(&mut self, saved: &[f64; 4]) {
        [self.log, self.rest, self.sum, self.seen] = *saved;
    }
}

/// The average of weights of which a round moves only a few. With q_i = c·v_i, where only c changes
/// while a group is not touched, Σ ω_s q_{s,i} = v_i (C − C_i) for the sum C = Σ ω_s c_s now and
/// when it was touched last.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// C since all groups were settled, and the rounding error of the last addition.
    turned: f64,
    error: f64,
    /// Σ ω_s since then.
    weight: f64,
    /// Σ ω_s over the whole average.
    total: f64,
}

impl Clock {
    /// Adds a round with the weight ω and the factor c.
    #[inline]
    pub fn turn(&mut self, weight: f64, factor: f64) {
        let by = weight * factor - self.error;
        let turned = self.turned + by;
        self.error = (turned - self.turned) - by;
        self.turned = turned;
        self.weight += weight;
        self.total += weight;
    }

    /// Whether c has fallen so far that rounds to come would be lost beside those that were: all
    /// groups have to be settled.
    #[inline]
    pub fn runs_down(&self, factor: f64) -> bool {
        self.turned > 1024.0 * self.weight * factor
    }

    /// Settles a free group of mass v.
    #[inline]
    pub fn settle(&self, group: &mut Group, mass: f64) {
        let since = self.turned - group.seen;
        // Not for since = 0: the mass may be infinite then.
        if since != 0.0 {
            group.sum += mass * since;
            group.seen = self.turned;
        }
    }

    /// Settles a group whose weight is the cap.
    #[inline]
    pub fn settle_capped(&self, group: &mut Group, cap: f64) {
        group.sum += cap * (self.weight - group.seen);
        group.seen = self.weight;
    }

    /// A free group that was settled is capped from now on.
    #[inline]
    pub fn cap(&self, group: &mut Group) {
        group.seen = self.weight;
    }

    /// A capped group that was settled is free from now on.
    #[inline]
    pub fn free(&self, group: &mut Group) {
        group.seen = self.turned;
    }

    /// The mean weight of a free group.
    pub fn mean(&self, group: &Group, mass: f64) -> f64 {
        let mut group = *group;
        self.settle(&mut group, mass);
        group.sum / self.total
    }

    /// The mean weight of a capped group.
    pub fn mean_capped(&self, group: &Group, cap: f64) -> f64 {
        let mut group = *group;
        self.settle_capped(&mut group, cap);
        group.sum / self.total
    }

    /// Σ ω_s over the whole average.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Starts from 0 when all groups have been settled.
    pub fn wind(&mut self, groups: &mut [Group]) {
        groups.iter_mut().for_each(|group| group.seen = 0.0);
        (self.turned, self.error, self.weight) = (0.0, 0.0, 0.0);
    }

    /// Forgets the average.
    pub fn restart(&mut self, groups: &mut [Group]) {
        groups.iter_mut().for_each(|group| group.sum = 0.0);
        self.wind(groups);
        self.total = 0.0;
    }

    /// The four numbers.
    pub fn save(&self) -> [f64; 4] {
        [self.turned, self.error, self.weight, self.total]
    }

    /// Takes them over.
    pub fn restore(&mut self, saved: &[f64; 4]) {
        [self.turned, self.error, self.weight, self.total] = *saved;
    }
}
