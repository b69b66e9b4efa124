//! No two files of a crate use each other, directly or in a circle.
//!
//! What is seen: every path in the code of `src` whose names lead to another module of the crate
//! (`use` declarations and paths in full), with re-exports followed to the file that defines the
//! item. A re-export counts only where the file uses the name itself, `use …::*` as a use of that
//! module. What is not seen: methods that are called on a value without a path, what macros write,
//! and the code of tests.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates, from `crates` on.
const CRATES: [&str; 8] = [
    "gdro",
    "gdro-data",
    "gdro-train",
    "gdro-report",
    "gdro-cli",
    "gdro-paper",
    "../data",
    "../python",
];

#[test]
fn files_do_not_use_each_other_in_circles() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let found = CRATES.map(|name| (name, circles(&crates.join(name).join("src"))));
    let found: Vec<_> = found.into_iter().filter(|(_, circles)| !circles.is_empty()).collect();
    assert!(found.is_empty(), "circles of files: {found:#?}");
}

#[test]
fn circles_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |files: &[(&str, &str)]| {
        for (file, text) in files {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        circles(folder.path())
    };
    // Re-exports, comments, texts, tests and inline modules make none.
    let found = write(&[
        ("lib.rs", "mod a;\nmod b;\npub use a::{A, inner::Deep as D};\nmod c { pub struct C; }"),
        ("a/mod.rs", "pub mod inner;\npub use inner::Deep;\npub struct A(crate::b::B);"),
        ("a/inner.rs", "pub struct Deep(/* crate::a::A */ &'static str, crate::c::C);"),
        ("b.rs", "use crate::D; pub struct B(D);\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
    ]);
    assert_eq!(found, [""; 0]);
    // Through a re-export, and from a child to an item of its parent.
    let found = write(&[
        ("b.rs", "pub struct B(crate::A);"),
        ("a/inner.rs", "use super::A as Above; pub struct Deep(Above);"),
        ("a/mod.rs", "pub mod inner;\npub struct A(crate::b::B, inner::Deep);"),
    ]);
    let inner = "a/inner.rs uses A of a/mod.rs; a/mod.rs uses Deep of a/inner.rs";
    assert_eq!(found, [format!("{inner}; a/mod.rs uses B of b.rs; b.rs uses A of a/mod.rs")]);
    // A module that is imported as a whole.
    let found = write(&[
        ("a/mod.rs", "pub mod inner;\nuse crate::b;\npub struct A; fn f() { b::f(\"}\", '\"') }"),
        ("b.rs", "use crate::a::{self, inner}; pub fn f(_: &str, _: char) { a::f() }"),
        ("a/inner.rs", "pub struct Deep;"),
    ]);
    assert_eq!(found, ["a/mod.rs uses f of b.rs; b.rs uses f of a/mod.rs"]);
}

/// A module of a crate.
#[derive(Default)]
struct Module {
    /// The file, from `src` on.
    file: String,
    parent: usize,
    children: HashMap<String, usize>,
    /// Imported name → path, and whether it is exported, too.
    imports: HashMap<String, (Vec<String>, bool)>,
    /// Paths outside of `use` declarations; a single name is a path.
    paths: HashSet<Vec<String>>,
}

/// The circles of files below `src`, each as who uses what.
fn circles(src: &Path) -> Vec<String> {
    let mut modules = Vec::new();
    let root = ["lib.rs", "main.rs"].into_iter().find(|f| src.join(f).exists()).unwrap();
    load(&mut modules, src, PathBuf::from(root), PathBuf::new(), 0);
    let mut uses: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (at, module) in modules.iter().enumerate() {
        let imports = module.imports.iter().filter(|(name, (_, exported))| {
            !exported || module.paths.iter().any(|path| path[0] == **name)
        });
        let imports = imports.map(|(_, (path, _))| path);
        for path in imports.chain(&module.paths) {
            if let Some((owner, Some(item))) = resolve(&modules, at, path)
                && modules[owner].file != module.file
            {
                uses.entry((&module.file, &modules[owner].file)).or_default().insert(item);
            }
        }
    }
    // Which file reaches which.
    let mut reached: BTreeSet<(&str, &str)> = uses.keys().copied().collect();
    let files: BTreeSet<&str> = modules.iter().map(|m| m.file.as_str()).collect();
    for middle in &files {
        for from in files.iter().filter(|f| reached.contains(&(f, middle))).collect::<Vec<_>>() {
            let on = files.iter().filter(|to| reached.contains(&(middle, to)));
            let on: Vec<_> = on.map(|to| (*from, *to)).collect();
            reached.extend(on);
        }
    }
    let mut circles: BTreeMap<BTreeSet<&str>, Vec<String>> = BTreeMap::new();
    for ((from, to), items) in &uses {
        if reached.contains(&(to, from)) {
            let circle = files.iter().copied();
            let circle =
                circle.filter(|f| reached.contains(&(from, f)) && reached.contains(&(f, from)));
            let items = items.iter().copied().collect::<Vec<_>>().join(", ");
            let uses = circles.entry(circle.collect()).or_default();
            uses.push(format!("{from} uses {items} of {to}"));
        }
    }
    circles.into_values().map(|uses| uses.join("; ")).collect()
}

/// The module that defines what a path leads to, and the item; no item where the path leads to a
/// module as a whole. `None` for a path out of the crate, and for names that are no items.
fn resolve<'a>(
    modules: &'a [Module],
    from: usize,
    path: &'a [String],
) -> Option<(usize, Option<&'a str>)> {
    let mut at = from;
    for (place, name) in path.iter().enumerate() {
        let module = &modules[at];
        let child = module.children.get(name);
        // `use serde;` leads to itself.
        let import = module.imports.get(name).map(|(path, _)| path);
        let import = import.filter(|path| path[0] != *name || child.is_some());
        match (name.as_str(), child, import) {
            ("crate", ..) => at = 0,
            ("self", ..) => {}
            ("super", ..) => at = module.parent,
            // A module and an item of one name: only a module has a path behind it.
            (_, Some(child), import) if import.is_none() || place + 1 < path.len() => at = *child,
            (_, _, Some(import)) => match resolve(modules, at, import)? {
                (owner, None) => at = owner,
                found => return Some(found),
            },
            _ => return (place > 0).then_some((at, Some(name))),
        }
    }
    Some((at, None))
}

