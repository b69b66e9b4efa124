//! From experiments to figures, data and a report.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use gdro::algorithm::{Constants, Request};
use gdro::average::Average;
use gdro::bound::Holds;

use crate::cache::{Cache, write};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Run, experiments};
use crate::outcome::{Optima, Outcome, Series};
use crate::problem::Problem;
use crate::run::{Gaps, RunPlan, Trace, looks};
use crate::settings::{Grid, Settings, StepRule};
use crate::tune::{Search, Table, Tuned};
use crate::{csv, draw, report};

/// What is to be reproduced.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    /// The folder of settings, problems and experiments.
    pub folder: &'a Path,
    /// Names of experiments; none, or `all`, for all of them.
    pub names: &'a [String],
    /// Where figures, data and report go; the cache is the folder `cache` in it.
    pub out: &'a Path,
    /// The small version.
    pub quick: bool,
    /// Number of seeds, at least 1; that of the settings unless given.
    pub seeds: Option<u64>,
}

/// Someone who watches.
pub trait Progress: Sync {
    /// So much work lies ahead, in units of its own.
    fn start(&self, units: u64);
    /// So much more than was known.
    fn more(&self, units: u64);
    /// This part of it begins.
    fn stage(&self, what: &str);
    /// So much more is done.
    fn done(&self, units: u64);
    /// So much was done by an earlier call.
    fn skip(&self, units: u64);
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The files, in the order in which they were written; a report is the last one.
    pub files: Vec<PathBuf>,
    /// Runs that were played, and runs that the cache had.
    pub played: usize,
    /// Runs that the cache had.
    pub cached: usize,
    /// Experiments that were left out since someone stopped.
    pub left: Vec<String>,
}

