//! `gdro fit`: train a model and compare it with ordinary training.

use std::path::PathBuf;

use clap::Args;
use gdro::loss::AnyLoss;
use toml::Value;

use crate::failure::{Failure, Result};
use crate::job::{Job, Settings, utf8};
use crate::train::{self, Watch};
use crate::{files, report};

/// Most threads that can be asked for.
const MOST_THREADS: usize = 1024;

/// Train a model on a table and compare it with ordinary training, group by group.
///
/// What is learnt and how can also be set in a job file (TOML), under the names of the options;
/// options win. A job file may hold a table [solver.NAME] with the rounds, steps and average of
/// each solver. A list is separated by commas; an entry that holds a comma is put in double quotes.
#[derive(Debug, Args)]
pub struct Fit {
    /// Files of one table (CSV or TSV, plain or gzip), or a job file (*.toml)
    #[arg(required = true, value_name = "TABLE|JOB.toml")]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    goal: GoalArgs,
    #[command(flatten)]
    solver: SolverArgs,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// What is minimised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Goal")]
struct GoalArgs {
    /// max (largest group risk), top-k:K (mean of the K largest), regret (largest excess over what
    /// a model for the group alone attains), average (rows alike), balanced (groups alike)
    /// [default: max]
    #[arg(long)]
    objective: Option<String>,
    /// Compare groups by risk minus an offset: FILE (CSV: group,offset)
    #[arg(long, value_name = "FILE")]
    offsets: Option<String>,
    /// Compare groups by risk plus C/√n, n its rows: small groups count for more (Sagawa et al.)
    #[arg(long, value_name = "C", allow_hyphen_values = true, value_parser = number)]
    adjustment: Option<Value>,
    /// Compare groups by risk times a factor: FILE (CSV: group,scale)
    #[arg(long, value_name = "FILE")]
    scales: Option<String>,
    #[arg(long, value_name = "NAME", help = loss_help())]
    loss: Option<String>,
    /// Keep the weights in a ball of radius B around 0
    #[arg(long, value_name = "B", allow_hyphen_values = true, value_parser = number)]
    ball: Option<Value>,
    /// Ridge: add (L/2)·‖weights‖² [default: 1e-4 without a ball, 0 with one]
    #[arg(long, value_name = "L", allow_hyphen_values = true, value_parser = number)]
    l2: Option<Value>,
    /// Put the intercept under ridge and ball; otherwise it is free in [−100, 100] (wider for
    /// targets that are larger)
    #[arg(long)]
    penalize_intercept: bool,
}

/// How it is minimised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Solver")]
struct SolverArgs {
    /// exact; or rounds of the paper's smd-m, smd-m-single, online-1, smd-r, smpa-m, hybrid,
    /// atkro-m, atkro-k, atkro-1; of what it compares itself with, smd-1, smd-r-weighted,
    /// smd-reuse, smd-clip, exp3p, tinf, afl, mero; or beyond it, flexible, eliminate, adaptive; or
    /// auto: exact where it fits [default: auto]
    #[arg(long)]
    solver: Option<String>,
    /// Stop when the certified gap to the optimum is at most this
    #[arg(long, value_name = "GAP", allow_hyphen_values = true, value_parser = number)]
    tol: Option<Value>,
    /// Steps that fall with time and need no number of rounds (smd-m, online-1, atkro-m)
    #[arg(long)]
    anytime: bool,
    /// Number of rounds, such as 2e5; with --tol those of the first run, and each further one takes
    /// 4 times as many [default: by solver and budget]
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = number)]
    rounds: Option<Value>,
    /// Multiplier on the theorem's step of the weights [default: by short pilot runs]
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = number)]
    step_w: Option<Value>,
    /// Multiplier on the theorem's step of the group weights [default: by short pilot
    /// runs]
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = number)]
    step_q: Option<Value>,
    /// uniform, weighted, suffix (second half) or last [default: the theorem's; suffix with steps
    /// by pilot runs]
    #[arg(long)]
    average: Option<String>,
    /// Range of the losses for steps and bandit players [default: what the domain implies; with
    /// steps by pilot runs, what 999 of 1000 losses of the balanced model stay below]
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = number)]
    loss_range: Option<Value>,
    /// Of hybrid: groups with at least N samples are drawn in batches, for N/2 rounds [default: by
    /// the budgets]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number)]
    nbar: Option<Value>,
    /// Of flexible: how many groups to ask in a round; a list is gone through in turn [default: 1]
    #[arg(long, value_name = "R,…")]
    queries: Option<String>,
    /// Of eliminate: samples of every group to keep for telling which groups can dominate [default:
    /// rounds per group]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number)]
    kept: Option<Value>,
    /// Visit each row at most once: all rows, or as many of each group as FILE (CSV: group,budget)
    /// says
    #[arg(long, value_name = "all|FILE")]
    budget: Option<String>,
    /// Seed of the split and of all draws [default: 0]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number)]
    seed: Option<Value>,
    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// What the table means.
