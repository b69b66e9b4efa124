//! Rows in memory, each visited at most once.

use rand::SeedableRng as _;

use super::{Handle, Source};
use crate::dataset::{Dataset, Sample};
use crate::error::{Error, Result, require};
use crate::sampling::{Rng, shuffle};

/// The rows of each group once each, in random order, and never more of them than the group's
/// budget n_i (§ label `sec:sa:weight:grdo`).
#[derive(Clone, Debug)]
pub struct OnceEach {
    data: Dataset,
    budgets: Vec<u64>,
    order: Vec<Vec<u32>>,
    used: Vec<u64>,
}

impl OnceEach {
    /// Visits the rows of `data` in an order that `seed` decides. `budgets` gives the number of
    /// rows to use of each group; `None` means all of them.
    ///
    /// # Errors
    /// [`Error::Length`] when there is not one budget per group, [`Error::Parameter`] for a budget
    /// of 0 or above the group's number of rows, and for rows with weights, which a single visit
    /// cannot honour.
    pub fn new(data: Dataset, budgets: Option<&[u64]>, seed: u64) -> Result<Self> {
        require(!data.is_weighted(), "row weights", "given", "none when each row is visited once")?;
        let budgets = budgets.map_or_else(|| data.counts(), <[u64]>::to_vec);
        if budgets.len() != data.groups() {
            let (found, expected) = (budgets.len(), data.groups());
            return Err(Error::Length { what: "budgets", found, expected });
        }
        for (group, budget) in budgets.iter().enumerate() {
            let holds = *budget >= 1 && *budget <= data.count(group);
            let found = format!("{budget} for group {group} of {} rows", data.count(group));
            require(holds, "budget", found, "at least 1 and at most the rows of the group")?;
        }
        let mut rng = Rng::seed_from_u64(seed);
        let shuffled = |group| {
            let mut rows = data.members(group).to_vec();
            shuffle(&mut rows, &mut rng);
            rows
        };
        let order = (0..data.groups()).map(shuffled).collect();
        let used = vec![0; budgets.len()];
        Ok(OnceEach { data, budgets, order, used })
    }

    /// The budgets n_1, …, n_m.
    pub fn budgets(&self) -> &[u64] {
        &self.budgets
    }
}

impl Source for OnceEach {
    fn groups(&self) -> usize {
        self.data.groups()
    }

    fn features(&self) -> usize {
        self.data.features()
    }

    fn stored(&self) -> Option<f64> {
        self.data.matrix().stored_per_row()
    }

    fn draw(&mut self, group: usize, _rng: &mut Rng) -> Result<Handle> {
        let (used, budget) = (self.used[group], self.budgets[group]);
        if used == budget {
            return Err(Error::BudgetExhausted { group, budget });
        }
        self.used[group] = used + 1;
        Ok(Handle(self.order[group][used as usize] as usize))
    }

    fn get(&self, handle: Handle) -> Sample<'_> {
        self.data.sample(handle.0)
    }

    fn remaining(&self, group: usize) -> Option<u64> {
        Some(self.budgets[group] - self.used[group])
    }

    fn save(&self) -> Vec<u64> {
        self.used.clone()
    }

    fn restore(&mut self, saved: &[u64]) -> Result<()> {
        let fits = saved.len() == self.used.len()
            && saved.iter().zip(&self.budgets).all(|(used, budget)| used <= budget);
        if !fits {
            return Err(Error::State("the samples used do not fit the budgets".into()));
        }
        self.used.copy_from_slice(saved);
        Ok(())
    }
}
