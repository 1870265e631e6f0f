//! What single instructions compute, where that is easily got wrong: words with their text, registers before and after.

mod common;

use common::{lift, run, set, store};
use xenoglot_ir::{Op, Type};
use xenoglot_maxwell::decode;

/// `P2R R14, PR, RZ, 0x7f`: every predicate.
const PREDS: u64 = 0x38e8_0000_07f7_ff0e;

/// Runs words, which have to be the texts given, on registers and compares registers.
#[track_caller]
fn check(program: &[(u64, &str)], before: &[(u8, u32)], after: &[(u8, u32)]) {
    for (word, text) in program {
        assert_eq!(decode(8, *word).map(|i| i.to_string()).as_deref(), Ok(*text));
    }
    let setup = before.iter().map(|&(n, v)| set(n, v));
    let words =
        setup.chain(program.iter().map(|p| p.0)).chain([PREDS]).chain(after.iter().map(|&(n, _)| store(n)));
    let words: Vec<u64> = words.collect();
    for (stage, module) in ["lifted", "optimised"].into_iter().zip(lift(&words, 16).unwrap()) {
        let memory = run(&module);
        for &(n, want) in after {
            let got = memory[usize::from(n)];
            assert_eq!(got, want, "R{n} is {got:#x}, not {want:#x} ({stage})\n{module}");
        }
    }
}

fn f(v: f32) -> u32 {
    v.to_bits()
}

#[test]
fn sums_keep_their_carries() {
    let iadd3_rs = [(0x5cc0_0020_0077_0207, "IADD3.RS R7, R2, R7, R0")];
    check(&iadd3_rs, &[(2, 0xffff_ffff), (7, 0x8000_0001), (0, 5)], &[(7, 0x1_8000 + 5)]);
    // C of a difference says "no borrow".
    let difference =
        [(0x5c11_8000_0007_0700, "IADD R0.CC, R7, -R0"), (0x5c10_0800_0007_0505, "IADD.X R5, R5, R0")];
    check(&difference, &[(7, 9), (0, 4), (5, 0)], &[(0, 5), (5, 6)]);
    check(&difference, &[(7, 4), (0, 9), (5, 0)], &[(0, !4), (5, !4)]);
    let saturated = [(0x5c14_0000_0007_0a1c, "IADD.SAT R28, R10, R0")];
    check(&saturated, &[(10, 0x7fff_fff0), (0, 0x20)], &[(28, 0x7fff_ffff)]);
    check(&saturated, &[(10, 0x8000_0000), (0, !0)], &[(28, 0x8000_0000)]);
}

#[test]
fn sums_of_three_carry_two() {
    // 64-bit sums as compilers make them: low words in R6, R2, R4, high words in R7, R3, R5.
    const SUM: [(u64, &str); 2] = [
        (0x5cc0_8200_0027_060c, "IADD3 R12.CC, R6, R2, R4"),
        (0x5cc1_0280_0037_070d, "IADD3.X R13, R7, R3, R5"),
    ];
    const LESS_ONE: [(u64, &str); 2] = [
        (0x5cc8_8200_0027_0614, "IADD3 R20.CC, -R6, R2, R4"),
        (0x5cc9_0280_0037_0715, "IADD3.X R21, -R7, R3, R5"),
    ];
    const LESS_TWO: [(u64, &str); 2] = [
        (0x5cca_8200_0027_0610, "IADD3 R16.CC, -R6, R2, -R4"),
        (0x5ccb_0280_0037_0711, "IADD3.X R17, -R7, R3, -R5"),
    ];
    let words = |n: u8, v: u64| [(n, v as u32), (n + 1, (v >> 32) as u32)];
    let numbers = [0, 1, u64::from(u32::MAX), u64::MAX, 0x1234_5678_9abc_def0];
    for a in numbers {
        for b in numbers {
            for c in numbers {
                let before = [words(6, a), words(2, b), words(4, c)].concat();
                check(&SUM, &before, &words(12, a.wrapping_add(b).wrapping_add(c)));
                check(&LESS_ONE, &before, &words(20, b.wrapping_add(c).wrapping_sub(a)));
                check(&LESS_TWO, &before, &words(16, b.wrapping_sub(a).wrapping_sub(c)));
            }
        }
    }
    // A carry of two numbers after one of three: what was left of the latter is gone.
    let then_of_two = [
        (0x5cc0_8200_0027_060c, "IADD3 R12.CC, R6, R2, R4"),
        (0x5c11_8000_0007_0700, "IADD R0.CC, R7, -R0"),
        (0x5cc1_0280_0037_070d, "IADD3.X R13, R7, R3, R5"),
    ];
    check(&then_of_two, &[(6, !0), (2, !0), (4, !0), (7, 9), (0, 4), (3, 0), (5, 0)], &[(0, 5), (13, 10)]);
}

