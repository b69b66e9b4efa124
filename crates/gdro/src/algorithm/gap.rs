//! Bounds on the duality gap by the name of the algorithm, and the number of samples that they ask
//! for.

use super::Algorithm;
use crate::bound::Holds;
use crate::constants::Constants;
use crate::error::{Error, Result, require};

impl Algorithm {
    /// The paper's bound on the duality gap of an algorithm after so many rounds. For Algorithm 1
    /// with the gradient of a single sample it is that of label `thm:1`, whose proof holds as it
    /// stands. Algorithms 1 and 2 know no cap: [`Constants::k`] does not matter to them.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for algorithms whose gap the paper does not bound by a number, and as
    /// the bound itself.
    pub fn gap(
        self,
        anytime: bool,
        constants: &Constants,
        rounds: u64,
        holds: Holds,
    ) -> Result<f64> {
        let bounds = self.spec().gap;
        let bound = if self.falls(anytime) { bounds.anytime } else { bounds.fixed };
        let bound = bound.ok_or(Error::Unsupported {
            algorithm: self.name(),
            option: "a bound on its gap",
            advice: "the paper bounds smd-m, online-1, atkro-m, atkro-k and atkro-1, and the risks of smd-r and smpa-m group by group",
        })?;
        bound(constants, rounds, holds)
    }

    /// The smallest number of rounds T for which the bound of an algorithm is at most ε, and the
    /// samples that they draw: mT for Algorithms 1 and 5, T for 2 and 7, kT for 6. Fixed-step forms
    /// where there are two.
    ///
    /// # Errors
    /// As [`Algorithm::gap`]; [`Error::Parameter`] for ε that is not positive, and when not even 2⁶²
    /// rounds are enough.
    pub fn samples(self, constants: &Constants, epsilon: f64, holds: Holds) -> Result<(u64, u64)> {
        require(epsilon > 0.0, "epsilon", epsilon, "a gap above 0")?;
        let bound = |rounds| self.gap(false, constants, rounds, holds);
        // All bounds fall with the number of rounds.
        let (mut low, mut high) = (0, 1);
        while bound(high)? > epsilon {
            require(high < 1 << 62, "epsilon", epsilon, "a gap that fewer than 2⁶² rounds reach")?;
            (low, high) = (high, 2 * high);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if bound(middle)? > epsilon { low = middle } else { high = middle }
        }
        let Constants { groups, k, .. } = *constants;
        let per_round = self.spec().draws.per_round(groups, k).unwrap_or(1.0);
        Ok((high, high.saturating_mul(per_round as u64)))
    }
}
