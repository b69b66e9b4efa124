//! What can be done with a saved model: evaluate, predict, certify, show.

use crate::common::{self, Folder, number, people};
use serde_json::Value;

/// A folder with a trained model in `run/`.
fn trained(arguments: &str) -> Folder {
    let folder = Folder::with(people(300));
    folder.prints(&format!("fit t.csv --target y --groups g --out run --quiet {arguments}"));
    folder
}

fn evaluated(folder: &Folder, table: &str) -> Value {
    serde_json::from_str(&folder.prints(&format!("evaluate run {table} --json"))).unwrap()
}

/// Columns of the predictions as texts.
fn predictions(folder: &Folder, table: &str) -> Vec<Vec<String>> {
    let text = folder.prints(&format!("predict run/model.json {table}"));
    text.lines().map(|l| l.split(',').map(str::to_owned).collect()).collect()
}

/// Evaluating the training table gives the training risks of the summary.
#[test]
fn evaluation_agrees_with_the_summary() {
    let folder = trained("--holdout 0 --solver exact --objective max");
    let summary = folder.json("run/summary.json");
    let evaluated = evaluated(&folder, "t.csv");
    let names = evaluated["names"].as_array().unwrap();
    for (at, group) in summary["groups"].as_array().unwrap().iter().enumerate() {
        assert_eq!(group["name"], names[at]);
        let found = &evaluated["intervals"]["groups"][at];
        assert!((number(&group["train_risk"]) - number(&found["risk"])).abs() < 1e-12);
        let accuracy = &found["accuracy"];
        assert!((number(&group["train_accuracy"]) - number(&accuracy["value"])).abs() < 1e-12);
        let (low, high) = (&accuracy["interval"]["low"], &accuracy["interval"]["high"]);
        assert!(number(low) < number(&accuracy["value"]));
        assert!(number(high) > number(&accuracy["value"]));
    }
}

/// Case 9: a group that only the later table has is its own line.
#[test]
fn an_unseen_group_has_its_own_line() {
    let folder = trained("--solver exact --objective max");
    folder.file("later.csv", "x,z,g,y\n1,2,a,yes\n3,4,new,no\n-5,6,new,yes\n");
    let evaluated = evaluated(&folder, "later.csv");
    let names: Vec<&str> =
        evaluated["names"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(names, ["a", "b", "new"]);
    assert_eq!(number(&evaluated["known"]), 2.0);
    assert_eq!(number(&evaluated["intervals"]["groups"][2]["rows"]), 2.0);
    // The group without rows stays in its place.
    assert_eq!(number(&evaluated["intervals"]["groups"][1]["rows"]), 0.0);
    let text = folder.prints("evaluate run later.csv");
    assert!(text.contains("new (unseen)"), "{text}");
    assert!(text.contains("groups that training never saw: 1"), "{text}");
    assert!(text.contains("not estimable"), "{text}");
}

/// Case 22 in an evaluation.
#[test]
fn one_class_for_everything_is_a_warning() {
    let folder = trained("--solver exact --objective max");
    folder.file("later.csv", "x,z,g,y\n11,2,a,yes\n11,2,a,no\n");
    assert!(folder.prints("evaluate run later.csv").contains("predicts one class for every row"));
}

/// Case 27, and a prediction is what the scores say.
#[test]
fn predictions_do_not_depend_on_the_order_of_the_rows() {
    let folder = trained("--solver exact --objective max");
    let table = people(300);
    let mut lines: Vec<&str> = table.lines().collect();
    lines[1..].reverse();
    folder.file("reversed.csv", lines.join("\n"));
    let forward = predictions(&folder, "t.csv");
    assert_eq!(forward, predictions(&folder, "t.csv"));
    let backward = predictions(&folder, "reversed.csv");
    assert_eq!(forward[0], ["prediction", "probability"]);
    assert_eq!(forward.len(), 301);
    for row in 1..=300 {
        assert_eq!(forward[row], backward[301 - row]);
        let yes = forward[row][1].parse::<f64>().unwrap() >= 0.5;
        assert_eq!(forward[row][0] == "yes", yes);
    }
}

/// A row without a feature keeps its place; a text that training never saw is counted (case 15).
#[test]
fn incomplete_rows_and_unseen_texts() {
    let table = "x,c,y\n1,red,1\n2,blue,0\n3,red,1\n4,blue,1\n5,red,0\n6,blue,0\n";
    let folder = Folder::with(table);
    folder.prints("fit t.csv --target y --holdout 0 --out run --quiet --solver exact");
    folder.file("later.csv", "x,c\n1,green\n,red\n3,red\n");
    let output = folder.run("predict run later.csv --out p.csv");
    assert!(output.status.success());
    let said = common::stderr(&output);
    assert!(said.contains("`c`: rows with a text that training never saw: 1"), "{said}");
    assert!(said.contains("rows that miss a feature and are not predicted: 1"), "{said}");
    let lines: Vec<String> = folder.read("p.csv").lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[2], ",");
    assert!(!lines[1].starts_with(','));
    let refused = folder.refused("predict run later.csv --strict --out q.csv");
    assert_eq!(
        refused,
        "--strict: column `c`: rows with a text that training never saw: 1; rows that miss a feature \
         and are not predicted: 1, the first at later.csv:3"
    );
    assert!(!folder.path().join("q.csv").exists());
    let refused = folder.refused("evaluate run later.csv");
    assert!(refused.contains('y'), "{refused}");
}

