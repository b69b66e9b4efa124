//! Training on a table that need not fit in memory: a pass that counts, one that trains and one that
//! certifies and evaluates. Where the first rows do not stand for the table, a pass before training
//! takes a sample of every group, which holds all rows of the small ones.

mod cut;
mod finish;
mod floor;
mod head;
mod outcome;
mod pass;
mod play;
mod unchanged;

pub use finish::Finish;
pub use outcome::{Brief, BriefGroup, BriefSummary, Told};
pub use play::Learnt;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;

use gdro::algorithm::{Algorithm, Draws, Request, RunLength};
use gdro::run::Outcome;
use gdro::sampling::Rng;
use gdro_data::stream::{Counted, Encoded, Portion, Schema, Survey};
use gdro_data::{Kinds, Purpose, Reader, check_memory};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;

use cut::{Before, Cuts};
use gdro::setting::{Baseline, Objective, SolverName};
use head::Head;
use pass::Mark;
use play::{Learner, Pass};
use unchanged::Unchanged;

use crate::failure::{Failure, Result};
use crate::job::{Job, Streaming, Training};
use crate::manifest;
use crate::numbers::counted;
use crate::prepared::{Setting, task_of};
use crate::progress::{Event, Progress};
use crate::scales::scale_remark;
use crate::solve::Ended;

/// Bytes that the shuffle buffer takes as encoded rows, about, unless it is given in rows.
const BUFFER: u64 = 12 << 20;

/// Fewest and most rows of the buffer, unless given.
const ROWS: (u64, u64) = (1 << 10, 1 << 16);

/// How often the encoded rows of the buffer are in memory, about, in all its copies: shuffled, waiting,
/// played and kept.
const COPIES: usize = 10;

/// Bytes that a row of the buffer takes besides, about: as text, as cells and as records.
const PER_ROW: usize = 2400;

/// What a stream takes besides, about.
const BESIDES: u64 = 60 << 20;

/// Of a run that plays less than this part of its rounds nothing is kept.
const PLAYED: u64 = 100;

/// Most rows that are held out in all, unless the number per group is given: more would not make
/// the intervals narrower in any way that matters.
const HELD_OUT: f64 = 1e6;

/// What training in one pass leaves behind.
pub struct Streamed {
    /// What the table holds.
    pub schema: Arc<Schema>,
    /// Rows of each group that are held out.
    pub held_out: Vec<u64>,
    /// Rows that are shuffled together.
    pub buffer: u64,
    /// Rows that were read while it trained.
    pub read: u64,
    /// The groups whose rows were kept in memory and drawn again and again.
    pub kept: Vec<bool>,
    /// Whether steps and curves are from a sample of the whole table.
    pub is_sampled: bool,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The game, on the first rows.
    pub setting: Setting,
    /// The robust model.
    pub robust: play::Learnt,
    /// Ordinary training and its balanced form, when they were wanted.
    pub others: Vec<play::Learnt>,
    /// What the pass after training found, when there was one.
    pub finish: Option<finish::Finish>,
    /// How the run ended.
    pub ended: Ended,
}

