//! `gdro fit`: train a model and compare it with ordinary training.

use std::path::PathBuf;

use clap::Args;
use toml::Value;

use crate::failure::{Failure, Result};
use crate::job::{Job, Settings};
use crate::train::{self, Watch};
use crate::{files, report};

/// Train a model on a table and compare it with ordinary training, group by group.
///
/// Every option can also be set in a job file (TOML) under the same name; options win. A job file
/// may hold a table [solver.NAME] with the rounds, steps and average of each solver.
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
    /// max (largest group risk), top-k:K (mean of the K largest), average (rows alike), balanced
    /// (groups alike) [default: max]
    #[arg(long)]
    objective: Option<String>,
    /// logistic, squared or softmax [default: by the kind of target]
    #[arg(long)]
    loss: Option<String>,
    /// Keep the weights in a ball of radius B around 0
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    ball: Option<f64>,
    /// Ridge: add (L/2)·‖weights‖² [default: 1e-4 without a ball, 0 with one]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    l2: Option<f64>,
    /// Put the intercept under ridge and ball; otherwise it is free in [−100, 100] (wider for
    /// targets that are larger)
    #[arg(long)]
    penalize_intercept: bool,
}

/// How it is minimised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Solver")]
struct SolverArgs {
    /// smd-m, smd-1, online-1, smd-r, smpa-m, atkro-m, atkro-k or atkro-1 [default: smd-m, atkro-m
    /// for top-k]
    #[arg(long)]
    solver: Option<String>,
    /// Steps that fall with time and need no number of rounds (smd-m, online-1, atkro-m)
    #[arg(long)]
    anytime: bool,
    /// Number of rounds, such as 2e5 [default: by solver and budget]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    rounds: Option<f64>,
    /// Multiplier on the theorem's step of the weights [default: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    step_w: Option<f64>,
    /// Multiplier on the theorem's step of the group weights [default: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    step_q: Option<f64>,
    /// uniform, weighted, suffix (second half) or last [default: the theorem's]
    #[arg(long)]
    average: Option<String>,
    /// Range of the losses for steps and bandit players [default: what the domain implies]
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    loss_range: Option<f64>,
    /// Visit each row at most once: all rows, or as many of each group as FILE (CSV: group,budget)
    /// says
    #[arg(long, value_name = "all|FILE")]
    budget: Option<String>,
    /// Seed of the split and of all draws [default: 0]
    #[arg(long, allow_negative_numbers = true)]
    seed: Option<f64>,
    /// Number of threads for evaluation; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// What the table means.
#[derive(Debug, Args)]
#[command(next_help_heading = "Table")]
struct TableArgs {
    /// Column to predict
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// Label that counts as positive [default: 1, yes, true, or the one that sorts last]
    #[arg(long, value_name = "LABEL")]
    positive: Option<String>,
    /// Group columns; every combination of their values is a group
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    groups: Option<Vec<String>>,
    /// Merge values of a group column, as in race:Other=Eskimo|Islander (repeatable)
    #[arg(long, value_name = "COLUMN:NEW=OLD|OLD")]
    merge: Vec<String>,
    /// Whether group columns are features too [default: keep]
    #[arg(long, value_name = "keep|drop")]
    group_features: Option<String>,
    /// Share of the rows to hold out, stratified by group and label; from 1 on, rows per group
    /// [default: 0.2]
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    holdout: Option<f64>,
    /// Texts that mean a missing cell, besides the empty one
    #[arg(long, value_name = "TEXTS", value_delimiter = ',')]
    na: Option<Vec<String>>,
    /// What to do with rows that miss a cell [default: error]
    #[arg(long, value_name = "error|drop")]
    missing: Option<String>,
    /// What to do with rows that miss a group label; own makes them a group [default: error]
    #[arg(long, value_name = "error|own|drop")]
    missing_group: Option<String>,
    /// Columns that are no features
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    ignore: Option<Vec<String>>,
    /// Columns that are text although they look numeric
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    text: Option<Vec<String>>,
    /// Column of row weights
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// Names of the columns, for files without a header
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// What separates cells [default: a comma; a tab in *.tsv]
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<char>,
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
    /// No progress and no tables
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
        if let Some(threads) = self.solver.threads {
            if threads == 0 {
                return Err(Failure::input("--threads 0: expected at least 1"));
            }
            // Fails only when a pool exists already, which is not the case here.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        }
        let talk = !self.output.quiet && !self.output.json;
        let fitted = train::fit(&job, &mut Watch::new(talk))?;
        let summary = report::Summary::new(&job, &fitted);
        let json = serde_json::to_string_pretty(&summary)
            .map_err(|e| Failure::Machine(format!("cannot write the summary: {e}")))?;
        if let Some(out) = &job.out {
            fitted.trace.finish(out)?;
            let mut file = files::Pending::create(out, "summary.json")?;
            file.line(&json)?;
            file.finish()?;
            fitted.model.save(out)?;
        }
        if self.output.json {
            files::print(&format!("{json}\n"))?;
        } else if !self.output.quiet {
            files::print(&report::text(&job, &fitted, &summary, self.output.all_groups))?;
        }
        Ok(())
    }

    /// The options that were given, as settings.
    fn settings(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        let list = |names: &Option<Vec<String>>| {
            names.as_ref().map(|names| {
                Value::Array(names.iter().map(|n| Value::String(n.trim().to_owned())).collect())
            })
        };
        let goal = &self.goal;
        settings.set_some("objective", goal.objective.clone());
        settings.set_some("loss", goal.loss.clone());
        settings.set_some("ball", goal.ball);
        settings.set_some("l2", goal.l2);
        let solver = &self.solver;
        settings.set_some("solver", solver.solver.clone());
        settings.set_some("rounds", solver.rounds);
        settings.set_some("step-w", solver.step_w);
        settings.set_some("step-q", solver.step_q);
        settings.set_some("average", solver.average.clone());
        settings.set_some("loss-range", solver.loss_range);
        settings.set_some("budget", solver.budget.clone());
        settings.set_some("seed", solver.seed);
        for (name, given) in
            [("penalize-intercept", goal.penalize_intercept), ("anytime", solver.anytime)]
        {
            settings.set_some(name, given.then_some(true));
        }
        let table = &self.table;
        settings.set_some("target", table.target.clone());
        settings.set_some("positive", table.positive.clone());
        settings.set_some("groups", list(&table.groups));
        settings.set_some("group-features", table.group_features.clone());
        settings.set_some("holdout", table.holdout);
        settings.set_some("na", list(&table.na));
        settings.set_some("missing", table.missing.clone());
        settings.set_some("missing-group", table.missing_group.clone());
        settings.set_some("ignore", list(&table.ignore));
        settings.set_some("text", list(&table.text));
        settings.set_some("weight", table.weight.clone());
        settings.set_some("columns", list(&table.columns));
        settings.set_some("delimiter", table.delimiter.map(String::from));
        settings.set_some("comment", table.comment.clone());
        settings
            .set_some("out", self.output.out.as_ref().map(|p| p.to_string_lossy().into_owned()));
        if !table.merge.is_empty() {
            settings.set("merge", merges(&table.merge)?);
        }
        Ok(settings)
    }
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