/// Plays what is ordered on all threads of the pool, and writes a figure for each experiment and
/// step rule as SVG and PNG, its data as CSV, `tuning.csv` and `report.md`. Tuned steps are those that
/// [`tune`] has found; experiments that have none are tuned before. The results do not depend on the
/// number of threads. Runs that are stored already are not rerun.
///
/// When `stop` is set, what is finished stays in the cache, and only experiments that are complete
/// are drawn and reported.
///
/// # Errors
/// For files that cannot be read or written, names that are not there, runs that were tuned for other
/// numbers of rounds, and whatever the library finds wrong with an experiment.
pub fn reproduce(order: &Order<'_>, stop: &AtomicBool, watch: &dyn Progress) -> Result<Written> {
    let started = Instant::now();
    let settings = settings(order)?;
    let stages = stages(order, &settings, watch)?;
    let table = Table::read(order.folder)?;
    let mut tuned = Vec::new();
    for stage in &stages {
        tuned.push(stage.tuned(&table, order.quick)?);
    }
    let cache = Cache::new(&order.out.join("cache"));
    let session = Session::new(&settings, &cache, stop, watch);
    cache.make()?;
    let cost = |(stage, tuned): (&Stage, &Option<Vec<Tuned>>)| {
        let tuning = if tuned.is_none() { stage.tuning_cost(&settings.tuned) } else { 0 };
        stage.cost() + tuning
    };
    watch.start(stages.iter().zip(&tuned).map(cost).sum());

    let (mut files, mut outcomes, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for (stage, tuned) in stages.into_iter().zip(tuned) {
        let name = stage.experiment.name.clone();
        if stop.load(Ordering::Relaxed) {
            left.push(name);
            continue;
        }
        let Some(outcome) = session.play(stage, tuned)? else {
            left.push(name);
            continue;
        };
        for rule in StepRule::ALL {
            for (ending, bytes) in draw::figure(&outcome, rule)? {
                let path = order.out.join(format!("{name}-{}.{ending}", rule.name()));
                write(&path, &bytes)?;
                files.push(path);
            }
        }
        let path = order.out.join(format!("{name}.csv"));
        write(&path, csv::runs(&outcome).as_bytes())?;
        files.push(path);
        outcomes.push(outcome);
    }
    if !outcomes.is_empty() {
        let summary = report::Run {
            settings: &settings,
            quick: order.quick,
            seconds: started.elapsed().as_secs(),
            played: session.counts().0,
            cached: session.counts().1,
            left: &left,
        };
        let mut used = Table::default();
        for Outcome { experiment, tuned, .. } in &outcomes {
            let runs = experiment.runs.iter().map(|run| run.id.clone());
            used.replace(&experiment.name, runs.zip(tuned.iter().cloned()).collect());
        }
        for (name, text) in
            [("tuning.csv", used.csv()), ("report.md", report::markdown(&outcomes, &summary))]
        {
            let path = order.out.join(name);
            write(&path, text.as_bytes())?;
            files.push(path);
        }
    }
    let (played, cached) = session.counts();
    Ok(Written { files, played, cached, left })
}

/// Finds the tuned steps of the experiments that are ordered, for [`reproduce`], and writes them into
/// `tuning.csv` of their folder after each experiment: successive halving on one grid of multipliers, the
/// same for every method, by the duality gap. All cells play a share of the rounds with one seed, the
/// best of them all rounds with several, none of which is a seed of [`reproduce`]. Where the best cell
/// lies at an edge, the grid grows there, a limited number of times.
///
/// When `stop` is set, what is finished stays in the cache.
///
/// # Errors
/// For an order of the small version or of seeds, which tuning does not have, and as [`reproduce`].
pub fn tune(order: &Order<'_>, stop: &AtomicBool, watch: &dyn Progress) -> Result<Written> {
    let unused = [(order.quick, "quick"), (order.seeds.is_some(), "seeds")];
    if let Some((_, option)) = unused.into_iter().find(|(given, _)| *given) {
        return Err(Error::Unused { option });
    }
    let settings = settings(order)?;
    let stages = stages(order, &settings, watch)?;
    let mut table = Table::read(order.folder)?;
    let cache = Cache::new(&order.out.join("cache"));
    let session = Session::new(&settings, &cache, stop, watch);
    cache.make()?;
    watch.start(stages.iter().map(|stage| stage.tuning_cost(&settings.tuned)).sum());
    let mut written = Written::default();
    for stage in stages {
        let name = stage.experiment.name.clone();
        watch.stage(&format!("{name}: tuning"));
        let found = if stop.load(Ordering::Relaxed) { None } else { session.tune(&stage)? };
        let Some(found) = found else {
            written.left.push(name);
            continue;
        };
        let runs = stage.plans.iter().map(|planned| planned.run.id.clone());
        table.replace(&name, runs.zip(found).collect());
        write(table.path(), table.csv().as_bytes())?;
        written.files = vec![table.path().to_owned()];
    }
    (written.played, written.cached) = session.counts();
    Ok(written)
}

/// The settings, as the order changes them.
fn settings(order: &Order<'_>) -> Result<Settings> {
    let mut settings = Settings::read(order.folder)?;
    if order.quick {
        settings = settings.quick();
    }
    settings.seeds = order.seeds.unwrap_or(settings.seeds);
    Ok(settings)
}

/// The experiments that are ordered.
fn stages(order: &Order<'_>, settings: &Settings, watch: &dyn Progress) -> Result<Vec<Stage>> {
    let share = if order.quick { settings.quick.rounds } else { 1.0 };
    let read = |experiment: Experiment| {
        watch.stage(&format!("{}: reading", experiment.name));
        let problem = Problem::read(order.folder, &experiment.problem)?;
        Stage::new(experiment, problem, settings, share)
    };
    experiments(order.folder, order.names)?.into_iter().map(read).collect()
}

/// An experiment with its problem and the numbers of rounds of its runs.
struct Stage {
    experiment: Experiment,
    problem: Problem,
    /// Plans with theory steps and seed 0, and those for tuning.
    plans: Vec<Planned>,
    seeds: u64,
}

/// A run's plans, but for steps and seeds.
struct Planned {
    run: Run,
    plan: RunPlan,
    /// The first look at a cell, and a whole run of tuning.
    tuning: [RunPlan; 2],
    /// The average of tuned steps; `None` for that of the theorem.
    average: Option<Average>,
}

impl Stage {
    fn new(
        experiment: Experiment,
        problem: Problem,
        settings: &Settings,
        share: f64,
    ) -> Result<Self> {
        let plans = experiment.runs.iter().map(|run| {
            let library = |source| library(&experiment, run, source);
            let (rounds, preset) = rounds(run, &problem, share).map_err(library)?;
            let k = experiment.own_k(run);
            let scales = scales(run, &problem, preset).map_err(library)?;
            let also = (preset < rounds).then_some(preset);
            let looks_at = |t| looks(t, settings.looks_per_decade, settings.decades, also);
            let gaps = if experiment.shows_gaps() { Gaps::All } else { Gaps::Last };
            let plan = RunPlan {
                algorithm: run.algorithm,
                anytime: run.anytime,
                k,
                preset,
                step_w: 1.0,
                step_q: 1.0,
                average: None,
                nbar: nbar(run, &problem),
                scales,
                seed: 0,
                looks: looks_at(rounds),
                gaps,
            };
            let falls = run.algorithm.falls(run.anytime);
            let average = (!falls).then_some(settings.tuned.average);
            // Presets are tuned for their own end.
            let whole = run.tuning_rounds.map_or(preset.min(rounds), |t| shortened(t, share));
            let tuning = [shortened(whole, settings.tuned.share), whole].map(|end| RunPlan {
                preset: end,
                looks: vec![end],
                gaps: Gaps::Last,
                average,
                ..plan.clone()
            });
            Ok(Planned { run: run.clone(), plan, tuning, average })
        });
        let plans = plans.collect::<Result<Vec<_>>>()?;
        Ok(Stage { experiment, problem, plans, seeds: settings.seeds })
    }

    /// What all runs cost.
    fn cost(&self) -> u64 {
        let rules = StepRule::ALL.len() as u64;
        let cost = |p: &Planned| p.plan.cost(&self.problem) * self.seeds * rules;
        self.plans.iter().map(cost).sum()
    }

    /// What tuning costs on a grid that does not grow.
    fn tuning_cost(&self, grid: &Grid) -> u64 {
        let cells = (grid.step_w.len() * grid.step_q.len()) as u64;
        let whole = grid.finalists.min(cells as usize) as u64 * grid.seeds;
        let cost = |p: &Planned| {
            let [first, last] = p.tuning.each_ref().map(|plan| plan.cost(&self.problem));
            cells * first + whole * last
        };
        self.plans.iter().map(cost).sum()
    }

    /// A run of tuning: a first look (0) or a whole run (1).
    fn trial(&self, run: usize, which: usize, pair: (f64, f64), seed: u64) -> Job {
        let ((step_w, step_q), plan) = (pair, self.plans[run].tuning[which].clone());
        Job { run, plan: RunPlan { step_w, step_q, seed, ..plan } }
    }

    /// The tuned steps of all runs, if there are some; for the small version those of the whole one.
    fn tuned(&self, table: &Table, quick: bool) -> Result<Option<Vec<Tuned>>> {
        let of = |planned: &Planned| {
            let rounds = (!quick).then(|| planned.tuning[1].rounds());
            let found = table.find(&self.experiment.name, &planned.run.id, rounds);
            found.map(Option::<&Tuned>::cloned)
        };
        let found: Vec<Option<Tuned>> = self.plans.iter().map(of).collect::<Result<_>>()?;
        Ok(found.into_iter().collect())
    }
}

/// Rounds that are played, and rounds that the steps are meant for.
fn rounds(run: &Run, problem: &Problem, share: f64) -> gdro::Result<(u64, u64)> {
    let of_budgets = || {
        let budgets = problem.budgets()?;
        let request = Request { budgets: Some(&budgets), counts: &budgets, ..Request::default() };
        let budgeted = run.algorithm.spec().budgets.is_some();
        let of_budgets = || run.algorithm.default_rounds(&request, nbar(run, problem));
        Some(if budgeted { of_budgets() } else { request.least() })
    };
    let played = match run.rounds {
        Some(t) => shortened(t, share),
        None => of_budgets().ok_or(gdro::Error::Parameter {
            name: "rounds",
            found: "none".into(),
            expected: "a number, or a problem with budgets",
        })?,
    };
    Ok((played, run.preset.map_or(played, |t| shortened(t, share))))
}

/// A share of some rounds, at least one.
fn shortened(rounds: u64, share: f64) -> u64 {
    ((rounds as f64 * share).round() as u64).max(1)
}

/// n̄: what the run says, or what is usual for the budgets.
fn nbar(run: &Run, problem: &Problem) -> Option<u64> {
    let usual = run.algorithm.spec().nbar?;
    let budgets = problem.budgets()?;
    let (nbar, budgets) = (run.nbar, Some(&budgets[..]));
    Some(usual(&Request { nbar, budgets, ..Request::default() }))
}

/// The scale factors of the weighted game of an algorithm under budgets.
fn scales(run: &Run, problem: &Problem, preset: u64) -> gdro::Result<Option<Vec<f64>>> {
    let Some(budgeted) = run.algorithm.spec().budgets else { return Ok(None) };
    let Some(budgets) = problem.budgets() else { return Ok(None) };
    let nbar = nbar(run, problem).unwrap_or(2 * preset);
    (budgeted.scales)(&budgets, nbar).map(Some)
}

fn library(experiment: &Experiment, run: &Run, source: gdro::Error) -> Error {
    Error::Library { experiment: experiment.name.clone(), run: run.id.clone(), source }
}

/// A run to be played.
struct Job {
    /// Index of the run in its experiment.
    run: usize,
    plan: RunPlan,
}

/// One call of [`reproduce`].
struct Session<'a> {
    settings: &'a Settings,
    cache: &'a Cache,
    stop: &'a AtomicBool,
    watch: &'a dyn Progress,
    played: AtomicUsize,
    cached: AtomicUsize,
}