/// What would help is an option of training only.
#[test]
fn errors_of_tables_name_no_option_that_the_command_lacks() {
    let folder = Folder::people();
    folder.prints("fit t.csv --target y --groups g --holdout 0 --out run --quiet --solver exact");
    folder.file("later.csv", "x,z,g,y\n1,2,a,yes\nx?,3,b,no\n");
    for command in ["predict", "evaluate"] {
        let refused = folder.refused(&format!("{command} run later.csv"));
        let expected = ": mend the table, or train again with gdro fit, and there say `--na 'x?'`";
        assert!(refused.starts_with("later.csv:3: ") && refused.contains(expected), "{refused}");
    }
}

/// A mean that stands for a missing number is a doubt.
#[test]
fn strict_refuses_rows_that_a_mean_fills() {
    let folder = Folder::with("x,y\n1,1\n2,0\n,1\n4,1\n5,0\n6,0\n");
    folder
        .prints("fit t.csv --target y --missing mean --holdout 0 --out run --quiet --solver exact");
    folder.file("later.csv", "x\n1\n\n,\n".replace(",\n", "\"\"\n"));
    let said = common::stderr(&folder.run("predict run later.csv"));
    let doubt = "column `x`: rows with a missing number, for which its mean in training stands: 1";
    assert!(said.contains(doubt), "{said}");
    assert_eq!(folder.refused("predict run later.csv --strict"), format!("--strict: {doubt}"));
    folder.file("known.csv", "x,y\n1,1\n,0\n4,1\n");
    let shown = folder.prints("evaluate run known.csv");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&shown).contains(doubt), "{shown}");
    folder.file("whole.csv", "x\n1\n");
    folder.prints("predict run whole.csv --strict");
}

#[test]
fn classes_and_numbers_are_predicted_too() {
    let mut classes = "x,z,y\n".to_owned();
    let mut numbers = classes.clone();
    for i in 0..90 {
        let (x, z) = ((i * 37 % 23) as f64, (i * 29 % 17) as f64);
        let class = if x > 14.0 {
            "up"
        } else if z > 8.0 {
            "mid"
        } else {
            "low"
        };
        classes += &format!("{x},{z},{class}\n");
        numbers += &format!("{x},{z},{}\n", 3.0 * x - z + 0.5);
    }
    let folder = Folder::with(classes);
    folder.file("n.csv", numbers);
    folder.prints("fit t.csv --target y --holdout 0 --out run --quiet");
    let found = predictions(&folder, "t.csv");
    assert_eq!(
        found[0],
        ["prediction", "probability of low", "probability of mid", "probability of up"]
    );
    for line in &found[1..] {
        let shares: Vec<f64> = line[1..].iter().map(|v| v.parse().unwrap()).collect();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let best = (0..3).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap();
        assert_eq!(line[0], ["low", "mid", "up"][best]);
    }
    folder.prints("fit n.csv --target y --holdout 0 --l2 1e-9 --out run --quiet");
    let found = predictions(&folder, "n.csv");
    for (line, row) in found[1..].iter().zip(folder.read("n.csv").lines().skip(1)) {
        let y: f64 = row.split(',').nth(2).unwrap().parse().unwrap();
        assert!((line[0].parse::<f64>().unwrap() - y).abs() < 1e-4);
    }
}

