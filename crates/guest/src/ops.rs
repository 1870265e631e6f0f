//! Instructions as operations: what the interpreter executes, and baseline code of other engines is made from.
//!
//! Operands are those of the instruction with constants and targets computed, registers checked, and writes of `zero` gone.

use crate::cpu::{HI, LO, SINK};
use xenoglot_mips::{Inst, Op as Mips};

/// What an operation does, by the instruction it is named for. `a` is the destination, `b` and `c` are sources, `imm` is a constant
/// or target. Registers are indices of [`Cpu::regs`](crate::Cpu::regs), or of [`Cpu::fpr`](crate::Cpu::fpr) in `a` of the accesses
/// that are named for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // The names are the manual's.
#[rustfmt::skip]
pub enum Code {
    Nop,
    /// `a = b`.
    Move,
    /// `a = imm`.
    Set,
    Addu, Addiu, Subu, And, Or, Xor, Nor, Slt, Sltu, Slti, Sltiu, Andi, Ori, Xori,
    Sll, Srl, Sra, Rotr,
    /// These and those up to `rotrv` shift `b` by `c`.
    Sllv,
    Srlv, Srav, Rotrv, Add, Addi, Sub,
    Mult, Multu, Div, Divu, Mul, Madd, Maddu, Msub, Msubu, Clz, Clo, Movz, Movn,
    /// `a = b` when the condition `imm` of FCSR is `c`.
    Movcc,
    /// `a = b >> c & imm`.
    Ext,
    /// The bits of the mask `imm`, shifted to the left by `c`, come from `b`.
    Ins,
    Seb, Seh, Wsbh, Rdhwr,
    /// Accesses are at `b + imm`. What is stored is `a`.
    Lb,
    Lbu, Lh, Lhu, Lw, Lwl, Lwr, Sb, Sh, Sw, Swl, Swr, Ll,
    /// Stores `c`; `a` takes the answer.
    Sc,
    Lwc1, Ldc1, Swc1, Sdc1,
    /// These and those up to `sdxc1` are at `b + c`.
    Lwxc1,
    Ldxc1, Swxc1, Sdxc1,
    /// Traps when `b` and `c` are in the relation `a`: 0 >=, 1 >= unsigned, 2 <, 3 < unsigned, 4 ==, 6 !=.
    Trap,
    /// With `imm` in place of `c`.
    TrapImm,
    /// Any other instruction of the floating-point unit: `imm` is its word.
    Float,
    Beq, Bne, Blez, Bgtz, Bltz, Bgez, Beql, Bnel, Blezl, Bgtzl, Bltzl, Bgezl,
    /// Branches when the condition `b` of FCSR is `a`.
    Bcc,
    Bccl,
    /// Sets the return address after the condition was looked at.
    Bltzal,
    Bgezal, Bltzall, Bgezall, Jump, Call, Jr,
    /// Sets `a` to `imm`, the return address.
    Jalr,
    Syscall, Break,
    /// An instruction that raises an exception: its word is `imm`.
    Reserved,
    /// There is no instruction.
    FetchFault,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// What it does.
    pub code: Code,
    /// The destination.
    pub a: u8,
    /// The first source.
    pub b: u8,
    /// The second source.
    pub c: u8,
    /// A constant or target.
    pub imm: u32,
}

impl Op {
    /// An operation with all its fields.
    pub fn new(code: Code, a: u8, b: u8, c: u8, imm: u32) -> Op {
        Op { code, a, b, c, imm }
    }
}

/// A destination: what is written to `zero` goes where nobody reads.
fn to(register: u8) -> u8 {
    if register == 0 { SINK as u8 } else { register }
}

