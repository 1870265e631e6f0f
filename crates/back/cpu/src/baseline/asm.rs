//! Instructions of x86-64, as many as baseline code has, and labels.
//!
//! Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.

/// A register of the host by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reg(pub(super) u8);

pub(super) const RAX: Reg = Reg(0);
pub(super) const RCX: Reg = Reg(1);
pub(super) const RDX: Reg = Reg(2);
pub(super) const RBX: Reg = Reg(3);
pub(super) const RSI: Reg = Reg(6);
pub(super) const RDI: Reg = Reg(7);
pub(super) const R14: Reg = Reg(14);
pub(super) const R15: Reg = Reg(15);

/// A condition by its number in opcodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cond(pub(super) u8);

impl Cond {
    pub(super) const OVERFLOW: Cond = Cond(0x0);
    pub(super) const BELOW: Cond = Cond(0x2);
    pub(super) const ABOVE_EQUAL: Cond = Cond(0x3);
    pub(super) const EQUAL: Cond = Cond(0x4);
    pub(super) const NOT_EQUAL: Cond = Cond(0x5);
    pub(super) const BELOW_EQUAL: Cond = Cond(0x6);
    pub(super) const SIGN: Cond = Cond(0x8);
    pub(super) const NOT_SIGN: Cond = Cond(0x9);
    pub(super) const PARITY: Cond = Cond(0xa);
    pub(super) const LESS: Cond = Cond(0xc);
    pub(super) const GREATER_EQUAL: Cond = Cond(0xd);
    pub(super) const LESS_EQUAL: Cond = Cond(0xe);
    pub(super) const GREATER: Cond = Cond(0xf);

    pub(super) fn not(self) -> Cond {
        Cond(self.0 ^ 1)
    }
}

/// An operand in memory: `[base + index + disp]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mem {
    pub(super) base: Reg,
    /// Any register but the stack pointer, and the logarithm of what it is multiplied by.
    pub(super) index: Option<(Reg, u8)>,
    pub(super) disp: i32,
}

impl Mem {
    pub(super) const fn at(base: Reg, disp: i32) -> Mem {
        Mem { base, index: None, disp }
    }
}

/// Opcodes of `op reg, r/m`, and their `/n` with an immediate operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alu(u8, u8);

pub(super) const ADD: Alu = Alu(0x03, 0);
pub(super) const OR: Alu = Alu(0x0b, 1);
pub(super) const AND: Alu = Alu(0x23, 4);
pub(super) const SUB: Alu = Alu(0x2b, 5);
pub(super) const XOR: Alu = Alu(0x33, 6);
pub(super) const CMP: Alu = Alu(0x3b, 7);

/// The `/n` of shifts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shift(pub(super) u8);

pub(super) const ROR: Shift = Shift(1);
pub(super) const SHL: Shift = Shift(4);
pub(super) const SHR: Shift = Shift(5);
pub(super) const SAR: Shift = Shift(7);

/// What is loaded or stored, and how it fills a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    U8,
    I8,
    U16,
    I16,
    W32,
    W64,
}

impl Width {
    pub(super) fn bytes(self) -> u8 {
        match self {
            Width::U8 | Width::I8 => 1,
            Width::U16 | Width::I16 => 2,
            Width::W32 => 4,
            Width::W64 => 8,
        }
    }
}

/// A place in code, known sooner or later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(u32);

const UNKNOWN: u32 = u32::MAX;

/// Code in the making.
#[derive(Default, Debug)]
pub(super) struct Asm {
    code: Vec<u8>,
    labels: Vec<u32>,
    /// Where 32 bits are to be the distance to a label.
    fixups: Vec<(u32, Label)>,
}

impl Asm {
    /// Where the next instruction will be.
    pub(super) fn offset(&self) -> u32 {
        self.code.len() as u32
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(UNKNOWN);
        Label(self.labels.len() as u32 - 1)
    }

    /// The label is here.
    pub(super) fn bind(&mut self, label: Label) {
        let offset = self.offset();
        if let Some(place) = self.labels.get_mut(label.0 as usize) {
            *place = offset;
        }
    }

