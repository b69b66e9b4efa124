//! What a claim says, and how it is to be judged.

use serde::Deserialize;

use crate::quantity::Against;
use crate::settings::StepRule;

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
    pub(crate) fn of(&self, rule: StepRule) -> Option<&str> {
        match rule {
            StepRule::Theory => self.theory.as_deref(),
            StepRule::Tuned => self.tuned.as_deref(),
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
    /// A run ends close to the exact optimum, by its objective and by its duality gap.
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
