//! Whether a model does better than ordinary training on rows that neither was trained on.

use std::cmp::Ordering;

use gdro::interval::{Comparison, HELD_OUT_ROWS, Largest, TRAINING_ROWS};
use serde::Serialize;

use crate::evaluation::Evaluation;
use crate::facts::Facts;
use crate::job::Job;
use crate::numbers::{Scale, count, counted, level};
use crate::options::Front;

pub use gdro::interval::Verdict as Word;

/// A model against ordinary training (ERM), on the group that is worst for each, and on average. Risks
/// on held-out rows are those that intervals are for: losses and weights are capped.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What it comes to.
    pub word: Word,
    /// The probability with which the interval holds, 1 − δ.
    pub level: f64,
    /// The largest risk of a group under ERM on held-out rows, among the groups that are large
    /// enough; `None` without any.
    pub erm: Option<Worst>,
    /// The same under the model.
    pub model: Option<Worst>,
    /// The second minus the first.
    pub difference: Option<f64>,
    /// Its interval, see [`gdro::interval::largest`].
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Number of all groups.
    pub groups: usize,
    /// Groups with fewer than 20 training rows or 30 held-out rows, which are not among those whose
    /// largest risk it is about.
    pub left_out: Vec<String>,
    /// The groups, of all, in which the model is clearly better, the largest gain first: their
    /// intervals hold for all at once.
    pub better: Vec<String>,
    /// The groups in which it is clearly worse, the largest loss first.
    pub worse: Vec<String>,
    /// The mean risk over held-out rows under the model minus that under ERM.
    pub average_cost: Option<f64>,
    /// What to do next: a command or an option.
    pub next: String,
    /// Mean risks over rows under ERM and the model, and the largest risks of any group: on held-out
    /// rows or, without any, on training rows.
    #[serde(skip)]
    mean: [f64; 2],
    #[serde(skip)]
    most: [f64; 2],
    /// Whether the model is ordinary training itself.
    #[serde(skip)]
    is_ordinary: bool,
    /// The share of the rows of ERM's worst group whose loss the cap cuts, where it is notable and larger
    /// than that of the model in its own.
    #[serde(skip)]
    cut: Option<f64>,
    /// The mean training risks of ERM and the model, where ordinary training was cut short.
    #[serde(skip)]
    cut_short: Option<[f64; 2]>,
}

/// A larger share of rows whose losses are cut is said.
const NOTABLE: f64 = 0.01;

/// A verdict with its words.
#[derive(Debug, Serialize)]
pub struct Told {
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Whether the model helps, whom and at what cost, what to do next.
    text: [String; 3],
}

impl From<Verdict> for Told {
    fn from(verdict: Verdict) -> Self {
        Told { text: verdict.lines(), verdict }
    }
}

/// The group with the largest risk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Worst {
    /// Its name.
    pub group: String,
    /// Its risk.
    pub risk: f64,
}

/// What a verdict is made from: rows that neither model was trained on, or training rows where there are
/// no others.
pub struct Evidence<'a> {
    /// Names of the groups.
    pub names: &'a [&'a str],
    /// Rows of each group for training and held out.
    pub rows: &'a [[usize; 2]],
    /// δ of the intervals.
    pub delta: f64,
    /// The model against ERM; `None` without held-out rows.
    pub comparison: Option<&'a Comparison>,
    /// Their largest risks; `None` without a group that is large enough.
    pub largest: Option<&'a Largest>,
    /// The mean risks over rows of ERM and the model.
    pub mean: [f64; 2],
    /// The largest risks of any group, which are said where nothing is held out.
    pub most: [f64; 2],
    /// Whether the model is ordinary training itself.
    pub is_ordinary: bool,
}

impl Verdict {
    /// The verdict on a model of a job beside ERM. `largest` is `None` without a group that is large
    /// enough, `comparison` without held-out rows.
    pub fn new(
        job: &Job,
        table: &Facts,
        [model, erm]: [&Evaluation; 2],
        comparison: Option<&Comparison>,
        largest: Option<&Largest>,
    ) -> Self {
        let names: Vec<&str> = table.groups.iter().map(|g| &g.name[..]).collect();
        let rows: Vec<[usize; 2]> =
            table.groups.iter().map(|g| [g.train_rows, g.test_rows]).collect();
        let both = [erm, model];
        let evidence = Evidence {
            names: &names,
            rows: &rows,
            delta: job.training.delta,
            comparison,
            largest,
            mean: both.map(|e| e.capped_rows.as_ref().unwrap_or(&e.train_rows).risk),
            most: both.map(|e| e.train.iter().map(|m| m.risk).fold(0.0, f64::max)),
            is_ordinary: job.training.is_ordinary(),
        };
        Self::of(&evidence, |word| next(word, job, false))
    }

