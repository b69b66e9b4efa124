//! A choice as data: `selection.json`.

use gdro::setting::Objective;
use gdro_data::Validation;
use serde::Serialize;

use super::contest::{Contest, Units, contest};
use super::held::{Held, Place};
use super::means::{Mean, means};
use crate::failure::Result;
use crate::job::{Criterion, Hyperparameter, Search};

/// With more groups than this a value that is not a member's best has no risks of the groups.
const MANY: usize = 64;

/// What was tried, what it gave on validation rows, and what was chosen.
///
/// The criterion of a model is what the search asks for (the largest of the groups' risks) on rows
/// that it was not trained on, pooled over the folds, among groups that are large enough to judge.
/// As the smallest of many criteria, the best one is too small on average. Rows that are held out for
/// the report are in none.
#[derive(Debug, Serialize)]
pub struct Selection {
    /// What bounds the weights: `l2` or `ball`.
    pub knob: Hyperparameter,
    /// What decides.
    pub criterion: Criterion,
    /// Number of folds; 1 for a share of the rows.
    pub folds_planned: usize,
    /// Number of folds that were complete.
    pub folds: usize,
    /// The share of the training rows, when that is how rows are taken.
    pub share: Option<f64>,
    /// Seed of folds and samples.
    pub seed: u64,
    /// Whether Ctrl-C cut the search short.
    pub interrupted: bool,
    /// Names of the groups.
    pub groups: Vec<String>,
    /// Validation rows of each group.
    pub rows: Vec<usize>,
    /// Training rows that a group needs to decide.
    pub judge_rows: usize,
    /// Whether each group decides.
    pub judges: Vec<bool>,
    /// The values that were tried, the strongest first.
    pub values: Vec<f64>,
    /// The family; ERM comes first.
    pub members: Vec<Member>,
    /// Index of the best member besides ERM, if there is another.
    pub best: Option<usize>,
    /// The best member against ERM; null where its criterion is not less.
    pub contest: Option<Contest>,
    /// Index of the member that is chosen.
    pub chosen: usize,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// One member of the family at all values.
#[derive(Debug, Serialize)]
pub struct Member {
    /// What it minimises.
    pub objective: Objective,
    /// In the order of the values.
    pub points: Vec<Tried>,
    /// Index of the value with the smallest criterion, the strongest of several.
    pub best: usize,
    /// This value.
    pub value: f64,
}

impl Member {
    /// The member at its best value.
    pub fn at_best(&self) -> &Tried {
        &self.points[self.best]
    }
}

/// From so many times the least mean risk of ERM on, the penalty that is best for its worst group is said to
/// cost.
const DEARER: f64 = 1.02;

/// One member at one value, on validation rows.
#[derive(Debug, Serialize)]
pub struct Tried {
    /// The value.
    pub value: f64,
    /// What decides.
    pub criterion: f64,
    /// The worst group of those that decide, as an index into the groups.
    pub worst: usize,
    /// The standard error of its risk, over rows or clusters; null when it has one.
    pub standard_error: Option<f64>,
    /// The mean over rows.
    pub mean_rows: f64,
    /// The largest risk in each fold of the groups that decide.
    pub folds: Vec<f64>,
    /// The risk of each group, null without rows; left out of most values when groups are many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risks: Option<Vec<Option<f64>>>,
    /// Their standard errors over rows or clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_errors: Option<Vec<Option<f64>>>,
}

/// Which groups decide, by their training rows.
pub struct Judges {
    /// Whether each group decides.
    pub decide: Vec<bool>,
    /// What a reader should know.
    pub note: Option<String>,
}

impl Judges {
    /// Those of groups with so many training rows: those with enough of them, and all where none has.
    pub fn of(train_rows: &[usize], search: &Search) -> Self {
        let enough = search.judge_rows;
        let decide: Vec<bool> = train_rows.iter().map(|rows| *rows >= enough).collect();
        match decide.iter().filter(|decides| !**decides).count() {
            0 => Judges { decide, note: None },
            few if few == decide.len() => Judges {
                decide: vec![true; train_rows.len()],
                note: Some(format!("no group has {enough} training rows: all of them decide")),
            },
            few => {
                let groups = if few == 1 { "1 group has" } else { &format!("{few} groups have") };
                let note = format!(
                    "{groups} fewer than {enough} training rows, too few to judge by: the choice does not look at them"
                );
                Judges { decide, note: Some(note) }
            }
        }
    }
}

impl Selection {
    /// The choice that follows from models on validation rows.
    ///
    /// # Errors
    /// Those of [`Held::losses`].
    pub(super) fn new(
        search: &Search,
        seed: u64,
        objectives: &[Objective],
        held: &Held,
        judges: Judges,
        interrupted: bool,
    ) -> Result<Self> {
        let Judges { mut decide, note } = judges;
        // A group may have no validation row, as one of a single row has none.
        let with_rows = held.rows.iter().zip(&mut decide).filter(|(rows, d)| **rows > 0 && **d);
        if with_rows.count() == 0 {
            decide = vec![true; decide.len()];
        }
        let mut selection = Selection {
            knob: search.knob,
            criterion: search.criterion,
            folds_planned: held.folds(),
            folds: held.folds(),
            share: match search.validation {
                Validation::Share(share) => Some(share),
                Validation::Folds(_) => None,
            },
            seed,
            interrupted,
            groups: held.groups.clone(),
            rows: held.rows.clone(),
            judge_rows: search.judge_rows,
            judges: decide,
            values: search.values[..held.values()].to_vec(),
            members: Vec::with_capacity(objectives.len()),
            best: None,
            contest: None,
            chosen: 0,
            notes: note.into_iter().collect(),
        };
        for (at, objective) in objectives.iter().enumerate() {
            let member = selection.member(held, at, *objective)?;
            selection.members.push(member);
        }
        selection.choose(held)?;
        let remarks = selection.remarks();
        selection.notes.extend(remarks);
        Ok(selection)
    }