#[test]
fn a_sum_of_three_negated_numbers_is_no_carry_anyone_knows() {
    // IADD3 R12.CC, -R6, -R2, -R4, with IADD3.X after it.
    let sum = 0x5cc0_8200_0027_060c | 7 << 49;
    assert_eq!(decode(8, sum).map(|i| i.to_string()).as_deref(), Ok("IADD3 R12.CC, -R6, -R2, -R4"));
    let error = lift(&[sum, 0x5cc1_0280_0037_070d, store(13)], 16).unwrap_err();
    assert!(error.to_string().contains("IADD3 R12.CC, -R6, -R2, -R4"), "{error}");
}

#[test]
fn products_of_signed_halves_are_corrected_only_where_the_other_is_not_zero() {
    let csfu = [(0x5b2f_0508_0007_0513, "XMAD.S16.S16.CSFU R19, R5.H1, R0.H1, R10")];
    check(&csfu, &[(5, 0xffff_0001), (0, 0x0002_0001), (10, 0)], &[(19, 0xfffe_fffe)]);
    check(&csfu, &[(5, 0xffff_0001), (0, 0x0002_0000), (10, 0)], &[(19, 0xffff_fffe)]);
    check(&csfu, &[(5, 0xffff_0000), (0, 0xffff_0003), (10, 0)], &[(19, 0xffff_0001)]);
}

#[test]
fn upper_words_of_products() {
    let imul = [(0x5c38_0380_0047_0a04, "IMUL.HI R4, R10, R4")];
    check(&imul, &[(10, !0), (4, 2)], &[(4, !0)]);
    let imad = [(0x5a42_0480_0027_0005, "IMAD.U32.U32.HI.X R5, R0, R2, R9")];
    check(&imad, &[(0, !0), (2, 2), (9, 7)], &[(5, 8)]);
}

#[test]
fn wide_minima_go_from_the_top() {
    let minimum = [
        (0x5c21_9b80_0057_030b, "IMNMX.XHI R11.CC, R3, R5, PT"),
        (0x5c20_0b80_0047_020a, "IMNMX.U32.XLO R10, R2, R4, PT"),
    ];
    check(&minimum, &[(3, !0), (2, 7), (5, 0), (4, 3)], &[(11, !0), (10, 7)]);
    check(&minimum, &[(3, 1), (2, 0x8000_0000), (5, 1), (4, 3)], &[(11, 1), (10, 3)]);
}