/// Reads a file and the files of its modules.
fn load(modules: &mut Vec<Module>, src: &Path, file: PathBuf, folder: PathBuf, parent: usize) {
    let text = fs::read_to_string(src.join(&file)).unwrap();
    let module = Module { file: file.to_str().unwrap().to_owned(), parent, ..Module::default() };
    modules.push(module);
    let tokens = tokens(&text);
    scan(modules, src, &folder, modules.len() - 1, &tokens);
}

/// Reads the code of a module.
fn scan(modules: &mut Vec<Module>, src: &Path, folder: &Path, at: usize, tokens: &[String]) {
    let is_name = |i: usize| tokens.get(i).is_some_and(|t| starts_name(t.chars().next().unwrap()));
    let mut i = 0;
    while i < tokens.len() {
        let rest = &tokens[i..];
        if starts_with(rest, &["#", "[", "cfg", "(", "test", ")", "]"]) {
            i = end_of_item(tokens, i + 7);
        } else if rest[0] == "use" {
            let end = i + rest.iter().position(|t| t == ";").unwrap();
            let exported = i > 0 && (tokens[i - 1] == "pub" || tokens[i - 1] == ")");
            import(&mut modules[at], &tokens[i + 1..end], exported);
            i = end + 1;
        } else if rest[0] == "mod" && is_name(i + 1) {
            let (name, next) = (&rest[1], modules.len());
            modules[at].children.insert(name.clone(), next);
            if rest[2] == ";" {
                let inner = folder.join(name);
                let beside = folder.join(format!("{name}.rs"));
                let file = if src.join(&beside).exists() { beside } else { inner.join("mod.rs") };
                load(modules, src, file, inner, at);
                i += 3;
            } else {
                let file = modules[at].file.clone();
                modules.push(Module { file, parent: at, ..Module::default() });
                let end = end_of_item(tokens, i);
                scan(modules, src, &folder.join(name), next, &tokens[i + 3..end - 1]);
                i = end;
            }
        } else if is_name(i) {
            let mut path = vec![rest[0].clone()];
            // A field or a method, but not behind `..`.
            let follows = i > 1 && tokens[i - 1] == "." && tokens[i - 2] != ".";
            while tokens.get(i + 1).is_some_and(|t| t == "::") && is_name(i + 2) {
                path.push(tokens[i + 2].clone());
                i += 2;
            }
            if !follows {
                modules[at].paths.insert(path);
            }
            i += 1;
        } else {
            i += 1;
        }
    }
}

