//! Products of words out of products of halves: random programs of them, whole and in pieces, against arithmetic.

mod common;

use common::{lift, run, store};
use proptest::prelude::*;
use xenoglot_maxwell::decode;

/// Registers that programs use, each of which is stored to its word in the end.
const REGS: u8 = 8;
const RZ: u8 = 255;

/// `MOV Rn, c[0x3][..]` of a word.
fn constant(n: u8, word: u8) -> u64 {
    0x4c98_0780_0007_0000 | 3 << 34 | u64::from(word) << 20 | u64::from(n)
}

/// An XMAD of registers. Modes are numbered as the machine does.
#[derive(Clone, Copy, Debug)]
struct Xmad {
    dst: u8,
    /// Registers, and whether their upper halves are taken.
    a: (u8, bool),
    b: (u8, bool),
    c: u8,
    signs: (bool, bool),
    mode: u8,
    psl: bool,
    mrg: bool,
}

const FULL: u8 = 0;
const CHI: u8 = 2;
const CBCC: u8 = 4;

#[derive(Clone, Copy, Debug)]
enum Step {
    Xmad(Xmad),
    /// `IADD3.RS dst, a, b, c`.
    Iadd3Rs([u8; 4]),
    /// `MOV dst, a`.
    Mov(u8, u8),
    /// `@P0 MOV dst, a`, the predicate being false.
    Never(u8, u8),
    /// `@!P0 MOV dst, a`.
    Guarded(u8, u8),
}

impl Step {
    fn word(self) -> u64 {
        let at = |n: u8, bit: u32| u64::from(n) << bit;
        let on = |set: bool, bit: u32| u64::from(set) << bit;
        match self {
            Step::Xmad(x) => {
                0x5b00_0000_0007_0000
                    | at(x.dst, 0)
                    | at(x.a.0, 8)
                    | at(x.b.0, 20)
                    | on(x.b.1, 35)
                    | on(x.psl, 36)
                    | on(x.mrg, 37)
                    | at(x.c, 39)
                    | on(x.signs.0, 48)
                    | on(x.signs.1, 49)
                    | at(x.mode, 50)
                    | on(x.a.1, 53)
            }
            Step::Iadd3Rs([dst, a, b, c]) => {
                0x5cc0_0020_0007_0000 | at(dst, 0) | at(a, 8) | at(b, 20) | at(c, 39)
            }
            Step::Mov(dst, a) => 0x5c98_0780_0007_0000 | at(dst, 0) | at(a, 20),
            Step::Never(dst, a) => 0x5c98_0780_0000_0000 | at(dst, 0) | at(a, 20),
            Step::Guarded(dst, a) => 0x5c98_0780_0008_0000 | at(dst, 0) | at(a, 20),
        }
    }

    fn run(self, regs: &mut [u32; REGS as usize]) {
        let reg = |n: u8| if n == RZ { 0 } else { regs[usize::from(n)] };
        let half = |(n, upper): (u8, bool), signed: bool| {
            let half = (reg(n) >> if upper { 16 } else { 0 }) as u16;
            if signed { i32::from(half as i16) as u32 } else { half.into() }
        };
        let (dst, value) = match self {
            Step::Xmad(x) => {
                let (a, b) = (half(x.a, x.signs.0), half(x.b, x.signs.1));
                let (word_a, word_b, c) = (reg(x.a.0), reg(x.b.0), reg(x.c));
                let product = a.wrapping_mul(b) << if x.psl { 16 } else { 0 };
                let excess = |half: u32, other: u32| u32::from((half as i32) < 0 && other as u16 != 0) << 16;
                let addend = match x.mode {
                    FULL => c,
                    1 => c & 0xffff,
                    CHI => c >> 16,
                    3 => c.wrapping_sub(excess(a, word_b)).wrapping_sub(excess(b, word_a)),
                    _ => c.wrapping_add(word_b << 16),
                };
                let v = product.wrapping_add(addend);
                (x.dst, if x.mrg { v & 0xffff | word_b << 16 } else { v })
            }
            Step::Iadd3Rs([dst, a, b, c]) => {
                let sum = u64::from(reg(a)) + u64::from(reg(b));
                (dst, ((sum >> 16) as u32).wrapping_add(reg(c)))
            }
            Step::Mov(dst, a) | Step::Guarded(dst, a) => (dst, reg(a)),
            Step::Never(dst, _) => (dst, reg(dst)),
        };
        if dst != RZ {
            regs[usize::from(dst)] = value;
        }
    }
}

