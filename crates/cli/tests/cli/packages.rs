//! What every package has: a README with the example of its documentation, licences, and what a registry finds it by.

use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Categories that crates.io knows, of those in use here.
const CATEGORIES: [&str; 16] = [
    "caching",
    "command-line-utilities",
    "compilers",
    "development-tools::profiling",
    "development-tools::testing",
    "emulators",
    "encoding",
    "filesystem",
    "graphics",
    "multimedia::audio",
    "multimedia::images",
    "multimedia::video",
    "rendering",
    "simulation",
    "visualization",
    "wasm",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn manifest(folder: &Path) -> Table {
    fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap()
}

/// Every package of the workspace: its folder and `[package]`.
fn packages() -> Vec<(PathBuf, Table)> {
    let workspace = manifest(&root());
    let members = workspace["workspace"]["members"].as_array().unwrap().iter().filter_map(Value::as_str);
    let package = |member: &str| {
        let folder = root().join(member);
        let package = manifest(&folder)["package"].as_table().unwrap().clone();
        (folder, package)
    };
    members.map(package).collect()
}

fn words<'a>(package: &'a Table, key: &str) -> Vec<&'a str> {
    package.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The first block of code of a text.
fn example(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("```")?;
    let (_, rest) = rest.split_once('\n')?;
    let (code, _) = rest.split_once("```")?;
    Some(code.trim_end().to_owned())
}

/// The example of a crate's documentation, without the lines that it hides.
fn documented(folder: &Path) -> Option<String> {
    let source = fs::read_to_string(folder.join("src/lib.rs")).ok()?;
    let docs: String = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .filter(|line| !line.starts_with("# ") && *line != "#")
        .fold(String::new(), |text, line| text + line + "\n");
    example(&docs)
}

#[test]
fn packages_have_what_a_registry_shows() {
    for (folder, package) in packages() {
        let name = package["name"].as_str().unwrap();
        assert!(package["description"].as_str().is_some_and(|text| text.len() > 30), "{name}: description");
        assert!((1..=5).contains(&words(&package, "keywords").len()), "{name}: keywords");
        let categories = words(&package, "categories");
        assert!((1..=5).contains(&categories.len()), "{name}: categories");
        for category in categories {
            assert!(CATEGORIES.contains(&category), "{name}: {category}");
        }
        for inherited in ["version", "edition", "rust-version", "license", "repository"] {
            assert_eq!(package[inherited]["workspace"].as_bool(), Some(true), "{name}: {inherited}");
        }
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let text = |folder: &Path| fs::read_to_string(folder.join(licence)).unwrap_or_default();
            assert_eq!(text(&folder), text(&root()), "{name}: {licence}");
        }
    }
}

#[test]
fn readmes_have_the_example_of_the_documentation() {
    for (folder, package) in packages() {
        let name = package["name"].as_str().unwrap();
        let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        assert!(readme.starts_with(&format!("# {name}\n")), "{name}: README.md");
        if folder.join("src/lib.rs").exists() {
            let example_of_docs = documented(&folder);
            assert!(example_of_docs.is_some(), "{name}: no example in src/lib.rs");
            assert_eq!(example(&readme), example_of_docs, "{name}: README.md");
        }
    }
}
