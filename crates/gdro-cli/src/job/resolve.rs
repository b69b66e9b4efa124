//! From settings to a job: defaults, ranges, and what does not go together.

use std::path::PathBuf;

use gdro::algorithm::Algorithm;
use gdro_data::DataOptions;

use super::Job;
use super::settings::Settings;
use super::training::{Budget, Objective, Training};
use crate::failure::{Failure, Result};

/// Most rounds that can be asked for.
const MOST_ROUNDS: u64 = 9_000_000_000_000_000;

/// The solver of an objective unless another one is named.
pub(super) fn default_solver(objective: Objective) -> Algorithm {
    match objective {
        Objective::TopK(_) => Algorithm::AtkroM,
        _ => Algorithm::SmdM,
    }
}

impl Settings {
    /// Checks everything and fills in what is left open.
    pub(super) fn into_job(self) -> Result<Job> {
        let tables: Vec<PathBuf> = self.decoded("tables", "a list of files")?.unwrap_or_default();
        if tables.is_empty() {
            return Err(Failure::input(
                "no table: expected a file of rows, or a job file that names one",
            ));
        }
        let mut training = self.training()?;
        let out = self.text("out")?;
        if out.as_deref() == Some("") {
            return Err(self.bad("out", "a folder"));
        }
        let data = self.data()?;
        self.check(&mut training)?;
        self.check_data(&training, &data)?;
        Ok(Job { tables, data, training, out: out.map(PathBuf::from), places: self.places() })
    }

    fn training(&self) -> Result<Training> {
        let objective = self.named("objective")?.unwrap_or(Objective::Max);
        let ball = self.number("ball")?;
        Ok(Training {
            objective,
            solver: self.named("solver")?.unwrap_or(default_solver(objective)),
            anytime: self.flag("anytime")?,
            loss: self.named("loss")?,
            loss_range: self.number("loss-range")?,
            ball,
            l2: self.number("l2")?.unwrap_or(if ball.is_some() { 0.0 } else { 1e-4 }),
            penalize_intercept: self.flag("penalize-intercept")?,
            rounds: self.count("rounds", 1, MOST_ROUNDS)?,
            step_w: self.number("step-w")?.unwrap_or(1.0),
            step_q: self.number("step-q")?.unwrap_or(1.0),
            average: self.decoded("average", "uniform, weighted, suffix or last")?,
            budget: self.text("budget")?.map(|text| match text.as_str() {
                "all" => Budget::All,
                file => Budget::File(file.into()),
            }),
            holdout: self.number("holdout")?.unwrap_or(0.2),
            seed: self.count("seed", 0, i64::MAX as u64)?.unwrap_or(0),
        })
    }

    /// A refusal that speaks of a setting.
    fn refuse(&self, key: &str, message: &str) -> Result<()> {
        Err(Failure::input(format!("{}: {message}", self.place(key))))
    }

    /// Refuses values out of range, settings that contradict each other, and settings that the
    /// chosen solver does not use. Those in the solver's own table that the objective does not use
    /// are put aside.
    fn check(&self, training: &mut Training) -> Result<()> {
        let (solver, objective) = (training.solver, training.objective);
        let above_zero = [
            ("ball", training.ball, "a radius above 0"),
            ("step-w", Some(training.step_w), "a multiplier above 0"),
            ("step-q", Some(training.step_q), "a multiplier above 0"),
            ("loss-range", training.loss_range, "a number above 0"),
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
        let holdout = training.holdout;
        if !((0.0..1.0).contains(&holdout) || holdout >= 1.0 && holdout.fract() == 0.0) {
            let expected = "a share from 0 to below 1, or a whole number of rows per group";
            return Err(self.bad("holdout", expected));
        }
        self.check_objective(training)?;
        if training.anytime && !solver.has_anytime_form() {
            return self.refuse(
                "anytime",
                &format!(
                    "{solver} has no anytime form: smd-m, online-1, atkro-m and atkro-1 have one"
                ),
            );
        }
        if objective.fixes_weights() {
            if self.insists("step-q") {
                let why = format!("the group weights do not move under the objective {objective}");
                return self.refuse("step-q", &why);
            }
            training.step_q = 1.0;
            if solver == Algorithm::Online1 {
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
    fn check_objective(&self, training: &Training) -> Result<()> {
        let (solver, objective) = (training.solver, training.objective);
        // Speak of the solver when it was chosen here, of the objective when only that was.
        let key =
            if self.has("solver") && (self.is_option("solver") || !self.is_option("objective")) {
                "solver"
            } else {
                "objective"
            };
        let plain = "use smd-m, smd-1 or online-1";
        match objective {
            Objective::TopK(_) if !solver.plays_top_k() => {
                let why = format!(
                    "{solver} does not minimise {objective}: use atkro-m, atkro-k or atkro-1"
                );
                self.refuse(key, &why)
            }
            Objective::TopK(k) if solver == Algorithm::AtkroK && k.fract() != 0.0 => {
                let why = format!(
                    "atkro-k draws k groups and needs a whole k, found {k}: use atkro-m or atkro-1"
                );
                self.refuse(key, &why)
            }
            Objective::TopK(_) => Ok(()),
            _ if solver.plays_top_k() => {
                let why = format!("{solver} minimises top-k:K, not {objective}: {plain}");
                self.refuse(key, &why)
            }
            _ if objective.fixes_weights() && solver.uses_budgets() => {
                let why =
                    format!("{solver} plays a weighted form of max, not {objective}: {plain}");
                self.refuse(key, &why)
            }
            _ => Ok(()),
        }
    }

    /// Refuses settings of the table that nothing uses.
    fn check_data(&self, training: &Training, data: &DataOptions) -> Result<()> {
        if data.groups.is_empty() {
            for key in ["group-features", "missing-group"] {
                if self.has(key) {
                    return self.refuse(key, "there are no group columns: name them with groups");
                }
            }
        }
        if training.budget.is_some() && data.weight.is_some() {
            let why = "rows that are visited once cannot be weighted: leave weight or budget out";
            return self.refuse("budget", why);
        }
        Ok(())
    }
}
