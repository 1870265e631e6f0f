//! Instructions of the floating-point unit, with 32-bit registers (`Status.FR` = 0): a double is in an even-odd pair.

use crate::cpu::Cpu;
use crate::engine::Cause;
use crate::float::{
    DOUBLE, Env, Flags, Format, Order, Rounding, SINGLE, add, compare, convert, div, fast, from_int, mul,
    sqrt, sub, to_int,
};
use xenoglot_mips::{Fmt, Inst, Op, decode};

/// FIR: single, double and word formats, and 64-bit registers that programs do not switch to.
const FIR: u32 = 0x0073_9300;
/// Bits of FCSR that can be written.
const WRITABLE: u32 = 0xff83_ffff;
/// Cause bits of FCSR.
const CAUSE: u32 = 0x3f << 12;
/// Bits of FCSR that choose a rounding, and the one that flushes denormal results to zero.
const ROUNDING: u32 = 3;
const FLUSH: u32 = 1 << 24;

/// The number of the bit of FCSR that has a condition, of eight.
pub fn condition_bit(cc: u32) -> u32 {
    if cc == 0 { 23 } else { 24 + (cc & 7) }
}

/// Executes an instruction; a result of an enabled exception is not written.
pub(super) fn execute(cpu: &mut Cpu, word: u32) -> Result<(), Cause> {
    let reserved = Cause::Reserved(word);
    let inst = decode(word).map_err(|_| reserved)?;
    let general = usize::from(inst.rt());
    let fs = usize::from(inst.fs());
    match inst.op {
        Op::Mfc1 => cpu.set(general, cpu.fpr[fs]),
        Op::Mtc1 => cpu.fpr[fs] = cpu.get(general),
        Op::Mfhc1 => cpu.set(general, cpu.fpr[fs | 1]),
        Op::Mthc1 => cpu.fpr[fs | 1] = cpu.get(general),
        Op::Cfc1 => cpu.set(general, control(cpu.fcsr, inst.fs())),
        Op::Ctc1 => return set_control(cpu, inst.fs(), cpu.get(general)),
        _ => {
            return formatted(cpu, inst, inst.fmt().ok_or(reserved)?)
                .ok_or(reserved)
                .and_then(|result| result);
        }
    }
    Ok(())
}

/// The cause bits that an instruction leaves in FCSR, with operands in `fs`, `ft` and `fr` as bits, where FCSR asks for the rounding and
/// flushing of `fcsr` and enables no exception. 0 for a word that is no instruction of the unit.
pub fn float_cause(word: u32, operands: [u64; 3], fcsr: u32) -> u32 {
    let Ok(inst) = decode(word) else { return 0 };
    let mut cpu = Cpu::new(xenoglot_mips::Endian::Little);
    cpu.fcsr = fcsr & (ROUNDING | FLUSH);
    let fmt = if inst.fmt() == Some(Fmt::D) { Fmt::D } else { Fmt::S };
    // From the last one on: the fields of operands that an instruction does not have may name the register of one it has.
    for (register, bits) in [inst.fs(), inst.ft(), inst.fr()].into_iter().zip(operands).rev() {
        write(&mut cpu, register, fmt, bits);
    }
    match execute(&mut cpu, word) {
        Ok(()) | Err(Cause::Float) => cpu.fcsr & CAUSE,
        Err(_) => 0,
    }
}

fn control(fcsr: u32, number: u8) -> u32 {
    match number {
        0 => FIR,
        25 => fcsr >> 24 & 0xfe | fcsr >> 23 & 1,
        26 => fcsr & 0x0003_f07c,
        28 => fcsr & 0xf83 | fcsr >> 22 & 4,
        _ => fcsr,
    }
}

