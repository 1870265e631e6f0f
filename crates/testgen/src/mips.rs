//! Small programs for 32-bit MIPS: a file around instructions, and random sequences of them.

use crate::rng::Rng;

/// Where the ABI flags are in the file.
const FLAGS: u32 = 0x200;
/// Where the code of [`elf`] is.
pub const CODE: u32 = 0x40_0000;
/// Where its data are.
pub const DATA: u32 = 0x1000_0000;

/// The byte order of a file.
pub use xenoglot_mips::Endian;

/// An ELF file with `code` at [`CODE`], where it starts, and `data` bytes of zeros at [`DATA`].
pub fn elf(endian: Endian, code: &[u32], data: u32) -> Vec<u8> {
    let half = |v: u16| if endian == Endian::Big { v.to_be_bytes() } else { v.to_le_bytes() };
    let word = |v: u32| if endian == Endian::Big { v.to_be_bytes() } else { v.to_le_bytes() };
    let mut out = b"\x7fELF\x01\0\x01".to_vec();
    out[5] = if endian == Endian::Big { 2 } else { 1 };
    out.resize(16, 0);
    let words = |out: &mut Vec<u8>, of: &[u32]| of.iter().for_each(|&v| out.extend(word(v)));
    [2, 8].iter().for_each(|&v| out.extend(half(v)));
    // Entry, program headers, no sections; MIPS32 release 2, o32.
    words(&mut out, &[1, CODE, 52, 0, 0x7000_1001]);
    [52, 32, 4, 40, 0, 0].iter().for_each(|&v| out.extend(half(v)));
    let bytes = 4 * code.len() as u32;
    words(&mut out, &[1, 0x1000, CODE, CODE, bytes, bytes, 5, 0x1000]);
    words(&mut out, &[1, 0, DATA, DATA, 0, data, 6, 0x1000]);
    // A stack that is not executable.
    words(&mut out, &[0x6474_e551, 0, 0, 0, 0, 0, 6, 16]);
    // What is used of the floating-point unit: doubles in pairs of registers.
    words(&mut out, &[0x7000_0003, FLAGS, 0, 0, 24, 24, 4, 8]);
    out.resize(FLAGS as usize, 0);
    // Version 0 in two bytes, MIPS32 release 2, 32-bit registers of both kinds, no coprocessor 2.
    out.extend([0, 0, 32, 2, 1, 1, 0, 1]);
    out.resize(0x1000, 0);
    words(&mut out, code);
    out
}

/// Instructions as words, by their names; registers by number.
pub mod i {
    /// `syscall`.
    pub const SYSCALL: u32 = 12;

    fn immediate(op: u32, rs: u32, rt: u32, value: i32) -> u32 {
        op << 26 | rs << 21 | rt << 16 | value as u32 & 0xffff
    }

    /// `lui rt, value`.
    pub fn lui(rt: u32, value: i32) -> u32 {
        immediate(15, 0, rt, value)
    }

    /// `ori rt, rs, value`.
    pub fn ori(rt: u32, rs: u32, value: i32) -> u32 {
        immediate(13, rs, rt, value)
    }

    /// `addiu rt, rs, value`.
    pub fn addiu(rt: u32, rs: u32, value: i32) -> u32 {
        immediate(9, rs, rt, value)
    }

    /// `lw rt, offset(base)`.
    pub fn lw(rt: u32, base: u32, offset: i32) -> u32 {
        immediate(35, base, rt, offset)
    }

    /// `sw rt, offset(base)`.
    pub fn sw(rt: u32, base: u32, offset: i32) -> u32 {
        immediate(43, base, rt, offset)
    }

    /// `addu rd, rs, rt`.
    pub fn addu(rd: u32, rs: u32, rt: u32) -> u32 {
        rs << 21 | rt << 16 | rd << 11 | 33
    }

    /// `jr rs`.
    pub fn jr(rs: u32) -> u32 {
        rs << 21 | 8
    }

    /// `b` to so many instructions behind the delay slot.
    pub fn branch(offset: i32) -> u32 {
        immediate(4, 0, 0, offset)
    }
}

