//! The loop over decoded blocks.

use super::cache::Cache;
use super::fpu;
use crate::cpu::{Cpu, HI, LO, reg};
use crate::engine::{Cause, Event, Exception};
use crate::memory::{Access, Fault, FaultKind, Memory};
use crate::ops::Code;

/// Why a block was left before its end, after or in the instruction of an index.
enum Leave {
    /// The instruction did not complete.
    Exception(Cause),
    /// A likely branch was not taken: its slot is skipped.
    Skip,
    /// It wrote to code.
    Modified,
    /// It is a system call.
    Syscall,
}

/// The word of four bytes in the guest's order, and the other sizes.
macro_rules! value {
    ($big:ident, $type:ty, $bytes:expr) => {
        if $big { <$type>::from_be_bytes($bytes) } else { <$type>::from_le_bytes($bytes) }
    };
}

macro_rules! bytes {
    ($big:ident, $value:expr) => {
        if $big { $value.to_be_bytes() } else { $value.to_le_bytes() }
    };
}

fn relation(kind: u8, a: u32, b: u32) -> bool {
    match kind {
        0 => a as i32 >= b as i32,
        1 => a >= b,
        2 => (a as i32) < b as i32,
        3 => a < b,
        4 => a == b,
        _ => a != b,
    }
}

/// Bit of a floating-point condition in FCSR.
fn condition(cpu: &Cpu, cc: u32) -> bool {
    cpu.fcsr >> fpu::condition_bit(cc) & 1 != 0
}

/// What `swl` (`left`) and `swr` write: the address of the first byte and which bytes of the register.
fn partial<const BIG: bool>(left: bool, address: u32, value: u32) -> (u32, [u8; 4], std::ops::Range<usize>) {
    let offset = (address & 3) as usize;
    let bytes: [u8; 4] = bytes!(BIG, value);
    match left == BIG {
        // From the address to the end of its word.
        true if BIG => (address, bytes, 0..4 - offset),
        true => (address, bytes, 0..4 - offset),
        // From the beginning of the word to the address.
        false => (address & !3, bytes, 3 - offset..4),
    }
}

