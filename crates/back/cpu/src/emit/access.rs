//! Accesses to the guest's memory: through the memory's tables of pages, or by asking the memory.

use super::{Emitter, Extended, FIXED, Fault, Label, STATE};
use crate::accesses::{extension, split};
use crate::error::CompileError;
use crate::options::Access;
use crate::registers::Set;
use crate::signals::Pending;
use crate::state::{Exit, State};
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I64};
use cranelift_codegen::ir::{
    self, AbiParam, BlockArg, InstBuilder, MemFlagsData, Signature, SourceLoc, TrapCode, Value as Clif,
};
use cranelift_codegen::isa::CallConv;
use xenoglot_ir::imm::Order;
use xenoglot_ir::{Imm, Inst, MemInfo, Op, Space, Type, Value};

/// The guest's memory: any alignment, and never where it is not, as the tables say.
const MEMORY: MemFlagsData = MemFlagsData::new().with_notrap().with_endianness(ir::Endianness::Little);

/// Trap codes of accesses, from 1 on: as many as there are codes of one's own.
const CODES: u32 = 200;

/// The trap code of a site by its number, for what the host's page protection refuses, and misaligned accesses.
fn trap_code(site: u32) -> Option<TrapCode> {
    TrapCode::user((site % CODES) as u8 + 1)
}

/// The number of the site of a trap, of so many sites. Its code tells it where there are no more sites than codes. Else the
/// source location of its instruction is the last site's when it was made. That may be a later one: the code generator makes an
/// access part of the instruction that uses what was loaded. Where that stands for two equal ones, it has no location.
pub(crate) fn site_of(code: TrapCode, sites: usize, location: Option<u32>) -> Option<u32> {
    let is_of = |&site: &u32| trap_code(site) == Some(code);
    if sites <= CODES as usize {
        return (0..sites as u32).find(is_of);
    }
    (0..CODES).map_while(|back| location?.checked_sub(back)).find(is_of)
}

