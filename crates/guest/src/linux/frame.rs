//! The frames that a handler finds on its stack, and the way back (`arch/mips/kernel/signal.c`, `asm/sigcontext.h`,
//! `asm/ucontext.h`).
//!
//! ```text
//! sigframe:     ass[4] pad[2] sigcontext sigset
//! rt_sigframe:  ass[4] pad[2] siginfo ucontext { flags link stack sigcontext sigset }
//! ```

use super::abi::{Errno, Layout, Set, flags, sig};
use super::signals::{Action, AltStack, Info};
use crate::cpu::{Cpu, HI, LO, reg};
use crate::memory::Memory;
use xenoglot_mips::Endian;

/// Bytes of `struct sigcontext`, and offsets in it.
const CONTEXT_BYTES: usize = 592;
const REGS: usize = 16;
const FPRS: usize = 272;
const FCSR: usize = 532;
const MDHI: usize = 552;

/// Where `struct sigcontext` begins in the frames, the masks, and the frames' sizes.
const PLAIN_CONTEXT: usize = 24;
const PLAIN_MASK: usize = PLAIN_CONTEXT + CONTEXT_BYTES;
const PLAIN_BYTES: usize = PLAIN_MASK + 16;
const INFO: usize = 24;
const UCONTEXT: usize = INFO + 128;
const RT_STACK: usize = UCONTEXT + 8;
const RT_CONTEXT: usize = UCONTEXT + 24;
const RT_MASK: usize = RT_CONTEXT + CONTEXT_BYTES;
const RT_BYTES: usize = RT_MASK + 16;

/// The code handlers return to, at the beginning of the kernel's page: the two ways back.
pub(super) const TRAMPOLINE: [u32; 4] = [
    0x2402_1017, // li v0, 4119 (sigreturn)
    0x0000_000c, // syscall
    0x2402_1061, // li v0, 4193 (rt_sigreturn)
    0x0000_000c, // syscall
];

/// What a thread has to know to run a handler.
#[derive(Debug)]
pub(super) struct Delivery {
    pub info: Info,
    pub action: Action,
    /// The mask to come back to.
    pub mask: Set,
    pub altstack: AltStack,
    /// Address of [`TRAMPOLINE`].
    pub trampoline: u32,
}

fn context(cpu: &Cpu) -> Vec<u8> {
    let mut layout = Layout::new(cpu.endian).words([0, 0]).u64(cpu.pc.into());
    // Registers as the 64-bit kernel would show them: sign extended.
    let wide = |value: u32| i64::from(value as i32) as u64;
    for number in 0..32 {
        layout = layout.u64(wide(cpu.get(number)));
    }
    for number in 0..32 {
        // Doubles lie in the even ones; nothing is in the odd ones.
        layout = layout.u64(if number & 1 == 0 { cpu.double(number) } else { 0 });
    }
    // `sc_used_math`: the floating-point registers hold something.
    let layout = layout.words([0, cpu.fcsr, 0, 1, 0]).pad_to(MDHI);
    layout.u64(wide(cpu.regs[HI])).u64(wide(cpu.regs[LO])).pad_to(CONTEXT_BYTES).bytes
}

fn stack_words(altstack: AltStack, sp: u32) -> [u32; 3] {
    // SS_ONSTACK or SS_DISABLE.
    let flags = if altstack.size == 0 { 2 } else { u32::from(altstack.holds(sp)) };
    [altstack.address, altstack.size, flags]
}

/// What `sigaltstack` answers.
pub(super) fn altstack_layout(altstack: AltStack, sp: u32, endian: Endian) -> Vec<u8> {
    Layout::new(endian).words(stack_words(altstack, sp)).bytes
}

/// Builds the frame and starts the handler.
///
/// # Errors
/// When the stack cannot be written; the processor is as before then.
pub(super) fn enter(cpu: &mut Cpu, memory: &mut Memory, delivery: &Delivery) -> Result<(), Errno> {
    let Delivery { info, action, mask, altstack, trampoline } = delivery;
    let rt = action.flags & flags::SA_SIGINFO != 0;
    let old = cpu.get(reg::SP);
    // The kernel leaves room for the code its emulator of the floating-point unit may have put there.
    let mut sp = old.wrapping_sub(32);
    if action.flags & flags::SA_ONSTACK != 0 && altstack.size != 0 && !altstack.holds(old) {
        sp = altstack.address.wrapping_add(altstack.size);
    }
    let size = if rt { RT_BYTES } else { PLAIN_BYTES };
    let frame = sp.wrapping_sub(size as u32) & !7;
    let layout = Layout::new(cpu.endian).pad_to(INFO);
    let layout = if rt {
        let layout = layout.raw(&info.layout(cpu.endian)).words([0, 0]);
        layout.words(stack_words(*altstack, old)).pad_to(RT_CONTEXT)
    } else {
        layout
    };
    let bytes = layout.raw(&context(cpu)).words(mask.words()).bytes;
    memory.write_bytes(frame, &bytes)?;
    let at = |offset: usize| frame.wrapping_add(offset as u32);
    cpu.set(reg::A0, info.signal.0);
    cpu.set(reg::A1, if rt { at(INFO) } else { 0 });
    cpu.set(reg::A2, at(if rt { UCONTEXT } else { PLAIN_CONTEXT }));
    cpu.set(reg::SP, frame);
    cpu.set(reg::RA, trampoline.wrapping_add(if rt { 8 } else { 0 }));
    cpu.set(reg::T9, action.handler);
    cpu.pc = action.handler;
    Ok(())
}