#[test]
fn shifts_clamp_or_wrap() {
    check(&[(0x5c48_0000_0007_0200, "SHL R0, R2, R0")], &[(2, 3), (0, 32)], &[(0, 0)]);
    check(&[(0x5c48_0080_0027_0008, "SHL.W R8, R0, R2")], &[(0, 3), (2, 33)], &[(8, 6)]);
    check(&[(0x5c29_0000_0007_0702, "SHR R2, R7, R0")], &[(7, 0x8000_0000), (0, 99)], &[(2, !0)]);
    check(&[(0x5c28_0000_0007_0917, "SHR.U32 R23, R9, R0")], &[(9, !0), (0, 32)], &[(23, 0)]);
    let left = [(0x5bfc_0200_00a7_0008, "SHF.L.W R8, R0, R10, R4")];
    check(&left, &[(0, 0x8000_0000), (4, 1), (10, 33)], &[(8, 3)]);
    let right = [(0x5cf8_0000_0007_061f, "SHF.R R31, R6, R0, R0")];
    check(&right, &[(6, 1), (0, 40)], &[(31, 40)]);
    let pair = [(0x5bf8_0140_0077_0009, "SHF.L.U64 R9, R0, R7, R2")];
    check(&pair, &[(0, 0x11), (2, 0x22), (7, 36)], &[(9, 0x110)]);
    check(&pair, &[(0, 0x11), (2, 0x22), (7, 64)], &[(9, 0)]);
    let signed = [(0x5cf8_0160_0037_0008, "SHF.R.S64 R8, R0, R3, R2")];
    check(&signed, &[(0, 0), (2, 0x8000_0000), (3, 200)], &[(8, !0)]);
}

#[test]
fn fields_and_bits() {
    let bfe = [(0x5c01_0000_0027_0305, "BFE R5, R3, R2")];
    check(&bfe, &[(3, 0x50), (2, 0x304)], &[(5, !2)]);
    check(&bfe, &[(3, 0x8000_0000), (2, 0x428)], &[(5, !0)]);
    check(&bfe, &[(3, !0), (2, 0x004)], &[(5, 0)]);
    let bfi = [(0x5bf0_0100_0037_0803, "BFI R3, R8, R3, R2")];
    check(&bfi, &[(8, 0xff), (3, 0x408), (2, 0x1000_0001)], &[(3, 0x1000_0f01)]);
    check(&[(0x5c31_0000_0027_0009, "FLO R9, R2")], &[(2, !0x10)], &[(9, 4)]);
    check(&[(0x5c31_0200_0037_0007, "FLO.SH R7, R3")], &[(3, !0)], &[(7, !0)]);
    check(&[(0x5c30_0200_0007_0000, "FLO.U32.SH R0, R0")], &[(0, 1)], &[(0, 31)]);
    let prmt = [(0x5bc1_0100_0027_0008, "PRMT.F4E R8, R0, R2, R2")];
    check(&prmt, &[(0, 0x3322_1100), (2, 0x7766_5502)], &[(8, 0x5502_3322)]);
    let lop3 = [(0x5be7_000a_c0a7_0b1c, "LOP3.LUT R28, R11, R10, R0, 0xac")];
    check(&lop3, &[(11, 0xff00), (10, 0xf0f0), (0, 0xcccc)], &[(28, 0xccf0)]);
}

#[test]
fn bytes_of_words() {
    let differences = [(0x5038_0334_4047_0f07, "VABSDIFF4.U8.U8.ACC R7, R15, R4, R6")];
    check(&differences, &[(15, 0x0104_0a00), (4, 0x0300_0080), (6, 1)], &[(7, 2 + 4 + 10 + 128 + 1)]);
    check(&[(0x5ce4_0000_0037_3802, "I2I.S8.S32.SAT R2, R3")], &[(3, 300)], &[(2, 127)]);
    check(&[(0x5ce4_0000_0037_3802, "I2I.S8.S32.SAT R2, R3")], &[(3, !999)], &[(2, !127)]);
    check(&[(0x5ce4_0000_00f7_0818, "I2I.U8.U32.SAT R24, R15")], &[(15, !0)], &[(24, 255)]);
    check(&[(0x5ce0_0000_0007_3602, "I2I.S32.S16 R2, R0")], &[(0, 0x1_8000)], &[(2, 0xffff_8000)]);
    check(&[(0x5cb8_0200_0047_0218, "I2F.F32.U8 R24, R4.B1")], &[(4, 0x0000_ff00)], &[(24, f(255.0))]);
}

