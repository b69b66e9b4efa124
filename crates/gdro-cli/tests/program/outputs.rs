//! What a run prints and writes.

use crate::common::{self, FIT, Folder, keys, number, stderr};
use serde_json::Value;

const SUMMARY: [&str; 14] = [
    "objective",
    "solver",
    "rounds",
    "samples",
    "seconds",
    "max_risk",
    "avg_risk_rows",
    "avg_risk_groups",
    "topk_risk",
    "test_max_risk",
    "test_avg_risk_rows",
    "test_avg_risk_groups",
    "test_topk_risk",
    "groups",
];

const GROUP: [&str; 10] = [
    "name",
    "n",
    "n_train",
    "n_test",
    "weight",
    "samples",
    "train_risk",
    "train_accuracy",
    "test_risk",
    "test_accuracy",
];

/// Compares two summaries but for the time they took.
fn without_seconds(mut summary: Value) -> Value {
    summary["seconds"] = Value::Null;
    summary
}

#[test]
fn the_summary_has_every_field_for_all_three_models() {
    let folder = Folder::people();
    let summary = folder.summary(&FIT["fit ".len()..]);
    for model in [&summary, &summary["erm"], &summary["balanced"]] {
        for field in SUMMARY {
            assert!(keys(model).contains(&field), "{field}: {model}");
        }
        let groups = model["groups"].as_array().unwrap();
        assert_eq!(groups.len(), 2);
        for field in groups.iter().flat_map(|g| GROUP.map(|f| (g, f))) {
            assert!(keys(field.0).contains(&field.1), "{}", field.1);
        }
        for field in ["max_risk", "avg_risk_rows", "avg_risk_groups", "test_max_risk"] {
            assert!(number(&model[field]) > 0.0, "{field}");
        }
        assert!(model["topk_risk"].is_null() && model["test_topk_risk"].is_null());
        let risk = |i: usize| number(&groups[i]["train_risk"]);
        let n = |i: usize| number(&groups[i]["n_train"]);
        let rows = (risk(0) * n(0) + risk(1) * n(1)) / (n(0) + n(1));
        assert!((number(&model["avg_risk_rows"]) - rows).abs() < 1e-12);
        assert_eq!(number(&model["max_risk"]), risk(0).max(risk(1)));
        assert_eq!(number(&model["avg_risk_groups"]), (risk(0) + risk(1)) / 2.0);
    }
    assert_eq!((&summary["objective"], &summary["solver"]), (&"max".into(), &"smd-m".into()));
    assert_eq!((&summary["rounds"], &summary["samples"]), (&300.into(), &600.into()));
    let weights: f64 = (0..2).map(|i| number(&summary["groups"][i]["weight"])).sum();
    assert!((weights - 1.0).abs() < 1e-9);
    for other in ["erm", "balanced"] {
        let other = &summary[other];
        assert!(other["samples"].is_null() && other["groups"][0]["weight"].is_null(), "{other}");
    }
}

#[test]
fn what_does_not_apply_is_null() {
    let folder = Folder::people();
    let summary = folder.summary(&format!("{} --holdout 0", &FIT["fit ".len()..]));
    for model in [&summary, &summary["erm"], &summary["balanced"]] {
        for field in SUMMARY.into_iter().filter(|f| f.starts_with("test_")) {
            assert!(model[field].is_null(), "{field}");
        }
        for field in ["test_risk", "test_accuracy"] {
            assert!(model["groups"][1][field].is_null(), "{field}");
        }
        assert_eq!(model["groups"][1]["n_test"], 0);
    }
    let summary = folder
        .summary("t.csv --target y --groups g --objective top-k:1.5 --solver atkro-m --rounds 50");
    assert_eq!(summary["objective"], "top-k:1.5");
    let risk = |i: usize| number(&summary["groups"][i]["train_risk"]);
    let top = (risk(0).max(risk(1)) + risk(0).min(risk(1)) / 2.0) / 1.5;
    assert!((number(&summary["topk_risk"]) - top).abs() < 1e-12);
    assert!(number(&summary["test_topk_risk"]) > 0.0);
    // Numbers have no accuracy.
    let folder = Folder::with("x,g,y\n1,a,1.5\n2,a,2.5\n3,b,3\n4,b,9\n5,a,4\n");
    let summary = folder.summary("t.csv --target y --groups g --solver smd-m --rounds 50");
    assert!(summary["groups"][0]["train_accuracy"].is_null());
}

