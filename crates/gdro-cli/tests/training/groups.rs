//! Families of groups, bins, small groups and row weights, through the program.

use crate::common::{Folder, number, stderr};
use serde_json::{Value, json};

fn names(summary: &Value) -> Vec<&str> {
    summary["groups"].as_array().unwrap().iter().map(|g| g["name"].as_str().unwrap()).collect()
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(number).collect()
}

/// The largest of `risks` at b, each the mean of (y − b)².
fn largest(groups: &[Vec<f64>], b: f64) -> f64 {
    let risk = |ys: &Vec<f64>| ys.iter().map(|y| (y - b).powi(2)).sum::<f64>() / ys.len() as f64;
    groups.iter().map(risk).fold(0.0, f64::max)
}

/// The minimum of a convex function of one number on [−10, 10].
fn minimum(f: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if f(a) < f(b) { high = b } else { low = a }
    }
    (low, f(low))
}

/// Rows (a, b, y) without a usable feature: a model is an intercept.
const ROWS: [(&str, &str, f64); 8] = [
    ("p", "u", 0.0),
    ("p", "u", 1.0),
    ("p", "v", 0.0),
    ("p", "u", 2.0),
    ("p", "w", 9.0),
    ("q", "u", 3.0),
    ("q", "w", 6.0),
    ("q", "v", 1.0),
];

fn intercepts_table() -> String {
    let mut text = "c,a,b,y\n".to_owned();
    ROWS.iter().for_each(|(a, b, y)| text += &format!("1,{a},{b},{y}\n"));
    text
}

fn group_ys(of: impl Fn(&(&str, &str, f64)) -> String) -> Vec<Vec<f64>> {
    let mut groups = std::collections::BTreeMap::<String, Vec<f64>>::new();
    ROWS.iter().for_each(|row| groups.entry(of(row)).or_default().push(row.2));
    groups.into_values().collect()
}

const SQUARED: &str =
    "--target y --loss squared --group-features drop --holdout 0 --solver exact --tol 1e-12";

/// The maximum runs over the groups of all families, which is not the mean of the families' maxima,
/// nor the maximum over one family or over the intersections.
#[test]
fn the_maximum_runs_over_the_union_of_the_families() {
    let (a, b) = (group_ys(|row| row.0.into()), group_ys(|row| row.1.into()));
    let both = group_ys(|row| format!("{} {}", row.0, row.1));
    let union = [a.clone(), b.clone()].concat();
    let (at, least) = minimum(|w| largest(&union, w));
    for (other, _) in [
        minimum(|w| (largest(&a, w) + largest(&b, w)) / 2.0),
        minimum(|w| largest(&a, w)),
        minimum(|w| largest(&both, w)),
    ] {
        assert!((at - other).abs() > 0.05, "{at} {other}");
    }
    let folder = Folder::with(intercepts_table());
    let mut twins = Vec::new();
    for table in ["fit t.csv --groups a --groups b".to_owned(), {
        folder.file("job.toml", "tables = [\"t.csv\"]\ngroups = [[\"a\"], [\"b\"]]\n");
        "fit job.toml".to_owned()
    }] {
        folder.prints(&format!("{table} {SQUARED} --objective max --quiet --out out"));
        let (model, summary) = (folder.json("out/model.json"), folder.json("out/summary.json"));
        assert_eq!(names(&summary), ["a=p", "a=q", "b=u", "b=v", "b=w"]);
        assert!((number(&model["intercepts"][0]) - at).abs() < 1e-5, "{at}");
        assert!((number(&summary["max_risk"]) - least).abs() < 1e-8 * least);
        assert!(number(&summary["certificate"]["gap"]) < 1e-8);
        twins.push((model["weights"].clone(), model["intercepts"].clone()));
    }
    assert_eq!(twins[0], twins[1]);
    let found = folder.json("out/summary.json");
    let families: Vec<&Value> =
        found["groups"].as_array().unwrap().iter().map(|g| &g["family"]).collect();
    assert_eq!(families, ["a", "a", "b", "b", "b"]);
    // The stochastic solver plays the same game.
    let rounds = folder.summary(&format!(
        "t.csv --groups a --groups b {} --solver smd-m --rounds 100000",
        SQUARED.replace("--solver exact --tol 1e-12", "")
    ));
    assert!((number(&rounds["max_risk"]) - least).abs() < 0.01 * least, "{rounds}");
}

