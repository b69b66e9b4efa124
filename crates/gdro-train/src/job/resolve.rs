//! From settings to a job: defaults, ranges, and what does not go together.

use std::path::{Path, PathBuf};

use gdro::algorithm::Gains;
use gdro::domain::DomainSpec;
use gdro::setting::{Conflict, Objective, SolverName};
use gdro_data::{DataOptions, WeightKind};

use super::Job;
use super::choice::{self, Choice, Fitting, Search};
use super::streaming::Streaming;
use super::training::{Budget, MOST_ITERATIONS, PerGroup, Training};
use crate::failure::{Failure, Result};
use crate::options::{Settings, TABLE, TABLES, Use};

impl Job {
    /// Resolves a job from positional arguments (a job file, tables, or both) and options, and how
    /// it comes to its model. Where a choice is asked for, the job has the strongest value; where
    /// nothing is named, the largest group risk with the usual penalty.
    ///
    /// # Errors
    /// What is missing, out of range, contradicts something else, or is used by nobody.
    pub fn resolve(inputs: &[PathBuf], options: Settings) -> Result<(Self, Fitting)> {
        let mut settings = together(inputs, options)?;
        let fitting = choice::take_fitting(&mut settings)?;
        Ok((settings.into_job()?, fitting))
    }

    /// Resolves a job and what `gdro select` is to do with it. Where a value is to be chosen, the
    /// job has the strongest one.
    ///
    /// # Errors
    /// Those of [`Job::resolve`].
    pub fn resolve_choice(inputs: &[PathBuf], options: Settings) -> Result<(Self, Choice)> {
        let mut settings = together(inputs, options)?;
        let choice = choice::take(&mut settings)?;
        Ok((settings.into_job()?, choice))
    }

    /// Resolves how a model is trained on rows that are in memory already: nothing is held out.
    ///
    /// # Errors
    /// Those of [`Job::resolve`].
    pub fn of_rows(mut options: Settings) -> Result<Self> {
        in_memory(&mut options);
        options.into_job()
    }

    /// The same, and how to choose the model.
    ///
    /// # Errors
    /// Those of [`Job::resolve`].
    pub fn of_rows_choice(mut options: Settings) -> Result<(Self, Search)> {
        in_memory(&mut options);
        let search = choice::take_search(&mut options)?;
        Ok((options.into_job()?, search))
    }
}

/// Settings of rows that no file holds.
fn in_memory(options: &mut Settings) {
    options.set(TABLES, vec!["rows in memory"]);
    options.set("holdout", 0.0);
}

/// The settings of positional arguments and options together.
fn together(inputs: &[PathBuf], mut options: Settings) -> Result<Settings> {
    let is_job = |path: &&PathBuf| path.extension().is_some_and(|e| e == "toml");
    let (files, tables): (Vec<_>, Vec<_>) = inputs.iter().partition(is_job);
    let mut settings = match files[..] {
        [] => Settings::of(options.front()),
        [file] => Settings::load(file)?,
        [first, second, ..] => {
            return Err(Failure::input(format!(
                "two job files, {} and {}: expected one",
                first.display(),
                second.display()
            )));
        }
    };
    if !tables.is_empty() {
        let names: Result<Vec<&str>> = tables.into_iter().map(|path| utf8(path)).collect();
        options.set(TABLES, names?);
    }
    let solver = options.peek("solver").or(settings.peek("solver")).unwrap_or("auto");
    let solver = solver.to_owned();
    settings.overlay(options, &solver);
    Ok(settings)
}

/// The text of a path: a model records its job, in UTF-8.
///
/// # Errors
/// For a name that is no UTF-8.
pub fn utf8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Failure::input(format!("{}: the name is not valid UTF-8: rename it", path.display()))
    })
}

impl Settings {
    /// Checks everything and fills in what is left open.
    fn into_job(mut self) -> Result<Job> {
        let tables: Vec<PathBuf> = self.decoded(TABLES, "a list of files")?.unwrap_or_default();
        if tables.is_empty() {
            return Err(Failure::input(
                "no table: expected a file of rows, or a job file that names one",
            ));
        }
        choice::refuse(&self)?;
        if !self.flag("stream")? {
            self.drop_rounds()?;
        }
        let mut training = self.training()?;
        let out = self.text("out")?;
        if out.as_deref() == Some("") {
            return Err(self.bad("out", "a folder"));
        }
        if out.is_none() && self.insists("checkpoint-every") {
            let why = "a checkpoint is written beside the model: add out, or leave it out";
            return Err(self.refusal("checkpoint-every", why));
        }
        let checkpoint_every = self.number("checkpoint-every")?;
        self.count("min-group")?;
        let report = self.text("report")?.map(PathBuf::from);
        let data = self.data()?;
        self.check(&mut training)?;
        self.check_data(&training, &data)?;
        let streaming = Streaming::of(&self, &training)?;
        let (out, places) = (out.map(PathBuf::from), self.places());
        let file = self.file().map(Path::to_owned);
        let front = self.front();
        Ok(Job {
            tables,
            data,
            training,
            streaming,
            out,
            report,
            checkpoint_every,
            file,
            front,
            places,
        })
    }

