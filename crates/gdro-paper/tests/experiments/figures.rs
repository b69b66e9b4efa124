//! Figures as readers see them: what is drawn and where, the same bytes each time, and what is
//! refused.

use std::collections::BTreeMap;

use crate::samples::{self, axis, falling};
use gdro_paper::figure::{
    Axis, Band, Curve, Dot, Error, Figure, Level, Mark, Panel, Scale, png, svg,
};
use resvg::usvg;
use roxmltree::{Document, Node};

/// The elements of this class.
fn class<'a>(document: &'a Document<'a>, name: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document.descendants().filter(move |node| node.attribute("class") == Some(name))
}

fn texts<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = String> {
    node.descendants()
        .filter(|node| node.has_tag_name("text"))
        .map(|node| node.text().unwrap().into())
}

/// The boxes of all texts, as a renderer with the font lays them out: left, top, right, bottom.
fn boxes(text: &str) -> (f32, f32, Vec<(String, [f32; 4])>) {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    let options = usvg::Options { fontdb: fonts.into(), ..Default::default() };
    let tree = usvg::Tree::from_str(text, &options).unwrap();
    let mut found = Vec::new();
    collect(tree.root(), &mut found);
    (tree.size().width(), tree.size().height(), found)
}

fn collect(group: &usvg::Group, found: &mut Vec<(String, [f32; 4])>) {
    for node in group.children() {
        match node {
            usvg::Node::Group(group) => collect(group, found),
            usvg::Node::Text(text) => {
                let bounds = text.abs_bounding_box();
                let words = text.chunks().iter().map(|chunk| chunk.text()).collect();
                found.push((words, [bounds.left(), bounds.top(), bounds.right(), bounds.bottom()]));
            }
            _ => {}
        }
    }
}

/// No text leaves the page or touches another one.
fn legible(name: &str, text: &str) {
    let (width, height, boxes) = boxes(text);
    for (i, (words, [left, top, right, bottom])) in boxes.iter().enumerate() {
        assert!(
            *left >= 0.0 && *top >= 0.0 && *right <= width && *bottom <= height,
            "{name}: `{words}` leaves the page"
        );
        for (other, [l, t, r, b]) in &boxes[..i] {
            let apart = left >= r || l >= right || top >= b || t >= bottom;
            assert!(apart, "{name}: `{words}` over `{other}`");
        }
    }
}

#[test]
fn samples_are_legible_and_the_same_each_time() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, figure) in samples::all() {
        let text = svg(&figure).unwrap();
        legible(name, &text);
        let picture = png(&text).unwrap();
        assert_eq!(svg(&figure.clone()).unwrap(), text);
        assert_eq!(png(&text).unwrap(), picture);
        std::fs::write(folder.join(name).with_extension("svg"), &text).unwrap();
        std::fs::write(folder.join(name).with_extension("png"), &picture).unwrap();
    }
}

#[test]
fn every_name_once_and_every_curve_in_its_panel() {
    for (name, figure) in samples::all() {
        let text = svg(&figure).unwrap();
        let document = Document::parse(&text).unwrap();
        let mut names: Vec<&str> = Vec::new();
        for panel in &figure.panels {
            names.extend(panel.curves.iter().map(|c| c.name.as_str()));
            names.extend(panel.levels.iter().map(|l| l.name.as_str()));
            names.extend(panel.marks.iter().map(|m| m.name.as_str()));
            names.extend(panel.dots.iter().map(|d| d.name.as_str()));
        }
        names.sort_unstable();
        names.dedup();
        let mut legend: Vec<String> = class(&document, "legend").flat_map(texts).collect();
        legend.sort_unstable();
        assert_eq!(
            legend,
            names.into_iter().filter(|n| !n.is_empty()).collect::<Vec<_>>(),
            "{name}"
        );

        let panels: Vec<Node> = class(&document, "panel").collect();
        assert_eq!(panels.len(), figure.panels.len(), "{name}");
        for (node, panel) in panels.iter().zip(&figure.panels) {
            let count = |class: &str| {
                node.descendants().filter(|n| n.attribute("class") == Some(class)).count()
            };
            assert_eq!(count("curve"), panel.curves.len(), "{name}");
            let banded = |c: &&Curve| !c.bound && c.points.iter().any(|p| p.low < p.high);
            assert_eq!(count("band"), panel.curves.iter().filter(banded).count(), "{name}");
            assert_eq!(count("level"), panel.levels.len(), "{name}");
            assert_eq!(count("mark"), panel.marks.len(), "{name}");
            assert_eq!(count("dot"), panel.dots.len(), "{name}");
        }
    }
}

