//! The text tests in `filetests/opt/<pass>/`: a module, a line `; expect:`, and the module after the pass.

use std::fs;
use std::path::Path;
use xenoglot_ir::Module;
use xenoglot_ir::text::{Limits, canonical, parse};
use xenoglot_ir::verify::verify;
use xenoglot_opt::{Context, Lacks, PASSES, PassKind, lower_floats};

fn module(text: &str, path: &Path) -> Module {
    let m = parse(text, &Limits::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    verify(&m).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    m
}

/// Runs every file of a pass; what differs is added to `failures`.
fn check(pass: &str, run: &mut dyn FnMut(&mut Module), failures: &mut Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/opt").join(pass);
    let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = files.map(|f| f.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{pass} has no text test");
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let (before, after) = text.split_once("; expect:\n").expect("a line `; expect:`");
        let (mut got, want) = (module(before, &path), module(after, &path));
        run(&mut got);
        verify(&got).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (got, want) = (canonical(&got), canonical(&want));
        if got != want {
            failures.push(format!("{}:\n--- got\n{got}--- expected\n{want}", path.display()));
        }
    }
}

#[test]
fn passes_do_what_the_files_say() {
    // Subgroups of another width than those of the files, and floats that are lowered by doubles.
    let floats = lower_floats::Options { directed: true, fma: true, doubles: true, zeros: true };
    let lacks = Lacks { narrow_memory: true, shared_int64_atomics: true, floats, subgroups: Some(8) };
    let mut cx = Context::new();
    let mut failures = Vec::new();
    for pass in PASSES {
        let mut run = |m: &mut Module| match pass.kind {
            PassKind::Function(run) => {
                for func in m.funcs.keys() {
                    cx.session(m, func).run(run);
                }
            }
            PassKind::Module(run) => _ = run(m, &lacks),
        };
        check(pass.name, &mut run, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