/// The table of `tests/oracles/families.py`.
fn oracle_table() -> String {
    let mut text = "x,z,site,sex,w,binary,classes,number\n".to_owned();
    for i in 0..90_i64 {
        let (x, z) = (i * 37 % 23, i * 29 % 17);
        let (site, sex) = (i % 4 % 3, i * 5 % 7 % 2);
        let binary = i64::from((if site > 0 { x } else { 22 - x }) + i % 7 > 12);
        let classes = (x + 2 * z + site) % 11 % 3;
        let number = (x - 11) * (1 + sex) + z * (site - 1) + i % 5;
        text += &format!("{x},{z},{site},{sex},{},{binary},{classes},{number}\n", 1 + i % 3);
    }
    text
}

/// Optima of another solver, for each task, with weights and without.
#[test]
fn optima_over_families_agree_with_a_conic_solver() {
    let folder = Folder::with(oracle_table());
    let oracle: Value = serde_json::from_str(include_str!("../oracles/families.json")).unwrap();
    for case in oracle.as_array().unwrap() {
        let task = case["task"].as_str().unwrap();
        let loss = match task {
            "binary" => "logistic",
            "classes" => "softmax",
            _ => "squared",
        };
        let others: Vec<&str> =
            ["binary", "classes", "number"].into_iter().filter(|t| *t != task).collect();
        let weighted = case["weighted"] == true;
        let weight = if weighted { "--weight w" } else { "" };
        let ignored = if weighted { others.join(",") } else { others.join(",") + ",w" };
        let found = folder.summary(&format!(
            "t.csv --target {task} --loss {loss} --groups site --groups sex --group-features drop \
             --ignore {ignored} {weight} --l2 0.01 --holdout 0 --solver exact"
        ));
        let (upper, expected) =
            (number(&found["certificate"]["upper"]), number(&case["objective"]));
        assert!((upper - expected).abs() < 1e-7 * expected, "{case}: {upper}");
    }
}

/// Ordinary training and means over rows count each row once, whatever families it is in.
#[test]
fn each_row_counts_once_in_means_over_rows() {
    let folder = Folder::with(intercepts_table());
    let mean = ROWS.iter().map(|row| row.2).sum::<f64>() / 8.0;
    let variance = ROWS.iter().map(|row| (row.2 - mean).powi(2)).sum::<f64>() / 8.0;
    let groups = "t.csv --groups a,b --groups a";
    let average = folder.summary(&format!("{groups} {SQUARED} --objective average --out out"));
    assert!((number(&folder.json("out/model.json")["intercepts"][0]) - mean).abs() < 1e-6);
    for value in [&average["avg_risk_rows"], &average["erm"]["avg_risk_rows"]] {
        assert!((number(value) - variance).abs() < 1e-8, "{value}");
    }
    let upper = number(&average["certificate"]["upper"]);
    assert!((upper - variance).abs() < 1e-8, "{upper}");
    assert!(number(&average["certificate"]["gap"]) < 1e-8);
    // Groups alike: the mean of the means of all groups.
    let all = [group_ys(|r| r.0.into()), group_ys(|r| r.1.into())].concat();
    let means: Vec<f64> = all.iter().map(|ys| ys.iter().sum::<f64>() / ys.len() as f64).collect();
    let groups = "t.csv --groups a --groups b";
    folder.prints(&format!("fit {groups} {SQUARED} --objective balanced --quiet --out out"));
    let found = number(&folder.json("out/model.json")["intercepts"][0]);
    assert!((found - means.iter().sum::<f64>() / 5.0).abs() < 1e-6, "{found}");
    let shown = folder.prints(&format!("fit {groups} {SQUARED} --objective max"));
    let line = shown.lines().find(|l| l.starts_with("mean over rows")).unwrap();
    assert_eq!(line.split_whitespace().nth(3), Some("8"), "{line}");

    // One family has all rows although the other lost a group.
    let dropped =
        format!("{groups} {SQUARED} --objective average --min-group 3 --small-groups drop");
    let found = folder.summary(&dropped);
    assert_eq!(names(&found), ["a=p", "a=q", "b=u"]);
    assert!((number(&found["avg_risk_rows"]) - variance).abs() < 1e-8);
    // No family has all rows: no weights of groups count each row once.
    let table = "c,a,b,y\n1,p,,1\n1,p,u,2\n1,,u,4\n1,q,v,8\n";
    let folder = Folder::with(table);
    let found =
        folder.refused(&format!("fit {groups} {SQUARED} --objective average --missing-group drop"));
    assert!(found.starts_with("--objective: average: no family of groups has all rows"), "{found}");
    folder.prints(&format!("fit {groups} {SQUARED} --objective max --missing-group drop"));
}