/// Whether a trap is an access that may raise a signal.
pub(crate) fn is_site(code: TrapCode) -> bool {
    (1..=CODES).any(|number| TrapCode::user(number as u8) == Some(code))
}

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

    /// The address of an access in the window, and an offset to it.
    fn split_address(&self, inst: Inst) -> Result<(Clif, i32), CompileError> {
        match self.f.args(inst).first() {
            Some(&v) if self.f.ty(v) == Type::I32 => {
                let (base, offset) = split(self.f, v);
                Ok((self.get(base)?, offset))
            }
            _ => Err(CompileError::unsupported("guest addresses that are not of 32 bits")),
        }
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

    /// Where in the window an access is, with its offset, and how it is to be made by the next instruction, which may raise a
    /// signal. Registers were in their homes at the checkpoint.
    fn place(&mut self, inst: Inst, bits: ir::Type) -> Result<(Clif, i32, MemFlagsData), CompileError> {
        let (base, offset) = self.split_address(inst)?;
        let low = match self.accesses.needs(inst).check {
            true => {
                let mask = i64::from(bits.bytes()) - 1;
                let tested = if i64::from(offset) & mask == 0 { base } else { self.address(inst)? };
                Some(self.b.ins().band_imm_u(tested, mask))
            }
            false => None,
        };
        let window = self.b.ins().load(I64, FIXED, self.state, State::WINDOW);
        let base = self.b.ins().uextend(I64, base);
        let place = self.b.ins().iadd(window, base);
        // Sites are fewer than the function's instructions. The location stays until the next one.
        let site = self.sites.len() as u32;
        let (pc, count) = self.checkpoint.unwrap_or((self.guest, self.counted));
        let count = (count - self.settled) as i32;
        self.sites.push(Pending { access: self.guest, pc, count });
        self.b.set_srcloc(SourceLoc::new(site));
        let code = trap_code(site);
        if let (Some(low), Some(code)) = (low, code) {
            self.b.ins().trapnz(low, code);
        }
        let flags = MemFlagsData::new().with_trap_code(code).with_endianness(ir::Endianness::Little);
        Ok((place, offset, flags))
    }

    /// Whether an access is to be a call.
    fn is_call(&self) -> bool {
        self.access == Access::Calls || self.access == Access::Window && self.asks.contains(&self.guest)
    }

    /// Makes this a checkpoint: writes those of `registers` to their homes that differ from them, so that the interpreter can go on
    /// here.
    pub(super) fn save(&mut self, registers: Set) -> Result<(), CompileError> {
        self.spill(self.dirty.in_both(registers))?;
        self.dirty = Set::default();
        self.fault = None;
        self.checkpoint = Some((self.guest, self.counted));
        Ok(())
    }

    /// Writes registers to their homes before an access that needs it.
    fn save_before(&mut self, inst: Inst) -> Result<(), CompileError> {
        match self.accesses.needs(inst).save {
            true => self.save(self.live.access(self.block, inst)),
            false => Ok(()),
        }
    }

    pub(super) fn load(&mut self, inst: Inst, ty: Type) -> Result<Clif, CompileError> {
        let (mem, bits) = self.facts(inst, ty)?;
        let address = self.address(inst)?;
        self.save_before(inst)?;
        let v = if self.is_call() {
            let zero = self.b.ins().iconst(I64, 0);
            let v = self.ask(State::ASK_LOAD, address, bits, zero);
            if bits == I64 { v } else { self.b.ins().ireduce(bits, v) }
        } else if self.access == Access::Window {
            let (place, offset, flags) = self.place(inst, bits)?;
            let loaded = self.f.result(inst);
            if let Some((loaded, extension)) =
                loaded.and_then(|v| Some((v, extension(self.f, v, mem, self.next)?)))
            {
                let word = match (extension, bits) {
                    (Op::Sext, I8) => self.b.ins().sload8(I32, flags, place, offset),
                    (Op::Sext, _) => self.b.ins().sload16(I32, flags, place, offset),
                    (_, I8) => self.b.ins().uload8(I32, flags, place, offset),
                    _ => self.b.ins().uload16(I32, flags, place, offset),
                };
                self.extended = Some(Extended { loaded, extension, word });
                return Ok(self.b.ins().ireduce(bits, word));
            }
            self.b.ins().load(bits, flags, place, offset)
        } else {
            self.load_by_table(address, bits)
        };
        let v = self.swapped(v, mem, bits);
        self.cast(v, super::clif(ty)?)
    }

    /// The word that a load has made of its value by this extension already.
    pub(super) fn extended(&self, op: Op, v: Value, to: ir::Type) -> Option<Clif> {
        let is_this = |e: &Extended| e.loaded == v && e.extension == op && to == I32;
        self.extended.filter(is_this).map(|e| e.word)
    }

    fn load_by_table(&mut self, address: Clif, bits: ir::Type) -> Clif {
        let distance = self.distance(address, bits, State::READ_PAGES);
        let (fast, slow) = self.ways(distance);
        self.b.switch_to_block(slow);
        let asked = self.asks.contains(&self.guest).then(|| {
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
        v
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
        self.save_before(inst)?;
        if self.is_call() {
            let wide = if bits == I64 { v } else { self.b.ins().uextend(I64, v) };
            self.ask(State::ASK_STORE, address, bits, wide);
        } else if self.access == Access::Window {
            let (place, offset, flags) = self.place(inst, bits)?;
            self.b.ins().store(flags, v, place, offset);
        } else {
            self.store_by_table(address, bits, v);
        }
        Ok(())
    }

    fn store_by_table(&mut self, address: Clif, bits: ir::Type, v: Clif) {
        let distance = self.distance(address, bits, State::WRITE_PAGES);
        let (fast, slow) = self.ways(distance);
        self.b.switch_to_block(slow);
        let asked = self.asks.contains(&self.guest).then(|| {
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
        let pc = self.b.ins().iconst(I32, i64::from(self.guest));
        let pending = self.b.ins().iconst(I64, self.settled - self.counted);
        let args: [BlockArg; 2] = [pc.into(), pending.into()];
        self.b.ins().jump(fault, &args);
    }

    /// Where faults of the instruction at hand go. Its parameters are the guest address to go on at and the counter.
    fn fault(&mut self) -> Label {
        if let Some(label) = self.fault {
            return label;
        }
        let label = self.b.create_block();
        self.b.set_cold_block(label);
        let locals = self.dirty.in_both(self.registers.locals);
        let values = locals.iter().filter_map(|slot| Some((slot, self.known[slot].expand()?))).collect();
        self.faults.push(Fault { label, dirty: self.dirty.without(locals), locals: values });
        self.fault = Some(label);
        label
    }

    /// The code of the labels that faults of the last block go to. What registers are there, the builder knows by the ways
    /// that lead there.
    pub(super) fn emit_faults(&mut self) -> Result<(), CompileError> {
        for Fault { label, dirty, locals } in std::mem::take(&mut self.faults) {
            self.b.switch_to_block(label);
            let pc = self.b.append_block_param(label, I32);
            let pending = self.b.append_block_param(label, I64);
            let counter = self.b.ins().get_pinned_reg(I64);
            let counter = self.b.ins().iadd(counter, pending);
            self.b.ins().set_pinned_reg(counter);
            self.spill(dirty)?;
            for (slot, v) in locals {
                let (_, home) = self.home(slot)?;
                self.b.ins().store(STATE, v, self.state, home);
            }
            self.leave(Exit::Access, pc);
        }
        Ok(())
    }
}
