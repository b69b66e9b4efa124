//! Claims of the paper, and how each is judged.

mod claim;
mod compare;
mod levels;
mod verdict;

pub use claim::{Claim, Test};
pub(crate) use verdict::Verdict;

use crate::outcome::Outcome;
use crate::settings::StepRule;

/// What was found about a claim under one rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub rule: StepRule,
    pub verdict: Verdict,
    /// Our figures.
    pub ours: String,
    /// The exact value beside them, where there is one.
    pub exact: String,
}

/// Judges a claim under a rule; `None` when the rule has nothing to say of it.
pub(crate) fn judge(outcome: &Outcome, claim: &Claim, rule: StepRule) -> Option<Finding> {
    let series = |id: &String| outcome.series(rule, id);
    let list = |ids: &[String]| ids.iter().map(series).collect::<Option<Vec<_>>>();
    let (verdict, ours, exact) = match &claim.test {
        Test::Order { runs, x } => compare::order(outcome, &list(runs)?, *x),
        Test::Close { runs, x, factor } => compare::close(outcome, &list(runs)?, *x, *factor),
        Test::Faster { run, than } => compare::faster(outcome, series(run)?, &list(than)?),
        Test::Lowest { run, than, group } => {
            levels::lowest(outcome, series(run)?, &list(than)?, *group)
        }
        Test::LowestInMost { run, than } => {
            levels::lowest_in_most(outcome, series(run)?, &list(than)?)
        }
        Test::Match { runs: [a, b], group, within } => {
            levels::same(outcome, series(a)?, series(b)?, *group, *within)
        }
        Test::Difference { run, minus, groups, within, .. } => {
            levels::difference(outcome, series(run)?, series(minus)?, *groups, *within)
        }
        Test::Overtakes { anytime, fixed, preset } => {
            compare::overtakes(outcome, series(anytime)?, series(fixed)?, *preset)
        }
        Test::Reaches { run, within } => levels::reaches(outcome, series(run)?, *within),
        Test::BelowBound {} => levels::below_bound(outcome, rule)?,
    };
    Some(Finding { rule, verdict, ours, exact })
}

#[cfg(test)]
mod tests {
    use gdro::algorithm::Algorithm;

    use super::*;
    use crate::experiment::{Experiment, Run};
    use crate::outcome::Series;
    use crate::problem::Optimum;
    use crate::run::{CurvePoint, Gaps, RunPlan, Trace};

    /// A run whose risks of two groups after t rounds are 1 + `by`/t and 1 + `by`/(2t), in three
    /// seeds, with a gap of `by`/t and a bound of 1/t.
    fn series(id: &str, by: [f64; 3]) -> Series {
        let run = Run {
            id: id.into(),
            label: id.into(),
            algorithm: Algorithm::SmdM,
            anytime: false,
            rounds: Some(1000),
            preset: None,
            tuning_rounds: None,
            nbar: None,
        };
        let looks: Vec<u64> = vec![10, 20, 50, 100, 200, 500, 1000];
        let point = |by: f64| {
            move |t: &u64| {
                let risks = vec![1.0 + by / *t as f64, 1.0 + by / (2.0 * *t as f64)];
                let (objective, mean) = (risks[0], 0.5 * (risks[0] + risks[1]));
                let gap = Some(by / *t as f64);
                CurvePoint { rounds: *t, samples: 2 * t, objective, mean, gap, risks }
            }
        };
        let trace = |by| Trace {
            points: looks.iter().map(point(by)).collect(),
            clipped: 0,
            exhausted: None,
            model: None,
        };
        let plan = RunPlan {
            algorithm: run.algorithm,
            anytime: false,
            k: 1.0,
            preset: 1000,
            step_w: 1.0,
            step_q: 1.0,
            average: None,
            nbar: None,
            scales: None,
            seed: 1,
            looks: looks.clone(),
            gaps: Gaps::All,
        };
        let bounds = looks.iter().map(|t| (*t, 2 * t, 1.0 / *t as f64)).collect();
        Series { run, rule: StepRule::Theory, plan, traces: by.map(trace).to_vec(), bounds }
    }

    fn outcome(series: Vec<Series>) -> Outcome {
        let experiment: Experiment = toml::from_str(
            "order = 1\ntitle = 't'\nabout = 'a'\nproblem = 'p'\ncolumns = 1\nruns = []\npanels = []",
        )
        .unwrap();
        let optimum = Optimum { value: 1.0, risks: vec![1.0, 1.0], of_mean: 1.1, error: 0.0 };
        Outcome {
            experiment,
            seeds: vec![1, 2, 3],
            groups: 2,
            optima: vec![(1.0, vec![optimum; 3])],
            series,
            constants: Vec::new(),
            assumptions: String::new(),
            tuned: Vec::new(),
            delta: 0.05,
        }
    }

