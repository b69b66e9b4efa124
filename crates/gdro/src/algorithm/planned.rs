//! How many rounds a run has, and whether its groups last that long.

use super::Algorithm;
use super::length::{ROUNDS, Request, RunLength};
use super::spec::Draws;
use crate::error::Conflict;

impl Algorithm {
    /// n̄, given or not; `None` for algorithms that have none.
    ///
    /// # Errors
    /// A conflict unless it lies between the smallest and the largest budget.
    pub fn nbar(self, request: &Request<'_>) -> Result<Option<u64>, Conflict> {
        let Some(usual) = self.spec().nbar else { return Ok(None) };
        let nbar = usual(request);
        let (least, most) = (request.least(), request.most());
        if (least..=most).contains(&nbar) {
            return Ok(Some(nbar));
        }
        let setting = if request.nbar.is_some() { "nbar" } else { "rounds" };
        let by = match request.rounds.filter(|_| request.nbar.is_none()) {
            Some(rounds) => format!("{rounds} rounds make "),
            None => String::new(),
        };
        let why = format!(
            "{by}nbar = {nbar}: expected a number between the smallest and the largest budget, {least} and {most}"
        );
        Err(Conflict { setting, why })
    }

    /// Rounds of a run for this n̄ when no number is given. Usually 200,000; under budgets as many
    /// as the smallest group lasts, or, unless every group is drawn in every round, half as many as
    /// there are rows if that is more.
    pub fn default_rounds(self, request: &Request<'_>, nbar: Option<u64>) -> u64 {
        let spec = self.spec();
        match (spec.rounds, request.budgets) {
            (Some(rounds), _) => rounds(request, nbar),
            (None, Some(_)) if spec.draws == Draws::EveryGroup => request.least(),
            (None, Some(budgets)) => request.least().max(budgets.iter().sum::<u64>() / 2),
            (None, None) => ROUNDS,
        }
    }

    /// The length of a run: what was given, or what is usual.
    ///
    /// # Errors
    /// The first conflict, of an option or of `budget`, when groups do not last that long or are
    /// too few.
    pub fn run_length(self, request: &Request<'_>) -> Result<RunLength, Conflict> {
        let nbar = self.nbar(request)?;
        let rounds = request.rounds.unwrap_or_else(|| self.default_rounds(request, nbar));
        let length = RunLength { rounds, nbar };
        (self.spec().limit)(request, &length)?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(algorithm: Algorithm, request: &Request<'_>) -> (&'static str, String) {
        let Conflict { setting, why } = algorithm.run_length(request).unwrap_err();
        (setting, why)
    }

    #[test]
    fn the_hybrid_asks_for_what_its_rounds_need() {
        let of = |given, rounds| {
            let counts = &[4, 100, 9];
            Algorithm::Hybrid.nbar(&Request { nbar: given, rounds, counts, ..Request::default() })
        };
        assert_eq!(of(None, None), Ok(Some(20)));
        assert_eq!(of(None, Some(7)), Ok(Some(14)));
        assert_eq!(of(Some(5), Some(7)), Ok(Some(5)));
        assert_eq!(of(Some(3), None).unwrap_err().setting, "nbar");
        assert_eq!(of(None, Some(51)).unwrap_err().setting, "rounds");
        let other = Request { nbar: Some(5), counts: &[4], ..Request::default() };
        assert_eq!(Algorithm::SmdR.nbar(&other), Ok(None));
    }

    #[test]
    fn rounds_follow_the_budgets() {
        let counts = &[40, 10, 25][..];
        let of = |algorithm: Algorithm, budgets| {
            let request = Request { budgets, counts, ..Request::default() };
            algorithm.run_length(&request).unwrap().rounds
        };
        for (algorithm, free, budgeted) in [
            (Algorithm::SmdM, 200_000, 10),
            (Algorithm::Online1, 200_000, 37),
            (Algorithm::SmdR, 40, 40),
            (Algorithm::SmpaM, 5, 5),
            (Algorithm::Hybrid, 10, 10),
            (Algorithm::Adaptive, 400_000, 10),
        ] {
            assert_eq!(of(algorithm, None), free, "{algorithm}");
            assert_eq!(of(algorithm, Some(counts)), budgeted, "{algorithm}");
        }
    }

    #[test]
    fn runs_that_groups_do_not_last_for_are_refused() {
        let budgets = Some(&[40, 10, 25][..]);
        let base = Request { budgets, counts: &[40, 10, 25], ..Request::default() };
        let found = refused(Algorithm::SmpaM, &Request { rounds: Some(6), ..base });
        let why = "smpa-m needs two rows of the smallest group in every round: its budget is enough for 5 rounds, not 6";
        assert_eq!(found, ("rounds", why.to_owned()));
        let found =
            refused(Algorithm::Hybrid, &Request { nbar: Some(20), rounds: Some(11), ..base });
        let why = "hybrid needs two rows of a group with nbar = 20 rows in every round: its budget is enough for 10 rounds, not 11";
        assert_eq!(found, ("rounds", why.to_owned()));
        let one = Request { budgets: Some(&[1, 9]), counts: &[1, 9], ..Request::default() };
        assert_eq!(refused(Algorithm::SmpaM, &one).0, "budget");
        let found = refused(Algorithm::Eliminate, &Request { kept: Some(10), ..base });
        let why = "eliminate keeps 10 rows of every group before it starts, and the smallest budget is 10";
        assert_eq!(found, ("kept", why.to_owned()));
        let found = refused(Algorithm::Flexible, &Request { queries: Some(&[1, 4]), ..base });
        let why = "4 of only 3 groups with training rows";
        assert_eq!(found, ("queries", why.to_owned()));
        // With replacement nothing runs out.
        let free = Request { budgets: None, rounds: Some(1000), kept: Some(99), ..base };
        for algorithm in [Algorithm::SmpaM, Algorithm::Eliminate] {
            assert_eq!(algorithm.run_length(&free).map(|l| l.rounds), Ok(1000));
        }
    }
}