    /// Settings of rounds: an error with a solver that plays none, unless they stand in its own
    /// table.
    fn drop_rounds(&mut self) -> Result<()> {
        let solver = self.named("solver")?.unwrap_or(SolverName::Auto);
        if solver.algorithm().is_some() {
            return Ok(());
        }
        for option in TABLE.iter().filter(|option| option.used_by == Use::Rounds) {
            if self.insists(option.key) {
                let who = match solver {
                    SolverName::Auto => "auto decides by itself",
                    _ => "exact plays no rounds",
                };
                return self.refuse(
                    option.key,
                    &format!("{who}: name a solver that uses it, such as smd-m or online-1"),
                );
            }
            self.forget(option.key);
        }
        Ok(())
    }

    fn training(&self) -> Result<Training> {
        let objective = self.named("objective")?.unwrap_or(Objective::Max);
        let domain = self.domain()?;
        let iterations = self.count("max-iter")?;
        let mut training = Training {
            objective,
            solver: self.named("solver")?.unwrap_or(SolverName::Auto),
            tol: self.number("tol")?,
            max_iter: iterations.map_or(MOST_ITERATIONS, |most| most as usize),
            offsets: self.per_group("offsets")?,
            adjustment: self.number("adjustment")?,
            scales: self.per_group("scales")?,
            nbar: self.count("nbar")?,
            queries: self.queries()?,
            kept: self.count("kept")?,
            subsets: self.word("subsets")?,
            anytime: self.flag("anytime")?,
            loss: self.named("loss")?,
            loss_range: self.number("loss-range")?,
            ball: None,
            domain: None,
            l2: self.number("l2")?.unwrap_or(if domain.is_bounded() { 0.0 } else { 1e-4 }),
            no_intercept: self.flag("no-intercept")?,
            penalize_intercept: self.flag("penalize-intercept")?,
            rounds: self.count("rounds")?,
            step_w: self.number("step-w")?,
            step_q: self.number("step-q")?,
            average: self.word("average")?,
            budget: match (self.peek("budget"), self.per_group("budget")?) {
                (Some("all"), _) => Some(Budget::All),
                (_, Some(PerGroup::File(file))) => Some(Budget::File(file)),
                (_, Some(PerGroup::Named(numbers))) => Some(Budget::Named(numbers)),
                (_, None) => None,
            },
            holdout: match (self.holdout()?, self.names_held_out()) {
                (Some(number), _) => number,
                (None, Some(_)) => 0.0,
                (None, None) => 0.2,
            },
            holdout_file: self.text("holdout-file")?.map(PathBuf::from),
            seed: self.count("seed")?.unwrap_or(0),
            delta: self.number("delta")?.unwrap_or(0.05),
            weight_cap: self.number("weight-cap")?,
            cluster_cap: self.number("cluster-cap")?,
        };
        training.set_domain(domain);
        Ok(training)
    }

    /// A number for each group: by name, or in a file.
    fn per_group(&self, key: &str) -> Result<Option<PerGroup>> {
        self.decoded(key, "a file, or a number for each group by its name")
    }

    /// The set that the weights lie in: a ball of that radius, or the domain of that name.
    pub(super) fn domain(&self) -> Result<DomainSpec> {
        let (ball, domain) = (self.number("ball")?, self.named("domain")?);
        match (ball, domain) {
            (Some(_), Some(_)) => {
                let why = "ball is a domain, too: leave one of the two out";
                Err(self.refusal("domain", why))
            }
            (ball, domain) => Ok(domain.unwrap_or(DomainSpec::ball(ball))),
        }
    }

    /// A share of the rows, or a number of rows per group.
    fn holdout(&self) -> Result<Option<f64>> {
        let holdout = self.number("holdout")?;
        let holds = |v: f64| (0.0..1.0).contains(&v) || v >= 1.0 && v.fract() == 0.0;
        if holdout.is_some_and(|v| !holds(v)) {
            let expected = "a share from 0 to below 1, or a whole number of rows per group";
            return Err(self.bad("holdout", expected));
        }
        Ok(holdout)
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
    fn names_held_out(&self) -> Option<&'static str> {
        ["holdout-file", "holdout-column"].into_iter().find(|key| self.has(key))
    }

