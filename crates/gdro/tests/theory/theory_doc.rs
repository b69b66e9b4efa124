//! What `docs/theory.md` names exists.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All sources below a folder, as one text.
fn sources(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all += &sources(&path);
        } else if path.extension().is_some_and(|e| e == "rs") {
            all += &text(&path);
        }
    }
    all
}

/// The text of the test file of this name, in the folder of some theme.
fn test_file(name: &str) -> String {
    let themes = std::fs::read_dir(root().join("tests")).unwrap();
    let folders = themes.map(|entry| entry.unwrap().path()).chain([root().join("tests")]);
    let files: Vec<_> = folders.map(|f| f.join(name)).filter(|f| f.is_file()).collect();
    let [file] = &files[..] else { panic!("{} files `{name}`", files.len()) };
    text(file)
}

/// Whether `words` stands in `text` and the name does not go on.
fn declares(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let next = text[at + words.len()..].chars().next();
        !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Texts in backquotes of the tables.
fn names(doc: &str) -> Vec<&str> {
    let tables = doc.lines().filter(|line| line.starts_with('|'));
    tables.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn every_item_and_every_test_exists() {
    let doc = text(&root().join("../../docs/theory.md"));
    let (mut items, mut tests) = (0, 0);
    for name in names(&doc) {
        if let Some((file, test)) = name.split_once(".rs::") {
            let file = file.to_owned() + ".rs";
            let in_src = file.starts_with("src/");
            let source = if in_src { text(&root().join(&file)) } else { test_file(&file) };
            assert!(declares(&source, &format!("fn {test}")), "no test `{name}`");
            tests += 1;
        } else if let Some((module, item)) = name.split_once("::") {
            // `module::item`, or `Type::member`.
            let lower = module.starts_with(char::is_lowercase);
            let folder = root().join("src").join(module);
            let source = match lower {
                true if folder.is_dir() => sources(&folder),
                true => text(&folder.with_extension("rs")),
                false => sources(&root().join("src")),
            };
            let kinds = ["fn", "struct", "enum", "trait"].map(|kind| format!("{kind} {item}"));
            let field = format!("pub {item}:");
            let found = kinds.iter().any(|k| declares(&source, k)) || source.contains(&field);
            assert!(found, "no `{name}`");
            items += 1;
        }
    }
    assert!(items > 70 && tests > 60, "{items} items, {tests} tests");
}

/// Every algorithm has a row.
#[test]
fn every_algorithm_is_in_the_tables() {
    let doc = text(&root().join("../../docs/theory.md"));
    let names = names(&doc);
    for algorithm in gdro::algorithm::Algorithm::ALL {
        let function = format!("algorithm::{}", algorithm.name().replace('-', "_"));
        assert!(names.contains(&function.as_str()), "no row for {algorithm}");
    }
}

/// Every line of the boxes of Algorithms 1 to 7 but "end for" has a row.
#[test]
fn every_line_of_the_boxes_is_in_the_tables() {
    let doc = text(&root().join("../../docs/theory.md"));
    let section = doc.split("## ").find(|s| s.starts_with("The boxes, line by line")).unwrap();
    let rows: Vec<Vec<&str>> = section
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('`'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    for algorithm in 1..=7 {
        let lines: &[u64] = match algorithm {
            4 => &[1, 2, 3, 4, 5, 6, 7, 8, 10],
            6 => &[1, 2, 3, 4, 5, 6, 8],
            _ => &[1, 2, 3, 4, 5, 7],
        };
        for line in lines {
            let is_of = |row: &&Vec<&str>| {
                row[0].split(", ").any(|a| a.parse() == Ok(algorithm))
                    && row[1].parse() == Ok(*line)
            };
            let found = rows.iter().filter(is_of).count();
            assert_eq!(found, 1, "line {line} of Algorithm {algorithm}");
        }
    }
}
