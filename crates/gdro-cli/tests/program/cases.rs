//! Faults that people met in other tools for this job.

use crate::common::{FIT, Folder, number, stderr};
use serde_json::{Value, json};

/// Arguments without `fit`.
fn fit(options: &str) -> String {
    format!("t.csv --target y --groups g --solver smd-m --rounds 200 {options}")
}

fn names(summary: &Value) -> Vec<&str> {
    summary["groups"].as_array().unwrap().iter().map(|g| g["name"].as_str().unwrap()).collect()
}

#[test]
fn case_1_huge_losses_leave_finite_weights() {
    let mut table = "x,g,y\n".to_owned();
    for i in 0..20 {
        let b = i % 2 == 1;
        table +=
            &format!("{},{},{}\n", i % 5, if b { "b" } else { "a" }, if b { 200 + i } else { i });
    }
    let folder = Folder::with(table);
    let summary = folder.summary(&fit("--step-q 1e6 --loss squared"));
    for group in 0..2 {
        assert!(number(&summary["groups"][group]["weight"]).is_finite());
    }
    assert!(number(&summary["max_risk"]).is_finite());
}

#[test]
fn case_4_equal_losses_keep_the_weights_uniform() {
    let mut table = "x,g,y\n".to_owned();
    for i in 0..16 {
        // The label tells nothing about x, in each group alike.
        table += &format!("{},{},{}\n", (i / 2) % 2, ["a", "b"][i / 8], i % 2);
    }
    let folder = Folder::with(table);
    let summary = folder.summary(&fit("--holdout 0 --step-w 1e-12 --group-features drop"));
    for group in 0..2 {
        assert!((number(&summary["groups"][group]["weight"]) - 0.5).abs() < 1e-9);
    }
    let shown =
        folder.prints(&format!("fit {}", fit("--holdout 0 --step-w 1e-12 --group-features drop")));
    assert!(shown.contains("no group dominates"), "{shown}");
}

#[test]
fn case_7_group_labels_are_labels() {
    let mut table = "x,g,y\n".to_owned();
    for (i, g) in ["3", "3", "3", "3", "0", "0", "0", "1.0", "1.0", "7"].into_iter().enumerate() {
        table += &format!("{},{g},{}\n", i % 4, i % 2);
    }
    let summary = Folder::with(table).summary(&fit(""));
    assert_eq!(names(&summary), ["3", "0", "1.0", "7"]);
    let sizes: Vec<_> = (0..4).map(|i| &summary["groups"][i]["n"]).collect();
    assert_eq!(sizes, [4, 3, 2, 1]);
    // A single row is for training.
    assert_eq!(summary["groups"][3]["n_test"], 0);
    assert!(summary["groups"][3]["test_risk"].is_null());
}

#[test]
fn case_8_missing_group_labels() {
    let table = "x,g,y\n1,a,0\n2,a,1\n3,a,0\n4,a,1\n5,b,0\n6,b,1\n7,,0\n";
    let folder = Folder::with(table);
    let found = folder.refused(&format!("fit {}", fit("")));
    assert!(found.starts_with("t.csv:8: column `g`: the group label is missing"), "{found}");
    assert!(found.contains("--missing-group own|drop"), "{found}");
    assert_eq!(names(&folder.summary(&fit("--missing-group drop"))), ["a", "b"]);
    let own = folder.summary(&fit("--missing-group own"));
    assert_eq!(names(&own), ["a", "b", "(missing)"]);
}

#[test]
fn case_9_groups_are_the_combinations_that_occur() {
    let table = "x,g,h,y\n1,a,u,0\n2,a,v,1\n3,a,u,1\n4,b,u,0\n5,b,u,1\n";
    let summary = Folder::with(table)
        .summary("t.csv --target y --groups g,h --solver smd-m --rounds 20 --holdout 0");
    assert_eq!(names(&summary), ["a / u", "b / u", "a / v"]);
}

#[test]
fn case_10_a_group_in_one_part_only_has_a_dash_in_the_other() {
    let mut table = "x,g,y\n".to_owned();
    (0..20).for_each(|i| table += &format!("{},a,{}\n", i % 6, i % 2));
    table += "3,single,1\n";
    let folder = Folder::with(table);
    let summary = folder.summary(&fit(""));
    assert_eq!(summary["groups"][1]["name"], "single");
    assert!(summary["groups"][1]["test_accuracy"].is_null());
    // The means over groups do not count it as 0.
    assert_eq!(summary["test_avg_risk_groups"], summary["groups"][0]["test_risk"]);
    let shown = folder.prints(&format!("fit {}", fit("")));
    let line = shown.lines().find(|l| l.starts_with("single")).unwrap();
    assert!(line.contains('–'), "{line}");
}

