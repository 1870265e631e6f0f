//! What people expect of a tool: its version, completions, manual pages, progress, standard input, errors said once.

use crate::common::{folder, run, run_with, shaders, text, xenoglot};
use std::fs;
use std::path::Path;

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_version_has_the_commit() {
    let said = text(&["--version"]);
    let version = format!("xenoglot {}", env!("CARGO_PKG_VERSION"));
    let rest = said.trim_end().strip_prefix(&version).unwrap_or_else(|| panic!("{said}"));
    let head = std::process::Command::new("git").args(["rev-parse", "HEAD"]).output();
    let head = head.ok().filter(|output| output.status.success());
    match head.filter(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.git").exists()) {
        // Built before a commit, it has that one's parent.
        Some(_) => {
            let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')).unwrap_or_default();
            assert!(commit.len() == 12 && commit.bytes().all(|b| b.is_ascii_hexdigit()), "{said}");
        }
        None => assert_eq!(rest, "", "{said}"),
    }
}

#[test]
fn shells_complete_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("translate") && script.contains("spirv-version"), "{shell}");
    }
    run(&["completions", "abacus"], 2);
}

#[test]
fn every_command_has_a_manual_page() {
    let dir = folder("man");
    let said = text(&["man", dir.to_str().unwrap()]);
    let pages = fs::read_dir(&dir).unwrap().count();
    assert!(said.starts_with(&format!("{pages} pages")), "{said}");
    let page = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    assert!(page("xenoglot.1").contains("xenoglot\\-translate(1)"));
    assert!(page("xenoglot-dragon-run.1").contains("timeline"));
    assert!(!dir.join("xenoglot-help.1").exists());
}

#[test]
fn progress_is_lines_where_there_is_no_terminal() {
    let dir = folder("progress");
    let translate = |interval: &str| {
        let (from, to) = (shaders(), format!("{}/", dir.display()));
        let args = ["translate", "--to", "spirv", from.to_str().unwrap(), "-o", &to];
        let output = xenoglot(&args).env("XENOGLOT_PROGRESS", interval).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    // The thread that prints may have no turn before the work is done, on a machine with more to do.
    let lines = (0..10).map(|_| translate("0.001")).find(|lines| !lines.is_empty()).unwrap_or_default();
    assert!(lines.lines().all(|line| line.starts_with("progress: ")), "{lines}");
    let inputs = fs::read_dir(shaders()).unwrap().count();
    assert!(lines.lines().next().is_some_and(|line| line.contains(&format!(" of {inputs}, "))), "{lines}");
    assert_eq!(translate("0"), "");
}

/// A command line and what goes to its standard input.
fn succeeds(args: &[&str], input: &[u8]) -> String {
    let output = run_with(args, input);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_dash_is_standard_input_in_options_too() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
    let file = |name: &str| demo.join(name).display().to_string();
    // A kernel's buffer.
    let words: Vec<u8> = (1..=64u32).flat_map(u32::to_le_bytes).collect();
    let cubin = file("reduce_shared.cubin");
    let sum = succeeds(&["run", &cubin, "--workgroup", "64", "--args", "u32[]=@-", "u32[1]"], &words);
    assert!(sum.contains("2080"), "{sum}");
    // A root signature: that of a container.
    let shader = vectors.join("dxil/stages/ps_rootsig.dxil");
    let shader = shader.to_str().unwrap();
    let own = fs::read(shader).unwrap();
    let args = ["translate", "--to", "spirv", "--json", "--root-signature"];
    let named = text(&[&args[..], &[shader, shader]].concat());
    assert_eq!(succeeds(&[&args[..], &["-", shader]].concat(), &own), named);
    // Parameters and models of the Dragon.
    let dir = folder("dash");
    let picture = dir.join("frame.png").display().to_string();
    succeeds(&["dragon", "run", "-o", &picture, "--params", "-"], b"vpus = 2\n");
    let triangle = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    succeeds(&["dragon", "run", "-o", &picture, "--model", "-"], triangle);
}

#[cfg(feature = "vulkan")]
#[test]
fn suites_are_read_from_standard_input() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/pica");
    let floats = fs::read_dir(vectors).unwrap().map(|entry| entry.unwrap().path());
    let floats = floats.into_iter().find(|path| path.to_string_lossy().contains("float")).unwrap();
    let said = succeeds(&["conformance", "picafloats", "-"], &fs::read(floats).unwrap());
    assert!(said.contains(" passed, 0 failed"), "{said}");
}

#[test]
fn errors_are_said_once() {
    let dir = folder("once");
    fs::write(dir.join("file"), b"").unwrap();
    // A folder whose parent is a file cannot be made, and a file in it neither written nor read.
    let inside = dir.join("file/inside.png").display().to_string();
    for args in [
        &["dragon", "run", "-o", &inside][..],
        &["info", &inside],
        &["conformance", "pica", &inside],
        &["render", "--json", &inside],
        &["dragon", "report", &inside],
    ] {
        let said = stderr(&run(args, 1));
        assert_eq!(said.matches("os error").count(), 1, "{args:?}: {said}");
        assert_eq!(said.matches("once/file").count(), 1, "{args:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
    }
}