/// The certificate comes out again from the files, for every objective and from every solver.
#[test]
fn certificates_come_out_again() {
    for arguments in [
        "--solver exact",
        "--solver exact --objective top-k:1.5",
        "--solver exact --objective regret",
        "--objective tilted:0.05",
        "--solver exact --objective tilted:0.2:groups --loss hinge",
        "--solver exact --objective average",
        "--solver exact --adjustment 1",
        "--solver exact --ball 0.5",
        "--solver exact --penalize-intercept --holdout 0",
        "--solver smd-m --rounds 2000",
        "--solver online-1 --rounds 2000 --seed 3",
        "--solver smd-r --budget all --rounds 50",
    ] {
        let folder = trained(arguments);
        let stored = &folder.json("run/model.json")["certificate"];
        let now: Value = serde_json::from_str(&folder.prints("certify run t.csv --json")).unwrap();
        for side in ["upper", "lower"] {
            let (a, b) = (number(&stored[side]), number(&now[side]));
            assert!((a - b).abs() < 1e-9, "{arguments}: {side} {a} {b}");
        }
        assert!(number(&now["gap"]) >= 0.0, "{arguments}");
        if arguments.contains("exact") || arguments.contains("tilted") {
            assert!(number(&now["gap"]) < 1e-6, "{arguments}: {now}");
        }
        assert!(!folder.prints("certify run t.csv").contains("warning"), "{arguments}");
    }
}

/// A model whose weights were edited has its own, larger gap, not the stored one.
#[test]
fn an_edited_model_is_found_out() {
    let folder = trained("--solver exact --objective max");
    let mut model = folder.json("run/model.json");
    let old = number(&model["weights"][0]);
    model["weights"][0] = (old + 0.3).into();
    folder.edit("run/model.json", model.to_string());
    let now: Value = serde_json::from_str(&folder.prints("certify run t.csv --json")).unwrap();
    assert!(number(&now["gap"]) > 1e-3);
    let text = folder.prints("certify run t.csv");
    assert!(text.contains("warning: the gap is larger than the stored one"), "{text}");
}

#[test]
fn a_model_outside_of_its_ball_is_refused() {
    let folder = trained("--solver exact --ball 0.5");
    let mut model = folder.json("run/model.json");
    model["weights"][0] = 7.0.into();
    folder.edit("run/model.json", model.to_string());
    let refused = folder.refused("certify run t.csv");
    assert!(refused.contains("outside of its domain"), "{refused}");
}

#[test]
fn another_table_than_that_of_the_training_is_refused() {
    let folder = trained("--solver exact --objective max");
    folder.file("other.csv", people(200));
    let refused = folder.refused("certify run other.csv");
    assert!(refused.contains("not the one that the model was trained on"), "{refused}");
}

