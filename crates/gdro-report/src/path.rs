//! A trade-off as a table.

use console::Term;

use super::grid::{Grid, terminal_width, wrapped};
use super::numbers::{NONE, Scale};
use gdro_train::job::Job;
use gdro_train::select::{PartRisks, Path, Risks};

/// The optima for each k, and ordinary training below.
pub fn path(path: &Path, job: &Job) -> String {
    let width = terminal_width(&Term::stdout());
    let points = path.points.iter().map(|p| (format!("k = {}", p.k), &p.risks));
    let mut lines: Vec<(String, &Risks)> = points.collect();
    let first_other = lines.len();
    lines.push(("ERM".into(), &path.erm));
    lines.push(("balanced ERM".into(), &path.balanced));
    let mut grid = Grid::new("model", lines.iter().map(|(name, _)| name.clone()).collect());
    grid.rule(first_other);
    let all = |of: fn(&PartRisks) -> f64| {
        let both = |r: &Risks| std::iter::once(of(&r.train)).chain(r.test.as_ref().map(of));
        lines.iter().flat_map(|(_, r)| both(r).collect::<Vec<_>>()).collect::<Vec<f64>>()
    };
    let scale = Scale::of(all(|p| p.max));
    type Pick = fn(&Risks) -> Option<&PartRisks>;
    let parts: [(&str, Pick); 2] =
        [("training", |r| Some(&r.train)), ("held out", |r| r.test.as_ref())];
    type Value = fn(&PartRisks) -> f64;
    let values: [(&str, Value); 3] = [
        ("worst group", |p| p.max),
        ("mean over groups", |p| p.mean_groups),
        ("mean over rows", |p| p.mean_rows),
    ];
    for (title, part) in parts {
        if part(&path.erm).is_none() {
            continue;
        }
        grid.block();
        for (name, value) in values {
            let cell = |r: &Risks| part(r).map_or(NONE.into(), |p| scale.show(value(p)));
            grid.column([title, name], lines.iter().map(|(_, r)| cell(r)).collect());
        }
    }
    let mut text =
        "\nThe mean of the k largest group risks at its optimum, for each k\n".to_owned();
    text += &grid.text(width);
    text.push('\n');
    let ridge = if path.l2 > 0.0 { " with the penalty" } else { "" };
    let mut say = |line: &str| text += &wrapped(line, width, 2);
    say(&format!(
        "k = 1 minimises the largest risk on training rows, k = {} the mean over groups{ridge}; ERM the mean over rows",
        path.groups.len()
    ));
    if path.interrupted {
        say("interrupted: the smallest k are missing");
    }
    match &job.out {
        Some(folder) => say(&format!("wrote path.json to {}", folder.display())),
        None if job.report.is_some() => {}
        None => say("nothing was written: give --out DIR to keep the risks of all groups"),
    }
    if let Some(page) = &job.report {
        say(&format!("wrote {}", page.display()));
    }
    text
}
