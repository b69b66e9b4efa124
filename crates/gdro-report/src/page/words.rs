//! What the page says in sentences.

use gdro::certificate::Certificate;
use gdro_data::Target;

use super::data::Data;
use crate::caps::too_small;
use crate::numbers::{NONE, Scale, count, counted, level, percent};
use crate::tables;
use gdro::setting::{Objective, Tilt};
use gdro_train::job::{Job, Training};
use gdro_train::model::Model;
use gdro_train::verdict::{Verdict, Word};

/// Relative gap up to which a model is optimal.
const EXACT: f64 = 1e-6;

/// Relative gap up to which a model is as good as optimal.
const OPTIMAL: f64 = 1e-3;

/// Relative gap up to which a model is close to the optimum.
const CLOSE: f64 = 0.02;

/// The columns that define groups, in words; `None` when all rows are one group.
pub fn group_columns(job: &Job) -> Option<String> {
    let families: Vec<String> = job.data.groups.iter().map(|g| g.to_string()).collect();
    let between = if job.data.families() > 1 { " and by " } else { ", " };
    (!families.is_empty()).then(|| families.join(between))
}

/// How many groups there are, and by which columns.
pub fn of_groups(job: &Job, number: usize) -> String {
    let by = group_columns(job).map_or(String::new(), |columns| format!(" by `{columns}`"));
    counted(number as u64, "group") + &by
}

/// Rows of both parts.
pub fn rows(train: usize, test: usize) -> String {
    format!("{} for training, {} held out", counted(train as u64, "row"), count(test as u64))
}

/// What is predicted: a column, or a comparison of one with a number.
fn target(job: &Job) -> &str {
    job.data.target.as_deref().unwrap_or_default()
}

/// The title.
pub fn title(job: &Job) -> String {
    let target = target(job);
    match group_columns(job) {
        Some(groups) => format!("{target} by {groups}"),
        None => target.to_owned(),
    }
}

/// What is to be done.
pub fn task(model: &Model) -> String {
    match &model.target {
        Target::Binary { column, positive, negative, .. } if column == target(&model.job) => {
            format!("tell whether `{column}` is `{positive}` (the positive label) or `{negative}`")
        }
        Target::Binary { positive, negative, .. } => {
            format!("tell whether `{positive}` (the positive label) or `{negative}`")
        }
        Target::Multiclass { column, classes } => {
            format!("tell which of {} classes `{column}` is", count(classes.len() as u64))
        }
        Target::Regression { column } => format!("predict the number `{column}`"),
    }
}

/// The kind of model.
pub fn kind(model: &Model) -> String {
    let training = &model.job.training;
    let domain = training.domain().words().map(|set| format!(", weights {set}"));
    let penalty = if training.l2 > 0.0 {
        format!(", penalty {} on the squared weights", training.l2)
    } else {
        String::new()
    };
    format!(
        "linear, {} loss, {}{penalty}{}",
        model.loss,
        counted(model.features.len() as u64, "feature"),
        domain.unwrap_or_default()
    )
}

/// What a model of the page is.
pub fn about(training: &Training, name: &str) -> String {
    match name {
        "ERM" => "ordinary training (empirical risk minimisation): every row counts alike".into(),
        "balanced" => {
            "ordinary training in which every group counts alike, whatever its size".into()
        }
        _ => {
            let goal = match training.objective {
                Objective::Max => "the largest risk of a group as small as possible".into(),
                Objective::TopK(k) => {
                    format!("the mean of the {k} largest group risks as small as possible")
                }
                Objective::Tilted(Tilt { prior, .. }) => format!(
                    "the {} as small as possible, which lies between the mean over {prior} (large tau) and the largest risk of a group (small tau)",
                    tables::goal_in_words(training.objective)
                ),
                Objective::Regret => {
                    "the largest excess over what a model for one group alone attains as small as possible".into()
                }
                Objective::Average => "the mean risk over rows as small as possible".to_owned(),
                Objective::Balanced => "the mean risk over groups as small as possible".into(),
            };
            format!("the model of this run, trained to make {goal}")
        }
    }
}

