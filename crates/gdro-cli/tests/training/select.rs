//! `gdro select`: the choice of a model.

use crate::common::{self, Folder, number};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;

/// Draws that are the same everywhere.
struct Draws(Xoshiro256PlusPlus);

impl Draws {
    fn new(seed: u64) -> Self {
        Draws(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// By Box and Muller.
    fn normal(&mut self) -> f64 {
        let (a, b): (f64, f64) = (self.0.random(), self.0.random());
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// What `gdro select ARGUMENTS --json` prints.
fn select(folder: &Folder, arguments: &str) -> Value {
    let arguments = format!("select {arguments} --json --quiet");
    serde_json::from_str(&folder.prints(&arguments)).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("{value}")).iter().map(number).collect()
}

fn index(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// The member of a family with an objective.
fn member<'a>(selection: &'a Value, objective: &str) -> &'a Value {
    let members = selection["members"].as_array().unwrap();
    members.iter().find(|m| m["objective"] == objective).unwrap()
}

fn criteria(member: &Value) -> Vec<f64> {
    let points = member["points"].as_array().unwrap();
    points.iter().map(|point| number(&point["criterion"])).collect()
}

/// Two groups whose targets are linear in 100 normal features with coefficients of their own, and
/// noise. The exact population risk of a model follows from its weights.
struct Planted {
    coefficients: [Vec<f64>; 2],
    noise: [f64; 2],
    table: String,
}

impl Planted {
    fn new(rows: usize, seed: u64) -> Self {
        const D: usize = 100;
        let mut draws = Draws::new(seed);
        let common: Vec<f64> = (0..D).map(|j| if j < 4 { 1.0 } else { 0.0 }).collect();
        let mut other = common.clone();
        other[4] = 0.5;
        let coefficients = [common, other];
        let noise = [1.0, 1.5];
        let names: Vec<String> = (0..D).map(|j| format!("x{j}")).collect();
        let mut table = names.join(",") + ",g,y\n";
        for row in 0..rows {
            let group = row % 2;
            let x: Vec<f64> = (0..D).map(|_| draws.normal()).collect();
            let linear: f64 = x.iter().zip(&coefficients[group]).map(|(x, c)| x * c).sum();
            x.iter().for_each(|x| table += &format!("{x},"));
            table += &format!("{},{}\n", ["a", "b"][group], linear + noise[group] * draws.normal());
        }
        Planted { coefficients, noise, table }
    }

    /// The largest population risk of a saved model: ‖u − c_g‖² + (intercept)² + σ_g², for weights u
    /// of the raw features.
    fn risk(&self, model: &Value) -> f64 {
        let weights = numbers(&model["weights"]);
        let mut intercept = number(&model["intercepts"][0]);
        let columns = model["encoding"]["columns"].as_array().unwrap();
        let raw: Vec<f64> = columns
            .iter()
            .zip(&weights)
            .map(|(column, w)| {
                let u = w / number(&column["deviation"]);
                intercept -= u * number(&column["mean"]);
                u
            })
            .collect();
        let of_group = |g: usize| {
            let pairs = raw.iter().zip(&self.coefficients[g]);
            pairs.map(|(u, c)| (u - c).powi(2)).sum::<f64>()
                + intercept.powi(2)
                + self.noise[g].powi(2)
        };
        of_group(0).max(of_group(1))
    }
}

#[test]
fn the_planted_penalty_is_found() {
    let penalties = [0.003, 0.03, 0.3, 3.0, 30.0];
    for seed in [1, 2, 3] {
        let planted = Planted::new(230, seed);
        let folder = Folder::with(&planted.table);
        let table = "t.csv --target y --groups g --group-features drop --holdout 0";
        let mut exact = Vec::new();
        for l2 in penalties {
            folder.prints(&format!("fit {table} --l2 {l2} --quiet --out fit"));
            exact.push(planted.risk(&folder.json("fit/model.json")));
        }
        // Not at an end, and clearly better than its neighbours.
        let best = (0..5).min_by(|a, b| exact[*a].total_cmp(&exact[*b])).unwrap();
        assert!((1..4).contains(&best), "{exact:?}");
        assert!(exact[best - 1].min(exact[best + 1]) > 1.02 * exact[best], "{exact:?}");

        let grid = format!("{table} --l2 0.003,0.03,0.3,3,30 --folds 10 --objective max");
        let selection = select(&folder, &grid)["selection"].clone();
        let max = member(&selection, "max");
        assert_eq!(number(&max["value"]), penalties[best], "{exact:?}");
        // Risks on validation rows are near the exact ones.
        let points = max["points"].as_array().unwrap();
        for (point, exact) in points.iter().rev().zip(&exact) {
            let (criterion, error) =
                (number(&point["criterion"]), number(&point["standard_error"]));
            assert!((criterion - exact).abs() < 4.0 * error, "{criterion} ± {error}: {exact}");
        }
    }
}

/// Leaving out one row at a time, for ordinary training with one feature, by its closed form:
/// w = cov(x, y)/(1 + λ/2) for the standardised feature of the other rows, and the intercept is
/// their mean target. Balanced with a huge penalty: the mean of the groups' mean targets.
#[test]
fn leaving_one_out_is_what_its_closed_form_says() {
    let mut draws = Draws::new(3);
    let n = 24;
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut table = "x,g,y\n".to_owned();
    for row in 0..n {
        x.push(draws.normal() * 3.0 + 1.0);
        y.push(0.7 * x[row] + draws.normal());
        table += &format!("{},{},{}\n", x[row], if row % 3 == 0 { "a" } else { "b" }, y[row]);
    }
    let folder = Folder::with(&table);
    let penalties = [0.01, 1.0, 1e9];
    let found = select(
        &folder,
        "t.csv --target y --groups g --group-features drop --holdout 0 --folds 24 --l2 0.01,1,1e9 \
         --objectives balanced",
    );
    let selection = &found["selection"];
    assert_eq!(selection["groups"], serde_json::json!(["b", "a"]));
    assert_eq!(selection["rows"], serde_json::json!([16, 8]));

    let loss = |row: usize, l2: f64| {
        let rest: Vec<usize> = (0..n).filter(|r| *r != row).collect();
        let mean = |v: &[f64]| rest.iter().map(|r| v[*r]).sum::<f64>() / rest.len() as f64;
        let (mx, my) = (mean(&x), mean(&y));
        let deviation =
            (rest.iter().map(|r| (x[*r] - mx).powi(2)).sum::<f64>() / rest.len() as f64).sqrt();
        let z = |r: usize| (x[r] - mx) / deviation;
        let covariance = rest.iter().map(|r| z(*r) * y[*r]).sum::<f64>() / rest.len() as f64;
        (my + covariance / (1.0 + l2 / 2.0) * z(row) - y[row]).powi(2)
    };
    let balanced = |row: usize| {
        let mean = |group: usize| {
            let rows = (0..n).filter(|r| usize::from(r % 3 == 0) == group && *r != row);
            let values: Vec<f64> = rows.map(|r| y[r]).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        ((mean(0) + mean(1)) / 2.0 - y[row]).powi(2)
    };
    let check = |point: &Value, loss: &dyn Fn(usize) -> f64| {
        for group in 0..2 {
            let rows = (0..n).filter(|r| usize::from(r % 3 == 0) == group);
            let losses: Vec<f64> = rows.map(loss).collect();
            let k = losses.len() as f64;
            let mean = losses.iter().sum::<f64>() / k;
            let variance = losses.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (k - 1.0);
            let found = number(&point["risks"][group]);
            assert!((found - mean).abs() < 1e-5 * mean, "{found} {mean}");
            let (found, error) = (number(&point["standard_errors"][group]), (variance / k).sqrt());
            assert!((found - error).abs() < 1e-5 * error, "{found} {error}");
        }
        let risks = numbers(&point["risks"]);
        let worst = usize::from(risks[1] > risks[0]);
        assert_eq!((index(&point["worst"]), number(&point["criterion"])), (worst, risks[worst]));
        assert_eq!(point["standard_error"], point["standard_errors"][worst]);
        assert_eq!(point["folds"].as_array().unwrap().len(), n);
    };
    for (at, l2) in penalties.iter().rev().enumerate() {
        let point = &member(selection, "average")["points"][at];
        check(point, &|row| loss(row, *l2));
        let mean = (0..n).map(|row| loss(row, *l2)).sum::<f64>() / n as f64;
        assert!((number(&point["mean_rows"]) - mean).abs() < 1e-5 * mean, "{point} {mean}");
    }
    check(&member(selection, "balanced")["points"][0], &balanced);
}

/// Everything follows from the risks of the groups: the best value of a member, the best member, and
/// the model that is chosen.
#[test]
fn choices_follow_from_the_criteria() {
    let planted = Planted::new(120, 9);
    let folder = Folder::with(&planted.table);
    for criterion in ["risk", "top-k:1.5"] {
        let found =
            select(&folder, &format!("t.csv --target y --groups g --criterion {criterion}"));
        let selection = &found["selection"];
        assert_eq!(selection["criterion"], criterion);
        let values = numbers(&selection["values"]);
        assert_eq!(values.len(), 15);
        assert!(values.windows(2).all(|pair| pair[0] > pair[1]), "the strongest first: {values:?}");
        let members = selection["members"].as_array().unwrap();
        assert_eq!(members[0]["objective"], "average");
        for member in members {
            for point in member["points"].as_array().unwrap() {
                let mut risks = numbers(&point["risks"]);
                let most = risks[0].max(risks[1]);
                assert_eq!(risks[index(&point["worst"])], most);
                risks.sort_by(|a, b| b.total_cmp(a));
                let expected =
                    if criterion == "risk" { most } else { (risks[0] + 0.5 * risks[1]) / 1.5 };
                assert!((number(&point["criterion"]) - expected).abs() < 1e-15 * most);
            }
            let criteria = criteria(member);
            let least = criteria.iter().copied().fold(f64::INFINITY, f64::min);
            let best = criteria.iter().position(|c| *c == least).unwrap();
            assert_eq!(index(&member["best"]), best);
            assert_eq!(number(&member["value"]), values[best]);
        }
        let at = |member: usize| criteria(&members[member])[index(&members[member]["best"])];
        let best = (1..members.len()).min_by(|a, b| at(*a).total_cmp(&at(*b))).unwrap();
        assert_eq!(index(&selection["best"]), best);
        let better = &selection["contest"]["better"];
        let wins = better.as_f64().is_some_and(|share| share >= 0.95);
        assert_eq!(better.is_null(), at(best) >= at(0));
        assert_eq!(index(&selection["chosen"]), if wins { best } else { 0 });
    }
}

/// `rows` rows of a group a and a tenth as many of a group b, whose target goes down where that of a
/// goes up when `differ`, and the same way otherwise; twice the noise in b.
fn unequal(rows: usize, differ: bool, seed: u64) -> Folder {
    let mut draws = Draws::new(seed);
    let mut table = "x,z,g,y\n".to_owned();
    for row in 0..rows {
        let (x, z) = (draws.normal(), draws.normal());
        let is_b = row % 11 == 0;
        let slope = if differ && is_b { -1.0 } else { 1.0 };
        let noise = if is_b { 2.0 } else { 1.0 } * draws.normal();
        table += &format!("{x},{z},{},{}\n", if is_b { "b" } else { "a" }, slope * x + noise);
    }
    Folder::with(&table)
}

/// Where a group is unlike the others, a model that looks at it is chosen and pays on new rows; where
/// it is only noisier, no model can do anything for it, and ERM stays whatever is best by luck.
#[test]
fn erm_is_replaced_where_that_is_better_beyond_doubt() {
    let table = "t.csv --target y --groups g --group-features drop --holdout 0.3 --grid 1e-3:0.1:3";
    for seed in 1..=5 {
        let found = select(&unequal(2000, true, seed), &format!("{table} --seed {seed}"));
        let selection = &found["selection"];
        assert!(index(&selection["chosen"]) > 0, "{}", selection["contest"]);
        assert!(number(&selection["contest"]["better"]) >= 0.95);
        let of = |model: &str| number(&found["summary"][model]["test_max_risk"]);
        assert!(number(&found["summary"]["test_max_risk"]) < 0.95 * of("erm"), "{found}");
    }
    // Where nothing can be gained ERM is kept in most tables: with a chance of 1/4 to be replaced, of 12
    // more than 6 are with a probability of .014. What replaces it is about as good on average.
    let (mut kept, mut lost) = (0, 0.0);
    for seed in 1..=12 {
        let found = select(&unequal(600, false, seed), &format!("{table} --seed {seed}"));
        kept += usize::from(found["selection"]["chosen"] == 0);
        let erm = number(&found["summary"]["erm"]["test_max_risk"]);
        lost += number(&found["summary"]["test_max_risk"]) / erm - 1.0;
    }
    assert!(kept >= 6 && lost / 12.0 < 0.01, "{kept} {lost}");
}

/// From ERM to the largest risk, in units of what ERM loses.
#[test]
fn the_usual_family() {
    let folder = unequal(400, true, 4);
    let found = select(&folder, "t.csv --target y --groups g --holdout 0");
    let text = folder.read("t.csv");
    let targets =
        text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap());
    let targets: Vec<f64> = targets.collect();
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / targets.len() as f64;
    let centre = mean(&mut targets.iter().copied());
    let variance = mean(&mut targets.iter().map(|y| (y - centre).powi(2)));
    let selection = &found["selection"];
    let names = selection["members"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|m| m["objective"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 15);
    assert_eq!((names[0], names[1], names[14]), ("average", "balanced", "max"));
    for (pair, share) in names[2..14].chunks(2).zip([3.0, 1.0, 0.3, 0.1, 0.03, 0.01]) {
        let tau: f64 = pair[0].strip_prefix("tilted:").unwrap().parse().unwrap();
        assert!((tau / (share * variance) - 1.0).abs() < 0.05, "{tau} {variance}");
        assert_eq!(pair[1], format!("{}:groups", pair[0]));
    }
    // What presses more has the smaller largest risk on the rows that it was trained on, and so it is
    // out of fold where groups are as unlike as these.
    let least =
        |at: usize| criteria(&selection["members"][at]).into_iter().fold(f64::MAX, f64::min);
    assert!(least(14) < least(8) && least(8) < least(0), "{names:?}");
    assert_eq!(numbers(&selection["values"]).len(), 15);
    let rounds = "--solver smd-m --rounds 40 --step-w 1 --step-q 1 --grid 0.1:1:2";
    let found = select(&folder, &format!("t.csv --target y --groups g {rounds}"));
    assert_eq!(found["selection"]["members"].as_array().unwrap().len(), 3);
}

/// A group that is too small to judge does not decide, however bad it is.
#[test]
fn small_groups_do_not_decide() {
    let mut draws = Draws::new(8);
    let mut table = "x,g,y\n".to_owned();
    for row in 0..400 {
        let x = draws.normal();
        let (group, y) = match row {
            row if row < 19 => ("few", 9.0 - 3.0 * x),
            row => (["a", "b"][row % 2], x + draws.normal()),
        };
        table += &format!("{x},{group},{y}\n");
    }
    let folder = Folder::with(&table);
    let table = "t.csv --target y --groups g --holdout 0 --grid 0.01:1:3";
    let groups = |selection: &Value| {
        let names = selection["groups"].as_array().unwrap().clone();
        let few = names.iter().position(|name| name == "few").unwrap();
        (few, selection["judges"][few].as_bool().unwrap())
    };
    let found = select(&folder, table)["selection"].clone();
    let (few, decides) = groups(&found);
    assert!(
        !decides && found["notes"][0].as_str().unwrap().starts_with("1 group has fewer than 20")
    );
    for member in found["members"].as_array().unwrap() {
        for point in member["points"].as_array().unwrap() {
            assert_ne!(index(&point["worst"]), few);
            let is_worst = number(&point["risks"][few]) > 1.5 * number(&point["criterion"]);
            assert!(is_worst || member["objective"] != "average", "{point}");
        }
    }
    let all = select(&folder, &format!("{table} --judge-rows 19"))["selection"].clone();
    assert!(groups(&all).1);
    assert_eq!(index(&all["members"][0]["points"][0]["worst"]), few);
    let none = select(&folder, &format!("{table} --judge-rows 300"))["selection"].clone();
    assert_eq!(none["judges"], serde_json::json!([true, true, true]));
    assert_eq!(none["notes"][0], "no group has 300 training rows: all of them decide");
}

/// Errors are counted, row by row.
#[test]
fn accuracy_counts_errors() {
    let folder = Folder::people();
    let table = "t.csv --target y --groups g --grid 0.01:1:3";
    let found = select(&folder, &format!("{table} --criterion accuracy"))["selection"].clone();
    let rows = numbers(&found["rows"]);
    for member in found["members"].as_array().unwrap() {
        for point in member["points"].as_array().unwrap() {
            for (risk, rows) in numbers(&point["risks"]).iter().zip(&rows) {
                let errors = risk * rows;
                assert!((errors - errors.round()).abs() < 1e-9 && *risk <= 1.0, "{risk} {rows}");
            }
        }
    }
    let folder = unequal(40, true, 1);
    let refused = folder.refused(&format!("select {table} --criterion accuracy"));
    assert_eq!(
        refused,
        "--criterion: accuracy: numbers are not right or wrong: use risk or top-k:K"
    );
}

#[test]
fn a_chosen_model_is_an_ordinary_one() {
    let folder = unequal(800, true, 3);
    let table = "t.csv --target y --groups g --group-features drop --seed 2";
    let mut dear = 0;
    for (objectives, chosen) in [("balanced,max", 2), ("average,balanced", 1), ("average", 0)] {
        let family = format!("--objectives {objectives}");
        let found =
            select(&folder, &format!("{table} --folds 3 --grid 1e-3:1:4 {family} --out out"));
        let selection = &found["selection"];
        let best = &selection["members"][index(&selection["chosen"])];
        let erm = &selection["members"][0];
        assert_eq!(selection["chosen"] == 0, chosen == 0, "{}", selection["contest"]);
        let of = |member: &Value| {
            let (objective, l2) = (member["objective"].as_str().unwrap(), number(&member["value"]));
            format!("--objective {objective} --l2 {l2}")
        };
        folder.prints(&format!("fit {table} {} --quiet --out fit", of(best)));
        let (model, fitted) = (folder.json("out/model.json"), folder.json("fit/model.json"));
        for key in ["weights", "intercepts", "encoding", "certificate", "group-weights"] {
            assert_eq!(model[key], fitted[key], "{key}");
        }
        assert_eq!(model["job"]["training"]["objective"], best["objective"]);
        assert_eq!(model["job"]["training"]["l2"], best["value"]);
        // ERM beside it has the penalty that is best for it.
        let beside = format!("{table} --quiet --l2 {}", number(&erm["value"]));
        let robust = folder.summary(&beside);
        // Where it is the chosen model, it was trained as that, with sums in another order.
        let ordinary = folder.summary(&format!("{beside} --objective average"));
        for key in ["max_risk", "avg_risk_rows", "avg_risk_groups", "test_max_risk"] {
            let here = &found["summary"]["erm"][key];
            let there = if chosen == 0 { &ordinary } else { &robust };
            assert_eq!(*here, there["erm"][key], "{key}");
            let [here, there] = [here, &robust["erm"][key]].map(number);
            assert!((here - there).abs() <= 1e-12 * there, "{key}: {here}, {there}");
        }
        assert_eq!(found["summary"], folder.json("out/summary.json"));
        assert_eq!(found["selection"], folder.json("out/selection.json"));
        // What ERM would cost on average with another penalty is said where it is less.
        let means =
            erm["points"].as_array().unwrap().iter().map(|point| number(&point["mean_rows"]));
        let here = number(&erm["points"][index(&erm["best"])]["mean_rows"]);
        let notes = selection["notes"].to_string();
        let is_dear = here > 1.02 * means.fold(f64::INFINITY, f64::min);
        assert_eq!(
            notes.contains("more than the comparison with this ERM shows"),
            is_dear,
            "{notes}"
        );
        dear += usize::from(is_dear);
    }
    assert!(dear > 0);
    let mut files = folder.list();
    files.retain(|name| name.starts_with("out/"));
    let expected = ["manifest.json", "model.json", "selection.json", "summary.json", "trace.jsonl"];
    assert_eq!(files, expected.map(|name| format!("out/{name}")));
    folder.prints("predict out t.csv");
    assert!(folder.prints("certify out t.csv").contains("stored in the model"));
    assert!(folder.prints("show out").contains("linear model"));
}

/// `gdro fit --select` is `gdro select`, and fits what is named otherwise.
#[test]
fn fitting_may_choose() {
    let folder = Folder::people();
    let options = "t.csv --target y --groups g --folds 3 --grid 0.01:1:3 --json --quiet";
    let of = |arguments: &str| -> Value {
        let mut found: Value = serde_json::from_str(&folder.prints(arguments)).unwrap();
        found["summary"]["seconds"].take();
        found
    };
    let chosen = of(&format!("select {options} --out out"));
    assert_eq!(of(&format!("fit --select {options} --out fit")), chosen);
    assert_eq!(folder.read("out/model.json"), folder.read("fit/model.json"));
    folder.file("job.toml", "tables = ['t.csv']\ntarget = 'y'\ngroups = ['g']\nselect = true\nfolds = 3\ngrid = '0.01:1:3'\n");
    assert_eq!(of("fit job.toml --json --quiet"), chosen);
    assert_eq!(of("select job.toml --json --quiet"), chosen);
    folder.prints("inspect job.toml");
    let named = folder.prints("fit t.csv --target y --groups g --l2 0.1 --json --quiet");
    assert!(!named.contains("selection"));
    for (arguments, message) in [
        ("--select --stream", "--select: a stream trains in one pass: leave one of the two out"),
        ("--folds 3", "--folds: only a choice uses it: add --select, or leave it out"),
    ] {
        let refused = folder.refused(&format!("fit t.csv --target y --groups g {arguments}"));
        assert_eq!(refused, message, "{arguments}");
    }
}

/// A row that is held out for the report changes nothing about the choice.
#[test]
fn held_out_rows_are_not_looked_at() {
    let row = |i: usize, x: i32| format!("{x},{},{}\n", ["a", "b"][i % 2], i * 13 % 10);
    let x = |i: usize| (i * 7 % 11) as i32;
    let table = |changed: usize| {
        let rows = (0..20).map(|i| row(i, if i == changed { 40 } else { x(i) }));
        "x,g,y\n".to_owned() + &rows.collect::<String>()
    };
    let folder = Folder::new();
    let choice = |changed: usize| {
        folder.file("t.csv", table(changed));
        let arguments =
            "t.csv --target y --loss squared --groups g --holdout 0.3 --folds 2 --l2 0.1,1";
        select(&folder, arguments)["selection"].clone()
    };
    let as_it_is = choice(usize::MAX);
    let unchanged = (0..20).filter(|row| choice(*row) == as_it_is).count();
    assert_eq!(unchanged, 6);
}

#[test]
fn neither_threads_nor_a_second_run_change_anything() {
    let folder = Folder::people();
    let of = |arguments: &str| select(&folder, &format!("t.csv --target y --groups g {arguments}"));
    let choice = |arguments: &str| of(arguments)["selection"].clone();
    let one = choice("--threads 1");
    assert_eq!(choice("--threads 2"), one);
    assert_ne!(choice("--seed 1"), one);
    // A share of the rows: one part, no larger than it should be.
    let share = choice("--validation 0.25");
    assert_eq!((&share["folds"], &share["share"]), (&1.into(), &0.25.into()));
    let rows: u64 = share["rows"].as_array().unwrap().iter().map(|r| r.as_u64().unwrap()).sum();
    assert_eq!(rows, 12);
}

#[test]
fn balls_objectives_and_kinds_of_targets() {
    let folder = Folder::people();
    let table = "t.csv --target y --groups g --folds 3";
    let balls = select(&folder, &format!("{table} --ball 4,0.5,1 --out out"));
    assert_eq!(numbers(&balls["selection"]["values"]), [0.5, 1.0, 4.0]);
    assert_eq!(balls["selection"]["knob"], "ball");
    let training = folder.json("out/model.json")["job"]["training"].clone();
    let chosen = &balls["selection"]["members"][index(&balls["selection"]["chosen"])];
    assert_eq!(training["ball"], chosen["value"]);
    assert_eq!(training["l2"], 0.0);
    let both = select(&folder, &format!("{table} --grid ball:0.5:2:3 --l2 0.01 --out both"));
    assert_eq!(numbers(&both["selection"]["values"]), [0.5, 1.0, 2.0]);
    assert_eq!(folder.json("both/model.json")["job"]["training"]["l2"], 0.01);
    let inside = select(&folder, &format!("{table} --l2 0,0.1 --ball 2"));
    assert_eq!(numbers(&inside["selection"]["values"]), [0.1, 0.0]);

    let family = "--objectives top-k:1.5,regret,max --grid 0.001:1:4 --offsets offsets.csv";
    folder.file("offsets.csv", "group,offset\na,0.1\nb,0\n");
    let found = select(&folder, &format!("{table} {family}"));
    let names = found["selection"]["members"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|m| m["objective"].as_str().unwrap()).collect();
    assert_eq!(names, ["average", "top-k:1.5", "regret", "max"]);
    // One objective is a family, too.
    for objective in ["regret", "balanced", "average"] {
        let found = select(&folder, &format!("{table} --objective {objective} --grid 0.001:1:4"));
        let members = found["selection"]["members"].as_array().unwrap().len();
        assert_eq!(members, if objective == "average" { 1 } else { 2 });
    }
    let mut table = "x,z,g,y\n".to_owned();
    for i in 0..90 {
        let class = ["one", "two", "three"][(i * 17 % 7) / 3];
        table += &format!("{},{},{},{class}\n", i * 17 % 7, i * 5 % 13, ["a", "b"][i % 2]);
    }
    folder.file("classes.csv", table);
    let found = select(&folder, "classes.csv --target y --groups g --grid 1e-3:1e-1:3");
    assert!(criteria(member(&found["selection"], "max"))[2] < 1.0);
    let rounds = "--solver smd-m --rounds 400 --step-w 1 --step-q 1";
    let found = select(&folder, &format!("t.csv --target y --groups g --l2 0.01,0.1 {rounds}"));
    let chosen = index(&found["selection"]["chosen"]);
    let is_max = found["selection"]["members"][chosen]["objective"] == "max";
    // Ordinary training is always exact.
    assert_eq!(found["summary"]["solver"], if is_max { "smd-m" } else { "exact" });
}

#[test]
fn a_job_file_says_the_same() {
    let folder = Folder::people();
    folder.file(
        "job.toml",
        "tables = ['t.csv']\ntarget = 'y'\ngroups = ['g']\nl2 = [0.1, 1e-3]\nfolds = 4\n\
         criterion = 'accuracy'\njudge-rows = 9\nobjectives = ['max']\n",
    );
    let options = "t.csv --target y --groups g --l2 0.1,1e-3 --folds 4 --criterion accuracy \
                   --judge-rows 9 --objectives max";
    assert_eq!(select(&folder, "job.toml")["selection"], select(&folder, options)["selection"]);
    let one = "tables = ['t.csv']\ntarget = 'y'\ngroups = ['g']\nl2 = 1e-3\nobjective = 'max'\n";
    folder.file("one.toml", one);
    let said = folder.run("select one.toml --grid 0.01:0.1:2");
    let said = common::stderr(&said);
    for (line, key) in [(4, "l2"), (5, "objective")] {
        let note = format!("note: one.toml:{line}: {key} is replaced by what is chosen");
        assert!(said.contains(&note), "{said}");
    }
    let refused = folder.refused("fit job.toml");
    let why = "only a choice uses it: add --select, or leave it out";
    assert_eq!(refused, format!("job.toml:5: folds: {why}"));
    folder.file("list.toml", "tables = ['t.csv']\ntarget = 'y'\nl2 = [0.1, 1e-3]\n");
    assert_eq!(
        folder.refused("fit list.toml"),
        "list.toml:3: l2 = [0.1, 0.001]: expected a number"
    );
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = Folder::people();
    folder.file("budget.csv", "group,budget\na,5\nb,5\n");
    let several = "from 2 to 1000 values to choose from";
    for (arguments, message) in [
        ("--l2 0.1", "--l2 0.1: expected several values to choose from, as in --l2 1,2,5"),
        ("--l2 0.1,0.1", "--l2 [0.1, 0.1]: expected different values"),
        ("--l2 0,0.1", "--l2 [0, 0.1]: expected numbers above 0"),
        ("--l2 0.1,-1", "--l2 [0.1, -1]: expected numbers above 0"),
        ("--l2 0.1,inf", "--l2 [0.1, inf]: expected numbers above 0"),
        ("--l2 0.1,nan", "--l2 [0.1, nan]: expected numbers above 0"),
        ("--ball 1,0", "--ball [1, 0]: expected numbers above 0"),
        (
            "--ball 1,2 --l2 0.1,1",
            "--ball: l2 or ball is chosen, not both at once: give one of them a single number",
        ),
        ("--l2 0.1,1 --grid 1:2:3", "--grid: the values come from l2: leave one of the two out"),
        (
            "--grid 1:2",
            "--grid 1:2: expected LOW:HIGH:N or ball:LOW:HIGH:N, as in 1e-6:10:15, with 0 < LOW < HIGH",
        ),
        (
            "--grid 1:2:3 --l2 0.1",
            "--l2 0.1: expected several values to choose from, as in --l2 1,2,5",
        ),
        ("--folds 1", "--folds 1: expected a whole number from 2 to 1000"),
        ("--folds 49", "--folds: 49: expected a number from 2 to the 48 training rows"),
        ("--validation 1", "--validation 1: expected a share between 0 and 1"),
        (
            "--validation 1e-9",
            "--validation: 0.000000001: expected rows for validation: the groups are too small",
        ),
        (
            "--validation 0.2 --folds 5",
            "--validation: folds give every row to validation once: leave one of the two out",
        ),
        (
            "--criterion worst",
            "--criterion: `worst`: expected risk, accuracy or top-k:K with K of at least 1",
        ),
        ("--objectives max,max", "--objectives: max stands there twice"),
        (
            "--objectives max --objective max",
            "--objectives: objective names the one model beside ERM: leave one of the two out",
        ),
        (
            "--objectives max,top-k:2 --solver smd-m",
            "--objectives: smd-m does not minimise top-k:2: use atkro-m, atkro-k or atkro-1",
        ),
        ("--judge-rows 0", "--judge-rows 0: expected a whole number from 1 to 9000000000000000"),
        (
            "--path --folds 5",
            "--folds: path draws a trade-off and chooses nothing: leave one of the two out",
        ),
        ("--path --l2 0.1,1", "--l2 [0.1, 1]: expected a number"),
        (
            "--path --objective regret",
            "--objective: path goes from max to balanced by top-k: leave it out",
        ),
        (
            "--path --solver smd-m",
            "--solver: smd-m: path is computed by the reference solver: use exact",
        ),
        ("--path --delta 0.1", "--delta: path computes no intervals: leave it out"),
        ("--path=1", "--path 1: expected a whole number from 2 to 1000"),
        (
            "--path --all-groups",
            "--all-groups: path shows no groups: path.json and --json hold all of them",
        ),
        (
            "--solver smd-r --budget budget.csv",
            "--budget: budget.csv is for all training rows, and validation takes some of them: use all",
        ),
    ] {
        let refused = folder.refused(&format!("select t.csv --target y --groups g {arguments}"));
        assert_eq!(refused, message, "{arguments}");
    }
    let list = (1..=1001).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    let refused = folder.refused(&format!("select t.csv --target y --groups g --l2 {list}"));
    assert!(refused.ends_with(several), "{refused}");
    let refused = folder.refused("fit t.csv --target y --l2 0.1,1");
    assert_eq!(refused, "--l2 [0.1, 1]: expected a number");
}

#[test]
fn the_table_fits_the_terminal() {
    let folder = Folder::people();
    for width in ["80", "120"] {
        let mut command =
            folder.command("select t.csv --target y --groups g --grid 1e-3:1:4 --train");
        let output = command.env("COLUMNS", width).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let limit: usize = width.parse().unwrap();
        let too_long = text.lines().find(|line| console::measure_text_width(line) > limit);
        assert_eq!(too_long, None, "{width}: {text}");
        assert!(text.contains("On 48 validation rows, each model at its best penalty"), "{text}");
        assert!(text.contains("chosen: ") && text.contains("balanced"), "{text}");
        assert!(text.contains("Rows held out") && text.contains("Training rows"), "{text}");
    }
}

/// With neither an objective nor bounds `gdro fit` chooses as `gdro select` does, and says so in one
/// line; with one of them it trains what is named.
#[test]
fn fitting_chooses_where_nothing_is_named() {
    let folder = Folder::people();
    let table = "t.csv --target y --groups g";
    let chosen = select(&folder, &format!("{table} --out out"));
    let output = folder.run(&format!("fit {table} --json --out fit"));
    let notes = common::stderr(&output);
    let notes = notes.lines().filter(|line| line.contains("no objective or penalty is named"));
    let notes: Vec<&str> = notes.collect();
    let said = "note: no objective or penalty is named: chooses one of 225 models on validation rows, in \
                about ";
    assert!(notes.len() == 1 && notes[0].starts_with(said), "{notes:?}");
    assert!(notes[0].ends_with(" s; --objective max trains exactly that one"), "{notes:?}");
    assert_eq!(folder.read("fit/model.json"), folder.read("out/model.json"));
    let mut found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["selection"], chosen["selection"]);
    assert_eq!(folder.json("fit/selection.json"), chosen["selection"]);
    // What is printed is the summary of any model, with the choice in it.
    found.as_object_mut().unwrap().remove("selection");
    let mut summary = chosen["summary"].clone();
    for summary in [&mut found, &mut summary] {
        summary["seconds"].take();
    }
    assert_eq!(found, summary);
    for named in ["--objective max", "--l2 1e-4", "--domain free", "--ball 3", "--domain l1:2"] {
        let output = folder.run(&format!("fit {table} {named} --out named"));
        assert!(!common::stderr(&output).contains("is named"), "{named}");
        let training = &folder.json("named/model.json")["job"]["training"];
        let is_bounded = ["--ball 3", "--domain l1:2"].contains(&named);
        assert_eq!(training["objective"], "max", "{named}");
        assert_eq!(training["l2"], if is_bounded { 0.0 } else { 1e-4 }, "{named}");
    }
    let job = "tables = ['t.csv']\ntarget = 'y'\ngroups = ['g']\nl2 = 0.5\n";
    folder.file("job.toml", job);
    folder.prints("fit job.toml -q --out named");
    assert_eq!(folder.json("named/model.json")["job"]["training"]["l2"], 0.5);
}

/// Where nothing is chosen the model is the largest risk with the usual penalty, and a line says why.
#[test]
fn fitting_says_why_it_does_not_choose() {
    let folder = Folder::people();
    folder.file("offsets.csv", "group,offset\na,0.1\nb,0\n");
    folder.file("few.csv", "x,g,y\n1,a,0\n2,b,1\n3,a,1\n4,b,0\n");
    for (arguments, why) in [
        (
            "t.csv --solver smd-m --rounds 40 --step-w 1 --step-q 1",
            "smd-m does not minimise what lies between ERM and max; --select chooses all the same",
        ),
        (
            "t.csv --offsets offsets.csv",
            "--offsets is not for all models of the family; --select chooses all the same",
        ),
        (
            "t.csv --adjustment 2",
            "--adjustment is not for all models of the family; --select chooses all the same",
        ),
        (
            "t.csv --stream --rounds 20 --step-w 1 --step-q 1",
            "a stream trains in one pass; gdro select chooses where the table fits in memory",
        ),
        ("few.csv --holdout 0", "--folds: 5: expected a number from 2 to the 4 training rows"),
    ] {
        let output = folder.run(&format!("fit {arguments} --target y --groups g --out out"));
        assert_eq!(output.status.code(), Some(0), "{}", common::stderr(&output));
        let said = common::stderr(&output);
        let line = format!(
            "note: no objective or penalty is named: trains max with penalty 1e-4 and chooses nothing: {why}"
        );
        assert!(said.lines().any(|found| found == line), "{said}");
        let training = &folder.json("out/model.json")["job"]["training"];
        assert_eq!((&training["objective"], &training["l2"]), (&"max".into(), &1e-4.into()));
        assert!(!folder.list().contains(&"out/selection.json".into()), "{arguments}");
    }
}

/// A choice that is predicted to take a minute or longer is not made unasked: the prediction follows
/// from the sizes of the table.
#[test]
fn long_choices_are_not_made_unasked() {
    let table = |rows: usize, columns: usize| {
        let names: Vec<String> = (0..columns).map(|c| format!("x{c}")).collect();
        let mut text = names.join(",") + ",g,y\n";
        for row in 0..rows {
            (0..columns).for_each(|c| text += &format!("{},", (row * (c + 3) + c * row * row) % 7));
            text += &format!("{},{}\n", ["a", "b"][row % 2], row * 13 % 10);
        }
        Folder::with(text)
    };
    let said = |folder: &Folder, loss: &str| {
        let output = folder.run(&format!("fit t.csv --target y --groups g --loss {loss}"));
        let said = common::stderr(&output);
        let mut lines = said.lines().filter(|line| line.contains("no objective or penalty"));
        lines.next().unwrap().to_owned()
    };
    // Losses with kinks take longer, which keeps the table small.
    let long = said(&table(3500, 8), "absolute");
    assert!(long.contains("chooses nothing: that is predicted to take about "), "{long}");
    assert!(long.ends_with("; --select chooses all the same"), "{long}");
    let short = said(&table(300, 8), "squared");
    assert!(short.contains("chooses one of 225 models"), "{short}");
}