/// What a frame puts back besides the registers.
#[derive(Debug)]
pub(super) struct Restored {
    pub mask: Set,
    /// `None` for a frame without one.
    pub altstack: Option<AltStack>,
}

struct Frame<'a> {
    memory: &'a Memory,
    base: u32,
    endian: Endian,
}

impl Frame<'_> {
    fn word(&self, offset: usize) -> Result<u32, Errno> {
        let mut bytes = [0; 4];
        self.memory.read_bytes(self.base.wrapping_add(offset as u32), &mut bytes)?;
        Ok(self.endian.word(bytes))
    }

    /// The lower and the upper word of 64 bits.
    fn wide(&self, offset: usize) -> Result<[u32; 2], Errno> {
        let words = [self.word(offset)?, self.word(offset + 4)?];
        Ok(if self.endian == Endian::Big { [words[1], words[0]] } else { words })
    }
}

/// Goes back to where the handler interrupted the program. The frame is at the stack pointer.
///
/// # Errors
/// When the frame cannot be read; the processor is as before then.
pub(super) fn leave(cpu: &mut Cpu, memory: &Memory, rt: bool) -> Result<Restored, Errno> {
    let frame = Frame { memory, base: cpu.get(reg::SP), endian: cpu.endian };
    let (context, mask) = if rt { (RT_CONTEXT, RT_MASK) } else { (PLAIN_CONTEXT, PLAIN_MASK) };
    let mut next = cpu.clone();
    next.pc = frame.wide(context + 8)?[0];
    for number in 0..32 {
        next.set(number, frame.wide(context + REGS + 8 * number)?[0]);
    }
    for number in (0..32u8).step_by(2) {
        let [low, high] = frame.wide(context + FPRS + 8 * usize::from(number))?;
        next.set_double(number, u64::from(high) << 32 | u64::from(low));
    }
    // Cause bits would raise their exception again.
    next.fcsr = frame.word(context + FCSR)? & !0x0003_f000;
    next.regs[HI] = frame.wide(context + MDHI)?[0];
    next.regs[LO] = frame.wide(context + MDHI + 8)?[0];
    let mut words = [0; 4];
    for (i, word) in words.iter_mut().enumerate() {
        *word = frame.word(mask + 4 * i)?;
    }
    let altstack = match rt {
        true if frame.word(RT_STACK + 8)? & 2 == 0 => {
            Some(AltStack { address: frame.word(RT_STACK)?, size: frame.word(RT_STACK + 4)? })
        }
        _ => None,
    };
    next.link.valid = false;
    *cpu = next;
    Ok(Restored { mask: Set::from_words(words).blockable(), altstack })
}

/// The signal of an exception, as the kernel's handlers of exceptions have it (`arch/mips/kernel/traps.c`,
/// `arch/mips/mm/fault.c`).
pub(super) fn of_exception(exception: &crate::Exception, fcsr: u32, break_codes: bool) -> Info {
    use super::abi::code;
    use super::signals::Fields;
    use crate::memory::FaultKind;
    use crate::{Cause, Exception};
    let Exception { cause, pc, .. } = *exception;
    let (signal, code, address) = match cause {
        Cause::Memory(fault) => match fault.kind {
            FaultKind::Unmapped => (sig::SEGV, code::SEGV_MAPERR, fault.address),
            FaultKind::Denied => (sig::SEGV, code::SEGV_ACCERR, fault.address),
            FaultKind::Unaligned => (sig::BUS, code::BUS_ADRALN, fault.address),
            // What Linux does to a program when no memory is left.
            FaultKind::Exhausted => (sig::KILL, code::KERNEL, fault.address),
        },
        Cause::Overflow => (sig::FPE, code::FPE_INTOVF, pc),
        // 6 is BRK_OVERFLOW, 7 is BRK_DIVZERO (`asm/break.h`).
        Cause::Trap(6) => (sig::FPE, code::FPE_INTOVF, pc),
        Cause::Trap(7) => (sig::FPE, code::FPE_INTDIV, pc),
        Cause::Trap(_) => (sig::TRAP, code::KERNEL, pc),
        // Assemblers disagree where the code of `break` begins: it is taken from either place.
        Cause::Break(number) if break_codes => match if number >= 1 << 10 { number >> 10 } else { number } {
            6 => (sig::FPE, code::FPE_INTOVF, pc),
            7 => (sig::FPE, code::FPE_INTDIV, pc),
            _ => (sig::TRAP, code::TRAP_BRKPT, pc),
        },
        Cause::Break(_) => (sig::TRAP, code::TRAP_BRKPT, pc),
        Cause::Reserved(_) => (sig::ILL, code::KERNEL, pc),
        Cause::Float => {
            let raised = fcsr >> 12 & fcsr >> 7 & 0x1f;
            let code = match () {
                () if raised & 16 != 0 => code::FPE_FLTINV,
                () if raised & 8 != 0 => code::FPE_FLTDIV,
                () if raised & 4 != 0 => code::FPE_FLTOVF,
                () if raised & 2 != 0 => code::FPE_FLTUND,
                () if raised & 1 != 0 => code::FPE_FLTRES,
                // The unimplemented operation: FPE_FLTUNK.
                () => 14,
            };
            (sig::FPE, code, pc)
        }
    };
    Info { signal, code, fields: Fields::Fault { address } }
}
