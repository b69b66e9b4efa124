//! From settings to a job: defaults, ranges, and what does not go together.

use std::path::PathBuf;

use gdro::algorithm::{Algorithm, Gains};
use gdro::setting::Conflict;
use gdro_data::DataOptions;

use super::Job;
use super::settings::{SOLVER, Settings};
use super::training::{Budget, Objective, SolverName, Training};
use crate::failure::{Failure, Result};

/// Most rounds that can be asked for.
const MOST_ROUNDS: u64 = 9_000_000_000_000_000;

impl Settings {
    /// Checks everything and fills in what is left open.
    pub(super) fn into_job(mut self) -> Result<Job> {
        let tables: Vec<PathBuf> = self.decoded("tables", "a list of files")?.unwrap_or_default();
        if tables.is_empty() {
            return Err(Failure::input(
                "no table: expected a file of rows, or a job file that names one",
            ));
        }
        self.refuse_choice()?;
        if !self.flag("stream")? {
            self.drop_rounds()?;
        }
        let mut training = self.training()?;
        let out = self.text("out")?;
        if out.as_deref() == Some("") {
            return Err(self.bad("out", "a folder"));
        }
        self.count("min-group", 2, MOST_ROUNDS)?;
        let report = self.text("report")?.map(PathBuf::from);
        let data = self.data()?;
        self.check(&mut training)?;
        self.check_data(&training, &data)?;
        let streaming = self.streaming(&training)?;
        let (out, places) = (out.map(PathBuf::from), self.places());
        Ok(Job { tables, data, training, streaming, out, report, places })
    }

    /// Settings of rounds: an error with a solver that plays none, unless they stand in its own
    /// table.
    fn drop_rounds(&mut self) -> Result<()> {
        let solver = self.named("solver")?.unwrap_or(SolverName::Auto);
        if solver.algorithm().is_some() {
            return Ok(());
        }
        for key in SOLVER.into_iter().filter(|key| *key != "tol") {
            if self.insists(key) {
                let who = match solver {
                    SolverName::Auto => "auto decides by itself",
                    _ => "exact plays no rounds",
                };
                return self.refuse(
                    key,
                    &format!("{who}: name a solver that uses it, such as smd-m or online-1"),
                );
            }
            self.forget(key);
        }
        Ok(())
    }

    fn training(&self) -> Result<Training> {
        let objective = self.named("objective")?.unwrap_or(Objective::Max);
        let ball = self.number("ball")?;
        Ok(Training {
            objective,
            solver: self.named("solver")?.unwrap_or(SolverName::Auto),
            tol: self.number("tol")?,
            offsets: self.text("offsets")?.map(PathBuf::from),
            adjustment: self.number("adjustment")?,
            scales: self.text("scales")?.map(PathBuf::from),
            nbar: self.count("nbar", 1, MOST_ROUNDS)?,
            queries: self.queries()?,
            kept: self.count("kept", 1, MOST_ROUNDS)?,
            subsets: self.decoded("subsets", "dep-round or systematic")?,
            anytime: self.flag("anytime")?,
            loss: self.named("loss")?,
            loss_range: self.number("loss-range")?,
            ball,
            l2: self.number("l2")?.unwrap_or(if ball.is_some() { 0.0 } else { 1e-4 }),
            penalize_intercept: self.flag("penalize-intercept")?,
            rounds: self.count("rounds", 1, MOST_ROUNDS)?,
            step_w: self.number("step-w")?,
            step_q: self.number("step-q")?,
            average: self.decoded("average", "uniform, weighted, suffix or last")?,
            budget: self.text("budget")?.map(|text| match text.as_str() {
                "all" => Budget::All,
                file => Budget::File(file.into()),
            }),
            holdout: match (self.number("holdout")?, self.tells_apart()) {
                (Some(number), _) => number,
                (None, Some(_)) => 0.0,
                (None, None) => 0.2,
            },
            holdout_file: self.text("holdout-file")?.map(PathBuf::from),
            seed: self.count("seed", 0, i64::MAX as u64)?.unwrap_or(0),
            delta: self.number("delta")?.unwrap_or(0.05),
        })
    }

    /// The numbers of groups that are asked in turn: one, or a list.
    fn queries(&self) -> Result<Option<Vec<usize>>> {
        let expected = "a number of groups, or a list of them";
        let found = match self.decoded::<usize>("queries", expected) {
            Ok(one) => one.map(|r| vec![r]),
            Err(_) => self.decoded("queries", expected)?,
        };
        match found {
            Some(list) if list.is_empty() || list.contains(&0) => {
                Err(self.bad("queries", expected))
            }
            found => Ok(found),
        }
    }