/// A panel with one curve through these points, without a band.
fn panel(scale: Scale, points: &[(f64, f64)]) -> Panel {
    let point = |&(x, y): &(f64, f64)| Band { x, low: y, median: y, high: y };
    let curve = Curve {
        name: "curve".into(),
        points: points.iter().map(point).collect(),
        ..Default::default()
    };
    Panel {
        x: axis("x", scale, None),
        y: axis("y", scale, None),
        curves: vec![curve],
        ..Default::default()
    }
}

fn figure(panels: Vec<Panel>) -> Figure {
    Figure { title: "title".into(), columns: panels.len().min(4), panels }
}

/// The points of the only line of the only curve.
fn line(text: &str) -> Vec<(f64, f64)> {
    let document = Document::parse(text).unwrap();
    let curve = class(&document, "curve").next().unwrap();
    let path = curve.descendants().find_map(|node| node.attribute("d")).unwrap();
    let numbers = |pair: &str| {
        pair.split_once(' ').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap()
    };
    path[1..].split('L').map(numbers).collect()
}

#[test]
fn points_are_where_their_numbers_say() {
    // Three corners of the range, and its middle on either scale.
    for (scale, middle) in [(Scale::Linear, 50.5), (Scale::Log, 10.0)] {
        let mut panel = panel(scale, &[(1.0, 1.0), (middle, middle), (100.0, 100.0)]);
        panel.x.range = Some((1.0, 100.0));
        panel.y.range = Some((1.0, 100.0));
        let text = svg(&figure(vec![panel])).unwrap();
        let points = line(&text);
        let ((left, bottom), (right, top)) = (points[0], points[2]);
        assert!(right - left > 300.0 && bottom - top > 200.0);
        assert!(
            (points[1].0 - (left + right) / 2.0).abs() < 0.02
                && (points[1].1 - (bottom + top) / 2.0).abs() < 0.02
        );
        let document = Document::parse(&text).unwrap();
        // The numbers under the x axis stand under the places of their values.
        let numbers = class(&document, "numbers").next().unwrap();
        let place = |node: &Node| {
            (node.text().unwrap().to_string(), node.attribute("x").unwrap().parse::<f64>().unwrap())
        };
        let centred = |node: &Node| node.attribute("text-anchor") == Some("middle");
        let places: BTreeMap<_, _> = numbers
            .children()
            .filter(Node::is_element)
            .filter(centred)
            .map(|n| place(&n))
            .collect();
        let (label, at) = if scale == Scale::Log { ("10¹", 0.5) } else { ("100", 1.0) };
        assert!((places[label] - (left + at * (right - left))).abs() < 0.02, "{places:?}");
    }
}

