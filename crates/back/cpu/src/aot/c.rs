//! A function of the IR as one of C, for GCC and Clang on x86-64.
//!
//! Slots are variables, which the C compiler makes values of. A function has the signature `u64 code(State *, u32 pc)` and answers
//! the guest address to go on at in the low half and an [`Exit`] in the high one, as code of the just-in-time compiler does; but
//! calls of the guest are calls: a function that is back with another address than the one behind the call returns it to
//! its own caller.
//!
//! Accesses to memory are inline assembly with a second way out (`asm goto`), the handler of signals' to take: only there are the
//! registers that changed written to their homes. On the usual way an access is one instruction.
//!
//! Ways out share their code. There is a block for each set of registers to be written; it jumps to that of its largest subset after
//! it has written the others.

use crate::accesses::{Accesses, extension, split};
use crate::error::CompileError;
use crate::live::Live;
use crate::registers::{Places, Registers, Set, leaves};
use crate::state::{Exit, State};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::imm::Order;
use xenoglot_ir::{
    Block, DivZero, Flags, Function, Imm, Inst, Kind, MemInfo, Op, Slot, Space, TermKind, Type, Value,
};
use xenoglot_mips::lift::layout;

/// Home of the register with the address to return to.
const RETURN_HOME: u32 = layout::GENERAL + 4 * 31;

/// What a program's functions know of each other.
pub(super) struct Names<'a> {
    /// The function in which the code at an address can be entered, by the address that function begins at.
    pub(super) owner: &'a dyn Fn(u32) -> Option<u32>,
}

/// The name of the function that begins at an address.
pub(super) fn name(pc: u32) -> String {
    format!("xga_{pc:08x}")
}

/// Offsets in the state that the functions use, as macros.
pub(super) fn offsets() -> String {
    let mut out = String::new();
    for (name, offset) in [
        ("STACK_LIMIT", State::STACK_LIMIT),
        ("FAULT_PC", State::FAULT_PC),
        ("FAULT_PENDING", State::FAULT_PENDING),
        ("WINDOW", State::WINDOW),
        ("FUEL", State::FUEL),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "#define STATE_{name} {offset}");
    }
    out
}

/// The C type of values of a type.
fn c_type(ty: Type) -> Result<&'static str, CompileError> {
    match ty.kind() {
        _ if !ty.is_scalar() => Err(CompileError::unsupported(format!("values of type {ty}"))),
        Kind::Bool | Kind::I8 => Ok("u8"),
        Kind::I16 => Ok("u16"),
        Kind::I32 => Ok("u32"),
        Kind::I64 => Ok("u64"),
        Kind::F32 => Ok("f32"),
        Kind::F64 => Ok("f64"),
        kind => Err(CompileError::unsupported(format!("values of kind {}", kind.name()))),
    }
}

/// Integers of a type that have a sign.
fn signed(ty: Type) -> Result<&'static str, CompileError> {
    match ty.kind() {
        Kind::I8 => Ok("i8"),
        Kind::I16 => Ok("i16"),
        Kind::I32 => Ok("i32"),
        Kind::I64 => Ok("i64"),
        kind => Err(CompileError::unsupported(format!("signed values of kind {}", kind.name()))),
    }
}

struct Writer<'a> {
    f: &'a Function,
    names: &'a Names<'a>,
    registers: Registers,
    cfg: &'a Cfg,
    out: String,
    /// The register that changes with each instruction, a variable of its own.
    counter: Option<Slot>,
    /// What is subtracted from it in the block at hand, and how much of that the variable knows of.
    counted: i64,
    settled: i64,
    /// Values that are the counter less something.
    counts: FxHashMap<Value, i64>,
    /// Registers that differ from their homes here.
    dirty: Set,
    /// Where accesses go that fail, by what is to be written then.
    faults: FxHashMap<Set, usize>,
    /// Where the function is left, by what is to be written then.
    exits: FxHashMap<Set, usize>,
    guest: u32,
    /// The instruction behind the one at hand.
    next: Option<Inst>,
    /// The last load whose instruction extended what it loaded, and how: the word is `m` and its number.
    extended: Option<(Value, Op)>,
    /// The blocks at which the function can be entered, by address.
    stubs: FxHashMap<u32, Block>,
}