#[test]
fn the_written_summary_is_the_printed_one() {
    let folder = Folder::people();
    let printed = folder.summary(&format!("{} --out out", &FIT["fit ".len()..]));
    assert_eq!(folder.json("out/summary.json"), printed);
    let again = folder.summary(&FIT["fit ".len()..]);
    assert_eq!(without_seconds(again), without_seconds(printed));
    let files: Vec<_> = folder.list().into_iter().filter(|f| f.starts_with("out/")).collect();
    let expected = ["manifest.json", "model.json", "summary.json", "trace.jsonl"];
    assert_eq!(files, expected.map(|name| format!("out/{name}")));
}

#[test]
fn the_curve_starts_at_round_0_with_ln_2() {
    let folder = Folder::people();
    folder.prints(&format!("{FIT} --quiet --out out"));
    let text = folder.read("out/trace.jsonl");
    let points: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(points[0]["round"], 0);
    assert!((number(&points[0]["max_risk"]) - std::f64::consts::LN_2).abs() < 1e-12);
    let rounds: Vec<u64> = points.iter().map(|p| p["round"].as_u64().unwrap()).collect();
    assert!(rounds.is_sorted_by(|a, b| a < b) && rounds.last() == Some(&300), "{rounds:?}");
    let summary = folder.json("out/summary.json");
    let last = points.last().unwrap();
    assert!((number(&last["max_risk"]) - number(&summary["max_risk"])).abs() < 1e-12);
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let folder = Folder::people();
    for (out, options) in [("a", ""), ("b", ""), ("c", "--threads 1"), ("d", "--threads 2")] {
        folder.prints(&format!("{FIT} --seed 5 --quiet --out {out} {options}"));
    }
    let model = folder.read("a/model.json");
    for other in ["b", "c", "d"] {
        assert_eq!(folder.read(&format!("{other}/model.json")), model);
    }
    folder.prints(&format!("{FIT} --seed 6 --quiet --out e"));
    let of = |name: &str| folder.json(&format!("{name}/model.json"))["weights"].clone();
    assert_ne!(of("e"), of("a"));
}

#[test]
fn a_model_needs_nothing_else() {
    let rows: [(f64, &str, &str, f64); 6] = [
        (1.0, "u", "a", 1.0),
        (2.0, "v", "a", -1.0),
        (4.0, "u", "a", 1.0),
        (3.0, "v", "b", 1.0),
        (0.5, "w", "b", -1.0),
        (2.5, "u", "b", -1.0),
    ];
    let mut table = "x,c,g,y\n".to_owned();
    for (x, c, g, y) in rows {
        table += &format!("{x},{c},{g},{}\n", if y > 0.0 { "yes" } else { "no" });
    }
    let folder = Folder::with(table);
    folder.prints(
        "fit t.csv --target y --groups g --group-features drop --holdout 0 --solver smd-m --rounds 200 \
         --seed 3 --quiet --out out",
    );
    let (model, summary) = (folder.json("out/model.json"), folder.json("out/summary.json"));
    assert_eq!(model["format"], 2);
    assert_eq!(model["gdro"], env!("CARGO_PKG_VERSION"));
    assert_eq!(model["seed"], 3);
    assert_eq!(model["grouping"]["names"], serde_json::json!(["a", "b"]));
    assert_eq!(model["job"]["training"]["rounds"], 200);
    assert_eq!(model["job"]["training"]["loss"], "logistic");
    assert_eq!(model["features"], serde_json::json!(["x", "c=u", "c=v", "c=w"]));
    assert_eq!(model["target"]["positive"], "yes");

    let weights: Vec<f64> = model["weights"].as_array().unwrap().iter().map(number).collect();
    let column = |i: usize| &model["encoding"]["columns"][i];
    let (mean, deviation) = (number(&column(0)["mean"]), number(&column(0)["deviation"]));
    let levels = column(1)["levels"].as_array().unwrap();
    for (at, group) in ["a", "b"].into_iter().enumerate() {
        let members: Vec<_> = rows.iter().filter(|r| r.2 == group).collect();
        let losses = members.iter().map(|(x, c, _, y)| {
            let level = levels.iter().position(|l| l == c).unwrap();
            let score = weights[0] * (x - mean) / deviation
                + weights[1 + level]
                + number(&model["intercepts"][0]);
            (-y * score).exp().ln_1p()
        });
        let risk = losses.sum::<f64>() / members.len() as f64;
        let found = number(&summary["groups"][at]["train_risk"]);
        assert!((risk - found).abs() < 1e-12, "{group}: {risk} {found}");
    }
}