    /// ERM.
    pub fn erm(&self) -> &Member {
        &self.members[0]
    }

    /// The member that is chosen.
    pub fn chosen(&self) -> &Member {
        &self.members[self.chosen]
    }

    /// Whether ERM was kept.
    pub fn kept_erm(&self) -> bool {
        self.chosen == 0
    }

    fn member(&self, held: &Held, at: usize, objective: Objective) -> Result<Member> {
        let tried = |value| self.tried(held, Place { member: at, value });
        let mut points = (0..self.values.len()).map(tried).collect::<Result<Vec<_>>>()?;
        let less = |best: usize, i: usize| points[i].criterion < points[best].criterion;
        let best = (1..points.len()).fold(0, |best, i| if less(best, i) { i } else { best });
        if self.groups.len() > MANY {
            for (_, point) in points.iter_mut().enumerate().filter(|(i, _)| *i != best) {
                (point.risks, point.standard_errors) = (None, None);
            }
        }
        Ok(Member { objective, best, value: self.values[best], points })
    }

    fn tried(&self, held: &Held, place: Place) -> Result<Tried> {
        let (losses, mean_rows) = held.losses(|_| place)?;
        let means = means(&losses, &held.weights, &held.starts);
        let judging: Vec<(usize, Mean)> = (means.iter().zip(&self.judges).enumerate())
            .filter_map(|(group, (mean, decides))| Some((group, (*mean).filter(|_| *decides)?)))
            .collect();
        let values: Vec<f64> = judging.iter().map(|(_, mean)| mean.value).collect();
        let worse = |a: (usize, Mean), b: (usize, Mean)| if b.1.value > a.1.value { b } else { a };
        let (worst, mean) =
            judging.into_iter().reduce(worse).expect("some group has rows and decides");
        Ok(Tried {
            value: self.values[place.value],
            criterion: self.criterion.of(&values),
            worst,
            standard_error: mean.error,
            mean_rows,
            folds: (0..held.folds()).map(|fold| self.worst_in(held, &losses, fold)).collect(),
            risks: Some(means.iter().map(|m| m.map(|m| m.value)).collect()),
            standard_errors: Some(means.iter().map(|m| m.and_then(|m| m.error)).collect()),
        })
    }