fn set_control(cpu: &mut Cpu, number: u8, value: u32) -> Result<(), Cause> {
    let fcsr = cpu.fcsr;
    cpu.fcsr = match number {
        25 => fcsr & 0x017f_ffff | (value & 0xfe) << 24 | (value & 1) << 23,
        26 => fcsr & !0x0003_f07c | value & 0x0003_f07c,
        28 => fcsr & !0x0100_0f83 | value & 0xf83 | (value & 4) << 22,
        31 => value & WRITABLE | fcsr & !WRITABLE,
        _ => return Ok(()),
    };
    // The unimplemented operation has no enable bit.
    if cpu.fcsr >> 12 & (cpu.fcsr >> 7 & 0x1f | 0x20) != 0 { Err(Cause::Float) } else { Ok(()) }
}

/// Sets cause and flag bits; an enabled exception sets no flags.
fn finish(cpu: &mut Cpu, flags: Flags) -> Result<(), Cause> {
    let bits = u32::from(flags.bits());
    cpu.fcsr = cpu.fcsr & !CAUSE | bits << 12;
    if cpu.fcsr >> 7 & bits != 0 {
        return Err(Cause::Float);
    }
    cpu.fcsr |= bits << 2;
    Ok(())
}

/// A register of a format; `None` for an odd register of a double, or a format that needs 64-bit registers.
fn read(cpu: &Cpu, register: u8, fmt: Fmt) -> Option<u64> {
    match fmt {
        Fmt::S | Fmt::W => Some(cpu.fpr[usize::from(register) & 31].into()),
        Fmt::D => (register & 1 == 0).then(|| cpu.double(register)),
        Fmt::L | Fmt::Ps => None,
    }
}

fn write(cpu: &mut Cpu, register: u8, fmt: Fmt, bits: u64) {
    match fmt {
        Fmt::D => cpu.set_double(register, bits),
        _ => cpu.fpr[usize::from(register) & 31] = bits as u32,
    }
}

/// The usual case of an operation of two operands, on the host.
fn fast_binary(op: Op, fmt: Fmt, a: u64, b: u64) -> Option<(u64, bool)> {
    if fmt == Fmt::S {
        let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let (value, inexact) = match op {
            Op::AddF => fast::single::add(a, b),
            Op::SubF => fast::single::sub(a, b),
            Op::MulF => fast::mul32(a, b),
            _ => fast::div32(a, b),
        }?;
        return Some((value.to_bits().into(), inexact));
    }
    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
    let (value, inexact) = match op {
        Op::AddF => fast::double::add(a, b),
        Op::SubF => fast::double::sub(a, b),
        Op::MulF => fast::mul64(a, b),
        _ => fast::div64(a, b),
    }?;
    Some((value.to_bits(), inexact))
}

