//! The page for a browser: what is in it, and how it behaves in headless Chromium.

use crate::browser::Browser;
use crate::common::{FIT, Folder, number, people};
use serde_json::{Value, json};

/// Names of groups that a careless page would not survive.
const NAMES: [&str; 7] = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "Tom & \"Jerry\" 'n' &amp; `ticks` {{body}}",
    "קבוצה ראשונה",
    "👩‍🔬 émile",
    "--><!--",
    "\u{202e}desrever",
];

/// A table with these groups; rows of a group have labels of both kinds.
fn table(names: &[String]) -> String {
    let mut text = "x,z,g,y\n".to_owned();
    for (at, name) in names.iter().enumerate() {
        for i in 0..24 + 4 * (at % 5) {
            let (x, z) = ((i * 37 % 23) as f64 - 11.0, ((i + at) * 29 % 17) as f64);
            let up = (x + at as f64 * z / 40.0 > 1.0) != (i % 7 == at % 7);
            let quoted = name.replace('"', "\"\"");
            text += &format!("{x},{z},\"{quoted}\",{}\n", if up { "yes" } else { "no" });
        }
    }
    text
}

/// A table of `count` groups.
fn many(count: usize) -> String {
    table(&(0..count).map(|i| format!("group {i:02}")).collect::<Vec<_>>())
}

/// What stands between two texts.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).unwrap_or_else(|| panic!("no {before}")) + before.len();
    let length = text[start..].find(after).unwrap();
    &text[start..start + length]
}

/// The numbers in a page.
fn numbers(page: &str) -> Value {
    serde_json::from_str(between(page, "id=\"data\">", "</script>")).unwrap()
}

/// A text of the page as a reader sees it.
fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&amp;", "&")
}

/// What only binary targets have: in the page, and in the summary.
const METRICS: [(&str, &str); 3] = [
    ("true positives", "test_true_positive_rate"),
    ("false positives", "test_false_positive_rate"),
    ("AUC", "test_auc"),
];

#[test]
fn the_numbers_are_those_of_the_summary() {
    let folder = Folder::people();
    for (options, part) in [("", "test"), ("--holdout 0", "train")] {
        folder.prints(&format!("{FIT} --quiet --out out --report page.html {options}"));
        let (summary, data) = (folder.json("out/summary.json"), numbers(&folder.read("page.html")));
        let models = [&summary["erm"], &summary["balanced"], &summary];
        for (at, model) in models.into_iter().enumerate() {
            let shown = &data["models"][at];
            for (i, group) in model["groups"].as_array().unwrap().iter().enumerate() {
                assert_eq!(data["names"][i], group["name"]);
                assert_eq!(data["rows"][i], group[format!("n_{part}")]);
                assert_eq!(shown["risk"][i], group[format!("{part}_risk")]);
                assert_eq!(shown["accuracy"][i], group[format!("{part}_accuracy")]);
                if part == "test" {
                    assert_eq!(shown["train_risk"][i], group["train_risk"]);
                    for (label, key) in METRICS {
                        let mut metrics = shown["metrics"].as_array().unwrap().iter();
                        let metric = metrics.find(|metric| metric["label"] == label).unwrap();
                        assert_eq!(metric["values"][i], group[key]["value"], "{label}");
                    }
                    let interval = &shown["accuracy_interval"][i];
                    assert!(interval.is_null() || *interval == group["test_accuracy_interval"]);
                    let change = &summary["groups"][i]["test_risk_minus_erm"];
                    assert_eq!(data["change"]["value"][i], change["value"]);
                }
            }
        }
        let weight = |i: usize| number(&summary["groups"][i]["weight"]);
        assert_eq!(data["weights"], json!([weight(0), weight(1)]));
        // The curve ends with the weights of the model.
        let line = &data["curve"]["lines"][0];
        let end = number(line["weights"].as_array().unwrap().last().unwrap());
        assert!((end - weight(line["group"].as_u64().unwrap() as usize)).abs() < 1e-6);
    }
    // The exact solver goes straight to the end.
    folder.prints("fit t.csv --target y --groups g --solver exact --quiet --report page.html");
    let page = folder.read("page.html");
    assert!(numbers(&page)["curve"].is_null() && page.contains("id=\"weight-bars\""));
}

