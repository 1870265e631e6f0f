//! Sets `XENOGLOT_VERSION`, which `--version` prints: the version of the package with the commit it was built from.
//!
//! The commit is that of the clone, or the one `cargo package` writes into a package. Without either, and without git,
//! there is the version only.

use std::path::Path;
use std::process::Command;

/// Digits of a commit that are shown.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let commit = of_package().or_else(of_clone).unwrap_or_default();
    let commit = commit.get(..DIGITS).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    let shown = commit.map_or(version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=XENOGLOT_VERSION={shown}");
}

/// The commit in `.cargo_vcs_info.json`: `{"git": {"sha1": "…"}, …}`.
fn of_package() -> Option<String> {
    let info = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = info.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// The commit of the clone this folder is in; none where it lies in a repository of something else.
fn of_clone() -> Option<String> {
    if !Path::new("../../.git").exists() {
        return None;
    }
    // Changes with every commit, checkout and reset.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned())
}