/// Runs until an event, or until `stop` wants to stop at the block of an address, or says nothing and code is stale.
pub(super) fn run<const BIG: bool, S: FnMut(u32) -> bool>(
    cache: &mut Cache,
    cpu: &mut Cpu,
    memory: &mut Memory,
    fuel: &mut u64,
    mut stop: Option<S>,
) -> Option<Event> {
    loop {
        if memory.is_stale() {
            if stop.is_some() {
                return None;
            }
            cache.forget(&memory.take_stale());
        }
        if *fuel == 0 {
            return Some(Event::OutOfFuel);
        }
        let pc = cpu.pc;
        if stop.as_mut().is_some_and(|stop| stop(pc)) {
            return None;
        }
        let block = match cache.find(pc) {
            Some(block) => block,
            None => match cache.load(pc, memory, cpu.endian) {
                Ok(block) => block,
                Err(fault) => {
                    let cause = Cause::Memory(fault);
                    return Some(Event::Exception(Exception { cause, pc, in_slot: false }));
                }
            },
        };
        let mut next = block.next;
        let ops = cache.ops(&block);
        macro_rules! r {
            ($register:expr) => {
                cpu.regs[usize::from($register) & 63]
            };
        }
        let left = 'block: {
            for (i, op) in ops.iter().enumerate() {
                let (a, b, c, imm) = (op.a, op.b, op.c, op.imm);
                macro_rules! raise {
                    ($cause:expr) => {
                        break 'block Some((i, Leave::Exception($cause)))
                    };
                }
                macro_rules! load {
                    ($type:ty, $address:expr) => {
                        match memory.read($address) {
                            Ok(bytes) => value!(BIG, $type, bytes),
                            Err(fault) => raise!(Cause::Memory(fault)),
                        }
                    };
                }
                macro_rules! stored {
                    ($result:expr) => {
                        match $result {
                            Ok(false) => {}
                            Ok(true) => break 'block Some((i, Leave::Modified)),
                            Err(fault) => raise!(Cause::Memory(fault)),
                        }
                    };
                }
                macro_rules! store {
                    ($value:expr, $address:expr) => {{
                        let address = $address;
                        stored!(memory.write(address, bytes!(BIG, $value)))
                    }};
                }
                macro_rules! branch {
                    ($taken:expr) => {
                        if $taken {
                            next = imm;
                        }
                    };
                }
                macro_rules! likely {
                    ($taken:expr) => {
                        if $taken {
                            next = imm;
                        } else {
                            break 'block Some((i, Leave::Skip));
                        }
                    };
                }
                macro_rules! wide {
                    ($value:expr) => {{
                        let value: u64 = $value;
                        cpu.regs[HI] = (value >> 32) as u32;
                        cpu.regs[LO] = value as u32;
                    }};
                }
                let base = r!(b).wrapping_add(imm);
                let signed = |x: u32| i64::from(x as i32);
                let link = pc.wrapping_add(4 * i as u32 + 8);
                let accumulator = u64::from(cpu.regs[HI]) << 32 | u64::from(cpu.regs[LO]);
                match op.code {
                    Code::Nop => {}
                    Code::Move => r!(a) = r!(b),
                    Code::Set => r!(a) = imm,
                    Code::Addu => r!(a) = r!(b).wrapping_add(r!(c)),
                    Code::Addiu => r!(a) = base,
                    Code::Subu => r!(a) = r!(b).wrapping_sub(r!(c)),
                    Code::And => r!(a) = r!(b) & r!(c),
                    Code::Or => r!(a) = r!(b) | r!(c),
                    Code::Xor => r!(a) = r!(b) ^ r!(c),
                    Code::Nor => r!(a) = !(r!(b) | r!(c)),
                    Code::Slt => r!(a) = u32::from((r!(b) as i32) < r!(c) as i32),
                    Code::Sltu => r!(a) = u32::from(r!(b) < r!(c)),
                    Code::Slti => r!(a) = u32::from((r!(b) as i32) < imm as i32),
                    Code::Sltiu => r!(a) = u32::from(r!(b) < imm),
                    Code::Andi => r!(a) = r!(b) & imm,
                    Code::Ori => r!(a) = r!(b) | imm,
                    Code::Xori => r!(a) = r!(b) ^ imm,
                    Code::Sll => r!(a) = r!(b) << (imm & 31),
                    Code::Srl => r!(a) = r!(b) >> (imm & 31),
                    Code::Sra => r!(a) = (r!(b) as i32 >> (imm & 31)) as u32,
                    Code::Rotr => r!(a) = r!(b).rotate_right(imm),
                    Code::Sllv => r!(a) = r!(b) << (r!(c) & 31),
                    Code::Srlv => r!(a) = r!(b) >> (r!(c) & 31),
                    Code::Srav => r!(a) = (r!(b) as i32 >> (r!(c) & 31)) as u32,
                    Code::Rotrv => r!(a) = r!(b).rotate_right(r!(c) & 31),
                    Code::Add | Code::Addi | Code::Sub => {
                        let (x, y) = (r!(b) as i32, if op.code == Code::Addi { imm } else { r!(c) } as i32);
                        let result = if op.code == Code::Sub { x.checked_sub(y) } else { x.checked_add(y) };
                        match result {
                            Some(sum) => r!(a) = sum as u32,
                            None => raise!(Cause::Overflow),
                        }
                    }
                    Code::Mult => wide!((signed(r!(b)) * signed(r!(c))) as u64),
                    Code::Multu => wide!(u64::from(r!(b)) * u64::from(r!(c))),
                    // The manual leaves a division by zero open; as on qemu, it divides by one.
                    Code::Div => {
                        let (x, y) = (r!(b) as i32, r!(c) as i32);
                        let y = if y == 0 { 1 } else { y };
                        cpu.regs[LO] = x.wrapping_div(y) as u32;
                        cpu.regs[HI] = x.wrapping_rem(y) as u32;
                    }
                    Code::Divu => {
                        let (x, y) = (r!(b), r!(c).max(1));
                        cpu.regs[LO] = x / y;
                        cpu.regs[HI] = x % y;
                    }
                    Code::Mul => r!(a) = r!(b).wrapping_mul(r!(c)),
                    Code::Madd => wide!(accumulator.wrapping_add((signed(r!(b)) * signed(r!(c))) as u64)),
                    Code::Maddu => wide!(accumulator.wrapping_add(u64::from(r!(b)) * u64::from(r!(c)))),
                    Code::Msub => wide!(accumulator.wrapping_sub((signed(r!(b)) * signed(r!(c))) as u64)),
                    Code::Msubu => wide!(accumulator.wrapping_sub(u64::from(r!(b)) * u64::from(r!(c)))),
                    Code::Clz => r!(a) = r!(b).leading_zeros(),
                    Code::Clo => r!(a) = r!(b).leading_ones(),
                    Code::Movz => {
                        if r!(c) == 0 {
                            r!(a) = r!(b);
                        }
                    }
                    Code::Movn => {
                        if r!(c) != 0 {
                            r!(a) = r!(b);
                        }
                    }
                    Code::Movcc => {
                        if condition(cpu, imm) == (c != 0) {
                            r!(a) = r!(b);
                        }
                    }
                    Code::Ext => r!(a) = r!(b) >> (c & 31) & imm,
                    Code::Ins => r!(a) = r!(a) & !(imm << (c & 31)) | (r!(b) & imm) << (c & 31),
                    Code::Seb => r!(a) = r!(b) as i8 as u32,
                    Code::Seh => r!(a) = r!(b) as i16 as u32,
                    Code::Wsbh => r!(a) = r!(b).swap_bytes().rotate_right(16),
                    Code::Rdhwr => {
                        r!(a) = match b {
                            0 => 0,
                            1 => 32,
                            // The count has the instructions of the block so far only at its end.
                            2 => cpu.retired.wrapping_add(i as u64) as u32,
                            3 => 1,
                            _ => cpu.tls,
                        }
                    }
                    Code::Lb => r!(a) = load!(i8, base) as u32,
                    Code::Lbu => r!(a) = u32::from(load!(u8, base)),
                    Code::Lh => r!(a) = load!(i16, base) as u32,
                    Code::Lhu => r!(a) = u32::from(load!(u16, base)),
                    Code::Lw => r!(a) = load!(u32, base),
                    Code::Lwl | Code::Lwr => {
                        let word = match memory.read(base & !3) {
                            Ok(bytes) => value!(BIG, u32, bytes),
                            Err(fault) => raise!(Cause::Memory(Fault { address: base, ..fault })),
                        };
                        let place = 8 * if BIG { base & 3 } else { 3 - (base & 3) };
                        r!(a) = if op.code == Code::Lwl {
                            word << place | r!(a) & ((1 << place) - 1)
                        } else {
                            word >> (24 - place) | r!(a) & !(u32::MAX >> (24 - place))
                        };
                    }
                    Code::Sb => store!((r!(a) as u8), base),
                    Code::Sh => store!((r!(a) as u16), base),
                    Code::Sw => store!(r!(a), base),
                    Code::Swl | Code::Swr => {
                        let (address, bytes, range) = partial::<BIG>(op.code == Code::Swl, base, r!(a));
                        let result = memory.write_bytes(address, bytes.get(range).unwrap_or_default());
                        stored!(result.map_err(|fault| Fault { address: base, ..fault }))
                    }
                    Code::Ll => {
                        let value = load!(u32, base);
                        r!(a) = value;
                        cpu.link = crate::cpu::Link { address: base, value, valid: true };
                    }
                    Code::Sc => {
                        // Looks at the word first, so that faults do not depend on the mark.
                        let now = load!(u32, base);
                        let holds = cpu.link.valid && cpu.link.address == base && cpu.link.value == now;
                        cpu.link.valid = false;
                        let value = r!(c);
                        if holds {
                            match memory.write(base, bytes!(BIG, value)) {
                                Err(fault) => raise!(Cause::Memory(fault)),
                                Ok(changed) => {
                                    r!(a) = 1;
                                    if changed {
                                        break 'block Some((i, Leave::Modified));
                                    }
                                }
                            }
                        } else {
                            r!(a) = 0;
                        }
                    }
                    Code::Lwc1 => cpu.fpr[usize::from(a) & 31] = load!(u32, base),
                    Code::Ldc1 => {
                        let value = load!(u64, base);
                        cpu.set_double(a, value);
                    }
                    Code::Swc1 => store!(cpu.fpr[usize::from(a) & 31], base),
                    Code::Sdc1 => store!(cpu.double(a), base),
                    Code::Lwxc1 => cpu.fpr[usize::from(a) & 31] = load!(u32, r!(b).wrapping_add(r!(c))),
                    Code::Ldxc1 => {
                        let value = load!(u64, r!(b).wrapping_add(r!(c)));
                        cpu.set_double(a, value);
                    }
                    Code::Swxc1 => store!(cpu.fpr[usize::from(a) & 31], r!(b).wrapping_add(r!(c))),
                    Code::Sdxc1 => store!(cpu.double(a), r!(b).wrapping_add(r!(c))),
                    Code::Trap => {
                        if relation(a, r!(b), r!(c)) {
                            raise!(Cause::Trap(imm));
                        }
                    }
                    Code::TrapImm => {
                        if relation(a, r!(b), imm) {
                            raise!(Cause::Trap(0));
                        }
                    }
                    Code::Float => {
                        if let Err(cause) = fpu::execute(cpu, imm) {
                            raise!(cause);
                        }
                    }
                    Code::Beq => branch!(r!(b) == r!(c)),
                    Code::Bne => branch!(r!(b) != r!(c)),
                    Code::Blez => branch!(r!(b) as i32 <= 0),
                    Code::Bgtz => branch!(r!(b) as i32 > 0),
                    Code::Bltz => branch!((r!(b) as i32) < 0),
                    Code::Bgez => branch!(r!(b) as i32 >= 0),
                    Code::Beql => likely!(r!(b) == r!(c)),
                    Code::Bnel => likely!(r!(b) != r!(c)),
                    Code::Blezl => likely!(r!(b) as i32 <= 0),
                    Code::Bgtzl => likely!(r!(b) as i32 > 0),
                    Code::Bltzl => likely!((r!(b) as i32) < 0),
                    Code::Bgezl => likely!(r!(b) as i32 >= 0),
                    Code::Bcc => branch!(condition(cpu, b.into()) == (a != 0)),
                    Code::Bccl => likely!(condition(cpu, b.into()) == (a != 0)),
                    Code::Bltzal | Code::Bgezal => {
                        branch!(((r!(b) as i32) < 0) == (op.code == Code::Bltzal));
                        cpu.regs[reg::RA] = link;
                    }
                    Code::Bltzall | Code::Bgezall => {
                        let taken = ((r!(b) as i32) < 0) == (op.code == Code::Bltzall);
                        cpu.regs[reg::RA] = link;
                        likely!(taken);
                    }
                    Code::Jump => next = imm,
                    Code::Call => {
                        cpu.regs[reg::RA] = link;
                        next = imm;
                    }
                    Code::Jr => next = r!(b),
                    Code::Jalr => {
                        next = r!(b);
                        r!(a) = imm;
                    }
                    Code::Syscall => break 'block Some((i, Leave::Syscall)),
                    Code::Break => raise!(Cause::Break(imm)),
                    Code::Reserved => raise!(Cause::Reserved(imm)),
                    Code::FetchFault => {
                        let address = pc.wrapping_add(4 * i as u32);
                        let kind = if memory.rights(address).is_some() {
                            FaultKind::Denied
                        } else {
                            FaultKind::Unmapped
                        };
                        raise!(Cause::Memory(Fault { address, access: Access::Fetch, kind }))
                    }
                }
            }
            None
        };
        // Instructions before the one that left, and it; the whole block with a slot that has no operation otherwise.
        let length = block.next.wrapping_sub(block.pc) >> 2;
        let Some((index, leave)) = left else {
            cpu.pc = next;
            cpu.retired += u64::from(length);
            *fuel = fuel.saturating_sub(u64::from(length));
            continue;
        };
        let at = pc.wrapping_add(4 * index as u32);
        let in_slot = index == usize::from(block.slot);
        let done = index as u64 + u64::from(!matches!(leave, Leave::Exception(_)));
        cpu.retired += done;
        *fuel = fuel.saturating_sub(done.max(1));
        match leave {
            Leave::Exception(cause) => {
                cpu.pc = if in_slot { at.wrapping_sub(4) } else { at };
                return Some(Event::Exception(Exception { cause, pc: at, in_slot }));
            }
            Leave::Skip => cpu.pc = block.next,
            Leave::Modified => cpu.pc = if in_slot { next } else { at.wrapping_add(4) },
            Leave::Syscall => {
                cpu.pc = if in_slot { next } else { at.wrapping_add(4) };
                return Some(Event::Syscall);
            }
        }
    }
}
