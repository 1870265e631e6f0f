//! Runs a module on the interpreter and natively, and compares what is left in its buffers, bit for bit.

// Not every test file uses all of it.
#![allow(dead_code)]

use xenoglot_interp::{Bindings as Reference, Interpreter, Limits as ReferenceLimits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::module::{Access, ResourceKind};
use xenoglot_ir::{Function, Module};
use xenoglot_native::{Bindings, CompileError, Compiler, Limits, Ran};

/// Turns slots into values, as every user of the back end does.
pub fn promote(module: &mut Module) {
    let mut context = xenoglot_opt::Context::new();
    for func in module.funcs.keys() {
        context.session(module, func).run(xenoglot_opt::promote::run);
    }
}

/// The native run's buffers and report.
pub type Native = Result<(Vec<Vec<u8>>, Ran), CompileError>;

/// Runs `count` invocations natively on a copy of `buffers`, one per resource.
pub fn native(compiler: &mut Compiler, module: &Module, buffers: &[Vec<u8>], count: u32) -> Native {
    let program = compiler.compile(module)?;
    let mut left = buffers.to_vec();
    let mut bindings = Bindings::new();
    for (r, bytes) in module.resources.values().zip(&mut left) {
        match r.kind {
            ResourceKind::StorageBuffer { access: Access::Write | Access::ReadWrite } => {
                bindings.write(r.set, r.binding, bytes);
            }
            _ => {
                bindings.read(r.set, r.binding, bytes);
            }
        }
    }
    let ran = program.run(&mut bindings, 0..count, &Limits::default()).expect("runs");
    drop(bindings);
    Ok((left, ran))
}

/// The same on the interpreter: the module is dispatched as one workgroup of `count`.
pub fn reference(module: &Module, buffers: &[Vec<u8>], count: u32) -> Vec<Vec<u8>> {
    let mut module = module.clone();
    module.workgroup = [count, 1, 1];
    let mut interpreter = Interpreter::new(&module).expect("verified");
    let mut bindings = Reference::new(&module);
    for (r, bytes) in module.resources.keys().zip(buffers) {
        bindings.set_buffer(r, bytes.clone());
    }
    let limits = ReferenceLimits { fuel: 1 << 32, ..ReferenceLimits::default() };
    interpreter.dispatch([1; 3], &mut bindings, &limits).expect("runs");
    module.resources.keys().map(|r| bindings.buffer(r).to_vec()).collect()
}

/// Compares both; `None` if the module is not supported, with the reason.
pub fn compare(
    compiler: &mut Compiler,
    module: &Module,
    buffers: &[Vec<u8>],
    count: u32,
    what: &str,
) -> Result<Ran, CompileError> {
    let (got, ran) = native(compiler, module, buffers, count)?;
    let want = reference(module, buffers, count);
    for (id, (want, got)) in want.iter().zip(&got).enumerate() {
        let at = want.chunks(4).zip(got.chunks(4)).position(|(w, g)| w != g);
        if let Some(at) = at {
            let f: &Function = module.entry_func().expect("an entry");
            panic!(
                "{what}: buffer {id} word {at} is {:02x?}, expected {:02x?}; {} blocks, {} instructions\n{}",
                &got[4 * at..][..4],
                &want[4 * at..][..4],
                f.layout.len(),
                f.inst_count(),
                module,
            );
        }
    }
    debug_assert_eq!(module.resources.keys().map(|r| r.index()).max().map_or(0, |m| m + 1), buffers.len());
    Ok(ran)
}