fn starts_with(tokens: &[String], start: &[&str]) -> bool {
    tokens.len() >= start.len() && tokens.iter().zip(start).all(|(t, s)| t == s)
}

/// The index behind the item that starts at `i`: behind its `;`, or the block that it ends with.
fn end_of_item(tokens: &[String], mut i: usize) -> usize {
    let (mut depth, is_use) = (0, tokens[i] == "use");
    loop {
        match tokens[i].as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        i += 1;
        let ends = tokens[i - 1] == ";" || tokens[i - 1] == "}" && !is_use;
        if i == tokens.len() || depth == 0 && ends {
            return i;
        }
    }
}

/// Adds what a `use` declaration imports.
fn import(module: &mut Module, tree: &[String], exported: bool) {
    let (mut stack, mut path, mut alias) = (Vec::new(), Vec::<String>::new(), None);
    let mut tokens = tree.iter().map(String::as_str).chain([","]).peekable();
    let mut fresh = true;
    while let Some(token) = tokens.next() {
        match token {
            "::" => {}
            "{" => {
                stack.push(path.clone());
                fresh = true;
            }
            "as" => alias = tokens.next(),
            // Whatever it brings, it uses that module.
            "*" => {
                path.push(token.to_owned());
                module.paths.insert(path.clone());
                fresh = false;
            }
            "," | "}" => {
                if fresh && path.len() > stack.last().map_or(0, Vec::len) {
                    if path.last().is_some_and(|name| name == "self") {
                        path.pop();
                    }
                    let name = alias.take().unwrap_or(path.last().unwrap()).to_owned();
                    // Each import without a name needs one of its own.
                    let name = if name == "_" { path.join("::") } else { name };
                    module.imports.insert(name, (path.clone(), exported));
                }
                if token == "}" {
                    stack.pop();
                    // What follows is the `,` behind the closed tree.
                    fresh = false;
                } else {
                    fresh = true;
                }
                path = stack.last().cloned().unwrap_or_default();
            }
            name => path.push(name.to_owned()),
        }
    }
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Names, `::` and single characters of a code, without comments, texts, numbers and lifetimes.
fn tokens(text: &str) -> Vec<String> {
    let code: Vec<char> = text.chars().collect();
    let (mut tokens, mut i) = (Vec::new(), 0);
    let at = |i: usize| code.get(i).copied().unwrap_or('\0');
    while i < code.len() {
        let start = i;
        let raw = usize::from(at(i) == 'b') + 1;
        let hashes = (i + raw..).take_while(|i| at(*i) == '#').count();
        if (at(i), at(i + 1)) == ('/', '/') {
            i += code[i..].iter().take_while(|c| **c != '\n').count();
        } else if (at(i), at(i + 1)) == ('/', '*') {
            let mut depth = 0;
            loop {
                match (at(i), at(i + 1)) {
                    ('/', '*') => (depth, i) = (depth + 1, i + 2),
                    ('*', '/') => (depth, i) = (depth - 1, i + 2),
                    _ => i += 1,
                }
                if depth == 0 {
                    break;
                }
            }
        } else if at(i + raw - 1) == 'r' && at(i + raw + hashes) == '"' {
            let end: Vec<char> = ['"'].into_iter().chain(vec!['#'; hashes]).collect();
            i += raw + hashes + 1;
            i += code[i..].windows(end.len()).position(|w| w == end).unwrap() + end.len();
        } else if at(i) == '"' {
            i += 1;
            while at(i) != '"' {
                i += if at(i) == '\\' { 2 } else { 1 };
            }
            i += 1;
        } else if at(i) == '\'' {
            if at(i + 1) == '\\' {
                i += 3;
                i += code[i..].iter().take_while(|c| **c != '\'').count() + 1;
            } else if at(i + 2) == '\'' {
                i += 3;
            } else {
                i += 1;
                i += code[i..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
            }
        } else if starts_name(at(i)) || at(i).is_ascii_digit() {
            i += code[i..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
            if starts_name(at(start)) {
                tokens.push(code[start..i].iter().collect());
            }
        } else if (at(i), at(i + 1)) == (':', ':') {
            tokens.push("::".into());
            i += 2;
        } else {
            if !at(i).is_whitespace() {
                tokens.push(at(i).into());
            }
            i += 1;
        }
    }
    tokens
}