/// An operation with a format. `None` when the processor refuses its registers or format.
fn formatted(cpu: &mut Cpu, inst: Inst, fmt: Fmt) -> Option<Result<(), Cause>> {
    let format: Format = if fmt == Fmt::S { SINGLE } else { DOUBLE };
    let a = read(cpu, inst.fs(), fmt)?;
    let mut env = Env::from_fcsr(cpu.fcsr);
    // To which format the result belongs, for those that change it.
    let to = match inst.op {
        Op::CvtS => Fmt::S,
        Op::CvtD => Fmt::D,
        Op::CvtW | Op::RoundW | Op::TruncW | Op::CeilW | Op::FloorW => Fmt::W,
        Op::CvtL | Op::RoundL | Op::TruncL | Op::CeilL | Op::FloorL | Op::CvtPs => return None,
        _ => fmt,
    };
    if to == Fmt::D && inst.op != Op::CompareF && inst.fd() & 1 != 0 {
        return None;
    }
    let usual = cpu.fcsr & 0xf83 == 0;
    let sign = 1u64 << if fmt == Fmt::S { 31 } else { 63 };
    let result = match inst.op {
        Op::AddF | Op::SubF | Op::MulF | Op::DivF => {
            let b = read(cpu, inst.ft(), fmt)?;
            match fast_binary(inst.op, fmt, a, b).filter(|_| usual) {
                Some((bits, inexact)) => {
                    env.flags.set(Flags::INEXACT, inexact);
                    bits
                }
                None => match inst.op {
                    Op::AddF => add(a, b, format, &mut env),
                    Op::SubF => sub(a, b, format, &mut env),
                    Op::MulF => mul(a, b, format, &mut env),
                    _ => div(a, b, format, &mut env),
                },
            }
        }
        Op::SqrtF => {
            let quick = if fmt == Fmt::S {
                fast::sqrt32(f32::from_bits(a as u32))
                    .map(|(root, inexact)| (u64::from(root.to_bits()), inexact))
            } else {
                fast::sqrt64(f64::from_bits(a)).map(|(root, inexact)| (root.to_bits(), inexact))
            };
            match quick.filter(|_| usual) {
                Some((bits, inexact)) => {
                    env.flags.set(Flags::INEXACT, inexact);
                    bits
                }
                None => sqrt(a, format, &mut env),
            }
        }
        Op::RecipF | Op::RsqrtF => {
            let one = from_int(1, format, &mut env);
            let divisor = if inst.op == Op::RsqrtF { sqrt(a, format, &mut env) } else { a };
            div(one, divisor, format, &mut env)
        }
        Op::MaddF | Op::MsubF | Op::NmaddF | Op::NmsubF => {
            // The product is rounded before the sum.
            let (b, c) = (read(cpu, inst.ft(), fmt)?, read(cpu, inst.fr(), fmt)?);
            let product = mul(a, b, format, &mut env);
            let sum = match inst.op {
                Op::MaddF | Op::NmaddF => add(product, c, format, &mut env),
                _ => sub(product, c, format, &mut env),
            };
            if matches!(inst.op, Op::NmaddF | Op::NmsubF) { sum ^ sign } else { sum }
        }
        // These only move or change a sign: no exceptions, FCSR stays.
        Op::AbsF | Op::NegF | Op::MovF | Op::MovfF | Op::MovtF | Op::MovzF | Op::MovnF => {
            let holds = cpu.fcsr >> condition_bit(inst.cc().into()) & 1 != 0;
            let zero = cpu.get(inst.rt().into()) == 0;
            let (bits, moves) = match inst.op {
                Op::AbsF => (a & !sign, true),
                Op::NegF => (a ^ sign, true),
                Op::MovfF => (a, !holds),
                Op::MovtF => (a, holds),
                Op::MovzF => (a, zero),
                Op::MovnF => (a, !zero),
                _ => (a, true),
            };
            if moves {
                write(cpu, inst.fd(), fmt, bits);
            }
            return Some(Ok(()));
        }
        Op::CvtS | Op::CvtD => {
            let target = if to == Fmt::S { SINGLE } else { DOUBLE };
            match fmt {
                Fmt::W => from_int((a as u32 as i32).into(), target, &mut env),
                _ => convert(a, format, target, &mut env),
            }
        }
        Op::CvtW => to_int(a, format, 32, env.rounding, &mut env) as u64,
        Op::RoundW => to_int(a, format, 32, Rounding::Nearest, &mut env) as u64,
        Op::TruncW => to_int(a, format, 32, Rounding::Zero, &mut env) as u64,
        Op::CeilW => to_int(a, format, 32, Rounding::Up, &mut env) as u64,
        Op::FloorW => to_int(a, format, 32, Rounding::Down, &mut env) as u64,
        Op::CompareF => {
            let b = read(cpu, inst.ft(), fmt)?;
            let asked = inst.condition();
            let holds = match compare(a, b, format, asked & 8 != 0, &mut env) {
                Order::Unordered => asked & 1 != 0,
                Order::Equal => asked & 2 != 0,
                Order::Less => asked & 4 != 0,
                Order::Greater => false,
            };
            let bit = 1 << condition_bit(inst.compare_cc().into());
            return Some(finish(cpu, env.flags).map(|()| {
                cpu.fcsr = cpu.fcsr & !bit | if holds { bit } else { 0 };
            }));
        }
        _ => return None,
    };
    Some(finish(cpu, env.flags).map(|()| write(cpu, inst.fd(), to, result)))
}
