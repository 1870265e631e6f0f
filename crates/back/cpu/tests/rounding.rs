//! Arithmetic and conversions of the floating-point unit in its four rounding modes, with denormal results kept and flushed: the
//! interpreter and machine code have the results and exceptions of the host's SSE unit, which nobody here wrote.
#![cfg(all(unix, target_arch = "x86_64"))]

use std::arch::asm;
use std::fmt;
use xenoglot_cpu::{Jit, Options};
use xenoglot_guest::memory::{Memory, Rights};
use xenoglot_guest::{Cpu, Engine, Event, Interpreter};
use xenoglot_mips::Endian;
use xenoglot_testgen::property::{budget, seed};
use xenoglot_testgen::rng::Rng;

const CODE: u32 = 0x40_0000;
/// The register of the result, the first of a pair.
const FD: usize = 0;
/// That of the first operand.
const FS: usize = 2;
/// That of the second.
const FT: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Single,
    Double,
    Word,
}

impl Format {
    fn field(self) -> u32 {
        match self {
            Format::Single => 16,
            Format::Double => 17,
            Format::Word => 20,
        }
    }

    fn is_nan(self, bits: u64) -> bool {
        match self {
            Format::Single => f32::from_bits(bits as u32).is_nan(),
            Format::Double => f64::from_bits(bits).is_nan(),
            Format::Word => false,
        }
    }

    /// Before NaN2008 the highest bit of the fraction is set in signaling NaNs.
    fn is_signaling(self, bits: u64) -> bool {
        let highest = if self == Format::Single { 22 } else { 51 };
        self.is_nan(bits) && bits >> highest & 1 == 1
    }

    /// What operations make in place of a NaN.
    fn default_nan(self) -> u64 {
        match self {
            Format::Single => 0x7fbf_ffff,
            Format::Double => 0x7ff7_ffff_ffff_ffff,
            Format::Word => 0x7fff_ffff,
        }
    }
}

/// Roundings in the order of FCSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounding {
    Nearest,
    Zero,
    Up,
    Down,
}

/// What the control register asks for.
#[derive(Clone, Copy, Debug)]
struct Control {
    rounding: Rounding,
    /// Whether denormal results become zeros.
    flush: bool,
}

impl Control {
    fn all() -> impl Iterator<Item = Control> {
        [false, true].into_iter().flat_map(|flush| ROUNDINGS.map(|rounding| Control { rounding, flush }))
    }

    fn fcsr(self) -> u32 {
        self.rounding as u32 | u32::from(self.flush) << 24
    }

    fn mxcsr(self) -> u32 {
        self.rounding.mxcsr() | u32::from(self.flush) << 15
    }
}

const ROUNDINGS: [Rounding; 4] = [Rounding::Nearest, Rounding::Zero, Rounding::Up, Rounding::Down];

impl Rounding {
    /// The control register of SSE with it, all exceptions masked.
    fn mxcsr(self) -> u32 {
        let field = match self {
            Rounding::Nearest => 0,
            Rounding::Down => 1,
            Rounding::Up => 2,
            Rounding::Zero => 3,
        };
        0x1f80 | field << 13
    }
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    Convert,
    /// To a word, whatever FCSR says.
    ToWord(Rounding),
}

#[derive(Clone, Copy, Debug)]
struct Instruction {
    op: Op,
    from: Format,
    to: Format,
}