impl<'a> Session<'a> {
    fn new(
        settings: &'a Settings,
        cache: &'a Cache,
        stop: &'a AtomicBool,
        watch: &'a dyn Progress,
    ) -> Self {
        let (played, cached) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Session { settings, cache, stop, watch, played, cached }
    }

    /// Runs that were played, and runs that the cache had.
    fn counts(&self) -> (usize, usize) {
        (self.played.load(Ordering::Relaxed), self.cached.load(Ordering::Relaxed))
    }

    /// Plays an experiment with these tuned steps, or tunes it before; `None` when someone stopped it.
    fn play(&self, stage: Stage, tuned: Option<Vec<Tuned>>) -> Result<Option<Outcome>> {
        let name = &stage.experiment.name;
        let seeds: Vec<u64> = (1..=stage.seeds).collect();
        self.watch.stage(&format!("{name}: exact optima"));
        let Some(optima) = self.optima(&stage, &seeds)? else { return Ok(None) };
        if tuned.is_none() {
            self.watch.stage(&format!("{name}: tuning"));
        }
        let tuned = tuned.map_or_else(|| self.tune(&stage), |tuned| Ok(Some(tuned)))?;
        let Some(tuned) = tuned else { return Ok(None) };
        self.watch.stage(&format!("{name}: runs"));
        let mut jobs = Vec::new();
        for rule in StepRule::ALL {
            for (run, (planned, tuned)) in stage.plans.iter().zip(&tuned).enumerate() {
                let mut plan = planned.plan.clone();
                if rule == StepRule::Tuned {
                    let best = tuned.best();
                    (plan.step_w, plan.step_q) = (best.step_w, best.step_q);
                    plan.average = planned.average;
                }
                let plan = |seed: &u64| Job { run, plan: RunPlan { seed: *seed, ..plan.clone() } };
                jobs.extend(seeds.iter().map(plan));
            }
        }
        let Some(traces) = self.traces(&stage, &jobs)? else { return Ok(None) };
        let library =
            |e| Error::Library { experiment: name.clone(), run: "constants".into(), source: e };
        let instance = stage.problem.instance(1).map_err(library)?;
        let constants: Vec<Constants> =
            stage.plans.iter().map(|planned| instance.constants(planned.plan.k)).collect();
        let assumptions = instance.assumptions();
        drop(instance);
        let per_run = seeds.len();
        let mut series = Vec::new();
        let plans = || stage.plans.iter().zip(&constants);
        let rules = StepRule::ALL.iter().flat_map(|rule| plans().map(move |p| (rule, p)));
        for ((rule, (planned, constants)), (jobs, traces)) in
            rules.zip(jobs.chunks(per_run).zip(traces.chunks(per_run)))
        {
            let bounds = if *rule == StepRule::Theory && stage.problem.is_bounded() {
                self.bounds(&planned.plan, constants, &stage.problem, &traces[0])
            } else {
                Vec::new()
            };
            let (run, plan) = (planned.run.clone(), jobs[0].plan.clone());
            series.push(Series { run, rule: *rule, plan, traces: traces.to_vec(), bounds });
        }
        Ok(Some(Outcome {
            groups: stage.problem.groups(),
            experiment: stage.experiment,
            seeds,
            optima,
            series,
            constants,
            assumptions,
            tuned,
            delta: self.settings.delta,
        }))
    }

