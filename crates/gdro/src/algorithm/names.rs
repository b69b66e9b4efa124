//! Algorithms by name, and in words.

use super::{Algorithm, AlgorithmSpec, Form, Origin};

impl Algorithm {
    /// The name used in options and files.
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// Names of those for which something holds, as a list in words.
    pub fn named(holds: impl Fn(&AlgorithmSpec) -> bool) -> String {
        let specs = Algorithm::ALL.iter().map(|a| a.spec()).filter(|spec| holds(spec));
        specs.map(|spec| spec.name).collect::<Vec<_>>().join(", ")
    }

    /// Whether its steps fall with time, in this form.
    pub fn falls(self, anytime: bool) -> bool {
        anytime || self.spec().form == Form::Anytime
    }

    /// The one that plays when none is named, with or without a cap on the group weights: with many
    /// groups one that draws few of them in a round.
    pub fn automatic(top_k: bool, many_groups: bool) -> Algorithm {
        let suits = |spec: &AlgorithmSpec| {
            let few = spec.draws.per_round(usize::MAX, 1.0).is_some_and(|n| n <= 1.0);
            spec.automatic && spec.top_k == top_k && few == many_groups
        };
        let found = Algorithm::ALL.into_iter().find(|a| suits(a.spec()));
        found.expect("a test holds that there is one for each case")
    }

    /// All names by their origin, as half a sentence for a help text.
    pub fn help() -> String {
        let of = |origin| Algorithm::named(|spec| spec.origin == origin);
        format!(
            "the paper's {}; of what it compares itself with, {}; or beyond it, {}",
            of(Origin::Paper),
            of(Origin::Compared),
            of(Origin::Beyond),
        )
    }

    /// A line for each: name, what it does, and where it is described.
    pub fn help_lines() -> Vec<String> {
        let specs = Algorithm::ALL.map(Algorithm::spec);
        let width = specs.iter().map(|spec| spec.name.len()).max().unwrap_or(0);
        let line = |spec: &&AlgorithmSpec| {
            format!("{:width$}  {} ({})", spec.name, spec.help, spec.citation)
        };
        specs.iter().map(line).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_is_described_and_known_by_its_name() {
        for algorithm in Algorithm::ALL {
            let spec = algorithm.spec();
            assert_eq!(spec.name.parse(), Ok(algorithm));
            assert!(!spec.help.is_empty() && !spec.help.ends_with('.'), "{algorithm}");
            assert!(!spec.citation.is_empty(), "{algorithm}");
            let others = Algorithm::ALL.into_iter().filter(|a| *a != algorithm);
            let shared = others.flat_map(|a| a.spec().options).find(|o| spec.owns(o));
            assert_eq!(shared, None, "an option of one algorithm");
            // Bounds speak of forms that exist.
            assert!(spec.form != Form::Fixed || spec.gap.anytime.is_none(), "{algorithm}");
            assert!(spec.form != Form::Anytime || spec.gap.fixed.is_none(), "{algorithm}");
        }
        let commas = Algorithm::ALL.len() - 1;
        assert_eq!("smd".parse::<Algorithm>().unwrap_err().matches(", ").count(), commas);
    }

    #[test]
    fn one_plays_in_each_case_when_none_is_named() {
        assert_eq!(Algorithm::automatic(false, false), Algorithm::SmdM);
        assert_eq!(Algorithm::automatic(false, true), Algorithm::Online1);
        assert_eq!(Algorithm::automatic(true, false), Algorithm::AtkroM);
        assert_eq!(Algorithm::automatic(true, true), Algorithm::Atkro1);
    }

    #[test]
    fn help_names_all_of_them() {
        let help = Algorithm::help();
        let start = "the paper's smd-m, smd-m-single, online-1, smd-r, smpa-m, hybrid, atkro-m, atkro-k, atkro-1; of what";
        assert!(help.starts_with(start), "{help}");
        assert!(help.contains("; or beyond it, flexible, eliminate, adaptive"), "{help}");
        let lines = Algorithm::help_lines();
        assert_eq!(lines.len(), Algorithm::ALL.len());
        assert!(lines[0].starts_with("smd-m           "), "{}", lines[0]);
        assert!(lines[0].ends_with("(Algorithm 1)"), "{}", lines[0]);
    }
}
