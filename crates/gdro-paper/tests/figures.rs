//! Figures as readers see them: what is drawn, where, and what is refused.

mod samples;

use gdro_paper::figure::{Figure, png, svg};

#[test]
fn every_sample_is_drawn() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, figure) in samples::all() {
        let text = svg(&figure).unwrap();
        std::fs::write(folder.join(name).with_extension("svg"), &text).unwrap();
        let bytes = png(&text).unwrap();
        std::fs::write(folder.join(name).with_extension("png"), &bytes).unwrap();
        let _: &Figure = &figure;
    }
}