    /// The theorem's bounds at the looks at which it speaks: at the end of the rounds that the
    /// steps are meant for, or everywhere when they fall with time.
    fn bounds(
        &self,
        plan: &RunPlan,
        constants: &Constants,
        problem: &Problem,
        trace: &Trace,
    ) -> Vec<(u64, u64, f64)> {
        let delta = self.settings.delta;
        let budgets = problem.budgets().unwrap_or_default();
        let anytime = plan.algorithm.falls(plan.anytime);
        let spoken = trace.points.iter().filter(|p| anytime || p.rounds == plan.preset);
        let bound = |t: u64| {
            // max_i p_i(R_i − p*/p_i) is what labels thm:5 and thm:7 bound, group by group.
            let weighted = |bounds: gdro::Result<Vec<f64>>| {
                let scales = plan.scales.as_ref()?;
                Some(bounds.ok()?.first()? * scales.first()?)
            };
            match plan.algorithm.spec().budgets.and_then(|budgeted| budgeted.bound) {
                Some(bound) => weighted(bound(constants, &budgets, delta)),
                None => plan.algorithm.gap(plan.anytime, constants, t, Holds::With(delta)).ok(),
            }
        };
        spoken.filter_map(|p| Some((p.rounds, p.samples, bound(p.rounds)?))).collect()
    }

