//! The report.

use crate::outcome::Outcome;
use crate::settings::Settings;

/// What is said of the whole.
pub(crate) struct Run<'a> {
    pub settings: &'a Settings,
    pub quick: bool,
    pub seconds: u64,
    pub played: usize,
    pub cached: usize,
    pub left: &'a [String],
}

/// The report as Markdown.
pub(crate) fn markdown(outcomes: &[Outcome], run: &Run<'_>) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        text += &format!("## {}\n\n", outcome.experiment.name);
        for t in &outcome.tuned {
            text += &format!("- {} best {:?} edge {:?}\n", t.run.id, t.best, t.at_edge());
        }
        for claim in &outcome.experiment.claims {
            text += &format!("- {}\n", claim.text);
            for rule in crate::settings::Rule::ALL {
                if let Some(f) = crate::claims::judge(outcome, claim, rule) {
                    text += &format!(
                        "  - {}: {}. {} [{}]\n",
                        rule.name(),
                        f.verdict.words(),
                        f.ours,
                        f.exact
                    );
                }
            }
        }
    }
    text += &format!("{} s, {} played, {} cached\n", run.seconds, run.played, run.cached);
    text
}