#[test]
fn broken_models_are_refused() {
    let folder = trained("--solver exact --objective max");
    let good = folder.read("run/model.json");
    // Times four features it is 4 in 64 bits.
    let huge = format!("\"outputs\": {}", (1u64 << 62) + 1);
    let cases = [
        ("not json", "model.json:1:"),
        ("{}", "format version none"),
        (&good.replacen("\"format\": 2", "\"format\": 9", 1), "format version 9"),
        (&good.replacen("\"outputs\": 1", "\"outputs\": 2", 1), "do not fit together"),
        (&good.replacen("\"outputs\": 1", &huge, 1), "do not fit together"),
        (&good.replacen("\"loss\": \"logistic\"", "\"loss\": \"magic\"", 1), "not a model"),
    ];
    for (text, expected) in cases {
        folder.edit("run/model.json", text);
        for command in ["show run", "certify run t.csv", "predict run t.csv", "evaluate run t.csv"]
        {
            let refused = folder.refused(command);
            assert!(refused.contains(expected), "{command}: {refused}");
        }
    }
    assert!(folder.refused("show nowhere").contains("nowhere"));
    folder.edit("run/model.json", good);
    assert!(folder.refused("evaluate run t.csv --delta 1.5").contains("--delta 1.5"));
    folder.file("few.csv", "x,g,y\n1,a,yes\n");
    assert!(folder.refused("predict run few.csv").contains('z'));
}

/// What no training gives is refused when it is read.
#[test]
fn models_that_were_edited_are_refused_whole() {
    use serde_json::json;
    let folder = trained("--solver exact --objective max");
    let good = folder.json("run/model.json");
    type Edit = Box<dyn Fn(&mut Value)>;
    let edits: Vec<(&str, Edit)> = vec![
        ("do not fit together", Box::new(|m| m["outputs"] = json!((1u64 << 62) + 1))),
        (
            "groups and of their names",
            Box::new(|m| {
                let families = m["grouping"]["families"].as_array_mut().unwrap();
                families.push(families[0].clone());
            }),
        ),
        ("groups and of their names", Box::new(|m| m["grouping"]["families"] = json!([]))),
        (
            "groups and of their names",
            Box::new(|m| {
                m["grouping"]["families"][0]["groups"] = json!(1);
            }),
        ),
        ("groups", Box::new(|m| m["grouping"]["names"] = json!(["a", "a"]))),
        (
            "occurs twice",
            Box::new(|m| {
                m["encoding"]["columns"][1] = m["encoding"]["columns"][0].clone();
            }),
        ),
        ("mean or deviation", Box::new(|m| m["encoding"]["columns"][0]["deviation"] = json!(-2))),
        ("a text twice", Box::new(|m| m["encoding"]["columns"][2]["levels"] = json!(["a", "a"]))),
        (
            "number of buckets",
            Box::new(|m| {
                m["encoding"]["columns"][2] = json!({"kind": "hash", "name": "g", "buckets": 0});
            }),
        ),
        (
            "number of buckets",
            Box::new(|m| {
                m["encoding"]["columns"][2] =
                    json!({"kind": "hash", "name": "g", "buckets": 4294967295u64});
            }),
        ),
        (
            "features by index",
            Box::new(|m| {
                m["encoding"]["sparse"] = json!({"first": 7, "end": 2, "columns": []});
            }),
        ),
        (
            "features by index",
            Box::new(|m| {
                m["encoding"]["sparse"] = json!({"first": 1, "end": 4, "columns": [3, 2]});
            }),
        ),
        ("not distinct", Box::new(|m| m["target"]["negative"] = m["target"]["positive"].clone())),
        ("delta is 7", Box::new(|m| m["job"]["training"]["delta"] = json!(7))),
        ("l2 is -1", Box::new(|m| m["job"]["training"]["l2"] = json!(-1))),
        ("holdout is -3", Box::new(|m| m["job"]["training"]["holdout"] = json!(-3))),
        ("a cap is -1", Box::new(|m| m["cap"] = json!(-1))),
    ];
    for (expected, edit) in edits {
        let mut model = good.clone();
        edit(&mut model);
        folder.file("edited.json", model.to_string());
        for command in ["show", "predict", "evaluate", "certify", "export"] {
            let rest = match command {
                "show" => "",
                "export" => "--out m.onnx",
                _ => "t.csv",
            };
            let said = folder.refused(&format!("{command} edited.json {rest}"));
            assert!(said.contains(expected), "{command}: {expected}: {said}");
        }
    }
}

#[test]
fn show_says_what_the_model_is() {
    let folder = trained("--solver exact --objective top-k:1.5");
    let text = folder.prints("show run");
    for part in ["objective top-k:1.5", "logistic", "solver exact", "certified", "(intercept)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