#[test]
fn what_has_no_place_on_a_logarithmic_axis_is_left_out() {
    let points = [(0.0, 1.0), (1.0, 1.0), (10.0, 0.0), (100.0, 1e-3), (1000.0, 1e-4)];
    let text = svg(&figure(vec![panel(Scale::Log, &points)])).unwrap();
    let document = Document::parse(&text).unwrap();
    let curve = class(&document, "curve").next().unwrap();
    let drawn: Vec<_> =
        curve.children().filter(Node::is_element).map(|node| node.tag_name().name()).collect();
    assert_eq!(drawn, ["circle", "path"], "a point by itself, a gap, and a line of two points");
    // A band that reaches zero goes down to the frame.
    let mut low = panel(Scale::Log, &[(1.0, 1.0), (10.0, 0.1)]);
    low.curves[0].points[1].low = 0.0;
    let text = svg(&figure(vec![low])).unwrap();
    let document = Document::parse(&text).unwrap();
    let band = class(&document, "band").next().unwrap();
    let lowest = band.descendants().find_map(|node| node.attribute("d")).unwrap();
    let lowest = lowest.split(['M', 'L', 'Z', ' ']).filter_map(|n| n.parse::<f64>().ok());
    let lowest = lowest.skip(1).step_by(2).fold(0.0, f64::max);
    // A line of the grid ends at the frame's lower edge.
    let grid = class(&document, "grid").next().unwrap();
    let upright = grid.descendants().find_map(|node| node.attribute("d")).unwrap();
    let bottom: f64 = upright.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((lowest - bottom).abs() < 0.02, "{lowest} {bottom}");
}

#[test]
fn the_smallest_figures_are_drawn() {
    for scale in [Scale::Linear, Scale::Log] {
        let cases: [&[(f64, f64)]; 7] = [
            &[],
            &[(3.0, 2.0)],
            &[(0.0, 0.0)],
            &[(-1.0, -5.0), (2.0, -5.0)],
            &[(1.0, 7.0), (1.0, 7.0)],
            &[(1.0, 1e-300), (2.0, 1e300)],
            &[(5e-324, 5e-324), (1e-320, 1e300)],
        ];
        for points in cases {
            let text = svg(&figure(vec![panel(scale, points)])).unwrap();
            assert!(!text.contains("NaN") && !text.contains("inf"), "{points:?}");
            legible("small", &text);
            png(&text).unwrap();
        }
        let nothing = Panel { x: axis("", scale, None), ..Default::default() };
        let text =
            svg(&Figure { title: String::new(), columns: 4, panels: vec![nothing] }).unwrap();
        assert!(text.contains("no data"));
        legible("nothing", &text);
    }
}

#[test]
fn far_points_stay_in_their_frame() {
    let mut panel = panel(Scale::Linear, &[(0.0, 1e200), (0.5, 0.5), (1.0, -1e200)]);
    panel.y.range = Some((0.0, 1.0));
    panel.x.range = Some((0.0, 1e-200));
    let text = svg(&figure(vec![panel])).unwrap();
    assert!(line(&text).iter().all(|(x, y)| x.abs() <= 20_000.0 && y.abs() <= 20_000.0));
    png(&text).unwrap();
}

#[test]
fn nothing_is_drawn_outside_of_the_frame() {
    let mut panel =
        panel(Scale::Linear, &[(-1.0, 3.0), (0.0, -3.0), (0.5, 0.5), (1.0, 3.0), (2.0, 0.5)]);
    panel.curves[0].points[2].high = 5.0;
    (panel.x.range, panel.y.range) = (Some((0.0, 1.0)), Some((0.0, 1.0)));
    // Without a name there is no legend, so that the colour of the curve is that of the curve only.
    panel.curves[0].name = String::new();
    let text = svg(&figure(vec![panel])).unwrap();
    let picture = resvg::tiny_skia::Pixmap::decode_png(&png(&text).unwrap()).unwrap();
    let document = Document::parse(&text).unwrap();
    let frame = document.descendants().find(|node| node.has_tag_name("clipPath")).unwrap();
    let frame = frame.first_element_child().unwrap();
    let [left, top, width, height] = ["x", "y", "width", "height"]
        .map(|side| 2.0 * frame.attribute(side).unwrap().parse::<f64>().unwrap());
    let blue =
        |p: resvg::tiny_skia::PremultipliedColorU8| i32::from(p.blue()) - i32::from(p.red()) > 20;
    let (mut inside, mut outside) = (0, 0);
    for i in (0..picture.pixels().len()).filter(|&i| blue(picture.pixels()[i])) {
        let (x, y) = ((i as u32 % picture.width()) as f64, (i as u32 / picture.width()) as f64);
        let within = |v: f64, start: f64, length: f64| v > start - 2.0 && v < start + length + 1.0;
        *if within(x, left, width) && within(y, top, height) {
            &mut inside
        } else {
            &mut outside
        } += 1;
    }
    assert!(inside > 1000 && outside == 0, "{inside} pixels inside, {outside} outside");
}