/// Runs a job on a table that is streamed.
pub fn run(job: &Job, streaming: &Streaming, progress: &mut dyn Progress) -> Result<Streamed> {
    let stop = progress.interrupts();
    let tables = gdro_data::expand(&job.files(&job.tables)).map_err(|e| job.refuse(&e))?;
    let pipe = tables.iter().chain(&job.data.group_file).find(|file| is_pipe(file));
    if let Some(pipe) = pipe
        && (streaming.schema.is_none() || !streaming.one_pass)
    {
        return Err(Failure::input(format!(
            "{}: a pipe can be read once only: with --stream give --schema and --one-pass",
            pipe.display()
        )));
    }
    let once = pipe.is_some();
    let files = Unchanged::of(job);
    let checkpoint = progress.checkpoint();
    let schema = Arc::new(schema(job, streaming, progress, &stop)?);
    files.check()?;
    let training = &job.training;
    let held_out = held_out(training.holdout, &schema.counts);
    let fits = (BUFFER / schema.encoding.row_bytes() as u64).clamp(ROWS.0, ROWS.1);
    let buffer = streaming.buffer.unwrap_or(fits);
    let refuse = |e: gdro_data::Error| job.refuse(&e);
    let row_bytes = COPIES * schema.encoding.row_bytes() + PER_ROW;
    let bytes = BESIDES as f64 + buffer as f64 * row_bytes as f64;
    let what = || format!("a stream with a buffer of {}", counted(buffer, "row"));
    check_memory(bytes, Purpose::Stream, what).map_err(refuse)?;
    let (held, size) = (&held_out[..], buffer as usize);
    let mut rows =
        pass::Rows { job, schema: &schema, held_out: held, training: None, buffer: size };
    let (head, first, reader) = if once || !Head::needs_sample(&rows) {
        progress.tell(Event::Stage("first rows"));
        let mut reader = rows.open(rayon::current_num_threads())?;
        let (head, first) = Head::first(&mut reader, &rows)?;
        (head, first, reader)
    } else {
        progress.tell(Event::Stage("a sample of every group"));
        let Some((head, training)) = Head::sampled(&rows, &checkpoint, &stop)? else {
            return Err(Failure::Machine(
                "interrupted before training: there is no model of this run yet".into(),
            ));
        };
        rows.training = Some(training);
        progress.tell(Event::Done);
        (head, Vec::new(), rows.open(rayon::current_num_threads())?)
    };
    files.check()?;
    let setting = head.robust(job, &schema)?;
    let features = schema.encoding.feature_names();
    if let Some(remark) = scale_remark(&setting.data, |at| features[at].clone()) {
        progress.tell(Event::Note(&remark));
    }
    let names = schema.grouping.names();
    let encoded = if streaming.robust_only { Encoded::Visited } else { Encoded::Training };
    let feed = rows.feed(encoded);
    let budgets = feed.training().to_vec();
    let usual = Algorithm::automatic(false, false);
    let algorithm = training.solver.algorithm().unwrap_or(usual);
    let request = Request {
        rounds: training.rounds,
        nbar: training.nbar,
        budgets: Some(&budgets),
        counts: &budgets,
        ..Request::default()
    };
    let nbar = algorithm.nbar(&request).map_err(|c| job.refusal(c.setting, c.why))?;
    let every = algorithm.spec().draws == Draws::EveryGroup;
    // What is read once cannot be kept as a whole.
    let whole = head.whole.iter().map(|whole| *whole && !once).collect::<Vec<bool>>();
    let kept =
        |every: bool| (every && whole.contains(&true)).then(|| (head.batch.clone(), &whole[..]));
    let (most, usual_rounds) = if every {
        rounds_of_every(&budgets, &whole)
    } else {
        let rounds = algorithm.default_rounds(&request, nbar);
        (Some(rounds), rounds)
    };
    let wanted = (training.rounds, most);
    if let (Some(asked), Some(most)) = wanted
        && asked > most
    {
        let why = format!(
            "{asked}: the rows are enough for {most} rounds of {algorithm}, each visited once"
        );
        return Err(job.refusal("rounds", why));
    }
    let rounds = training.rounds.unwrap_or(usual_rounds);
    let length = RunLength { rounds, nbar };
    (algorithm.spec().limit)(&request, &length).map_err(|c| job.refusal(c.setting, c.why))?;
    // With as many rows of every group, those of a larger one are evenly spread.
    let visits = |kept: &bool| if *kept { 0 } else { rounds };
    let feed = match every {
        true => feed.visiting(&whole.iter().map(visits).collect::<Vec<u64>>()),
        false => feed,
    };
    let constant = floor::constant(&setting).map_err(|e| Failure::library(e, names))?;
    let groups = &head.groups[..];
    let present = |of: &[u64]| groups.iter().map(|i| of[*i]).collect::<Vec<u64>>();
    let robust = Learner {
        head: &setting,
        training: training.clone(),
        algorithm,
        names,
        present: groups,
        budgets: (budgets.clone(), present(&budgets)),
        visits: feed.visits().to_vec(),
        kept: kept(every),
        constant: constant.as_deref(),
        nbar,
        rounds,
    };
    let plain = Training {
        objective: Objective::Average,
        solver: SolverName::Rounds(usual),
        step_w: None,
        step_q: Some(1.0),
        average: None,
        loss_range: None,
        anytime: false,
        subsets: None,
        ..training.clone()
    };
    let total: u64 = budgets[..schema.first_family()].iter().sum();
    let (erm, balanced);
    let mut others = Vec::new();
    if !streaming.robust_only {
        erm = head.baseline(job, &schema, Baseline::Erm)?;
        balanced = head.baseline(job, &schema, Baseline::Balanced)?;
        let learner = |head, budgets: (Vec<u64>, Vec<u64>), kept, rounds| Learner {
            head,
            visits: budgets.0.clone(),
            kept,
            constant: None,
            training: plain.clone(),
            algorithm: usual,
            names,
            present: groups,
            budgets,
            nbar: None,
            rounds,
        };
        others.push(learner(&erm, (vec![total], vec![total]), None, total));
        let budgets = (budgets.clone(), present(&budgets));
        let (_, rounds) = rounds_of_every(&budgets.0, &whole);
        others.push(learner(&balanced, budgets, kept(true), rounds));
    }
    progress.tell(Event::Stage("steps"));
    let mut channels = Vec::new();
    let mut ends = Vec::new();
    for _ in 0..=others.len() {
        let (send, receive) = sync_channel(1);
        channels.push(Some(send));
        ends.push(receive);
    }
    let all = !others.is_empty();
    let order = Rng::seed_from_u64(!training.seed);
    let start = Before { portion: 0, mark: None, order, read: 0 };
    let (cuts, from) = Cuts::new(checkpoint.clone(), 1 + others.len(), start)?;
    let (first, (reader, feed)) = match from.mark {
        None => (first, (reader, feed)),
        mark => (Vec::new(), rows.open_at(rayon::current_num_threads(), feed, mark)?),
    };
    let (mut order, mut portions, cuts) = (from.order, from.portion, &cuts);
    let read = AtomicU64::new(from.read);
    let counter = &read;
    let deliver = move |portion: &Portion, mark: Mark| {
        let rows = portion.rows() as u64;
        let read = rows + counter.fetch_add(rows, Ordering::Relaxed);
        let batch = Arc::new(portion.batch(all).map_err(refuse)?);
        // Ordinary training visits the rows in random order, whatever their groups.
        let mut pooled = None;
        if all {
            let mut rows: Vec<u32> = (0..portion.rows_once() as u32).collect();
            rows.shuffle(&mut order);
            pooled = Some(Arc::new(batch.pooled(rows).map_err(|e| Failure::library(e, &[]))?));
        }
        portions += 1;
        let (order, mark) = (order.clone(), Some(mark));
        cuts.passes(Before { portion: portions, mark, order, read });
        for (at, channel) in channels.iter_mut().enumerate() {
            let Some(send) = channel else { continue };
            let own = pooled.as_ref().filter(|_| at == 1).unwrap_or(&batch).clone();
            if send.send(own).is_err() {
                *channel = None;
            }
        }
        Ok(channels.iter().any(Option::is_some))
    };
    let stop_flag = &*stop;
    let work = || {
        std::thread::scope(|scope| {
            let pass = |(number, batches)| {
                let checkpoint = checkpoint.within(&format!("learner {number}"));
                Pass { batches, cuts, number, checkpoint, stop: stop_flag }
            };
            let mut passes = ends.into_iter().enumerate().map(pass);
            let own = passes.next();
            let running: Vec<_> = others
                .iter()
                .zip(passes)
                .map(|(learner, pass)| scope.spawn(move || learner.learn(pass, None)))
                .collect();
            let robust = match own {
                Some(pass) => robust.learn(pass, Some(progress))?,
                None => return Err(Failure::Machine("no channel".into())),
            };
            let others = running.into_iter().map(|learner| {
                let panicked = |_| Failure::Machine("a thread ended unexpectedly".into());
                learner.join().unwrap_or_else(|e| Err(panicked(e)))
            });
            Ok((robust, others.collect::<Result<Vec<_>>>()?))
        })
    };
    let (mut robust, others) = match cuts.have_ended() {
        true => work()?,
        false => pass::run(&rows, (first, reader), feed, deliver, work)?,
    };
    files.check()?;
    progress.tell(Event::Done);
    if robust.play.has_nothing() {
        return Err(Failure::Interrupted);
    }
    if let (Outcome::Exhausted { group, .. }, (played, planned)) =
        (robust.play.outcome, robust.play.rounds)
        && played.saturating_mul(PLAYED) < planned
    {
        // It would end there again.
        checkpoint.remove();
        return Err(Failure::input(format!(
            "the file ended after {played} of {}: rows of the group `{}` were let go while others waited, \
             so that there is no model: put the rows of the file in random order, or give a larger --buffer \
             than {buffer}",
            counted(planned, "round"),
            names[group]
        )));
    }
    let mut finished = None;
    if !streaming.one_pass && !stop.load(Ordering::Relaxed) {
        progress.tell(Event::Stage("certificate and evaluation"));
        let certify = |robust: &Learnt, constant: Option<&[f64]>, stage: &str| {
            let models = std::iter::once(robust).chain(&others).map(|l| &l.w[..]);
            let models: Vec<&[f64]> = models.collect();
            let weights = &robust.weights;
            finish::run(&rows, &setting, &models, constant, weights, (&checkpoint, stage), &stop)
        };
        finished = certify(&robust, constant.as_deref(), "last pass")?;
        // The rows in memory may have said that it does better where all rows say that it does not.
        if let (Some(_), Some(constant)) = (finished.as_ref().filter(|f| f.below), constant) {
            (robust.w, robust.moved) = (constant, Some(0.0));
            finished = certify(&robust, None, "last pass again")?;
        }
        files.check()?;
        progress.tell(Event::Done);
    }
    let ended = match robust.play.ended() {
        _ if !streaming.one_pass && finished.is_none() => Ended::Interrupted,
        Ended::Exhausted => Ended::FileEnded,
        ended => ended,
    };
    let read = read.into_inner();
    // Of groups of a second family only the pass over all rows knows it exactly.
    let counted = finished.as_ref().map(|found: &Finish| found.held_out.clone());
    let held_out = counted.unwrap_or_else(|| held_out.clone());
    Ok(Streamed {
        kept: whole.into_iter().map(|whole| whole && every).collect(),
        is_sampled: head.is_sample,
        schema,
        held_out,
        buffer,
        read,
        algorithm,
        setting,
        robust,
        others,
        finish: finished,
        ended,
    })
}