    fn verdict(outcome: &Outcome, test: &str) -> Verdict {
        let claim: Claim = toml::from_str(&format!("text = 'x'\ntest = {{ {test} }}")).unwrap();
        judge(outcome, &claim, StepRule::Theory).unwrap().verdict
    }

    #[test]
    fn orders_are_told_from_their_opposites() {
        let outcome = outcome(vec![series("a", [1.0, 1.1, 0.9]), series("b", [2.0, 2.2, 1.8])]);
        let order =
            |runs: &str| verdict(&outcome, &format!("kind = 'order', x = 'rounds', runs = {runs}"));
        assert_eq!(order("['a', 'b']"), Verdict::Holds);
        assert_eq!(order("['b', 'a']"), Verdict::Fails);
        let close = |factor| {
            let test =
                format!("kind = 'close', x = 'samples', factor = {factor}, runs = ['a', 'b']");
            verdict(&outcome, &test)
        };
        assert_eq!(close(2.5), Verdict::Holds);
        assert_eq!(close(1.5), Verdict::Fails);
        let faster =
            |a, b| verdict(&outcome, &format!("kind = 'faster', run = '{a}', than = ['{b}']"));
        assert_eq!(faster("a", "b"), Verdict::Holds);
        assert_eq!(faster("b", "a"), Verdict::Fails);
    }

    /// One seed of three against the order is more than the tenth that is allowed.
    #[test]
    fn a_seed_of_three_against_the_order_counts() {
        let outcome = outcome(vec![series("a", [1.0, 1.1, 9.0]), series("b", [2.0, 2.2, 1.8])]);
        let order = "kind = 'order', x = 'rounds', runs = ['a', 'b']";
        assert_eq!(verdict(&outcome, order), Verdict::Partly);
        let lowest = "kind = 'lowest', run = 'a', than = ['b'], group = 1";
        assert_eq!(verdict(&outcome, lowest), Verdict::Partly);
        assert_eq!(
            verdict(&outcome, "kind = 'lowest', run = 'b', than = ['a'], group = 1"),
            Verdict::Fails
        );
        assert_eq!(
            verdict(&outcome, "kind = 'lowest-in-most', run = 'a', than = ['b']"),
            Verdict::Holds
        );
        assert_eq!(
            verdict(&outcome, "kind = 'lowest-in-most', run = 'b', than = ['a']"),
            Verdict::Fails
        );
    }

    #[test]
    fn ends_are_measured_against_the_optimum() {
        let outcome = outcome(vec![series("a", [1.0, 1.1, 0.9]), series("b", [9.0, 9.0, 9.0])]);
        let reaches = |run, within: f64| {
            verdict(&outcome, &format!("kind = 'reaches', run = '{run}', within = {within}"))
        };
        assert_eq!(reaches("a", 0.0012), Verdict::Holds);
        assert_eq!(reaches("a", 0.00105), Verdict::Partly);
        assert_eq!(reaches("a", 0.0005), Verdict::Fails);
        // 0.001 and 0.009 above the optima, whose difference is 0.
        let difference = |within: f64| {
            let groups = "groups = [1, 1], paper = 0.0";
            verdict(
                &outcome,
                &format!(
                    "kind = 'difference', run = 'b', minus = 'a', {groups}, within = {within}"
                ),
            )
        };
        assert_eq!(difference(0.0085), Verdict::Holds);
        assert_eq!(difference(0.0075), Verdict::Fails);
        let same = |within: f64| {
            verdict(
                &outcome,
                &format!("kind = 'match', runs = ['a', 'b'], group = 2, within = {within}"),
            )
        };
        assert_eq!(same(0.0045), Verdict::Holds);
        assert_eq!(same(0.0035), Verdict::Fails);
    }

    #[test]
    fn a_gap_above_its_bound_is_seen() {
        let below = outcome(vec![series("a", [0.9, 0.5, 0.1])]);
        assert_eq!(verdict(&below, "kind = 'below-bound'"), Verdict::Holds);
        let above = outcome(vec![series("a", [0.9, 0.5, 1.1])]);
        assert_eq!(verdict(&above, "kind = 'below-bound'"), Verdict::Fails);
    }

    #[test]
    fn an_anytime_form_that_overtakes() {
        let slow = series("slow", [2.0, 2.0, 2.0]);
        // Ahead before round 100, level with itself after it.
        let mut fixed = series("fixed", [1.0, 1.0, 1.0]);
        for trace in &mut fixed.traces {
            let at_100 = trace.points[3].clone();
            for point in &mut trace.points[4..] {
                (point.objective, point.risks) = (at_100.objective, at_100.risks.clone());
            }
        }
        let outcome = outcome(vec![slow, fixed]);
        let test = "kind = 'overtakes', anytime = 'slow', fixed = 'fixed', preset = 100";
        assert_eq!(verdict(&outcome, test), Verdict::Holds);
        let test = "kind = 'overtakes', anytime = 'fixed', fixed = 'slow', preset = 100";
        assert_eq!(verdict(&outcome, test), Verdict::Fails);
    }
}