impl Instruction {
    fn all() -> Vec<Instruction> {
        use Format::{Double, Single, Word};
        let arithmetic = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Sqrt]
            .into_iter()
            .flat_map(|op| [Single, Double].map(|format| Instruction { op, from: format, to: format }));
        let conversions = [
            (Double, Single),
            (Single, Double),
            (Word, Single),
            (Word, Double),
            (Single, Word),
            (Double, Word),
        ];
        let conversions = conversions.map(|(from, to)| Instruction { op: Op::Convert, from, to });
        let words = ROUNDINGS.into_iter().flat_map(|rounding| {
            [Single, Double].map(|from| Instruction { op: Op::ToWord(rounding), from, to: Word })
        });
        arithmetic.chain(conversions).chain(words).collect()
    }

    fn word(self) -> u32 {
        let function = match (self.op, self.to) {
            (Op::Add, _) => 0,
            (Op::Sub, _) => 1,
            (Op::Mul, _) => 2,
            (Op::Div, _) => 3,
            (Op::Sqrt, _) => 4,
            (Op::ToWord(rounding), _) => 12 + rounding as u32,
            (Op::Convert, Format::Single) => 32,
            (Op::Convert, Format::Double) => 33,
            (Op::Convert, Format::Word) => 36,
        };
        let ft = if matches!(self.op, Op::Add | Op::Sub | Op::Mul | Op::Div) { FT as u32 } else { 0 };
        0x11 << 26 | self.from.field() << 21 | ft << 16 | (FS as u32) << 11 | (FD as u32) << 6 | function
    }

    fn operands(self) -> usize {
        if matches!(self.op, Op::Add | Op::Sub | Op::Mul | Op::Div) { 2 } else { 1 }
    }

    /// Result and exceptions, the latter as the cause bits of FCSR, by the host's unit.
    fn on_host(self, operands: [u64; 2], mut control: Control) -> (u64, u32) {
        let Instruction { op, from, to } = self;
        let operands = &operands[..self.operands()];
        if operands.iter().any(|&bits| from.is_nan(bits)) {
            // The host's NaNs are the other way round.
            let is_invalid = to == Format::Word || operands.iter().any(|&bits| from.is_signaling(bits));
            return (to.default_nan(), u32::from(is_invalid) << 4);
        }
        if let Op::ToWord(rounding) = op {
            control.rounding = rounding;
        }
        let [a, b] = [operands[0], *operands.last().expect("an operand")];
        let (result, status) = sse(op, from, to, [a, b], control.mxcsr());
        // Invalid, division, overflow, underflow, inexact are bits 0, 2, 3, 4 and 5 of the host's.
        let causes = [(5, 0), (4, 1), (3, 2), (2, 3), (0, 4)];
        let cause = causes.iter().fold(0, |cause, (theirs, ours)| cause | (status >> theirs & 1) << ours);
        let is_invalid = cause & 16 != 0;
        (if is_invalid || to.is_nan(result) { to.default_nan() } else { result }, cause)
    }
}

/// Runs an instruction of SSE with a control register, and puts back the one before: the result and the status.
macro_rules! instruction {
    ($text:literal, $operands:expr, $control:expr) => {{
        let [mut x, y] = $operands.map(f64::from_bits);
        let ([mut before, mut after], control): ([u32; 2], u32) = ([0; 2], $control);
        // SAFETY: the instructions read and write the variables whose addresses they have, and the registers they name; the control
        // register is as before at their end.
        unsafe {
            asm!(
                "stmxcsr [{before}]", "ldmxcsr [{control}]", concat!($text, " {x}, {y}"), "stmxcsr [{after}]", "ldmxcsr [{before}]",
                x = inout(xmm_reg) x, y = in(xmm_reg) y, before = in(reg) &raw mut before, after = in(reg) &raw mut after,
                control = in(reg) &raw const control, options(nostack, preserves_flags),
            );
        }
        (x.to_bits(), after)
    }};
    (to word, $text:literal, $operand:expr, $control:expr) => {{
        let y = f64::from_bits($operand);
        let ([mut before, mut after], control): ([u32; 2], u32) = ([0; 2], $control);
        let word: u32;
        // SAFETY: as above.
        unsafe {
            asm!(
                "stmxcsr [{before}]", "ldmxcsr [{control}]", concat!($text, " {word:e}, {y}"), "stmxcsr [{after}]",
                "ldmxcsr [{before}]", word = out(reg) word, y = in(xmm_reg) y, before = in(reg) &raw mut before,
                after = in(reg) &raw mut after, control = in(reg) &raw const control, options(nostack, preserves_flags),
            );
        }
        (u64::from(word), after)
    }};
    (of word, $text:literal, $operand:expr, $control:expr) => {{
        let word = $operand as u32;
        let mut x = 0.0f64;
        let ([mut before, mut after], control): ([u32; 2], u32) = ([0; 2], $control);
        // SAFETY: as above.
        unsafe {
            asm!(
                "stmxcsr [{before}]", "ldmxcsr [{control}]", concat!($text, " {x}, {word:e}"), "stmxcsr [{after}]",
                "ldmxcsr [{before}]", x = inout(xmm_reg) x, word = in(reg) word, before = in(reg) &raw mut before,
                after = in(reg) &raw mut after, control = in(reg) &raw const control, options(nostack, preserves_flags),
            );
        }
        (x.to_bits(), after)
    }};
}

