//! The tour of README.md, line by line: what it shows works, from a folder that has what a clone has.
//!
//! The suites that the tour runs have tests of their own, over all their vectors. Here they are cut to a few cases, but in
//! long runs.

use crate::common::folder;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use xenoglot_testgen::property::is_long;
use xenoglot_testgen::skip;

/// The clone.
fn repository() -> PathBuf {
    fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap()
}

/// The lines of the block of commands under the heading, without blank ones.
fn tour(readme: &str) -> Vec<&str> {
    let section = readme.split("\n## ").find(|s| s.starts_with("A tour")).expect("a heading `A tour ..`");
    let block = section.split("\n```").nth(1).expect("a block of commands");
    block.lines().skip(1).filter(|line| !line.trim().is_empty()).collect()
}

/// What is said on a machine without a device, or without what `tar` unpacks with.
const MISSING: [&str; 5] = [
    "no Vulkan on this host",
    "no Vulkan device matches",
    "no GPU for compute programs",
    "xz: Cannot exec",
    "programs for Linux run on hosts with Linux only",
];

/// One file in `every` of a folder and those that the tour names, as links; further folders whole.
fn thin(from: &Path, to: &Path, every: usize, named: &str) {
    fs::create_dir_all(to).unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    // Files that differ in their extension only belong together.
    let stem =
        |path: &Path| path.file_name().unwrap().to_string_lossy().split('.').next().unwrap().to_owned();
    let mut stems: Vec<String> = files.iter().filter(|f| f.is_file()).map(|f| stem(f)).collect();
    stems.dedup();
    let is_kept = |path: &Path| {
        let stem = stem(path);
        path.is_dir() || named.contains(&stem) || stems.iter().step_by(every).any(|kept| *kept == stem)
    };
    for file in files.iter().filter(|file| is_kept(file)) {
        symlink(file, to.join(file.file_name().unwrap())).unwrap();
    }
}

/// One program in `every` of a file of PICA200 programs: a magic number and a count, then each with its length
/// (`vectors/pica/FORMAT.md`).
fn thin_programs(packed: &[u8], every: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut unpacked = ruzstd::decoding::StreamingDecoder::new(packed).unwrap();
    std::io::Read::read_to_end(&mut unpacked, &mut bytes).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut at = 12;
    let mut records = Vec::new();
    for _ in 0..word(8) {
        let end = at + 4 + word(at) as usize;
        records.push(&bytes[at..end]);
        at = end;
    }
    let kept: Vec<&[u8]> = records.into_iter().step_by(every).collect();
    [&bytes[..8], &(kept.len() as u32).to_le_bytes(), &kept.concat()].concat()
}

/// The vectors the tour asks for.
fn vectors(from: &Path, to: &Path, readme: &str) {
    if is_long() {
        return symlink(from, to).unwrap();
    }
    for (suite, every) in [
        ("picagpu", 20),
        ("nds", 24),
        ("nds-2d", 24),
        ("dxil/compute", 8),
        ("dxil/stages", 8),
        ("dxil/fuzz", 20),
    ] {
        thin(&from.join(suite), &to.join(suite), every, readme);
    }
    for suite in ["maxwell", "maxwell-2", "mips"] {
        symlink(from.join(suite), to.join(suite)).unwrap();
    }
    fs::create_dir_all(to.join("pica")).unwrap();
    let programs = thin_programs(&fs::read(from.join("pica/picavec-public.bin.zst")).unwrap(), 20);
    fs::write(to.join("pica/picavec-public.bin"), programs).unwrap();
}

/// A folder of commands: `xenoglot` as the README's alias means it, and `cargo`, which runs the example that this run of
/// the tests has built. (Without one, cargo builds it.)
fn commands(to: &Path, repository: &Path) {
    fs::create_dir_all(to).unwrap();
    let program = env!("CARGO_BIN_EXE_xenoglot");
    symlink(program, to.join("xenoglot")).unwrap();
    let examples = Path::new(program).parent().unwrap().join("examples");
    let cargo = to.join("cargo");
    let script = format!(
        "#!/bin/sh\n# cargo run -p PACKAGE --example NAME\nexample='{}'/$5\n[ -x \"$example\" ] && exec \"$example\"\n\
         exec '{}' \"$@\" --manifest-path '{}'\n",
        examples.display(),
        env!("CARGO"),
        repository.join("Cargo.toml").display()
    );
    fs::write(&cargo, script).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn every_line_of_the_readmes_tour_runs() {
    let repository = repository();
    let readme = fs::read_to_string(repository.join("README.md")).unwrap();
    let lines = tour(&readme);
    assert!(lines.len() > 30, "{lines:#?}");
    let dir = folder("tour");
    symlink(repository.join("crates"), dir.join("crates")).unwrap();
    vectors(&repository.join("vectors"), &dir.join("vectors"), &readme);
    commands(&dir.join("commands"), &repository);
    let path = format!("{}:{}", dir.join("commands").display(), std::env::var("PATH").unwrap_or_default());
    // Variables that lines set for those that follow.
    let is_assignment = |line: &str| {
        line.split_once('=').is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_uppercase()))
    };
    let (set, lines): (Vec<&str>, Vec<&str>) = lines.into_iter().partition(|line| is_assignment(line));
    let set = set.join("\n");
    let run = |line: &&str| {
        let start = Instant::now();
        let output = Command::new("sh")
            .args(["-c", &format!("{set}\n{line}")])
            .current_dir(&dir)
            .env("PATH", &path)
            .env_remove("RUST_LOG")
            .output()
            .unwrap();
        println!("{:.1} s: {line}", start.elapsed().as_secs_f64());
        let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        if let Some(reason) = stderr.lines().find(|said| MISSING.iter().any(|what| said.contains(what))) {
            skip(&format!("`{line}`: {reason}"));
            return None;
        }
        // What writes no file has something to say.
        let is_silent = line.starts_with("xenoglot") && !line.contains(" -o ") && stdout.is_empty();
        let failed = !output.status.success() || is_silent;
        failed.then(|| format!("{line}\n{}\n{stdout}{stderr}", output.status))
    };
    // Lines that write files, and those that read them, one after the other; meanwhile all others.
    let made: Vec<&str> =
        lines.iter().filter_map(|line| line.split(" -o ").nth(1)?.split_whitespace().next()).collect();
    let (chain, others): (Vec<&str>, Vec<&str>) =
        lines.iter().partition(|line| made.iter().any(|file| line.contains(file.trim_end_matches('/'))));
    let (mut failures, more) = std::thread::scope(|scope| {
        let others = scope.spawn(|| others.iter().filter_map(run).collect::<Vec<_>>());
        (chain.iter().filter_map(run).collect::<Vec<_>>(), others.join().unwrap())
    });
    failures.extend(more);
    assert!(failures.is_empty(), "{} lines fail:\n{}", failures.len(), failures.join("\n"));
}