    /// The largest risk in one fold of the groups that decide.
    fn worst_in(&self, held: &Held, losses: &[f64], fold: usize) -> f64 {
        let risk = |ends: &[usize]| {
            let units = (ends[0]..ends[1]).filter(|unit| usize::from(held.folds[*unit]) == fold);
            let add = |(sum, total): (f64, f64), unit: usize| {
                (sum + held.weights[unit] * losses[unit], total + held.weights[unit])
            };
            let (sum, total) = units.fold((0.0, 0.0), add);
            (total > 0.0).then_some(sum / total)
        };
        let groups = held.starts.windows(2).zip(&self.judges).filter(|(_, decides)| **decides);
        groups.filter_map(|(ends, _)| risk(ends)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Finds the best member besides ERM, and whether it takes the place of ERM.
    fn choose(&mut self, held: &Held) -> Result<()> {
        let at = |member: &usize| self.members[*member].at_best().criterion;
        // Of several that are best the one with the strongest value, then the first of the family.
        let order = |a: &usize, b: &usize| {
            let by_value = self.members[*a].best.cmp(&self.members[*b].best);
            at(a).total_cmp(&at(b)).then(by_value)
        };
        self.best = (1..self.members.len()).min_by(order);
        let Some(best) = self.best.filter(|best| at(best) < at(&0)) else { return Ok(()) };
        let losses =
            |member: usize| held.losses(|_| Place { member, value: self.members[member].best });
        let (erm, model) = (losses(0)?.0, losses(best)?.0);
        let (starts, weights) = (&held.starts, &held.weights);
        let units = Units { starts, weights, judges: &self.judges };
        let found = contest(&units, [&erm, &model], self.criterion, self.seed);
        self.contest = Some(found);
        if found.is_won() {
            self.chosen = best;
        }
        Ok(())
    }

    fn remarks(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let (what, last) = (self.knob.words(), self.values.len() - 1);
        let mut named = vec![("ERM", self.erm())];
        if !self.kept_erm() {
            named.push(("the chosen model", self.chosen()));
        }
        for (name, member) in named {
            let ends = [(0, "the strongest"), (last, "the weakest")];
            if let Some((_, end)) = ends.into_iter().find(|(at, _)| member.best == *at) {
                notes.push(format!(
                    "the best {what} of {name}, {}, is {end} that was tried: a wider grid may hold a better one",
                    member.value
                ));
            }
        }
        let (points, erm) = (&self.erm().points, self.erm().at_best());
        let cheapest = points.iter().min_by(|a, b| a.mean_rows.total_cmp(&b.mean_rows));
        if let Some(other) = cheapest.filter(|c| erm.mean_rows > DEARER * c.mean_rows) {
            notes.push(format!(
                "ERM has the {what} that is best for its worst group, {}; with {} its mean risk over \
                 validation rows is {:.4}, and {:.4} here: what a model costs on average is more than the \
                 comparison with this ERM shows",
                erm.value, other.value, other.mean_rows, erm.mean_rows
            ));
        }
        let without: Vec<&str> = (self.groups.iter().zip(&self.rows))
            .filter(|(_, rows)| **rows == 0)
            .map(|(name, _)| name.as_str())
            .collect();
        if let Some(first) = without.first() {
            notes.push(match without.len() {
                1 => format!("group `{first}` has no validation row: the choice does not see it"),
                n => format!("{n} groups have no validation row, such as `{first}`: the choice does not see them"),
            });
        }
        notes
    }
}
