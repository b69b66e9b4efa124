//! What decides how many rounds a run has.

/// Rounds when nothing else decides.
pub(super) const ROUNDS: u64 = 200_000;

/// What decides the length of a run: the options that were given, and the sizes of the groups.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// Number of rounds.
    pub rounds: Option<u64>,
    /// n̄ of the hybrid.
    pub nbar: Option<u64>,
    /// Samples of every group that elimination keeps.
    pub kept: Option<u64>,
    /// Numbers of groups that flexible queries ask in turn.
    pub queries: Option<&'a [usize]>,
    /// Budgets n_i, when rows are visited once.
    pub budgets: Option<&'a [u64]>,
    /// Numbers of rows of the groups.
    pub counts: &'a [u64],
}

impl Request<'_> {
    /// The budgets, or the sizes of the groups.
    fn sizes(&self) -> &[u64] {
        self.budgets.unwrap_or(self.counts)
    }

    /// The smallest budget, or the size of the smallest group; 1 without groups.
    pub fn least(&self) -> u64 {
        self.sizes().iter().copied().min().unwrap_or(1)
    }

    /// The largest budget, or the size of the largest group; 1 without groups.
    pub fn most(&self) -> u64 {
        self.sizes().iter().copied().max().unwrap_or(1)
    }
}

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLength {
    /// Number of rounds.
    pub rounds: u64,
    /// n̄, for algorithms that have one.
    pub nbar: Option<u64>,
}
