use super::*;
use crate::container::tests::shbin as any_shbin;
use crate::container::{ConstantValue, Geometry, GeometryMode, RegisterFile, Semantic, ShaderKind};
use crate::disasm::{DisasmOptions, disassemble};
use crate::float::{Denormals, F24};
use crate::inst::OPCODES;
use crate::program::Program;
use proptest::prelude::*;

/// Code words of a source without names, every instruction of which uses descriptor 0.
fn code(text: &str) -> Vec<u32> {
    match assemble(&format!(".nodvle\n{text}")) {
        Ok(shbin) => shbin.program.code,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn error(text: &str) -> (u32, u32, String) {
    let error = assemble(text).expect_err(text);
    (error.at.line, error.at.column, error.reason.to_string())
}

#[test]
fn words_are_those_of_the_format() {
    // Each worked out by hand from the field positions in FORMAT.md.
    let cases: &[(&str, u32)] = &[
        ("add r0, c1, v2", 0x10 << 21 | 0x21 << 12 | 0x02 << 7),
        ("dp4 o3, c8[a0], r1", 0x02 << 26 | 0x03 << 21 | 1 << 19 | 0x28 << 12 | 0x11 << 7),
        ("dph r0, v1, c2", 0x18 << 26 | 0x10 << 21 | 0x01 << 14 | 0x22 << 7),
        ("dph r0, c2, v1", 0x03 << 26 | 0x10 << 21 | 0x22 << 12 | 0x01 << 7),
        ("sge r0, v1, c2[lcnt+3]", 0x1a << 26 | 0x10 << 21 | 3 << 19 | 0x01 << 14 | 0x25 << 7),
        ("slti r0, v1, v2", 0x1b << 26 | 0x10 << 21 | 0x01 << 14 | 0x02 << 7),
        ("litp r2, v0", 0x07 << 26 | 0x12 << 21),
        ("dst r2, c0, v0", 0x04 << 26 | 0x12 << 21 | 0x20 << 12),
        ("mova a0, c5", 0x12 << 26 | 0x25 << 12),
        ("mad r1, v0, c3[a1], r2", 7 << 29 | 0x11 << 24 | 2 << 22 | 0x23 << 10 | 0x12 << 5),
        ("mad r1, v0, r2, c3[a1]", 6 << 29 | 0x11 << 24 | 2 << 22 | 0x12 << 12 | 0x23 << 5),
        ("cmp c0, ge, lt, v1", 0x2e << 26 | 5 << 24 | 2 << 21 | 0x20 << 12 | 0x01 << 7),
        ("nop", 0x21 << 26),
        ("end", 0x22 << 26),
        ("break", 0x20 << 26),
        ("breakc !cmp.y", 0x23 << 26 | 3 << 22),
        ("jmpc cmp.x && !cmp.y, 0x123", 0x2c << 26 | 1 << 25 | 1 << 22 | 0x123 << 10),
        ("jmpu !b3, 7", 0x2d << 26 | 3 << 22 | 7 << 10 | 1),
        ("call 4, 9", 0x24 << 26 | 4 << 10 | 5),
        ("callc cmp.x || cmp.y, 4, 9", 0x25 << 26 | 3 << 24 | 4 << 10 | 5),
        ("callu b15, 4, 9", 0x26 << 26 | 15 << 22 | 4 << 10 | 5),
        ("ifu b1, 4, 9", 0x27 << 26 | 1 << 22 | 4 << 10 | 5),
        ("ifc cmp.y, 4, 9", 0x28 << 26 | 1 << 24 | 3 << 22 | 4 << 10 | 5),
        ("for i2, 9", 0x29 << 26 | 2 << 22 | 8 << 10),
        ("emit", 0x2a << 26),
        ("setemit 2, prim inv", 0x2b << 26 | 2 << 24 | 1 << 23 | 1 << 22),
        (".word 0x40000001", 0x4000_0001),
        ("nop {bits 0x5}", 0x21 << 26 | 5),
    ];
    for (text, want) in cases {
        let got = code(text);
        assert_eq!(got, [*want], "{text}: {:08x} instead of {want:08x}", got[0]);
    }
}

#[test]
fn descriptors_say_mask_swizzle_and_sign() {
    let shbin = assemble(".nodvle\nmad r0.xw, -v0.wzyx, v1.y, c0.xyzw").unwrap();
    assert_eq!(shbin.program.descriptors, [0b1001 | 1 << 4 | 0xe4 << 5 | 0x55 << 14 | 0x1b << 23]);
    let shared = assemble(".nodvle\nmov r0, v0\nadd r0, v0, v0.x\nmov r1, v1\nmov r1.x, v1").unwrap();
    assert_eq!(shared.program.descriptors, [0xf | 0x1b << 5, 0x8 | 0x1b << 5]);
}

#[test]
fn scopes_become_ranges() {
    let words = code(
        "
        .proc main
            ifc cmp.x
                mov r0, v0
            .else
                mov r1, v0
            .end
            for i1
                add r0, r0, r0
            .end
            call helper
            end
        .end
        .proc helper
            mov r2, v0
            mov r3, v0
        .end",
    );
    let flow: Vec<(u32, u32, u32)> = words
        .iter()
        .map(|w| (w >> 26, w >> 10 & 0xfff, w & 0xff))
        .filter(|w| (0x24..0x2a).contains(&w.0))
        .collect();
    assert_eq!(flow, [(0x28, 2, 1), (0x29, 4, 0), (0x24, 7, 2)]);
    assert_eq!(words.len(), 9);
}

#[test]
fn what_a_scope_would_lose_is_padded() {
    let body = "ifu b0\n ifu b1\n mov r0, v0\n .end\n.end\nend";
    let nop = 0x21 << 26;
    assert_eq!(code(body)[3], nop);
    assert_eq!(code("for i0\n breakc cmp.x\n.end")[2], nop);
    assert_eq!(code("for i0\n.end")[1], nop);
    assert_eq!(code("ifu b0\n jmpu b1, out\n.else\n mov r0, v0\n.end\nout: end")[2], nop);
    // A jump to the end of a body would leave the loop for good.
    assert_eq!(code("for i0\n jmpu b1, next\n mov r0, v0\nnext: .end")[3], nop);
    let options = Options { pad: false, ..Options::default() };
    let bare = assemble_sources(&[Source { name: "", text: &format!(".nodvle\n{body}") }], &options).unwrap();
    assert_eq!(bare.program.code.len(), 4);
}

#[test]
fn declarations_fill_the_container() {
    let shbin = assemble(
        "
        .fvec projection[4], _private, light$color
        .ivec loops
        .bool flags[2]
        .constf ones(1.0, -2.0, 0.5, 0)
        .consti count(3, 0, 1, 255)
        .constfa table[3]
        .constfa (1, 2, 3, 4)
        .end
        .in position
        .in normal v5
        .out out_pos position
        .out - texcoord0w o2.p
        .out - color.rgb o3
        .alias half ones.z
        .setb b7 true
        .proc main
            mul r0, half, r0
            mov out_pos, table[1].w
            end
        .end",
    )
    .unwrap();
    let dvle = &shbin.executables[0];
    let names: Vec<_> = dvle.uniforms.iter().map(|u| (u.name.as_str(), u.file, u.first, u.count)).collect();
    assert_eq!(
        names,
        [
            ("projection", RegisterFile::Float, 0, 4),
            ("light.color", RegisterFile::Float, 5, 1),
            ("loops", RegisterFile::Int, 0, 1),
            ("flags", RegisterFile::Bool, 0, 2),
            ("position", RegisterFile::Input, 0, 1),
            ("normal", RegisterFile::Input, 5, 1),
        ]
    );
    let constants: Vec<_> = dvle.constants.iter().map(|c| (c.register, c.value)).collect();
    assert_eq!(constants[0], (95, ConstantValue::Float([0x3f_0000, 0xc0_0000, 0x3e_0000, 0])));
    assert_eq!(constants[1], (3, ConstantValue::Int([3, 0, 1, 255])));
    assert_eq!(constants[2], (92, ConstantValue::Float([0x3f_0000, 0x40_0000, 0x40_8000, 0x41_0000])));
    assert_eq!(constants[4], (94, ConstantValue::Float([0; 4])));
    assert_eq!(constants[5], (7, ConstantValue::Bool(true)));
    let outputs: Vec<_> = dvle.outputs.iter().map(|o| (o.semantic, o.register, o.mask.to_string())).collect();
    assert_eq!(
        outputs,
        [
            (Semantic::Position, 0, "xyzw".to_owned()),
            (Semantic::TexCoord0W, 2, "z".to_owned()),
            (Semantic::Color, 3, "xyz".to_owned()),
        ]
    );
    assert_eq!((dvle.input_mask, dvle.output_mask), (0x21, 0xd));
    assert_eq!((dvle.main, dvle.end), (0, 3));
    assert_eq!(shbin.program.code[0] >> 12 & 0x7f, 0x20 + 95);
    assert_eq!(shbin.program.code[1] >> 12 & 0x7f, 0x20 + 93);
}

#[test]
fn sources_share_procedures_and_vertex_uniforms() {
    let sources = [
        Source { name: "a", text: ".fvec one, two\n.constf k(1,1,1,1)\n.proc main\ncall lib\nend\n.end" },
        Source {
            name: "b",
            text: ".fvec two, three\n.constf k(2,2,2,2)\n.entry other\n.proc other\nend\n.end",
        },
        Source { name: "lib", text: ".nodvle\n.proc lib\nmov r0, v0\n.end" },
        Source { name: "g", text: ".gsh fixed c48 c4 3\n.fvec three\n.entry geo\n.proc geo\nend\n.end" },
    ];
    let shbin = assemble_sources(&sources, &Options::default()).unwrap();
    let places: Vec<Vec<_>> = shbin
        .executables
        .iter()
        .map(|dvle| dvle.uniforms.iter().map(|u| (u.name.as_str(), u.first)).collect())
        .collect();
    assert_eq!(places, [vec![("one", 0), ("two", 1)], vec![("two", 1), ("three", 2)], vec![("three", 48)]]);
    assert!(shbin.executables[..2].iter().all(|dvle| dvle.constants[0].register == 95));
    let geometry = &shbin.executables[2];
    assert_eq!(geometry.kind, ShaderKind::Geometry);
    assert_eq!(
        geometry.geometry,
        Geometry { mode: GeometryMode::Fixed, fixed_start: 4, variable_count: 0, fixed_count: 3 }
    );
    assert_eq!(
        shbin.executables.iter().map(|d| (d.main, d.end)).collect::<Vec<_>>(),
        [(0, 2), (2, 3), (4, 5)]
    );
    assert_eq!(shbin.program.code[0], 0x24 << 26 | 3 << 10 | 1);
}

#[test]
fn errors_say_where_and_why() {
    let cases: &[(&str, (u32, u32), &str)] = &[
        ("nop\n  frob r0, r1", (2, 3), "unknown instruction \"frob\""),
        (".frob", (1, 2), "unknown directive \"frob\""),
        (".proc main\nmov r0, nosuch\nend\n.end", (2, 9), "unknown register or alias \"nosuch\""),
        (".proc main\nmov r0, c96\nend\n.end", (2, 9), "unknown register or alias \"c96\""),
        (
            ".proc main\nmov c0, r1\nend\n.end",
            (2, 5),
            "\"c0\" cannot stand here; expected an output or temporary register",
        ),
        (
            ".proc main\n add r0, c1, c2\nend\n.end",
            (2, 2),
            "register c2 cannot stand here: only the wide source reaches uniforms",
        ),
        (".proc main\nadd r0, r1\nend\n.end", (2, 11), "expected ',', found the end of the line"),
        (".proc main\nadd r0, r1, r2 r3\n.end", (2, 16), "expected the end of the line, found \"r3\""),
        (".proc main\njmpc cmp.x, away\nend\n.end", (2, 13), "label or procedure \"away\" is not defined"),
        (".proc main\ncall 5\nend\n.end", (2, 6), "expected a procedure, or two addresses, found 5"),
        (".proc main\nmov r0, c90[6]\nend\n.end", (2, 9), "register 96 is out of range (0 to 95)"),
        (".proc main\nend", (1, 1), "this block has no .end"),
        (".else", (1, 1), ".else without ifc or ifu"),
        (".end", (1, 1), ".end without a block"),
        (".alias r0 r1", (1, 1), "\"r0\" is already defined"),
        ("a: nop\na: nop", (2, 1), "\"a\" is already defined"),
        (".fvec a[97]", (1, 9), "size 97 is out of range (1 to 96)"),
        (".fvec a[90]\n.fvec b[7]", (2, 7), "no registers of this kind left"),
        (".constf k(1, 2, 3)", (1, 18), "expected ',', found ')'"),
        (".constf k(1, 2, 3, 4x)", (1, 20), "malformed number \"4x\""),
        (".setemit", (1, 2), "unknown directive \"setemit\""),
        (".nodvle\nnop {bits 0x80000000}", (2, 1), "bits 0x80000000 overlap the operands"),
        (
            ".desc 0 0x0\n.nodvle\nmov r0, r1 {desc 0}",
            (3, 1),
            "operand descriptor 0 is 0x00000000, which does not say what is written here",
        ),
        (".nodvle\nmov r0.xq2, r1", (2, 8), "expected up to four component letters, found \"xq2\""),
        ("nop", (1, 1), "label or procedure \"main\" is not defined"),
    ];
    for (text, (line, column), reason) in cases {
        assert_eq!(error(text), (*line, *column, (*reason).to_owned()), "{text}");
    }
}

#[test]
fn limits_hold() {
    let limits = Limits { source_bytes: 100, code_words: 3, executables: 1 };
    let options = Options { limits, ..Options::default() };
    let run = |text: &str| assemble_sources(&[Source { name: "", text }], &options).map_err(|e| e.reason);
    assert!(run(".nodvle\nnop\nnop\nnop").is_ok());
    assert_eq!(run("nop\nnop\nnop\nnop"), Err(Reason::Limit { what: "program words", limit: 3 }));
    assert_eq!(run(&" ".repeat(101)), Err(Reason::Limit { what: "bytes of source", limit: 100 }));
    assert_eq!(run(".dvle 1"), Err(Reason::Limit { what: "executables", limit: 1 }));
}

#[test]
fn names_are_as_long_as_the_container_reads_back() {
    let limit = crate::container::Limits::default().name_bytes;
    for (open, close) in [("", ""), ("\"", "\"")] {
        let text = |n| format!(".fvec {open}{}{close}\n.proc main\nend\n.end", "n".repeat(n));
        let shbin = assemble(&text(limit)).unwrap();
        assert_eq!(Shbin::parse(&shbin.write(), &Default::default()), Ok(shbin));
        let reason = assemble(&text(limit + 1)).map_err(|e| e.reason);
        assert_eq!(reason, Err(Reason::Limit { what: "characters in a name", limit }));
    }
}

/// `shbin` assembles from its disassembly, whatever the options.
pub(crate) fn check_round_trip(shbin: &Shbin) {
    for (names, comments) in [(true, false), (false, true)] {
        let text = disassemble(shbin, &DisasmOptions { names, comments });
        match assemble(&text) {
            Ok(back) => assert_eq!(back, *shbin, "{text}"),
            Err(error) => panic!("{error}\n{text}"),
        }
    }
}

/// Words that decode to each opcode about as often, and now and then any word.
fn word() -> impl Strategy<Value = u32> {
    let known = (0..OPCODES.len(), any::<u32>()).prop_map(|(row, bits)| {
        let row = &OPCODES[row];
        let span = u32::from(row.last - row.first) + 1;
        (u32::from(row.first) + (bits >> 26) % span) << 26 | bits & 0x03ff_ffff
    });
    prop_oneof![9 => known, 1 => any::<u32>()]
}

/// Words whose targets lie in the code, so that labels are used, and whose descriptors exist.
fn near_word() -> impl Strategy<Value = u32> {
    (word(), 0u32..50, 0u32..20).prop_map(|(word, target, count)| {
        let op = word >> 26;
        match op {
            0x24..=0x29 | 0x2c | 0x2d => word & !0x003f_ffff | target << 10 | count,
            0x30.. => word & !0x1f | count,
            _ => word & !0x7f | count,
        }
    })
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn random_programs_round_trip(
        code in proptest::collection::vec(prop_oneof![word(), near_word()], 0..60),
        descriptors in proptest::collection::vec(any::<u32>(), 0..30),
    ) {
        check_round_trip(&Shbin { program: Program { code, descriptors }, ..Shbin::default() });
    }

    #[test]
    fn random_containers_round_trip(shbin in any_shbin(), code in proptest::collection::vec(near_word(), 0..60)) {
        let mut shbin = shbin;
        shbin.program.code = code;
        // Tags belong to entries of the table.
        for dvle in &mut shbin.executables {
            dvle.main %= 80;
            dvle.end %= 80;
            for label in &mut dvle.labels {
                label.address %= 80;
            }
        }
        check_round_trip(&shbin);
    }

    /// Expressions of up to four operations give what the same operations give in doubles.
    #[test]
    fn expressions_are_computed(
        numbers in proptest::collection::vec(1u16..1000, 1..6),
        ops in proptest::collection::vec(0usize..4, 5),
        parenthesis in 0usize..6,
    ) {
        // Either all from the left in parentheses, or one product of sums.
        let sign = ['+', '-', '*', '/'];
        let (mut text, mut value) = (String::new(), 0.0f64);
        for (i, n) in numbers.iter().enumerate() {
            let n = f64::from(*n);
            if i == 0 {
                (text, value) = (format!("{n}"), n);
                continue;
            }
            let op = sign[ops[i - 1]];
            text = format!("({text}) {op} {n}");
            value = match op {
                '+' => value + n,
                '-' => value - n,
                '*' => value * n,
                _ => value / n,
            };
        }
        let text = format!("{}{text}{}", "(".repeat(parenthesis), ")".repeat(parenthesis));
        prop_assert_eq!(constant(&text, Rounding::Nearest), F24.from_f32(value as f32, Denormals::Keep));
    }

    #[test]
    fn truncation_gives_the_next_number_towards_zero(bits: u32) {
        let value = f32::from_bits(bits);
        prop_assume!(value.is_finite());
        let got = F24.truncate_f32(value);
        let magnitude = got & 0x7f_ffff;
        if magnitude < 0x7f_0000 {
            prop_assert!(F24.to_f32(got).abs() <= value.abs());
            prop_assert!(magnitude == 0x7e_ffff || F24.to_f32(got + 1).abs() > value.abs());
            prop_assert_eq!(got >> 23, bits >> 31);
        } else {
            prop_assert!(value.abs() >= 2f32.powi(64));
        }
    }

    #[test]
    fn any_text_assembles_or_errs(text in "\\PC{0,200}") {
        let _ = assemble(&text);
    }

    #[test]
    fn tokens_in_any_order_assemble_or_err(
        words in proptest::collection::vec(proptest::sample::select(VOCABULARY), 0..60)
    ) {
        let _ = assemble(&words.join(" "));
    }
}

/// x of a constant.
fn constant(expression: &str, rounding: Rounding) -> u32 {
    let text = format!(".constf k({expression}, 0, 0, 0)\n.proc main\nend\n.end");
    let options = Options { rounding, ..Options::default() };
    let shbin = assemble_sources(&[Source { name: "", text: &text }], &options).unwrap();
    match shbin.executables[0].constants[0].value {
        ConstantValue::Float([x, ..]) => x,
        _ => panic!("no float"),
    }
}

#[test]
fn constants_are_expressions_and_rounded_as_asked() {
    let nearest = |text| F24.to_f32(constant(text, Rounding::Nearest));
    assert_eq!(nearest("1.0/128.0"), 1.0 / 128.0);
    assert_eq!(nearest("1 + 2 * 3 - 4 / 2"), 5.0);
    assert_eq!(nearest("2*(3 - -1)"), 8.0);
    assert_eq!(nearest("-(1+1)*-2"), 4.0);
    assert_eq!(nearest("8/2/2"), 2.0);
    assert_eq!(nearest("1/0"), f32::INFINITY);
    assert_eq!(constant("-0.0", Rounding::Nearest), 0x80_0000);
    // 0.1 lies between two numbers, nearer to the greater one.
    let (up, down) = (constant("0.1", Rounding::Nearest), constant("0.1", Rounding::Truncate));
    assert_eq!(up, down + 1);
    assert_eq!(constant("-0.1", Rounding::Truncate), down | 0x80_0000);
    for wrong in ["1 +", "(1", "1)", "* 2", "1 2", "()", "1//2"] {
        let text = format!(".constf k({wrong}, 0, 0, 0)\n.proc main\nend\n.end");
        assert!(assemble(&text).is_err(), "{wrong}");
    }
    // Deep nesting, also behind many signs, takes time in proportion.
    for signs in [0, 200_000] {
        let (open, close) = ("-".repeat(signs) + &"(".repeat(100_000), ")".repeat(100_000));
        let deep = format!(".constf k({open}1{close}, 0, 0, 0)\n.proc main\nend\n.end");
        assert!(assemble(&deep).is_ok());
    }
}

#[test]
fn geometry_modes_have_names_of_what_they_are_for() {
    let mode = |gsh: &str| {
        let shbin = assemble(&format!(".gsh {gsh}\n.out - position o0\n.entry g\n.proc g\nemit\nend\n.end"));
        shbin.unwrap().executables[0].geometry
    };
    assert_eq!(mode("subdivision c0 3"), mode("variable c0 3"));
    assert_eq!(mode("particle c0 c1 4"), mode("fixed c0 c1 4"));
}

const VOCABULARY: &[&str] = &[
    "\n",
    "\n",
    "\n",
    ",",
    ",",
    ":",
    "(",
    ")",
    "[",
    "]",
    ".",
    "-",
    "+",
    "!",
    "&&",
    "||",
    "=",
    "{",
    "}",
    "0",
    "1",
    "95",
    "96",
    "4096",
    "0xffffffff",
    "1.5",
    "1e9",
    "\"name\"",
    "name",
    "main",
    "r0",
    "c95",
    "v15",
    "o0",
    "i0",
    "b0",
    "a0",
    "a01",
    "lcnt",
    "cmp",
    "x",
    "xyzw",
    "_",
    ".proc",
    ".end",
    ".else",
    ".fvec",
    ".constf",
    ".constfa",
    ".in",
    ".out",
    ".alias",
    ".gsh",
    ".dvle",
    ".entry",
    ".nodvle",
    ".desc",
    ".word",
    ".setf",
    "mov",
    "mad",
    "ifc",
    "ifu",
    "for",
    "call",
    "jmpc",
    "cmp",
    "setemit",
    "position",
    "fixed",
    "variable",
    "*",
    "/",
    "prim",
    "desc",
    "bits",
    "raw",
    "name [ 2 ]",
    ".fvec name [ 96 ]",
    ".proc main\n",
    "mov r0 , r1\n",
    ".nodvle\n",
    "eq",
];
