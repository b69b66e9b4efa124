//! The algorithms of the paper, those that it compares itself with, and a few beyond, by name.
//!
//! A named algorithm is a [`Recipe`]: an estimator, a rule, the step sizes of its theorem. The
//! rest of a round — drawing, mirror steps, averaging, counting — is the same for all and lives in
//! [`crate::run`]. What else is to be known of it, from its options to its bounds, is its
//! [`AlgorithmSpec`], which stands beside the recipe.

mod adaptive;
mod afl;
mod atkro_1;
mod atkro_k;
mod atkro_m;
mod eliminate;
mod exp3p;
mod flexible;
mod gap;
mod hybrid;
mod length;
mod mero;
mod names;
mod online_1;
mod planned;
mod recipe;
mod smd_1;
mod smd_clip;
mod smd_m;
mod smd_r;
mod smd_reuse;
mod smpa_m;
mod spec;
mod tinf;

pub use adaptive::adaptive;
pub use afl::afl;
pub use atkro_1::atkro_1;
pub use atkro_k::atkro_k;
pub use atkro_m::{atkro_m, atkro_m_anytime};
pub use eliminate::{default_kept, eliminate};
pub use exp3p::exp3p;
pub use flexible::flexible;
pub use hybrid::{hybrid, hybrid_unweighted};
pub use length::{Request, RunLength};
pub use mero::mero;
pub use online_1::{online_1, online_1_anytime};
pub use recipe::{Recipe, Rule};
pub use smd_1::smd_1;
pub use smd_clip::smd_clip;
pub use smd_m::{smd_m, smd_m_anytime, smd_m_single};
pub use smd_r::{smd_r, smd_r_weighted};
pub use smd_reuse::smd_reuse;
pub use smpa_m::{smpa_m, smpa_m_unweighted};
pub use spec::{
    AlgorithmSpec, Budgeted, Draws, Form, Gains, GapBound, GapBounds, Origin, RiskBounds,
};
pub use tinf::tinf;

pub use crate::constants::{Constants, SampleBounds};

use serde::{Deserialize, Serialize};

/// Makes the names of the algorithms from a list of their specifications.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $name:ident = $spec:expr,)*) => {
        /// The names of the algorithms.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub enum Algorithm {
            $($(#[$doc])* $name,)*
        }

        impl Algorithm {
            /// All of them: those of the paper in its order, then the others.
            pub const ALL: [Algorithm; [$(Algorithm::$name),*].len()] = [$(Algorithm::$name),*];

            /// What is known of it.
            pub const fn spec(self) -> &'static AlgorithmSpec {
                match self {
                    $(Algorithm::$name => &$spec,)*
                }
            }
        }
    };
}

algorithms! {
    /// Algorithm 1, SMD(m).
    SmdM = smd_m::SPEC,
    /// Algorithm 1 with the gradient of a single sample.
    SmdMSingle = smd_m::SINGLE,
    /// Algorithm 1 of Sagawa et al., SMD(1).
    Smd1 = smd_1::SPEC,
    /// Algorithm 2, Online(1).
    Online1 = online_1::SPEC,
    /// Algorithm 3, SMD_r.
    SmdR = smd_r::SPEC,
    /// Algorithm 3 with importance weights.
    SmdRWeighted = smd_r::WEIGHTED,
    /// Algorithm 4, SMPA_m.
    SmpaM = smpa_m::SPEC,
    /// The hybrid of Algorithms 3 and 4.
    Hybrid = hybrid::SPEC,
    /// Algorithm 5, AT_kRO(m).
    AtkroM = atkro_m::SPEC,
    /// Algorithm 6, AT_kRO(k).
    AtkroK = atkro_k::SPEC,
    /// Algorithm 7, AT_kRO(1), anytime.
    Atkro1 = atkro_1::SPEC,
    /// Sample reuse of Haghtalab, Jordan and Zhao.
    SmdReuse = smd_reuse::SPEC,
    /// Clipped gradients of Carmon and Hausler.
    SmdClip = smd_clip::SPEC,
    /// GDRO-EXP3P of Soma, Gatmiry, Gupta and Jegelka.
    Exp3P = exp3p::SPEC,
    /// GDRO-TINF of Soma, Gatmiry, Gupta and Jegelka.
    Tinf = tinf::SPEC,
    /// Stochastic-AFL of Mohri, Sivek and Suresh.
    Afl = afl::SPEC,
    /// Stochastic minimax regret of Zhang, Bai, Tu, Yang and Hu.
    Mero = mero::SPEC,
    /// Flexible sample queries of Bai, Yu, Li, Luo and Zhang.
    Flexible = flexible::SPEC,
    /// Online learning among the groups that can dominate, after Nguyen, Mehta and Guzmán.
    Eliminate = eliminate::SPEC,
    /// Players that need no constants: AdaGrad-norm and AdaHedge.
    Adaptive = adaptive::SPEC,
}