fn sse(op: Op, from: Format, to: Format, operands: [u64; 2], control: u32) -> (u64, u32) {
    use Format::{Double, Single, Word};
    let (result, status) = match (op, from, to) {
        (Op::Add, Single, _) => instruction!("addss", operands, control),
        (Op::Add, _, _) => instruction!("addsd", operands, control),
        (Op::Sub, Single, _) => instruction!("subss", operands, control),
        (Op::Sub, _, _) => instruction!("subsd", operands, control),
        (Op::Mul, Single, _) => instruction!("mulss", operands, control),
        (Op::Mul, _, _) => instruction!("mulsd", operands, control),
        (Op::Div, Single, _) => instruction!("divss", operands, control),
        (Op::Div, _, _) => instruction!("divsd", operands, control),
        (Op::Sqrt, Single, _) => instruction!("sqrtss", operands, control),
        (Op::Sqrt, _, _) => instruction!("sqrtsd", operands, control),
        (_, Double, Single) => instruction!("cvtsd2ss", operands, control),
        (_, Single, Double) => instruction!("cvtss2sd", operands, control),
        (_, Word, Single) => instruction!(of word, "cvtsi2ss", operands[0], control),
        (_, Word, _) => instruction!(of word, "cvtsi2sd", operands[0], control),
        (_, Single, _) => instruction!(to word, "cvtss2si", operands[0], control),
        (_, Double, _) => instruction!(to word, "cvtsd2si", operands[0], control),
    };
    (if to == Double { result } else { result & 0xffff_ffff }, status)
}

/// Operands that meet: exponents near each other, ends of formats, whole numbers and halves, numbers between two of the other format.
fn operands(rng: &mut Rng, format: Format) -> [u64; 2] {
    let random = [rng.next_u64(), rng.next_u64()];
    let (fraction, exponents) = match format {
        Format::Single => (23, 0xff),
        Format::Double => (52, 0x7ff),
        Format::Word => {
            return [random[0] & 0xffff_ffff >> rng.below(32), 0];
        }
    };
    let bias = exponents / 2;
    let exponent = match rng.below(8) {
        0 => rng.below(3).into(),
        1 => exponents - u64::from(rng.below(3)),
        2 => u64::from(rng.below(exponents as u32 + 1)),
        3 => bias + 20 + u64::from(rng.below(16)),
        4 if format == Format::Double => bias - 152 + u64::from(rng.below(30)),
        5 if format == Format::Double => bias + 120 + u64::from(rng.below(12)),
        _ => bias - 4 + u64::from(rng.below(40)),
    };
    let near = [exponent, (exponent + u64::from(rng.below(5))).saturating_sub(2).min(exponents)];
    let number = |(bits, exponent): (u64, u64)| {
        // Few bits set, at either end, give ties.
        let mask = (1 << fraction) - 1;
        let bits = match bits >> 60 {
            0..4 => bits & mask,
            4..8 => bits & mask & !((1 << (bits >> 54 & 63).min(fraction)) - 1),
            8..10 => mask,
            10..12 => 0,
            _ => mask & (bits & 7),
        };
        exponent << fraction | bits
    };
    let sign = if format == Format::Single { 31 } else { 63 };
    let [a, b] = [(random[0], near[0]), (random[1], near[1])].map(number);
    [a | (random[0] >> 59 & 1) << sign, b | (random[1] >> 59 & 1) << sign]
}