#[test]
fn case_11_four_thousand_groups() {
    let mut table = "x,g,y\n".to_owned();
    for i in 0..12_000 {
        table += &format!("{},g{},{}\n", i * 31 % 101, i % 4000, i * 17 % 3 % 2);
    }
    let folder = Folder::with(table);
    let arguments =
        "fit t.csv --target y --groups g --group-features drop --solver smd-1 --rounds 5000";
    let start = std::time::Instant::now();
    let output = folder.run(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    let shown = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(shown.contains("the 30 worst of 4,000 groups"), "{shown}");
    assert!(shown.lines().count() < 64, "{}", shown.lines().count());
    let said = stderr(&output);
    assert!(said.contains("4,000 groups") && said.contains("… and 3,990 more"), "{said}");
    // The worst come first.
    let risks: Vec<f64> = shown
        .lines()
        .skip_while(|l| !l.starts_with("Rows held out"))
        .filter(|l| l.starts_with('g') && !l.starts_with("group"))
        .take(30)
        .map(|l| l.split_whitespace().nth(4).unwrap().parse().unwrap())
        .collect();
    assert!(risks.len() == 30 && risks.is_sorted_by(|a, b| a >= b), "{risks:?}");
    let all = folder.prints(&format!("{arguments} --all-groups"));
    assert!(all.lines().count() > 4000);
}

#[test]
fn case_12_labels_in_all_their_forms() {
    for (negative, positive) in [
        ("0", "1"),
        ("-1", "1"),
        ("no", "yes"),
        (" <=50K.", " >50K."),
        ("false", "true"),
        ("False", "True"),
    ] {
        let mut table = "x,g,y\n".to_owned();
        for i in 0..24 {
            let label = if i * 7 % 5 > 2 { positive } else { negative };
            table += &format!("{},{},{label}\n", i % 5, ["a", "b"][i % 2]);
        }
        let folder = Folder::with(table);
        let output = folder.run(&format!("fit {}", fit("")));
        let said = stderr(&output);
        let clean = positive.trim().trim_end_matches('.');
        assert!(output.status.success(), "{said}");
        assert!(said.contains(&format!("`{clean}` (positive)")), "{said}");
        let clean = negative.trim().trim_end_matches('.');
        let output = folder
            .command(&format!("fit {}", fit("")))
            .args(["--positive", clean])
            .output()
            .unwrap();
        assert!(stderr(&output).contains(&format!("`{clean}` (positive)")), "{}", stderr(&output));
    }
}

#[test]
fn case_13_a_constant_feature_is_harmless() {
    let mut table = "x,c,k,g,y\n".to_owned();
    (0..24)
        .for_each(|i| table += &format!("{},5,same,{},{}\n", i % 5, ["a", "b"][i % 2], i / 3 % 2));
    let folder = Folder::with(&table);
    let output = folder.run(&format!("fit {} --out out", fit("")));
    assert!(output.status.success());
    assert!(stderr(&output).contains("feature `c` has one value only"), "{}", stderr(&output));
    let plain = Folder::with(table.replace(",c,k,", ",").replace(",5,same,", ","));
    let (a, b) = (folder.summary(&fit("")), plain.summary(&fit("")));
    assert!((number(&a["erm"]["max_risk"]) - number(&b["erm"]["max_risk"])).abs() < 1e-6);
}

#[test]
fn case_14_separable_rows_have_finite_weights() {
    let mut table = "x,g,y\n".to_owned();
    (0..24).for_each(|i| table += &format!("{i},{},{}\n", ["a", "b"][i % 2], u8::from(i > 11)));
    let folder = Folder::with(table);
    for options in
        ["--ball 5", "--ball 5 --l2 0 --penalize-intercept", "", "--ball 1e6", "--l2 1e-12"]
    {
        let summary = folder.summary(&fit(&format!("{options} --out out")));
        for model in [&summary, &summary["erm"], &summary["balanced"]] {
            assert!(number(&model["max_risk"]).is_finite(), "{options}");
        }
        let model = folder.json("out/model.json");
        let norm: f64 =
            model["weights"].as_array().unwrap().iter().map(|w| number(w).powi(2)).sum();
        assert!(norm.is_finite(), "{options}");
        if options.contains("--ball 5") {
            assert!(norm.sqrt() <= 5.0 + 1e-9, "{norm}");
        }
    }
}

#[test]
fn case_16_classes_are_never_squeezed_into_two() {
    let mut table = "x,g,y\n".to_owned();
    (0..30).for_each(|i| {
        table += &format!("{},{},{}\n", i % 6, ["a", "b"][i % 2], ["u", "v", "w"][i % 3])
    });
    let folder = Folder::with(table);
    let found = folder.refused(&format!("fit {}", fit("--loss logistic")));
    assert!(found.contains("3 labels (`u`, `v`, `w`)") && found.contains("softmax"), "{found}");
    folder.prints(&format!("fit {}", fit("--loss softmax --quiet --out out")));
    let model = folder.json("out/model.json");
    assert_eq!((&model["loss"], &model["outputs"]), (&json!("softmax"), &json!(3)));
    // Without a word, too.
    assert_eq!(folder.summary(&fit(""))["groups"][0]["name"], "a");
}

#[test]
fn case_17_a_bad_cell_and_the_texts_that_mean_missing() {
    let mut table = "x,g,y\n".to_owned();
    (0..20).for_each(|i| table += &format!("{},{},{}\n", i % 5, ["a", "b"][i % 2], i / 2 % 2));
    let folder = Folder::with(format!("{table}\"12,5\",a,1\n"));
    let arguments = fit("");
    let found = folder.refused(&format!("fit {arguments}"));
    assert!(found.starts_with("t.csv:22: column `x`: found `12,5`, expected a number"), "{found}");
    // The advice works as it is printed.
    assert!(found.contains("--na '\"12,5\"'"), "{found}");
    let na = |command: &mut std::process::Command| {
        let output = command.args(["--na", "\"12,5\",n/a"]).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let (code, said) = na(&mut folder.command(&format!("fit {arguments}")));
    assert_eq!(code, Some(2));
    assert!(
        said.contains("t.csv:22: column `x`: the cell is missing")
            && said.contains("--missing drop"),
        "{said}"
    );
    let (code, said) = na(&mut folder.command(&format!("fit {arguments} --missing drop")));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 of 21 rows left out because cells are missing: `x` in 1"), "{said}");
}

#[test]
fn case_18_columns_with_two_roles_are_decided_and_shown() {
    let folder = Folder::people();
    let output = folder.run(FIT);
    assert!(stderr(&output).contains("group columns are features too: `g`"), "{}", stderr(&output));
    folder.prints(&format!("{FIT} --group-features drop --quiet --out out"));
    let features = folder.json("out/model.json")["features"].clone();
    assert_eq!(features, json!(["x", "z"]));
    let found = folder.refused("fit t.csv --target y --groups g --ignore y");
    assert!(found.starts_with("--ignore: `y`"), "{found}");
}

#[test]
fn case_19_both_averages_are_shown_and_labelled() {
    // Without a usable feature all rows get the same label: right for 90 of 100 and for 1 of 10.
    let mut table = "x,g,y\n".to_owned();
    (0..100).for_each(|i| table += &format!("1,a,{}\n", u8::from(i < 90)));
    (0..10).for_each(|i| table += &format!("1,b,{}\n", u8::from(i < 1)));
    let folder = Folder::with(table);
    let arguments = "fit t.csv --target y --groups g --group-features drop --holdout 0 --objective average --solver smd-m --rounds 2000 --step-w 100";
    let shown = folder.prints(arguments);
    let line = |start: &str| shown.lines().find(|l| l.starts_with(start)).unwrap().to_owned();
    assert!(line("mean over rows").contains("82.7 %"), "{shown}");
    assert!(line("mean over groups").contains("50.0 %"), "{shown}");
    assert!(line("largest risk, least accuracy").contains("10.0 %"), "{shown}");
    // Case 22: one label for every row is said aloud, in the summary too.
    assert!(shown.contains("warning: the model predicts one class for every row"), "{shown}");
    let summary = folder.summary(&arguments["fit ".len()..]);
    assert!(summary["warnings"].to_string().contains("one class"), "{summary}");
    assert!(summary["erm"]["warnings"].to_string().contains("one class"), "{summary}");
}

#[test]
fn case_23_ordinary_training_stands_beside() {
    let folder = Folder::people();
    let summary = folder.summary(&fit(""));
    let risk = |model: &str, field: &str| number(&summary[model][field]);
    assert!(risk("erm", "avg_risk_rows") <= number(&summary["avg_risk_rows"]) + 1e-9);
    assert!(risk("balanced", "avg_risk_groups") <= number(&summary["avg_risk_groups"]) + 1e-9);
    // The same split.
    for model in ["erm", "balanced"] {
        for group in 0..2 {
            for field in ["name", "n", "n_train", "n_test"] {
                assert_eq!(summary[model]["groups"][group][field], summary["groups"][group][field]);
            }
        }
    }
}

#[test]
fn a_run_that_is_behind_ordinary_training_is_warned_of() {
    let folder = Folder::people();
    let options = "--step-w 1e-6 --holdout 0";
    let shown = folder.prints(&format!("fit {}", fit(options)));
    assert!(
        shown.contains("warning: the worst group does better under ordinary training"),
        "{shown}"
    );
    let summary = folder.summary(&fit(options));
    assert!(summary["warnings"][0].as_str().unwrap().contains("worst group"), "{summary}");
}

#[test]
fn regression_and_many_classes_have_readable_tables() {
    let mut table = "x,g,y\n".to_owned();
    for i in 0..60 {
        table += &format!(
            "{},{},{}\n",
            i % 9,
            ["a", "b", "c"][i % 3],
            1e6 * f64::from(i as u32 % 9) + i as f64
        );
    }
    let folder = Folder::with(table);
    let shown = folder.prints(&format!("fit {}", fit("")));
    assert!(shown.contains("MSE") && !shown.contains("accuracy"), "{shown}");
    // One way of writing per column.
    let cells: Vec<&str> = shown
        .lines()
        .filter(|l| l.starts_with("a ") || l.starts_with("b ") || l.starts_with("c "))
        .map(|l| l.split_whitespace().nth(2).unwrap())
        .collect();
    assert!(cells.iter().all(|c| c.contains('e') == cells[0].contains('e')), "{cells:?}");
}
