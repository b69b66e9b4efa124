//! The report.

use std::fmt::Write as _;

use gdro::algorithm::Constants;

use crate::bands::median;
use crate::claims::{Claim, Finding, Test, Verdict, judge};
use crate::digits::number;
use crate::outcome::Outcome;
use crate::settings::{Settings, StepRule};

/// What is said of the whole.
pub(crate) struct Run<'a> {
    pub settings: &'a Settings,
    pub quick: bool,
    pub seconds: u64,
    pub played: usize,
    pub cached: usize,
    /// Experiments that are not complete.
    pub left: &'a [String],
}

/// The report as Markdown.
pub(crate) fn markdown(outcomes: &[Outcome], run: &Run<'_>) -> String {
    let mut text = String::from("# The paper's experiments, reproduced\n\n");
    opening(&mut text, run);
    text += "\n## Claims\n\n";
    overview(&mut text, outcomes);
    for outcome in outcomes {
        experiment(&mut text, outcome);
    }
    text += "\n## Tuned steps\n\n";
    tuning(&mut text, outcomes, run.settings);
    text
}

fn opening(text: &mut String, run: &Run<'_>) {
    let settings = run.settings;
    let _ = writeln!(
        text,
        "Every run is played under two step rules: `theory`, the steps and the average of the theorem, and \
         `tuned`, multiples of those steps from one grid that is the same for every method, with the {} \
         average, and with that of the theorem where steps fall with time. Curves are medians over {} seeds, bands reach from the 10 % to the 90 % quantile. Each \
         seed draws its own classifiers where the problem has some. Risks, optima and gaps are exact, except \
         on Adult under budgets, where 364 rows per group estimate the risks, and gaps are those of the other \
         rows. A claim about curves holds when \
         it does on at least 90 % of the last decade and a half, by medians, and in 90 % of the seeds at its \
         end; one about ends, when it does in 90 % of the seeds.",
        average(settings),
        settings.seeds
    );
    let minutes = run.seconds as f64 / 60.0;
    let _ = writeln!(
        text,
        "\n{} runs were played in {minutes:.1} minutes{}, {} came from the cache.",
        run.played,
        if run.quick { " (the small version: fewer rounds and seeds)" } else { "" },
        run.cached
    );
    if !run.left.is_empty() {
        let _ = writeln!(text, "\n**Not complete**, and left out: {}.", run.left.join(", "));
    }
}

fn average(settings: &Settings) -> String {
    format!("{:?}", settings.tuned.average).to_lowercase()
}

/// The findings of a claim.
fn findings(outcome: &Outcome, claim: &Claim) -> Vec<Finding> {
    StepRule::ALL.iter().filter_map(|rule| judge(outcome, claim, *rule)).collect()
}

/// How a claim stands over both rules.
fn stands(findings: &[Finding]) -> String {
    let of = |rule| findings.iter().find(|f: &&Finding| f.rule == rule).map(|f| f.verdict);
    match (of(StepRule::Theory), of(StepRule::Tuned)) {
        (Some(a), Some(b)) if a == b => a.words().to_owned(),
        (Some(Verdict::Holds), Some(other)) => {
            format!("holds under theory steps only; under tuned steps it {}", other.words())
        }
        (Some(other), Some(Verdict::Holds)) => {
            format!("holds under tuned steps only; under theory steps it {}", other.words())
        }
        (Some(a), Some(b)) => format!("theory: {}; tuned: {}", a.words(), b.words()),
        (Some(a), None) | (None, Some(a)) => a.words().to_owned(),
        (None, None) => "is not judged".to_owned(),
    }
}

