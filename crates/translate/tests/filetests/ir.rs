//! IR to IR.

use crate::case::Case;
use xenoglot_ir::text::{Limits, canonical, parse};
use xenoglot_ir::{Module, verify};
use xenoglot_opt::{Context, Lacks, PASSES, PassKind};

/// The names of all passes.
pub fn passes() -> impl Iterator<Item = &'static str> {
    PASSES.iter().map(|pass| pass.name)
}

/// The verified module in a case's input.
pub fn module(case: &Case) -> Result<Module, String> {
    let module = parse(case.input, &Limits::default()).map_err(|e| e.to_string())?;
    verify(&module).map_err(|e| e.to_string())?;
    Ok(module)
}

/// Comments on top, then the canonical text.
pub fn canonical_text(case: &Case) -> Result<String, String> {
    let comments = case.input.lines().take_while(|line| line.starts_with(';'));
    let comments: String = comments.flat_map(|line| [line, "\n"]).collect();
    Ok(comments + &canonical(&module(case)?))
}

/// The input behind the verifier's errors.
pub fn verifier_errors(case: &Case) -> Result<String, String> {
    const ERROR: &str = "; error: ";
    let module = parse(case.input, &Limits::default()).map_err(|e| e.to_string())?;
    let errors = verify(&module).err().map_or(Vec::new(), |e| e.errors);
    let errors = errors.iter().map(|e| format!("{ERROR}{e}\n"));
    let input = case.input.lines().filter(|line| !line.starts_with(ERROR));
    Ok(errors.chain(input.map(|line| format!("{line}\n"))).collect())
}

/// What the host lacks for the tests of a pass: all there is to lack, and doubles where it is they that are lowered.
fn lacks(pass: &str) -> Lacks {
    let mut lacks = Lacks::ALL;
    lacks.floats.float64 = matches!(pass, "lower_float64");
    lacks.separate_samplers = pass == "combine_samplers";
    lacks
}

/// The module after the pass that the folder is named after, for a host that lacks all there is to lack and has subgroups of 8
/// lanes. Values keep their numbers.
pub fn after_pass(case: &Case) -> Result<String, String> {
    let mut module = module(case)?;
    let pass = xenoglot_opt::pipeline::pass(case.folder);
    let pass = pass.ok_or_else(|| format!("there is no pass `{}`", case.folder))?;
    match pass.kind {
        PassKind::Function(run) => {
            let mut cx = Context::new();
            for func in module.funcs.keys() {
                cx.session(&mut module, func).run(run);
            }
        }
        PassKind::Module(run) => drop(run(&mut module, &lacks(case.folder))),
        PassKind::Buffered(run) => drop(run(&mut module, &lacks(case.folder), &mut Context::new())),
    }
    verify(&module).map_err(|e| format!("after the pass: {e}\n{module}"))?;
    Ok(case.with(&[("", module.to_string())]))
}
