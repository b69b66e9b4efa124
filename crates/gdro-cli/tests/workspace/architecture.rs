//! The picture of docs/architecture.md against `cargo metadata`, its paths against the repository, and the features
//! of the Python package's dependencies against those of the workspace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/architecture.md")).unwrap()
}

/// The crates of the workspace, and who depends on whom outside of tests.
fn built() -> (BTreeSet<String>, BTreeSet<(String, String)>) {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let crates: BTreeSet<String> = packages.iter().map(name).collect();
    let mut arrows = BTreeSet::new();
    for package in packages {
        let needed = package["dependencies"].as_array().unwrap();
        for other in needed.iter().filter(|other| other["kind"].is_null()) {
            if crates.contains(&name(other)) {
                arrows.insert((name(package), name(other)));
            }
        }
    }
    (crates, arrows)
}

#[test]
fn crates_depend_on_each_other_as_drawn() {
    let page = page();
    let (_, picture) = page.split_once("```mermaid\n").unwrap();
    let (picture, _) = picture.split_once("```").unwrap();
    let boxes = picture.lines().filter_map(|line| line.split_once("[\""));
    let boxes: BTreeSet<String> = boxes.map(|(name, _)| name.trim().to_owned()).collect();
    let arrows = picture.lines().filter_map(|line| line.split_once(" --> "));
    let arrows: BTreeSet<_> =
        arrows.map(|(from, to)| (from.trim().to_owned(), to.trim().to_owned())).collect();
    let (crates, needed) = built();
    assert_eq!(boxes, crates);
    assert_eq!(arrows, needed);
}

#[test]
fn every_path_exists() {
    let page = page();
    let (_, text) = page.split_once("## What flows").unwrap();
    let paths = text.split('`').skip(1).step_by(2).filter(|name| !name.starts_with("gdro-"));
    let paths: Vec<&str> = paths.collect();
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths {
        assert!(root().join(path).exists(), "no {path}");
    }
}

/// The dependencies of `packages`, each with the features it is built with.
#[cfg(target_os = "linux")]
fn dependencies(packages: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--no-dedupe", "--prefix", "none", "--format", "{p} {f}"])
        .args(packages)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// A dependency with other features is compiled again, with all that stands on it, by `pip install ./python` after
/// `cargo test`: minutes.
#[test]
#[cfg(target_os = "linux")]
fn the_python_package_builds_no_dependency_again() {
    let workspace = dependencies(&["--workspace", "--edges", "normal,build,dev"]);
    let python = dependencies(&["--package", "gdro-python", "--edges", "normal,build"]);
    let again: Vec<_> = python.difference(&workspace).collect();
    assert!(
        again.is_empty(),
        "add the features that the workspace has to python/Cargo.toml: {again:#?}"
    );
}
