//! From experiments to figures, data and a report.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use gdro::algorithm::{Constants, Request};
use gdro::bound::Holds;

use crate::cache::{Cache, write};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Run, experiments};
use crate::outcome::{Optima, Outcome, Series};
use crate::problem::Problem;
use crate::run::{Gaps, RunPlan, Trace, looks};
use crate::settings::{Settings, StepRule};
use crate::tune::{GridCell, Tuned, criterion};
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
    /// This part of it begins.
    fn stage(&self, what: &str);
    /// So much more is done.
    fn done(&self, units: u64);
    /// So much was done by an earlier call.
    fn skip(&self, units: u64);
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The files, in the order in which they were written; the report is the last one.
    pub files: Vec<PathBuf>,
    /// Runs that were played, and runs that the cache had.
    pub played: usize,
    /// Runs that the cache had.
    pub cached: usize,
    /// Experiments that were left out since someone stopped.
    pub left: Vec<String>,
}

/// Plays what is ordered on all threads of the pool, and writes a figure for each experiment and
/// step rule as SVG and PNG, its data as CSV, `tuning.csv` and `report.md`. The results do not depend
/// on the number of threads. Runs that are stored already are not rerun.
///
/// When `stop` is set, what is finished stays in the cache, and only experiments that are complete
/// are drawn and reported.
///
/// # Errors
/// For files that cannot be read or written, names that are not there, and whatever the library
/// finds wrong with an experiment.
pub fn reproduce(order: &Order<'_>, stop: &AtomicBool, watch: &dyn Progress) -> Result<Written> {
    let started = Instant::now();
    let mut settings = Settings::read(order.folder)?;
    if order.quick {
        settings = settings.quick();
    }
    settings.seeds = order.seeds.unwrap_or(settings.seeds);
    let share = if order.quick { settings.quick.rounds } else { 1.0 };
    let list = experiments(order.folder, order.names)?;
    let cache = Cache::new(&order.out.join("cache"));
    let mut stages = Vec::new();
    for experiment in list {
        watch.stage(&format!("{}: reading", experiment.name));
        let problem = Problem::read(order.folder, &experiment.problem)?;
        stages.push(Stage::new(experiment, problem, &settings, share)?);
    }
    let session = Session {
        settings: &settings,
        cache: &cache,
        stop,
        watch,
        played: AtomicUsize::new(0),
        cached: AtomicUsize::new(0),
    };
    cache.make()?;
    watch.start(stages.iter().map(Stage::cost).sum());

    let (mut files, mut outcomes, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for stage in stages {
        let name = stage.experiment.name.clone();
        if stop.load(Ordering::Relaxed) {
            left.push(name);
            continue;
        }
        let Some(outcome) = session.play(stage)? else {
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
            played: session.played.load(Ordering::Relaxed),
            cached: session.cached.load(Ordering::Relaxed),
            left: &left,
        };
        for (name, text) in [
            ("tuning.csv", csv::tuning(&outcomes)),
            ("report.md", report::markdown(&outcomes, &summary)),
        ] {
            let path = order.out.join(name);
            write(&path, text.as_bytes())?;
            files.push(path);
        }
    }
    let [played, cached] = [&session.played, &session.cached].map(|n| n.load(Ordering::Relaxed));
    Ok(Written { files, played, cached, left })
}

/// An experiment with its problem and the numbers of rounds of its runs.
struct Stage {
    experiment: Experiment,
    problem: Problem,
    /// Plans with theory steps and seed 0, and those for tuning.
    plans: Vec<Planned>,
    seeds: u64,
    grid: u64,
    tuning_seeds: u64,
}

/// A run's plans, but for steps and seeds.
struct Planned {
    run: Run,
    plan: RunPlan,
    tuning: RunPlan,
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
            // What budgets fix is not shortened; presets are tuned for their own end.
            let fixed = run.rounds.is_none();
            let by = if fixed { 1.0 } else { experiment.tune.share };
            let whole = run.tuning_rounds.map_or(preset.min(rounds), |t| shortened(t, share));
            let end = ((whole as f64 * by).round() as u64).max(1);
            let tuning = RunPlan {
                preset: end,
                looks: vec![end],
                gaps: Gaps::None,
                average: Some(settings.tuned.average),
                ..plan.clone()
            };
            Ok(Planned { run: run.clone(), plan, tuning })
        });
        let plans = plans.collect::<Result<Vec<_>>>()?;
        let grid = (settings.tuned.step_w.len() * settings.tuned.step_q.len()) as u64;
        let (seeds, tuning_seeds) = (settings.seeds, settings.tuned.seeds);
        Ok(Stage { experiment, problem, plans, seeds, grid, tuning_seeds })
    }

    fn cost(&self) -> u64 {
        let cost = |p: &Planned| {
            let rules = StepRule::ALL.len() as u64;
            p.plan.cost(&self.problem) * self.seeds * rules
                + p.tuning.cost(&self.problem) * self.grid * self.tuning_seeds
        };
        self.plans.iter().map(cost).sum()
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

impl Session<'_> {
    /// Tunes and plays an experiment; `None` when someone stopped it.
    fn play(&self, stage: Stage) -> Result<Option<Outcome>> {
        let name = &stage.experiment.name;
        let seeds: Vec<u64> = (1..=stage.seeds).collect();
        self.watch.stage(&format!("{name}: exact optima"));
        let Some(optima) = self.optima(&stage, &seeds)? else { return Ok(None) };
        self.watch.stage(&format!("{name}: tuning"));
        let Some(tuned) = self.tune(&stage)? else { return Ok(None) };
        self.watch.stage(&format!("{name}: runs"));
        let mut jobs = Vec::new();
        for rule in StepRule::ALL {
            for (run, (planned, tuned)) in stage.plans.iter().zip(&tuned).enumerate() {
                let mut plan = planned.plan.clone();
                if rule == StepRule::Tuned {
                    (plan.step_w, plan.step_q) = (tuned.best.step_w, tuned.best.step_q);
                    plan.average = Some(tuned.average);
                }
                let plan = |seed: &u64| Job { run, plan: RunPlan { seed: *seed, ..plan.clone() } };
                jobs.extend(seeds.iter().map(plan));
            }
        }
        let Some(traces) = self.traces(&stage, &jobs)? else { return Ok(None) };
        let per_run = seeds.len();
        let mut series = Vec::new();
        let rules =
            StepRule::ALL.iter().flat_map(|rule| stage.plans.iter().map(move |p| (rule, p)));
        for ((rule, planned), (jobs, traces)) in
            rules.zip(jobs.chunks(per_run).zip(traces.chunks(per_run)))
        {
            let bounds = if *rule == StepRule::Theory && stage.problem.is_bounded() {
                let constants = stage.problem.instance(1).map(|i| i.constants(planned.plan.k));
                let constants =
                    constants.map_err(|e| library(&stage.experiment, &planned.run, e))?;
                self.bounds(&planned.plan, &constants, &stage.problem, &traces[0])
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

    fn tune(&self, stage: &Stage) -> Result<Option<Vec<Tuned>>> {
        let grid = &self.settings.tuned;
        let mut jobs = Vec::new();
        for (run, planned) in stage.plans.iter().enumerate() {
            for step_w in &grid.step_w {
                for step_q in &grid.step_q {
                    for seed in grid.first_seed..grid.first_seed + grid.seeds {
                        let (step_w, step_q) = (*step_w, *step_q);
                        let plan = RunPlan { step_w, step_q, seed, ..planned.tuning.clone() };
                        jobs.push(Job { run, plan });
                    }
                }
            }
        }
        let Some(traces) = self.traces(stage, &jobs)? else { return Ok(None) };
        let mut tuned = Vec::new();
        let (per_cell, per_run) = (grid.seeds as usize, (stage.grid * grid.seeds) as usize);
        let by_run = jobs.chunks(per_run).zip(traces.chunks(per_run));
        for ((jobs, traces), planned) in by_run.zip(&stage.plans) {
            let cells = jobs.chunks(per_cell).zip(traces.chunks(per_cell)).map(|(jobs, traces)| {
                let sum: f64 = traces.iter().map(|t| criterion(&stage.experiment, t)).sum();
                let RunPlan { step_w, step_q, .. } = jobs[0].plan;
                GridCell { step_w, step_q, value: sum / traces.len() as f64 }
            });
            let rounds = planned.tuning.rounds();
            tuned.push(Tuned::new(&planned.run, cells.collect(), rounds, grid.average));
        }
        Ok(Some(tuned))
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