/// The prior of a tilted risk over two families: the shares of their groups, halved. The optimum of the
/// one intercept by a search.
#[test]
fn tilted_risks_over_families() {
    let folder = Folder::with(intercepts_table());
    let all = [group_ys(|r| r.0.into()), group_ys(|r| r.1.into())].concat();
    let risks = |b: f64| {
        let risk =
            |ys: &Vec<f64>| ys.iter().map(|y| (y - b).powi(2)).sum::<f64>() / ys.len() as f64;
        all.iter().map(risk).collect::<Vec<f64>>()
    };
    let by_rows: Vec<f64> = all.iter().map(|ys| ys.len() as f64 / 16.0).collect();
    for (tail, prior) in [("", by_rows), (":groups", vec![0.2; 5])] {
        for tau in [0.5, 20.0] {
            let value = |b: f64| {
                let terms = risks(b).into_iter().zip(&prior).map(|(r, p)| p * (r / tau).exp());
                tau * terms.sum::<f64>().ln()
            };
            let (at, least) = minimum(value);
            let options = format!("{SQUARED} --objective tilted:{tau}{tail} --out out");
            let found = folder.summary(&format!("t.csv --groups a --groups b {options}"));
            assert_eq!(found["objective"], format!("tilted:{tau}{tail}"));
            let upper = number(&found["certificate"]["upper"]);
            assert!((upper - least).abs() < 1e-7, "{tau}{tail}: {upper} {least}");
            assert!(number(&found["certificate"]["gap"]) < 1e-7);
            let intercept = number(&folder.json("out/model.json")["intercepts"][0]);
            assert!((intercept - at).abs() < 1e-5, "{tau}{tail}: {intercept} {at}");
            let terms: Vec<f64> =
                risks(at).iter().zip(&prior).map(|(r, p)| p * (r / tau).exp()).collect();
            for (group, term) in found["groups"].as_array().unwrap().iter().zip(&terms) {
                let weight = term / terms.iter().sum::<f64>();
                assert!((number(&group["weight"]) - weight).abs() < 1e-5, "{group}");
            }
        }
    }
}

