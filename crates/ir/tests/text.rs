//! The text form: what is printed parses back, and whatever is parsed does not panic.

mod common;

use common::{any_module, damage, damages};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Mutex;
use xenoglot_ir::builder::ANY_LANE;
use xenoglot_ir::text::{GuestStyle, Limits, Numbers, ParseErrorKind, Style, canonical, parse};
use xenoglot_ir::*;
use xenoglot_testgen::property::config_in;

fn read(text: &str) -> Module {
    parse(text, &Limits::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Every field of the module, with nothing left to the printer but the order in which values and blocks are numbered:
/// that of the text. `Function`'s own `Debug` would show the pool, which holds the same lists in another order.
fn dump(m: &Module) -> String {
    use std::fmt::Write;
    let mut out = format!("{:?} {:?} {:?} {} {:?}\n", m.stage, m.name, m.workgroup, m.shared_size, m.entry);
    let _ = writeln!(
        out,
        "{:?} {:?} {:?} {} {}",
        m.pipeline, m.denormals, m.samplers, m.optimized, m.relaxed_floats
    );
    let mut captures = m.captures.clone();
    captures.sort_by_key(|capture| capture.var);
    let _ = writeln!(out, "{:#?} {:#?} {captures:#?}", m.vars, m.resources);
    for f in m.funcs.values() {
        let _ = writeln!(out, "{:?} {:?} {} {:?}", f.name, f.returns, f.private_size, f.slots);
        let defined = |&b: &Block| {
            let insts = f.blocks[b].insts.iter().flat_map(|&i| f.results(i).iter());
            f.params(b).iter().chain(insts).copied().collect::<Vec<_>>()
        };
        let order: Vec<Value> = f.layout.iter().flat_map(defined).collect();
        let number = |v: &Value| order.iter().position(|o| o == v).expect("a value that the text defines");
        let numbers = |values: &[Value]| values.iter().map(number).collect::<Vec<_>>();
        let place = |b: Block| f.layout.iter().position(|&o| o == b).expect("a block of the layout");
        for &b in &f.layout {
            let param = |v: &Value| (number(v), f.values[*v].ty, f.values[*v].hint);
            let params: Vec<_> = f.params(b).iter().map(param).collect();
            let _ = writeln!(out, "{} {params:?}", place(b));
            for &i in &f.blocks[b].insts {
                let data = &f.insts[i];
                let results: Vec<_> = f.results(i).iter().map(param).collect();
                let constant = match data.imm {
                    Imm::Const(c) => format!("{:?}", f.consts[c]),
                    imm => format!("{imm:?}"),
                };
                let args = numbers(f.args(i));
                let _ = writeln!(
                    out,
                    "{results:?} {:?}{:?} {constant} {args:?} {}",
                    data.op, data.flags, data.guest
                );
            }
            let term = f.term(b);
            let edges: Vec<_> =
                f.edges(b).iter().map(|e| (place(e.block), numbers(f.edge_args(e)))).collect();
            let args = numbers(f.term_args(b));
            let _ = writeln!(out, "{:?} {args:?} {edges:?} {:?} {}", term.kind, term.cases, term.guest);
        }
    }
    out
}

/// Whether names are unique, without which the text is ambiguous.
fn named_apart(m: &Module) -> bool {
    let apart = |names: Vec<&String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    apart(m.vars.values().map(|v| &v.name).collect())
        && apart(m.resources.values().map(|r| &r.name).collect())
        && apart(m.funcs.values().map(|f| &f.name).collect())
        && m.funcs.values().all(|f| apart(f.slots.values().map(|s| &s.name).collect()))
}

#[test]
fn any_module_reads_back() {
    let tried = Mutex::new((0, 0, 0));
    proptest!(config_in(file!(), 512), |(m in any_module())| {
        prop_assume!(named_apart(&m));
        let text = m.to_string();
        let back = read(&text);
        let ordered = canonical(&m);
        prop_assert_eq!(back.to_string(), &ordered[..]);
        prop_assert_eq!(canonical(&back), &ordered[..]);
        prop_assert_eq!(dump(&back), dump(&m));
        prop_assert_eq!(dump(&read(&ordered)), dump(&m));
        let mut t = tried.lock().unwrap();
        t.0 += 1;
        t.1 += m.funcs.values().map(|f| f.layout.len()).sum::<usize>();
        t.2 += m.funcs.values().map(Function::inst_count).sum::<usize>();
    });
    let (modules, blocks, insts) = *tried.lock().unwrap();
    println!("{modules} modules with {blocks} blocks and {insts} instructions read back");
    assert!(insts > 100, "the generator makes nothing");
}

/// Nothing is lost without a word: text of a damaged module has all of it, or does not parse.
#[test]
fn damaged_modules_read_back_or_do_not_parse() {
    let tried = Mutex::new([0; 2]);
    proptest!(config_in(file!(), 4096), |(m in any_module(), damages in damages())| {
        let mut m = m;
        for (how, pick, id) in damages {
            damage(&mut m, how, pick, id);
        }
        let back = parse(&m.to_string(), &Limits::default());
        let is_read = back.is_ok();
        if let Ok(back) = back {
            prop_assert_eq!(dump(&back), dump(&m));
        }
        tried.lock().unwrap()[usize::from(is_read)] += 1;
    });
    let [refused, read] = *tried.lock().unwrap();
    println!("{read} modules read back, {refused} did not parse");
    assert!(read > 1000 && refused > 200);
}

/// `emit_vertex` has an immediate that is not written if it is 0.
#[test]
fn operands_without_a_written_immediate_read_back() {
    let text = "module geometry \"x\" {\n\n  func @f(v0 : i32) {\n  block0:\n    emit_vertex.ones v0\n    \
                emit_vertex stream 1, v0, v0\n    end_primitive\n    return\n  }\n}\n";
    let m = read(text);
    assert_eq!(m.to_string(), text);
    let f = m.funcs.values().next().unwrap();
    let insts = &f.blocks[f.layout[0]].insts;
    assert_eq!(insts.iter().map(|&i| f.args(i).len()).collect::<Vec<_>>(), [1, 2, 0]);
}

/// The ids in the text of `back` are those of `m` where `m` has them in order.
#[test]
fn a_built_module_reads_back_field_by_field() {
    let mut m = Module::new(Stage::Vertex, "x");
    let mut f = Function::new("main");
    let b0 = f.add_block();
    let p = f.add_param(b0, Type::F32);
    let slot = f.add_slot("r0", Type::F32);
    f.values[p].hint = slot.into();
    let mut b = Builder::new(&mut f, b0);
    b.set_guest(0x10);
    let one = b.f32(1.5);
    let sum = b.op_flags(Op::Fmul, Flags::NONE.with_zero_wins().with_round(Round::Up), &[p, one]);
    b.slot_set(slot, sum);
    b.ret(&[sum]);
    f.returns.push(Type::F32);
    let id = m.funcs.push(f);
    m.entry = id.into();
    let back = read(&m.to_string());
    assert_eq!(dump(&back), dump(&m));
    let expected = "module vertex \"x\" {

  entry func @main(v0(r0) : f32) -> f32 {
    slot r0 : f32
  block0:
    @0x10 v1 : f32 = const 1.5
    @0x10 v2 : f32 = fmul.zw.up v0, v1
    @0x10 slot_set r0, v2
    @0x10 return v2
  }
}
";
    assert_eq!(m.to_string(), expected);
}

#[test]
fn the_pleasant_style_shows_the_listing() {
    let mut m = Module::new(Stage::Vertex, "x");
    let mut f = Function::new("main");
    let b0 = f.add_block();
    let mut b = Builder::new(&mut f, b0);
    b.set_guest(4);
    b.undef(Type::F32);
    m.listing.push(module::ListingLine { address: 4, text: "mul r0,\n c7".into() });
    m.funcs.push(f);
    let text = m.display(Style { guest: GuestStyle::Comment, numbers: Numbers::Ids }).to_string();
    assert!(text.contains("v0 : f32 = undef"), "{text}");
    assert!(text.contains("; 0x0004 mul r0, c7\n"), "{text}");
    read(&text);
}

#[test]
fn numbers_that_are_missing_print_and_do_not_parse() {
    let mut m = Module::new(Stage::Vertex, "x");
    let mut f = Function::new("main");
    let b0 = f.add_block();
    let bad = [Value::from_u32(77)];
    let inst = f.make_inst(Op::Call, Flags::NONE, Imm::Func(Func::from_u32(9)), &bad, &[], NO_GUEST);
    f.blocks[b0].insts.push(inst);
    f.blocks[b0].insts.push(Inst::from_u32(5));
    f.layout.push(Block::from_u32(8));
    m.funcs.push(f);
    let text = m.to_string();
    assert!(text.contains("call @?9, v77"), "{text}");
    assert!(canonical(&m).contains("call @?9, v?77"), "{text}");
    assert!(parse(&text, &Limits::default()).is_err());
}

#[test]
fn errors_have_places() {
    let function = |body: &str| format!("module compute \"x\" {{\n  func @f() {{\n{body}\n  }}\n}}\n");
    let cases = [
        (String::new(), "1:1: expected `module`, found the end of the text"),
        ("module compute \"é\" [".into(), "1:20: expected `{`, found `[`"),
        ("module mixer \"x\" {".into(), "1:8: expected a stage, found `mixer`"),
        ("module compute \"\\q\" {".into(), "1:16: malformed escape in string"),
        ("module compute \"x".into(), "1:16: unterminated string"),
        (function("block0:\n  v0 : f32 = const 1"), "4:20: expected a literal of type f32"),
        (function("block0:\n  v0 : i8 = const 256"), "4:19: literal does not fit i8"),
        (function("block0:\n  v0 : i32x2 = const [1]"), "4:22: expected 2 lanes, found 1"),
        (function("block0:\n  v0 : i32 = iadd v1, v1\n return"), "4:19: unknown value v1"),
        (function("block0:\n  jump block1"), "4:8: unknown block block1"),
        (function("block0:\n  return\nblock0:\n  return"), "5:1: block block0 is defined twice"),
        (function("block0:\n  v0 : i32 = undef\n  v0 : i32 = undef"), "5:3: value v0 is defined twice"),
        (function("block0:\n"), "5:3: the block before has no terminator"),
        (function("  return"), "3:3: instruction outside of a block"),
        (function("block0:\n  frobnicate"), "4:3: unknown op frobnicate"),
        (function("block0:\n  v0 : i32 = fmul.zw.bad"), "4:14: unknown flag bad"),
        (function("block0:\n  v0 : i32 = fmul.zw.zw"), "4:14: conflicting flags"),
        (function("block0:\n  v0 : i32 = f2s.up.down"), "4:14: conflicting flags"),
        (function("block0:\n  call @g\n  return"), "4:8: unknown function g"),
        (function("block0:\n  slot_set r0, v0"), "4:12: unknown slot r0"),
        (function("block0:\n  return v0,"), "4:13: expected a value or a block, found the end of the line"),
        (function("@0x1 block0:\n  return"), "3:6: instruction outside of a block"),
    ];
    for (text, expected) in cases {
        let error = parse(&text, &Limits::default()).map(|m| m.to_string()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn limits_hold() {
    let text = "module compute \"x\" {\n  func @f(v0 : i32) {\n    slot a : i32\n  block0:\n    emit_vertex\n    return\n  }\n}\n";
    read(text);
    let full = Limits::default();
    let tight = [
        ("bytes", Limits { bytes: 10, ..full }),
        ("names", Limits { names: 1, ..full }),
        ("blocks", Limits { blocks: 0, ..full }),
        ("values", Limits { values: 0, ..full }),
        ("insts", Limits { insts: 0, ..full }),
    ];
    for (expected, limits) in tight {
        match parse(text, &limits).unwrap_err().kind {
            ParseErrorKind::Limit { what, .. } => assert_eq!(what, expected),
            other => panic!("{other}"),
        }
    }
}

/// Pieces that get further into the parser than random characters.
fn pieces() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "module",
        "compute",
        "\"x\"",
        "{",
        "}",
        "\n",
        "func",
        "entry",
        "@f",
        "(",
        ")",
        "v0",
        "v1",
        ":",
        "i32",
        "f32x4",
        "=",
        "const",
        "iadd",
        "fmul.zw",
        "block0",
        "block1",
        "jump",
        "branch",
        "switch",
        "[",
        "]",
        ",",
        "0x10",
        "1.5",
        "return",
        "slot",
        "r0",
        "call",
        "load",
        "uniform",
        "align",
        "16",
        "bits",
        "->",
        "@",
        "%",
        "-1",
        "oob",
        "set",
        "binding",
        "size",
        "storage",
        "readwrite",
        "input",
        "output",
        "location",
        "builtin",
        "position",
        ".",
        "..",
    ];
    proptest::collection::vec(proptest::sample::select(WORDS), 0..80).prop_map(|w| w.join(" "))
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(2000))]

    #[test]
    fn any_text_is_safe(text in any::<String>()) {
        let _ = parse(&text, &Limits::default());
    }

    #[test]
    fn any_pieces_are_safe(text in pieces()) {
        let wrapped = format!("module compute \"x\" {{\nfunc @f() {{\nblock0:\n{text}\n}}\n}}\n");
        for text in [text, wrapped] {
            if let Ok(m) = parse(&text, &Limits::default()) {
                prop_assert_eq!(parse(&canonical(&m), &Limits::default()).map(|m| canonical(&m)), Ok(canonical(&m)));
            }
        }
    }

    #[test]
    fn damaged_text_is_safe(m in any_module(), at in any::<proptest::sample::Index>(), with in any::<u8>()) {
        let mut bytes = m.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = with;
        let _ = parse(&String::from_utf8_lossy(&bytes), &Limits::default());
    }
}