/// The operation of the instruction at `pc`.
pub fn lower(inst: Inst, pc: u32) -> Op {
    use Code as C;
    let (rs, rt, rd) = (inst.rs(), inst.rt(), inst.rd());
    let imm = inst.imm() as u32;
    let three = |code| Op::new(code, to(rd), rs, rt, 0);
    let two = |code, imm| Op::new(code, to(rt), rs, 0, imm);
    let shift = |code| Op::new(code, to(rd), rt, 0, u32::from(inst.shift()));
    let variable = |code| Op::new(code, to(rd), rt, rs, 0);
    let sources = |code| Op::new(code, 0, rs, rt, 0);
    let store = |code| Op::new(code, rt, rs, 0, imm);
    let branch = |code| Op::new(code, 0, rs, rt, inst.branch_target(pc));
    let condition = |code, wanted| Op::new(code, wanted, inst.cc(), 0, inst.branch_target(pc));
    let trap = |relation| Op::new(C::Trap, relation, rs, rt, inst.code());
    let trap_imm = |relation| Op::new(C::TrapImm, relation, rs, 0, imm);
    let float = || Op::new(C::Float, 0, 0, 0, inst.word);
    let even =
        |register: u8, op| if register & 1 == 0 { op } else { Op::new(C::Reserved, 0, 0, 0, inst.word) };
    match inst.op {
        Mips::Sll if rd == 0 => Op::new(C::Nop, 0, 0, 0, 0),
        Mips::Sll => shift(C::Sll),
        Mips::Srl => shift(C::Srl),
        Mips::Rotr => shift(C::Rotr),
        Mips::Sra => shift(C::Sra),
        Mips::Sllv => variable(C::Sllv),
        Mips::Srlv => variable(C::Srlv),
        Mips::Rotrv => variable(C::Rotrv),
        Mips::Srav => variable(C::Srav),
        Mips::Jr | Mips::JrHb => Op::new(C::Jr, 0, rs, 0, 0),
        Mips::Jalr | Mips::JalrHb => Op::new(C::Jalr, to(rd), rs, 0, pc.wrapping_add(8)),
        Mips::Movf => Op::new(C::Movcc, to(rd), rs, 0, u32::from(inst.cc())),
        Mips::Movt => Op::new(C::Movcc, to(rd), rs, 1, u32::from(inst.cc())),
        Mips::Movz => three(C::Movz),
        Mips::Movn => three(C::Movn),
        Mips::Syscall => Op::new(C::Syscall, 0, 0, 0, 0),
        Mips::Break => Op::new(C::Break, 0, 0, 0, inst.code()),
        Mips::Sync | Mips::Pref | Mips::Prefx | Mips::Synci => Op::new(C::Nop, 0, 0, 0, 0),
        Mips::Mfhi => Op::new(C::Move, to(rd), HI as u8, 0, 0),
        Mips::Mthi => Op::new(C::Move, HI as u8, rs, 0, 0),
        Mips::Mflo => Op::new(C::Move, to(rd), LO as u8, 0, 0),
        Mips::Mtlo => Op::new(C::Move, LO as u8, rs, 0, 0),
        Mips::Mult => sources(C::Mult),
        Mips::Multu => sources(C::Multu),
        Mips::Div => sources(C::Div),
        Mips::Divu => sources(C::Divu),
        Mips::Add => three(C::Add),
        Mips::Addu | Mips::Or if rt == 0 => Op::new(C::Move, to(rd), rs, 0, 0),
        Mips::Addu => three(C::Addu),
        Mips::Sub => three(C::Sub),
        Mips::Subu => three(C::Subu),
        Mips::And => three(C::And),
        Mips::Or => three(C::Or),
        Mips::Xor => three(C::Xor),
        Mips::Nor => three(C::Nor),
        Mips::Slt => three(C::Slt),
        Mips::Sltu => three(C::Sltu),
        Mips::Tge => trap(0),
        Mips::Tgeu => trap(1),
        Mips::Tlt => trap(2),
        Mips::Tltu => trap(3),
        Mips::Teq => trap(4),
        Mips::Tne => trap(6),
        Mips::Tgei => trap_imm(0),
        Mips::Tgeiu => trap_imm(1),
        Mips::Tlti => trap_imm(2),
        Mips::Tltiu => trap_imm(3),
        Mips::Teqi => trap_imm(4),
        Mips::Tnei => trap_imm(6),
        Mips::Bltz => branch(C::Bltz),
        Mips::Bgez => branch(C::Bgez),
        Mips::Bltzl => branch(C::Bltzl),
        Mips::Bgezl => branch(C::Bgezl),
        Mips::Bltzal => branch(C::Bltzal),
        Mips::Bgezal => branch(C::Bgezal),
        Mips::Bltzall => branch(C::Bltzall),
        Mips::Bgezall => branch(C::Bgezall),
        Mips::J => Op::new(C::Jump, 0, 0, 0, inst.jump_target(pc)),
        Mips::Jal => Op::new(C::Call, 0, 0, 0, inst.jump_target(pc)),
        Mips::Beq if rs == rt => Op::new(C::Jump, 0, 0, 0, inst.branch_target(pc)),
        Mips::Beq => branch(C::Beq),
        Mips::Bne => branch(C::Bne),
        Mips::Blez => branch(C::Blez),
        Mips::Bgtz => branch(C::Bgtz),
        Mips::Beql => branch(C::Beql),
        Mips::Bnel => branch(C::Bnel),
        Mips::Blezl => branch(C::Blezl),
        Mips::Bgtzl => branch(C::Bgtzl),
        Mips::Addi => two(C::Addi, imm),
        Mips::Addiu if rs == 0 => Op::new(C::Set, to(rt), 0, 0, imm),
        Mips::Addiu => two(C::Addiu, imm),
        Mips::Slti => two(C::Slti, imm),
        Mips::Sltiu => two(C::Sltiu, imm),
        Mips::Andi => two(C::Andi, inst.uimm()),
        Mips::Ori => two(C::Ori, inst.uimm()),
        Mips::Xori => two(C::Xori, inst.uimm()),
        Mips::Lui => Op::new(C::Set, to(rt), 0, 0, inst.uimm() << 16),
        Mips::Madd => sources(C::Madd),
        Mips::Maddu => sources(C::Maddu),
        Mips::Mul => three(C::Mul),
        Mips::Msub => sources(C::Msub),
        Mips::Msubu => sources(C::Msubu),
        Mips::Clz => three(C::Clz),
        Mips::Clo => three(C::Clo),
        // Fields that do not lie in a word are refused. `c` is the lowest bit, `imm` the mask of the width.
        Mips::Ext if inst.shift() + inst.msb() > 31 => Op::new(C::Reserved, 0, 0, 0, inst.word),
        Mips::Ext => Op::new(C::Ext, to(rt), rs, inst.shift(), u32::MAX >> (31 - inst.msb())),
        Mips::Ins if inst.msb() < inst.shift() => Op::new(C::Reserved, 0, 0, 0, inst.word),
        Mips::Ins => {
            let mask = u32::MAX >> (31 - (inst.msb() - inst.shift()));
            if rt == 0 { Op::new(C::Nop, 0, 0, 0, 0) } else { Op::new(C::Ins, rt, rs, inst.shift(), mask) }
        }
        Mips::Wsbh => variable(C::Wsbh),
        Mips::Seb => variable(C::Seb),
        Mips::Seh => variable(C::Seh),
        Mips::Rdhwr if matches!(rd, 0..=3 | 29) => Op::new(C::Rdhwr, to(rt), rd, 0, 0),
        Mips::Rdhwr => Op::new(C::Reserved, 0, 0, 0, inst.word),
        Mips::Lb => two(C::Lb, imm),
        Mips::Lh => two(C::Lh, imm),
        Mips::Lwl => two(C::Lwl, imm),
        Mips::Lw => two(C::Lw, imm),
        Mips::Lbu => two(C::Lbu, imm),
        Mips::Lhu => two(C::Lhu, imm),
        Mips::Lwr => two(C::Lwr, imm),
        Mips::Ll => two(C::Ll, imm),
        Mips::Sb => store(C::Sb),
        Mips::Sh => store(C::Sh),
        Mips::Swl => store(C::Swl),
        Mips::Sw => store(C::Sw),
        Mips::Swr => store(C::Swr),
        Mips::Sc => Op::new(C::Sc, to(rt), rs, rt, imm),
        Mips::Lwc1 => store(C::Lwc1),
        Mips::Swc1 => store(C::Swc1),
        Mips::Ldc1 => even(rt, store(C::Ldc1)),
        Mips::Sdc1 => even(rt, store(C::Sdc1)),
        Mips::Lwxc1 => Op::new(C::Lwxc1, inst.fd(), rs, rt, 0),
        Mips::Ldxc1 => even(inst.fd(), Op::new(C::Ldxc1, inst.fd(), rs, rt, 0)),
        Mips::Swxc1 => Op::new(C::Swxc1, inst.fs(), rs, rt, 0),
        Mips::Sdxc1 => even(inst.fs(), Op::new(C::Sdxc1, inst.fs(), rs, rt, 0)),
        // These need 64-bit floating-point registers.
        Mips::Luxc1 | Mips::Suxc1 | Mips::AlnvPs => Op::new(C::Reserved, 0, 0, 0, inst.word),
        Mips::Bc1f => condition(C::Bcc, 0),
        Mips::Bc1t => condition(C::Bcc, 1),
        Mips::Bc1fl => condition(C::Bccl, 0),
        Mips::Bc1tl => condition(C::Bccl, 1),
        _ => float(),
    }
}