#[test]
fn the_configuration_does_the_run_again() {
    let folder = Folder::people();
    folder.file("b.csv", "group,budget\na,20\nb,10\n");
    for options in [
        "--solver smd-m --rounds 300 --delta 0.1 --l2 0.01 --anytime",
        "--objective top-k:1.5 --seed 5 --holdout 3 --ball 2",
        "--objective max --holdout-column x --holdout-value 0,1,2 --missing mean --missing x=drop --hash z=8",
        "--objective max --holdout-file t.csv --min-count 2",
        "--solver smd-r --budget b.csv --ignore z",
        "--solver adaptive --rounds 200 --merge g:c=a|b --groups x:0",
        "--solver smd-m --rounds 200 --objective average --min-group 5 --missing mean",
    ] {
        let arguments = format!("t.csv --target y --groups g --report page.html {options}");
        let mut first = folder.summary(&arguments);
        let page = folder.read("page.html");
        let job = between(&page, "aria-label=\"Job file\">", "</pre>");
        folder.file("job.toml", unescaped(job));
        let mut again = folder.summary("job.toml");
        for field in ["seconds", "reason"] {
            first.as_object_mut().unwrap().remove(field);
            again.as_object_mut().unwrap().remove(field);
        }
        assert_eq!(first, again, "{job}");
    }
}

#[test]
fn impossible_places_are_refused_before_training() {
    let folder = Folder::people();
    folder.file("t.html", people(20));
    std::fs::create_dir(folder.path().join("d.html")).unwrap();
    let refused = |options: &str| folder.refused(&format!("{FIT} {options}"));
    let said = refused("--report page.txt");
    assert!(said.contains("--report: page.txt: expected a file named *.html"), "{said}");
    let said = refused("--report d.html");
    assert!(said.contains("d.html: expected the name of a file, found a folder"), "{said}");
    let said = folder.refused("fit t.html --target y --groups g --report ./t.html");
    assert!(said.contains("is an input and would be overwritten"), "{said}");
    let said = folder.fails(&format!("{FIT} --report t.csv/page.html"), 1);
    assert!(said.contains("cannot write") && said.contains("t.csv"), "{said}");
    let said = refused("--report page.html --stream --one-pass");
    assert!(said.contains("--report: the page compares models"), "{said}");
    folder.file("job.toml", "target = \"y\"\ngroups = [\"g\"]\nreport = \"page.pdf\"\n");
    let said = folder.refused("fit job.toml t.csv");
    assert!(said.contains("job.toml:3: report: page.pdf: expected"), "{said}");

    folder.file("job.toml", "target = \"y\"\ngroups = [\"g\"]\nreport = \"new/page.html\"\n");
    let shown = folder.prints("fit job.toml t.csv");
    assert!(shown.contains("no model was written"), "{shown}");
    assert!(shown.contains("wrote new/page.html"), "{shown}");
    assert!(folder.list().contains(&"new/page.html".to_owned()));
    assert!(!folder.list().iter().any(|f| f.ends_with(".tmp")));
}

#[test]
fn an_evaluation_has_a_page_of_one_model() {
    let folder = Folder::people();
    folder.prints(&format!("{FIT} --quiet --out out"));
    folder.file("new.csv", people(90).replace(",a,", ",new,"));
    let printed = folder.prints("evaluate out new.csv --json --report page.html");
    let printed: Value = serde_json::from_str(&printed).unwrap();
    let page = folder.read("page.html");
    let data = numbers(&page);
    assert_eq!(data["models"].as_array().unwrap().len(), 1);
    assert_eq!(data["unseen"], json!([false, false, true]));
    for (i, group) in printed["intervals"]["groups"].as_array().unwrap().iter().enumerate() {
        assert_eq!(data["names"][i], printed["names"][i]);
        assert_eq!(data["models"][0]["risk"][i], group["clipped_risk"]["value"]);
        assert_eq!(data["models"][0]["accuracy"][i], group["accuracy"]["value"]);
    }
    assert!(!page.contains("id=\"gains\"") && page.contains("id=\"certificate\""));
    let said = folder.refused("evaluate out new.csv --report out/model.json");
    assert!(said.contains("expected a file named *.html"), "{said}");

    let Some(mut browser) = Browser::start() else { return };
    browser.open(&folder.path().join("page.html"), (1280, 900), false);
    assert_eq!(browser.complaints, [""; 0]);
    assert_eq!(browser.value("document.querySelectorAll('#risk-chart .point').length"), 2);
    let shown = browser.value("document.querySelector('#group-table tbody').textContent");
    assert!(shown.as_str().unwrap().contains("new (unseen)"), "{shown}");
}

