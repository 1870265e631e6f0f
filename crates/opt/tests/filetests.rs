//! The text tests in `filetests/opt/<pass>/`: a module, a line `; expect:`, and the module after the pass.

use std::fs;
use std::path::Path;
use xenoglot_ir::Module;
use xenoglot_ir::text::{Limits, canonical, parse};
use xenoglot_ir::verify::verify;
use xenoglot_opt::{Context, PASSES};

fn module(text: &str, path: &Path) -> Module {
    let m = parse(text, &Limits::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    verify(&m).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    m
}

#[test]
fn passes_do_what_the_files_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/opt");
    let mut cx = Context::new();
    let mut failures = Vec::new();
    for pass in PASSES {
        let folder = root.join(pass.name);
        let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut files: Vec<_> = files.map(|f| f.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{} has no text test", pass.name);
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            let (before, after) = text.split_once("; expect:\n").expect("a line `; expect:`");
            let (mut got, want) = (module(before, &path), module(after, &path));
            cx.set_module(&got);
            for f in got.funcs.values_mut() {
                cx.begin(f);
                (pass.run)(f, &mut cx);
            }
            verify(&got).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let (got, want) = (canonical(&got), canonical(&want));
            if got != want {
                failures.push(format!("{}:\n--- got\n{got}--- expected\n{want}", path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
