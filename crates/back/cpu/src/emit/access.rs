//! Accesses to the guest's memory: through the memory's tables of pages, or by asking the memory.

use super::{Emitter, Fault, Label, STATE};
use crate::error::CompileError;
use crate::registers::Set;
use crate::state::{Exit, State};
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I64};
use cranelift_codegen::ir::{self, AbiParam, BlockArg, InstBuilder, MemFlagsData, Signature, Value as Clif};
use cranelift_codegen::isa::CallConv;
use xenoglot_ir::imm::Order;
use xenoglot_ir::{Imm, Inst, MemInfo, Space, Type};

/// The guest's memory: any alignment, and never where it is not, as the tables say.
const MEMORY: MemFlagsData = MemFlagsData::new().with_notrap().with_endianness(ir::Endianness::Little);

/// The signature of what asks the memory: state, address, bytes of the access, value to store.
pub(super) fn ask_signature() -> Signature {
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature.params.extend([I64, I32, I32, I64].map(AbiParam::new));
    signature
}

impl Emitter<'_> {
    /// The facts of an access, and the integer type that has its bits.
    fn facts(&self, inst: Inst, ty: Type) -> Result<(MemInfo, ir::Type), CompileError> {
        let Imm::Mem(mem) = self.f.insts[inst].imm else {
            return Err(CompileError::unsupported("an access without its facts"));
        };
        let bits = match super::clif(ty)? {
            F32 => I32,
            F64 => I64,
            other => other,
        };
        let natural = 1 << mem.align_log2 == bits.bytes();
        if mem.space != Space::Guest || mem.order != Order::None || !natural {
            return Err(CompileError::unsupported(format!("an access to {} memory", mem.space.name())));
        }
        Ok((mem, bits))
    }

    fn address(&self, inst: Inst) -> Result<Clif, CompileError> {
        match self.f.args(inst).first() {
            Some(&v) if self.f.ty(v) == Type::I32 => self.get(v),
            _ => Err(CompileError::unsupported("guest addresses that are not of 32 bits")),
        }
    }

    /// What an address is to be increased by; 0 where the memory has to be asked.
    fn distance(&mut self, address: Clif, bits: ir::Type, table: i32) -> Clif {
        let log2 = i64::from(bits.bytes().trailing_zeros());
        let mut turned = address;
        if log2 != 0 {
            turned = self.b.ins().rotr_imm_u(turned, log2);
        }
        let index = self.b.ins().ushr_imm_u(turned, 12 - log2);
        let index = self.b.ins().uextend(I64, index);
        let index = self.b.ins().ishl_imm_u(index, 3);
        // Not kept in a register: there are too few.
        let pages = self.b.ins().load(I64, STATE, self.state, table);
        let entry = self.b.ins().iadd(pages, index);
        self.b.ins().load(I64, STATE, entry, 0)
    }

    fn swapped(&mut self, v: Clif, mem: MemInfo, bits: ir::Type) -> Clif {
        if mem.big && bits != I8 { self.b.ins().bswap(v) } else { v }
    }

    pub(super) fn load(&mut self, inst: Inst, ty: Type) -> Result<Clif, CompileError> {
        let (mem, bits) = self.facts(inst, ty)?;
        let address = self.address(inst)?;
        let distance = self.distance(address, bits, State::READ_PAGES);
        let (fast, slow) = self.ways(distance);
        self.b.switch_to_block(slow);
        let asked = (self.asks)(self.guest).then(|| {
            let zero = self.b.ins().iconst(I64, 0);
            let v = self.ask(State::ASK_LOAD, address, bits, zero);
            let v = if bits == I64 { v } else { self.b.ins().ireduce(bits, v) };
            let on = self.b.create_block();
            let loaded = self.b.append_block_param(on, bits);
            self.b.ins().jump(on, &[v.into()]);
            (on, loaded)
        });
        if asked.is_none() {
            self.give_up();
        }
        self.b.switch_to_block(fast);
        let place = self.b.ins().uextend(I64, address);
        let place = self.b.ins().iadd(distance, place);
        let mut v = self.b.ins().load(bits, MEMORY, place, 0);
        if let Some((on, loaded)) = asked {
            self.b.ins().jump(on, &[v.into()]);
            self.b.switch_to_block(on);
            v = loaded;
        }
        let v = self.swapped(v, mem, bits);
        self.cast(v, super::clif(ty)?)
    }

    /// Where an access goes on that can go ahead, and where another does, out of the way.
    fn ways(&mut self, distance: Clif) -> (Label, Label) {
        let (fast, slow) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        self.b.ins().brif(distance, fast, &[], slow, &[]);
        (fast, slow)
    }

    pub(super) fn store(&mut self, inst: Inst) -> Result<(), CompileError> {
        let &[_, value] = self.f.args(inst) else {
            return Err(CompileError::unsupported("a store without a value"));
        };
        let (mem, bits) = self.facts(inst, self.f.ty(value))?;
        let address = self.address(inst)?;
        let v = self.get(value)?;
        let v = self.cast(v, bits)?;
        let v = self.swapped(v, mem, bits);
        let distance = self.distance(address, bits, State::WRITE_PAGES);
        let (fast, slow) = self.ways(distance);
        self.b.switch_to_block(slow);
        let asked = (self.asks)(self.guest).then(|| {
            let wide = if bits == I64 { v } else { self.b.ins().uextend(I64, v) };
            self.ask(State::ASK_STORE, address, bits, wide);
            let on = self.b.create_block();
            self.b.ins().jump(on, &[]);
            on
        });
        if asked.is_none() {
            self.give_up();
        }
        self.b.switch_to_block(fast);
        let place = self.b.ins().uextend(I64, address);
        let place = self.b.ins().iadd(distance, place);
        self.b.ins().store(MEMORY, v, place, 0);
        if let Some(on) = asked {
            self.b.ins().jump(on, &[]);
            self.b.switch_to_block(on);
        }
        Ok(())
    }

    /// Asks the memory, and leaves the function when that refuses; what was loaded.
    fn ask(&mut self, thunk: i32, address: Clif, bits: ir::Type, v: Clif) -> Clif {
        let signature = self.b.import_signature(ask_signature());
        let thunk = self.b.ins().load(I64, STATE, self.state, thunk);
        let bytes = self.b.ins().iconst(I32, i64::from(bits.bytes()));
        self.b.ins().call_indirect(signature, thunk, &[self.state, address, bytes, v]);
        let refused = self.b.ins().load(I32, STATE, self.state, State::REFUSED);
        let (answered, left) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(refused, left, &[], answered, &[]);
        self.b.switch_to_block(left);
        self.give_up();
        self.b.switch_to_block(answered);
        self.b.ins().load(I64, STATE, self.state, State::ANSWER)
    }

    /// Leaves the access at hand to the interpreter. The guest's address and counter are made here, out of the way of code
    /// that goes on.
    fn give_up(&mut self) {
        let fault = self.fault();
        let mut args: Vec<BlockArg> = vec![self.b.ins().iconst(I32, i64::from(self.guest)).into()];
        if let Some(counter) = self.counter {
            args.push(self.b.use_var(self.variable(counter)).into());
        }
        self.b.ins().jump(fault, &args);
    }

    /// Where faults of the instruction at hand go. Its parameters are the guest address to go on at and the counter.
    fn fault(&mut self) -> Label {
        if let Some(label) = self.fault {
            return label;
        }
        let label = self.b.create_block();
        self.b.set_cold_block(label);
        self.faults.push(Fault { label, dirty: self.dirty });
        self.fault = Some(label);
        label
    }

    /// The code of the labels that faults of the last block go to. What registers are there, the builder knows by the ways
    /// that lead there.
    pub(super) fn emit_faults(&mut self) -> Result<(), CompileError> {
        for Fault { label, mut dirty } in std::mem::take(&mut self.faults) {
            self.b.switch_to_block(label);
            let pc = self.b.append_block_param(label, I32);
            if let Some(counter) = self.counter {
                let (ty, home) = self.home(counter)?;
                let v = self.b.append_block_param(label, ty);
                self.b.ins().store(STATE, v, self.state, home);
                dirty = dirty.without(Set::default().with(counter));
            }
            self.spill(dirty)?;
            self.leave(Exit::Access, pc);
        }
        Ok(())
    }
}