#[test]
fn names_of_the_table_stay_names() {
    let mut names: Vec<String> = NAMES.map(str::to_owned).to_vec();
    names.push("very long ".repeat(40).trim().to_owned());
    names.push("x".repeat(300));
    let folder = Folder::with(table(&names).replacen("z,g,y", "z,\"<i>&g\",\"</title>y\"", 1));
    let mut command =
        folder.command("fit t.csv --quiet --objective max --solver exact --report page.html");
    let output = command.args(["--target", "</title>y", "--groups", "<i>&g"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let page = folder.read("page.html");
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    let shown = numbers(&page)["names"].clone();
    for name in &names {
        let name = name.replace('\u{202e}', r"\u{202e}");
        assert!(shown.as_array().unwrap().contains(&json!(name)), "{name}");
    }

    let Some(mut browser) = Browser::start() else { return };
    for width in [1280, 400] {
        browser.open(&folder.path().join("page.html"), (width, 900), false);
        assert_eq!(browser.complaints, [""; 0]);
        assert_eq!(browser.value("document.title"), "</title>y by <i>&g – gdro");
        let names_in =
            "[...document.querySelectorAll('#group-table tbody bdi')].map(b => b.textContent)";
        let sorted = |names: Value| {
            let mut names: Vec<String> = serde_json::from_value(names).unwrap();
            names.sort();
            names
        };
        assert_eq!(sorted(browser.value(names_in)), sorted(shown.clone()));
        assert_eq!(browser.value("document.images.length + document.scripts.length"), 2);
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= width.into(), "{wide} of {width}");
        // A name in a chart does not push the marks out of their place.
        let inside =
            "[...document.querySelectorAll('.dots .line > svg, .curve .plot')].every(n => {
            const box = n.getBoundingClientRect();
            return box.width > 150 && box.right <= innerWidth && box.left >= 0; })";
        assert_eq!(browser.value(inside), true);
    }
}

#[test]
fn the_page_loads_sorts_and_tells() {
    let folder = Folder::with(many(36));
    folder.prints(
        "fit t.csv --target y --groups g --solver smd-m --rounds 300 --quiet --out out \
         --holdout 0.5 --report page.html",
    );
    let Some(mut browser) = Browser::start() else { return };
    let page = folder.path().join("page.html");
    let summary = folder.json("out/summary.json");
    browser.open(&page, (1280, 900), false);
    assert_eq!(browser.complaints, [""; 0]);
    let own = format!("file://{}", page.display());
    let foreign: Vec<_> =
        browser.requests.iter().filter(|r| **r != own && !r.starts_with("data:")).collect();
    assert!(foreign.is_empty() && browser.requests.contains(&own), "{foreign:?}");

    // Sorting: by name, by the risk of the model of the run, and back. One row is more than 1 % of a
    // small group, so that the cap on losses is in the name of the column.
    let names = "[...document.querySelectorAll('#group-table tbody bdi')].map(b => b.textContent)";
    let button = |text: &str| {
        format!(
            "[...document.querySelectorAll('#group-table th button')].find(b => b.textContent === {}).click()",
            json!(text)
        )
    };
    // The worst of the model of the run come first.
    let after = browser.value(names);
    let groups = summary["groups"].as_array().unwrap();
    let mut by_risk: Vec<&Value> = groups.iter().collect();
    by_risk.sort_by(|a, b| number(&b["test_risk"]).total_cmp(&number(&a["test_risk"])));
    assert_eq!(after, json!(by_risk.iter().map(|g| &g["name"]).collect::<Vec<_>>()));
    let sorted = "[...document.querySelectorAll('#group-table th[aria-sort=descending]')].map(t => t.textContent)";
    assert_eq!(browser.value(sorted), json!(["capped risk\ngdro"]));
    browser.value(&button("group"));
    let mut by_name: Vec<&Value> = groups.iter().map(|g| &g["name"]).collect();
    by_name.sort_by_key(|name| name.as_str().unwrap());
    assert_eq!(browser.value(names), json!(by_name));
    browser.value(&button("capped risk\ngdro"));
    assert_eq!(browser.value(names), after);
    browser.value(&button("capped risk\ngdro"));
    by_risk.reverse();
    assert_eq!(browser.value(names), json!(by_risk.iter().map(|g| &g["name"]).collect::<Vec<_>>()));
    // What is shown is what the summary says.
    let cells =
        "[...document.querySelector('#group-table tbody tr').cells].map(c => c.textContent)";
    let shown = browser.value(cells);
    let least = by_risk[0];
    let has = |text: String| shown.as_array().unwrap().iter().any(|c| *c == json!(text));
    assert!(
        has(format!("{:.4}", number(&least["test_risk"])))
            || has(format!("{:.3}", number(&least["test_risk"]))),
        "{shown}"
    );
    assert!(has(least["n_test"].to_string()) && has(least["n_train"].to_string()), "{shown}");
    // Finding a group narrows the table.
    browser.value(
        "(() => { const field = document.getElementById('find'); field.value = 'P 07';
           field.dispatchEvent(new Event('input')); })()",
    );
    assert_eq!(browser.value(names), json!(["group 07"]));

    // The chart shows the worst, and all on request.
    let lines = "document.querySelectorAll('#risk-chart .point').length";
    assert_eq!(browser.value(lines), 30);
    by_risk.reverse();
    let first = "document.querySelector('#risk-chart .point bdi').textContent";
    assert_eq!(browser.value(first), by_risk[0]["name"]);
    browser.value("document.querySelector('#risk-chart .controls button[aria-expanded]').click()");
    assert_eq!(browser.value(lines), 36);

    // Hovering and focus tell the same, which is what the summary says.
    let tip =
        "document.getElementById('tip').hidden ? null : document.getElementById('tip').textContent";
    assert_eq!(browser.value(tip), Value::Null);
    browser.hover("#risk-chart .point:nth-child(3)");
    let shown = browser.value(tip);
    let second = by_risk[1];
    let shown = shown.as_str().expect("a tooltip");
    assert!(shown.contains(second["name"].as_str().unwrap()), "{shown}");
    let digits = |v: &Value| {
        let text = format!("{:.6}", number(v));
        text[..5].to_owned()
    };
    let place = groups.iter().position(|g| g["name"] == second["name"]).unwrap();
    for model in [&summary, &summary["erm"], &summary["balanced"]] {
        // The last digit may be rounded.
        let risk = digits(&model["groups"][place]["test_risk"]);
        assert!(shown.contains(&risk[..4]), "{shown}: {risk}");
    }
    let focused = "document.activeElement.dispatchEvent(new Event('blur')),
        document.querySelector('#risk-chart .point:nth-child(3)').focus()";
    browser.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": 1, "y": 1 }));
    assert_eq!(browser.value(tip), Value::Null);
    browser.value(focused);
    assert_eq!(browser.value(tip), shown);
    let label = "document.activeElement.getAttribute('aria-label')";
    let spoken = browser.value(label);
    assert!(spoken.as_str().unwrap().starts_with(second["name"].as_str().unwrap()), "{spoken}");
    browser.press("ArrowDown");
    let third = by_risk[2]["name"].as_str().unwrap();
    assert!(browser.value(label).as_str().unwrap().starts_with(third));
    browser.press("Escape");
    assert_eq!(browser.value(tip), Value::Null);
}

