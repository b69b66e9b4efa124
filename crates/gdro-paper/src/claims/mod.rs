//! Claims of the paper, and how each is judged.

mod compare;
mod levels;

use serde::Deserialize;

use crate::experiment::Against;
use crate::outcome::Outcome;
use crate::settings::Rule;

/// A claim of the paper.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Claim {
    /// What the paper says, or what we expect where `beyond` is set.
    pub text: String,
    /// Whether it is not the paper's.
    #[serde(default)]
    pub beyond: bool,
    /// How it is judged.
    pub test: Test,
    /// Why it does not hold under a rule, where it does not: shown only then.
    #[serde(default)]
    pub reason: Reasons,
}

/// Explanations for a claim that does not hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reasons {
    /// Under the theorems' steps.
    pub theory: Option<String>,
    /// Under tuned steps.
    pub tuned: Option<String>,
}

impl Reasons {
    /// That of a rule.
    pub(crate) fn of(&self, rule: Rule) -> Option<&str> {
        match rule {
            Rule::Theory => self.theory.as_deref(),
            Rule::Tuned => self.tuned.as_deref(),
        }
    }
}

/// How a claim is judged. Curves are compared by seed: the same seed is the same draw of the
/// problem.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Test {
    /// Each run has a smaller excess over the optimum than the next one, along the last decade and a
    /// half of what they have in common, and at its end.
    Order {
        /// From the best to the worst.
        runs: Vec<String>,
        /// At equal what.
        x: Against,
    },
    /// The excesses of two runs differ by less than a factor along the same range.
    Close {
        /// The two.
        runs: [String; 2],
        /// At equal what.
        x: Against,
        /// The factor.
        factor: f64,
    },
    /// A run has a smaller risk than each of the others at equal rounds, on every group.
    Faster {
        /// The run.
        run: String,
        /// The others.
        than: Vec<String>,
    },
    /// At its own end a run has the smallest risk of some on one group.
    Lowest {
        /// The run.
        run: String,
        /// The others.
        than: Vec<String>,
        /// The group, from 1.
        group: usize,
    },
    /// At its own end a run has the smallest risk of some on more than half of the groups.
    LowestInMost {
        /// The run.
        run: String,
        /// The others.
        than: Vec<String>,
    },
    /// At their ends two runs have about the same risk on a group.
    Match {
        /// The two.
        runs: [String; 2],
        /// The group, from 1.
        group: usize,
        /// How far apart the medians may be.
        within: f64,
    },
    /// The mean over some groups of what the risks of one run are above those of another, at their
    /// ends, beside the same difference of the exact optima.
    Difference {
        /// The run.
        run: String,
        /// Minus this one.
        minus: String,
        /// The groups, from 1: the first and the last of them.
        groups: (usize, usize),
        /// What the paper reports.
        paper: f64,
        /// How far from the exact difference the median may be.
        within: f64,
    },
    /// A run with preset steps is ahead of its anytime form at the preset number of rounds, and
    /// behind it at the end.
    Overtakes {
        /// The anytime form.
        anytime: String,
        /// The run with preset steps.
        fixed: String,
        /// The preset number of rounds.
        preset: u64,
    },
    /// A run ends close to the exact optimum.
    Reaches {
        /// The run.
        run: String,
        /// How close.
        within: f64,
    },
    /// No exact gap lies above the bound that holds with probability 1 − δ.
    BelowBound {},
}

impl Test {
    /// The runs that it names.
    pub(crate) fn runs(&self) -> Vec<&String> {
        match self {
            Test::Order { runs, .. } => runs.iter().collect(),
            Test::Close { runs, .. } | Test::Match { runs, .. } => runs.iter().collect(),
            Test::Faster { run, than }
            | Test::Lowest { run, than, .. }
            | Test::LowestInMost { run, than } => than.iter().chain([run]).collect(),
            Test::Difference { run, minus, .. } => vec![run, minus],
            Test::Overtakes { anytime, fixed, .. } => vec![anytime, fixed],
            Test::Reaches { run, .. } => vec![run],
            Test::BelowBound {} => Vec::new(),
        }
    }
}

/// How a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// It does not hold.
    Fails,
    /// Part of it holds, or it holds on part of the range.
    Partly,
    /// It holds.
    Holds,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Fails => "does not hold",
            Verdict::Partly => "holds in part",
            Verdict::Holds => "holds",
        }
    }

    fn of(holds: bool) -> Self {
        if holds { Verdict::Holds } else { Verdict::Fails }
    }
}

/// What was found about a claim under one rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub rule: Rule,
    pub verdict: Verdict,
    /// Our figures.
    pub ours: String,
    /// The exact value beside them, where there is one.
    pub exact: String,
}

/// Judges a claim under a rule; `None` when the rule has nothing to say of it.
pub(crate) fn judge(outcome: &Outcome, claim: &Claim, rule: Rule) -> Option<Finding> {
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

/// Four decimals.
fn risk(value: f64) -> String {
    format!("{value:.4}")
}

/// Two significant digits.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value.abs()) {
        let decimals = (1 - value.abs().max(1e-3).log10().floor() as i32).clamp(0, 4) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.1e}")
    }
}

/// A share in words.
fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