    /// The setting that says which rows are held out, where none are drawn.
    fn tells_apart(&self) -> Option<&'static str> {
        ["holdout-file", "holdout-column"].into_iter().find(|key| self.has(key))
    }

    /// Refuses values out of range, settings that contradict each other, and settings that the
    /// chosen solver does not use. Those in the solver's own table that the objective does not use
    /// are put aside.
    fn check(&self, training: &mut Training) -> Result<()> {
        let (solver, objective) = (training.solver, training.objective);
        let above_zero = [
            ("ball", training.ball, "a radius above 0"),
            ("step-w", training.step_w, "a multiplier above 0"),
            ("step-q", training.step_q, "a multiplier above 0"),
            ("loss-range", training.loss_range, "a number above 0"),
            ("tol", training.tol, "a gap above 0"),
            ("adjustment", training.adjustment, "a number above 0"),
            ("delta", Some(training.delta), "a probability between 0 and 1"),
        ];
        for (key, value, expected) in above_zero {
            if value.is_some_and(|v| v <= 0.0) {
                return Err(self.bad(key, expected));
            }
        }
        if training.l2 < 0.0 {
            return Err(self.bad("l2", "a number of at least 0"));
        }
        if training.l2 == 0.0 && training.ball.is_none() {
            return Err(self.bad(
                "l2",
                "a positive penalty, or a ball (ball B), since nothing else would bound the model",
            ));
        }
        let eliminates = solver == SolverName::Rounds(Algorithm::Eliminate);
        let told = self.tells_apart();
        if let Some(key) = told.filter(|_| self.has("holdout")) {
            return self.refuse("holdout", &format!("{key} says which rows are held out"));
        }
        if training.holdout_file.as_ref().is_some_and(|file| !file.is_file()) {
            // Several files, as of a pattern, could not be told from those of training.
            return Err(self.bad("holdout-file", "one file that exists"));
        }
        if self.has("holdout-file") && self.has("holdout-column") {
            return self.refuse("holdout-column", "holdout-file says which rows are held out");
        }
        if training.holdout == 0.0 && told.is_none() && self.insists("delta") && !eliminates {
            let why = "intervals need rows that are held out, and there are none";
            return self.refuse("delta", why);
        }
        if training.delta >= 1.0 {
            return Err(self.bad("delta", "a probability between 0 and 1"));
        }
        if let Some(Conflict { setting, why }) =
            objective.idle(solver.algorithm(), |key| self.has(key))
        {
            return self.refuse(setting, &why);
        }
        let holdout = training.holdout;
        if !((0.0..1.0).contains(&holdout) || holdout >= 1.0 && holdout.fract() == 0.0) {
            let expected = "a share from 0 to below 1, or a whole number of rows per group";
            return Err(self.bad("holdout", expected));
        }
        let SolverName::Rounds(solver) = solver else { return Ok(()) };
        if let Err(why) = objective.check_solver(solver) {
            // Speak of the solver when it was chosen here, of the objective when only that was.
            let chosen =
                self.has("solver") && (self.is_option("solver") || !self.is_option("objective"));
            return self.refuse(if chosen { "solver" } else { "objective" }, &why);
        }
        // What ordinary training does not use may stand in the solver's own table.
        let facts = solver.facts();
        let aside = |key| {
            objective.fixes_weights() && !facts.adaptive && ["step-q", "loss-range"].contains(&key)
        };
        let given = |key| if aside(key) { self.insists(key) } else { self.has(key) };
        if let Some(Conflict { setting, why }) = objective.idle_of_rounds(solver, given) {
            return self.refuse(setting, &why);
        }
        if facts.adaptive {
            (training.step_w, training.step_q) = (Some(1.0), Some(1.0));
        }
        if objective.fixes_weights() {
            training.step_q = Some(1.0);
            if facts.gains == Gains::Bandit {
                training.loss_range = None;
            }
        }
        Ok(())
    }

    /// Refuses settings of the table that nothing uses.
    fn check_data(&self, training: &Training, data: &DataOptions) -> Result<()> {
        if data.groups.is_empty() && data.group_file.is_empty() {
            for key in ["group-features", "missing-group", "min-group", "small-groups"] {
                if self.has(key) {
                    return self.refuse(key, "there are no group columns: name them with groups");
                }
            }
        }
        if self.has("small-groups") && !self.has("min-group") {
            let why = "no group is too small without a smallest size: give min-group, too";
            return self.refuse("small-groups", why);
        }
        if training.budget.is_some() && data.families() > 1 {
            let why = "a row is in a group of each family, so that rows cannot be visited once \
                       each: give one family, or leave budget out";
            return self.refuse("budget", why);
        }
        if !data.group_file.is_empty() && data.groups.is_empty() && self.has("group-features") {
            let why = "labels of a group file are no features: leave it out";
            return self.refuse("group-features", why);
        }
        if training.budget.is_some() && data.weight.is_some() {
            let why = "rows that are visited once cannot be weighted: leave weight or budget out";
            return self.refuse("budget", why);
        }
        Ok(())
    }
}