#[test]
fn the_page_is_for_keyboards_small_windows_and_dark_rooms() {
    let folder = Folder::people();
    folder.prints(&format!("{FIT} --quiet --report page.html"));
    let Some(mut browser) = Browser::start() else { return };
    let page = folder.path().join("page.html");
    for width in [400, 320, 1280] {
        browser.open(&page, (width, 900), false);
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= width.into(), "{wide} of {width}");
    }
    // From the top, the Tab key meets in this order: the way to the results, the contents, then
    // every control, one stop for each chart.
    let stops = "(() => { const a = document.activeElement;
        return a.className + '|' + a.tagName + '|' + (a.closest('section') || {}).id; })()";
    let mut seen = Vec::new();
    for _ in 0..120 {
        browser.press("Tab");
        let stop = browser.value(stops).as_str().unwrap().to_owned();
        if stop.contains("BODY") {
            break;
        }
        seen.push(stop);
    }
    assert_eq!(seen[0], "skip|A|undefined");
    let place = |what: &str| {
        let found = seen.iter().position(|s| s.contains(what));
        found.unwrap_or_else(|| panic!("no {what} in {seen:?}"))
    };
    let order = [
        place("|SELECT|groups"),
        place("point|DIV|groups"),
        place("|BUTTON|table"),
        place("point|DIV|gains"),
        place("point|DIV|course"),
        place("|BUTTON|configuration"),
        place("|SUMMARY|configuration"),
    ];
    assert!(order.is_sorted(), "{seen:?}");
    assert_eq!(seen.iter().filter(|s| s.contains("point|DIV|groups")).count(), 1, "{seen:?}");
    // What has the focus is seen.
    browser.value("document.querySelector('#group-table th button').focus()");
    browser.press("Tab");
    assert_ne!(browser.value("getComputedStyle(document.activeElement).outlineStyle"), "none");

    let colours = "(() => { const c = getComputedStyle(document.body); return [c.color, c.backgroundColor]; })()";
    let light = browser.value(colours);
    browser.colours(true);
    let dark = browser.value(colours);
    assert_eq!(light[1], "rgb(255, 255, 255)");
    assert!(light[0] != dark[0] && light[1] != dark[1], "{light} {dark}");

    // Who says the text of a control reaches it: its spoken name contains the text. Only names have a role.
    let names = "[...document.querySelectorAll('button[aria-label], a[aria-label]')].filter(
        b => !b.getAttribute('aria-label').includes(b.textContent.trim())).map(b => b.outerHTML)";
    assert_eq!(browser.value(names), json!([]));
    let silent = "[...document.querySelectorAll('th')].filter(t => !t.textContent.trim()).length
        + document.querySelectorAll('pre[aria-label]:not([role])').length";
    assert_eq!(browser.value(silent), 0);

    // Every colour of a text against what is behind it: 4.5 to 1 at least (WCAG AA).
    let contrast = "(() => {
        const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map(v => { v /= 255;
            return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const probe = document.createElement('span'); document.body.append(probe);
        const of = (name) => { probe.style.color = `var(--${name})`; return light(getComputedStyle(probe).color); };
        let least = 99;
        for (const text of ['ink', 'soft', 'link', 'first', 'second', 'last', 'gain', 'loss']) {
            for (const ground of ['paper', 'panel']) {
                const [a, b] = [of(text), of(ground)].sort((x, y) => y - x);
                least = Math.min(least, (a + 0.05) / (b + 0.05));
            }
        }
        return least; })()";
    for dark in [false, true] {
        browser.colours(dark);
        let least = number(&browser.value(contrast));
        assert!(least >= 4.5, "dark {dark}: {least}");
    }
}