/// A certificate, what it says and what it does not; `what` is the objective.
pub fn certificate(certificate: &Certificate, what: &str) -> Vec<String> {
    let Certificate { upper, lower, gap, relative_gap, any_intercept, method } = certificate;
    let intercept = if *any_intercept { String::new() } else { format!(", {}", tables::INTERCEPT) };
    let kind = format!(
        "no model of this kind (linear, same features, same penalty and bounds{intercept})"
    );
    let mut out = if *relative_gap <= EXACT {
        vec![format!(
            "On the training rows, {what} of this model is {}. It is proved that {kind} is better \
             by more than {gap:.0e}: on these rows this is the best possible model.",
            Scale::precise(upper.abs() * EXACT, *upper).show(*upper)
        )]
    } else {
        // A digit more than a pair of numbers needs, so that the gap can be checked.
        let scale = Scale::precise(gap / 10.0, *upper);
        let share = match *relative_gap {
            share if share < 1e-3 => "less than 0.1 %".to_owned(),
            share => percent(share),
        };
        let gap = scale.show(*gap);
        let verdict = match *relative_gap {
            share if share <= OPTIMAL => {
                "for all practical purposes this is the best possible model on these rows"
            }
            share if share <= CLOSE => {
                "the model is close to the best possible on these rows, and longer training can gain \
                 no more than that"
            }
            share if share <= Certificate::VOID => {
                "longer training may gain up to that much; more rounds, or the exact solver, would \
                 close the gap"
            }
            _ => {
                "The certificate says next to nothing. Either the model is far from the best \
                 possible, or the bound could not be made tighter; the exact solver would tell"
            }
        };
        let value =
            format!("On the training rows, {what} of this model is {}.", scale.show(*upper));
        if certificate.is_void() {
            vec![format!("{value} {verdict}.")]
        } else {
            vec![
                format!("{value} It is proved that {kind} can go below {}.", scale.show(*lower)),
                format!("The gap between the two is {gap}, {share} of the value: {verdict}."),
            ]
        }
    };
    out.push(
        "The certificate is about training: it compares this model with all others on the rows it \
         was trained on. How the model does on new rows is what the intervals below are about."
            .into(),
    );
    out.push(format!("How the bound was found: {method}."));
    out
}

/// A text as a sentence.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// What the intervals of the page are, and what losses and weights count as at most in them.
pub fn intervals(data: &Data, caps: &str) -> Option<String> {
    let level = data.level.as_ref()?;
    Some(format!(
        "Bars are intervals: those of one model hold for all groups at once with probability \
         {level}. A group without a bar has too few rows to say anything. In points and intervals {caps}."
    ))
}

/// The verdict: its word and what follows it, whom it is about, what to do next.
pub fn verdict(verdict: &Verdict) -> [String; 3] {
    let [effect, cost, next] = verdict.lines();
    [format!("{effect}."), sentence(&cost), sentence(&next)]
}

/// Which rows the verdict is about, and which groups are not in it.
pub fn scope(verdict: &Verdict) -> Vec<String> {
    if verdict.word == Word::NoRows {
        return Vec::new();
    }
    let new = "Held-out rows speak for new rows of the groups seen in training, not for groups that were \
               never seen";
    [Some(new.to_owned()), too_small(verdict)].into_iter().flatten().map(|t| sentence(&t)).collect()
}

/// A question that a reader has before all others, and its answer at a glance.
pub struct Tile {
    /// The question.
    pub question: &'static str,
    /// The answer in a word or a number.
    pub answer: String,
    /// The numbers behind it.
    pub note: String,
}

/// Whether the model helps, whom, and at what cost. `mean` has the risks and the accuracies of ERM,
/// balanced and the model over all rows.
pub fn tiles(data: &Data, mean: [[Option<f64>; 3]; 2], verdict: &Verdict) -> [Tile; 3] {
    [helps(data, verdict), whom(data, verdict), cost(data, mean, verdict)]
}

fn helps(data: &Data, verdict: &Verdict) -> Tile {
    let answer = match verdict.word {
        _ if verdict.is_ordinary() => "It is ordinary training",
        Word::Helped => "Yes",
        Word::Hurt => "No, it hurts",
        Word::Unclear => "Not clear",
        Word::NoRows => "Not known",
    };
    let scale = data.scale();
    let largest = match (&verdict.erm, &verdict.model) {
        (Some(erm), Some(model)) => Some((erm.risk, model.risk)),
        _ if verdict.word == Word::NoRows => {
            data.worst(0).zip(data.worst(data.models.len() - 1)).map(|(a, b)| (a.1, b.1))
        }
        _ => None,
    };
    let note = match largest {
        Some((before, after)) => format!(
            "largest {} of {}{}: {} → {}",
            data.unit,
            if verdict.left_out.is_empty() { "a group" } else { "the groups large enough" },
            if verdict.word == Word::NoRows { ", on training rows" } else { "" },
            scale.show(before),
            scale.show(after)
        ),
        None => "no group has enough rows to tell".into(),
    };
    Tile { question: "Does it help the worst group?", answer: answer.into(), note }
}

