//! The algorithms of the paper, those that it compares itself with, and a few beyond, by name.
//!
//! A named algorithm is a [`Recipe`]: an estimator, a rule, the step sizes of its theorem. The
//! rest of a round — drawing, mirror steps, averaging, counting — is the same for all and lives in
//! [`crate::run`]. What else is to be known of it, from its options to its bounds, is its
//! [`AlgorithmSpec`], which stands beside the recipe.

mod adaptive;
mod afl;
mod any;
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
pub use any::Algorithm;
pub use atkro_1::atkro_1;
pub use atkro_k::atkro_k;
pub use atkro_m::{atkro_m, atkro_m_anytime};
pub use eliminate::{default_kept, eliminate};
pub use exp3p::exp3p;
pub use flexible::flexible;
pub use hybrid::hybrid;
pub use length::{Request, RunLength};
pub use mero::mero;
pub use online_1::{online_1, online_1_anytime};
pub use recipe::{Recipe, Rule};
pub use smd_1::smd_1;
pub use smd_clip::smd_clip;
pub use smd_m::{smd_m, smd_m_anytime, smd_m_single};
pub use smd_r::{smd_r, smd_r_weighted};
pub use smd_reuse::smd_reuse;
pub use smpa_m::smpa_m;
pub use spec::{
    AlgorithmSpec, Budgeted, Draws, Form, Gains, GapBound, GapBounds, Origin, RiskBounds,
};
pub use tinf::tinf;

pub use crate::constants::{Constants, SampleBounds};
