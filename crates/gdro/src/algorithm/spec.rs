//! What is known of an algorithm besides its recipe.

use super::{Request, RunLength};
use crate::bound::Holds;
use crate::constants::Constants;
use crate::error::{Conflict, Result};

/// Where an algorithm comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The paper proposes it.
    Paper,
    /// The paper compares itself with it.
    Compared,
    /// Neither.
    Beyond,
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

/// How many samples a round draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// One of every group: m.
    EveryGroup,
    /// One of each of k groups.
    EachOfK,
    /// So many on average, whatever the number of groups.
    Few(u64),
    /// As many as budgets or queries say.
    Varying,
}

impl Draws {
    /// Samples per round for m groups and a cap 1/k; `None` where budgets or queries decide.
    pub fn per_round(self, groups: usize, k: f64) -> Option<f64> {
        match self {
            Draws::EveryGroup => Some(groups as f64),
            Draws::EachOfK => Some(k),
            Draws::Few(samples) => Some(samples as f64),
            Draws::Varying => None,
        }
    }
}

/// What the player of q observes.
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

/// A bound on a duality gap after a number of rounds, one of [`crate::bound`].
pub type GapBound = fn(&Constants, u64, Holds) -> Result<f64>;

/// Bounds on the duality gap, for the forms that have one.
#[derive(Clone, Copy, Debug)]
pub struct GapBounds {
    /// With steps for a number of rounds.
    pub fixed: Option<GapBound>,
    /// With steps that fall with time.
    pub anytime: Option<GapBound>,
}

/// A bound on R_i − p*_φ/p_i of every group with probability 1 − δ, for budgets n_i and δ.
pub type RiskBounds = fn(&Constants, &[u64], f64) -> Result<Vec<f64>>;

/// What makes an algorithm one of a weighted game whose scale factors come from the budgets n_i.
#[derive(Clone, Copy, Debug)]
pub struct Budgeted {
    /// The scale factors p_i for budgets n_i and n̄ (which the hybrid alone has).
    pub scales: fn(&[u64], u64) -> Result<Vec<f64>>,
    /// The largest importance weight when it plays the game itself instead, for budgets n_i and n̄.
    pub inflation: fn(&[u64], u64) -> f64,
    /// The paper's bound on the risks, where it has one.
    pub bound: Option<RiskBounds>,
}

/// What is known of an algorithm besides its recipe: everything but `config.rs` asks here instead
/// of matching on names.
#[derive(Clone, Copy, Debug)]
pub struct AlgorithmSpec {
    /// The name used in options and files.
    pub name: &'static str,
    /// What it does, in half a sentence.
    pub help: &'static str,
    /// Who proposed it.
    pub origin: Origin,
    /// Where it is described: a number or label of the paper, or a publication.
    pub citation: &'static str,
    /// Whether it plays on the capped simplex.
    pub top_k: bool,
    /// Whether it also trains for fixed group weights.
    pub trains: bool,
    /// Whether it minimises regret and nothing else.
    pub only_regret: bool,
    /// Whether its steps are meant for a number of rounds.
    pub form: Form,
    /// How many samples a round draws.
    pub draws: Draws,
    /// What its player of q observes.
    pub gains: Gains,
    /// Whether its q is moved by the entropy, so that steps of q are in nats per gain.
    pub entropic: bool,
    /// Whether its players find their own steps.
    pub adaptive: bool,
    /// Whether they may: it is [`adaptive`](super::adaptive()) but for the theorem's steps.
    pub may_adapt: bool,
    /// Whether its scale factors and its number of rounds come from the groups' budgets n_i, and
    /// how.
    pub budgets: Option<Budgeted>,
    /// Whether it can visit the rows of a stream, each at most once.
    pub streams: bool,
    /// Whether it is a choice for tables that are too large for the reference solver, see
    /// [`Algorithm::automatic`](super::Algorithm::automatic).
    pub automatic: bool,
    /// Whether it is right with probability 1 − δ for a δ that it is given.
    pub delta: bool,
    /// Whether it assumes the Euclidean norm.
    pub only_euclidean: bool,
    /// Options that no other algorithm uses, by their names in job files.
    pub options: &'static [&'static str],
    /// n̄ unless it is given, for algorithms that have one.
    pub nbar: Option<fn(&Request<'_>) -> u64>,
    /// Rounds unless they are given, for this n̄; `None` for the
    /// [usual number](super::Algorithm::default_rounds).
    pub rounds: Option<fn(&Request<'_>, Option<u64>) -> u64>,
    /// Whether budgets and groups are enough for a run.
    pub limit: fn(&Request<'_>, &RunLength) -> Result<(), Conflict>,
    /// The paper's bounds on its duality gap.
    pub gap: GapBounds,
}

impl AlgorithmSpec {
    /// What holds for most algorithms, to be completed by name, help and citation.
    pub(super) const USUAL: AlgorithmSpec = AlgorithmSpec {
        name: "",
        help: "",
        origin: Origin::Beyond,
        citation: "",
        top_k: false,
        trains: false,
        only_regret: false,
        form: Form::Fixed,
        draws: Draws::Few(1),
        gains: Gains::Losses,
        entropic: true,
        adaptive: false,
        may_adapt: false,
        budgets: None,
        streams: false,
        automatic: false,
        delta: false,
        only_euclidean: false,
        options: &[],
        nbar: None,
        rounds: None,
        limit: |_, _| Ok(()),
        gap: GapBounds { fixed: None, anytime: None },
    };

    /// Whether it plays the weighted game Σ q_i p_i R_i (label `eqn:convex:concave:weight`), whose scale
    /// factors p_i come from the budgets, unless [`Config::unweighted`](crate::config::Config) says
    /// otherwise: not the largest risk is least in the end, but the largest p_i R_i.
    pub fn is_weighted(&self) -> bool {
        self.budgets.is_some() && self.gains != Gains::Inflated
    }

    /// Whether it uses an option that belongs to one algorithm alone.
    pub fn owns(&self, option: &str) -> bool {
        self.options.contains(&option)
    }
}