#[test]
#[ignore = "writes pictures of PAGE, relative to the repository, beside it"]
fn pictures() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = root.join(std::env::var("PAGE").expect("PAGE names a page"));
    let page = page.canonicalize().unwrap();
    let Some(mut browser) = Browser::start() else { return };
    for width in [1280, 400] {
        browser.open(&page, (width, 900), false);
        let stem = page.file_stem().unwrap().to_str().unwrap();
        let file = page.with_file_name(format!("{stem}-{width}.png"));
        std::fs::write(file, browser.picture()).unwrap();
    }
}

#[test]
fn a_choice_and_a_trade_off_have_pages() {
    let folder = Folder::with(many(5));
    let table = "t.csv --target y --groups g --quiet --out out --report page.html";
    folder.prints(&format!("select {table} --l2 0.001,0.1 --folds 2"));
    let selection = folder.json("out/selection.json");
    let page = folder.read("page.html");
    let ladder = numbers(&page)["selection"].clone();
    for (at, member) in selection["members"].as_array().unwrap().iter().enumerate() {
        let best = member["best"].as_u64().unwrap() as usize;
        let (point, step) = (&member["points"][best], &ladder["steps"][at]);
        assert_eq!(step["values"], json!([point["mean_rows"], point["criterion"]]));
        assert_eq!(step["badges"][1] == "chosen", selection["chosen"] == at);
    }
    let members = selection["members"].as_array().unwrap().len();
    assert!(page.contains("id=\"selection\""));
    // ERM neither gains nor loses against itself.
    assert_ne!(page.contains("id=\"gains\""), page.contains("It is ordinary training"));

    folder.prints(&format!("select {} --path", table.replace("page.html", "path.html")));
    let path = folder.json("out/path.json");
    let ladders = numbers(&folder.read("path.html"))["path"].clone();
    for (ladder, part) in [(&ladders[0], "test"), (&ladders[1], "train")] {
        assert_eq!(ladder["steps"].as_array().unwrap().len(), 7);
        for at in 0..5 {
            let part = &path["points"][at][part];
            let values = json!([part["mean_rows"], part["mean_groups"], part["max"]]);
            assert_eq!(ladder["steps"][at]["values"], values);
        }
    }

    let Some(mut browser) = Browser::start() else { return };
    for (page, chart, lines) in [("page", "selection", 2 * members), ("path", "path", 14)] {
        for width in [1280, 400] {
            browser.open(&folder.path().join(format!("{page}.html")), (width, 900), false);
            assert_eq!(browser.complaints, [""; 0]);
            let found = format!("document.querySelectorAll('#{chart}-chart .point').length");
            let chosen = format!("document.querySelectorAll('#{chart}-chart .ring').length");
            assert_eq!(browser.value(&chosen), usize::from(chart == "selection"));
            assert_eq!(browser.value(&found), lines);
            let wide = browser.value("document.documentElement.scrollWidth");
            assert!(wide.as_u64().unwrap() <= width.into(), "{wide} of {width}");
        }
    }
}

#[test]
fn families_of_groups_are_distinguished() {
    let folder = Folder::with(many(4).replace("group 0", ""));
    let text: String = folder
        .read("t.csv")
        .lines()
        .enumerate()
        .map(|(at, line)| match at {
            0 => format!("{line},h\n"),
            _ => format!("{line},{}\n", at % 2),
        })
        .collect();
    folder.file("t.csv", text);
    folder.prints("fit t.csv --target y --groups g --groups h --quiet --report page.html");
    let page = folder.read("page.html");
    assert!(page.contains("y by g and by h"));
    let names = numbers(&page)["names"].clone();
    for name in ["g=1", "h=1"] {
        assert!(names.as_array().unwrap().contains(&json!(name)), "{names}");
    }
}

