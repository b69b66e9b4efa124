//! From settings to a job: defaults, ranges, and what does not go together.

use std::path::PathBuf;

use gdro::algorithm::{Algorithm, Facts, Form, Gains};
use gdro_data::DataOptions;

use super::Job;
use super::settings::{SOLVER, Settings};
use super::training::{Budget, Objective, SolverName, Training};
use crate::failure::{Failure, Result};

/// Most rounds that can be asked for.
const MOST_ROUNDS: u64 = 9_000_000_000_000_000;

/// Names of algorithms for which a fact holds: `a, b or c`.
fn either(holds: impl Fn(&Facts) -> bool) -> String {
    let names = Algorithm::named(holds);
    match names.rsplit_once(", ") {
        Some((most, last)) => format!("{most} or {last}"),
        None => names,
    }
}

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
        self.check_offsets(training)?;
        let holdout = training.holdout;
        if !((0.0..1.0).contains(&holdout) || holdout >= 1.0 && holdout.fract() == 0.0) {
            let expected = "a share from 0 to below 1, or a whole number of rows per group";
            return Err(self.bad("holdout", expected));
        }
        let SolverName::Rounds(solver) = solver else { return Ok(()) };
        self.check_objective(training, solver)?;
        let facts = solver.facts();
        if training.anytime && facts.form == Form::Fixed {
            let names = Algorithm::named(|f| f.form != Form::Fixed);
            let why = format!("{solver} has no anytime form: these have one: {names}");
            return self.refuse("anytime", &why);
        }
        let own = [
            ("nbar", Algorithm::Hybrid),
            ("queries", Algorithm::Flexible),
            ("kept", Algorithm::Eliminate),
            ("subsets", Algorithm::AtkroK),
        ];
        for (key, owner) in own {
            if self.has(key) && solver != owner {
                return self.refuse(key, &format!("{solver} does not use it, {owner} does"));
            }
        }
        if facts.adaptive {
            for key in ["step-w", "step-q", "loss-range"] {
                if self.has(key) {
                    return self.refuse(key, &format!("{solver} finds its steps by itself"));
                }
            }
            (training.step_w, training.step_q) = (Some(1.0), Some(1.0));
        }
        if objective.fixes_weights() {
            if self.insists("step-q") {
                let why = format!("the group weights do not move under the objective {objective}");
                return self.refuse("step-q", &why);
            }
            training.step_q = Some(1.0);
            if facts.gains == Gains::Bandit {
                if self.insists("loss-range") {
                    let why = format!(
                        "{solver} uses it for the group weights, which do not move under the objective {objective}"
                    );
                    return self.refuse("loss-range", &why);
                }
                training.loss_range = None;
            }
        }
        Ok(())
    }

    /// Refuses a solver that does not play for the objective.
    fn check_objective(&self, training: &Training, solver: Algorithm) -> Result<()> {
        let objective = training.objective;
        // Speak of the solver when it was chosen here, of the objective when only that was.
        let key =
            if self.has("solver") && (self.is_option("solver") || !self.is_option("objective")) {
                "solver"
            } else {
                "objective"
            };
        let plain = "use smd-m, smd-1 or online-1";
        let facts = solver.facts();
        match objective {
            Objective::TopK(_) if !facts.top_k => {
                let names = either(|f| f.top_k);
                let why = format!("{solver} does not minimise {objective}: use {names}");
                self.refuse(key, &why)
            }
            Objective::TopK(k) if solver == Algorithm::AtkroK && k.fract() != 0.0 => {
                let why = format!(
                    "atkro-k draws k groups and needs a whole k, found {k}: use atkro-m or atkro-1"
                );
                self.refuse(key, &why)
            }
            Objective::TopK(_) => Ok(()),
            _ if facts.top_k => {
                let why = format!("{solver} minimises top-k:K, not {objective}: {plain}");
                self.refuse(key, &why)
            }
            _ if solver == Algorithm::Mero && objective != Objective::Regret => {
                let why = format!("{solver} minimises regret, not {objective}: {plain}");
                self.refuse(key, &why)
            }
            _ if facts.budgets && objective != Objective::Max => {
                let why =
                    format!("{solver} plays a weighted form of max, not {objective}: {plain}");
                self.refuse(key, &why)
            }
            _ if objective.fixes_weights() && !facts.trains => {
                let names = either(|f| f.trains);
                let why = format!(
                    "{solver} plays against groups, which {objective} does not: use {names}"
                );
                self.refuse(key, &why)
            }
            _ => Ok(()),
        }
    }

    /// Refuses offsets and scales where they change nothing or contradict each other.
    fn check_offsets(&self, training: &Training) -> Result<()> {
        if training.scales.is_some() {
            if training.objective.fixes_weights() {
                let why =
                    format!("scales change nothing under the objective {}", training.objective);
                return self.refuse("scales", &why);
            }
            if let Some(solver) = training.solver.algorithm().filter(|a| a.facts().budgets) {
                let why = format!("{solver} takes its scale factors from the budgets");
                return self.refuse("scales", &why);
            }
        }
        let keys = ["offsets", "adjustment"].into_iter().filter(|key| self.has(key));
        let given: Vec<&str> = keys.collect();
        match given[..] {
            [] => Ok(()),
            [_, second] => {
                self.refuse(second, "offsets come from one place: leave one of the two out")
            }
            [key, ..] => match training.objective {
                Objective::Max | Objective::TopK(_) => Ok(()),
                Objective::Regret => {
                    self.refuse(key, "the objective regret has offsets of its own")
                }
                Objective::Average | Objective::Balanced => self.refuse(
                    key,
                    &format!("offsets change nothing under the objective {}", training.objective),
                ),
            },
        }
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