/// One line for each claim.
fn overview(text: &mut String, outcomes: &[Outcome]) {
    for (beyond, heading) in [(false, "Of the paper:"), (true, "Beyond it:")] {
        let mut lines = Vec::new();
        for outcome in outcomes {
            for claim in outcome.experiment.claims.iter().filter(|c| c.beyond == beyond) {
                let found = findings(outcome, claim);
                lines.push(format!(
                    "| [{0}](#{0}) | {1} | {2} |",
                    outcome.experiment.name,
                    cell(&claim.text),
                    stands(&found)
                ));
            }
        }
        if !lines.is_empty() {
            let _ = writeln!(text, "{heading}\n\n| experiment | claim | |\n|---|---|---|");
            let _ = writeln!(text, "{}\n", lines.join("\n"));
        }
    }
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn experiment(text: &mut String, outcome: &Outcome) {
    let experiment = &outcome.experiment;
    let name = &experiment.name;
    let labels = if experiment.labels.is_empty() {
        "beyond the paper".to_owned()
    } else {
        let quoted: Vec<String> = experiment.labels.iter().map(|l| format!("`{l}`")).collect();
        quoted.join(", ")
    };
    let _ = writeln!(
        text,
        "\n## {name}\n\n{} ({labels}). {}\n",
        experiment.title,
        experiment.about.trim()
    );
    for rule in StepRule::ALL {
        let _ = writeln!(text, "![{name}, {0} steps]({name}-{0}.png)\n", rule.name());
    }
    let _ = writeln!(text, "Data: [{name}.csv]({name}.csv).\n");
    exact(text, outcome);
    let _ = writeln!(text, "| claim | steps | ours | exact | |\n|---|---|---|---|---|");
    for claim in &experiment.claims {
        for finding in findings(outcome, claim) {
            let paper = match &claim.test {
                Test::Difference { paper, .. } => format!("; paper {paper}"),
                _ => String::new(),
            };
            let _ = writeln!(
                text,
                "| {} | {} | {}{paper} | {} | {} |",
                cell(&claim.text),
                finding.rule.name(),
                cell(&finding.ours),
                finding.exact,
                finding.verdict.words()
            );
        }
    }
    text.push('\n');
    for claim in &experiment.claims {
        for finding in findings(outcome, claim) {
            let reason =
                claim.reason.of(finding.rule).filter(|_| finding.verdict != Verdict::Holds);
            if let Some(reason) = reason {
                let reason = reason.trim().replace('\n', " ");
                let _ = writeln!(
                    text,
                    "*{}*, {} steps: {reason}\n",
                    cell(&claim.text),
                    finding.rule.name()
                );
            }
        }
    }
    ends(text, outcome);
    constants(text, outcome);
}

/// What the theorems' steps and bounds rest on.
fn constants(text: &mut String, outcome: &Outcome) {
    let _ = writeln!(text, "\nConstants of the theorems. {}\n", outcome.assumptions);
    let _ =
        writeln!(text, "| runs | k | D² | G | L | M | κ | c |\n|---|--:|--:|--:|--:|--:|--:|--:|");
    let mut lines: Vec<(Constants, Vec<&str>)> = Vec::new();
    for (run, constants) in outcome.experiment.runs.iter().zip(&outcome.constants) {
        match lines.iter_mut().find(|(other, _)| other == constants) {
            Some((_, runs)) => runs.push(&run.label),
            None => lines.push((*constants, vec![&run.label])),
        }
    }
    for (constants, runs) in lines {
        let Constants { k, width, lipschitz, smoothness, kappa, c, .. } = constants;
        let numbers = [k, width, lipschitz, smoothness, constants.range(), kappa, c].map(number);
        let _ = writeln!(text, "| {} | {} |", runs.join(", "), numbers.join(" | "));
    }
}

/// The exact optimum of the experiment.
fn exact(text: &mut String, outcome: &Outcome) {
    let optima = outcome.own_optima();
    let values: Vec<f64> = optima.iter().map(|o| o.value).collect();
    let error = optima.iter().map(|o| o.error).fold(0.0, f64::max);
    let mean: Vec<f64> = optima.iter().map(|o| o.of_mean).collect();
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    let over = if high - low > 1e-9 {
        format!(" ({low:.4} to {high:.4} over the draws)")
    } else {
        String::new()
    };
    let _ = writeln!(
        text,
        "Exact optimum {:.5}{over}, certified to {error:.0e}; the model with the least mean risk has {:.5}.\n",
        median(&values),
        median(&mean)
    );
}

/// Where every run ends.
fn ends(text: &mut String, outcome: &Outcome) {
    let k = outcome.experiment.k;
    let _ = writeln!(
        text,
        "| run | steps | rounds | samples | objective | above the optimum | gap | losses clipped |\n|---|---|--:|--:|--:|--:|--:|--:|"
    );
    for series in &outcome.series {
        let last = series.traces.iter().filter_map(|t| t.points.last());
        let (mut objective, mut excess, mut gap, mut samples) = (vec![], vec![], vec![], vec![]);
        for (point, optimum) in last.zip(outcome.own_optima()) {
            objective.push(point.objective(k));
            excess.push(point.objective(k) - optimum.value);
            gap.extend(point.gap);
            samples.push(point.samples as f64);
        }
        let clipped: Vec<f64> = series
            .traces
            .iter()
            .filter_map(|t| Some(t.clipped as f64 / t.points.last()?.samples as f64))
            .collect();
        let gap = if gap.is_empty() { "–".to_owned() } else { format!("{:.1e}", median(&gap)) };
        let ended = series.traces.iter().filter(|t| t.exhausted.is_some()).count();
        let note = if ended > 0 {
            format!(" (a budget ended {ended} of the seeds)")
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "| {} (`{}`){note} | {} | {} | {:.0} | {:.4} | {:.1e} | {gap} | {:.1} % |",
            series.run.label,
            series.run.id,
            series.rule.name(),
            series.plan.rounds(),
            median(&samples),
            median(&objective),
            median(&excess),
            100.0 * median(&clipped)
        );
    }
}

fn tuning(text: &mut String, outcomes: &[Outcome], settings: &Settings) {
    let list = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let grid = &settings.tuned;
    let _ = writeln!(
        text,
        "Multipliers on the theorem's steps: of w {}; of q {}. Every method tries all pairs for {} of its rounds \
         with the seed {}; the {} with the smallest duality gap of the game that it plays go on for all rounds with \
         the seeds {} to {}, and the smallest mean gap wins. No run has one of these seeds. Where the winner lies \
         at an edge, the grid grows there, at most {} times; an edge that remains is marked. All cells are in \
         [tuning.csv](tuning.csv).\n",
        list(&grid.step_w),
        list(&grid.step_q),
        grid.share,
        grid.first_seed,
        grid.finalists,
        grid.first_seed + 1,
        grid.first_seed + grid.seeds,
        grid.widenings
    );
    let _ = writeln!(
        text,
        "| experiment | run | rounds | w | q | mean gap |\n|---|---|--:|--:|--:|--:|"
    );
    for outcome in outcomes {
        for (run, tuned) in outcome.experiment.runs.iter().zip(&outcome.tuned) {
            let best = tuned.best();
            let edge = tuned.at_edge();
            let mark = |player: &str| if edge.contains(&player) { " (edge)" } else { "" };
            let _ = writeln!(
                text,
                "| {} | {} (`{}`) | {} | {}{} | {}{} | {:.1e} |",
                outcome.experiment.name,
                run.label,
                run.id,
                tuned.rounds,
                best.step_w,
                mark("w"),
                best.step_q,
                mark("q"),
                best.gap.unwrap_or(best.first)
            );
        }
    }
}