    /// The verdict on a model beside ERM; `next` says what to do after each of the words.
    pub fn of(evidence: &Evidence<'_>, next: impl FnOnce(Word) -> String) -> Self {
        let Evidence { names, rows, delta, comparison, largest, mean, most, is_ordinary } =
            *evidence;
        let word = match (comparison, largest) {
            (None, _) => Word::NoRows,
            (_, None) => Word::Unclear,
            (_, Some(largest)) => largest.verdict(),
        };
        let worst = |at: usize| {
            let (group, risk) = largest?.worst[at];
            Some(Worst { group: names[group].to_owned(), risk })
        };
        let is_small = |rows: &[usize; 2]| rows[0] < TRAINING_ROWS || rows[1] < HELD_OUT_ROWS;
        let small = names.iter().zip(rows).filter(|(_, rows)| is_small(rows));
        let left_out = small.map(|(name, _)| (*name).to_owned());
        let [better, worse] = comparison.map_or_else(Default::default, |found| {
            let [better, worse, ..] = found.sides();
            [better, worse].map(|mut side| {
                let change = |i: &usize| found.groups[*i].clipped_difference.value.map(f64::abs);
                side.sort_by(|a, b| change(b).partial_cmp(&change(a)).unwrap_or(Ordering::Equal));
                side.into_iter().map(|i| names[i].to_owned()).collect()
            })
        });
        let cut = largest.zip(comparison).and_then(|(largest, found)| {
            let share = |model: usize| {
                let group = &found.groups[largest.worst[model].0];
                group.clipped[model] as f64 / group.rows as f64
            };
            Some(share(1)).filter(|cut| *cut > NOTABLE.max(share(0)))
        });
        Verdict {
            word,
            level: 1.0 - delta,
            erm: worst(1),
            model: worst(0),
            difference: largest.map(|found| found.difference),
            low: largest.map(|found| found.interval.low),
            high: largest.map(|found| found.interval.high),
            groups: names.len(),
            left_out: comparison.map_or_else(Vec::new, |_| left_out.collect()),
            better,
            worse,
            average_cost: comparison.map(|_| mean[1] - mean[0]),
            next: next(word),
            mean,
            most,
            is_ordinary,
            cut,
            cut_short: None,
        }
    }

    /// Says that ordinary training has not come to its end, where these are the mean training risks of ERM
    /// and the model: nothing follows from a comparison.
    #[must_use]
    pub fn beside_cut_short(self, means: [f64; 2]) -> Self {
        let next = "put the rows of the files in random order, or give a larger --buffer".into();
        let (better, worse) = (Vec::new(), Vec::new());
        Verdict { word: Word::Unclear, cut_short: Some(means), next, better, worse, ..self }
    }

    /// Says what to do next after a choice, which has tried what else there is.
    pub fn after_choice(&mut self, job: &Job) {
        self.next = next(self.word, job, true);
    }

    /// Whether the worst group is better and rows lose more on average: what is paid then is a price.
    pub fn is_paid(&self) -> bool {
        self.word == Word::Helped && self.average_cost.is_some_and(|cost| cost > 0.0)
    }

    /// Whether the model is ordinary training itself.
    pub fn is_ordinary(&self) -> bool {
        self.is_ordinary
    }

    /// The verdict in three sentences without full stops: whether the model helps, whom and at what
    /// cost, and what to do next. The first one begins with the word in capitals.
    pub fn lines(&self) -> [String; 3] {
        let word = self.word.words();
        let next = format!("next: {}", self.next);
        if self.word == Word::NoRows {
            let scale = Scale::of(self.most.into_iter().chain(self.mean));
            return [
                format!("{word}: whether the model helps on new rows is not known"),
                format!(
                    "on training rows, which flatter every model, the worst group's risk {}, and the \
                     mean over rows {}",
                    change(scale, self.most, None),
                    change(scale, self.mean, None)
                ),
                next,
            ];
        }
        [format!("{word}: {}", self.effect()), self.cost(), next]
    }

    /// What became of the worst group.
    fn effect(&self) -> String {
        let (Some(erm), Some(model), Some(low), Some(high)) =
            (&self.erm, &self.model, self.low, self.high)
        else {
            return format!(
                "no group has {TRAINING_ROWS} training rows and {HELD_OUT_ROWS} rows held out, the \
                 least that tells"
            );
        };
        if self.is_ordinary {
            return "the model is ordinary training itself".into();
        }
        if let Some(means) = self.cut_short {
            let scale = Scale::of(means);
            let [erm, model] = means.map(|mean| scale.show(mean));
            return format!(
                "ordinary training did not reach its optimum: its mean risk on training rows is {erm}, \
                 the model's {model}, so that nothing follows from comparing them"
            );
        }
        let scale = Scale::of([erm.risk, model.risk]);
        let large = counted((self.groups - self.left_out.len()) as u64, "group");
        let whose = match self.left_out.is_empty() {
            true => "the worst group's risk".to_owned(),
            false => format!("the largest risk of the {large} large enough"),
        };
        let chance = match self.word {
            Word::Unclear => format!(", which may be chance: {}", self.power(scale)),
            _ => String::new(),
        };
        let ends = format!("{}: {}", level(self.level), scale.ends(low, high));
        let change = change(scale, [erm.risk, model.risk], Some(&ends));
        format!("on rows held out, {whose} {change}{chance}")
    }

