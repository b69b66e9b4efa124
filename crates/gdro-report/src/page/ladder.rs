//! Steps below each other, with a mark of each series: models that were tried, or a trade-off.

use serde::Serialize;

use crate::numbers::{Scale, setting};
use crate::plain;
use crate::selection::{name_of, scale_of, worst_of};
use gdro::setting::{Objective, Prior, Tilt};
use gdro_train::select::{Member, PartRisks, Path, Risks, Selection};

/// What the script draws as a line for each step.
#[derive(Debug, Serialize)]
pub struct Ladder {
    /// The rows, where there is a choice of them.
    part: Option<&'static str>,
    /// Names of the series: at most three.
    series: Vec<String>,
    /// How values are written.
    pub scale: Scale,
    steps: Vec<Step>,
    /// The series that a curve has across and up.
    curve: [usize; 2],
    /// The steps that its line goes through: a path from the mean to the largest risk.
    line: Vec<usize>,
}

/// A step.
#[derive(Debug, Serialize)]
struct Step {
    name: String,
    /// What is said of it, by series.
    badges: Vec<Option<String>>,
    values: Vec<f64>,
    intervals: Vec<Option<[f64; 2]>>,
    /// What else the tooltip tells, by series.
    more: Vec<String>,
}

impl Ladder {
    /// The mean over rows and what decides, for each model of a family at its best.
    pub fn of_selection(selection: &Selection) -> Self {
        let step = |(at, member): (usize, &Member)| {
            let point = member.at_best();
            let what = selection.knob.words();
            let badge = (at == selection.chosen).then(|| "chosen".to_owned());
            Step {
                name: name_of(member.objective),
                badges: vec![None, badge],
                values: vec![point.mean_rows, point.criterion],
                intervals: vec![None; 2],
                more: vec![
                    format!("{what} {}", setting(member.value)),
                    match point.standard_error {
                        Some(error) => format!(
                            "± {} s.e., worst: {}",
                            scale_of(selection).show(error),
                            plain(&selection.groups[point.worst])
                        ),
                        None => format!("worst: {}", plain(&selection.groups[point.worst])),
                    },
                ],
            }
        };
        Ladder {
            part: None,
            series: vec!["mean over rows".into(), worst_of(selection.criterion).into()],
            scale: scale_of(selection),
            steps: selection.members.iter().enumerate().map(step).collect(),
            curve: [0, 1],
            line: (0..selection.members.len())
                .filter(|at| is_on_path(selection.members[*at].objective))
                .collect(),
        }
    }

    /// Means and the worst group, for each k and for ordinary training: on rows held out, if there
    /// are any, and on training rows.
    pub fn of_path(path: &Path) -> Vec<Self> {
        let held_out = path.erm.test.as_ref();
        let test = held_out.map(|_| Self::of_part(path, "rows held out", |r| r.test.as_ref()));
        test.into_iter().chain([Self::of_part(path, "training rows", |r| Some(&r.train))]).collect()
    }

    fn of_part(path: &Path, part: &'static str, of: fn(&Risks) -> Option<&PartRisks>) -> Self {
        let values = |risks: &Risks| {
            let values = of(risks).map(|part| vec![part.mean_rows, part.mean_groups, part.max]);
            values.unwrap_or_default()
        };
        let step = |name: String, risks: &Risks| Step {
            name,
            badges: vec![None; 3],
            values: values(risks),
            intervals: vec![None; 3],
            more: vec![String::new(); 3],
        };
        let points = path.points.iter().map(|p| step(format!("k = {}", p.k), &p.risks));
        let line = (0..path.points.len()).collect();
        let mut steps: Vec<Step> = points.collect();
        steps.push(step("balanced".into(), &path.balanced));
        steps.push(step("ERM".into(), &path.erm));
        Ladder {
            part: Some(part),
            series: ["mean over rows", "mean over groups", "worst group"]
                .map(str::to_owned)
                .to_vec(),
            scale: Scale::of(steps.iter().flat_map(|s| s.values.iter().copied())),
            steps,
            curve: [1, 2],
            line,
        }
    }
}

/// Whether a model is on the path from ordinary training to the largest risk.
fn is_on_path(objective: Objective) -> bool {
    matches!(
        objective,
        Objective::Average | Objective::Max | Objective::Tilted(Tilt { prior: Prior::Rows, .. })
    )
}