/// Adds formatted text.
macro_rules! put {
    ($w:expr, $($arg:tt)*) => {{
        // Writing to a string cannot fail.
        let _ = writeln!($w.out, $($arg)*);
    }};
}

/// The text of a function that begins at `pc`.
pub(super) fn function(f: &Function, pc: u32, names: &Names<'_>) -> Result<String, CompileError> {
    let counter = f.slots.iter().find(|(_, data)| data.home == Some(layout::FUEL)).map(|(slot, _)| slot);
    let mut cfg = Cfg::default();
    cfg.compute(f);
    let registers = Registers::new(f, &cfg, counter, &Accesses::default(), &Live::exact(), Places::All)?;
    let mut writer = Writer {
        f,
        names,
        registers,
        cfg: &cfg,
        out: String::new(),
        counter,
        counted: 0,
        settled: 0,
        counts: FxHashMap::default(),
        dirty: Set::default(),
        faults: FxHashMap::default(),
        exits: FxHashMap::default(),
        guest: pc,
        next: None,
        extended: None,
        stubs: FxHashMap::default(),
    };
    writer.function(pc)?;
    Ok(writer.out)
}

impl Writer<'_> {
    fn function(&mut self, pc: u32) -> Result<(), CompileError> {
        let f = self.f;
        put!(self, "XGA_CODE u64 {}(State *s, u32 entered) {{", name(pc));
        put!(self, "char *const w = AT(char *, STATE_WINDOW);");
        put!(self, "u64 next;");
        if self.counter.is_some() {
            put!(self, "i64 fuel = AT(i64, STATE_FUEL);");
        }
        for (slot, data) in f.slots.iter().filter(|&(slot, _)| Some(slot) != self.counter) {
            let start = if data.home.is_none() { " = 0" } else { "" };
            put!(self, "{} s{}{start};", c_type(data.ty)?, slot.as_u32());
        }
        let entry = f.entry().ok_or_else(|| CompileError::unsupported("a function without blocks"))?;
        self.find_stubs(entry, pc);
        match f.params(entry) {
            [] => {}
            &[v] if f.ty(v) == Type::I32 => put!(self, "const u32 v{} = entered;", v.as_u32()),
            _ => return Err(CompileError::unsupported("a function of several parameters")),
        }
        // Calls lead to where the function begins; its other entries are for what is left and comes back.
        if let Some(stub) = self.stubs.get(&pc).filter(|_| f.edges(entry).len() > 1) {
            put!(self, "if (LIKELY(entered == {pc:#x}u)) goto L{};", stub.as_u32());
        }
        for &block in self.cfg.rpo() {
            if f.params(block).len() > usize::from(block == entry) {
                return Err(CompileError::unsupported("blocks with parameters"));
            }
            put!(self, "L{}:;", block.as_u32());
            self.dirty = self.registers.dirty[block];
            (self.counted, self.settled) = (0, 0);
            for slot in self.registers.fill[block].iter() {
                let (ty, home) = self.home(slot)?;
                put!(self, "s{} = AT({ty}, {home});", slot.as_u32());
            }
            let insts = &f.blocks[block].insts;
            for (at, &inst) in insts.iter().enumerate() {
                self.guest = f.insts[inst].guest;
                self.next = insts.get(at + 1).copied();
                self.inst(inst)?;
            }
            self.terminator(block)?;
        }
        self.faults();
        self.exits()?;
        put!(self, "}}");
        Ok(())
    }

    /// The blocks that the entry leads to, by the address that they are for.
    fn find_stubs(&mut self, entry: Block, pc: u32) {
        let term = self.f.term(entry);
        match (term.kind, &term.edges[..]) {
            (TermKind::Jump, [edge]) => drop(self.stubs.insert(pc, edge.block)),
            (TermKind::Switch, edges) => {
                self.stubs
                    .extend(term.cases.iter().zip(edges).map(|(&case, edge)| (case as u32, edge.block)));
            }
            _ => {}
        }
    }

    /// The code of ways out for accesses that fail.
    fn faults(&mut self) {
        let mut faults: Vec<(Set, usize)> = self.faults.drain().collect();
        faults.sort_unstable_by_key(|fault| fault.1);
        for (dirty, number) in faults {
            put!(self, "F{number}:;");
            if self.counter.is_some() {
                put!(self, "fuel -= AT(volatile u32, STATE_FAULT_PENDING);");
            }
            self.dirty = dirty;
            self.leave(&format!("{}ull << 32 | AT(volatile u32, STATE_FAULT_PC)", Exit::Access as u64));
        }
    }

    /// Leaves the function with what it returns.
    fn leave(&mut self, next: &str) {
        let count = self.exits.len();
        let exit = *self.exits.entry(self.dirty).or_insert(count);
        put!(self, "next = {next};");
        put!(self, "goto E{exit};");
    }

    /// The code of ways out.
    fn exits(&mut self) -> Result<(), CompileError> {
        let mut exits: Vec<(Set, usize)> = self.exits.drain().collect();
        if exits.is_empty() {
            return Ok(());
        }
        exits.sort_unstable_by_key(|&(dirty, number)| (dirty.len(), number));
        for (at, &(dirty, number)) in exits.iter().enumerate() {
            put!(self, "E{number}:;");
            let smaller = exits.iter().take(at).rev().find(|&&(other, _)| other.without(dirty).is_empty());
            self.save(smaller.map_or(dirty, |&(other, _)| dirty.without(other)))?;
            match smaller {
                Some((_, number)) => put!(self, "goto E{number};"),
                None => put!(self, "goto leave;"),
            }
        }
        put!(self, "leave:;");
        if self.counter.is_some() {
            put!(self, "AT(i64, STATE_FUEL) = fuel;");
        }
        put!(self, "return next;");
        Ok(())
    }

    /// The type of a slot with a home, and where that is in the state.
    fn home(&self, slot: Slot) -> Result<(&'static str, u32), CompileError> {
        let data = &self.f.slots[slot];
        let bytes = data.ty.bytes().unwrap_or(0);
        match data.home {
            Some(home) if home + bytes <= State::REGISTERS => Ok((c_type(data.ty)?, home)),
            _ => Err(CompileError::unsupported(format!("the home of slot {}", data.name))),
        }
    }

    /// Writes registers to their homes.
    fn save(&mut self, slots: Set) -> Result<(), CompileError> {
        for slot in slots.iter() {
            let (ty, home) = self.home(slot)?;
            put!(self, "AT({ty}, {home}) = s{};", slot.as_u32());
        }
        Ok(())
    }

    /// Writes everything to its home, as before whoever looks.
    fn save_all(&mut self) -> Result<(), CompileError> {
        self.save(self.dirty)?;
        if self.counter.is_some() {
            put!(self, "AT(i64, STATE_FUEL) = fuel;");
        }
        Ok(())
    }

    fn settle(&mut self) {
        if self.counted != self.settled {
            put!(self, "fuel -= {};", self.counted - self.settled);
            self.settled = self.counted;
        }
    }

    /// Makes values of those that are the counter less something.
    fn counts_as_values(&mut self, args: &[Value]) {
        for &arg in args {
            let Some(&count) = self.counts.get(&arg) else { continue };
            self.settle();
            put!(self, "const u64 v{} = fuel - ({});", arg.as_u32(), count - self.settled);
        }
    }

    fn inst(&mut self, inst: Inst) -> Result<(), CompileError> {
        let f = self.f;
        let data = &f.insts[inst];
        match (data.op, data.imm, f.args(inst)) {
            (Op::SlotSet, Imm::Slot(slot), &[v]) if self.counter == Some(slot) => {
                match self.counts.get(&v) {
                    Some(&count) => self.counted = count,
                    None => {
                        put!(self, "fuel = (i64)v{};", v.as_u32());
                        (self.counted, self.settled) = (0, 0);
                        self.counts.clear();
                    }
                }
                return Ok(());
            }
            (Op::SlotSet, Imm::Slot(slot), &[v]) => {
                self.counts_as_values(&[v]);
                put!(self, "s{} = v{};", slot.as_u32(), v.as_u32());
                if self.registers.globals.has(slot) {
                    self.dirty = self.dirty.with(slot);
                }
                return Ok(());
            }
            (Op::Store, ..) => return self.store(inst),
            _ => {}
        }
        let result = f.result(inst).ok_or_else(|| unsupported(data.op))?;
        match (data.op, data.imm, f.args(inst)) {
            (Op::SlotGet, Imm::Slot(slot), _) if self.counter == Some(slot) => {
                self.counts.insert(result, self.counted);
                return Ok(());
            }
            (Op::Isub, _, &[a, b]) => {
                if let (Some(&count), Some(bits)) = (self.counts.get(&a), f.const_bits(b)) {
                    self.counts.insert(result, count.wrapping_add(bits.0[0] as i64));
                    return Ok(());
                }
            }
            _ => {}
        }
        self.counts_as_values(f.args(inst));
        let text = match (data.op, data.imm) {
            (Op::Load, _) => return self.load(inst, result),
            (Op::Const, Imm::Const(constant)) => constant_of(f.ty(result), f.consts[constant].0[0])?,
            (Op::SlotGet, Imm::Slot(slot)) => format!("s{}", slot.as_u32()),
            _ => self.op(inst, result)?,
        };
        put!(self, "const {} v{} = {text};", c_type(f.ty(result))?, result.as_u32());
        Ok(())
    }

    /// The facts of an access, and its bits.
    fn facts(&self, inst: Inst, ty: Type) -> Result<(MemInfo, u32), CompileError> {
        let Imm::Mem(mem) = self.f.insts[inst].imm else {
            return Err(CompileError::unsupported("an access without its facts"));
        };
        let bytes = ty.bytes().unwrap_or(0);
        let natural = 1 << mem.align_log2 == bytes;
        if mem.space != Space::Guest || mem.order != Order::None || !natural || !ty.is_scalar() {
            return Err(CompileError::unsupported(format!("an access to {} memory", mem.space.name())));
        }
        Ok((mem, bytes * 8))
    }

    /// The place of an access as an expression, its alignment checked, and the number of its way out.
    fn place(&mut self, inst: Inst, bits: u32) -> Result<(String, usize), CompileError> {
        let f = self.f;
        let address = match f.args(inst).first() {
            Some(&v) if f.ty(v) == Type::I32 => v,
            _ => return Err(CompileError::unsupported("guest addresses that are not of 32 bits")),
        };
        // An offset is part of the host's address: beyond the first and the last byte of the guest's memory there is nothing.
        let (base, offset) = split(f, address);
        let next = self.faults.len();
        let fault = *self.faults.entry(self.dirty).or_insert(next);
        let bytes = (bits / 8) as i32;
        if bytes > 1 {
            let tested = if offset % bytes == 0 { base } else { address };
            let (guest, pending) = (self.guest, self.counted - self.settled);
            let (v, low) = (tested.as_u32(), bytes - 1);
            put!(self, "if (UNLIKELY(v{v} & {low})) MISALIGNED({guest:#x}u, {pending}, F{fault});");
        }
        Ok((format!("*(const u{bits} *)(w + (u64)v{} + {offset})", base.as_u32()), fault))
    }

    fn load(&mut self, inst: Inst, result: Value) -> Result<(), CompileError> {
        let ty = self.f.ty(result);
        let (mem, bits) = self.facts(inst, ty)?;
        let (place, fault) = self.place(inst, bits)?;
        let extension = extension(self.f, result, mem, self.next);
        self.extended = extension.map(|op| (result, op));
        let (insn, wide) = match bits {
            8 if extension == Some(Op::Sext) => ("movsbl %1, %k0", "u32"),
            8 => ("movzbl %1, %k0", "u32"),
            16 if extension == Some(Op::Sext) => ("movswl %1, %k0", "u32"),
            16 => ("movzwl %1, %k0", "u32"),
            32 => ("movl %1, %k0", "u32"),
            _ => ("movq %1, %0", "u64"),
        };
        let (v, guest, pending) = (result.as_u32(), self.guest, self.counted - self.settled);
        put!(self, "{wide} m{v};");
        put!(self, "LOAD(\"{insn}\", m{v}, {place}, {guest:#x}, {pending}, F{fault});");
        let bits_text = swapped(format!("m{v}"), mem, bits);
        let text = match ty.kind() {
            Kind::F32 => format!("f32_of({bits_text})"),
            Kind::F64 => format!("f64_of({bits_text})"),
            _ => bits_text,
        };
        put!(self, "const {} v{v} = {text};", c_type(ty)?);
        Ok(())
    }

    fn store(&mut self, inst: Inst) -> Result<(), CompileError> {
        let &[_, value] = self.f.args(inst) else {
            return Err(CompileError::unsupported("a store without a value"));
        };
        let ty = self.f.ty(value);
        let (mem, bits) = self.facts(inst, ty)?;
        self.counts_as_values(&[value]);
        let (place, fault) = self.place(inst, bits)?;
        let text = match ty.kind() {
            Kind::F32 => format!("u32_of(v{})", value.as_u32()),
            Kind::F64 => format!("u64_of(v{})", value.as_u32()),
            _ => format!("v{}", value.as_u32()),
        };
        let text = swapped(text, mem, bits);
        let insn = match bits {
            8 => "movb %b1, %0",
            16 => "movw %w1, %0",
            32 => "movl %k1, %0",
            _ => "movq %1, %0",
        };
        let (guest, pending) = (self.guest, self.counted - self.settled);
        put!(self, "STORE(\"{insn}\", (u{bits}){text}, {place}, {guest:#x}, {pending}, F{fault});");
        Ok(())
    }

    fn terminator(&mut self, block: Block) -> Result<(), CompileError> {
        let f = self.f;
        let term = f.term(block);
        self.guest = term.guest;
        self.settle();
        let args = f.term_args(block);
        self.counts_as_values(args);
        if term.edges.iter().any(|edge| !f.edge_args(edge).is_empty()) {
            return Err(CompileError::unsupported("blocks with parameters"));
        }
        let operand = |n: usize| match args.get(n) {
            Some(&v) if f.ty(v) == Type::I32 || !leaves(term.kind) => Ok(v.as_u32()),
            _ => Err(CompileError::unsupported("guest addresses that are not of 32 bits")),
        };
        let label = |n: usize| term.edges.get(n).map_or(0, |edge| edge.block.as_u32());
        match (term.kind, &term.edges[..]) {
            (TermKind::Jump, [_]) => put!(self, "goto L{};", label(0)),
            (TermKind::Branch, [yes, no]) => {
                let out = |block| matches!(f.term(block).kind, TermKind::Exit | TermKind::Trap);
                let likely = match (out(yes.block), out(no.block)) {
                    (true, false) => "UNLIKELY",
                    (false, true) => "LIKELY",
                    _ => "",
                };
                let v = operand(0)?;
                put!(self, "if ({likely}(v{v})) goto L{}; else goto L{};", label(0), label(1));
            }
            (TermKind::Switch, edges) => {
                put!(self, "switch (v{}) {{", operand(0)?);
                for (&case, edge) in term.cases.iter().zip(edges) {
                    put!(self, "case {case:#x}u: goto L{};", edge.block.as_u32());
                }
                put!(self, "default: goto L{}; }}", label(edges.len().saturating_sub(1)));
            }
            (TermKind::Exit, _) => {
                let pc = operand(0)?;
                self.leave(&format!("v{pc}"));
            }
            (TermKind::Trap, _) => {
                let pc = operand(1)?;
                self.leave(&format!("{}ull << 32 | v{pc}", Exit::Interpret as u64));
            }
            (TermKind::TailCallGuest, _) => {
                let pc = operand(0)?;
                self.save_all()?;
                self.go_on(block, pc)?;
            }
            (kind, _) => return Err(CompileError::unsupported(format!("`{}`", kind.name()))),
        }
        Ok(())
    }

    /// Goes on at the guest address in value `pc`: a call, a return, or a jump.
    fn go_on(&mut self, block: Block, pc: u32) -> Result<(), CompileError> {
        let f = self.f;
        let target = f.term_args(block).first().copied();
        let known = target.and_then(|v| f.const_bits(v)).map(|bits| bits.0[0] as u32);
        let code = match known.and_then(|pc| (self.names.owner)(pc)) {
            Some(owner) => name(owner),
            None => "xga_go".into(),
        };
        let is_return = |slot: Slot| f.slots[slot].home == Some(RETURN_HOME);
        let sets = f.blocks[block].insts.iter().rev().find_map(|&inst| {
            match (f.insts[inst].op, f.insts[inst].imm) {
                (Op::SlotSet, Imm::Slot(slot)) if is_return(slot) => f.args(inst).first().copied(),
                _ => None,
            }
        });
        let behind = sets.and_then(|v| f.const_bits(v)).map(|bits| bits.0[0] as u32);
        if let Some((behind, stub)) = behind.and_then(|pc| Some((pc, *self.stubs.get(&pc)?))) {
            put!(self, "CALL({code}, v{pc}, {behind:#x}u);");
            if self.counter.is_some() {
                put!(self, "fuel = AT(i64, STATE_FUEL);");
            }
            put!(self, "goto L{};", stub.as_u32());
            return Ok(());
        }
        let returns = target.and_then(|v| f.def_inst(v)).is_some_and(|inst| {
            matches!((f.insts[inst].op, f.insts[inst].imm), (Op::SlotGet, Imm::Slot(slot)) if is_return(slot))
        });
        match returns {
            true => put!(self, "return v{pc};"),
            false => put!(self, "TAIL({code}, v{pc});"),
        }
        Ok(())
    }

    fn op(&self, inst: Inst, result: Value) -> Result<String, CompileError> {
        let f = self.f;
        let data = &f.insts[inst];
        let op = data.op;
        let values = f.args(inst);
        let from = values.first().map_or(Type::I32, |&v| f.ty(v));
        let to = f.ty(result);
        let allowed = if op == Op::F2s { Flags::NONE.with_clamp() } else { Flags::NONE };
        if data.flags != allowed && data.flags != Flags::NONE {
            return Err(CompileError::unsupported(format!("`{}{}`", op.info().name, data.flags)));
        }
        let arg = |n: usize| values.get(n).map_or_else(String::new, |v| format!("v{}", v.as_u32()));
        let (a, b, c) = (arg(0), arg(1), arg(2));
        let bits = from.bytes().unwrap_or(1) * 8;
        let (ty, of) = (c_type(to)?, c_type(from)?);
        let narrow = |text: String| format!("({ty})({text})");
        Ok(match op {
            Op::Iadd => narrow(format!("{a} + {b}")),
            Op::Isub => narrow(format!("{a} - {b}")),
            Op::Imul => narrow(format!("{a} * {b}")),
            Op::Ineg => narrow(format!("-{a}")),
            Op::And => format!("{a} & {b}"),
            Op::Or => format!("{a} | {b}"),
            Op::Xor => format!("{a} ^ {b}"),
            Op::Not if from.kind() == Kind::Bool => format!("!{a}"),
            Op::Not => narrow(format!("~{a}")),
            Op::Shl => narrow(format!("{a} << ({b} & {})", bits - 1)),
            Op::Ushr => format!("{a} >> ({b} & {})", bits - 1),
            Op::Sshr => narrow(format!("({}){a} >> ({b} & {})", signed(from)?, bits - 1)),
            Op::Rotl if bits == 32 => format!("rotl32({a}, {b})"),
            Op::Clz if bits == 32 => format!("clz32({a})"),
            Op::Byteswap if bits == 8 => a,
            Op::Byteswap => format!("__builtin_bswap{bits}({a})"),
            Op::IaddOverflowOut | Op::IsubOverflowOut if bits == 32 => {
                let carry = values.get(2).and_then(|&v| f.const_bits(v));
                if carry.is_none_or(|bits| bits.0[0] != 0) {
                    return Err(unsupported(op));
                }
                let name = if op == Op::IaddOverflowOut { "add" } else { "sub" };
                format!("{name}_overflows({a}, {b})")
            }
            Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem
                if bits == 32 && data.flags.div_zero() == DivZero::Zero =>
            {
                format!("{}32({a}, {b})", op.info().name)
            }
            Op::Select => format!("{a} ? {b} : {c}"),
            Op::Bitcast => match (from.kind(), to.kind()) {
                (Kind::I32, Kind::F32)
                | (Kind::I64, Kind::F64)
                | (Kind::F32, Kind::I32)
                | (Kind::F64, Kind::I64) => format!("{ty}_of({a})"),
                _ if of == ty => a,
                _ => return Err(unsupported(op)),
            },
            // The C compiler does not know what an instruction in assembly does to high bits, and would extend again.
            Op::Zext | Op::Sext
                if to == Type::I32 && self.extended.is_some_and(|e| values == [e.0] && op == e.1) =>
            {
                format!("m{}", values[0].as_u32())
            }
            Op::Zext | Op::TruncInt => narrow(a),
            Op::Sext if from.kind() == Kind::Bool => narrow(format!("-({ty}){a}")),
            Op::Sext => narrow(format!("({})({}){a}", signed(to)?, signed(from)?)),
            Op::Fadd => format!("{a} + {b}"),
            Op::Fsub => format!("{a} - {b}"),
            Op::Fmul => format!("{a} * {b}"),
            Op::Fdiv => format!("{a} / {b}"),
            Op::Sqrt if of == "f32" => format!("__builtin_sqrtf({a})"),
            Op::Sqrt => format!("__builtin_sqrt({a})"),
            Op::Fneg => format!("-{a}"),
            Op::Fabs if of == "f32" => format!("__builtin_fabsf({a})"),
            Op::Fabs => format!("__builtin_fabs({a})"),
            Op::Floor => format!("floor_{of}({a})"),
            Op::Ceil => format!("ceil_{of}({a})"),
            Op::Trunc => format!("trunc_{of}({a})"),
            Op::RoundEven => format!("nearest_{of}({a})"),
            Op::F2f => narrow(a),
            Op::F2s => narrow(format!("({}){a}", signed(to)?)),
            // Doubles hold all integers of 32 bits.
            Op::S2f if (from.kind(), to.kind()) == (Kind::I32, Kind::F64) => narrow(format!("(i32){a}")),
            Op::S2f => format!("{ty}_of_{}({a})", signed(from)?),
            Op::IcmpEq | Op::FcmpOeq => format!("{a} == {b}"),
            Op::IcmpNe | Op::FcmpUne => format!("{a} != {b}"),
            Op::IcmpUlt | Op::FcmpOlt => format!("{a} < {b}"),
            Op::IcmpUle | Op::FcmpOle => format!("{a} <= {b}"),
            Op::IcmpSlt => format!("({0}){a} < ({0}){b}", signed(from)?),
            Op::IcmpSle => format!("({0}){a} <= ({0}){b}", signed(from)?),
            Op::FcmpOne => format!("__builtin_islessgreater({a}, {b})"),
            Op::FcmpUeq => format!("!__builtin_islessgreater({a}, {b})"),
            Op::FcmpUlt => format!("!__builtin_isgreaterequal({a}, {b})"),
            Op::FcmpUle => format!("!__builtin_isgreater({a}, {b})"),
            Op::FcmpOrd => format!("!__builtin_isunordered({a}, {b})"),
            Op::FcmpUno => format!("__builtin_isunordered({a}, {b})"),
            _ => return Err(unsupported(op)),
        })
    }
}

fn unsupported(op: Op) -> CompileError {
    CompileError::unsupported(format!("`{}`", op.info().name))
}

/// Bits of memory in the host's order, or the other way round.
fn swapped(text: String, mem: MemInfo, bits: u32) -> String {
    if mem.big && bits != 8 { format!("__builtin_bswap{bits}({text})") } else { text }
}

fn constant_of(ty: Type, bits: u64) -> Result<String, CompileError> {
    Ok(match c_type(ty)? {
        "f32" => format!("f32_of({:#x}u)", bits as u32),
        "f64" => format!("f64_of({bits:#x}ull)"),
        "u64" => format!("{bits:#x}ull"),
        "u32" => format!("{:#x}u", bits as u32),
        "u16" => format!("{:#x}u", bits as u16),
        _ => format!("{:#x}u", bits as u8),
    })
}