/// Engine, memory with the instructions, each before a `break`, and registers.
struct Unit<E> {
    engine: E,
    memory: Memory,
    cpu: Cpu,
}

/// Result and cause bits.
#[derive(PartialEq)]
struct Done(u64, u32);

impl fmt::Debug for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x} with causes {:#x}", self.0, self.1)
    }
}

impl<E: Engine> Unit<E> {
    fn new(engine: E, instructions: &[Instruction]) -> Unit<E> {
        let mut memory = Memory::new(1 << 20);
        memory.map(CODE, 0x1000, Rights::READ.and(Rights::EXECUTE));
        let code: Vec<u8> = instructions
            .iter()
            .flat_map(|instruction| [instruction.word(), 13])
            .flat_map(u32::to_le_bytes)
            .collect();
        memory.poke(CODE, &code).expect("mapped");
        Unit { engine, memory, cpu: Cpu::new(Endian::Little) }
    }

    fn run(&mut self, place: usize, instruction: Instruction, operands: [u64; 2], control: Control) -> Done {
        let cpu = &mut self.cpu;
        cpu.pc = CODE + 8 * place as u32;
        cpu.fcsr = control.fcsr();
        for (register, bits) in [(FS, operands[0]), (FT, operands[1])] {
            (cpu.fpr[register], cpu.fpr[register + 1]) = (bits as u32, (bits >> 32) as u32);
        }
        let event = self.engine.run(cpu, &mut self.memory, &mut 100);
        assert!(
            matches!(event, Event::Exception(exception) if exception.pc == CODE + 8 * place as u32 + 4),
            "{event:?}"
        );
        let low = u64::from(cpu.fpr[FD]);
        let result =
            if instruction.to == Format::Double { low | u64::from(cpu.fpr[FD + 1]) << 32 } else { low };
        Done(result, cpu.fcsr >> 12 & 0x1f)
    }
}

#[test]
fn results_and_exceptions_are_the_hosts_in_all_modes() {
    let instructions = Instruction::all();
    let mut interpreter = Unit::new(Interpreter::default(), &instructions);
    let options = Options { threshold: 0, background: false, ..Options::default() };
    let mut jit = Unit::new(Jit::new(options).expect("a host with code"), &instructions);
    let options = Options { threshold: u32::MAX, baseline: Some(0), ..options };
    let mut baseline = Unit::new(Jit::new(options).expect("a host with code"), &instructions);
    let mut rng = Rng::new(seed());
    for (place, &instruction) in instructions.iter().enumerate() {
        let mut inexact = [0; 4];
        for _ in 0..budget(2_000, 100_000) {
            let operands = operands(&mut rng, instruction.from);
            for control in Control::all() {
                let (result, cause) = instruction.on_host(operands, control);
                let wanted = Done(result, cause);
                let by_engine = [
                    ("interpreter", interpreter.run(place, instruction, operands, control)),
                    ("machine code", jit.run(place, instruction, operands, control)),
                    ("baseline code", baseline.run(place, instruction, operands, control)),
                ];
                for (engine, result) in by_engine {
                    assert!(
                        result == wanted,
                        "{instruction:?} of {operands:x?}, {control:?}: {wanted:?}, {engine} {result:?}"
                    );
                }
                inexact[control.rounding as usize] += cause & 1;
            }
        }
        // What is exact is the same in all roundings.
        let is_exact =
            matches!((instruction.from, instruction.to), (Format::Single | Format::Word, Format::Double))
                && matches!(instruction.op, Op::Convert);
        assert!(is_exact || inexact.iter().all(|&count| count > 100), "{instruction:?}: {inexact:?}");
    }
    assert!(jit.engine.stats().regions > 0);
}