/// Words of a state that [`sequences`] starts and ends with: 32 general registers, HI, LO, FCSR, a spare one, and 32
/// floating-point registers.
pub const STATE_WORDS: usize = 68;
/// Words of memory that each sequence has.
pub const MEMORY_WORDS: usize = 32;

/// Register of the state, and of the memory: sequences leave them alone.
const STATE: u32 = 26;
const MEMORY: u32 = 27;

/// Random sequences, one after another, as a program.
#[derive(Clone, Debug)]
pub struct Sequences {
    /// The program: it loads each state, runs the sequence, stores the state, and prints all states and memories.
    pub code: Vec<u32>,
    /// The instructions of each sequence.
    pub sequences: Vec<Vec<u32>>,
    /// Bytes of data.
    pub data: u32,
}

/// `count` sequences of up to `length` instructions each, without branches that leave them and without exceptions.
///
/// Sequences start with registers of random bits, floating-point numbers worth trying and any rounding mode.
pub fn sequences(rng: &mut Rng, count: usize, length: u32) -> Sequences {
    let stride = 4 * (STATE_WORDS + MEMORY_WORDS) as u32;
    let mut code = Vec::new();
    let mut all = Vec::new();
    code.extend([i::lui(STATE, (DATA >> 16) as i32)]);
    for _ in 0..count {
        code.push(i::addiu(MEMORY, STATE, 4 * STATE_WORDS as i32 + 64));
        load_state(rng, &mut code);
        let mut sequence = Vec::new();
        for _ in 0..=rng.below(length) {
            instruction(rng, &mut sequence);
        }
        code.extend(&sequence);
        all.push(sequence);
        store_state(&mut code);
        code.push(i::addiu(STATE, STATE, stride as i32));
    }
    let data = stride * count as u32;
    // write(1, DATA, data); exit(0)
    code.extend([i::addiu(4, 0, 1), i::lui(5, (DATA >> 16) as i32), i::lui(6, (data >> 16) as i32)]);
    code.extend([i::ori(6, 6, data as i32 & 0xffff), i::addiu(2, 0, 4004), i::SYSCALL]);
    code.extend([i::addiu(4, 0, 0), i::addiu(2, 0, 4001), i::SYSCALL]);
    Sequences { code, sequences: all, data }
}

/// Numbers whose arithmetic has something to it, single ones and the upper words of double ones.
const NUMBERS: &[u32] = &[
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3ff0_0000,
    0xbff0_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7ff0_0000,
    0xfff0_0000,
    0x7fbf_ffff,
    0x7fc0_0000,
    0x7ff7_ffff,
    0x7ff8_0000,
    1,
    0x007f_ffff,
    0x0080_0000,
    0x000f_ffff,
    0x0010_0000,
    0x7f7f_ffff,
    0x7fef_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0x41df_ffff,
    0x41e0_0000,
    0xc1e0_0000,
    0x4330_0000,
    0x3f00_0000,
    0x3fe0_0000,
    0xffff_ffff,
];

fn value(rng: &mut Rng) -> u32 {
    match rng.below(4) {
        0 => rng.pick(NUMBERS).copied().unwrap_or_default(),
        1 => rng.below(64).wrapping_sub(32),
        // A number of moderate size, as single or as the upper word of a double.
        2 if rng.percent(50) => rng.next_u32() & 0x807f_ffff | (120 + rng.below(16)) << 23,
        2 => rng.next_u32() & 0x800f_ffff | (1016 + rng.below(16)) << 20,
        _ => rng.next_u32(),
    }
}

fn constant(code: &mut Vec<u32>, register: u32, value: u32) {
    code.extend([i::lui(register, (value >> 16) as i32), i::ori(register, register, value as i32 & 0xffff)]);
}

fn load_state(rng: &mut Rng, code: &mut Vec<u32>) {
    for word in 0..MEMORY_WORDS as i32 {
        constant(code, 8, value(rng));
        code.push(i::sw(8, MEMORY, 4 * word - 64));
    }
    for register in 0..32 {
        constant(code, 8, value(rng));
        code.push(17 << 26 | 4 << 21 | 8 << 16 | register << 11);
    }
    // Rounding, conditions and flags; no enabled exception, no flush of denormals.
    constant(code, 8, rng.next_u32() & 0xfe80_007f);
    code.push(17 << 26 | 6 << 21 | 8 << 16 | 31 << 11);
    for (function, register) in [(17, 8), (19, 9)] {
        constant(code, register, value(rng));
        code.push(register << 21 | function);
    }
    for register in (1..32).filter(|register| ![STATE, MEMORY].contains(register)) {
        constant(code, register, value(rng));
    }
}