/// Whether a table is gone when it has been read: standard input and named pipes.
fn is_pipe(table: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if table.metadata().is_ok_and(|there| there.file_type().is_fifo()) {
            return true;
        }
    }
    table.as_os_str() == "-"
}

/// The schema: from its file, or from a pass that counts.
fn schema(
    job: &Job,
    streaming: &Streaming,
    progress: &mut dyn Progress,
    stop: &AtomicBool,
) -> Result<Schema> {
    let training = &job.training;
    let (task, constant) = (training.loss.map(task_of), training.penalize_intercept);
    if let Some(file) = &streaming.schema {
        let name = file.display();
        let text = manifest::read(file, "schema")?;
        let schema: Schema = serde_json::from_str(&text).map_err(|e| {
            let (line, column) = (e.line(), e.column());
            Failure::input(format!("{name}:{line}:{column}: not a schema of gdro: {e}"))
        })?;
        schema.check().map_err(|why| Failure::input(format!("{name}: {why}")))?;
        if !schema.fits(&job.data, task, constant) {
            return Err(Failure::input(format!(
                "{name}: the schema was made with other options for the table: make it anew, without --schema"
            )));
        }
        return Ok(schema);
    }
    let refuse = |e: gdro_data::Error| job.refuse(&e);
    let (checkpoint, stage, so_far) = (progress.checkpoint(), "count", "count/so far");
    if let Some(text) = checkpoint.get::<String>(stage)? {
        return serde_json::from_str(&text)
            .map_err(|e| Failure::input(format!("the checkpoint is damaged: {e}")));
    }
    progress.tell(Event::Stage("counting rows"));
    let open = || {
        Reader::open(&job.files(&job.tables), &job.data, None)
            .map(|reader| reader.decode_ahead(rayon::current_num_threads()))
    };
    let mut reader = open().map_err(refuse)?;
    let mut survey = Survey::new(&job.data, task, constant);
    if let Some((counted, kinds)) = checkpoint.get::<(Counted, Kinds)>(so_far)? {
        // The first block settles what is counted.
        if let Some(first) = reader.next_block(ROWS.1 as usize).map_err(refuse)? {
            reader = open().map_err(refuse)?;
            reader.skip(counted.rows, kinds).map_err(refuse)?;
            survey = survey.go_on(&first, counted).map_err(refuse)?;
            progress.tell(Event::Resumed(survey.rows(), None, "row"));
        }
    }
    while let Some(block) = reader.next_block(ROWS.1 as usize).map_err(refuse)? {
        survey.add(&block).map_err(refuse)?;
        let is_last = stop.load(Ordering::Relaxed);
        if (is_last || checkpoint.is_due())
            && let Some(counted) = survey.counted()
        {
            checkpoint.put(so_far, &(counted, reader.kinds()));
        }
        if is_last {
            checkpoint.freeze();
            return Err(Failure::Machine(
                "interrupted while counting rows: there is no model of this run yet".into(),
            ));
        }
    }
    let schema = survey.finish().map_err(refuse)?;
    let text = serde_json::to_string(&schema);
    checkpoint.put(stage, &text.map_err(|e| Failure::Machine(format!("cannot write JSON: {e}")))?);
    progress.tell(Event::Done);
    Ok(schema)
}

/// How many rounds with one row of every group there can be at most, and are: as many as the smallest
/// group has rows of those that are not kept in memory; if all are, as many as the largest has.
fn rounds_of_every(training: &[u64], kept: &[bool]) -> (Option<u64>, u64) {
    let others = training.iter().zip(kept).filter(|(_, kept)| !**kept);
    let most = others.map(|(n, _)| *n).min();
    (most, most.or(training.iter().copied().max()).unwrap_or(1))
}

/// How many rows of each group are held out: the same share of all, which is so small that no more
/// are held out than are worth it; or as many as were asked for. Every group keeps one for training.
fn held_out(holdout: f64, counts: &[u64]) -> Vec<u64> {
    let share = holdout.min(HELD_OUT / counts.iter().sum::<u64>().max(1) as f64);
    let of = |n: &u64| {
        let wanted =
            if holdout < 1.0 { (share * *n as f64).round() as u64 } else { holdout as u64 };
        wanted.min(n.saturating_sub(1))
    };
    counts.iter().map(of).collect()
}
