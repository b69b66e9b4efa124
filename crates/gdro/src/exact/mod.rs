//! Exact reference values.