/// Counts in the tiles add up, and are those of the summary.
#[test]
fn the_answer_comes_first_and_adds_up() {
    let folder = Folder::with(many(12));
    for options in [
        "--holdout 0.4 --objective max",
        "--holdout 0 --objective max",
        "--holdout 0.4 --objective average",
    ] {
        folder.prints(&format!(
            "fit t.csv --target y --groups g --quiet --out out --report page.html {options}"
        ));
        let (summary, page) = (folder.json("out/summary.json"), folder.read("page.html"));
        let section = between(&page, "<section id=\"overview\"", "</section>");
        let (verdict, tiles) = (section.find("class=\"verdict\"").unwrap(), "<dl class=\"tiles\">");
        assert!(verdict < section.find("<table").unwrap());
        assert!(section[..verdict].matches("<p").count() == 0, "nothing stands before the verdict");
        let tiles = between(section, tiles, "</dl>");
        let answers: Vec<&str> =
            tiles.split("<strong>").skip(1).map(|tile| tile.split('<').next().unwrap()).collect();
        let notes: Vec<&str> =
            tiles.split("</strong> ").skip(1).map(|tile| tile.split('<').next().unwrap()).collect();
        assert_eq!((answers.len(), notes.len()), (3, 3), "{tiles}");
        let verdict = &summary["verdict"];
        if options.contains("average") {
            assert_eq!(answers[0], "It is ordinary training");
            assert!(!page.contains("id=\"gains\"") && !page.contains("id=\"coefficients\""));
            assert!(answers[2].contains("It stays"), "{answers:?}");
            continue;
        }
        if verdict["word"] == "NO HELD-OUT ROWS" {
            assert_eq!(answers[..2], ["Not known", "Not known"]);
            assert!(notes[0].contains("on training rows"), "{notes:?}");
            continue;
        }
        let [better, worse] = ["better", "worse"].map(|k| verdict[k].as_array().unwrap().len());
        let expected = format!("{better} better, {worse} worse");
        assert_eq!(answers[1], expected);
        let numbers = |text: &str| -> Vec<u64> {
            text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
        };
        let (said, noted) = (numbers(answers[1]), numbers(notes[1]));
        assert_eq!(said.iter().sum::<u64>() + noted[1..].iter().sum::<u64>(), noted[0]);
        assert_eq!(noted[0], 12);
        let price = verdict["word"] == "HELPED" && number(&verdict["average_cost"]) > 0.0;
        assert_eq!(notes[2].contains("price"), price, "{notes:?}");
    }
}

/// A page of few groups as one of many: every column goes on with the same values.
fn widened(page: &str, from: usize, to: usize) -> String {
    fn widen(value: &mut Value, from: usize, to: usize) {
        match value {
            Value::Array(list) if list.len() == from => {
                *list = (0..to).map(|at| list[at % from].clone()).collect();
            }
            Value::Array(list) => list.iter_mut().for_each(|v| widen(v, from, to)),
            Value::Object(map) => {
                let kept = map.iter_mut().filter(|(key, _)| *key != "curves");
                kept.for_each(|(_, v)| widen(v, from, to));
            }
            _ => {}
        }
    }
    let mut data = numbers(page);
    widen(&mut data, from, to);
    for (at, name) in data["names"].as_array_mut().unwrap().iter_mut().enumerate() {
        *name = format!("{} no. {at}", name.as_str().unwrap()).into();
    }
    page.replace(between(page, "id=\"data\">", "</script>"), &data.to_string())
}

