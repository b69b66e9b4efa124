//! What is said of a stream when passes were left out.

use std::fmt::Write as _;

use gdro_train::job::Job;
use gdro_train::solve::Ended;
use gdro_train::stream::Brief;

use super::numbers::risk;
use super::tables::{certificate_in_words, objective_in_words, plain};

/// What is known of a stream when passes were left out.
pub fn brief(brief: &Brief, job: &Job) -> String {
    let mut out = String::new();
    let s = &brief.summary;
    let shown = |v: Option<f64>| v.map_or("–".into(), risk);
    let width = s.groups.iter().map(|g| g.name.chars().count()).max().unwrap_or(5).max(5);
    let _ = writeln!(
        out,
        "{:width$}  {:>12}  {:>12}  {:>7}  {:>10}  {:>13}",
        "group", "rows", "visited", "weight", "risk", "held-out risk"
    );
    for g in &s.groups {
        let _ = writeln!(
            out,
            "{:width$}  {:>12}  {:>12}  {:>7.4}  {:>10}  {:>13}",
            plain(&g.name),
            g.n,
            g.samples,
            g.weight,
            shown(g.train_risk),
            shown(g.test_risk)
        );
    }
    let _ = writeln!(
        out,
        "{}: {} rounds, {} rows visited, {}, {:.2} s, {:.3e} rows a second",
        s.solver, s.rounds, s.samples, s.ended, s.seconds, s.rows_per_second
    );
    match &s.certificate {
        Some(certificate) => {
            out += &certificate_in_words(certificate, &objective_in_words(&job.training, false));
        }
        None if s.ended == Ended::Interrupted => {
            out += "certificate: none, since the run was interrupted before its end\n";
        }
        None => out += "certificate: none, since there was no pass after training\n",
    }
    out
}
