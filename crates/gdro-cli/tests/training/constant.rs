//! Models that are no better than a prediction without features.

use crate::common::{Folder, number};

/// Groups of one to three rows, with labels that a feature predicts well and groups do not.
fn tiny(groups: u32) -> String {
    let mut table = String::from("g,x,y\n");
    for i in 0..groups {
        for j in 0..=i % 3 {
            let x = f64::from((i * 29 + j * 13) % 41) - 20.0;
            // One of nine rows is not what x says.
            let positive = (x > 0.0) != ((i * 5 + j * 7) % 9 == 0);
            table += &format!("g{i},{x},{}\n", u8::from(positive));
        }
    }
    table
}

const FIT: &str = "t.csv --target y --groups g --group-features drop --holdout 0 --objective max";

#[test]
fn an_optimum_no_better_than_a_coin_is_called_that() {
    let folder = Folder::with(tiny(200));
    let summary = folder.summary(FIT);
    let coin = std::f64::consts::LN_2;
    assert!((number(&summary["max_risk"]) - coin).abs() < 1e-3, "{}", summary["max_risk"]);
    // Ordinary training learns something, and this model nothing.
    assert!(number(&summary["erm"]["avg_risk_rows"]) < 0.6);
    let constant = &summary["constant"];
    assert!((number(&constant["objective"]) - coin).abs() < 1e-6, "{constant}");
    assert_eq!(constant["as_good"], true);
    let deciding = constant["deciding"].as_array().unwrap();
    assert!(!deciding.is_empty());
    assert!(deciding.iter().all(|g| (1..=3).contains(&g[1].as_u64().unwrap())), "{constant}");

    let text = folder.prints(&format!("fit {FIT} --report p.html"));
    for text in [text.replace("\n  ", " "), folder.read("p.html")] {
        for part in
            ["no better than a coin", "no model of these features is", "--min-group", "top-k"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    // What the warning advises helps.
    let merged = folder.summary(&format!("{FIT} --min-group 4 --small-groups merge"));
    assert_eq!(merged["constant"]["as_good"], false, "{}", merged["constant"]);
}

/// Weights of the groups that are those of another game do not say which ones decide.
#[test]
fn the_groups_that_decide_are_those_of_the_largest_risk() {
    let mut table = String::from("g,x,y\n");
    for i in 0..660_i32 {
        let (x, is_small) = (i * 37 % 41 - 20, i % 11 == 0);
        let positive = (x > 0) != is_small;
        table +=
            &format!("{},{x},{}\n", if is_small { "small" } else { "large" }, u8::from(positive));
    }
    let folder = Folder::with(table);
    let fit = format!("{FIT} --ball 2 --rounds 20000");
    let summary = folder.summary(&format!("{fit} --solver smd-r"));
    assert_eq!(summary["constant"]["as_good"], true);
    assert_eq!(summary["constant"]["deciding"], serde_json::json!([["small", 60]]));
    let said = folder.run(&format!("fit {fit} --solver smd-r"));
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("smd-r plays the weighted game of the paper"), "{said}");
    let said = folder.run(&format!("fit {fit} --solver smd-m"));
    assert!(!String::from_utf8(said.stderr).unwrap().contains("weighted game"));
}

/// The best constant of the objective for every loss: where the one feature is noise to every group,
/// the model is as good as that, and with a feature that tells it is not.
#[test]
fn every_loss_has_its_constant() {
    let mut table = String::from("g,noise,tells,n,label,class\n");
    for i in 0..400u32 {
        let n = f64::from(i * 31 % 97) / 97.0;
        let noise = if i % 4 < 2 { 1 } else { -1 };
        let (group, class) =
            (["a", "b"][(i % 2) as usize], ["p", "q", "r"][(i * 31 % 97 % 3) as usize]);
        table += &format!("{group},{noise},{n},{},{},{class}\n", 10.0 + 3.0 * n, u8::from(n > 0.5));
    }
    let folder = Folder::with(table);
    for (loss, target) in [
        ("logistic", "label"),
        ("hinge", "label"),
        ("smoothed-hinge", "label"),
        ("softmax", "class"),
        ("squared", "n"),
        ("absolute", "n"),
        ("huber", "n"),
        ("quantile:0.8", "n"),
    ] {
        let fit = |feature: &str| {
            let others: Vec<&str> = ["noise", "tells", "n", "label", "class"]
                .into_iter()
                .filter(|c| ![feature, target].contains(c))
                .collect();
            folder.summary(&format!(
                "t.csv --target {target} --groups g --group-features drop --holdout 0 --objective max \
                 --loss {loss} --ignore {}",
                others.join(",")
            ))
        };
        let noise = &fit("noise");
        assert_eq!(noise["constant"]["as_good"], true, "{loss}: {}", noise["constant"]);
        assert!(noise["warnings"].to_string().contains("no better than"), "{loss}");
        if loss != "softmax" {
            let tells = &fit("tells");
            assert_eq!(tells["constant"]["as_good"], false, "{loss}: {}", tells["constant"]);
        }
    }
}
