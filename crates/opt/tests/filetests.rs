//! The text tests in `filetests/opt/<pass>/`: a module, a line `; expect:`, and the module after the pass.

use std::fs;
use std::path::Path;
use xenoglot_ir::Module;
use xenoglot_ir::text::{Limits, canonical, parse};
use xenoglot_ir::verify::verify;
use xenoglot_opt::{Context, PASSES, lower_floats, lower_subgroups, lower_wide_atomics};

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
    let mut cx = Context::new();
    let mut failures = Vec::new();
    for pass in PASSES {
        let mut run = |m: &mut Module| {
            for func in m.funcs.keys() {
                cx.session(m, func).run(pass.run);
            }
        };
        check(pass.name, &mut run, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn passes_over_modules_do_what_the_files_say() {
    let floats = lower_floats::Options { directed: true, fma: true, doubles: true, zeros: true };
    let mut failures = Vec::new();
    check("lower_floats", &mut |m| _ = lower_floats::run(m, floats), &mut failures);
    check("lower_subgroups", &mut |m| _ = lower_subgroups::run(m, 8), &mut failures);
    check("lower_wide_atomics", &mut |m| _ = lower_wide_atomics::run(m), &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