fn store_state(code: &mut Vec<u32>) {
    for register in 0..32u32 {
        // The two registers of the frame are no result.
        let from = if [STATE, MEMORY].contains(&register) { 0 } else { register };
        code.push(i::sw(from, STATE, 4 * register as i32));
    }
    for (function, word) in [(16, 32), (18, 33)] {
        code.extend([8 << 11 | function, i::sw(8, STATE, 4 * word)]);
    }
    code.extend([17 << 26 | 2 << 21 | 8 << 16 | 31 << 11, i::sw(8, STATE, 4 * 34)]);
    for register in 0..32 {
        code.push(57 << 26 | STATE << 21 | register << 16 | (4 * (36 + register)));
    }
}

/// A register that may be written, and any to read.
fn register(rng: &mut Rng) -> u32 {
    loop {
        let register = rng.below(32);
        if ![STATE, MEMORY].contains(&register) {
            return register;
        }
    }
}

/// An instruction, or a few that belong together.
fn instruction(rng: &mut Rng, out: &mut Vec<u32>) {
    let (rs, rt, rd) = (register(rng), register(rng), register(rng));
    let (shift, imm) = (rng.below(32), rng.next_u32() & 0xffff);
    let special = |function: u32| rs << 21 | rt << 16 | rd << 11 | function;
    let special2 = |function: u32| 28 << 26 | special(function);
    let pick = |rng: &mut Rng, of: &[u32]| rng.pick(of).copied().unwrap_or_default();
    match rng.below(14) {
        0..3 => {
            let function = pick(rng, &[0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2a, 0x2b, 0x0a, 0x0b, 4, 6, 7]);
            out.push(special(function));
        }
        3 => {
            // Shifts and rotates by a constant and by a register.
            let word = pick(rng, &[0, 2, 3, 1 << 21 | 2]);
            out.push(word | rt << 16 | rd << 11 | shift << 6);
            out.push(1 << 6 | special(6));
        }
        4 => out.push(pick(rng, &[9, 10, 11, 12, 13, 14]) << 26 | rs << 21 | rt << 16 | imm),
        5 => out.push(15 << 26 | rt << 16 | imm),
        6 => {
            let word = [
                rs << 21 | rt << 16 | 24,
                rs << 21 | rt << 16 | 25,
                rs << 21 | rt << 16 | 26,
                rs << 21 | rt << 16 | 27,
                special2(2),
                rs << 21 | rt << 16 | 28 << 26,
                rs << 21 | rt << 16 | 28 << 26 | 1,
                rs << 21 | rt << 16 | 28 << 26 | 4,
                rs << 21 | rt << 16 | 28 << 26 | 5,
                rd << 11 | 16,
                rd << 11 | 18,
                rs << 21 | 17,
                rs << 21 | 19,
            ];
            let word = pick(rng, &word);
            // What `mul` leaves in HI and LO is open.
            out.push(word);
            if word >> 26 == 28 && word & 63 == 2 {
                out.extend([rs << 21 | 17, rt << 21 | 19]);
            }
        }
        7 => {
            let count = 28 << 26 | rs << 21 | rd << 16 | rd << 11 | pick(rng, &[0x20, 0x21]);
            let swap = 31 << 26 | rt << 16 | rd << 11 | pick(rng, &[2, 16, 24]) << 6 | 32;
            let low = rng.below(32);
            let high = low + rng.below(32 - low);
            let extract = 31 << 26 | rs << 21 | rt << 16 | (high - low) << 11 | low << 6;
            let insert = 31 << 26 | rs << 21 | rt << 16 | high << 11 | low << 6 | 4;
            out.push(pick(rng, &[count, swap, extract, insert]));
        }
        8 | 9 => memory(rng, out, rt),
        10 => {
            // A branch over an instruction, likely or not, with its slot.
            let condition = [
                4 << 26 | rs << 21 | rt << 16,
                5 << 26 | rs << 21 | rt << 16,
                6 << 26 | rs << 21,
                7 << 26 | rs << 21,
                1 << 26 | rs << 21,
                1 << 26 | rs << 21 | 1 << 16,
                20 << 26 | rs << 21 | rt << 16,
                21 << 26 | rs << 21 | rt << 16,
                22 << 26 | rs << 21,
                23 << 26 | rs << 21,
                1 << 26 | rs << 21 | 2 << 16,
                1 << 26 | rs << 21 | 3 << 16,
                17 << 26 | 8 << 21 | rng.below(32) << 16,
            ];
            out.push(pick(rng, &condition) | 2);
            out.extend([special(0x21), special(0x26)]);
        }
        _ => float(rng, out),
    }
}

