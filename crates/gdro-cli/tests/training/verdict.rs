//! Whether a trained model does better than ERM on held-out rows: the words, which are the same
//! everywhere, and how often they are wrong on simulated tables.

use std::fmt::Write as _;

use crate::common::{Folder, number};
use gdro::sampling::{Rng, unit};
use rand::SeedableRng as _;
use serde_json::Value;

/// Which populations are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Five groups alike: there is nothing to gain.
    NoGain,
    /// In the training rows of the last group, which is the smallest, the features say the opposite of
    /// what they say in those of the others and in all that are held out.
    Harm,
    /// They say the opposite in its held-out rows, too.
    Gain,
}

/// A standard normal number, by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let (a, b) = (1.0 - unit(rng), unit(rng));
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

impl Kind {
    fn training_rows(self, group: usize) -> usize {
        if self != Kind::NoGain && group == 4 { 100 } else { 300 }
    }

    /// A table with so many rows of each group, for training or held out.
    fn table(self, held_out: bool, rows: impl Fn(usize) -> usize, rng: &mut Rng) -> String {
        let mut text = "x,z,g,y\n".to_owned();
        for group in 0..5 {
            let is_other = group == 4 && (self == Kind::Gain || self == Kind::Harm && !held_out);
            let sign = if is_other { -0.6 } else { 1.0 };
            for _ in 0..rows(group) {
                let (x, z) = (normal(rng), normal(rng));
                let up = unit(rng) < 1.0 / (1.0 + (-sign * (x + 0.5 * z)).exp());
                let label = if up { "yes" } else { "no" };
                let _ = writeln!(text, "{x:.4},{z:.4},g{group},{label}");
            }
        }
        text
    }

    /// What is said of models trained on so many tables: numbers of HELPED and of HURT.
    fn said(self, command: &str, held_out: usize, tables: u64) -> [usize; 2] {
        let folder = Folder::new();
        let mut said = [0; 2];
        for seed in 0..tables {
            let mut rng = Rng::seed_from_u64(7000 + seed);
            folder.file("t.csv", self.table(false, |group| self.training_rows(group), &mut rng));
            folder.file("new.csv", self.table(true, |_| held_out, &mut rng));
            let shown = folder.prints(&format!(
                "{command} t.csv --target y --groups g --holdout-file new.csv --seed {seed} --json"
            ));
            let shown: Value = serde_json::from_str(&shown).unwrap();
            let summary = shown.get("summary").unwrap_or(&shown);
            match summary["verdict"]["word"].as_str().unwrap() {
                "HELPED" => said[0] += 1,
                "HURT" => said[1] += 1,
                _ => {}
            }
        }
        println!("{command}, {self:?}, {held_out} rows a group: {said:?} of {tables}");
        said
    }
}

/// Of tables without a gain HELPED is said of few, and of those with one HURT; with many rows gain and
/// harm are seen.
fn check(command: &str, held_out: usize, tables: u64) {
    let few = (16 * tables as usize).div_ceil(200);
    let is_most = |said: usize| held_out < 3000 || 5 * said as u64 >= 4 * tables;
    assert!(Kind::NoGain.said(command, held_out, tables)[0] <= few);
    let [helped, hurt] = Kind::Harm.said(command, held_out, tables);
    assert!(helped <= few && is_most(hurt), "{helped} {hurt}");
    let [helped, hurt] = Kind::Gain.said(command, held_out, tables);
    assert!(hurt <= few && is_most(helped), "{helped} {hurt}");
}

const EXACT: &str = "fit --solver exact --l2 1e-4";

#[test]
fn verdicts_on_hard_gdro_are_seldom_wrong() {
    check(EXACT, 300, 8);
    check(EXACT, 3000, 3);
}

/// 200 tables each.
#[test]
#[ignore = "many minutes"]
fn verdicts_of_many_tables() {
    for command in [EXACT, "select --solver exact --grid 1e-4:1:5"] {
        for held_out in [300, 1000, 3000] {
            check(command, held_out, 200);
        }
    }
}