    /// Refuses values out of range, settings that contradict each other, and settings that the
    /// chosen solver does not use. Those in the solver's own table that the objective does not use
    /// are put aside.
    fn check(&self, training: &mut Training) -> Result<()> {
        let (solver, objective) = (training.solver, training.objective);
        if training.l2 == 0.0 && !training.domain().is_bounded() {
            return Err(self.bad(
                "l2",
                "a positive penalty, or a ball (ball B), since nothing else would bound the model",
            ));
        }
        let of_solver = solver.algorithm().is_some_and(|a| a.spec().delta);
        let chosen = self.names_held_out();
        if let Some(key) = chosen.filter(|_| self.has("holdout")) {
            return self.refuse("holdout", &format!("{key} says which rows are held out"));
        }
        if training.holdout_file.as_ref().is_some_and(|file| !file.is_file()) {
            // Several files, as of a pattern, could not be distinguished from those of training.
            return Err(self.bad("holdout-file", "one file that exists"));
        }
        if self.has("holdout-file") && self.has("holdout-column") {
            return self.refuse("holdout-column", "holdout-file says which rows are held out");
        }
        let held_out = training.holdout > 0.0 || chosen.is_some();
        if !held_out && self.insists("delta") && !of_solver {
            let why = "intervals need rows that are held out, and there are none";
            return self.refuse("delta", why);
        }
        if let Some(Conflict { setting, why }) =
            objective.unused(solver.algorithm(), |key| self.has(key))
        {
            return self.refuse(setting, &why);
        }
        if training.no_intercept && training.penalize_intercept {
            let why = format!("{} leaves no intercept to penalise", self.place("no-intercept"));
            return self.refuse("penalize-intercept", &why);
        }
        let SolverName::Rounds(solver) = solver else { return Ok(()) };
        if self.has("max-iter") {
            let why = format!("{solver} plays rounds: say how many with rounds");
            return self.refuse("max-iter", &why);
        }
        if let Err(why) = objective.check_solver(solver) {
            // Speak of the solver when it was chosen here, of the objective when only that was.
            let chosen =
                self.has("solver") && (self.is_option("solver") || !self.is_option("objective"));
            return self.refuse(if chosen { "solver" } else { "objective" }, &why);
        }
        // What ordinary training does not use may stand in the solver's own table.
        let spec = solver.spec();
        if spec.only_euclidean && !training.domain().is_euclidean() {
            let why =
                format!("{solver} needs a set with the Euclidean norm: free, a ball, l1 or box");
            return self.refuse("domain", &why);
        }
        let aside = |key| {
            objective.fixes_weights() && !spec.adaptive && ["step-q", "loss-range"].contains(&key)
        };
        let given = |key| if aside(key) { self.insists(key) } else { self.has(key) };
        if let Some(Conflict { setting, why }) = objective.unused_in_rounds(solver, given) {
            return self.refuse(setting, &why);
        }
        if spec.adaptive {
            (training.step_w, training.step_q) = (Some(1.0), Some(1.0));
        }
        if objective.fixes_weights() {
            training.step_q = Some(1.0);
            if spec.gains == Gains::Bandit {
                training.loss_range = None;
            }
        }
        Ok(())
    }

    /// Refuses settings of the table that nothing uses.
    fn check_data(&self, training: &Training, data: &DataOptions) -> Result<()> {
        if data.groups.is_empty() && data.group_file.is_empty() {
            let unused = TABLE.iter().find(|option| option.needs_groups && self.has(option.key));
            if let Some(option) = unused {
                let why = "there are no group columns: name them with groups";
                return self.refuse(option.key, why);
            }
        }
        if self.has("small-groups") && !self.has("min-group") {
            let why = "no group is too small without a smallest size: give min-group, too";
            return self.refuse("small-groups", why);
        }
        if training.weight_cap.is_some() && data.weight.is_none() {
            let why = "rows have no weights: name their column with weight";
            return self.refuse("weight-cap", why);
        }
        if training.weight_cap.is_some() && data.weight_kind == WeightKind::Frequency {
            let why = "weights are numbers of rows, each of which counts as 1: leave it out";
            return self.refuse("weight-cap", why);
        }
        if training.cluster_cap.is_some() && data.cluster.is_none() {
            let why = "there are no clusters: name their column with cluster";
            return self.refuse("cluster-cap", why);
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
        let importance = data.weight_kind == WeightKind::Importance;
        if training.budget.is_some() && data.weight.is_some() && importance {
            let why = "rows that are visited once cannot be weighted: leave weight or budget out";
            return self.refuse("budget", why);
        }
        Ok(())
    }
}