#[test]
fn bins_on_the_command_line_and_in_a_job_file() {
    let mut table = "age,sex,y\n".to_owned();
    (0..60).for_each(|i| {
        table += &format!("{},{},{}\n", 20 + i, ["f", "m"][i % 2], u8::from(i * 7 % 5 > 2));
    });
    let folder = Folder::with(&table);
    let options = "--target y --objective max --solver exact --quiet --holdout 0";
    let mut found = Vec::new();
    for groups in ["--groups sex,age:25,40,60", "--groups sex,\"age:25,40,60\""] {
        folder.prints(&format!("fit t.csv {groups} {options} --out out"));
        found.push(folder.json("out/summary.json")["groups"].clone());
    }
    for groups in [
        "groups = [\"sex\", \"age:25,40,60\"]",
        "groups = [\"sex\", { age = [25, 40, 60] }]",
        "groups = [[\"sex\", { age = [25, 40.0, 60] }]]",
    ] {
        folder.file("job.toml", format!("tables = [\"t.csv\"]\n{groups}\n"));
        folder.prints(&format!("fit job.toml {options} --out out"));
        found.push(folder.json("out/summary.json")["groups"].clone());
    }
    assert!(found[1..].iter().all(|groups| *groups == found[0]));
    let summary = folder.json("out/summary.json");
    assert_eq!(
        names(&summary),
        [
            "f / 40<age<=60",
            "m / 40<age<=60",
            "m / age>60",
            "f / age>60",
            "f / 25<age<=40",
            "m / 25<age<=40",
            "f / age<=25",
            "m / age<=25"
        ]
    );
    assert_eq!(summary["groups"][0]["family"], "sex,age:25,40,60");
    // The column is a feature unless an option says otherwise.
    assert_eq!(folder.json("out/model.json")["features"][0], "age");
    folder.prints(&format!("fit t.csv --groups age:25 --group-features drop {options} --out out"));
    assert_eq!(folder.json("out/model.json")["features"], json!(["sex=f", "sex=m"]));
    for (groups, start) in [
        ("age:40,25", "--groups: `age:40,25`: expected cuts in increasing order"),
        ("age:40,NaN", "--groups: `age:40,NaN`: expected finite numbers"),
        ("age:old", "--groups: `age:old`: expected numbers after `age:`"),
        ("sex:25", "t.csv:2: column `sex`: found `f`, expected a number"),
        ("agee:25", "--groups: no column `agee`: did you mean `age`?"),
        ("age,age:25", "--groups: `age` twice"),
    ] {
        let said = folder.refused(&format!("fit t.csv --groups {groups} {options}"));
        assert!(said.starts_with(start), "{said}");
    }
    folder.file("job.toml", "tables = [\"t.csv\"]\ntarget = \"y\"\ngroups = [{ age = [\"x\"] }]\n");
    let said = folder.refused("fit job.toml");
    assert!(said.starts_with("job.toml:3: groups: "), "{said}");
}

#[test]
fn small_groups_on_the_command_line() {
    let mut table = "x,g,y\n".to_owned();
    for i in 0..40 {
        let g = if i < 32 { ["a", "b"][i % 2] } else { ["c", "d", "e", "f"][i % 4] };
        table += &format!("{},{g},{}\n", i * 7 % 11, u8::from(i * 5 % 7 > 3));
    }
    let folder = Folder::with(table);
    let fit = "t.csv --target y --groups g --objective max --solver exact";
    let found = folder.refused(&format!("fit {fit} --min-group 5"));
    assert!(
        found.starts_with("--min-group: fewer than 5 rows: `c (2 rows)`, `d (2 rows)`"),
        "{found}"
    );
    let merged = folder.summary(&format!("{fit} --min-group 5 --small-groups merge --out run"));
    assert_eq!(names(&merged), ["a", "b", "(small)"]);
    let output = folder.run(&format!("fit {fit} --min-group 5 --small-groups drop"));
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(said.contains("4 groups of fewer than 5 rows are left out, 2 stay"), "{said}");
    assert!(said.contains("8 of 40 rows left out, in no group"), "{said}");
    // Evaluation maps alike; what training never saw is no small group.
    folder.file("later.csv", "x,g,y\n1,c,0\n2,a,1\n3,new,1\n4,f,0\n");
    let evaluate = |folder: &Folder| -> Value {
        serde_json::from_str(&folder.prints("evaluate run later.csv --json")).unwrap()
    };
    let found = evaluate(&folder);
    assert_eq!(found["names"], json!(["a", "b", "(small)", "new"]));
    let rows: Vec<&Value> = (0..4).map(|i| &found["intervals"]["groups"][i]["rows"]).collect();
    assert_eq!(rows, [1, 0, 2, 1]);
    folder.prints("certify run t.csv");
    folder.prints(&format!("fit {fit} --min-group 5 --small-groups drop --quiet --out run"));
    let found = evaluate(&folder);
    assert_eq!((&found["names"], &found["rows"]), (&json!(["a", "b", "new"]), &json!(2)));
    assert!(found["notes"].to_string().contains("groups left out in training"), "{found}");

    for (options, start) in [
        ("--small-groups merge", "--small-groups: no group is too small"),
        ("--small-groups error", "--small-groups: no group is too small"),
        ("--min-group 1", "--min-group 1: expected a whole number from 2"),
        ("--min-group 2.5", "--min-group 2.5: expected a whole number"),
        ("--min-group -3", "--min-group -3: expected a whole number"),
        ("--min-group 5 --small-groups hide", "--small-groups: unknown variant `hide`"),
    ] {
        let said = folder.refused(&format!("fit {fit} {options}"));
        assert!(said.starts_with(start), "{said}");
    }
    folder.file(
        "job.toml",
        "tables = [\"t.csv\"]\ntarget = \"y\"\ngroups = [\"g\"]\nmin-group = 5\nsmall-groups = \"merge\"\n",
    );
    assert_eq!(names(&folder.summary("job.toml --solver exact")), ["a", "b", "(small)"]);
    let said = folder.refused("fit t.csv --target y --min-group 5");
    assert!(said.starts_with("--min-group: there are no group columns"), "{said}");
}