/// Loads and stores of every kind and alignment that does not fault.
fn memory(rng: &mut Rng, out: &mut Vec<u32>, rt: u32) {
    let offset = |rng: &mut Rng, size: u32| {
        (rng.below(4 * MEMORY_WORDS as u32 / size) * size).wrapping_sub(64) & 0xffff
    };
    let (op, size) = *rng
        .pick(&[
            (32, 1),
            (33, 2),
            (34, 1),
            (35, 4),
            (36, 1),
            (37, 2),
            (38, 1),
            (40, 1),
            (41, 2),
            (42, 1),
            (43, 4),
            (46, 1),
            (49, 4),
            (53, 8),
            (57, 4),
            (61, 8),
            (48, 4),
        ])
        .unwrap_or(&(35, 4));
    // Doubles lie on 8 bytes: the state is a multiple of 16, and the memory begins 16 words behind it.
    let at = offset(rng, size);
    let rt = if size == 8 { rt & 30 } else { rt };
    out.push(op << 26 | MEMORY << 21 | rt << 16 | at);
    if op == 48 {
        // Load linked is followed by store conditional, to the same place.
        let from = register(rng);
        out.push(56 << 26 | MEMORY << 21 | from << 16 | at);
    }
}

/// Arithmetic, comparisons, conversions and moves of the floating-point unit.
fn float(rng: &mut Rng, out: &mut Vec<u32>) {
    let double = rng.percent(50);
    let (fmt, mask) = if double { (17, 30) } else { (16, 31) };
    let (fs, ft, fd, fr) =
        (rng.below(32) & mask, rng.below(32) & mask, rng.below(32) & mask, rng.below(32) & mask);
    let any = rng.below(32);
    let gpr = register(rng);
    let op = |fmt: u32, ft: u32, fs: u32, fd: u32, function: u32| {
        17 << 26 | fmt << 21 | ft << 16 | fs << 11 | fd << 6 | function
    };
    let word = match rng.below(9) {
        0..3 => op(fmt, ft, fs, fd, rng.below(4)),
        3 => {
            let function = rng.pick(&[4u32, 5, 6, 7]).copied().unwrap_or(4);
            op(fmt, 0, fs, fd, function)
        }
        4 => {
            let function = rng.pick(&[12u32, 13, 14, 15, 36]).copied().unwrap_or(36);
            op(fmt, 0, fs, any, function)
        }
        5 => match rng.below(4) {
            0 => op(17, 0, rng.below(32) & 30, any, 32),
            1 => op(16, 0, any, rng.below(32) & 30, 33),
            2 => op(20, 0, any, rng.below(32), 32),
            _ => op(20, 0, any, rng.below(32) & 30, 33),
        },
        // The condition's number is in the place of the destination.
        6 => op(fmt, ft, fs, rng.below(8) << 2, 48 + rng.below(16)),
        7 => match rng.below(4) {
            0 => 17 << 26 | gpr << 16 | any << 11,
            1 => 17 << 26 | 4 << 21 | gpr << 16 | any << 11,
            2 => op(fmt, rng.below(8) << 2 | rng.below(2), fs, fd, 17),
            _ => op(fmt, gpr, fs, fd, 18 + rng.below(2)),
        },
        _ => {
            let function = rng.pick(&[4u32, 5, 6, 7]).copied().unwrap_or(4);
            19 << 26 | fr << 21 | ft << 16 | fs << 11 | fd << 6 | function << 3 | u32::from(double)
        }
    };
    out.push(word);
}