    /// The code, with its labels bound; `None` when one is not.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        for (at, label) in self.fixups {
            let target = self.labels.get(label.0 as usize).copied().filter(|&offset| offset != UNKNOWN)?;
            let distance = target.wrapping_sub(at + 4);
            self.code.get_mut(at as usize..at as usize + 4)?.copy_from_slice(&distance.to_le_bytes());
        }
        Some(self.code)
    }

    fn byte(&mut self, byte: u8) {
        self.code.push(byte);
    }

    fn imm32(&mut self, value: u32) {
        self.code.extend_from_slice(&value.to_le_bytes());
    }

    fn distance(&mut self, label: Label) {
        self.fixups.push((self.offset(), label));
        self.imm32(0);
    }

    /// `op reg, rm` with both registers. `prefix` is 0 for none; `wide` for 64 bits. A REX prefix is there in any case where
    /// an operand of eight bits asks for one.
    fn rr(&mut self, prefix: u8, wide: bool, opcode: &[u8], reg: u8, rm: Reg) {
        if prefix != 0 {
            self.byte(prefix);
        }
        let rex = 0x40 | u8::from(wide) << 3 | reg >> 3 << 2 | rm.0 >> 3;
        // Without it, the numbers 4 to 7 are other registers of eight bits. It never hurts.
        if rex != 0x40 || rm.0 >= 4 {
            self.byte(rex);
        }
        self.code.extend_from_slice(opcode);
        self.byte(0xc0 | (reg & 7) << 3 | rm.0 & 7);
    }

    /// `op reg, [mem]`.
    fn rm(&mut self, prefix: u8, wide: bool, opcode: &[u8], reg: u8, mem: Mem) {
        if prefix != 0 {
            self.byte(prefix);
        }
        let index = mem.index.map_or(0, |(index, _)| index.0);
        let rex = 0x40 | u8::from(wide) << 3 | reg >> 3 << 2 | index >> 3 << 1 | mem.base.0 >> 3;
        if rex != 0x40 || reg >= 4 {
            self.byte(rex);
        }
        self.code.extend_from_slice(opcode);
        let base = mem.base.0 & 7;
        let short = i8::try_from(mem.disp);
        // A base of 5 without a displacement means something else.
        let mode = match short {
            Ok(0) if base != 5 => 0,
            Ok(_) => 0x40,
            Err(_) => 0x80,
        };
        match mem.index {
            Some((index, log2)) => {
                self.byte(mode | (reg & 7) << 3 | 4);
                self.byte(log2 << 6 | (index.0 & 7) << 3 | base);
            }
            // A base of 4 means that another byte follows.
            None if base == 4 => {
                self.byte(mode | (reg & 7) << 3 | 4);
                self.byte(0x20 | base);
            }
            None => self.byte(mode | (reg & 7) << 3 | base),
        }
        match (mode, short) {
            (0, _) => {}
            (0x40, Ok(disp)) => self.byte(disp as u8),
            _ => self.imm32(mem.disp as u32),
        }
    }

    pub(super) fn mov(&mut self, to: Reg, from: Reg) {
        if to != from {
            self.rr(0, false, &[0x8b], to.0, from);
        }
    }

    pub(super) fn mov_imm(&mut self, to: Reg, value: u32) {
        if to.0 >= 8 {
            self.byte(0x41);
        }
        self.byte(0xb8 | to.0 & 7);
        self.imm32(value);
    }

    pub(super) fn mov_imm64(&mut self, to: Reg, value: u64) {
        self.byte(0x48 | to.0 >> 3);
        self.byte(0xb8 | to.0 & 7);
        self.code.extend_from_slice(&value.to_le_bytes());
    }

    /// Sets a register of 64 bits to another one of 32, with its sign.
    pub(super) fn movsxd(&mut self, to: Reg, from: Reg) {
        self.rr(0, true, &[0x63], to.0, from);
    }

    /// Sets a register to the lowest byte or half of one.
    pub(super) fn extend(&mut self, width: Width, to: Reg, from: Reg) {
        let opcode = match width {
            Width::U8 => 0xb6,
            Width::I8 => 0xbe,
            Width::U16 => 0xb7,
            Width::I16 => 0xbf,
            Width::W32 | Width::W64 => return self.mov(to, from),
        };
        self.rr(0, false, &[0x0f, opcode], to.0, from);
    }

    pub(super) fn load(&mut self, width: Width, to: Reg, mem: Mem) {
        match width {
            Width::U8 => self.rm(0, false, &[0x0f, 0xb6], to.0, mem),
            Width::I8 => self.rm(0, false, &[0x0f, 0xbe], to.0, mem),
            Width::U16 => self.rm(0, false, &[0x0f, 0xb7], to.0, mem),
            Width::I16 => self.rm(0, false, &[0x0f, 0xbf], to.0, mem),
            Width::W32 => self.rm(0, false, &[0x8b], to.0, mem),
            Width::W64 => self.rm(0, true, &[0x8b], to.0, mem),
        }
    }

    pub(super) fn store(&mut self, width: Width, mem: Mem, from: Reg) {
        match width {
            Width::U8 | Width::I8 => self.rm(0, false, &[0x88], from.0, mem),
            Width::U16 | Width::I16 => self.rm(0x66, false, &[0x89], from.0, mem),
            Width::W32 => self.rm(0, false, &[0x89], from.0, mem),
            Width::W64 => self.rm(0, true, &[0x89], from.0, mem),
        }
    }

    pub(super) fn store_imm(&mut self, mem: Mem, value: u32) {
        self.rm(0, false, &[0xc7], 0, mem);
        self.imm32(value);
    }

    pub(super) fn store_byte(&mut self, mem: Mem, value: u8) {
        self.rm(0, false, &[0xc6], 0, mem);
        self.byte(value);
    }

    /// The address of an operand, to 32 bits.
    pub(super) fn lea(&mut self, to: Reg, mem: Mem) {
        self.rm(0, false, &[0x8d], to.0, mem);
    }

    pub(super) fn lea64(&mut self, to: Reg, mem: Mem) {
        self.rm(0, true, &[0x8d], to.0, mem);
    }

    pub(super) fn alu(&mut self, op: Alu, to: Reg, from: Reg) {
        self.rr(0, false, &[op.0], to.0, from);
    }

    pub(super) fn alu64(&mut self, op: Alu, to: Reg, from: Reg) {
        self.rr(0, true, &[op.0], to.0, from);
    }

    pub(super) fn alu_mem(&mut self, op: Alu, to: Reg, mem: Mem) {
        self.rm(0, false, &[op.0], to.0, mem);
    }

    pub(super) fn alu_imm(&mut self, op: Alu, to: Reg, value: u32) {
        match i8::try_from(value as i32) {
            Ok(short) => {
                self.rr(0, false, &[0x83], op.1, to);
                self.byte(short as u8);
            }
            Err(_) => {
                self.rr(0, false, &[0x81], op.1, to);
                self.imm32(value);
            }
        }
    }

    /// `op dword [mem], imm8`.
    pub(super) fn alu_mem_imm(&mut self, op: Alu, mem: Mem, value: i8) {
        self.rm(0, false, &[0x83], op.1, mem);
        self.byte(value as u8);
    }

    pub(super) fn cmp_byte(&mut self, mem: Mem, value: u8) {
        self.rm(0, false, &[0x80], 7, mem);
        self.byte(value);
    }

    pub(super) fn not(&mut self, to: Reg) {
        self.rr(0, false, &[0xf7], 2, to);
    }

    pub(super) fn neg(&mut self, to: Reg) {
        self.rr(0, false, &[0xf7], 3, to);
    }

    /// `edx:eax` is `eax` times a register.
    pub(super) fn mul(&mut self, signed: bool, by: Reg) {
        self.rr(0, false, &[0xf7], if signed { 5 } else { 4 }, by);
    }

    pub(super) fn imul(&mut self, to: Reg, by: Reg) {
        self.rr(0, false, &[0x0f, 0xaf], to.0, by);
    }

    /// Divides `rdx:rax`, signed, in 64 bits.
    pub(super) fn idiv64(&mut self, by: Reg) {
        self.code.extend_from_slice(&[0x48, 0x99]);
        self.rr(0, true, &[0xf7], 7, by);
    }

    /// Divides `eax`, unsigned.
    pub(super) fn div(&mut self, by: Reg) {
        self.alu(XOR, RDX, RDX);
        self.rr(0, false, &[0xf7], 6, by);
    }

    pub(super) fn shift(&mut self, shift: Shift, to: Reg, by: u8) {
        if by != 0 {
            self.rr(0, false, &[0xc1], shift.0, to);
            self.byte(by);
        }
    }

    pub(super) fn shift64(&mut self, shift: Shift, to: Reg, by: u8) {
        self.rr(0, true, &[0xc1], shift.0, to);
        self.byte(by);
    }

    /// By `cl`.
    pub(super) fn shift_cl(&mut self, shift: Shift, to: Reg) {
        self.rr(0, false, &[0xd3], shift.0, to);
    }

    /// Turns the order of the bytes of a register; a half keeps to the lowest 16 bits.
    pub(super) fn swap(&mut self, width: Width, to: Reg) {
        match width {
            Width::U8 | Width::I8 => {}
            Width::U16 | Width::I16 => {
                // `ror to:16, 8`
                self.rr(0x66, false, &[0xc1], ROR.0, to);
                self.byte(8);
            }
            Width::W32 | Width::W64 => {
                let rex = 0x40 | u8::from(width == Width::W64) << 3 | to.0 >> 3;
                if rex != 0x40 {
                    self.byte(rex);
                }
                self.byte(0x0f);
                self.byte(0xc8 | to.0 & 7);
            }
        }
    }

    /// The number of the highest bit that is set; ZF when there is none.
    pub(super) fn bsr(&mut self, to: Reg, from: Reg) {
        self.rr(0, false, &[0x0f, 0xbd], to.0, from);
    }

    pub(super) fn test(&mut self, a: Reg, b: Reg) {
        self.rr(0, false, &[0x85], a.0, b);
    }

    pub(super) fn test64(&mut self, a: Reg, b: Reg) {
        self.rr(0, true, &[0x85], a.0, b);
    }

    pub(super) fn test_byte(&mut self, a: Reg, mask: u8) {
        self.rr(0, false, &[0xf6], 0, a);
        self.byte(mask);
    }

    /// `test dword [mem], imm32`.
    pub(super) fn test_mem(&mut self, mem: Mem, mask: u32) {
        self.rm(0, false, &[0xf7], 0, mem);
        self.imm32(mask);
    }

    pub(super) fn cmov(&mut self, cond: Cond, to: Reg, from: Reg) {
        self.rr(0, false, &[0x0f, 0x40 | cond.0], to.0, from);
    }

    /// Sets a register to 1 or 0; flags stay.
    pub(super) fn set(&mut self, cond: Cond, to: Reg) {
        self.mov_imm(to, 0);
        self.rr(0, false, &[0x0f, 0x90 | cond.0], 0, to);
    }

    pub(super) fn jmp(&mut self, label: Label) {
        self.byte(0xe9);
        self.distance(label);
    }

    pub(super) fn jcc(&mut self, cond: Cond, label: Label) {
        self.byte(0x0f);
        self.byte(0x80 | cond.0);
        self.distance(label);
    }

    pub(super) fn jmp_mem(&mut self, mem: Mem) {
        self.rm(0, false, &[0xff], 4, mem);
    }

    pub(super) fn ret(&mut self) {
        self.byte(0xc3);
    }

    pub(super) fn ud2(&mut self) {
        self.byte(0x0f);
        self.byte(0x0b);
    }

    /// An instruction of SSE: `prefix` F2 for doubles and F3 for singles, 0 and 66 for what has them in place of these.
    pub(super) fn sse(&mut self, prefix: u8, opcode: u8, to: Reg, from: Reg) {
        self.rr(prefix, false, &[0x0f, opcode], to.0, from);
    }

    pub(super) fn sse_mem(&mut self, prefix: u8, opcode: u8, to: Reg, mem: Mem) {
        self.rm(prefix, false, &[0x0f, opcode], to.0, mem);
    }
}