/// Cases 7 to 10 for families.
#[test]
fn families_at_evaluation() {
    let mut table = "x,site,sex,y\n".to_owned();
    for i in 0..120 {
        table += &format!(
            "{},{}.0,{},{}\n",
            i * 7 % 11,
            [0, 1, 3][i % 3],
            ["f", "m"][i / 3 % 2],
            i % 5 / 3
        );
    }
    table += "4,9,f,1\n";
    let folder = Folder::with(table);
    let fit = "t.csv --target y --groups site --groups sex --objective max --solver exact";
    let summary = folder.summary(&format!("{fit} --out run"));
    assert_eq!(names(&summary), ["site=0.0", "site=1.0", "site=3.0", "site=9", "sex=f", "sex=m"]);
    assert!(summary["groups"][3]["test_risk"].is_null());
    folder.prints("certify run t.csv");
    folder.prints("predict run t.csv");
    folder.prints("show run");
    folder.file("later.csv", "x,site,sex,y\n1,0.0,x,0\n2,7,f,1\n3,3.0,m,1\n");
    let found: Value =
        serde_json::from_str(&folder.prints("evaluate run later.csv --json")).unwrap();
    let names = found["names"].as_array().unwrap();
    assert_eq!(names[6..], [json!("site=7"), json!("sex=x")]);
    assert_eq!(
        found["families"].as_array().unwrap()[5..],
        [json!("sex"), json!("site"), json!("sex")]
    );
    assert_eq!(found["rows"], 3);
    let shown = folder.prints("evaluate run later.csv");
    assert!(shown.contains("site=7 (unseen)") && shown.contains("sex=x (unseen)"), "{shown}");
    let line = shown.lines().find(|l| l.starts_with("mean over rows")).unwrap();
    assert_eq!(line.split_whitespace().nth(3), Some("3"), "{line}");
    // The mean over rows is that of the rows, each once.
    let risks: Vec<f64> = (0..8)
        .map(|i| &found["intervals"]["groups"][i])
        .map(|g| if g["risk"].is_null() { 0.0 } else { number(&g["risk"]) * number(&g["rows"]) })
        .collect();
    let of_sex: f64 = risks[4..6].iter().sum::<f64>() + risks[7];
    assert!((number(&found["mean_over_rows"]["risk"]) - of_sex / 3.0).abs() < 1e-12);

    let found = folder
        .refused(&format!("fit {} --solver smd-r --budget all", fit.replace("--solver exact", "")));
    assert!(found.starts_with("--budget: a row is in a group of each family"), "{found}");
    let found = folder.refused("fit t.csv --target y --groups sex --groups sex");
    assert!(found.starts_with("--groups: `sex`: expected each family once"), "{found}");
    let missing = Folder::with("x,a,b,y\n1,p,u,0\n2,p,,1\n3,,v,1\n4,q,v,0\n5,q,u,1\n6,p,v,0\n");
    let fit = "fit t.csv --target y --groups a --groups b --solver exact --holdout 0";
    let found = missing.refused(fit);
    assert!(found.starts_with("t.csv:3: column `b`: the group label is missing"), "{found}");
    missing.prints(&format!("{fit} --missing-group own"));
    missing.prints(&format!("{fit} --missing-group drop --group-features drop"));
}