    /// The optima by k, for every seed.
    fn optima(&self, stage: &Stage, seeds: &[u64]) -> Result<Option<Optima>> {
        let mut ks = vec![stage.experiment.k];
        for planned in &stage.plans {
            if !ks.contains(&planned.plan.k) {
                ks.push(planned.plan.k);
            }
        }
        let distinct = if stage.problem.varies() { seeds } else { &seeds[..1] };
        let mut optima = Vec::new();
        for k in ks {
            let solve = |seed: u64| {
                let found = stage.problem.optimum(seed, k);
                found.map_err(|e| Error::Library {
                    experiment: stage.experiment.name.clone(),
                    run: "exact optimum".into(),
                    source: e,
                })
            };
            let found = self.all(distinct.len(), |at| solve(distinct[at]).map(Some))?;
            let Some(mut found) = found else { return Ok(None) };
            if !stage.problem.varies() {
                found = vec![found[0].clone(); seeds.len()];
            }
            optima.push((k, found));
        }
        Ok(Some(optima))
    }

    /// What tuning finds for each run; `None` when someone stopped it.
    fn tune(&self, stage: &Stage) -> Result<Option<Vec<Tuned>>> {
        let grid = &self.settings.tuned;
        let whole = |planned: &Planned| planned.tuning[1].rounds();
        let mut searches: Vec<Search> =
            stage.plans.iter().map(|planned| Search::new(grid, whole(planned))).collect();
        let last_seeds = grid.first_seed + 1..=grid.first_seed + grid.seeds;
        for widening in 0..=grid.widenings {
            let of = |(run, search): (usize, &Search)| {
                search.unseen().into_iter().map(move |pair| (run, pair)).collect::<Vec<_>>()
            };
            let pairs: Vec<(usize, (f64, f64))> =
                searches.iter().enumerate().flat_map(of).collect();
            let jobs: Vec<Job> = pairs
                .iter()
                .map(|(run, pair)| stage.trial(*run, 0, *pair, grid.first_seed))
                .collect();
            if widening > 0 {
                self.watch.more(jobs.iter().map(|job| job.plan.cost(&stage.problem)).sum());
            }
            let Some(traces) = self.traces(stage, &jobs)? else { return Ok(None) };
            for ((run, pair), trace) in pairs.into_iter().zip(&traces) {
                searches[run].look(pair, trace.gap());
            }

            let of = |(run, search): (usize, &Search)| {
                let found = search.finalists(grid.finalists);
                found.into_iter().map(move |at| (run, at)).collect::<Vec<_>>()
            };
            let cells: Vec<(usize, usize)> = searches.iter().enumerate().flat_map(of).collect();
            let mut jobs = Vec::new();
            for (run, at) in &cells {
                let cell = searches[*run].cell(*at);
                let pair = (cell.step_w, cell.step_q);
                jobs.extend(last_seeds.clone().map(|seed| stage.trial(*run, 1, pair, seed)));
            }
            if widening > 0 {
                self.watch.more(jobs.iter().map(|job| job.plan.cost(&stage.problem)).sum());
            }
            let Some(traces) = self.traces(stage, &jobs)? else { return Ok(None) };
            for ((run, at), traces) in cells.into_iter().zip(traces.chunks(grid.seeds as usize)) {
                let sum: f64 = traces.iter().map(Trace::gap).sum();
                searches[run].judge(at, sum / traces.len() as f64);
            }
            let mut has_grown = false;
            for search in &mut searches {
                has_grown |= widening < grid.widenings && search.widen();
            }
            if !has_grown {
                break;
            }
        }
        Ok(Some(searches.into_iter().map(Search::done).collect()))
    }