fn whom(data: &Data, verdict: &Verdict) -> Tile {
    let question = "Whom does it help?";
    let groups = counted(data.names.len() as u64, "group");
    let number = |n: usize| count(n as u64);
    if verdict.is_ordinary() {
        let note = format!("{groups}, the same model for all");
        return Tile { question, answer: "No one is helped or hurt".into(), note };
    }
    if let Some([gain, lose, open, few]) = data.sides {
        let mut note = format!("clearly, of {groups}; {} too close to tell", number(open));
        if few > 0 {
            note += &format!(", {} with too few rows", number(few));
        }
        let answer = format!("{} better, {} worse", number(gain), number(lose));
        return Tile { question, answer, note };
    }
    let changes = || data.change.iter().flat_map(|change| change.value.iter().flatten());
    let lower = changes().filter(|change| **change < 0.0).count();
    let higher = changes().filter(|change| **change > 0.0).count();
    let same = data.names.len() - lower - higher;
    let note = format!(
        "on training rows, of {groups}: {} lower in {}, higher in {}, the same in {}",
        data.unit,
        number(lower),
        number(higher),
        number(same)
    );
    Tile { question, answer: "Not known".into(), note }
}

fn cost(data: &Data, [risks, accuracies]: [[Option<f64>; 3]; 2], verdict: &Verdict) -> Tile {
    let question = "What does it cost on average?";
    let [Some(before), _, Some(after)] = risks else {
        return Tile { question, answer: NONE.into(), note: "not known".into() };
    };
    let scale = data.scale();
    let answer = match scale.change(before, after) {
        same if same == "=" => "It stays".into(),
        change => format!("{} {change}", data.unit),
    };
    let mut note =
        format!("mean over rows: {} {} → {}", data.unit, scale.show(before), scale.show(after));
    if let [Some(before), _, Some(after)] = accuracies {
        note += &format!(", accuracy {} → {}", percent(before), percent(after));
    }
    if verdict.is_paid() {
        note += "; the price for the worst group";
    }
    Tile { question, answer, note }
}

/// The worst of all groups where the verdict is about those that are large enough.
pub fn small_groups_included(data: &Data, verdict: &Verdict) -> Option<String> {
    let (scale, last) = (data.scale(), data.models.len() - 1);
    let ((erm, before), (group, after)) = data.worst(0).zip(data.worst(last))?;
    (!verdict.left_out.is_empty()).then(|| {
        format!(
            "Small groups included, ordinary training (ERM) does worst on `{erm}`, with {} {}; the \
             model of this run ({}) does worst on `{group}`, with {}.",
            data.unit,
            scale.show(before),
            data.models[last].name,
            scale.show(after),
        )
    })
}

/// Who gains and who loses, in a sentence.
pub fn gains(data: &Data) -> Option<String> {
    let [gain, lose, open, few] = data.sides?;
    let level = data.level.as_deref().unwrap_or_default();
    let some = |number: usize, one: &str, many: &str| {
        let number = if number == 0 { "none".to_owned() } else { count(number as u64) };
        let verb = if number == "1" || number == "none" { one } else { many };
        format!("{number} {verb}")
    };
    let few = if few > 0 {
        format!("; {} too few rows to say anything", some(few, "has", "have"))
    } else {
        String::new()
    };
    Some(format!(
        "Against ERM, of {}, {} clearly, {} clearly, and {} either way{few} ({level} confidence \
         for all groups at once).",
        counted(data.names.len() as u64, "group"),
        some(gain, "gains", "gain"),
        some(lose, "loses", "lose"),
        some(open, "may go", "may go"),
    ))
}

/// Words of the page and what they mean.
pub fn glossary(data: &Data, delta: f64) -> Vec<(String, String)> {
    let mut list = vec![
        ("risk", "the mean loss over the rows of a group: how wrong the model is there, in the units of its loss. Lower is better. MSE is the risk of the squared loss: the mean squared error.".into()),
        ("worst group", "the group with the largest risk under a model; it need not be the same for two models, nor the group with the least accuracy.".into()),
        ("ERM", "empirical risk minimisation, which is ordinary training: the mean loss over all rows is made small, so large groups decide.".into()),
        ("balanced", "ordinary training on a mean in which each group counts alike.".into()),
        ("gdro", "group distributionally robust optimisation: the largest group risk is made small.".into()),
        ("rows held out", "rows of the table that no model was trained on: what they say holds for new rows of the same kind.".into()),
        ("certificate", "a proof, from convex duality, of how far a model is from the best possible one on its training rows.".into()),
        ("group weight", "how much a group counted in training; the weights add up to 1. A group of weight 0 did not hold the model back.".into()),
        ("difference to ERM", "the risk of the model of this run minus that of ERM on the same rows; below 0 the group gains.".into()),
    ];
    if data.level.is_some() {
        list.push(("interval", format!("a range that contains the true value. Those of a column hold for all groups at once with probability {}, so the worst of many groups is not singled out by luck.", level(1.0 - delta))));
    }
    if data.models.iter().any(|m| !m.accuracy.is_empty()) {
        list.push(("accuracy", "the share of rows that the model predicts right.".into()));
    }
    let metrics = data.models.last().into_iter().flat_map(|model| &model.metrics);
    list.extend(metrics.map(|values| (values.metric.label, values.metric.help.into())));
    list.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}
