//! Group distributionally robust optimisation: one model that does well on every group.
//!
//! The stochastic algorithms of Zhang, Bai, Zhao, Yang and Zhou, "Stochastic Approximation
//! Approaches to Group Distributionally Robust Optimization and Beyond", for linear models. All
//! play one game, [`game::Game`]:
//!
//! min_{w ∈ W} max_{q ∈ Q} Σ_i q_i p_i (R_i(w) − b_i) + (λ/2)‖w‖²
//!
//! | paper | here |
//! |---|---|
//! | distributions P_i, samples, budgets n_i | [`source`], [`dataset`] |
//! | loss ℓ, risk R_i | [`loss`], [`risk`] |
//! | domain W, mirror map ν_w, D² | [`domain`], [`iterate`] |
//! | q-player on Δ_m or S_{m,k}, projection, DepRound; other players | [`group_weights`], [`sampling`] |
//! | stochastic gradients, IX estimators | [`estimator`] |
//! | Algorithms 1–7, what they are compared with, step sizes | [`algorithm`] |
//! | theorems | [`bound`] |
//! | rounds, averages, anytime output | [`run`], [`schedule`], [`average`] |
//! | rounds that cost what they touch | [`storage`] |
//! | error ε_φ(w̄, q̄) on rows in memory, in one pass | [`certificate`], [`expansion`] |
//! | exact optima, exact risks of the synthetic sets, ordinary training | [`exact`] |
//! | objectives, solvers and what goes together, by name | [`setting`] |
//! | steps by pilot runs | [`pilot`] |
//! | intervals on held-out rows | [`interval`] |
//!
//! [`run::Saddle`] puts the parts together by type, [`config::Config`] by name:
//!
//! ```
//! use gdro::algorithm::{Algorithm, Constants};
//! use gdro::bound::Holds;
//! use gdro::config::Config;
//! use gdro::domain::{Domain, L2Ball};
//! use gdro::{exact::Population, game::Game, loss::Logistic, source::Synthetic};
//!
//! // Six of the paper's synthetic distributions in 10 dimensions; G² is about max ‖x‖².
//! let (source, domain) = (Synthetic::balanced(6, 10, 1)?, Domain::new(L2Ball::new(2.0)?));
//! let population = Population::new(&source);
//! let constants = Constants::paper(2.0, 5.0, 6);
//! let config = Config::new(Algorithm::Online1, 20_000);
//! let mut solver = config.build(Game::gdro(6), Logistic, source, domain, &constants, None)?;
//! solver.advance(20_000)?;
//! let exact = population.gap(&Game::gdro(6), &solver.model(), &solver.weights(), 2.0);
//! let bound = config.algorithm.gap(false, &constants, 20_000, Holds::OnAverage)?;
//! assert!(exact < 0.03 && exact < bound);
//! # Ok::<(), gdro::Error>(())
//! ```

pub mod algorithm;
pub mod average;
pub mod bound;
#[cfg(feature = "exact")]
pub mod certificate;
pub mod config;
pub mod constants;
pub mod dataset;
pub mod domain;
pub mod error;
pub mod estimator;
#[cfg(feature = "exact")]
pub mod exact;
#[cfg(feature = "exact")]
pub mod expansion;
pub mod game;
pub mod group_weights;
mod hint;
pub mod interval;
pub mod iterate;
pub mod loss;
mod math;
#[cfg(feature = "exact")]
pub mod pilot;
mod prefetch;
pub mod risk;
pub mod row;
pub mod run;
pub mod sampling;
pub mod schedule;
#[cfg(feature = "exact")]
pub mod setting;
pub mod source;
pub mod storage;

pub use dataset::{Dataset, Sample, is_weight};
pub use error::{Error, Result};
pub use row::{Matrix, Row};

/// The examples of the README run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