#[test]
fn floats() {
    let least = [(0x5c60_0380_0027_0005, "FMNMX R5, R0, R2, PT")];
    check(&least, &[(0, f(0.0)), (2, f(-0.0))], &[(5, f(-0.0))]);
    check(&least, &[(0, f(f32::NAN)), (2, f(2.0))], &[(5, f(2.0))]);
    check(
        &[(0x5c68_2000_0147_1614, "FMUL.FMZ R20, R22, R20")],
        &[(22, f(f32::NAN)), (20, f(-0.0))],
        &[(20, 0)],
    );
    check(&[(0x5c5c_0000_0057_000b, "FADD.SAT R11, R0, R5")], &[(0, f(f32::NAN)), (5, f(1.0))], &[(11, 0)]);
    let truncate = [(0x5cb0_0180_0007_1a04, "F2I.S32.F32.TRUNC R4, R0")];
    check(&truncate, &[(0, f(-3e9))], &[(4, 0x8000_0000)]);
    check(&truncate, &[(0, f(f32::NAN))], &[(4, 0)]);
    let wide = [(0x5cb0_0180_0067_1f0a, "F2I.S64.F64.TRUNC R10, R6")];
    check(&wide, &[(6, 0), (7, 0x7ff8_0000)], &[(10, 0), (11, 0x8000_0000)]);
    check(&[(0x5cb0_0000_0027_0a03, "F2I.U32.F32 R3, R2")], &[(2, f(2.5))], &[(3, 2)]);
    check(&[(0x5080_0000_0067_0503, "MUFU.RCP64H R3, R5")], &[(5, 0x4010_0000)], &[(3, 0x3fd0_0000)]);
}

#[test]
fn halves_merge() {
    let fma = [(0x5d04_0180_0027_0002, "HFMA2.MRG_H0 R2, R0, R2, R3")];
    check(&fma, &[(0, 0x4000_4000), (2, 0x4200_4200), (3, 0x3c00_3c00)], &[(2, 0x4200_4700)]);
    let single = [(0x5d12_0800_0057_0a08, "HADD2.F32 R8, -R10, R5")];
    check(&single, &[(10, 0x3c00_3c00), (5, 0x4000_4400)], &[(8, f(3.0))]);
    let greater = [(0x5d20_0320_0067_0401, "HSETP2.GT.AND P0, P1, R4, R6, P6")];
    check(&greater, &[(4, 0x3c00_4000), (6, 0x3c00_3c00)], &[(14, 0)]);
    let less = [(0x5d1a_0388_0067_0404, "HSET2.BF.LT.AND R4, R4, R6, PT")];
    check(&less, &[(4, 0x3c00_3c00), (6, 0x3c00_4000)], &[(4, 0x0000_3c00)]);
}

#[test]
fn halves_keep_their_denormals_where_singles_are_flushed() {
    let small = 2f32.powi(-20);
    check(&[(0x5ca8_1000_0007_0900, "F2F.FTZ.F16.F32 R0, R0")], &[(0, f(small))], &[(0, 0x0010)]);
    check(&[(0x5ca8_1000_0007_060c, "F2F.FTZ.F32.F16 R12, R0")], &[(0, 0x0010)], &[(12, f(small))]);
}

#[test]
fn predicates() {
    let load = (0x5cf0_0000_0007_0600, "R2P PR, R6, R0");
    check(&[load], &[(6, 0x55), (0, 0x0f)], &[(14, 0x05)]);
    let wider = [
        (0x5c11_8000_0007_0700, "IADD R0.CC, R7, -R0"),
        (0x5b6c_0b80_0057_0a07, "ISETP.GE.U32.X.AND P0, PT, R10, R5, PT"),
    ];
    check(&wider, &[(7, 4), (0, 5), (10, 1), (5, 1)], &[(14, 0)]);
    check(&wider, &[(7, 5), (0, 5), (10, 1), (5, 1)], &[(14, 1)]);
    let negative = [
        (0x5c11_8000_0007_0700, "IADD R0.CC, R7, -R0"),
        (0x50a0_0380_0007_0107, "CSETP.LT.AND P0, PT, CC, PT"),
    ];
    check(&negative, &[(7, 4), (0, 5)], &[(14, 1)]);
    check(&negative, &[(7, 5), (0, 5)], &[(14, 0)]);
}