#[test]
fn thousands_of_groups_are_shown_in_time_and_few_on_paper() {
    let folder = Folder::with(many(13));
    folder.prints(
        "fit t.csv --target y --groups g --objective max --quiet --holdout 0.4 --report page.html",
    );
    folder.file("many.html", widened(&folder.read("page.html"), 13, 5000));
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&folder.path().join("many.html"), (1280, 900), false);
    assert_eq!(browser.complaints, [""; 0]);
    let points = "document.querySelectorAll('#risk-chart .point').length";
    assert_eq!(browser.value(points), 30);
    // All groups, laid out; in one of ten tries, for other programs run at the same time.
    let time =
        "(() => { const button = document.querySelector('#risk-chart button[aria-expanded]');
        const from = performance.now(); button.click(); document.body.offsetHeight;
        return performance.now() - from; })()";
    let mut tries = Vec::new();
    while tries.len() < 10 && tries.iter().all(|spent| *spent >= 500.0) {
        tries.push(number(&browser.value(time)));
        assert!(browser.value(points).as_u64().unwrap() > 30);
        browser.value("document.querySelector('#risk-chart button[aria-expanded]').click()");
    }
    assert!(tries.iter().any(|spent| *spent < 500.0), "{tries:?} ms");
    // The End key goes to the last group.
    browser.value(time);
    browser.value(
        "(() => { const first = document.querySelector('#risk-chart .point'); first.focus();
           first.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true })); })()",
    );
    assert_eq!(browser.value(points), 5000);
    assert_eq!(browser.value("document.activeElement.nextElementSibling"), Value::Null);

    // On paper the 30 worst and the 30 best, and how many are between.
    let order =
        |of: &str| format!("[...document.querySelectorAll('{of} bdi')].map(b => b.textContent)");
    let all = browser.value(&order("#risk-chart .point"));
    browser.value("window.dispatchEvent(new Event('beforeprint'))");
    let paper = browser.value(&order("#risk-chart .point"));
    let (all, paper) = (all.as_array().unwrap(), paper.as_array().unwrap());
    assert_eq!(paper[..30], all[..30]);
    assert_eq!(paper[30..], all[4970..]);
    assert_eq!(browser.value(&order("#group-table tbody")).as_array().unwrap()[..], paper[..]);
    for part in ["#risk-chart", "#gains-chart", "#group-table", "#weight-bars"] {
        let text = browser.value(&format!("document.querySelector('{part}').textContent"));
        assert!(text.as_str().unwrap().contains("4,940 groups between these"), "{part}");
    }
    // No column is cut off there.
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let size = json!({ "width": 794, "height": 1123, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", size);
    let wide = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
    assert!(wide <= 794, "{wide}");
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
    browser.value("window.dispatchEvent(new Event('afterprint'))");
    assert_eq!(browser.value("document.querySelectorAll('.gap').length"), 1);
}

/// An axis holds all points, and no interval widens it to more than twice their range.
#[test]
fn hopeless_intervals_do_not_set_the_axis() {
    let folder = Folder::with(many(8));
    folder.prints(
        "fit t.csv --target y --groups g --objective max --quiet --holdout 0.3 --report page.html",
    );
    let page = folder.read("page.html");
    let mut data = numbers(&page);
    for model in data["models"].as_array_mut().unwrap() {
        for at in 0..8 {
            model["risk_interval"][at] = json!([0.0, 1000.0]);
        }
    }
    let risks: Vec<f64> = data["models"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|m| m["risk"].as_array().unwrap().iter().map(number))
        .collect();
    let (low, high) = risks.iter().fold((f64::MAX, f64::MIN), |(a, b), r| (a.min(*r), b.max(*r)));
    folder.file(
        "wide.html",
        page.replace(between(&page, "id=\"data\">", "</script>"), &data.to_string()),
    );
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&folder.path().join("wide.html"), (1280, 900), false);
    // Two ticks tell what a per cent of the width is.
    let ticks = browser.value(
        "[...document.querySelectorAll('#risk-chart .ticks span')].map(s =>
           [parseFloat(s.style.left), parseFloat(s.textContent)])",
    );
    let tick = |at: usize, of: usize| number(&ticks[at][of]);
    let scale = (tick(1, 1) - tick(0, 1)) / (tick(1, 0) - tick(0, 0));
    assert!(100.0 * scale <= 2.1 * (high - low), "{} of {}", 100.0 * scale, high - low);
    let inside = "[...document.querySelectorAll('#risk-chart .point svg svg')].every(m =>
        parseFloat(m.getAttribute('x')) >= 0 && parseFloat(m.getAttribute('x')) <= 100)";
    assert_eq!(browser.value(inside), true);
    // Every bar goes on beyond the right end and says so.
    let arrows = "document.querySelectorAll('#risk-chart path[d=\"M-5 -4L0 0L-5 4\"]').length";
    assert_eq!(browser.value(arrows), 24);
}

