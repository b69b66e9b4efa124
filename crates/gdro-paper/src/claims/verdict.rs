//! How a claim stands, and how its figures are written.

/// Share of a range, and of the seeds at its end, from which on a claim holds.
pub const MOST: f64 = 0.9;

/// How a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// It does not hold.
    Fails,
    /// Part of it holds, or it holds on part of the range.
    Partly,
    /// It holds.
    Holds,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Fails => "does not hold",
            Verdict::Partly => "holds in part",
            Verdict::Holds => "holds",
        }
    }

    /// Whether it holds.
    pub fn of(holds: bool) -> Self {
        if holds { Verdict::Holds } else { Verdict::Fails }
    }
}

/// Four decimals.
pub fn risk(value: f64) -> String {
    format!("{value:.4}")
}

/// Two significant digits.
pub fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value.abs()) {
        let decimals = (1 - value.abs().max(1e-3).log10().floor() as i32).clamp(0, 4) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.1e}")
    }
}

/// A share in words.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