#[test]
fn long_texts_are_wrapped_and_many_names_are_legible() {
    let long = "a rather long name that says more than it should and goes on for longer than the page is wide or so it seems";
    let mut panel = panel(Scale::Log, &[(1.0, 0.5), (1e6, 0.25)]);
    panel.title = long.into();
    (panel.x.label, panel.y.label) = (long.into(), "y".repeat(60));
    panel.curves = (0..20)
        .map(|i| falling(&format!("{} {i}", &long[..4 * i]), i, (1.0, 0.1, 0.5), (1.0, 1e6)))
        .collect();
    for columns in 1..=4 {
        let figure = Figure {
            title: format!("{long}, {long}"),
            columns,
            panels: vec![panel.clone(); columns + 1],
        };
        legible(&format!("{columns} columns"), &svg(&figure).unwrap());
    }
}

#[test]
fn bounds_and_dots_of_one_name_share_an_entry_in_grey() {
    let mut figure = samples::gaps();
    for panel in &mut figure.panels {
        for curve in panel.curves.iter_mut().filter(|c| c.bound) {
            curve.name = "bound".into();
        }
        let dot = |style| Dot { name: "bound at T".into(), style, x: 100.0, y: 1.0 };
        panel.dots = vec![dot(1), dot(4)];
    }
    let text = svg(&figure).unwrap();
    legible("bounds", &text);
    let document = Document::parse(&text).unwrap();
    let legend = class(&document, "legend").next().unwrap();
    let names = ["SMD(m)", "SMPA_m", "bound", "bound at T"];
    assert_eq!(texts(legend).collect::<Vec<_>>(), names);
    let grey = |node: &Node| {
        node.attribute("stroke") == Some("#777777") || node.attribute("fill") == Some("#777777")
    };
    assert_eq!(legend.descendants().filter(grey).count(), 2);
    figure.panels[0].dots[0].name = "other".into();
    assert!(svg(&figure).is_ok(), "another shape");
    figure.panels[0].curves[2].name = "other".into();
    assert!(svg(&figure).unwrap_err().to_string().contains("of `other` and of `bound`"));
}

