//! What certificates say when there is little to say.

use crate::common::{Folder, number, people, stderr};

/// 3,000 rows of two labels in three groups.
fn labels() -> String {
    let mut text = "a,b,g,y\n".to_owned();
    for i in 0..3000u64 {
        let noise =
            |k: u64| (i.wrapping_mul(6_364_136_223_846_793_005 + k) >> 33) as f64 / 2f64.powi(31);
        let (a, b) = (noise(12) - 0.5, noise(34_566) - 0.5);
        let up = a - b + noise(777_778) - 0.5 > 0.0;
        text += &format!("{a:.4},{b:.4},g{},{}\n", i % 3, if up { "yes" } else { "no" });
    }
    text
}

/// A tangent far from the optimum under a small ridge falls to −1e4 and below. No loss is below 0,
/// and a bound that says no more is not printed.
#[test]
fn no_bound_is_below_the_losses() {
    let folder = Folder::with(labels());
    for loss in ["hinge", "logistic", "squared"] {
        let target = if loss == "squared" { "a --ignore y" } else { "y" };
        let fit = format!(
            "t.csv --target {target} --groups g --stream --loss {loss} --solver smd-m --rounds 50 \
             --l2 1e-7 --robust-only --step-w 100"
        );
        let summary = folder.summary(&format!("{fit} --out {loss}"));
        let certificate = &summary["certificate"];
        let (lower, upper) = (number(&certificate["lower"]), number(&certificate["upper"]));
        assert!((0.0..=upper).contains(&lower), "{loss}: {certificate}");
        if loss == "hinge" {
            assert_eq!(lower, 0.0);
            for said in [folder.prints(&format!("fit {fit}")), folder.prints("show hinge")] {
                let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(said.contains("no useful bound was found"), "{said}");
                assert!(!said.contains("go below"), "{said}");
            }
        }
    }
}

/// Weights that have no digits left, or no room to be added, are refused where they stand.
#[test]
fn weights_beyond_what_can_be_added_are_refused() {
    for (weight, from) in [("1e-320", 4), ("3e-308", 2), ("1e300", 7)] {
        let mut text = String::new();
        for (line, row) in people(30).lines().enumerate() {
            let cell = match line {
                0 => "weight",
                _ if line + 1 >= from => weight,
                _ => "1",
            };
            text += &format!("{row},{cell}\n");
        }
        let folder = Folder::with(text);
        let fit = "fit t.csv --target y --groups g --weight weight --holdout 0";
        let said = folder.refused(fit);
        let expected = "expected 0 or a number from 1e-290 to 1e290";
        assert!(said.contains(&format!("t.csv:{from}")) && said.contains(expected), "{said}");
    }
    // Far apart, and yet nothing is lost.
    let rows = people(60).replace("yes", "yes,1e-289").replace("no", "no,1e200");
    let folder = Folder::with(rows.replacen('y', "y,weight", 1));
    let fit = "t.csv --target y --groups g --weight weight --holdout 0 --solver exact";
    let output = folder.run(&format!("fit {fit} --json"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let certificate = &folder.summary(fit)["certificate"];
    assert!(number(&certificate["lower"]) <= number(&certificate["upper"]), "{certificate}");
}