/// Label × attribute, which is what "worst class per background" needs.
#[test]
fn the_target_as_a_group_column_is_no_feature() {
    let mut table = "x,delay,carrier,y\n".to_owned();
    for i in 0..80 {
        table += &format!(
            "{},{},{},{}\n",
            i * 7 % 11,
            i * 13 % 59,
            ["AA", "UA"][i % 2],
            ["no", "yes"][i / 2 % 2]
        );
    }
    let folder = Folder::with(table);
    let summary = folder.summary("t.csv --target y --groups y,carrier --solver exact --out out");
    assert_eq!(names(&summary), ["no / AA", "no / UA", "yes / AA", "yes / UA"]);
    assert_eq!(
        folder.json("out/model.json")["features"],
        json!(["x", "delay", "carrier=AA", "carrier=UA"])
    );
    let fit = "fit t.csv --target delay>30 --groups carrier,delay>30 --solver exact --out out";
    folder.prints(&format!("{fit} --quiet"));
    assert_eq!(
        names(&folder.json("out/summary.json")),
        ["AA / delay<=30", "UA / delay<=30", "AA / delay>30", "UA / delay>30"]
    );
    let features = folder.json("out/model.json")["features"].to_string();
    assert!(!features.contains("delay"), "{features}");
    folder.prints("evaluate out t.csv");
    folder.prints("certify out t.csv");
    // Predicting needs neither the target nor the groups' columns that are no features.
    folder.file("later.csv", "x,carrier,y\n1,AA,no\n2,UA,yes\n");
    assert_eq!(folder.prints("predict out later.csv").lines().count(), 3);
}

/// Rows with weights 1 to 3 and one of weight 0 as `w.csv`, and each row as often as its weight says
/// as `t.csv`.
fn weighted_and_repeated(label: impl Fn(usize, usize, usize) -> String) -> Folder {
    let mut weighted = format!("x,z,g,h,w,y\n90,-40,a,u,0,{}\n", label(0, 0, 0));
    let mut repeated = "x,z,g,h,y\n".to_owned();
    for i in 0..60 {
        let (x, z) = (i * 37 % 23, i * 29 % 17);
        let (g, h, y) = (["a", "b", "c"][i % 3], ["u", "v"][i * 5 % 7 % 2], label(i, x, z));
        let weight = 1 + usize::from(i % 4 == 1) + usize::from(i % 9 == 0);
        weighted += &format!("{x},{z},{g},{h},{weight},{y}\n");
        (0..weight).for_each(|_| repeated += &format!("{x},{z},{g},{h},{y}\n"));
    }
    let folder = Folder::with(repeated);
    folder.file("w.csv", weighted);
    folder
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * a.abs().max(1.0), "{what}: {a} {b}");
}

