//! Two classes, group by group: the gaps between groups, and a group at a time.

use gdro::interval::HELD_OUT_ROWS;

use super::classes::Detail;
use super::data::Data;
use super::html::{self, Section};
use crate::numbers::{NONE, percent};

/// A rate that is compared between groups: its name, its value in a group under a model, and how many
/// rows that is a share of.
type Rate<'a> = (&'a str, Box<dyn Fn(usize, usize) -> Option<f64> + 'a>, fn([usize; 2]) -> usize);

/// The part of the page; none where targets are not classes, or without rows held out.
pub fn part(data: &Data) -> Option<Section> {
    let details: Vec<&Detail> =
        data.models.iter().map(|m| m.detail.as_ref()).collect::<Option<_>>()?;
    let metric = |key: &'static str| {
        move |model: usize, group: usize| {
            let metrics = &data.models[model].metrics;
            metrics.iter().find(|values| values.metric.key == key)?.values[group]
        }
    };
    let all = |[negative, positive]: [usize; 2]| negative + positive;
    let rates: [Rate<'_>; 4] = [
        ("selection rate", Box::new(|m: usize, g: usize| details[m].selection_rate[g]), all),
        ("true positive rate", Box::new(metric("true_positive_rate")), |rows| rows[1]),
        ("false positive rate", Box::new(metric("false_positive_rate")), |rows| rows[0]),
        (
            "accuracy",
            Box::new(|m: usize, g: usize| data.models[m].accuracy.get(g).copied().flatten()),
            all,
        ),
    ];
    let last = data.models.len() - 1;
    let mut header = vec!["gap between groups".to_owned()];
    header.extend(data.models.iter().map(|m| m.name.clone()));
    header.extend(["lowest".to_owned(), "highest".to_owned()]);
    let mut lines = Vec::new();
    for (name, value, rows) in &rates {
        let ends = |model: usize| {
            ends(data, |g| {
                (rows(details[model].rows(g)) >= HELD_OUT_ROWS).then(|| value(model, g)).flatten()
            })
        };
        let gap =
            |model: usize| ends(model).map_or(NONE.into(), |(low, high)| percent(high.1 - low.1));
        let mut line = vec![(*name).to_owned()];
        line.extend((0..=last).map(gap));
        let end =
            |(group, value): (usize, f64)| format!("{} (`{}`)", percent(value), data.names[group]);
        match ends(last) {
            Some((low, high)) => line.extend([end(low), end(high)]),
            None => line.extend([NONE.to_owned(), NONE.to_owned()]),
        }
        lines.push(line);
    }
    let texts = vec![format!(
        "At the threshold of 0.5 (a score of 0 where there are no probabilities), on the {}. Gaps \
             are the highest rate of a group minus the lowest, among groups with at least \
             {HELD_OUT_ROWS} rows to take it from ({NONE} where fewer than two have them); no \
             interval is given for them.",
        data.part
    )];
    let shown = details[last].with_curves();
    let mut more = vec![
        "Counts are rows; rates count rows by their weights, if they have any. A calibrated model lies \
         on the diagonal: of the rows with probability 0.7, 70 % are positive."
            .to_owned(),
    ];
    if shown < data.names.len() {
        more.push(format!("Curves are kept of the {shown} groups that do worst."));
    }
    let caption =
        format!("Largest gaps between groups; lowest and highest under {}", data.models[last].name);
    let body = html::paragraphs(&texts)
        + &html::table(&caption, &header, &lines)
        + "<h3>One group</h3>\n"
        + &html::paragraphs(&more)
        + &html::chart("class-detail");
    Some(Section::new("classes", "Errors of both kinds", body))
}

/// The groups of the lowest and the highest of some values, the first ones at ties; none where fewer
/// than two groups have one.
fn ends(data: &Data, value: impl Fn(usize) -> Option<f64>) -> Option<((usize, f64), (usize, f64))> {
    let known: Vec<(usize, f64)> =
        (0..data.names.len()).filter_map(|g| Some((g, value(g)?))).collect();
    if known.len() < 2 {
        return None;
    }
    let low = known.iter().copied().reduce(|a, b| if b.1 < a.1 { b } else { a })?;
    let high = known.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    Some((low, high))
}