#[derive(Debug, Args)]
#[command(next_help_heading = "Table")]
struct TableArgs {
    /// Column to predict; or a comparison such as 'arr_delay>30'
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// Label that counts as positive [default: 1, yes, true, or the one that sorts last]
    #[arg(long, value_name = "LABEL", allow_negative_numbers = true)]
    positive: Option<String>,
    /// Group columns; every combination of their values is a group
    #[arg(long, value_name = "A,B,…")]
    groups: Option<String>,
    /// Merge values of a group column, as in race:Other=Eskimo|Islander (repeatable)
    #[arg(long, value_name = "COLUMN:NEW=OLD|OLD")]
    merge: Vec<String>,
    /// Whether group columns are features too [default: keep]
    #[arg(long, value_name = "keep|drop")]
    group_features: Option<String>,
    /// Share of the rows to hold out, stratified by group and label; from 1 on, rows per group
    /// [default: 0.2]
    #[arg(long, value_name = "F", allow_hyphen_values = true, value_parser = number)]
    holdout: Option<Value>,
    /// Intervals hold for all groups at once, and eliminate is right, with probability 1 − D
    /// [default: 0.05]
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = number)]
    delta: Option<Value>,
    /// Texts that mean a missing cell, besides the empty one
    #[arg(long, value_name = "TEXTS", allow_negative_numbers = true)]
    na: Option<String>,
    /// What to do with rows that miss a cell [default: error]
    #[arg(long, value_name = "error|drop")]
    missing: Option<String>,
    /// What to do with rows that miss a group label; own makes them a group [default: error]
    #[arg(long, value_name = "error|own|drop")]
    missing_group: Option<String>,
    /// Columns that are no features
    #[arg(long, value_name = "A,B,…")]
    ignore: Option<String>,
    /// Columns that are text although they look numeric
    #[arg(long, value_name = "A,B,…")]
    text: Option<String>,
    /// Column of row weights
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// Names of the columns, for files without a header
    #[arg(long, value_name = "A,B,…")]
    columns: Option<String>,
    /// What separates cells [default: a comma; a tab in *.tsv]
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// Skip lines that start with this text
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
}

/// What is shown and kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Folder for model.json, summary.json and trace.jsonl
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the summary as JSON instead of tables
    #[arg(long)]
    json: bool,
    /// No progress and no tables; with --json, the JSON alone
    #[arg(long, short)]
    quiet: bool,
    /// Show every group, however many
    #[arg(long)]
    all_groups: bool,
}

impl Fit {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let job = Job::resolve(&self.inputs, self.settings()?)?;
        let output = &self.output;
        if output.all_groups && (output.json || output.quiet) {
            return Err(Failure::input(
                "--all-groups: no table is shown with --json or --quiet, and JSON holds all groups",
            ));
        }
        if let Some(threads) = self.solver.threads {
            if !(1..=MOST_THREADS).contains(&threads) {
                return Err(Failure::input(format!(
                    "--threads {threads}: expected a number from 1 to {MOST_THREADS}"
                )));
            }
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build_global()
                .map_err(|e| Failure::Machine(format!("cannot start {threads} threads: {e}")))?;
        }
        if let Some(out) = &job.out {
            files::check_folder(out)?;
        }
        let fitted = train::fit(&job, &mut Watch::new(!output.quiet))?;
        let summary = report::Summary::new(&job, &fitted);
        let json = serde_json::to_string_pretty(&summary)
            .map(|text| text + "\n")
            .map_err(|e| Failure::Machine(format!("cannot write the summary: {e}")))?;
        if let Some(out) = &job.out {
            let files = [
                ("model.json", fitted.model.text()?),
                ("summary.json", json.clone()),
                ("trace.jsonl", fitted.trace.text()?),
            ];
            files::write_all(out, &files)?;
        }
        if output.json {
            files::print(&json)?;
        } else if !output.quiet {
            files::print(&report::text(&job, &fitted, &summary, output.all_groups))?;
        }
        Ok(())
    }

    /// The options that were given, as settings.
    fn settings(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        let goal = &self.goal;
        settings.set_some("objective", goal.objective.clone());
        settings.set_some("offsets", goal.offsets.clone());
        settings.set_some("adjustment", goal.adjustment.clone());
        settings.set_some("scales", goal.scales.clone());
        settings.set_some("loss", goal.loss.clone());
        settings.set_some("ball", goal.ball.clone());
        settings.set_some("l2", goal.l2.clone());
        let solver = &self.solver;
        settings.set_some("solver", solver.solver.clone());
        settings.set_some("tol", solver.tol.clone());
        settings.set_some("rounds", solver.rounds.clone());
        settings.set_some("step-w", solver.step_w.clone());
        settings.set_some("step-q", solver.step_q.clone());
        settings.set_some("average", solver.average.clone());
        settings.set_some("loss-range", solver.loss_range.clone());
        settings.set_some("budget", solver.budget.clone());
        settings.set_some("nbar", solver.nbar.clone());
        settings.set_some("queries", solver.queries.as_deref().map(numbers).transpose()?);
        settings.set_some("kept", solver.kept.clone());
        settings.set_some("seed", solver.seed.clone());
        for (name, given) in
            [("penalize-intercept", goal.penalize_intercept), ("anytime", solver.anytime)]
        {
            settings.set_some(name, given.then_some(true));
        }
        let table = &self.table;
        settings.set_some("target", table.target.clone());
        settings.set_some("positive", table.positive.clone());
        settings.set_some("groups", table.groups.as_deref().map(list));
        settings.set_some("group-features", table.group_features.clone());
        settings.set_some("holdout", table.holdout.clone());
        settings.set_some("delta", table.delta.clone());
        settings.set_some("na", table.na.as_deref().map(list));
        settings.set_some("missing", table.missing.clone());
        settings.set_some("missing-group", table.missing_group.clone());
        settings.set_some("ignore", table.ignore.as_deref().map(list));
        settings.set_some("text", table.text.as_deref().map(list));
        settings.set_some("weight", table.weight.clone());
        settings.set_some("columns", table.columns.as_deref().map(list));
        // A shell passes a tab as it is typed: by its name.
        let delimiter = table.delimiter.as_deref().map(|d| if d == "\\t" { "\t" } else { d });
        settings.set_some("delimiter", delimiter);
        settings.set_some("comment", table.comment.clone());
        settings.set_some("out", self.output.out.as_deref().map(utf8).transpose()?);
        if !table.merge.is_empty() {
            settings.set("merge", merges(&table.merge)?);
        }
        Ok(settings)
    }
}