    /// How far the largest risk would have to fall for these rows to show it, as wide as the interval is.
    fn power(&self, scale: Scale) -> String {
        let half = self.high.zip(self.difference).map_or(f64::INFINITY, |(high, d)| high - d);
        match &self.erm {
            Some(erm) if half < erm.risk => {
                format!(
                    "only a fall of about {} or more would show on these rows",
                    scale.show(half)
                )
            }
            _ => "no fall would show on so few rows".into(),
        }
    }

    /// Who is better and worse, and what rows lose on average.
    fn cost(&self) -> String {
        let groups = counted(self.groups as u64, "group");
        if self.cut_short.is_some() {
            return format!("whether the {groups} are better off is not known");
        }
        let mut text = match (&self.better[..], &self.worse[..]) {
            ([], []) => format!("of {groups}, none is clearly better or worse"),
            (better, worse) => {
                let is = if better.len() > 1 { "are" } else { "is" };
                let (better, worse) = (some(better), some(worse));
                format!("of {groups}, {better} {is} clearly better, and {worse} clearly worse")
            }
        };
        if let (Some(erm), Some(model)) = (&self.erm, &self.model) {
            // A group with fewer rows may be worse.
            let of = if self.left_out.is_empty() { "" } else { " of those large enough" };
            let (model, erm) = (&model.group, &erm.group);
            text += &match erm == model {
                true => format!("; `{model}` is the worst held out{of}, under both models"),
                false => format!("; the worst held out{of} is `{model}`, under ERM `{erm}`"),
            };
        }
        if let (Some(erm), Some(cut)) = (&self.erm, self.cut) {
            text += &format!(
                "; the cap on losses cuts {:.0} % of the rows of `{}` under ERM, whose risk is larger \
                 without it",
                100.0 * cut,
                erm.group
            );
        }
        let price = if self.is_paid() { ", the price" } else { "" };
        let scale = Scale::of(self.mean);
        text + &format!("; the mean risk over rows {}{price}", change(scale, self.mean, None))
    }
}

/// Groups by their names, of many only how many and the first ones.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let quoted: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match (&quoted[..], names.len()) {
        ([], _) => "none".into(),
        ([one], _) => one.clone(),
        ([first @ .., last], SHOWN | 2) => format!("{} and {last}", first.join(", ")),
        (_, all) => {
            let more = count((all - SHOWN) as u64);
            format!("{} ({} and {more} more)", count(all as u64), quoted.join(", "))
        }
    }
}

/// What becomes of a number, and the interval of the difference.
fn change(scale: Scale, [before, after]: [f64; 2], interval: Option<&str>) -> String {
    let (from, to) = (scale.show(before), scale.show(after));
    let by = Some(scale.change(before, after)).filter(|by| by != "=");
    let known = [by.as_deref(), interval].into_iter().flatten().collect::<Vec<_>>().join("; ");
    let known = if known.is_empty() { known } else { format!(" ({known})") };
    match by {
        None => format!("stays at {from}{known}"),
        Some(_) if after < before => format!("falls from {from} to {to}{known}"),
        Some(_) => format!("rises from {from} to {to}{known}"),
    }
}

/// What to do after a verdict on rows that came later, as a front end says it.
pub fn next_on_later(word: Word, front: Front) -> String {
    let (evaluate, choose) = match front {
        Front::Program => ("gdro evaluate", "gdro select"),
        Front::Python => ("gdro.metrics.evaluate", "a GroupDROClassifierCV or GroupDRORegressorCV"),
    };
    match word {
        Word::Helped => format!("{evaluate} on later rows tells whether it lasts"),
        Word::Hurt => {
            format!("{choose}, which tries models from ERM to gdro, or ordinary training")
        }
        Word::Unclear => {
            "more rows, or ordinary training, which does as well as far as these tell".into()
        }
        Word::NoRows => "rows that no model was trained on".into(),
    }
}

/// What to do after a verdict; `chosen` if the model comes out of a choice.
fn next(word: Word, job: &Job, chosen: bool) -> String {
    let is_ordinary = job.training.is_ordinary();
    match word {
        Word::NoRows => "--holdout 0.3 keeps rows that tell".into(),
        Word::Helped => match &job.out {
            Some(out) => {
                format!("gdro evaluate {} TABLE tries the model on later rows", out.display())
            }
            None => {
                "--out DIR keeps the model; gdro evaluate DIR TABLE tries it on later rows".into()
            }
        },
        _ if is_ordinary && chosen => {
            "more rows of the worst groups, or other features: no model that was tried is clearly \
             better"
                .into()
        }
        _ if is_ordinary => "gdro select tries whether another model does better".into(),
        Word::Hurt if chosen => "--objective average: ordinary training is better here".into(),
        Word::Unclear if chosen => {
            "more held-out rows of the worst groups, which would tell; until then cross-validation \
             speaks for this model, and --objective average is ordinary training"
                .into()
        }
        _ if job.streaming.is_some() => {
            "gdro select with this table in memory tries models from ERM to gdro, and keeps ordinary \
             training where none is better"
                .into()
        }
        _ => "gdro select with the same table and options tries models from ERM to gdro, and keeps \
              ordinary training where none is better"
            .into(),
    }
}
