//! The experiments of Zhang, Bai, Zhao, Yang and Zhou, "Stochastic Approximation Approaches to Group
//! Distributionally Robust Optimization and Beyond", with exact values beside every figure.

pub mod figure;
