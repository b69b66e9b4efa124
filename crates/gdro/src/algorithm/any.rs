//! The algorithms, each with its specification.

use serde::{Deserialize, Serialize};

use super::spec::AlgorithmSpec;
use super::{
    adaptive, afl, atkro_1, atkro_k, atkro_m, eliminate, exp3p, flexible, hybrid, mero, online_1,
    smd_1, smd_clip, smd_m, smd_r, smd_reuse, smpa_m, tinf,
};

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
