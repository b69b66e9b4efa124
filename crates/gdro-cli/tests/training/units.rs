//! Units and zeros of targets and features do not matter: a problem in others has the same solution
//! in these, and intercepts are as free as they are said to be.

use serde_json::Value;

use crate::common::{Folder, number};

/// 90 rows of two features, three groups, a number `y`, labels `l` and classes `c`.
#[derive(Clone)]
struct Rows {
    x: Vec<[f64; 2]>,
    y: Vec<f64>,
}

impl Rows {
    fn new() -> Self {
        let noise = |i: u64, k: u64| {
            let bits = (i + 1).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(k << 40);
            (bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / 2f64.powi(53) - 0.5
        };
        let x: Vec<[f64; 2]> = (0..90).map(|i| [3.0 * noise(i, 1), 2.0 * noise(i, 2)]).collect();
        let y = (0..90).map(|i| {
            let [a, b] = x[i as usize];
            let slope = [1.0, -0.4, 0.3][i as usize % 3];
            a + slope * b + noise(i, 3) + if i % 10 == 0 { 4.0 * noise(i, 4) } else { 0.0 }
        });
        Rows { y: y.collect(), x }
    }

    fn table(&self) -> String {
        let mut text = "u,v,g,y,l,c\n".to_owned();
        let base = Rows::new();
        for (i, ([u, v], y)) in self.x.iter().zip(&self.y).enumerate() {
            let kind = if base.y[i] > 0.4 { 2 } else { usize::from(base.y[i] > -0.4) };
            let label = if base.y[i] > 0.0 { "yes" } else { "no" };
            text += &format!("{u:?},{v:?},g{},{y:?},{label},c{kind}\n", i % 3);
        }
        text
    }

    /// y → ay + b.
    fn targets(&self, a: f64, b: f64) -> Self {
        Rows { y: self.y.iter().map(|y| a * y + b).collect(), ..self.clone() }
    }

    /// x → ax + b.
    fn features(&self, a: f64, b: f64) -> Self {
        let x = self.x.iter().map(|x| x.map(|v| a * v + b)).collect();
        Rows { x, y: self.y.clone() }
    }
}

/// What a fit gives.
struct Fit {
    weights: Vec<f64>,
    intercepts: Vec<f64>,
    certificate: Value,
    text: String,
}

fn fit(rows: &Rows, options: &str) -> Fit {
    let folder = Folder::with(rows.table());
    let target = match options.split_whitespace().nth(1) {
        Some("logistic" | "hinge") => "l --ignore y,c",
        Some("softmax") => "c --ignore y,l",
        _ => "y --ignore l,c",
    };
    let text = folder.prints(&format!(
        "fit t.csv --target {target} --groups g --group-features drop --scaling none --holdout 0 \
         --solver exact --out out {options}"
    ));
    let model = folder.json("out/model.json");
    let numbers = |name: &str| model[name].as_array().unwrap().iter().map(number).collect();
    Fit {
        weights: numbers("weights"),
        intercepts: numbers("intercepts"),
        certificate: model["certificate"].clone(),
        text,
    }
}

impl Fit {
    fn of(&self, name: &str) -> f64 {
        number(&self.certificate[name])
    }

