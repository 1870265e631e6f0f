//! The text tests in `filetests/`. A file holds an input and, after lines `; expect:`, what becomes of it:
//!
//! | folder | input | what is expected |
//! |---|---|---|
//! | `text` | a module | its canonical text, which the input has to be already |
//! | `verify` | a module | the verifier's errors, as lines `; error:` |
//! | `opt/PASS` | a module | the module after the pass |
//! | `pica`, `vpu` | assembly | disassembly, the module as lifted, the module after all passes |
//! | `maxwell` | instruction words | the same |
//! | `dxil` | a container or bitcode in Base64 | the same |
//! | `mips` | instruction words | disassembly |
//! | `spirv`, `glsl`, `wgsl`, `msl`, `hlsl` | a module | its code, as the back end writes it |
//!
//! The first line of a file is a comment that says what the test shows. A line `; options:` sets options, described with
//! the functions that read them. A line `; ---- TITLE` begins a further case in the same file.
//!
//! `XENOGLOT_BLESS=1 cargo test --workspace --test filetests` writes what is found into the files, for review as a diff.

mod back;
mod case;
mod front;
mod ir;

use case::{Case, Render};
use similar::TextDiff;
use std::fs;
use std::path::{Path, PathBuf};

/// Every file below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// The file's text as it should be, or why there is none.
fn expected(text: &str, folder: &str, render: Render) -> Result<String, String> {
    if !text.starts_with("; ") {
        return Err("the first line is no comment that says what the test shows".into());
    }
    let (preamble, cases) = case::split(text);
    let mut out = preamble.to_owned();
    for (title, body) in cases {
        let rendered = Case::new(folder, body).and_then(|case| render(&case));
        out.push_str(title);
        out.push_str(&rendered.map_err(|e| format!("{title}{e}"))?);
    }
    Ok(out)
}

/// Compares every file in a folder of `filetests/` with what it should be, or writes it.
fn check(kind: &str, render: Render) {
    let bless = std::env::var_os("XENOGLOT_BLESS").is_some_and(|v| v == "1");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests");
    let (mut failures, mut written) = (Vec::new(), 0);
    let files = files(&root.join(kind));
    assert!(!files.is_empty(), "filetests/{kind} is empty");
    for path in &files {
        let name = path.strip_prefix(&root).unwrap().display();
        let text = fs::read_to_string(path).unwrap();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        match expected(&text, &folder.to_string_lossy(), render) {
            Ok(new) if new == text => {}
            Ok(new) if bless => {
                fs::write(path, new).unwrap();
                written += 1;
            }
            Ok(new) => {
                let diff = TextDiff::from_lines(&text, &new);
                let diff = diff.unified_diff().context_radius(4).header("expected", "found").to_string();
                failures.push(format!("filetests/{name}\n{diff}"));
            }
            Err(e) => failures.push(format!("filetests/{name}\n{e}\n")),
        }
    }
    println!("filetests/{kind}: {} files, {written} written", files.len());
    assert!(
        failures.is_empty(),
        "{}\n{} of {} files in filetests/{kind} differ. If they should, bless them: \
         XENOGLOT_BLESS=1 cargo test --workspace --test filetests",
        failures.join("\n"),
        failures.len(),
        files.len(),
    );
}

macro_rules! kinds {
    ($($(#[$attribute:meta])* $kind:ident $render:path;)+) => {
        $($(#[$attribute])* #[test]
        fn $kind() {
            check(stringify!($kind), $render);
        })+
    };
}

kinds! {
    text ir::canonical_text;
    verify ir::verifier_errors;
    opt ir::after_pass;
    pica front::pica;
    maxwell front::maxwell;
    dxil front::dxil;
    vpu front::vpu;
    mips front::mips;
    spirv back::spirv;
    glsl back::glsl;
    #[cfg(feature = "naga")]
    wgsl back::wgsl;
    #[cfg(feature = "naga")]
    msl back::msl;
    #[cfg(feature = "naga")]
    hlsl back::hlsl;
}

#[cfg(not(feature = "naga"))]
#[test]
fn languages_of_naga() {
    xenoglot_testgen::skip::skip("filetests/{wgsl,msl,hlsl}: built without the feature `naga`");
}

#[test]
fn every_pass_has_text_tests() {
    for pass in ir::passes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/opt").join(pass);
        assert!(folder.is_dir(), "{pass} has no text test");
    }
}