/// Reads see what was set before in the block, only the last set of a slot is left, at the block's end, and nothing is
/// carried over to the next block.
#[test]
fn slots_are_forwarded_within_a_block() {
    let mut f = Function::new("main");
    let slot = f.add_slot("r0", Type::I32);
    let [first, second] = std::array::from_fn(|_| f.add_block());
    let mut b = Builder::forwarding(&mut f, first);
    let old = b.slot_get(slot);
    assert_eq!(b.slot_get(slot), old);
    let one = b.i32(1);
    b.slot_set(slot, one);
    assert_eq!(b.slot_get(slot), one);
    let sum = b.op(Op::Iadd, &[one, old]);
    b.slot_set(slot, sum);
    b.jump(second, &[]);
    b.switch_to(second);
    assert_ne!(b.slot_get(slot), sum);
    b.ret(&[]);
    assert_eq!(f.values[one].hint, slot.into());
    let ops = |block| f.blocks[block].insts.iter().map(|&i| f.insts[i].op).collect::<Vec<_>>();
    assert_eq!(ops(first), [Op::SlotGet, Op::Const, Op::Iadd, Op::SlotSet]);
    assert_eq!(ops(second), [Op::SlotGet]);
    let set = f.blocks[first].insts[3];
    assert_eq!(f.args(set), [sum]);
}