    /// The same problem in other units: weights `by` times as large, the objective `size` times.
    fn is(&self, base: &Fit, by: f64, size: f64, close: f64, label: &str) {
        let off = (self.of("upper") / size - base.of("upper")).abs();
        assert!(
            off <= close * base.of("upper"),
            "{label}: {} {}",
            self.of("upper"),
            base.of("upper")
        );
        assert!(self.of("lower") <= self.of("upper"), "{label}: {}", self.certificate);
        assert!(self.of("relative_gap") <= close, "{label}: {}", self.certificate);
        // Of classes a bound for any intercepts may cost more than one for bounded ones.
        assert!(
            self.certificate["any_intercept"] == true || label.starts_with("softmax"),
            "{label}"
        );
        // An objective within ε of the optimum leaves the weights within √(2ε/λ).
        let largest = base.weights.iter().fold(0.0, |a: f64, w| a.max(w.abs()));
        for (found, w) in self.weights.iter().zip(&base.weights) {
            let (found, w) = (found / by, *w);
            let most = largest * close.sqrt().max(1e-4);
            assert!((found - w).abs() <= most, "{label}: {found} {w}");
        }
        assert!(!self.text.contains("stopped at a gap"), "{label}: {}", self.text);
    }
}

/// Gaps are 1e-10 of the problem's scale, for losses with kinks 1e-8; a shift by 1e9 spreads leaves
/// seven digits of what the table says.
fn close(loss: &str, shift: f64) -> f64 {
    let digits = if loss.contains("squared") || loss.contains("huber") { 1e-7 } else { 2e-7 };
    if shift.abs() > 1e7 { 1e-5 } else { digits }
}

/// y → ay + b: the weights are a times as large, and so is the ridge's share in what is minimised.
#[test]
fn other_units_of_targets_give_the_same_model() {
    let rows = Rows::new();
    for loss in ["squared", "huber:0.5", "absolute", "quantile:0.9"] {
        let base = fit(&rows, &format!("--loss {loss} --l2 0.01"));
        for (a, b) in [
            (1.0, 1e6),
            (1e-5, 0.0),
            (1e-6, 0.0),
            (1e9, 0.0),
            (1e-9, 1.0),
            (1.0, -1e9),
            (64.0, 0.0),
        ] {
            let (name, l2, size) = match loss {
                "squared" => (loss.to_owned(), 0.01, a * a),
                "huber:0.5" => (format!("huber:{}", 0.5 * a), 0.01, a * a),
                _ => (loss.to_owned(), 0.01 / a, a),
            };
            let found = fit(&rows.targets(a, b), &format!("--loss {name} --l2 {l2:e}"));
            let label = format!("{loss} {a} {b}");
            found.is(&base, a, size, close(loss, b / a), &label);
            let intercept = (found.intercepts[0] - b) / a;
            let most = if loss == "squared" || loss == "huber:0.5" { 1e-4 } else { 2e-2 };
            let off = (intercept - base.intercepts[0]).abs();
            assert!(off < most, "{label}: {intercept} {}", base.intercepts[0]);
        }
    }
}

/// x → ax + b: the weights are 1/a times as large.
#[test]
fn other_units_of_features_give_the_same_model() {
    let rows = Rows::new();
    for loss in ["squared", "huber:0.5", "absolute", "quantile:0.1", "logistic", "hinge", "softmax"]
    {
        let base = fit(&rows, &format!("--loss {loss} --l2 0.01"));
        for (a, b) in [(1.0, 2010.0), (1e-9, 0.0), (1e9, 0.0), (1.0, 1e6), (1e3, -1e12)] {
            let l2 = 0.01 * a * a;
            let found = fit(&rows.features(a, b), &format!("--loss {loss} --l2 {l2:e}"));
            found.is(&base, 1.0 / a, 1.0, close(loss, b / a), &format!("{loss} {a} {b}"));
        }
    }
    for loss in ["squared", "logistic"] {
        for set in ["ball:", "box:", "l1:"] {
            let base = fit(&rows, &format!("--loss {loss} --domain {set}0.5"));
            for (a, b) in [(1e-6, 0.0), (1e9, 0.0), (1.0, 1e5)] {
                let domain = format!("--loss {loss} --domain {set}{:e}", 0.5 / a);
                let found = fit(&rows.features(a, b), &domain);
                // The first-order method stops farther out.
                let close = if set == "l1:" { 1e-6 } else { 1e-7 };
                found.is(&base, 1.0 / a, 1.0, close, &format!("{loss} {set} {a} {b}"));
            }
        }
    }
}

/// Years as a feature, as they are: the normal equations of centred columns say what the model is.
#[test]
fn years_need_no_scaling() {
    let mut table = "year,z,y\n".to_owned();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for i in 0..210 {
        let (year, z) = (f64::from(2000 + i % 21), f64::from(i * 37 % 23) / 10.0);
        let value = 0.5 * (year - 2010.0) + 0.3 * z + f64::from(i * 61 % 17) / 10.0;
        table += &format!("{year},{z},{value}\n");
        x.push([year, z]);
        y.push(value);
    }
    let n = y.len() as f64;
    let mean = |of: &dyn Fn(usize) -> f64| (0..y.len()).map(of).sum::<f64>() / n;
    let centre = [mean(&|i| x[i][0]), mean(&|i| x[i][1])];
    let middle = mean(&|i| y[i]);
    let at = |i: usize, j: usize| x[i][j] - centre[j];
    let ridge = 1e-4;
    let gram = |j: usize, k: usize| {
        mean(&|i| at(i, j) * at(i, k)) + if j == k { ridge / 2.0 } else { 0.0 }
    };
    let right = |j: usize| mean(&|i| at(i, j) * (y[i] - middle));
    let (a, b, d) = (gram(0, 0), gram(0, 1), gram(1, 1));
    let determinant = a * d - b * b;
    let w =
        [(d * right(0) - b * right(1)) / determinant, (a * right(1) - b * right(0)) / determinant];
    let risk = mean(&|i| (y[i] - middle - w[0] * at(i, 0) - w[1] * at(i, 1)).powi(2));
    let optimum = risk + ridge / 2.0 * (w[0] * w[0] + w[1] * w[1]);

    let folder = Folder::with(table);
    let summary = folder.summary(
        "t.csv --target y --scaling none --holdout 0 --solver exact --objective max --loss squared \
         --out out",
    );
    let certificate = &summary["certificate"];
    assert!(
        (number(&certificate["upper"]) / optimum - 1.0).abs() < 1e-9,
        "{certificate} {optimum}"
    );
    assert!(
        (number(&certificate["lower"]) / optimum - 1.0).abs() < 1e-9,
        "{certificate} {optimum}"
    );
    let model = folder.json("out/model.json");
    for (found, w) in model["weights"].as_array().unwrap().iter().zip(w) {
        assert!((number(found) - w).abs() < 1e-6, "{found} {w}");
    }
    let intercept = middle - w[0] * centre[0] - w[1] * centre[1];
    let found = number(&model["intercepts"][0]);
    assert!((found - intercept).abs() < 1e-3, "{found} {intercept}");
}

/// A line through far away features: no bound on the intercept keeps a quantile from it.
#[test]
fn no_bound_keeps_a_quantile_from_its_line() {
    let mut table = "x,y\n".to_owned();
    for i in 0..100 {
        let x = 5000.0 + f64::from(i % 10);
        table += &format!("{x},{}\n", 40.0 * (x - 5000.0) + f64::from(i / 10));
    }
    let folder = Folder::with(table);
    let fit =
        "t.csv --target y --scaling none --holdout 0 --solver exact --loss quantile:0.95 --l2 1e-9";
    let certificate = &folder.summary(fit)["certificate"];
    // On the line through the values 9 above: all rows lie 0 to 9 below, 4.5 on average.
    let (upper, lower) = (number(&certificate["upper"]), number(&certificate["lower"]));
    let (line, ridge) = (0.05 * 4.5, 0.5e-9 * 1600.0);
    assert!(upper <= line + ridge + 1e-7, "{certificate}");
    assert!(lower <= line + ridge && lower > line - 1e-6, "{certificate}");
}

/// A gap that is not reached is said, with its size.
#[test]
fn a_gap_that_is_missed_is_said() {
    let folder = Folder::with(Rows::new().table());
    let fit =
        "fit t.csv --target y --ignore l,c --groups g --holdout 0 --objective max --solver exact";
    let said = folder.prints(&format!("{fit} --max-iter 2"));
    assert!(
        said.contains("stopped at a gap of ") && said.contains(" was wanted: by --max-iter"),
        "{said}"
    );
    let said = folder.prints(&format!("{fit} --max-iter 2 --tol 1e3"));
    assert!(!said.contains("stopped at a gap of "), "{said}");
}

/// A model of an earlier version says within which intercepts its bound holds.
#[test]
fn bounds_of_earlier_versions_are_told_apart() {
    let folder = Folder::with(Rows::new().table());
    let fit =
        "fit t.csv --target y --ignore l,c --groups g --holdout 0 --objective max --solver exact";
    let stripped = |folder: &Folder| {
        let text = folder.read("out/model.json");
        let old = text.replace("\"any_intercept\": true,\n", "");
        assert_ne!(old, text);
        folder.edit("out/model.json", old);
    };
    let joined = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    folder.prints(&format!("{fit} --out out"));
    stripped(&folder);
    let within = "an intercept within ±100 (for numbers ±2 max|y| where that is more)";
    let said = joined(folder.prints("show out"));
    assert!(said.contains(&format!("no model with {within} can go below")), "{said}");
    let said = joined(folder.prints("certify out t.csv"));
    assert!(said.contains("no model can go below"), "{said}");
    assert!(said.contains(&format!("the stored one is about models with {within}")), "{said}");
    folder.prints(&format!("{fit} --out out --penalize-intercept"));
    stripped(&folder);
    assert!(!joined(folder.prints("show out")).contains("an intercept within"));
}
