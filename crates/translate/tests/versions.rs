//! Versions are raised with the sources they stand for: a cache that knows the versions serves no code of other sources.
//!
//! `versions.txt` has, of each version, a hash of the sources it was given to, comments and blank lines aside. After a change,
//! raise the version, then `XENOGLOT_BLESS=1 cargo test --workspace --test versions`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The `.rs` files below a folder, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    paths.into_iter().flat_map(below).filter(|path| path.extension().is_some_and(|e| e == "rs")).collect()
}

/// The sources that a version stands for.
fn sources_of(name: &str) -> Vec<PathBuf> {
    let opt = root().join("opt/src");
    if let Some(pass) = name.strip_prefix("opt/") {
        let folder = opt.join(pass);
        let more = if folder.is_dir() { sources(&folder) } else { Vec::new() };
        return [opt.join(pass).with_extension("rs")].into_iter().chain(more).collect();
    }
    match name {
        "opt" => {
            let is_pass = |path: &PathBuf| {
                xenoglot_opt::PASSES.iter().any(|pass| {
                    let relative = path.strip_prefix(&opt).unwrap();
                    relative.starts_with(pass.name) || relative == Path::new(pass.name).with_extension("rs")
                })
            };
            sources(&opt).into_iter().filter(|path| !is_pass(path)).collect()
        }
        "ir" | "structure" | "translate" => sources(&root().join(name).join("src")),
        "spirv" | "glsl" | "naga" => sources(&root().join("back").join(name).join("src")),
        _ => sources(&root().join("front").join(name).join("src")),
    }
}

fn hash(files: &[PathBuf]) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let code = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
        // The version itself is not what it stands for.
        code.filter(|line| !line.starts_with("pub const VERSION")).for_each(|line| {
            hasher.update(line.as_bytes());
            hasher.update(b"\n");
        });
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[test]
fn versions_are_raised_with_their_sources() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/versions.txt");
    let text = std::fs::read_to_string(&table).unwrap_or_default();
    let known: BTreeMap<&str, (u16, &str)> = text
        .lines()
        .map(|line| {
            let [name, version, hash] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            (name, (version.parse().unwrap(), hash))
        })
        .collect();
    let (mut now, mut behind) = (String::new(), Vec::new());
    for (name, version) in xenoglot::versions() {
        let hash = hash(&sources_of(name));
        now.push_str(&format!("{name} {version} {hash}\n"));
        if known.get(name).is_some_and(|&(v, h)| v >= version && h != hash) {
            behind.push(name);
        }
    }
    assert!(behind.is_empty(), "the sources of {behind:?} changed, and their versions did not");
    if std::env::var_os("XENOGLOT_BLESS").is_some() {
        std::fs::write(&table, now).unwrap();
    } else if cfg!(feature = "naga") {
        assert_eq!(text, now, "write the table anew with XENOGLOT_BLESS=1");
    }
}
