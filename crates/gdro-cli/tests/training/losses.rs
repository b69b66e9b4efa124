//! Losses by name: what is read, refused, saved and used.

use crate::common::{Folder, number, people};

/// `x`, two groups, a number `v` with a few far out, and three classes `c`.
fn numbers() -> String {
    let mut text = "x,g,v,c\n".to_owned();
    for i in 0..80 {
        let x = (i * 37 % 23) as f64 / 10.0;
        let far = if i % 11 == 0 { 9.0 } else { 0.0 };
        let v = if i % 3 == 0 { 2.0 * x + far } else { 1.0 - x + (i % 5) as f64 / 5.0 };
        text += &format!("{x},{},{v},c{}\n", if i % 3 == 0 { "a" } else { "b" }, i % 3);
    }
    text
}

#[test]
fn names_are_settled_and_saved() {
    let (labels, values) = (Folder::with(people(60)), Folder::with(numbers()));
    for (folder, target, given, settled) in [
        (&labels, "y", "hinge", "hinge"),
        (&labels, "y", "smoothed-hinge", "smoothed-hinge:1"),
        (&labels, "y", "smoothed-hinge:0.5", "smoothed-hinge:0.5"),
        (&values, "v", "absolute", "absolute"),
        (&values, "v", "huber", "huber:1.35"),
        (&values, "v", "huber:2", "huber:2"),
        (&values, "v", "quantile:0.9", "quantile:0.9"),
        (&values, "c", "softmax", "softmax"),
    ] {
        let ignore = if target == "c" { "--ignore v" } else { "" };
        let ignore = if target == "v" { "--ignore c" } else { ignore };
        let fit = format!("t.csv --target {target} --groups g --loss {given} {ignore}");
        let out = settled.replace(':', "-");
        let summary = folder.summary(&format!("{fit} --solver exact --out {out}"));
        let certificate = &summary["certificate"];
        assert!(number(&certificate["relative_gap"]) <= 1e-6, "{given}: {certificate}");
        let model = folder.json(&format!("{out}/model.json"));
        assert_eq!(model["loss"], settled);
        assert_eq!(model["job"]["training"]["loss"], settled);
        // The saved model is used with its own loss.
        let predicted = folder.prints(&format!("predict {out} t.csv"));
        assert_eq!(predicted.lines().count(), if target == "y" { 61 } else { 81 });
        let header = predicted.lines().next().unwrap();
        match target {
            "y" => assert_eq!(header, "prediction,score"),
            "v" => assert_eq!(header, "prediction"),
            _ => assert!(header.starts_with("prediction,probability of "), "{header}"),
        }
        folder.prints(&format!("evaluate {out} t.csv"));
        let again = folder.prints(&format!("certify {out} t.csv --json"));
        let again: serde_json::Value = serde_json::from_str(&again).unwrap();
        assert_eq!(again["upper"], certificate["upper"], "{given}");
        assert!(folder.prints(&format!("show {out}")).contains(&format!("{settled} loss")));
        folder.prints(&format!("fit {fit} --solver smd-m --rounds 200"));
        folder.prints(&format!("fit {fit} --solver online-1 --rounds 200"));
    }
}

/// The robust median of a table of known medians: every constant between is judged by the far one.
#[test]
fn absolute_loss_balances_two_medians() {
    let mut table = "z,g,v\n".to_owned();
    for i in 0..30 {
        table += &format!("0,a,{}\n", 1.0 + 0.01 * f64::from(i % 3));
        table += &format!("0,b,{}\n", 3.0 + 0.01 * f64::from(i % 3));
    }
    let folder = Folder::with(table);
    let fit = "t.csv --target v --groups g --group-features drop --holdout 0 --solver exact";
    let summary = folder.summary(&format!("{fit} --loss absolute --objective max"));
    assert!((number(&summary["certificate"]["upper"]) - 1.0).abs() < 1e-6, "{summary}");
}

#[test]
fn what_is_refused() {
    let (labels, values) = (Folder::with(people(60)), Folder::with(numbers()));
    let fit = "fit t.csv --groups g";
    for (loss, part) in [
        ("huber:-1", "huber = -1: expected a finite number above 0"),
        ("huber:x", "expected a number after `huber:`"),
        ("quantile", "such as quantile:0.9"),
        ("quantile:1.5", "quantile = 1.5: expected a number between 0 and 1"),
        ("hinge:1", "hinge takes no number"),
        ("median", "expected logistic, hinge or smoothed-hinge[:G] (two labels), softmax"),
    ] {
        let said = values.refused(&format!("{fit} --target v --loss {loss}"));
        assert!(said.starts_with("--loss: ") && said.contains(part), "{loss}: {said}");
    }
    let said = values.refused(&format!("{fit} --target c --ignore v --loss hinge"));
    assert!(said.contains("`c`"), "{said}");
    let said = labels.refused(&format!("{fit} --target y --loss absolute"));
    assert!(said.contains("`y`"), "{said}");
    // Steps of smpa-m need a bound on the curvature.
    let smpa = format!("{fit} --target y --solver smpa-m --budget all");
    let said = labels.refused(&format!("{smpa} --loss hinge"));
    assert!(said.contains("not smooth") && said.contains("smoothed-hinge"), "{said}");
    labels.prints(&format!("{smpa} --loss smoothed-hinge"));
}

/// Needs tables that are not part of the repository.
#[test]
fn regression_by_patient_and_by_state() {
    let table = |set, file| crate::data::folder(set).map(|folder| folder.join(file));
    let Some(patients) = table("parkinsons_tele", "parkinsons_updrs.csv.gz") else { return };
    let Some(communities) = table("communities_crime", "communities.csv.gz") else { return };
    let (patients, communities) = (patients.display(), communities.display());
    let folder = Folder::new();
    let drop = "--group-features drop --solver exact --objective max";
    for fit in [
        format!(
            "{patients} --target total_UPDRS --groups subject# --ignore motor_UPDRS {drop} --loss absolute"
        ),
        format!(
            "{communities} --target ViolentCrimesPerPop --groups state --ignore county,community,communityname,fold --missing drop --loss quantile:0.9 {drop}"
        ),
    ] {
        let certificate = &folder.summary(&fit)["certificate"];
        assert!(number(&certificate["relative_gap"]) <= 1e-6, "{fit}: {certificate}");
    }
}