    /// Plays jobs, or takes them from the cache; `None` when someone stopped.
    fn traces(&self, stage: &Stage, jobs: &[Job]) -> Result<Option<Vec<Trace>>> {
        let problem = &stage.problem;
        // The dearest first, so that no thread waits long for the last one.
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        let costs: Vec<u64> = jobs.iter().map(|job| job.plan.cost(problem)).collect();
        order.sort_by_key(|at| std::cmp::Reverse(costs[*at]));
        let play = |at: usize| {
            let (job, cost) = (&jobs[order[at]], costs[order[at]]);
            let key = job.plan.key(problem);
            if self.cache.has(&key)
                && let Some(trace) = self.cache.get::<Trace>(&key)
            {
                self.cached.fetch_add(1, Ordering::Relaxed);
                self.watch.skip(cost);
                return Ok(Some(trace));
            }
            let count = |share: f64| self.watch.done((share * cost as f64) as u64);
            let trace = job.plan.play(problem, self.stop, &count);
            let run = &stage.plans[job.run].run;
            let trace = trace.map_err(|e| library(&stage.experiment, run, e))?;
            if let Some(trace) = &trace {
                self.played.fetch_add(1, Ordering::Relaxed);
                self.cache.put(&key, trace)?;
            }
            Ok(trace)
        };
        let Some(sorted) = self.all(jobs.len(), play)? else { return Ok(None) };
        let mut traces: Vec<Option<Trace>> = vec![None; jobs.len()];
        for (at, trace) in order.iter().zip(sorted) {
            traces[*at] = Some(trace);
        }
        Ok(traces.into_iter().collect())
    }

    /// Results 0, 1, … on all threads of the pool, in order; `None` when one of them is.
    fn all<T: Send + Sync>(
        &self,
        count: usize,
        make: impl Fn(usize) -> Result<Option<T>> + Sync,
    ) -> Result<Option<Vec<T>>> {
        let results: Vec<OnceLock<Result<Option<T>>>> =
            (0..count).map(|_| OnceLock::new()).collect();
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        rayon::broadcast(|_| {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count
                    || failed.load(Ordering::Relaxed)
                    || self.stop.load(Ordering::Relaxed)
                {
                    break;
                }
                let made = make(at);
                failed.fetch_or(made.is_err(), Ordering::Relaxed);
                let _ = results[at].set(made);
            }
        });
        let mut all = Vec::with_capacity(count);
        let mut complete = true;
        for result in results {
            match result.into_inner() {
                Some(made) => match made? {
                    Some(value) => all.push(value),
                    None => complete = false,
                },
                None => complete = false,
            }
        }
        Ok(complete.then_some(all))
    }
}
