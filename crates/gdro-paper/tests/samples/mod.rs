//! Figures such as the experiments make, from made-up numbers.

use gdro_paper::figure::{Axis, Band, Curve, Dot, Figure, Level, Mark, Panel, Scale};

/// All of them, with names for files.
pub fn all() -> Vec<(&'static str, Figure)> {
    vec![
        ("balanced", balanced()),
        ("imbalanced", imbalanced()),
        ("example", example()),
        ("many", many()),
        ("gaps", gaps()),
        ("anytime", anytime()),
        ("grid", grid()),
        ("outliers", outliers()),
    ]
}

pub fn axis(label: &str, scale: Scale, range: Option<(f64, f64)>) -> Axis {
    Axis { label: label.into(), scale, range }
}

/// Noise in [-1, 1] that looks the same everywhere.
fn noise(seed: u64, i: usize) -> f64 {
    let mut state = (seed << 32 | i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// 90 points on a grid of ratios.
fn geometric(first: f64, last: f64) -> impl Iterator<Item = (usize, f64)> {
    (0..90).map(move |i| (i, first * (last / first).powf(i as f64 / 89.0)))
}

/// A risk that falls from `start` to `end` as t^-rate, with a band that narrows.
pub fn falling(
    name: &str,
    style: usize,
    (start, end, rate): (f64, f64, f64),
    (first, last): (f64, f64),
) -> Curve {
    let point = |(i, t): (usize, f64)| {
        let part = (t / first).powf(-rate);
        let wobble = 0.05 * part.sqrt() * noise(style as u64 + 1, i);
        let median = end + (start - end) * (part * (1.0 + wobble)).min(1.02);
        let wide = (start - end) * (0.02 + 0.15 * part.sqrt() * (1.0 - part));
        Band { x: t, low: (median - wide).max(0.9 * end), median, high: median + 1.3 * wide }
    };
    Curve {
        name: name.into(),
        style,
        bound: false,
        points: geometric(first, last).map(point).collect(),
    }
}

/// Two rows of two panels: risks by round and by sample, three curves each, and the optimum.
pub fn balanced() -> Figure {
    let panel = |title: &str, label: &str, last: f64, optimum: f64| Panel {
        title: title.into(),
        x: axis(label, Scale::Log, None),
        y: axis("maximal risk", Scale::Linear, None),
        curves: vec![
            falling("SMD(1)", 0, (0.693, optimum + 0.03, 0.25), (1.0, last)),
            falling("SMD(m)", 1, (0.693, optimum + 0.001, 0.45), (1.0, last)),
            falling("Online(1)", 2, (0.693, optimum + 0.01, 0.35), (1.0, last)),
        ],
        levels: vec![Level {
            name: "exact optimum".into(),
            value: optimum,
            low: optimum - 0.004,
            high: optimum + 0.004,
        }],
        ..Default::default()
    };
    Figure {
        title: "Balanced groups: maximal risk over the groups, by rounds and by samples".into(),
        columns: 2,
        panels: vec![
            panel("synthetic, m = 20", "round t", 2e4, 0.281),
            panel("synthetic, m = 20", "samples", 4e5, 0.281),
            panel("Adult, m = 6", "round t", 2e4, 0.402),
            panel("Adult, m = 6", "samples", 1.2e5, 0.402),
        ],
    }
}

/// Risks of six groups under four algorithms.
pub fn imbalanced() -> Figure {
    let panel = |(i, n): (usize, &usize)| {
        let i = i as f64;
        let range = (10.0, 20_000.0);
        Panel {
            title: format!("P{} (n = {n})", ["₁", "₄", "₈", "₁₂", "₁₆", "₂₀"][i as usize]),
            x: axis("samples from the largest group", Scale::Log, None),
            y: axis("risk", Scale::Linear, None),
            curves: vec![
                falling("SMD(m)", 1, (0.69, 0.36 - 0.02 * i, 0.4), range),
                falling("SMD_r", 3, (0.69, 0.30 - 0.02 * i, 0.3), range),
                falling("SMPA_m", 4, (0.69, 0.31 - 0.02 * i, 0.6), range),
                falling("hybrid", 5, (0.69, 0.29 - 0.015 * i, 0.5), range),
            ],
            levels: vec![Level {
                name: "risk of the exact solution".into(),
                value: 0.28 - 0.02 * i,
                low: 0.28 - 0.02 * i,
                high: 0.28 - 0.02 * i,
            }],
            ..Default::default()
        }
    };
    Figure {
        title: "Imbalanced synthetic groups".into(),
        columns: 3,
        panels: [20_000, 17_000, 13_000, 9_000, 5_000, 1_000]
            .iter()
            .enumerate()
            .map(panel)
            .collect(),
    }
}

/// Sixteen risk curves of one number w, and two solutions; two panels of different heights.
pub fn example() -> Figure {
    let parabola = |i: usize, scale: f64| {
        let (centre, base) = (i as f64 / 15.0, 0.1 + 0.02 * (i % 5) as f64);
        let point = |k: i32| {
            let x = f64::from(k) / 100.0;
            let y = scale * (base + 0.8 * (x - centre).powi(2));
            Band { x, low: y, median: y, high: y }
        };
        let name = if i == 15 {
            "outlier P₁₆".into()
        } else if i == 0 {
            "P₁ to P₁₅".into()
        } else {
            String::new()
        };
        Curve {
            name,
            style: if i == 15 { 1 } else { 0 },
            bound: false,
            points: (0..=100).map(point).collect(),
        }
    };
    let panel = |title: &str, label: &str, scale: f64| Panel {
        title: title.into(),
        x: axis("w", Scale::Linear, None),
        y: axis(label, Scale::Linear, None),
        curves: (0..16).map(|i| parabola(i, scale)).collect(),
        dots: vec![
            Dot {
                name: "minimiser of the largest risk".into(),
                style: 2,
                x: 0.52,
                y: 0.36 * scale,
            },
            Dot {
                name: "minimiser of the mean of the 5 largest risks".into(),
                style: 3,
                x: 0.43,
                y: 0.31 * scale,
            },
        ],
        ..Default::default()
    };
    let panels = vec![
        panel("risks Rᵢ(w)", "risk", 1.0),
        panel("objectives", "L₅(w) and L_max(w), in thousandths", 1000.0),
    ];
    Figure { title: "Example 1".into(), columns: 2, panels }
}

/// One panel of twelve curves.
pub fn many() -> Figure {
    let name = |i: usize| {
        [
            "SMD(1)",
            "SMD(m)",
            "Online(1)",
            "SMD_r",
            "SMPA_m",
            "hybrid",
            "AT₃RO(m)",
            "AT₃RO(k)",
            "AT₁RO(1)ₐ",
        ]
        .get(i)
        .map_or(format!("SMD(m), η = 10⁻{}", ["¹", "²", "³", "⁴"][i % 4]), ToString::to_string)
    };
    let curve = |i: usize| {
        falling(&name(i), i, (0.7, 0.25 + 0.015 * i as f64, 0.3 + 0.02 * i as f64), (1.0, 1e4))
    };
    let panel = Panel {
        x: axis("round t", Scale::Log, None),
        y: axis("maximal risk", Scale::Linear, None),
        curves: (0..12).map(curve).collect(),
        ..Default::default()
    };
    Figure { title: "Every algorithm with tuned steps".into(), columns: 1, panels: vec![panel] }
}

/// Duality gaps over six decades, and bounds.
pub fn gaps() -> Figure {
    let line = |name: &str, style, rate: f64, factor: f64| {
        let point = |(_, t): (usize, f64)| {
            let y = factor * t.powf(-rate);
            Band { x: t, low: y, median: y, high: y }
        };
        Curve {
            name: name.into(),
            style,
            bound: true,
            points: geometric(1.0, 1e5).map(point).collect(),
        }
    };
    let gap = |name: &str, style: usize, rate: f64| {
        let point = |(i, t): (usize, f64)| {
            let median = t.powf(-rate) * 10f64.powf(0.1 * noise(style as u64 + 5, i));
            Band {
                x: t,
                low: if i % 30 == 7 { 0.0 } else { 0.6 * median },
                median,
                high: 1.7 * median,
            }
        };
        Curve {
            name: name.into(),
            style,
            bound: false,
            points: geometric(1.0, 1e5).map(point).collect(),
        }
    };
    let panel = |title: &str| Panel {
        title: title.into(),
        x: axis("round t", Scale::Log, None),
        y: axis("exact duality gap", Scale::Log, None),
        curves: vec![
            gap("SMD(m)", 1, 0.5),
            gap("SMPA_m", 4, 1.2),
            line("bound of SMD(m), δ = 0.1", 1, 0.5, 30.0),
            line("bound of SMPA_m, δ = 0.1", 4, 0.5, 90.0),
        ],
        ..Default::default()
    };
    Figure {
        title: "Gaps and what the theorems promise".into(),
        columns: 2,
        panels: vec![panel("theory"), panel("tuned")],
    }
}

/// A preset number of rounds, and anytime forms that go on.
pub fn anytime() -> Figure {
    let panel = |title: &str, preset: f64, last: f64| Panel {
        title: title.into(),
        x: axis("round t", Scale::Linear, None),
        y: axis("excess of the maximal risk over the optimum", Scale::Log, None),
        curves: vec![
            falling("SMD(m), T preset", 1, (0.5, 0.02, 0.9), (preset / 50.0, last)),
            falling("SMD(m), anytime", 6, (0.5, 0.004, 0.7), (preset / 50.0, last)),
        ],
        marks: vec![Mark { name: "preset T".into(), x: preset }],
        ..Default::default()
    };
    Figure {
        title: String::new(),
        columns: 2,
        panels: vec![
            panel("Adult, T = 2000", 2000.0, 10_000.0),
            panel("heterogeneous, T = 50 000, k = 3", 50_000.0, 200_000.0),
        ],
    }
}

/// Twelve small panels in four columns, and names that fill several rows of the legend.
pub fn grid() -> Figure {
    let panel = |i: usize| Panel {
        title: format!("P{}, a distribution of its own", i + 1),
        x: axis("samples", Scale::Log, None),
        y: axis("risk", Scale::Linear, None),
        curves: vec![
            falling(
                "SMD(m) with the steps of the theorem",
                1,
                (0.69, 0.2 + 0.01 * i as f64, 0.4),
                (1000.0, 50_000.0),
            ),
            falling(
                "AT₃RO(m) with tuned steps",
                6,
                (0.69, 0.21 + 0.01 * i as f64, 0.5),
                (1000.0, 50_000.0),
            ),
            falling(
                "AT₃RO(k) with tuned steps",
                7,
                (0.69, 0.23 + 0.01 * i as f64, 0.3),
                (1000.0, 50_000.0),
            ),
        ],
        ..Default::default()
    };
    let title = "A title that is so long that one line of seven inches has no room for it, as titles of figures in reports are sometimes";
    Figure { title: title.into(), columns: 4, panels: (0..11).map(panel).collect() }
}

/// Two panels of curves whose first points are far off, a level with a band, and two marks.
pub fn outliers() -> Figure {
    let far = |mut curve: Curve, factor: f64| {
        for point in &mut curve.points[..4] {
            (point.low, point.median, point.high) =
                (point.low * factor, point.median * factor, point.high * factor);
        }
        curve
    };
    let panel = |scale, factor| Panel {
        title: "first points far off".into(),
        x: axis("round t", Scale::Log, None),
        y: axis("L₃ = mean of the 3 largest risks", scale, None),
        curves: vec![
            far(falling("AT₃RO(m)", 6, (0.5, 0.3, 0.5), (1.0, 1e4)), factor),
            far(falling("AT₃RO(k)", 7, (0.5, 0.32, 0.4), (1.0, 1e4)), factor),
        ],
        levels: vec![
            Level { name: "optimum".into(), value: 0.3, low: 0.295, high: 0.305 },
            Level { name: "optimum of the sample".into(), value: 0.29, low: 0.29, high: 0.29 },
        ],
        marks: vec![Mark { name: "n₁".into(), x: 1000.0 }, Mark { name: "n₂".into(), x: 300.0 }],
        ..Default::default()
    };
    let panels = vec![panel(Scale::Linear, 10.0), panel(Scale::Log, 1e4)];
    Figure { title: "Outliers".into(), columns: 2, panels }
}