#[test]
fn constants_are_folded_while_lifting() {
    // A shift by a number that is moved to its register: neither a comparison nor a choice is left of the clamp.
    let program = [set(0, 3), 0x5c48_0000_0007_0200, store(0)];
    assert_eq!(decode(8, program[1]).map(|i| i.to_string()).as_deref(), Ok("SHL R0, R2, R0"));
    let text = lift(&program, 16).unwrap()[0].to_string();
    assert!(text.contains(" shl ") && !text.contains("select"), "{text}");
}

#[test]
fn flags_are_written_where_the_program_reads_them() {
    let sum = (0x5c11_8000_0007_0700, "IADD R0.CC, R7, -R0");
    let carry = (0x5c10_0800_0007_0505, "IADD.X R5, R5, R0");
    check(&[sum, carry], &[(7, 4), (0, 9), (5, 0)], &[(0, !4), (5, !4)]);
    let flags = |program: &[u64]| {
        let text = lift(program, 16).unwrap()[0].to_string();
        ["cc_z", "cc_s", "cc_c", "cc_o"].map(|flag| text.contains(flag))
    };
    assert_eq!(flags(&[sum.0, store(0)]), [false; 4]);
    assert_eq!(flags(&[sum.0, carry.0, store(5)]), [false, false, true, false]);
}

#[test]
fn a_constant_at_a_known_index_is_a_word_of_its_bank() {
    // LDC.64 R4, c[0x0][R4+0x140] with 8 in R4.
    const LDC: u64 = 0xef95_0000_1407_0404;
    assert_eq!(decode(8, LDC).map(|i| i.to_string()).as_deref(), Ok("LDC.64 R4, c[0x0][R4+0x140]"));
    let [lifted, optimised] = lift(&[set(4, 8), LDC, store(4), store(5)], 16).unwrap();
    assert!(!lifted.to_string().contains("iadd"), "{lifted}");
    let word = |n: u32| n.wrapping_mul(0x9e37_79b9);
    for module in [lifted, optimised] {
        let memory = run(&module);
        assert_eq!((memory[4], memory[5]), (word(0x148 / 4), word(0x14c / 4)));
    }
}

#[test]
fn constants_that_go_nowhere_change_no_register() {
    const LDC: u64 = 0xef95_0000_1407_ffff;
    check(&[(LDC, "LDC.64 RZ, c[0x0][0x140]")], &[(0, 7)], &[(0, 7)]);
}

#[test]
fn a_vote_of_graphics_stages_changes_nothing() {
    // VOTE.VTG.R 0x0.
    const VOTE: u64 = 0x50e0_0000_0007_0000;
    assert_eq!(decode(8, VOTE).map(|i| i.to_string()).as_deref(), Ok("VOTE.VTG.R 0x0"));
    check(&[(VOTE, "VOTE.VTG.R 0x0")], &[(3, 7)], &[(3, 7)]);
}

#[test]
fn registers_change_their_types_through_integers() {
    // The halves of a packed sum as a single: no host casts the one to the other.
    let sum = (0x5d10_0000_0007_0202, "HADD2 R2, R2, R0");
    let single = (0x5c58_0000_0057_020b, "FADD R11, R2, R5");
    check(&[sum, single], &[(2, 0x3c00_0000), (0, 0x0000_0000), (5, 0)], &[(11, 0x3c00_0000)]);
    let [lifted, _] = lift(&[sum.0, single.0, store(11)], 16).unwrap();
    let func = lifted.funcs.values().next().unwrap();
    let casts = func.insts.keys().filter(|&i| func.insts[i].op == Op::Bitcast);
    let types: Vec<[Type; 2]> =
        casts.map(|i| [func.args(i)[0], func.results(i)[0]].map(|v| func.ty(v))).collect();
    assert!(
        types.contains(&[Type::F16X2, Type::I32]) && types.contains(&[Type::I32, Type::F32]),
        "{types:?}"
    );
    assert!(types.iter().all(|pair| pair.contains(&Type::I32)), "{types:?}");
}