#[test]
fn the_order_of_the_rows_does_not_change_ordinary_training() {
    let table = common::people(60);
    let (header, rows) = table.split_once('\n').unwrap();
    let mut reversed: Vec<&str> = rows.lines().collect();
    reversed.reverse();
    let (folder, other) =
        (Folder::with(&table), Folder::with(format!("{header}\n{}\n", reversed.join("\n"))));
    let arguments = format!("{} --holdout 0", &FIT["fit ".len()..]);
    let (a, b) = (folder.summary(&arguments), other.summary(&arguments));
    for model in ["erm", "balanced"] {
        for group in 0..2 {
            let (a, b) = (&a[model]["groups"][group], &b[model]["groups"][group]);
            assert_eq!((&a["name"], &a["n"]), (&b["name"], &b["n"]));
            assert!((number(&a["train_risk"]) - number(&b["train_risk"])).abs() < 1e-6);
        }
    }
}

#[test]
fn quiet_is_silent_and_json_is_alone_with_it() {
    let folder = Folder::people();
    let output = folder.run(&format!("{FIT} --quiet"));
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    let output = folder.run(&format!("{FIT} --quiet --json"));
    assert!(output.stderr.is_empty());
    serde_json::from_slice::<Value>(&output.stdout).unwrap();
}

#[test]
fn tables_show_both_parts_and_every_group() {
    let folder = Folder::people();
    let output = folder.run(&format!("{FIT} --train --out out"));
    let (shown, said) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
    for text in [
        "Rows held out",
        "Training rows",
        "worst: ",
        "largest risk, least accuracy",
        "mean over rows",
        "mean over groups",
        "accuracy",
        "balanced",
        "ERM",
        "gdro",
        "smd-m: 300 rounds, 600 samples",
        "wrote model.json, summary.json and trace.jsonl to out",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(said.starts_with("60 rows (12 held out), "), "{said}");
    assert!(said.contains("2 groups  rows  positive"), "{said}");
    let shown = folder.prints(&format!("{FIT} --holdout 0"));
    assert!(!shown.contains("Rows held out"), "{shown}");
    assert!(shown.contains("nothing was written: give --out DIR"), "{shown}");
}

#[test]
fn tables_are_no_wider_than_the_terminal() {
    let mut table = "x,g,y\n".to_owned();
    for i in 0..40 {
        let name = ["short", "a group with a name that is much too long for any terminal"][i % 2];
        table += &format!("{},{name},{}\n", i % 7, (i / 2) % 2);
    }
    let folder = Folder::with(table);
    for width in [40, 60, 80, 100] {
        let mut command = folder.command(&format!("{FIT} --out out"));
        let output = command.env("COLUMNS", width.to_string()).output().unwrap();
        let text = String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output);
        for line in text.lines() {
            // A single word, such as a name in a note, may be longer.
            assert!(line.chars().count() <= width || !line.contains("──"), "{width}: {line}");
        }
        assert!(text.contains('…') && text.contains("short"), "{text}");
    }
}

#[test]
fn control_characters_in_names_do_not_reach_the_terminal() {
    let folder = Folder::with("x,g,y\n1,\x1b[31mred,0\n2,\x1b[31mred,1\n3,b,0\n4,b,1\n5,b,1\n");
    let output = folder.run(FIT);
    assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b));
    assert!(output.status.success());
}

