//! Code that does not come from a guest: the ways in and out.

use super::access::ask_signature;
use super::{FIXED, STATE, signature};
use crate::state::{Exit, State};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

/// How Rust enters guest code: `(state, pc, code) -> i64` in the host's convention.
pub(crate) fn enter(func: &mut ir::Function, context: &mut FunctionBuilderContext, isa: &dyn TargetIsa) {
    let mut own = Signature::new(isa.default_call_conv());
    own.params.extend([I64, ir::types::I32, I64].map(AbiParam::new));
    own.returns.push(AbiParam::new(I64));
    func.signature = own;
    let mut b = FunctionBuilder::new(func, context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    if let &[state, pc, code] = b.block_params(entry) {
        let tail = b.import_signature(signature());
        // The pinned register has the fuel in guest code, and is the host's before and after.
        let kept = b.ins().get_pinned_reg(I64);
        let fuel = b.ins().load(I64, STATE, state, State::FUEL);
        b.ins().set_pinned_reg(fuel);
        let call = b.ins().call_indirect(tail, code, &[state, pc]);
        let exit = b.inst_results(call).to_vec();
        let fuel = b.ins().get_pinned_reg(I64);
        b.ins().store(STATE, fuel, state, State::FUEL);
        b.ins().set_pinned_reg(kept);
        b.ins().return_(&exit);
    }
    b.seal_all_blocks();
    b.finalize(isa.frontend_config());
}

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