#[test]
fn tables_and_charts_are_saved_as_files() {
    let folder = Folder::with(table(&NAMES.map(str::to_owned)));
    folder.prints(
        "fit t.csv --target y --groups g --objective max --quiet --holdout 0.4 --out out --report page.html",
    );
    let summary = folder.json("out/summary.json");
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&folder.path().join("page.html"), (1280, 900), false);
    let saved = folder.path().join("saved");
    let place = json!({ "behavior": "allow", "downloadPath": saved });
    browser.call("Browser.setDownloadBehavior", place);
    let save = |browser: &mut Browser, button: &str, name: &str| {
        browser.value(&format!("document.querySelector('{button}').click()"));
        let file = saved.join(format!("y-by-g-{name}"));
        for _ in 0..200 {
            // The browser holds the name with an empty file until the download is moved there.
            match std::fs::read_to_string(&file) {
                Ok(text) if !text.is_empty() => return text,
                _ => std::thread::sleep(std::time::Duration::from_millis(50)),
            }
        }
        panic!("{name} was not saved: {:?}", std::fs::read_dir(&saved).map(|d| d.count()));
    };
    let text = save(&mut browser, "#group-table .save", "groups.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| {
        header.iter().position(|h| h == name).unwrap_or_else(|| panic!("{name} of {header:?}"))
    };
    let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let groups = summary["groups"].as_array().unwrap();
    assert_eq!(lines.len(), groups.len());
    for line in &lines {
        // What turns the direction of writing is escaped, and what a spreadsheet would run is a text.
        let name = line[0].replace(r"\u{202e}", "\u{202e}");
        let name = name.strip_prefix('\'').unwrap_or(&name);
        let group = groups.iter().find(|g| g["name"] == name).unwrap();
        let is = |name: &str, value: &Value| {
            assert_eq!(line[column(name)].parse::<f64>().unwrap(), number(value), "{name}");
        };
        is("rows held out", &group["n_test"]);
        is("risk gdro", &group["test_risk"]);
        is("false positive rate gdro", &group["test_false_positive_rate"]["value"]);
        is("gdro − ERM", &group["test_risk_minus_erm"]["value"]);
        let counts = ["true negatives", "false positives", "false negatives", "true positives"];
        let counts =
            counts.map(|name| line[column(&format!("{name} gdro"))].parse::<f64>().unwrap());
        assert_eq!(counts.iter().sum::<f64>(), number(&group["n_test"]));
        let accuracy = (counts[0] + counts[3]) / counts.iter().sum::<f64>();
        assert!((accuracy - number(&group["test_accuracy"])).abs() < 1e-12);
    }
    for (chart, name) in [
        ("#risk-chart", "groups.svg"),
        ("#gains-chart", "gains.svg"),
        ("#weight-bars", "weights.svg"),
        ("#class-detail", "curves.svg"),
    ] {
        let text = save(&mut browser, &format!("{chart} .save"), name);
        assert!(text.starts_with("<svg") && !text.contains("var(--"), "{name}");
        // A picture by itself: well formed, and nothing from elsewhere.
        assert!(!text.contains("href") && !text.contains("url("), "{name}");
        let parsed = format!(
            "(() => {{ const found = new DOMParser().parseFromString({}, 'image/svg+xml');
               return [found.querySelectorAll('parsererror').length,
                 [...found.querySelectorAll('text')].map(t => t.textContent).join('|')]; }})()",
            json!(text)
        );
        let parsed = browser.value(&parsed);
        assert_eq!(parsed[0], 0, "{name}");
        // Of the curves the group that is the worst is in the title. Long names of lines are cut.
        let shown = parsed[1].as_str().unwrap();
        let texts: Vec<&str> = shown.split('|').collect();
        let is_there = |group: &&String| match group.chars().count() {
            _ if name == "curves.svg" => texts[0].contains(&***group),
            0..=30 => texts.contains(&&***group),
            _ => texts.contains(&&*format!("{}…", &group[..29])),
        };
        let names = NAMES.map(|name| name.replace('\u{202e}', r"\u{202e}"));
        let found = names.iter().filter(is_there).count();
        assert_eq!(found, if name == "curves.svg" { 1 } else { NAMES.len() }, "{name}: {shown}");
    }
}

/// A group is chosen, and its counts are those of the page's numbers.
#[test]
fn a_group_is_looked_at_in_detail() {
    let folder = Folder::with(many(6));
    folder.prints(
        "fit t.csv --target y --groups g --objective max --quiet --holdout 0.4 --report page.html",
    );
    let data = numbers(&folder.read("page.html"));
    let Some(mut browser) = Browser::start() else { return };
    for width in [1280, 400] {
        browser.open(&folder.path().join("page.html"), (width, 900), width == 400);
        assert_eq!(browser.complaints, [""; 0]);
        for at in [4, 1] {
            browser.value(&format!(
                "(() => {{ const field = document.querySelector('#class-detail select'); field.value = '{at}';
                   field.dispatchEvent(new Event('change')); }})()"
            ));
            let shown = browser.value(
                "[...document.querySelectorAll('#class-detail tbody tr')].slice(0, 4).map(r =>
                   [...r.querySelectorAll('td')].map(c => Number(c.textContent)))",
            );
            for (line, which) in [3, 2, 1, 0].into_iter().enumerate() {
                for model in 0..3 {
                    let expected = &data["models"][model]["detail"]["counts"][at][which];
                    assert_eq!(shown[line][model], *expected, "{line} {model}");
                }
            }
            let caption =
                browser.value("document.querySelector('#class-detail caption').textContent");
            assert!(caption.as_str().unwrap().starts_with(data["names"][at].as_str().unwrap()));
            // A curve of each model in both squares, and a mark for each bin.
            let curves = "document.querySelectorAll('#class-detail .square path[stroke]').length";
            assert_eq!(browser.value(curves), 6);
            let bins = (0..3).map(|model| {
                let curves = &data["models"][model]["detail"]["curves"][at.to_string()];
                curves["calibration"].as_array().unwrap().len()
            });
            let marks = "document.querySelectorAll('#class-detail .marks .mark').length";
            assert_eq!(browser.value(marks), bins.sum::<usize>());
        }
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= width.into(), "{wide} of {width}");
    }
}
