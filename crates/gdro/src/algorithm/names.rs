//! The names of the algorithms, and what each takes.

use serde::{Deserialize, Serialize};

/// The names of the algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Algorithm {
    /// Algorithm 1, SMD(m).
    SmdM,
    /// Algorithm 1 with the gradient of a single sample.
    SmdMSingle,
    /// Algorithm 1 of Sagawa et al., SMD(1).
    Smd1,
    /// Algorithm 2, Online(1).
    Online1,
    /// Algorithm 3, SMD_r.
    SmdR,
    /// Algorithm 3 with importance weights.
    SmdRWeighted,
    /// Algorithm 4, SMPA_m.
    SmpaM,
    /// The hybrid of Algorithms 3 and 4.
    Hybrid,
    /// Algorithm 5, AT_kRO(m).
    AtkroM,
    /// Algorithm 6, AT_kRO(k).
    AtkroK,
    /// Algorithm 7, AT_kRO(1), anytime.
    Atkro1,
    /// Sample reuse of Haghtalab, Jordan and Zhao.
    SmdReuse,
    /// Clipped gradients of Carmon and Hausler.
    SmdClip,
    /// GDRO-EXP3P of Soma, Gatmiry, Gupta and Jegelka.
    Exp3P,
    /// GDRO-TINF of Soma, Gatmiry, Gupta and Jegelka.
    Tinf,
    /// Stochastic-AFL of Mohri, Sivek and Suresh.
    Afl,
    /// Stochastic minimax regret of Zhang, Bai, Tu, Yang and Hu.
    Mero,
    /// Flexible sample queries of Bai, Yu, Li, Luo and Zhang.
    Flexible,
    /// Online learning among the groups that can dominate, after Nguyen, Mehta and Guzmán.
    Eliminate,
    /// Players that need no constants: AdaGrad-norm and AdaHedge.
    Adaptive,
}

/// Whether steps are meant for a number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For a fixed number of rounds.
    Fixed,
    /// There is such a form, and one with steps that fall with time.
    Both,
    /// Steps fall with time.
    Anytime,
}

/// What the player of q is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gains {
    /// Losses, or differences of losses.
    Losses,
    /// Losses times the inverse of the probability with which they are drawn.
    Inflated,
    /// m times a loss, clipped, with a step by the range of the losses.
    Clipped,
    /// Shortfalls of losses in a known range, with importance weights.
    Bandit,
}

/// What an algorithm takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The name used in options and files.
    pub name: &'static str,
    /// Whether it plays on the capped simplex.
    pub top_k: bool,
    /// Whether its steps are meant for a number of rounds.
    pub form: Form,
    /// Whether its scale factors and its number of rounds come from the groups' budgets n_i.
    pub budgets: bool,
    /// What its player of q is told.
    pub gains: Gains,
    /// Whether its q is moved by the entropy, so that steps of q are in nats per gain.
    pub entropic: bool,
    /// Whether its players find their own steps.
    pub adaptive: bool,
    /// Whether it also trains for fixed group weights.
    pub trains: bool,
}

impl Algorithm {
    /// All of them: those of the paper in its order, then the others.
    pub const ALL: [Algorithm; 20] = [
        Algorithm::SmdM,
        Algorithm::SmdMSingle,
        Algorithm::Smd1,
        Algorithm::Online1,
        Algorithm::SmdR,
        Algorithm::SmdRWeighted,
        Algorithm::SmpaM,
        Algorithm::Hybrid,
        Algorithm::AtkroM,
        Algorithm::AtkroK,
        Algorithm::Atkro1,
        Algorithm::SmdReuse,
        Algorithm::SmdClip,
        Algorithm::Exp3P,
        Algorithm::Tinf,
        Algorithm::Afl,
        Algorithm::Mero,
        Algorithm::Flexible,
        Algorithm::Eliminate,
        Algorithm::Adaptive,
    ];

    /// What it takes.
    pub const fn facts(self) -> Facts {
        use Form::{Anytime, Both, Fixed};
        use Gains::{Bandit, Clipped, Inflated, Losses};
        const fn facts(name: &'static str, form: Form, gains: Gains) -> Facts {
            Facts {
                name,
                top_k: false,
                form,
                budgets: false,
                gains,
                entropic: true,
                adaptive: false,
                trains: false,
            }
        }
        const fn trains(facts: Facts) -> Facts {
            Facts { trains: true, ..facts }
        }
        const fn top_k(facts: Facts) -> Facts {
            Facts { top_k: true, ..facts }
        }
        const fn budgeted(facts: Facts) -> Facts {
            Facts { budgets: true, ..facts }
        }
        match self {
            Algorithm::SmdM => trains(facts("smd-m", Both, Losses)),
            Algorithm::SmdMSingle => trains(facts("smd-m-single", Fixed, Losses)),
            Algorithm::Smd1 => trains(facts("smd-1", Fixed, Inflated)),
            Algorithm::Online1 => trains(facts("online-1", Both, Bandit)),
            Algorithm::SmdR => budgeted(facts("smd-r", Fixed, Losses)),
            Algorithm::SmdRWeighted => budgeted(facts("smd-r-weighted", Fixed, Inflated)),
            Algorithm::SmpaM => budgeted(facts("smpa-m", Fixed, Losses)),
            Algorithm::Hybrid => budgeted(facts("hybrid", Fixed, Losses)),
            Algorithm::AtkroM => top_k(facts("atkro-m", Both, Losses)),
            Algorithm::AtkroK => top_k(facts("atkro-k", Fixed, Bandit)),
            Algorithm::Atkro1 => top_k(facts("atkro-1", Anytime, Bandit)),
            Algorithm::SmdReuse => facts("smd-reuse", Fixed, Losses),
            Algorithm::SmdClip => facts("smd-clip", Fixed, Clipped),
            Algorithm::Exp3P => facts("exp3p", Fixed, Bandit),
            Algorithm::Tinf => facts("tinf", Anytime, Bandit),
            Algorithm::Afl => Facts { entropic: false, ..facts("afl", Fixed, Losses) },
            Algorithm::Mero => facts("mero", Anytime, Losses),
            Algorithm::Flexible => facts("flexible", Anytime, Bandit),
            Algorithm::Eliminate => facts("eliminate", Fixed, Bandit),
            Algorithm::Adaptive => {
                Facts { adaptive: true, ..trains(facts("adaptive", Anytime, Losses)) }
            }
        }
    }

    /// The name used in options and files.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Names of those for which a fact holds, as a list in words.
    pub fn named(holds: impl Fn(&Facts) -> bool) -> String {
        let facts = Algorithm::ALL.iter().map(|a| a.facts()).filter(holds);
        facts.map(|f| f.name).collect::<Vec<_>>().join(", ")
    }

    /// Whether its steps fall with time, in this form.
    pub fn falls(self, anytime: bool) -> bool {
        anytime || self.facts().form == Form::Anytime
    }
}

impl std::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Algorithm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Algorithm::ALL.iter().find(|a| a.name() == name);
        known.copied().ok_or_else(|| {
            let names = Algorithm::named(|_| true);
            format!("unknown solver `{name}`: expected one of {names}")
        })
    }
}

impl From<Algorithm> for String {
    fn from(algorithm: Algorithm) -> Self {
        algorithm.name().to_owned()
    }
}

impl TryFrom<String> for Algorithm {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}