/// A folder with a table on which GDRO helps, trained with these options.
fn fitted(options: &str) -> (Folder, String) {
    let mut rng = Rng::seed_from_u64(1);
    let rows = |group: usize| 10 * Kind::Gain.training_rows(group);
    let folder = Folder::with(Kind::Gain.table(true, rows, &mut rng));
    let shown = folder.prints(&format!(
        "{EXACT} t.csv --target y --groups g --out run --report page.html {options}"
    ));
    (folder, shown)
}

fn lines(verdict: &Value) -> Vec<String> {
    let lines = verdict["text"].as_array().unwrap();
    lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_last_three_lines_are_those_of_summary_and_page() {
    for options in ["--holdout 0.5", "--holdout 0", "--holdout 0.5 --objective average"] {
        let (folder, shown) = fitted(options);
        let verdict = &folder.json("run/summary.json")["verdict"];
        let said = lines(verdict);
        let last: Vec<&str> = shown.lines().rev().take(3).collect();
        assert_eq!(last.into_iter().rev().collect::<Vec<_>>(), said);
        // An interval of the change where something changes: of ordinary training nothing does.
        let has_interval = shown.contains("gdro − ERM  ");
        assert_eq!(has_interval, options == "--holdout 0.5", "{shown}");
        assert!(said[0].starts_with(verdict["word"].as_str().unwrap()), "{said:?}");
        let page = folder.read("page.html").replace("<code dir=\"auto\">", "`");
        let page = page.replace("</code>", "`").replace("<strong>", "").replace("</strong>", "");
        let page = page.replace("&#39;", "'");
        for line in &said {
            // Sentences begin with a capital there.
            assert!(page.contains(&line[1..]), "{line}");
        }
        assert!(page.contains(&format!("data-word=\"{}\"", verdict["word"].as_str().unwrap())));
        let price = "the price for the worst group";
        assert_eq!(page.contains(price), verdict["word"] == "HELPED");
        assert_eq!(said[1].ends_with(", the price"), verdict["word"] == "HELPED");
    }
}

/// A model that is ordinary training differs from it by exactly nothing: on the page, in the verdict, on
/// later rows, and in a file whose baseline was trained by itself.
#[test]
fn ordinary_training_is_the_same_as_itself() {
    let zero = serde_json::json!([0.0, 0.0]);
    let check = |verdict: &Value, way: &str| {
        for key in ["difference", "low", "high", "average_cost"] {
            assert_eq!(verdict[key], 0.0, "{way}: {key} of {verdict}");
        }
        assert_eq!(verdict["model"], verdict["erm"], "{way}");
    };
    for options in ["--holdout-file new.csv", "--holdout 0.5 --solver smd-m --rounds 500"] {
        let options = format!("{options} --objective average --report page.html");
        let (folder, _) = trained(&options);
        check(&folder.json("run/summary.json")["verdict"], &options);
        let page = folder.read("page.html");
        let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        let intervals = data["change"]["interval"].as_array().unwrap();
        assert!(!intervals.is_empty() && intervals.iter().all(|of| *of == zero), "{intervals:?}");
        assert_eq!(data["models"][0]["risk"], data["models"][2]["risk"], "{options}");
        // As an earlier version wrote it.
        let mut model = folder.json("run/model.json");
        let weight = &mut model["baseline"]["weights"][0];
        *weight = (number(weight) + 1e-6).into();
        folder.file("old.json", model.to_string());
        for file in ["run", "old.json"] {
            check(&evaluated(&folder, &format!("{file} new.csv"))["verdict"], file);
        }
    }
}

#[test]
fn the_verdict_says_whom_it_helps_and_at_what_cost() {
    let (folder, shown) = fitted("--holdout 0.5");
    let summary = folder.json("run/summary.json");
    let verdict = &summary["verdict"];
    assert_eq!(verdict["word"], "HELPED", "{shown}");
    let worst = |of: &Value| {
        let groups = of["groups"].as_array().unwrap();
        let risk = |g: &&Value| number(&g["test_risk"]);
        let worst = groups.iter().max_by(|a, b| risk(a).total_cmp(&risk(b))).unwrap();
        (worst["name"].as_str().unwrap().to_owned(), risk(&worst))
    };
    for (key, of) in [("erm", &summary["erm"]), ("model", &summary)] {
        let (name, risk) = worst(of);
        assert_eq!((&verdict[key]["group"], number(&verdict[key]["risk"])), (&name.into(), risk));
    }
    let [low, high] = ["low", "high"].map(|end| number(&verdict[end]));
    let difference = number(&verdict["difference"]);
    assert!(low <= difference && difference <= high && high < 0.0);
    let cost =
        number(&summary["test_avg_risk_rows"]) - number(&summary["erm"]["test_avg_risk_rows"]);
    assert!((number(&verdict["average_cost"]) - cost).abs() < 1e-12 && cost > 0.0);
    // Who is clearly better and worse, the largest change first.
    let side = |sign: f64, end: usize| -> Value {
        let size = |g: &&Value| number(&g["test_risk_minus_erm"]["value"]).abs();
        let is_on = |g: &&Value| sign * number(&g["test_risk_minus_erm"]["interval"][end]) > 0.0;
        let groups = summary["groups"].as_array().unwrap().iter();
        let mut side: Vec<&Value> = groups.filter(is_on).collect();
        side.sort_by(|a, b| size(b).total_cmp(&size(a)));
        side.into_iter().map(|g| g["name"].clone()).collect()
    };
    assert_eq!(verdict["better"], side(-1.0, 1));
    assert_eq!(verdict["worse"], side(1.0, 0));
    assert_eq!(verdict["better"], serde_json::json!(["g4"]));
    let worse = verdict["worse"].as_array().unwrap();
    assert!(worse.len() > 1, "{worse:?}");
    assert_eq!(verdict["left_out"], serde_json::json!([]));
    let said = lines(verdict);
    assert!(said[0].contains("the worst group's risk falls from") && said[0].contains("95 %"));
    assert!(said[1].starts_with("of 5 groups, `g4` is clearly better, and "), "{said:?}");
    assert!(said[1].contains(worse[0].as_str().unwrap()), "{said:?}");
    assert!(said[2].contains("gdro evaluate run"), "{said:?}");
    // The table has the interval of the verdict.
    let (_, ends) = said[0].split_once("95 %: ").unwrap();
    let largest = shown.lines().find(|line| line.starts_with("largest risk")).unwrap();
    assert!(largest.contains(ends.trim_end_matches(')')), "{largest} {ends}");

    // Too small a group is left out of it, by its rows alone.
    let mut rng = Rng::seed_from_u64(2);
    let rows = |group: usize| if group == 4 { 40 } else { 400 };
    let folder = Folder::with(Kind::Gain.table(true, rows, &mut rng));
    let shown =
        folder.prints(&format!("{EXACT} t.csv --target y --groups g --holdout 0.5 --out r"));
    let verdict = &folder.json("r/summary.json")["verdict"];
    assert_eq!(verdict["left_out"], serde_json::json!(["g4"]));
    assert!(shown.contains("1 group is too small for the verdict"), "{shown}");
    let said = lines(verdict);
    assert!(said[0].contains("the largest risk of the 4 groups large enough"));
    assert!(said[1].contains("worst held out of those large enough"), "{}", said[1]);
    let shown = folder.summary("t.csv --target y --groups g --solver exact --holdout 3");
    assert_eq!(shown["verdict"]["word"], "NO CLEAR EVIDENCE");
    assert!(lines(&shown["verdict"])[0].contains("no group has 20 training rows and 30 rows"));
}

#[test]
fn tables_show_the_worst_first_and_training_rows_when_asked() {
    let (folder, shown) = fitted("--holdout 0.5");
    assert!(!shown.contains("Training rows") && !shown.contains('\u{1b}'), "{shown}");
    let summary = folder.json("run/summary.json");
    let mut groups: Vec<(String, f64)> = (summary["groups"].as_array().unwrap().iter())
        .map(|g| (g["name"].as_str().unwrap().to_owned(), number(&g["test_risk"])))
        .collect();
    groups.sort_by(|a, b| b.1.total_cmp(&a.1));
    let order: Vec<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
    let names = shown.lines().filter_map(|l| l.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| order.contains(name)).take(5).collect();
    assert_eq!(names, order);
    let fit = format!("{EXACT} t.csv --target y --groups g --holdout 0.5");
    let both = folder.prints(&format!("{fit} --train"));
    assert!(both.find("Rows held out") < both.find("Training rows"), "{both}");
    let said = folder.refused(&format!("{fit} --train --json"));
    assert!(said.contains("--train: no table is shown"), "{said}");
    let said = folder.refused("select t.csv --target y --groups g --path --train");
    assert!(said.contains("--train: path shows no groups"), "{said}");
    let narrow = folder.command(&fit).env("COLUMNS", "80").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    assert!(narrow.contains("\nHELPED: ") && narrow.contains("\nnext: "), "{narrow}");

    let mut text = "x,g,y\n".to_owned();
    for row in 0..1600 {
        let (group, x) = (row % 40, row * 37 % 101);
        let _ = writeln!(text, "{x},g{group},{}", if (x + group) % 3 == 0 { "yes" } else { "no" });
    }
    let folder = Folder::with(text);
    let many = folder.prints(&format!("{EXACT} t.csv --target y --groups g"));
    assert!(many.contains("the 30 worst of 40 groups") && many.contains("… and 10 more"), "{many}");
    let all = folder.prints(&format!("{EXACT} t.csv --target y --groups g --all-groups"));
    assert!(!all.contains("worst of 40 groups") && !all.contains("… and"), "{all}");
}

/// A model that was trained on `t.csv` in `run/`, where GDRO helps, and `new.csv` from the same
/// population; and the verdict of its summary on the latter.
fn trained(options: &str) -> (Folder, Value) {
    let mut rng = Rng::seed_from_u64(2);
    let rows = |group: usize| Kind::Gain.training_rows(group);
    let folder = Folder::with(Kind::Gain.table(false, rows, &mut rng));
    folder.file(
        "new.csv",
        Kind::Gain.table(true, |group| if group == 0 { 20 } else { 4000 }, &mut rng),
    );
    let fit = "--target y --groups g --seed 3 --quiet --out run";
    folder.prints(&format!("fit t.csv {fit} {options}"));
    let verdict = folder.json("run/summary.json")["verdict"].clone();
    (folder, verdict)
}

fn evaluated(folder: &Folder, arguments: &str) -> Value {
    let shown = folder.prints(&format!("evaluate {arguments} --json"));
    serde_json::from_str(&shown).unwrap()
}

/// A saved model is judged on a table as its training judged it on the same rows held out: against the
/// ordinary training that the file keeps.
#[test]
fn a_saved_model_is_judged_as_in_its_training() {
    for options in ["--solver exact --l2 1e-4", "--objective average", "--objective top-k:2 --l2 1"]
    {
        let (folder, mut expected) = trained(&format!("{options} --holdout-file new.csv"));
        let found = evaluated(&folder, "run new.csv");
        let mut verdict = found["verdict"].clone();
        assert_eq!(verdict["left_out"], serde_json::json!(["g0"]));
        let word = if options.contains("exact") { "HELPED" } else { "NO CLEAR EVIDENCE" };
        assert!(verdict["word"] == word || options.contains("top-k"), "{verdict}");
        let shown = folder.prints("evaluate run new.csv");
        let last: Vec<&str> = shown.lines().rev().take(3).collect();
        assert_eq!(last.into_iter().rev().collect::<Vec<_>>(), lines(&verdict), "{shown}");
        // What to do next is another thing for rows that came later.
        let costs = [&mut verdict, &mut expected].map(|verdict| {
            let verdict = verdict.as_object_mut().unwrap();
            verdict.remove("next");
            verdict["text"].as_array_mut().unwrap().pop();
            number(&verdict.remove("average_cost").unwrap())
        });
        // Rows are added up in another order.
        assert!((costs[0] - costs[1]).abs() < 1e-12, "{options}: {costs:?}");
        assert_eq!(verdict, expected, "{options}");
        let page = "evaluate run new.csv --quiet --report page.html";
        folder.prints(page);
        assert!(folder.read("page.html").contains("aria-label=\"Verdict\""));
        // Columns of the evaluation are those of a model without a baseline.
        let mut model = folder.json("run/model.json");
        model.as_object_mut().unwrap().remove("baseline").unwrap();
        folder.edit("run/model.json", model.to_string());
        let old = evaluated(&folder, "run new.csv");
        assert_eq!((&old["intervals"], &old["verdict"]), (&found["intervals"], &Value::Null));
        for key in ["mean_over_rows", "capped_mean_over_rows", "worst_group"] {
            assert_eq!(old[key], found[key], "{key}");
        }
        let note = "no verdict: no baseline in this model file";
        assert!(old["notes"].to_string().contains(note), "{}", old["notes"]);
        assert!(folder.prints("evaluate run new.csv").contains(note));
    }
}

/// Rows of the training say nothing about new ones, whatever their file is called.
#[test]
fn training_rows_are_not_judged_by() {
    let (folder, _) = trained("--solver exact --l2 1e-4 --holdout 0");
    let mut tables = vec!["t.csv", "./t.csv", "new.csv t.csv", "t*.csv"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("t.csv", folder.path().join("link.csv")).unwrap();
        std::fs::hard_link(folder.path().join("t.csv"), folder.path().join("same.csv")).unwrap();
        tables.extend(["link.csv", "same.csv"]);
    }
    for table in tables {
        let found = evaluated(&folder, &format!("run {table}"));
        assert_eq!(found["verdict"]["word"], "NO HELD-OUT ROWS", "{table}");
        assert!(found["verdict"]["low"].is_null() && found["verdict"]["average_cost"].is_null());
        let note = "the model was trained on ";
        assert!(found["notes"].to_string().contains(note), "{table}: {}", found["notes"]);
    }
    let verdict = evaluated(&folder, "run t.csv")["verdict"].clone();
    let mut of_fit = lines(&folder.json("run/summary.json")["verdict"]);
    // On training rows it says what it said without rows held out.
    of_fit[2] = "next: rows that no model was trained on".into();
    assert_eq!(lines(&verdict), of_fit);
    let found = evaluated(&folder, "run new.csv");
    assert_eq!(found["verdict"]["word"], "HELPED");
    assert!(!found["notes"].to_string().contains("was trained on"), "{}", found["notes"]);
    let input = std::fs::File::open(folder.path().join("t.csv")).unwrap();
    let output = folder.command("evaluate run -").stdin(input).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(shown.contains("NO HELD-OUT ROWS"), cfg!(unix), "{shown}");
}

/// A stream keeps its ordinary training, too; a baseline that does not fit its model is refused.
#[test]
fn baselines_of_streams_and_broken_ones() {
    let (folder, _) = trained("--stream --l2 1e-3 --holdout 0");
    let found = evaluated(&folder, "run new.csv");
    assert!(found["verdict"]["low"].is_number(), "{}", found["verdict"]);
    let good = folder.json("run/model.json");
    let names = good["grouping"]["names"].as_array().unwrap();
    assert_eq!(good["baseline"]["rows"].as_array().unwrap().len(), names.len());
    for (field, value, says) in [
        ("format", serde_json::json!(2), "format version 2 of the baseline"),
        ("weights", serde_json::json!([1.0]), "the baseline do not fit the model"),
        ("rows", serde_json::json!([1]), "the baseline do not fit the model"),
        ("risks", serde_json::json!([[0.1, 0.2]]), "the baseline do not fit the model"),
        ("weights", serde_json::json!("x"), "not a model of gdro"),
    ] {
        let mut model = good.clone();
        model["baseline"][field] = value;
        folder.edit("run/model.json", model.to_string());
        let said = folder.refused("evaluate run new.csv");
        assert!(said.contains(says), "{field}: {said}");
    }
}