/// A number as a setting: a whole one exactly.
fn number(text: &str) -> std::result::Result<Value, String> {
    let whole = text.parse().map(Value::Integer);
    whole.or_else(|_| text.parse().map(Value::Float)).map_err(|_| "expected a number".into())
}

/// A list of whole numbers, separated by commas.
fn numbers(text: &str) -> Result<Value> {
    let whole = |entry: &str| entry.trim().parse().map(Value::Integer);
    let list: std::result::Result<_, _> = text.split(',').map(whole).collect();
    list.map(Value::Array).map_err(|_| {
        Failure::input(format!("--queries {text}: expected a number of groups, or a list of them"))
    })
}

/// A list separated by commas; an entry in quotes may hold commas, and quotes twice.
fn list(text: &str) -> Value {
    let (mut entries, mut quoted) = (vec![String::new()], false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let at = entries.len() - 1;
        match c {
            '"' if quoted && rest.next_if_eq(&'"').is_some() => entries[at].push('"'),
            '"' if quoted || entries[at].trim().is_empty() => quoted = !quoted,
            ',' if !quoted => entries.push(String::new()),
            c => entries[at].push(c),
        }
    }
    Value::Array(entries.iter().map(|e| Value::from(e.trim())).collect())
}

/// `COLUMN:NEW=OLD|OLD`, several times, as the table of a job file.
fn merges(texts: &[String]) -> Result<Value> {
    let mut columns = toml::Table::new();
    for text in texts {
        let parts = text.split_once(':').and_then(|(c, rest)| Some((c, rest.split_once('=')?)));
        let Some((column, (new, old))) = parts else {
            return Err(Failure::input(format!(
                "--merge {text}: expected COLUMN:NEW=OLD|OLD, as in race:Other=Eskimo|Islander"
            )));
        };
        let old = old.split('|').map(|v| Value::String(v.trim().to_owned())).collect();
        let column = columns
            .entry(column.trim().to_owned())
            .or_insert_with(|| Value::Table(toml::Table::new()));
        if let Value::Table(values) = column {
            values.insert(new.trim().to_owned(), Value::Array(old));
        }
    }
    Ok(Value::Table(columns))
}

/// The names of the losses are the library's.
fn loss_help() -> String {
    format!("{} [default: logistic, softmax or squared, by the kind of target]", AnyLoss::NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_commas_outside_quotes() {
        let texts = |text: &str| list(text).try_into::<Vec<String>>().unwrap();
        assert_eq!(texts("race, sex"), ["race", "sex"]);
        assert_eq!(texts("\"12,5\",n/a"), ["12,5", "n/a"]);
        assert_eq!(texts("\"a\"\"b\",5\""), ["a\"b", "5\""]);
        assert_eq!(texts(""), [""]);
    }

    #[test]
    fn whole_numbers_stay_exact() {
        assert_eq!(number("9007199254740993"), Ok(Value::Integer(9_007_199_254_740_993)));
        assert_eq!(number("2e5"), Ok(Value::Float(2e5)));
        assert!(number("many").is_err());
    }
}