/// A product of the words in `a` and `b`, plus `c`: its lower word, or its upper one, which takes another register.
fn product(high: bool, [a, b, c, d, t, u, v]: [u8; 7]) -> Vec<Step> {
    let plain = Xmad {
        dst: d,
        a: (a, false),
        b: (b, false),
        c: RZ,
        signs: (false, false),
        mode: FULL,
        psl: false,
        mrg: false,
    };
    if high {
        return vec![
            Step::Xmad(plain),
            Step::Xmad(Xmad { dst: t, b: (b, true), ..plain }),
            Step::Xmad(Xmad { dst: u, a: (a, true), c: d, mode: CHI, ..plain }),
            Step::Xmad(Xmad { dst: v, a: (a, true), b: (b, true), c, ..plain }),
            Step::Iadd3Rs([d, u, t, v]),
        ];
    }
    vec![
        Step::Xmad(Xmad { dst: t, b: (b, true), mrg: true, ..plain }),
        Step::Xmad(Xmad { c, ..plain }),
        Step::Xmad(Xmad { a: (a, true), b: (t, true), c: d, mode: CBCC, psl: true, ..plain }),
    ]
}

fn register() -> impl Strategy<Value = u8> {
    prop_oneof![8 => 0..REGS, 1 => Just(RZ)]
}

fn step() -> impl Strategy<Value = Step> {
    let half = || (register(), any::<bool>());
    let flags = (any::<(bool, bool)>(), 0..5u8, any::<bool>(), any::<bool>());
    let xmad = (register(), half(), half(), register(), flags).prop_map(
        |(dst, a, b, c, (signs, mode, psl, mrg))| Step::Xmad(Xmad { dst, a, b, c, signs, mode, psl, mrg }),
    );
    let moves = [Step::Mov, Step::Never, Step::Guarded];
    let mov = (0..3usize, register(), register()).prop_map(move |(which, dst, a)| moves[which](dst, a));
    prop_oneof![xmad, mov]
}

/// Products of both kinds, of which steps may be missing, with other steps between them.
fn program() -> impl Strategy<Value = Vec<Step>> {
    let registers = proptest::array::uniform7(register());
    // Mostly all steps are there and nothing is between them.
    let change =
        prop_oneof![6 => Just(None), 1 => step().prop_map(|step| Some(Some(step))), 1 => Just(Some(None))];
    let product = (any::<bool>(), registers, proptest::array::uniform5(change)).prop_map(
        |(high, registers, changes)| {
            let mut steps = Vec::new();
            for (step, change) in product(high, registers).into_iter().zip(changes) {
                match change {
                    None => steps.push(step),
                    Some(Some(other)) => steps.extend([other, step]),
                    Some(None) => {}
                }
            }
            steps
        },
    );
    proptest::collection::vec(product, 1..6).prop_map(|products| products.concat())
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn products_are_what_their_halves_make(steps in program()) {
        let mut words: Vec<u64> = (0..REGS).map(|n| constant(n, n + 1)).collect();
        words.extend(steps.iter().map(|step| step.word()));
        words.extend((0..REGS).map(store));
        let mut regs = std::array::from_fn(|n| (n as u32 + 1).wrapping_mul(0x9e37_79b9));
        steps.iter().for_each(|step| step.run(&mut regs));
        for module in lift(&words, 16).unwrap() {
            prop_assert_eq!(&run(&module)[..regs.len()], regs);
        }
    }
}

#[test]
fn the_words_are_the_instructions_meant() {
    let text = |step: Step| decode(8, step.word()).map(|i| i.to_string()).unwrap();
    let low: Vec<String> = product(false, [0, 1, 2, 3, 4, 5, 6]).into_iter().map(text).collect();
    assert_eq!(
        low,
        ["XMAD.MRG R4, R0, R1.H1, RZ", "XMAD R3, R0, R1, R2", "XMAD.PSL.CBCC R3, R0.H1, R4.H1, R3"]
    );
    let high: Vec<String> = product(true, [0, 1, 2, 3, 4, 5, 6]).into_iter().map(text).collect();
    assert_eq!(
        high[2..],
        ["XMAD.CHI R5, R0.H1, R1, R3", "XMAD R6, R0.H1, R1.H1, R2", "IADD3.RS R3, R5, R4, R6"]
    );
    assert_eq!(text(Step::Never(1, 2)), "@P0 MOV R1, R2");
    assert_eq!(text(Step::Guarded(1, 2)), "@!P0 MOV R1, R2");
    assert_eq!(decode(8, constant(5, 5)).map(|i| i.to_string()).unwrap(), "MOV R5, c[0x3][0x14]");
}
