//! Code that does not come from a guest: entry points into the engine.

use super::access::ask_signature;
use super::{FIXED, STATE, signature};
use crate::state::{Exit, State};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

/// What stands in the table for code that is not there: returns the address.
pub(crate) fn missing(func: &mut ir::Function, context: &mut FunctionBuilderContext, isa: &dyn TargetIsa) {
    func.signature = signature();
    let mut b = FunctionBuilder::new(func, context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    if let &[_, pc] = b.block_params(entry) {
        let v = b.ins().uextend(I64, pc);
        let exit = b.ins().iconst(I64, (Exit::Next as i64) << 32);
        let v = b.ins().bor(v, exit);
        b.ins().return_(&[v]);
    }
    b.seal_all_blocks();
    b.finalize(isa.frontend_config());
}

/// How guest code asks the memory: keeps every register, so that code around a call need not care, and calls the function of
/// Rust whose address is in the state at `ask`.
pub(crate) fn slow(
    func: &mut ir::Function,
    context: &mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    ask: i32,
) {
    func.signature = ask_signature();
    let mut b = FunctionBuilder::new(func, context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    if let &[state, address, bytes, v] = b.block_params(entry) {
        let mut rust = Signature::new(isa.default_call_conv());
        rust.params.extend(ask_signature().params);
        rust.returns.push(AbiParam::new(ir::types::I32));
        let rust = b.import_signature(rust);
        let callee = b.ins().load(I64, FIXED, state, ask);
        let call = b.ins().call_indirect(rust, callee, &[state, address, bytes, v]);
        if let &[refused] = b.inst_results(call) {
            b.ins().store(STATE, refused, state, State::REFUSED);
        }
        b.ins().return_(&[]);
    }
    b.seal_all_blocks();
    b.finalize(isa.frontend_config());
}