/// Lanes come from where they were put: what was never in one vector is put together when it is read, and a block sets only
/// what is wanted after it.
#[test]
fn lanes_of_slots_are_forwarded() {
    let mut f = Function::new("main");
    let [r0, r1, dead] = ["r0", "r1", "r2"].map(|name| f.add_slot(name, Type::F32X4));
    let [first, second] = std::array::from_fn(|_| f.add_block());
    let mut b = Builder::forwarding(&mut f, first);
    let [x, y] = [1.0, 2.0].map(|v| b.f32(v));
    let v = b.f32x4([3.0, 4.0, 5.0, 6.0]);
    b.slot_set_lanes(r0, 0b0001, x);
    b.slot_set_lanes(r0, 0b1010, y);
    b.slot_set_lanes(r0, 0b0100, v);
    b.slot_set_lanes(r1, 0b0011, v);
    b.slot_set(dead, v);
    // A scalar by itself, lanes of one vector, and lanes that may be anything.
    assert_eq!((b.slot_get_lanes(r0, &[3]), b.slot_get_lanes(r0, &[0])), (y, x));
    assert_eq!(b.slot_get_lanes(r1, &[0, 1, ANY_LANE, ANY_LANE]), v);
    let z = b.slot_get_lanes(r0, &[2]);
    let all = b.slot_get(r0);
    assert_eq!(b.slot_get(r0), all);
    b.slot_live_lanes(r1, 0b0001);
    b.slot_live_lanes(dead, 0);
    b.jump(second, &[]);
    let op = |v| (f.insts[f.def_inst(v).unwrap()].op, f.args(f.def_inst(v).unwrap()).to_vec());
    assert_eq!(op(z), (Op::Extract, vec![v]));
    let (built, args) = op(all);
    assert_eq!((built, args.len(), args[0], args[1], args[3]), (Op::Build, 4, x, y, y));
    let sets: Vec<_> = f.blocks[first].insts.iter().filter(|&&i| f.insts[i].op == Op::SlotSet).collect();
    assert_eq!(sets.iter().map(|&&i| f.args(i)[0]).collect::<Vec<_>>(), [all, v]);
    assert!(!f.blocks[first].insts.iter().any(|&i| f.insts[i].op == Op::SlotGet));
}