#[cfg(unix)]
#[test]
fn a_reader_who_leaves_is_no_error() {
    let folder = Folder::people();
    for redirect in ["2>/dev/null | head -1", "2>&1 | head -1", "--json 2>&1 | true"] {
        let program = env!("CARGO_BIN_EXE_gdro");
        let script = format!("{{ '{program}' {FIT} {redirect}; }} 2>errors; echo done");
        let script = script.replacen(redirect, &format!("{redirect} >shown"), 1);
        let mut command = std::process::Command::new("sh");
        let output = command.arg("-c").arg(script).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success());
        assert!(!(folder.read("errors") + &folder.read("shown")).contains("panicked"));
    }
    // Standard error that is closed stops nothing.
    let script = format!("'{}' {FIT} --out out >/dev/null 2>&-", env!("CARGO_BIN_EXE_gdro"));
    let mut command = std::process::Command::new("sh");
    assert!(command.arg("-c").arg(script).current_dir(folder.path()).status().unwrap().success());
    assert!(folder.path().join("out/model.json").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure_of_the_machine() {
    let folder = Folder::people();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = folder.command(&format!("{FIT} --json")).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("error: cannot print: "), "{}", stderr(&output));
}

#[test]
fn help_and_version_are_no_errors() {
    let folder = Folder::new();
    for (arguments, code, text) in [
        ("--help", 0, "Usage: gdro [COMMAND]"),
        ("fit --help", 0, "--objective <OBJECTIVE>"),
        ("fit -h", 0, "--help-all"),
        ("fit --help-all", 0, "--penalize-intercept"),
        ("select --help-all", 0, "(Algorithm 1)"),
        ("help fit", 0, "--penalize-intercept"),
        ("--version", 0, "gdro "),
        ("", 0, "gdro example island"),
    ] {
        let output = folder.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments}");
        let all = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
        assert!(all.contains(text), "{arguments}: {all}");
    }
    assert!(folder.refused("fit t.csv --rouns 5").contains("--rounds"));
    assert!(folder.refused("fitt").contains("fit"));
}

/// Nothing that is there is lost: neither an input of the command, nor what is no file.
#[cfg(unix)]
#[test]
fn outputs_replace_nothing_but_files() {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = Folder::people();
    folder.prints(&format!("{FIT} --out run --quiet"));
    let (table, model) = (folder.read("t.csv"), folder.read("run/model.json"));
    for arguments in [
        "predict run t.csv --out t.csv",
        "predict run t.csv --out ./run/../t.csv",
        "predict run t.csv --out run/model.json",
        "predict run ?.csv --out t.csv",
        "export run --out run/model.json",
    ] {
        let said = folder.refused(arguments);
        assert!(said.contains("is an input and would be overwritten"), "{arguments}: {said}");
    }
    assert_eq!((folder.read("t.csv"), folder.read("run/model.json")), (table, model));

    symlink("t.csv", folder.path().join("link.csv")).unwrap();
    symlink("elsewhere", folder.path().join("dangling")).unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (name, found) in [
        ("link.csv", "is an input"),
        ("dangling", "found a symbolic link"),
        ("pipe", "found a device, pipe or socket"),
        ("/dev/null", "found a device, pipe or socket"),
        ("run", "found a folder"),
    ] {
        let said = folder.refused(&format!("predict run t.csv --out {name}"));
        assert!(said.contains(found), "{name}: {said}");
    }
    assert!(folder.path().join("pipe").exists() && folder.path().join("link.csv").is_symlink());

    // A link in the place of a file of a run is refused before any work is done.
    let before = folder.read("run/summary.json");
    std::fs::remove_file(folder.path().join("run/trace.jsonl")).unwrap();
    symlink("../t.csv", folder.path().join("run/trace.jsonl")).unwrap();
    let said = folder.refused(&format!("{FIT} --seed 9 --out run --quiet"));
    assert!(said.contains("trace.jsonl: expected the name of a file, found a symbolic"), "{said}");
    assert_eq!(folder.read("run/summary.json"), before);
    std::fs::remove_file(folder.path().join("run/trace.jsonl")).unwrap();

    // A file that is replaced keeps its permissions; a new one has the usual ones.
    let mode = |name: &str| folder.path().join(name).metadata().unwrap().permissions().mode();
    folder.prints("predict run t.csv --out p.csv");
    assert_eq!(mode("p.csv"), mode("t.csv"));
    std::fs::set_permissions(folder.path().join("p.csv"), Permissions::from_mode(0o640)).unwrap();
    folder.prints("predict run t.csv --out p.csv");
    assert_eq!(mode("p.csv") & 0o777, 0o640);
    assert!(folder.list().iter().all(|name| !name.ends_with(".tmp")), "{:?}", folder.list());
}
