//! The text files in `filetests/`: `text` holds canonical texts, `verify` modules with the errors they have.

use std::fs;
use std::path::{Path, PathBuf};
use xenoglot_ir::text::{Limits, canonical, parse};
use xenoglot_ir::verify;

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "xgir"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    files
}

/// A file's cases: each begins at a line `; ---- title`; without such lines the file is one case.
fn cases(path: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut cases = vec![(name.clone(), String::new())];
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("; ---- ") {
            cases.push((format!("{name}: {title}"), String::new()));
        } else {
            let case = &mut cases.last_mut().unwrap().1;
            case.push_str(line);
            case.push('\n');
        }
    }
    cases.retain(|(_, text)| text.lines().any(|l| !l.trim().is_empty() && !l.starts_with(';')));
    cases
}

#[test]
fn canonical_texts_stay_as_they_are() {
    for path in files("text") {
        for (name, text) in cases(&path) {
            let module = parse(&text, &Limits::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
            let body: Vec<&str> = text.lines().skip_while(|l| l.starts_with(';')).collect();
            assert_eq!(canonical(&module).trim_end(), body.join("\n").trim_end(), "{name}");
            verify(&module).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

#[test]
fn the_verifier_reports_exactly_what_is_expected() {
    let (mut accepted, mut refused, mut wrong) = (0, 0, Vec::new());
    for path in files("verify") {
        for (name, text) in cases(&path) {
            let module = parse(&text, &Limits::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
            let expected: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("; error: ")).collect();
            let found = match verify(&module) {
                Ok(()) => Vec::new(),
                Err(errors) => errors.errors.iter().map(|e| e.to_string()).collect(),
            };
            if found != expected {
                wrong.push(format!(
                    "{name}\nfound:\n{}\nexpected:\n{}\n",
                    found.join("\n"),
                    expected.join("\n")
                ));
            }
            *(if expected.is_empty() { &mut accepted } else { &mut refused }) += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{accepted} modules accepted, {refused} refused");
}