/// The message of what is wrong with a figure that is fine but for this change.
fn refused(change: impl FnOnce(&mut Figure)) -> String {
    let mut figure = samples::balanced();
    figure.panels[2].dots = vec![Dot { name: "dot".into(), style: 1, x: 1.0, y: 0.5 }];
    figure.panels[2].marks = vec![Mark { name: "mark".into(), x: 1.0 }];
    assert!(svg(&figure).is_ok());
    change(&mut figure);
    svg(&figure).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_drawn_is_refused_by_name() {
    let value = |change: fn(&mut Panel)| refused(|f| change(&mut f.panels[2]));
    assert_eq!(
        value(|p| p.curves[1].points[4].median = f64::NAN),
        "panel (c), point 5 of curve `SMD(m)`: NaN; expected a finite number of at most 1e300"
    );
    assert!(
        value(|p| p.curves[0].points[0].x = f64::INFINITY)
            .contains("point 1 of curve `SMD(1)`: inf;")
    );
    assert!(
        value(|p| p.curves[0].points[0].high = 1e301).contains("point 1 of curve `SMD(1)`: 1000")
    );
    assert!(
        value(|p| p.levels[0].low = f64::NAN).contains("panel (c), level `exact optimum`: NaN")
    );
    assert!(value(|p| p.marks[0].x = f64::NAN).contains("panel (c), mark `mark`: NaN"));
    assert!(value(|p| p.dots[0].y = f64::NAN).contains("panel (c), dot `dot`: NaN"));
    assert!(
        value(|p| p.curves[0].points[3].low = 9.0)
            .contains("point 4 of curve `SMD(1)`: a band from 9 to")
    );
    assert!(value(|p| p.levels[0].high = 0.0).contains("level `exact optimum`: a band from"));
    assert!(
        value(|p| p.curves[0].points[3].x = 0.5)
            .contains("point 4 of curve `SMD(1)`: x = 0.5 after")
    );
    assert_eq!(
        value(|p| p.x.range = Some((0.0, 1.0))),
        "panel (c), x axis: a range from 0 to 1; expected two positive finite numbers, the smaller one first and more than rounding apart"
    );
    for range in [
        (1.0, 1.0),
        (2.0, 1.0),
        (f64::NAN, 1.0),
        (0.0, f64::INFINITY),
        (1.0, 1.0 + 1e-12),
        (0.0, 1e-310),
    ] {
        let message = refused(|f| f.panels[0].y.range = Some(range));
        assert!(
            message.starts_with("panel (a), y axis: a range from")
                && message.contains("two finite numbers")
        );
    }
    assert!(
        value(|p| p.curves[0].style = 64)
            .contains("panel (c), `SMD(1)`: style 64; expected one below 64")
    );
    assert!(value(|p| p.dots[0].style = 99).contains("panel (c), `dot`: style 99"));
    assert!(
        value(|p| p.curves[0].name = "other".into())
            .starts_with("style 0 is that of `SMD(1)` and of `other`")
    );
    assert!(value(|p| p.curves[0].style = 7).starts_with("style 7 is that of `SMD(1)`"));
    assert!(value(|p| p.title = "5 $".into()).starts_with("`5 $` holds '$'"));
    assert!(value(|p| p.curves[0].name = "\u{4e2d}".into()).contains("holds '\u{4e2d}'"));
    assert_eq!(refused(|f| f.columns = 0), "0 columns of panels; expected 1 to 4");
    assert_eq!(refused(|f| f.columns = 5), "5 columns of panels; expected 1 to 4");
    assert_eq!(refused(|f| f.panels.clear()), "0 panels; expected 1 to 12");
    assert_eq!(refused(|f| f.panels = vec![Panel::default(); 13]), "13 panels; expected 1 to 12");
    assert!(matches!(png("no picture"), Err(Error::Picture { .. })));
    let huge = r#"<svg xmlns="http://www.w3.org/2000/svg" width="1e9" height="1e9"/>"#;
    assert!(matches!(png(huge), Err(Error::Picture { .. })));
}

#[test]
fn a_level_and_a_mark_are_never_lost() {
    let mut panel = panel(Scale::Linear, &[(0.0, 0.5), (1.0, 0.25)]);
    panel.x.range = Some((0.0, 1.0));
    panel.y = Axis { range: Some((0.2, 0.6)), ..panel.y };
    panel.levels = vec![Level { name: "optimum".into(), value: 0.1, low: 0.1, high: 0.1 }];
    panel.marks = vec![Mark { name: "T".into(), x: 2.0 }];
    let text = svg(&figure(vec![panel])).unwrap();
    let points = line(&text);
    let document = Document::parse(&text).unwrap();
    let start = |name| -> (f64, f64) {
        let path = class(&document, name)
            .next()
            .unwrap()
            .descendants()
            .find_map(|node| node.attribute("d"))
            .unwrap();
        let (x, y) = path[1..].split_once('L').unwrap().0.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    // The level at 0.1 is as far below 0.25 as 0.5 is above, in the ratio of 0.15 to 0.25.
    let unit = (points[1].1 - points[0].1) / 0.25;
    assert!((start("level").1 - points[1].1 - 0.15 * unit).abs() < 0.05);
    assert!((start("mark").0 - points[1].0 - (points[1].0 - points[0].0)).abs() < 0.05);
}