/// A row of weight 2 is the row twice: for the fit, the certificate and an evaluation.
#[test]
fn weight_2_is_a_repeated_row() {
    let binary: fn(usize, usize, usize) -> String =
        |i, x, _| ["no", "yes"][usize::from(x + i % 7 > 12)].into();
    let classes: fn(usize, usize, usize) -> String =
        |_, x, z| ["k", "l", "m"][(x + z) % 7 % 3].into();
    let number_of: fn(usize, usize, usize) -> String =
        |_, x, z| format!("{}.5", x as i64 - z as i64);
    for (loss, label) in [("logistic", binary), ("softmax", classes), ("squared", number_of)] {
        let folder = weighted_and_repeated(label);
        for groups in ["--groups g", "--groups g --groups h", "--groups g,h --objective average"] {
            let what = &format!("{loss} {groups}");
            let fit = format!(
                "--target y {groups} --loss {loss} --holdout 0 --solver exact --tol 1e-13 --l2 0.01 --quiet"
            );
            folder.prints(&format!("fit t.csv {fit} --out repeated"));
            folder.prints(&format!("fit w.csv {fit} --weight w --out weighted"));
            let both = |file: &str| {
                ["repeated", "weighted"]
                    .map(|folder_of| folder.json(&format!("{folder_of}/{file}")))
            };
            let (models, [repeated, weighted]) = (both("model.json"), both("summary.json"));
            for field in ["weights", "intercepts"] {
                let [a, b] = models.each_ref().map(|m| numbers(&m[field]));
                assert_eq!(a.len(), b.len());
                // A softmax does not see what all intercepts have in common.
                let shift = if field == "intercepts" && a.len() > 1 { a[0] - b[0] } else { 0.0 };
                a.iter().zip(&b).for_each(|(a, b)| close(*a, b + shift, 1e-8, what));
            }
            let upper = |s: &Value| number(&s["certificate"]["upper"]);
            close(upper(&repeated), upper(&weighted), 1e-10, what);
            for field in ["max_risk", "avg_risk_rows", "avg_risk_groups"] {
                close(number(&repeated[field]), number(&weighted[field]), 1e-8, what);
                // The comparison is trained less precisely.
                let [a, b] = [&repeated, &weighted].map(|s| number(&s["erm"][field]));
                close(a, b, 1e-5, what);
            }

            let evaluated = |model: &str, table: &str| -> (Vec<(String, f64)>, f64, String) {
                let shown = folder.prints(&format!("evaluate {model} {table} --json"));
                let found: Value = serde_json::from_str(&shown).unwrap();
                let groups = found["intervals"]["groups"].as_array().unwrap();
                let names = found["names"].as_array().unwrap().iter().map(Value::to_string);
                let mut risks: Vec<_> =
                    names.zip(groups.iter().map(|g| number(&g["risk"]))).collect();
                risks.sort_by(|a, b| a.0.cmp(&b.0));
                (risks, number(&found["mean_over_rows"]["risk"]), found["notes"].to_string())
            };
            let (expected, mean, _) = evaluated("repeated", "t.csv");
            let (found, weighted_mean, notes) = evaluated("weighted", "w.csv");
            for ((name, a), (other, b)) in expected.iter().zip(&found) {
                assert_eq!(name, other);
                close(*a, *b, 1e-7, what);
            }
            close(mean, weighted_mean, 1e-7, what);
            assert!(notes.contains("rows are weighted by `w`"), "{notes}");
            assert!(notes.contains("rows of weight 0 that are left out: 1"), "{notes}");
            let (_, alike, notes) = evaluated("weighted", "t.csv");
            close(mean, alike, 1e-7, what);
            assert!(notes.contains("the table has no column `w`"), "{notes}");

            let again = folder.prints("certify weighted w.csv --json");
            let again: Value = serde_json::from_str(&again).unwrap();
            close(number(&again["upper"]), upper(&weighted), 1e-12, what);
        }
    }
}

#[test]
fn weights_that_are_none_are_refused_in_an_evaluation() {
    let mut table = "x,w,g,y\n".to_owned();
    (0..40).for_each(|i| {
        table += &format!("{},{},{},{}\n", i * 7 % 11, 1 + i % 3, ["a", "b"][i % 2], i / 2 % 2)
    });
    let folder = Folder::with(table);
    folder.prints("fit t.csv --target y --groups g --weight w --solver exact --quiet --out run");
    folder.file("later.csv", "x,w,g,y\n1,-2,a,0\n2,1,b,1\n");
    let said = folder.refused("evaluate run later.csv");
    assert!(said.starts_with("later.csv:2: column `w`: found the weight -2"), "{said}");
    folder.file("later.csv", "x,w,g,y\n1,,a,0\n2,1,b,1\n3,2,b,0\n");
    let shown = folder.prints("evaluate run later.csv");
    assert!(shown.contains("rows that miss the weight `w` and are left out: 1"), "{shown}");
    let said = folder.refused("certify run later.csv");
    assert!(said.contains("column `w`: the cell is missing"), "{said}");
}
